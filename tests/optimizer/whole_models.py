"""taso-opt from end to end on models that nobody chose: `whole_models.py TASO-OPT [--models N] [--seed S] [--kinds KINDS] [--derive]`.

idioms: what exporters write for one operator of a framework (decomposed norms, attention with masks, split heads, chains of
Shape, Gather and Concat, gates), several in a row, with and without a symbolic batch. typed: random graphs of typed
operators (tests/onnx/random_models.py). node: ONNX's own node tests that have products or convolutions, one after the other,
as they are and with their second inputs as weights. nnsmith: those of NNSmith (`pip install nnsmith`; skipped without it). Each way of
searching takes its turn. What is written is loaded in ONNX Runtime and compared with the original there; no exit code but 0
is right, and none takes long. A model that fails is kept in the folder for temporary files, and the command is printed."""
import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnx.backend.test
from onnx import TensorProto, helper, numpy_helper

from small_models import session_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
import random_models  # noqa: E402

QUICK, ONE, FAKE = ["--budget", "100"], ["--threads", "1"], ["--device", "fake"]
WAYS = [["--runtime", "taso", "--measure-seconds", "0.05", *ONE, *QUICK], ["--measure-seconds", "0.05", *ONE, *QUICK],
        [*FAKE, *QUICK], [*FAKE, "--search", "saturation"], [*FAKE, *QUICK, "--search", "both"], ["--no-measure", *ONE, *QUICK],
        ["--no-measure", "--search", "saturation", "--runtime", "taso", *ONE], ["--simplify-only"],
        ["--strict", "--runtime", "taso", "--measure-seconds", "0.05", *ONE, *QUICK]]
DERIVING = [[*way, "--derive"] for way in WAYS if "--simplify-only" not in way]
MOST_SECONDS, MOST_MEBIBYTES, TOLERANCE = 60, 500, 1e-4   # Python and ONNX Runtime alone take 150 MiB
BATCH, ROWS, WIDTH = 2, 4, 8


class Model:
    """A graph that grows at its end: `x` is [batch, ROWS, WIDTH] in front of each idiom and behind it."""

    def __init__(self, random, is_symbolic):
        self.random, self.nodes, self.weights, self.n = random, [], [], 0
        self.batch = "batch" if is_symbolic else BATCH

    def name(self):
        self.n += 1
        return f"t{self.n}"

    def weight(self, array, dtype=np.float32):
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def random_weight(self, *shape, scale=None):
        return self.weight(self.random.standard_normal(shape) * (scale or 1 / np.sqrt(shape[0])))

    def ints(self, *values):
        return self.weight(list(values), np.int64)

    def add(self, op, *inputs, n_outputs=1, **attributes):
        outputs = [self.name() for _ in range(n_outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), outputs, **attributes))
        return outputs[0] if n_outputs == 1 else outputs


# --- idioms ----------------------------------------------------------------------------------------------------------

def layer_norm(m, x):
    mean = m.add("ReduceMean", x, axes=[-1], keepdims=1)
    d = m.add("Sub", x, mean)
    variance = m.add("ReduceMean", m.add("Pow", d, m.weight(2)), axes=[-1], keepdims=1)
    y = m.add("Div", d, m.add("Sqrt", m.add("Add", variance, m.weight(1e-5))))
    return m.add("Add", m.add("Mul", y, m.random_weight(WIDTH)), m.random_weight(WIDTH))


def rms_norm(m, x):
    mean = m.add("ReduceMean", m.add("Mul", x, x), axes=[-1], keepdims=1)
    return m.add("Mul", m.add("Mul", x, m.add("Reciprocal", m.add("Sqrt", m.add("Add", mean, m.weight(1e-6))))),
                 m.random_weight(WIDTH))


def gelu(m, x):
    e = m.add("Erf", m.add("Div", x, m.weight(np.sqrt(2))))
    return m.add("Mul", m.add("Mul", x, m.add("Add", e, m.weight(1))), m.weight(0.5))


def gelu_tanh(m, x):
    inner = m.add("Add", x, m.add("Mul", m.add("Pow", x, m.weight(3)), m.weight(0.044715)))
    return m.add("Mul", m.add("Mul", x, m.weight(0.5)),
                 m.add("Add", m.weight(1), m.add("Tanh", m.add("Mul", inner, m.weight(0.7978846)))))


def silu(m, x):
    return m.add("Mul", x, m.add("Sigmoid", x))


def hard_swish(m, x):
    gate = m.add("Clip", m.add("Add", x, m.weight(3)), m.weight(0), m.weight(6))
    return m.add("Div", m.add("Mul", x, gate), m.weight(6))


def mish(m, x):
    return m.add("Mul", x, m.add("Tanh", m.add("Softplus", x)))


def dense(m, x):
    return m.add("Add", m.add("MatMul", x, m.random_weight(WIDTH, WIDTH)), m.random_weight(WIDTH))


def feed_forward(m, x):
    h = m.add("Add", m.add("MatMul", x, m.random_weight(WIDTH, 4 * WIDTH)), m.random_weight(4 * WIDTH))
    return m.add("Add", x, m.add("MatMul", gelu(m, h), m.random_weight(4 * WIDTH, WIDTH)))


def gated(m, x):
    gate = silu(m, m.add("MatMul", x, m.random_weight(WIDTH, 2 * WIDTH)))
    return m.add("MatMul", m.add("Mul", gate, m.add("MatMul", x, m.random_weight(WIDTH, 2 * WIDTH))),
                 m.random_weight(2 * WIDTH, WIDTH))


def sizes_of(m, x, *ends):
    """Shape, Gather, Unsqueeze, Concat: what torch exports for x.view(x.size(0), ...)."""
    first = m.add("Gather", m.add("Shape", x), m.weight(0, np.int64), axis=0)
    parts = [m.add("Unsqueeze", first, m.ints(0))] + [m.ints(end) for end in ends]
    return m.add("Concat", *parts, axis=0)


def split_heads(m, x, heads=2):
    return m.add("Transpose", m.add("Reshape", x, sizes_of(m, x, ROWS, heads, WIDTH // heads)), perm=[0, 2, 1, 3])


def attention(m, x):
    q, k, v = (split_heads(m, dense(m, x)) for _ in range(3))
    scores = m.add("MatMul", q, m.add("Transpose", k, perm=[0, 1, 3, 2]))
    scores = m.add("Div", scores, m.weight(np.sqrt(WIDTH / 2)))
    lower, masked = np.tril(np.ones((1, 1, ROWS, ROWS), bool)), float(m.random.choice([-1e4, -3.4e38, -np.inf]))
    if m.random.random() < 0.5:
        scores = m.add("Where", m.weight(lower, bool), scores, m.weight(masked))
    else:
        scores = m.add("Add", scores, m.weight(np.where(lower, 0, masked)))
    y = m.add("Transpose", m.add("MatMul", m.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return m.add("Add", x, dense(m, m.add("Reshape", y, sizes_of(m, y, ROWS, WIDTH))))


def fused_attention(m, x):
    q, k, v = m.add("Split", m.add("MatMul", x, m.random_weight(WIDTH, 3 * WIDTH)), n_outputs=3, axis=2)
    p = m.add("Softmax", m.add("Mul", m.add("MatMul", q, m.add("Transpose", k, perm=[0, 2, 1])), m.weight(0.35)), axis=-1)
    return m.add("MatMul", p, v)


def group_norm(m, x):
    y = m.add("InstanceNormalization", m.add("Reshape", x, m.ints(0, 2, -1)), m.weight([1, 1]), m.weight([0, 0]), epsilon=1e-5)
    y = m.add("Reshape", y, m.add("Shape", x))
    return m.add("Add", m.add("Mul", y, m.random_weight(ROWS, 1)), m.random_weight(ROWS, 1))


def image(m, x, body):
    y = m.add("Reshape", x, sizes_of(m, x, ROWS, WIDTH // 4, 4))
    return m.add("Reshape", body(m, y), sizes_of(m, x, ROWS, WIDTH))


def conv_norm(m, y):
    z = m.add("Conv", y, m.random_weight(ROWS, ROWS, 3, 3, scale=0.2), m.random_weight(ROWS), pads=[1, 1, 1, 1])
    norm = [m.random_weight(ROWS), m.random_weight(ROWS), m.random_weight(ROWS), m.weight(m.random.random(ROWS) + 0.5)]
    return m.add("Relu", m.add("BatchNormalization", z, *norm))


def depthwise(m, y):
    z = m.add("Conv", y, m.random_weight(ROWS, 1, 3, 3, scale=0.3), pads=[1, 1, 1, 1], group=ROWS)
    return m.add("Conv", hard_swish(m, z), m.random_weight(ROWS, ROWS, 1, 1))


def squeeze_excite(m, y):
    s = m.add("GlobalAveragePool", y)
    s = m.add("Relu", m.add("Conv", s, m.random_weight(2, ROWS, 1, 1)))
    return m.add("Mul", y, m.add("HardSigmoid", m.add("Conv", s, m.random_weight(ROWS, 2, 1, 1))))


def up_and_down(m, y):
    big = m.add("Resize", y, "", m.weight([1, 1, 2, 2]), mode=str(m.random.choice(["nearest", "linear"])))
    return m.add("AveragePool", big, kernel_shape=[2, 2], strides=[2, 2])


def branches(m, y):
    parts = [m.add("Conv", y, m.random_weight(2, ROWS, k, k, scale=0.2), pads=[k // 2] * 4) for k in (1, 3)]
    return m.add("Concat", *parts, axis=1)


def same_pad(m, y):
    """As tf2onnx writes channels last: a transpose on either side."""
    z = m.add("Transpose", m.add("Transpose", y, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
    return m.add("MaxPool", z, kernel_shape=[3, 3], auto_pad="SAME_UPPER")


def slices(m, x):
    """Rotary embeddings: halves, one of them negated."""
    a = m.add("Slice", x, m.ints(0), m.ints(WIDTH // 2), m.ints(2))
    b = m.add("Slice", x, m.ints(WIDTH // 2), m.ints(2**31 - 1), m.ints(2))
    turned = m.add("Concat", m.add("Neg", b), a, axis=2)
    return m.add("Add", m.add("Mul", x, m.random_weight(ROWS, WIDTH)), m.add("Mul", turned, m.random_weight(ROWS, WIDTH)))


def expand_where(m, x):
    ones = m.add("Expand", m.weight(1), m.add("Shape", x))
    return m.add("Where", m.add("Greater", x, m.weight(0)), x, m.add("Mul", ones, m.weight(0.01)))


def through_double(m, x):
    return m.add("Cast", m.add("Mul", m.add("Cast", x, to=TensorProto.DOUBLE), m.weight(0.5, np.float64)), to=TensorProto.FLOAT)


def straight_through(m, x):
    return m.add("Add", x, m.add("Sub", m.add("Round", x), x))


def einsum(m, x):
    return m.add("Einsum", x, m.random_weight(WIDTH, WIDTH), equation="bij,kj->bik")


IMAGES = [conv_norm, depthwise, squeeze_excite, up_and_down, branches, same_pad]
IDIOMS = [layer_norm, rms_norm, gelu, gelu_tanh, silu, hard_swish, mish, dense, feed_forward, gated, attention, fused_attention,
          group_norm, slices, expand_where, through_double, straight_through, einsum]


def idiom_model(random):
    m = Model(random, is_symbolic=random.random() < 0.4)
    x, seen = "x", ["x"]
    for _ in range(random.integers(1, 6)):
        if random.random() < 0.3:
            x = image(m, x, IMAGES[random.integers(len(IMAGES))])
        else:
            x = IDIOMS[random.integers(len(IDIOMS))](m, x)
        if random.random() < 0.3:
            x = m.add("Add", x, seen[random.integers(len(seen))])
        seen.append(x)
    m.nodes.append(helper.make_node("Identity", [x], ["y"]))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [m.batch, ROWS, WIDTH]) for name in "xy"]
    graph = helper.make_graph(m.nodes, "whole", [ends[0]], [ends[1]], m.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def typed_model(random):
    return random_models.make(int(random.integers(1 << 30)), int(random.integers(3, 16)))


def random_model_of_nnsmith(random):
    from nnsmith_models import nnsmith_model   # alone needs more than the other tests do
    return nnsmith_model(random)


def with_weights(model, folder):
    """What products and convolutions have as second operand is known beforehand, where it is an input."""
    names = {node.input[1] for node in model.graph.node if node.op_type in CONTRACTIONS}
    for i, value in enumerate(list(model.graph.input)):
        if value.name in names:
            tensor = TensorProto.FromString((folder / f"test_data_set_0/input_{i}.pb").read_bytes())
            tensor.name = value.name
            model.graph.initializer.append(tensor)
            model.graph.input.remove(value)
    return model


CONTRACTIONS = {"Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum"}


def node_tests():
    folders = sorted((pathlib.Path(onnx.backend.test.__file__).parent / "data/node").iterdir())
    for change in (lambda model, folder: model), with_weights:
        for folder in folders:
            model = onnx.load(folder / "model.onnx")
            if any(node.op_type in CONTRACTIONS for node in model.graph.node):
                yield change(model, folder)


NODE_TESTS = node_tests()
KINDS = {"idioms": idiom_model, "typed": typed_model, "node": lambda random: next(NODE_TESTS), "nnsmith": random_model_of_nnsmith}


# --- judging ---------------------------------------------------------------------------------------------------------

NUMPY = {"float": "f4", "double": "f8"}   # what numpy calls otherwise


def inputs_of(opened, random):
    made = {}
    for i in opened.get_inputs():
        shape = [d if isinstance(d, int) else 3 for d in i.shape]
        if "int" in i.type:
            made[i.name] = random.integers(1, 4, shape)
        elif "bool" in i.type:
            made[i.name] = random.integers(0, 2, shape)
        else:
            made[i.name] = random.standard_normal(shape)
        kind = i.type.removeprefix("tensor(").removesuffix(")")
        made[i.name] = np.asarray(made[i.name], NUMPY.get(kind, kind))
    return made


def difference(before, after, feed, tolerance=TOLERANCE):
    """NaN and infinities of the original say nothing. None: both agree."""
    for x, y in zip(before.run(None, feed), after.run(None, feed)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{x.shape} {x.dtype} became {y.shape} {y.dtype}"
        x, y = x.astype(np.float64), y.astype(np.float64)
        finite = np.isfinite(x)
        largest = np.abs(x[finite]).max(initial=0)
        off = np.abs(x[finite] - y[finite])
        if not np.isfinite(y[finite]).all() or off.max(initial=0) > tolerance * max(largest, 1e-3):
            return f"off by {off.max(initial=0)} of {largest}"
    return None


def moved(array, by):
    return np.asarray(array * array.dtype.type(1 + by)) if array.dtype.kind == "f" else array   # of no axes, too


def with_moved_constants(model, by):
    """A session of the model whose constants are other ones in their last digits."""
    m = onnx.load(model)
    values = [a.t for n in m.graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"]
    for t in [*m.graph.initializer, *values]:
        t.CopyFrom(numpy_helper.from_array(np.asarray(moved(numpy_helper.to_array(t), by)), t.name))
    path = model.with_name("moved.onnx")
    onnx.save(m, path)
    return session_of(path, is_optimizing=False)


def is_steady(model, before, feed, digit):
    """A comparison or a rounding may flip by the last digit of what is before it, of an input or a constant; then nothing is
    to be compared."""
    expected, by, share = before.run(None, feed), (digit, -digit), min(30 * digit ** 0.5, 0.4)   # below what a flip is
    others = [before.run(None, {name: moved(a, d) for name, a in feed.items()}) for d in by]
    others += [with_moved_constants(model, d).run(None, feed) for d in by]
    return difference(before, before, feed) is None and all(
        np.allclose(x, y, rtol=share, atol=share, equal_nan=True)
        for other in others for x, y in zip(expected, other))


def has_halves(path):
    model = onnx.load(path)
    return any(t.data_type == TensorProto.FLOAT16 for t in model.graph.initializer) or any(
        i.type.tensor_type.elem_type == TensorProto.FLOAT16 for i in model.graph.input) or any(
        a.name == "to" and a.i == TensorProto.FLOAT16 for n in model.graph.node for a in n.attribute)


def run_to_its_end(command, environment):
    """Exit code (negative: a signal), what it told, seconds of processors (others may use this machine, too) and memory."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        told = errors.read().decode(errors="replace")
    return process.returncode, told, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def make_model(kind, random, path, seed):
    """The first one that the runtime loads, and runs on the inputs of this seed. None: there are no more."""
    while True:
        try:
            onnx.save(KINDS[kind](random), path)
            session = session_of(path, is_optimizing=False)
            session.run(None, inputs_of(session, np.random.default_rng(seed)))
            return session
        except StopIteration:
            return None
        except Exception:   # the runtime's own
            continue


def failure_of(opt, model, before, out, way, environment, seed):
    feed = inputs_of(before, np.random.default_rng(seed))
    code, told, taken, mebibytes = run_to_its_end([opt, model, "-o", out, *way], environment)
    if code and not (code == 5 and "--strict" in way):
        return f"exit code {code}: {told.strip()[-300:]}"
    if taken > MOST_SECONDS:
        return f"{taken:.0f} s of processors"
    if mebibytes > MOST_MEBIBYTES:
        return f"{mebibytes} MiB"
    try:
        after = session_of(out, is_optimizing=False)
    except Exception as failure:
        return f"is not loaded: {str(failure)[:300]}"
    halves = has_halves(model)
    found = difference(before, after, feed, 0.02 if halves else TOLERANCE)
    return found if found and is_steady(model, before, feed, 1e-3 if halves else 1e-6) else None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("opt")
    arguments.add_argument("--models", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--kinds", default="idioms,typed")
    arguments.add_argument("--derive", action="store_true", help="with operators that are found for each model")
    a = arguments.parse_args()
    ways = DERIVING if a.derive else WAYS
    if "nnsmith" in a.kinds and not importlib.util.find_spec("nnsmith"):
        return 77
    kinds, n_models, n_failures, started = a.kinds.split(","), 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"), TASO_PYTHON=sys.executable)
        for i in range(a.models):
            kind, way, seed = kinds[i % len(kinds)], ways[i // len(kinds) % len(ways)], a.seed * 100003 + i
            model, out = folder / "model.onnx", folder / "out.onnx"
            before = make_model(kind, np.random.default_rng(seed), model, seed)
            if not before:
                break
            n_models += 1
            found = failure_of(a.opt, model, before, out, way, environment, seed)
            if found:
                n_failures += 1
                kept = pathlib.Path(tempfile.gettempdir()) / f"whole-model-{kind}-{seed}.onnx"
                shutil.copy(model, kept)
                print(f"FAILED: {kind} {seed}: taso-opt {kept} {' '.join(way)}: {found}", flush=True)
    print(f"{n_models} models, {n_failures} failures, {time.monotonic() - started:.0f} s")
    return 1 if n_failures else 0


if __name__ == "__main__":
    sys.exit(main())
