"""Every operator in terms of what a framework can do (`frameworks.Framework`). What is not here is not known."""

import math


class Unknown(Exception):
    """The graph has an operator, or an attribute of one, that is not known here or not to the framework."""


UNARY = {
    "neg",
    "relu",
    "sigmoid",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "reciprocal",
    "erf",
    "abs",
    "floor",
    "ceil",
    "round",
    "sin",
    "cos",
}
BINARY = {"ewadd": "add", "ewmul": "mul", "sub": "sub", "div": "div", "pow": "pow", "max": "max", "min": "min"}
REDUCTIONS = {"reducesum": "sum", "reducemean": "mean", "reducemax": "max", "reducemin": "min"}


def spatial(node, name, rank, otherwise):
    return node.ints(name) or (otherwise,) * rank


def window(f, node, x):
    """Stride, (begin, end) of each axis, dilation."""
    rank = len(f.shape(x)) - 2
    pads = spatial(node, "pad", 2 * rank, 0)
    return (spatial(node, "stride", rank, 1), tuple(zip(pads[:rank], pads[rank:])), spatial(node, "dilation", rank, 1))


def activated(f, node, value):
    kind = node.word("act", "none")
    return value if kind == "none" else f.unary(kind, value)


def conv(f, node, x, w):
    return activated(f, node, f.conv(x, w, *window(f, node, x), node.ints("group", (1,))[0]))


def matmul(f, node, x, y):
    return activated(f, node, f.matmul(x, y))


def max_pool(f, node, x):
    return activated(f, node, f.max_pool(x, node.ints("kernel"), *window(f, node, x)))


def average_pool(f, node, x):
    stride, pads, dilation = window(f, node, x)
    if any(step != 1 for step in dilation):
        raise Unknown("poolavg with dilation")
    return activated(
        f, node, f.average_pool(x, node.ints("kernel"), stride, pads, node.word("padding", "ignored") == "counted")
    )


def split(f, node, x):
    axis, at, parts = node.leading[0], 0, []
    for size in node.ints("sizes"):
        parts.append(f.slice(x, axis, at, size, 1))
        at += size
    return tuple(parts)


def cut(f, node, x):
    rank = len(f.shape(x))
    step = node.ints("step") or (1,) * rank
    for axis, (start, size, by) in enumerate(zip(node.ints("start") or (0,) * rank, node.ints("size"), step)):
        if (start, size, by) != (0, f.shape(x)[axis], 1):
            x = f.slice(x, axis, start, size, by)
    return x


def reduce(f, node, x):
    axes = node.ints("axes") or tuple(range(len(f.shape(x))))
    return f.reduce(REDUCTIONS[node.operator], x, axes, node.ints("keepdims", (1,))[0] != 0)


def layer_norm(f, node, x, scale, bias=None):
    axes = tuple(range(node.leading[0], len(f.shape(x))))
    return f.layer_norm(x, scale, bias, axes, node.real("epsilon", 1e-5))


def rms_norm(f, node, x, scale):
    axes = tuple(range(node.leading[0], len(f.shape(x))))
    square = f.reduce("mean", f.binary("mul", x, x), axes, True)
    inverse = f.unary("reciprocal", f.unary("sqrt", f.with_number("add", square, node.real("epsilon", 1e-5))))
    return f.binary("mul", f.binary("mul", x, inverse), scale)


def clip(f, node, x):
    return f.clip(x, node.real("min", -math.inf), node.real("max", math.inf))


def padded(f, node, x):
    if node.word("mode", "constant") != "constant" or any(p < 0 for p in node.ints("pads")):
        raise Unknown("pad that is not by a constant around the tensor")
    pads, rank = node.ints("pads"), len(f.shape(x))
    return f.pad(x, tuple(zip(pads[:rank], pads[rank:])), node.real("value", 0.0))


def enlarge(f, node, k):
    grown = [(size - old) // 2 for size, old in zip(node.ints("kernel"), f.shape(k)[2:])]
    return f.pad(k, ((0, 0), (0, 0)) + tuple((by, by) for by in grown), 0.0)


def merge(f, node, k):
    """Filters of `count` neighbouring groups, each in its own columns of channels."""
    (group, count), (filters, channels, *_) = node.leading, f.shape(k)
    blocks = []
    for first in range(group):
        part, at = f.slice(k, 0, first * (filters // group), filters // group, 1), first % count
        around = ((0, 0), (at * channels, (count - 1 - at) * channels)) + ((0, 0),) * (len(f.shape(k)) - 2)
        blocks.append(f.pad(part, around, 0.0))
    return f.concat(blocks, 0)


OPERATORS = {
    "broadcast": lambda f, node, x: f.broadcast(x, node.ints("shape")),
    "cast": lambda f, node, x: f.cast(x, node.word("to", None)),
    "clip": clip,
    "concat": lambda f, node, *xs: f.concat(xs, node.leading[0]),
    "conv": conv,
    "enlarge": enlarge,
    "gather": lambda f, node, x, i: f.gather(x, i, node.ints("axis", (0,))[0]),
    "gelu": lambda f, node, x: f.gelu(x, node.word("approximate", "none") == "tanh"),
    "layernorm": layer_norm,
    "matmul": matmul,
    "merge": merge,
    "pad": padded,
    "poolavg": average_pool,
    "poolmax": max_pool,
    "reshape": lambda f, node, x: f.reshape(x, node.ints("shape")),
    "rmsnorm": rms_norm,
    "silu": lambda f, node, x: f.silu(x),
    "slice": cut,
    "smul": lambda f, node, x, y: f.binary("mul", x, y),
    "softmax": lambda f, node, x: f.softmax(x, node.leading[0]),
    "split": split,
    "transpose": lambda f, node, x: f.transpose(x, node.ints("perm")),
    "where": lambda f, node, c, x, y: f.where(c, x, y),
    **{name: lambda f, node, x: f.unary(node.operator, x) for name in UNARY},
    **{name: lambda f, node, x, y: f.binary(BINARY[node.operator], x, y) for name in BINARY},
    **{name: reduce for name in REDUCTIONS},
}


def check_operators(graph):
    unknown = sorted({n.operator for n in graph.nodes} - set(OPERATORS) - {"input", "weight"})
    if unknown:
        raise Unknown(", ".join(unknown))


def run_graph(f, graph, leaves):
    """The outputs; `leaves` are the framework's values by name."""
    values = dict(leaves)
    for node in graph.nodes:
        if node.operator in ("input", "weight"):
            continue
        results = OPERATORS[node.operator](f, node, *(values[name] for name in node.inputs))
        values.update(zip(node.outputs, results if isinstance(results, tuple) else (results,)))
    return [values[name] for name in graph.outputs]
