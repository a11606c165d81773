#!/usr/bin/env python3
"""Operators' values against an independent oracle: `oracle.py OPERATOR_EVAL [SEED]`.

Random applications of every operator are evaluated by OPERATOR_EVAL and compared with ONNX's own reference
implementation, with ONNX Runtime where that is wrong (pooling, LRN), or with numpy where ONNX has no such operator.
Exit code 77: onnx or onnxruntime is not installed.
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import helper

CASES_OF_EACH = 8
CONSTANTS = ["cpool", "iconv", "imatmul", "iewmul", "fill", "range"]
DTYPES = {np.dtype("float64"): "f64", np.dtype("int64"): "i64", np.dtype("bool"): "bool"}
rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
generators, integer_generators = {}, {}


class Refused:
    """Expected where the application is ill-typed."""


# --- random things and text -----------------------------------------------------------------------------------------


def integer(low, high):
    """A random integer, both ends included."""
    return int(rng.integers(low, high + 1))


def pick(*choices):
    return choices[integer(0, len(choices) - 1)]


def shape(rank, low=1, high=4):
    return [integer(low, high) for _ in range(rank)]


def reals(*dims):
    return rng.standard_normal(dims)


def integers(*dims, low=-5, high=5):
    return rng.integers(low, high + 1, dims)


def value_text(v):
    if isinstance(v, (int, np.integer, bool, np.bool_)):
        return str(int(v))
    return "nan" if math.isnan(v) else repr(float(v)).replace("inf", "1e999")


def tensor_text(a):
    a = np.asarray(a)
    dims = "".join(f" {n}" for n in a.shape)
    return f"(({DTYPES[a.dtype]}{dims})" + "".join(" " + value_text(v) for v in a.ravel().tolist()) + ")"


def call_text(name, inputs, first=(), **attributes):
    """The call; `first` are the attributes that stand before the named ones."""
    words = [name] + [str(v) for v in first]
    for key, value in attributes.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        words += [f":{key}"] + [v if isinstance(v, str) else value_text(v) for v in values]
    return "(" + " ".join(words + [tensor_text(a) for a in inputs]) + ")"


def onnx_model(op_type, inputs, attributes):
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(a).dtype), np.shape(a))
             for n, a in zip(names, inputs)]
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def onnx_values(op_type, inputs, **attributes):
    """What ONNX's reference says of the first output."""
    session = onnx.reference.ReferenceEvaluator(onnx_model(op_type, inputs, attributes))
    return session.run(None, {f"x{i}": np.asarray(a) for i, a in enumerate(inputs)})


def runtime_values(op_type, inputs, **attributes):
    """The same from ONNX Runtime, in single precision: inputs must be exact there."""
    inputs = [np.asarray(a, np.float32) for a in inputs]
    model = onnx_model(op_type, inputs, attributes).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {f"x{i}": a for i, a in enumerate(inputs)})


def generator(function):
    """Registers a function that gives one random (text, expected arrays) of the operator it is named for."""
    generators[function.__name__.removeprefix("of_")] = function
    return function


# --- element-wise ---------------------------------------------------------------------------------------------------


def register_elementwise(name, op_type, make_inputs, **attributes):
    def generate():
        inputs = make_inputs(shape(integer(1, 3)))
        return call_text(name, inputs), onnx_values(op_type, inputs, **attributes)

    generators[name] = generate


def real_inputs(count, function=lambda x: x):
    return lambda dims: [function(reals(*dims)) for _ in range(count)]


def bool_inputs(count):
    return lambda dims: [reals(*dims) > 0 for _ in range(count)]


def integer_inputs(count):
    return lambda dims: [integers(*dims) for _ in range(count)]


for name, op_type in {"ewadd": "Add", "ewmul": "Mul", "sub": "Sub", "div": "Div", "max": "Max", "min": "Min",
                      "less": "Less", "lessequal": "LessOrEqual"}.items():
    register_elementwise(name, op_type, real_inputs(2))
for name, op_type in {"neg": "Neg", "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "erf": "Erf",
                      "reciprocal": "Reciprocal", "abs": "Abs", "sign": "Sign", "floor": "Floor", "ceil": "Ceil",
                      "sin": "Sin", "cos": "Cos", "tan": "Tan", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh",
                      "asinh": "Asinh", "softplus": "Softplus", "softsign": "Softsign", "mish": "Mish",
                      "hardswish": "HardSwish"}.items():
    register_elementwise(name, op_type, real_inputs(1, lambda x: 3 * x))
for name, op_type in {"log": "Log", "sqrt": "Sqrt"}.items():
    register_elementwise(name, op_type, real_inputs(1, np.abs))
for name, op_type in {"asin": "Asin", "acos": "Acos", "atanh": "Atanh"}.items():
    register_elementwise(name, op_type, real_inputs(1, np.tanh))
for name, op_type in {"and": "And", "or": "Or", "xor": "Xor"}.items():
    register_elementwise(name, op_type, bool_inputs(2))
register_elementwise("acosh", "Acosh", real_inputs(1, lambda x: 1 + np.abs(x)))
register_elementwise("round", "Round", real_inputs(1, lambda x: np.round(4 * x) / 2))
register_elementwise("pow", "Pow", lambda dims: [np.abs(reals(*dims)), reals(*dims)])
register_elementwise("fmod", "Mod", real_inputs(2), fmod=1)
register_elementwise("not", "Not", bool_inputs(1))
register_elementwise("isnan", "IsNaN", real_inputs(1, lambda x: np.where(x > 0, x, np.nan)))
register_elementwise("equal", "Equal", integer_inputs(2))
register_elementwise("where", "Where", lambda dims: bool_inputs(1)(dims) + real_inputs(2)(dims))


@generator
def of_prelu():
    dims = shape(integer(0, 3))
    x, slope = reals(*dims), reals(*dims)
    return call_text("prelu", [x, slope]), [np.where(x < 0, slope * x, x)]


@generator
def of_gelu():
    x, kind = 2 * reals(*shape(2)), pick("none", "tanh")
    return call_text("gelu", [x], approximate=kind), onnx_values("Gelu", [x], approximate=kind)


@generator
def of_silu():
    x = 3 * reals(*shape(2))
    return call_text("silu", [x]), [x / (1 + np.exp(-x))]


@generator
def of_clip():
    x, low, high = 3 * reals(*shape(2)), pick(-math.inf, -1.0, 0.5), pick(math.inf, 1.0, 0.25)
    return call_text("clip", [x], min=low, max=high), [np.minimum(np.maximum(x, low), high)]


def register_curve(name, op_type, *parameters):
    @generator
    def generate():
        x = 3 * reals(*shape(2))
        attributes = {p: float(np.float32(rng.uniform(0.1, 2))) for p in parameters}
        return call_text(name, [x], **attributes), onnx_values(op_type, [x], **attributes)

    generators[name] = generate


register_curve("hardsigmoid", "HardSigmoid", "alpha", "beta")
register_curve("leakyrelu", "LeakyRelu", "alpha")
register_curve("thresholdedrelu", "ThresholdedRelu", "alpha")
register_curve("shrink", "Shrink", "bias", "lambd")
register_curve("elu", "Elu", "alpha")
register_curve("selu", "Selu", "alpha", "gamma")
register_curve("celu", "Celu", "alpha")


# --- linear algebra, convolution, pooling ---------------------------------------------------------------------------


@generator
def of_smul():
    x, w = reals(*shape(integer(0, 3))), np.array(reals())
    return call_text("smul", [x, w]), [x * w]


def activated(y, act):
    return np.maximum(y, 0) if act == "relu" else y


@generator
def of_matmul():
    batch, (m, n), act = shape(integer(0, 2)), shape(2), pick("none", "relu")
    k = integer(0, 4)
    x, y = reals(*batch, m, k), reals(*(batch if pick(0, 1) else []), k, n)
    return call_text("matmul", [x, y], act=act), [activated(np.matmul(x, y), act)]


def windows(spatial, kernel, dilation=None):
    """Random stride, pads and dilation, unless that is given, with which the kernel fits."""
    n = len(spatial)
    stride, dilation = shape(n, 1, 3), dilation or shape(n, 1, 2)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    begin = [integer(0, r - 1) for r in reach]
    end = [max(integer(0, r - 1), r - s - b) for r, s, b in zip(reach, spatial, begin)]
    return {"stride": stride, "pad": begin + end, "dilation": dilation}


def onnx_windows(w):
    return {"strides": w["stride"], "pads": w["pad"], "dilations": w["dilation"]}


@generator
def of_conv():
    n, group, act = integer(1, 2), integer(1, 3), pick("none", "relu")
    spatial, kernel = shape(n, 1, 6), shape(n, 1, 3)
    w = windows(spatial, kernel)
    channels, filters = integer(1, 2), group * integer(1, 2)
    x, k = reals(integer(1, 2), group * channels, *spatial), reals(filters, channels, *kernel)
    text = call_text("conv", [x, k], **w, group=group, act=act)
    return text, [activated(onnx_values("Conv", [x, k], group=group, **onnx_windows(w))[0], act)]


def pooled(x, kernel, w, function):
    """Windows one by one, each as the list of its entries and the number of places in it."""
    n = len(kernel)
    begin, end = w["pad"][:n], w["pad"][n:]
    padded = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)), constant_values=np.nan)
    size = [(padded.shape[2 + a] - (kernel[a] - 1) * w["dilation"][a] - 1) // w["stride"][a] + 1 for a in range(n)]
    y = np.zeros(list(x.shape[:2]) + size)
    for place in np.ndindex(*y.shape):
        ranges = [slice(p * s, p * s + (k - 1) * d + 1, d)
                  for p, s, k, d in zip(place[2:], w["stride"], kernel, w["dilation"])]
        window = padded[(place[0], place[1], *ranges)].ravel()
        y[place] = function(window[~np.isnan(window)], window.size)
    return y


def pool_case(name, function, **attributes):
    """A dilation is no larger than the image: with larger ones windows may have no entry."""
    n, act = integer(1, 2), pick("none", "relu")
    spatial, kernel = shape(n, 1, 6), shape(n, 1, 3)
    w = windows(spatial, kernel, [integer(1, min(2, s)) for s in spatial])
    x = reals(integer(1, 2), integer(1, 2), *spatial)
    y = activated(pooled(x, kernel, w, function), act)
    return call_text(name, [x], kernel=kernel, **w, act=act, **attributes), [y]


@generator
def of_poolmax():
    return pool_case("poolmax", lambda entries, places: entries.max())


@generator
def of_poolavg():
    if pick(0, 1):
        return pool_case("poolavg", lambda entries, places: entries.sum() / places, padding="counted")
    return pool_case("poolavg", lambda entries, places: entries.mean(), padding="ignored")


def runtime_windows(kernel):
    """ONNX Runtime wants each pad to be smaller than the kernel."""
    return {"stride": shape(2, 1, 2), "pad": [integer(0, k - 1) for k in kernel + kernel], "dilation": pick([1, 1], [2, 1])}


@generator
def of_poolmax_as_onnx():
    x, kernel = integers(1, 2, *shape(2, 5, 7)) / 4, shape(2, 1, 3)
    w = runtime_windows(kernel)
    text = call_text("poolmax", [x], kernel=kernel, **w)
    return text, runtime_values("MaxPool", [x], kernel_shape=kernel, **onnx_windows(w))


@generator
def of_poolavg_as_onnx():
    x, kernel, counted = integers(1, 2, *shape(2, 5, 7)) / 4, shape(2, 1, 3), integer(0, 1)
    w = runtime_windows(kernel)
    text = call_text("poolavg", [x], kernel=kernel, **w, padding=["ignored", "counted"][counted])
    return text, runtime_values("AveragePool", [x], kernel_shape=kernel, **onnx_windows(w), count_include_pad=counted)


@generator
def of_enlarge():
    kernel = reals(*shape(2, 1, 2), *shape(2))
    growth = [2 * integer(0, 2) for _ in range(2)]
    target = [k + g for k, g in zip(kernel.shape[2:], growth)]
    pads = [(0, 0), (0, 0)] + [(g // 2, g // 2) for g in growth]
    return call_text("enlarge", [kernel], kernel=target), [np.pad(kernel, pads)]


@generator
def of_merge():
    count, merged = integer(1, 3), integer(1, 2)
    group, per_group, channels = count * merged, integer(1, 2), integer(1, 2)
    kernel = reals(group * per_group, channels, *shape(2, 1, 2))
    y = np.zeros((group * per_group, channels * count, *kernel.shape[2:]))
    for f in range(group * per_group):
        block = (f // per_group) % count
        y[f, block * channels:(block + 1) * channels] = kernel[f]
    return call_text("merge", [kernel], [group, count]), [y]


@generator
def of_merge_leaves_convolutions_unchanged():
    x, kernel = reals(1, 8, 3, 3), reals(4, 2, 3, 3)
    merged = np.zeros((4, 4, 3, 3))
    for f in range(4):
        merged[f, (f % 2) * 2:(f % 2) * 2 + 2] = kernel[f]
    wide, narrow = onnx_values("Conv", [x, merged], group=2), onnx_values("Conv", [x, kernel], group=4)
    assert np.allclose(wide[0], narrow[0])
    return call_text("merge", [kernel], [4, 2]), [merged]


@generator
def of_expression():
    """A transposed convolution's last step: phases, places that may be outside, sums over two inputs' products."""
    x, y = reals(*shape(2, 2, 5)), reals(integer(1, 4))
    width, stride, pad = integer(1, 9), integer(1, 3), integer(0, 2)
    place = [2, 2, 1, 1, 3, -1, 1, 2, 0, pad]   # i1 - i2 + pad
    term = [8, 2, 7, 0, 1, 0, 4, stride, *place, 7, 1, 1, 2]
    zero = [6, 0]
    code = [9, 0, len(y), 10, 3, -1, 5, stride, *place, *term, *zero]
    z = np.zeros((x.shape[0], width))
    for j in range(width):
        for k in range(len(y)):
            at = (j - k + pad) // stride
            if (j - k + pad) % stride == 0 and 0 <= at < x.shape[1]:
                z[:, j] += x[:, at] * y[k]
    return call_text("expression", [x, y], shape=z.shape, code=code), [z]


# --- shapes ---------------------------------------------------------------------------------------------------------


@generator
def of_concat():
    dims = shape(integer(1, 3), 0, 3)
    axis = integer(0, len(dims) - 1)
    count = pick(1, 2, 3, 4, 100)
    parts = [reals(*(dims[:axis] + [integer(0, 3)] + dims[axis + 1:])) for _ in range(count)]
    return call_text("concat", parts, [axis]), [np.concatenate(parts, axis)]


@generator
def of_split():
    dims = shape(integer(1, 3))
    axis, sizes = integer(0, len(dims) - 1), shape(integer(1, 4), 0, 3)
    dims[axis] = sum(sizes)
    x = reals(*dims)
    return call_text("split", [x], [axis], sizes=sizes), np.split(x, np.cumsum(sizes)[:-1], axis)


@generator
def of_transpose():
    x = reals(*shape(integer(0, 4)))
    perm = [int(p) for p in rng.permutation(x.ndim)]
    return call_text("transpose", [x], perm=perm), [x.transpose(perm)]


@generator
def of_reshape():
    factors = [pick(1, 1, 2, 3, 2) for _ in range(integer(0, 5))]

    def grouped():
        cuts = sorted(integer(0, len(factors)) for _ in range(integer(0, 4)))
        bounds = [0] + cuts + [len(factors)]
        return [math.prod(factors[a:b]) for a, b in zip(bounds, bounds[1:])]

    x, target = reals(*grouped()), grouped()
    return call_text("reshape", [x], shape=target), [x.reshape(target)]


@generator
def of_reshape_of_nothing():
    x, target = reals(*pick([0, 3], [2, 0, 3], [0])), pick([0], [5, 0], [3, 0, 2])
    return call_text("reshape", [x], shape=target), [x.reshape(target)]


@generator
def of_reshape_of_unrelated_sizes():
    x, target = reals(*pick([4, 6], [6, 4], [2, 12], [3, 8], [24])), pick([6, 4], [8, 3], [2, 2, 6], [3, 2, 4])
    return call_text("reshape", [x], shape=target), [x.reshape(target)]


@generator
def of_broadcast():
    target = shape(integer(0, 4), 0, 3)
    kept = target[integer(0, len(target)):]
    x = reals(*[pick(1, n) for n in kept])
    return call_text("broadcast", [x], shape=target), [np.broadcast_to(x, target)]


@generator
def of_slice():
    dims, start, size, step, ranges = shape(integer(0, 3), 1, 6), [], [], [], []
    for n in dims:
        s, first = pick(1, 2, -1, -2, 3), integer(0, n - 1)
        room = (n - 1 - first) // s if s > 0 else first // -s
        count = integer(0, room + 1)
        start, size, step = start + [first], size + [count], step + [s]
        ranges.append([first + i * s for i in range(count)])
    x = reals(*dims)
    return call_text("slice", [x], start=start, size=size, step=step), [x[np.ix_(*ranges)] if dims else x]


@generator
def of_pad():
    dims, value = shape(integer(0, 3), 2, 4), pick(0.0, 1.5)
    begin, end = [integer(-1, 2) for _ in dims], [integer(-1, 2) for _ in dims]
    x = reals(*dims)
    y = np.full([n + b + e for n, b, e in zip(dims, begin, end)], value)
    for place in np.ndindex(*y.shape):
        source = [p - b for p, b in zip(place, begin)]
        if all(0 <= i < n for i, n in zip(source, dims)):
            y[place] = x[tuple(source)]
    return call_text("pad", [x], pads=begin + end, value=value), [y]


@generator
def of_cast():
    x = 5 * reals(*shape(2))
    to = pick("i64", "f32", "bool")
    return call_text("cast", [x], to=to), [{"i64": np.trunc(x), "f32": x, "bool": x != 0}[to]]


@generator
def of_trilu():
    x, upper, k = reals(*shape(integer(2, 3))), integer(0, 1), integer(-4, 4)
    part = "upper" if upper else "lower"
    return call_text("trilu", [x], part=part, k=k), onnx_values("Trilu", [x, np.array(k)], upper=upper)


# --- reductions and normalizations ----------------------------------------------------------------------------------


def register_reduction(name, function):
    def generate():
        x, keepdims = reals(*shape(integer(0, 4), 1, 3)), integer(0, 1)
        axes = [i for i in range(x.ndim) if pick(0, 1)]
        y = function(x, axis=tuple(axes), keepdims=bool(keepdims)) if axes else x
        return call_text(name, [x], axes=axes, keepdims=keepdims), [y]

    generators[name] = generate


for name, function in {"reducesum": np.sum, "reducemean": np.mean, "reducemax": np.max, "reducemin": np.min,
                       "reduceprod": np.prod}.items():
    register_reduction(name, function)


def register_argreduce(name, op_type):
    def generate():
        x, keepdims, last = integers(*shape(integer(1, 3)), high=-2), integer(0, 1), integer(0, 1)
        axis = integer(0, x.ndim - 1)
        text = call_text(name, [x], [axis], keepdims=keepdims, ties=["first", "last"][last])
        return text, onnx_values(op_type, [x], axis=axis, keepdims=keepdims, select_last_index=last)

    generators[name] = generate


register_argreduce("argmax", "ArgMax")
register_argreduce("argmin", "ArgMin")


@generator
def of_cumsum():
    x, exclusive, reverse = reals(*shape(integer(1, 3))), integer(0, 1), integer(0, 1)
    axis = integer(0, x.ndim - 1)
    text = call_text("cumsum", [x], [axis], exclusive=exclusive, reverse=reverse)
    return text, onnx_values("CumSum", [x, np.array(axis)], exclusive=exclusive, reverse=reverse)


def register_softmax(name, op_type):
    def generate():
        x = pick(1, 100) * reals(*shape(integer(1, 3)))
        axis = integer(0, x.ndim - 1)
        return call_text(name, [x], [axis]), onnx_values(op_type, [x], axis=axis)

    generators[name] = generate


register_softmax("softmax", "Softmax")
register_softmax("logsoftmax", "LogSoftmax")


@generator
def of_layernorm():
    x = reals(*shape(integer(1, 3), 2, 4))
    axis = integer(0, x.ndim - 1)
    scale, bias, epsilon = reals(*x.shape[axis:]), reals(*x.shape[axis:]), 0.25
    inputs = [x, scale] + ([bias] if pick(0, 1) else [])
    axes = tuple(range(axis, x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon) * scale
    return call_text("layernorm", inputs, [axis], epsilon=epsilon), [y + bias if len(inputs) == 3 else y]


@generator
def of_layernorm_as_onnx():
    x = reals(3, 4)
    inputs = [x, reals(4), reals(4)]
    return call_text("layernorm", inputs, [1]), onnx_values("LayerNormalization", inputs, axis=1)


@generator
def of_rmsnorm():
    x = reals(*shape(integer(1, 3), 2, 4))
    axis = integer(0, x.ndim - 1)
    scale = reals(*x.shape[axis:])
    square = np.square(x).mean(tuple(range(axis, x.ndim)), keepdims=True)
    return call_text("rmsnorm", [x, scale], [axis], epsilon=0.5), [x / np.sqrt(square + 0.5) * scale]


@generator
def of_batchnorm():
    x = reals(*shape(integer(2, 4)))
    c = x.shape[1]
    inputs = [x, reals(c), reals(c), reals(c), np.abs(reals(c))]
    return call_text("batchnorm", inputs, epsilon=0.125), onnx_values("BatchNormalization", inputs, epsilon=0.125)


@generator
def of_instancenorm():
    x = reals(*shape(integer(3, 4), 2, 4))
    inputs = [x, reals(x.shape[1]), reals(x.shape[1])]
    return call_text("instancenorm", inputs, epsilon=0.125), onnx_values("InstanceNormalization", inputs, epsilon=0.125)


@generator
def of_groupnorm():
    groups = integer(1, 3)
    x = reals(integer(1, 2), groups * integer(1, 3), *shape(integer(1, 2), 2, 3))
    inputs = [x, reals(x.shape[1]), reals(x.shape[1])]
    grouped = x.reshape(x.shape[0], groups, -1)
    normal = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 0.125)
    channel = (1, -1) + (1,) * (x.ndim - 2)
    y = normal.reshape(x.shape) * inputs[1].reshape(channel) + inputs[2].reshape(channel)
    return call_text("groupnorm", inputs, [groups], epsilon=0.125), [y]


@generator
def of_lrn():
    x, size = integers(1, integer(1, 6), 2, 2) / 4, pick(1, 3, 5)
    attributes = {"alpha": 0.5, "beta": 0.75, "bias": 2.0}
    return call_text("lrn", [x], [size], **attributes), runtime_values("LRN", [x], size=size, **attributes)


# --- chosen by data, constants --------------------------------------------------------------------------------------


@generator
def of_gather():
    x = reals(*shape(integer(1, 3)))
    axis = integer(0, x.ndim - 1)
    n = x.shape[axis]
    indices = integers(*shape(integer(0, 2)), low=-n, high=n - 1)
    indices = np.array(indices, np.int64)
    return call_text("gather", [x, indices], axis=axis), onnx_values("Gather", [x, indices], axis=axis)


@generator
def of_gatherelements():
    x = reals(*shape(integer(1, 3)))
    axis = integer(0, x.ndim - 1)
    dims = [integer(1, n) for n in x.shape]
    dims[axis] = integer(1, 4)
    indices = integers(*dims, low=-x.shape[axis], high=x.shape[axis] - 1)
    y = np.zeros(dims)
    for place in np.ndindex(*dims):
        y[place] = x[place[:axis] + (int(indices[place]),) + place[axis + 1:]]
    return call_text("gatherelements", [x, indices], axis=axis), [y]


@generator
def of_onehot():
    depth, dims = integer(1, 4), shape(integer(0, 2))
    indices = np.array(integers(*dims, low=-depth, high=depth - 1), np.int64)
    axis, values = integer(0, len(dims)), reals(2)
    expected = onnx_values("OneHot", [indices, np.array(depth), values], axis=axis)
    return call_text("onehot", [indices, values], [axis, depth]), expected


@generator
def of_clamp():
    dims = shape(integer(0, 3))
    x, low, high = reals(*dims), reals(*dims), reals(*dims)
    return call_text("clamp", [x, low, high]), [np.minimum(np.maximum(x, low), high)]


@generator
def of_dilate():
    dims, value = shape(integer(0, 3)), pick(0.0, 1.5)
    gaps, x = [integer(0, 3) for _ in dims], reals(*dims)
    y = np.full([n + (n - 1) * g for n, g in zip(dims, gaps)], value)
    y[tuple(slice(None, None, g + 1) for g in gaps)] = x
    return call_text("dilate", [x], gaps=gaps, value=value), [y]


def box(dims, size, starts):
    """The places of a box that is brought inside."""
    first = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, dims, size)]
    return tuple(slice(f, f + k) for f, k in zip(first, size))


@generator
def of_dynamicslice():
    dims = shape(integer(1, 3))
    size, x, starts = [integer(1, n) for n in dims], reals(*dims), integers(len(dims))
    return call_text("dynamicslice", [x, starts], size=size), [x[box(dims, size, starts)]]


@generator
def of_updateslice():
    dims = shape(integer(1, 3))
    size, x, starts = [integer(1, n) for n in dims], reals(*dims), integers(len(dims))
    part, y = reals(*size), x.copy()
    y[box(dims, size, starts)] = part
    return call_text("updateslice", [x, part, starts]), [y]


@generator
def of_constants():
    kind = pick(*CONSTANTS)
    c, kernel = integer(1, 3), [pick(1, 3), pick(1, 3, 5)]
    if kind == "cpool":
        dims, y = [c, 1] + kernel, np.full([c, 1] + kernel, 1 / math.prod(kernel))
    elif kind == "iconv":
        dims, y = [c, c] + kernel, np.zeros([c, c] + kernel)
        y[range(c), range(c), kernel[0] // 2, kernel[1] // 2] = 1
    elif kind == "fill":
        dims, value = shape(integer(0, 3)), pick(0.0, 0.5, -2.5)
        return call_text(kind, [], shape=dims, value=value), [np.full(dims, np.float32(value))]
    elif kind == "range":
        dims = shape(integer(1, 3))
        axis = integer(0, len(dims) - 1)
        return call_text(kind, [], [axis], shape=dims), [np.indices(dims)[axis].astype(float)]
    else:
        dims = [c, c] if kind == "imatmul" else shape(integer(0, 3))
        y = np.eye(c) if kind == "imatmul" else np.ones(dims)
    return call_text(kind, [], shape=dims), [y]


# --- integers -------------------------------------------------------------------------------------------------------


def register_integers(name, function, count=2, low=-9, **attributes):
    def generate():
        dims = shape(2)
        inputs = [integers(*dims, low=low, high=9) * pick(1, 1, 10**9) for _ in range(count)]
        return call_text(name, inputs, **attributes), [function(*inputs)]

    integer_generators[name] = generate


def truncated_quotient(x, y):
    return np.where(y == 0, 0, np.sign(x) * np.sign(y) * (np.abs(x) // np.where(y == 0, 1, np.abs(y))))


for name, function in {"ewadd": np.add, "ewmul": np.multiply, "sub": np.subtract, "max": np.maximum, "min": np.minimum,
                       "less": np.less, "lessequal": np.less_equal, "equal": np.equal, "div": truncated_quotient,
                       "fmod": lambda x, y: x - truncated_quotient(x, y) * y * (y != 0) - x * (y == 0)}.items():
    register_integers(name, function)
for name, function in {"neg": np.negative, "abs": np.abs, "sign": np.sign,
                       "relu": lambda x: np.maximum(x, 0)}.items():
    register_integers(name, function, 1)
register_integers("clip", lambda x: np.clip(x, -2, 3), 1, min=-2.0, max=3.0)
register_integers("reducesum", lambda x: x.sum(0, keepdims=True), 1, axes=[0])
register_integers("reducemax", lambda x: x.max(1, keepdims=True), 1, axes=[1])
register_integers("reduceprod", lambda x: x.prod(0, keepdims=True), 1, axes=[0])


# --- comparison -----------------------------------------------------------------------------------------------------


def parse_line(line):
    head, values = line[1:].split(")", 1)
    dims = [int(n) for n in head.split()[1:]]
    return np.array([float(v) for v in values.split()]).reshape(dims)


def evaluate(program, domain, texts):
    with tempfile.NamedTemporaryFile("w", suffix=".calls") as file:
        file.write("\n".join(texts))
        file.flush()
        done = subprocess.run([program, domain, file.name], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program} ends with {done.returncode}: {done.stderr}")
    return [block.splitlines() for block in done.stdout.split("\n\n")[:-1]]


def difference(lines, expected):
    if lines[0].startswith("refused"):
        return lines[0]
    if len(lines) != len(expected):
        return f"{len(lines)} outputs"
    for line, wanted in zip(lines, expected):
        tolerance = (1e-5, 1e-6) if wanted.dtype == np.float32 else (1e-6, 1e-7)
        got, wanted = parse_line(line), np.asarray(wanted, dtype=np.float64)
        if got.shape != wanted.shape:
            return f"shape {got.shape}, not {wanted.shape}"
        if not np.allclose(got, wanted, *tolerance, equal_nan=True):
            return f"{got.tolist()}\nnot {wanted.tolist()}"
    return None


def count_failures(domain, generators):
    cases = [(name, *generate()) for name, generate in generators.items() for _ in range(CASES_OF_EACH)]
    results = evaluate(sys.argv[1], domain, [text for _, text, _ in cases])
    failures = 0
    for (name, text, expected), lines in zip(cases, results, strict=True):
        reason = difference(lines, expected)
        if reason:
            failures += 1
            print(f"{name}: {text}\n  gives {reason}")
    print(f"{domain}: {len(cases)} cases of {len(generators)} kinds, {failures} differ")
    return failures


def operators_without_cases():
    examples = pathlib.Path(__file__).with_name("examples.calls").read_text(encoding="utf-8")
    names = re.findall(r"^\((\w+)", examples, re.MULTILINE)
    return [name for name in names if name not in generators and name not in CONSTANTS]


def main():
    for name in operators_without_cases():
        sys.exit(f"no case of {name}")
    return 1 if count_failures("f64", generators) + count_failures("i64", integer_generators) else 0


if __name__ == "__main__":
    sys.exit(main())
