"""Random models of NNSmith (PyPI), written as ONNX without the framework that its own exporter needs.

NNSmith finds graphs of some seventy typed operators whose sizes a solver chooses: ranks from 0 to 5, all types of numbers
and booleans, broadcasting, several outputs. `nnsmith_model(random)` gives one."""
import importlib.util
import pathlib
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore", module="nnsmith")
import nnsmith  # noqa: E402
from nnsmith.abstract import op as operators  # noqa: E402
from nnsmith.abstract.dtype import DTYPE_GEN_ALL  # noqa: E402
from nnsmith.graph_gen import model_gen  # noqa: E402

ONNX_TYPES = {"float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE,
              "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
              "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL}
SAME_NAME = ["Add", "Sub", "Mul", "Max", "Min", "Pow", "Equal", "Greater", "Less", "And", "Or", "Xor", "Where", "Sin", "Cos", "Asin",
             "Acos", "Tan", "Atan", "Abs", "Ceil", "Floor", "Round", "Sqrt", "Neg", "Sigmoid", "MatMul", "PTMatMul"]
NARROW = {"Asin": (-1, 1), "Acos": (-1, 1)}
POSITIVE = ["Sqrt", "Log2", "Pow"]   # where they are defined


def torch_dialect():
    """MatMul, Linear, Flatten and a sum, whose module alone can be read without torch."""
    path = pathlib.Path(nnsmith.__file__).parent / "materialize" / "torch" / "dialect.py"
    spec = importlib.util.spec_from_file_location("torch_dialect", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


torch_dialect()
TYPES = [kind for kind in DTYPE_GEN_ALL if str(kind) in ONNX_TYPES]
OPERATORS = operators.FULL_OPERATOR_SETS["core"] + operators.FULL_OPERATOR_SETS["torch"]


class Writer:
    def __init__(self, random):
        self.random, self.nodes, self.weights, self.n = random, [], [], 0

    def name(self):
        self.n += 1
        return f"t{self.n}"

    def weight(self, array):
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.weight(np.array(values, np.int64))

    def random_weight(self, shape, dtype=np.float32):
        """Small, that sums and products of them stay within what is compared."""
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            return self.weight((self.random.standard_normal(shape) * 0.5).astype(dtype))
        return self.weight(self.random.integers(0, 2 if dtype.kind == "b" else 4, shape).astype(dtype))

    def add(self, kind, *inputs, output=None, **attributes):
        output = output or self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output


def numbers_of(op):
    return np.dtype(op.input_like[0].dtype.numpy())


def write_unary(m, op, x, y):
    kind, dtype = type(op).__name__, numbers_of(op)
    number = lambda value: m.weight(np.array(value, dtype))   # noqa: E731
    if kind in NARROW:
        x = m.add("Clip", x, *map(number, NARROW[kind]))
    if kind in POSITIVE:
        x = m.add("Abs", x)
    if kind == "ReLU":
        return m.add("Relu", x, output=y)
    if kind == "LeakyReLU":
        return m.add("LeakyRelu", x, output=y, alpha=0.01)
    if kind == "PReLU":
        return m.add("PRelu", x, number([0.25]) if op.input_like[0].ndims else number(0.25), output=y)
    if kind == "GELU":
        e = m.add("Add", m.add("Erf", m.add("Div", x, number(np.sqrt(2)))), number(1))
        return m.add("Mul", m.add("Mul", x, e), number(0.5), output=y)
    if kind == "Clip":
        bound = 1.5 if dtype.kind == "f" else 1
        return m.add("Clip", x, number(0 if dtype.kind == "u" else -bound), number(bound), output=y)
    if kind == "Log2":
        return m.add("Div", m.add("Log", m.add("Add", x, number(1))), number(np.log(2)), output=y)
    if kind == "Softmax":
        return m.add("Softmax", x, output=y, axis=int(op.dim))
    if kind.startswith("Cast"):
        return m.add("Cast", x, output=y, to=ONNX_TYPES[str(op.extra_attrs["to"])])
    return m.add(kind, x, output=y)


def write_window(m, op, x, y):
    kind, channels = type(op).__name__, op.input_like[0].shape[1]
    if kind == "Conv1d":
        w = m.random_weight((op.out_channels, channels, op.kernel_size))
        return m.add("Conv", x, w, m.random_weight((op.out_channels,)), output=y, strides=[op.stride], dilations=[op.dilation],
                     pads=[op.padding] * 2)
    kernel, how = [op.kernel_h_size, op.kernel_w_size], {"strides": [op.stride] * 2, "pads": [op.padding] * 4}
    if kind == "NCHWConv2d":
        w = m.random_weight((op.out_channels, channels, *kernel))
        return m.add("Conv", x, w, m.random_weight((op.out_channels,)), output=y, dilations=[op.dilation_h, op.dilation_w], **how)
    more = {"count_include_pad": 1} if kind == "AvgPool2d" else {}
    return m.add("MaxPool" if kind == "MaxPool2d" else "AveragePool", x, output=y, kernel_shape=kernel, **how, **more)


def write_batch_norm(m, op, x, y):
    positive = m.weight((m.random.random(op.nfeat) + 0.5).astype(np.float32))
    return m.add("BatchNormalization", x, *(m.random_weight((op.nfeat,)) for _ in range(3)), positive, output=y)


def write_slice(m, op, x, y):
    end = op.end if m.random.random() < 0.5 else min(op.end, 2**31 - 1)
    return m.add("Slice", x, m.ints(op.start), m.ints(end), m.ints(op.extra_attrs["axis"]), m.ints(op.step), output=y)


def write_pad(m, op, x, y):
    rank, pairs = op.input_like[0].ndims, op.padding_list
    pads = [[0] * rank, [0] * rank]
    for i in range(len(pairs) // 2):
        pads[0][rank - 1 - i], pads[1][rank - 1 - i] = pairs[2 * i], pairs[2 * i + 1]
    mode = {"constant": "constant", "replicate": "edge", "reflect": "reflect"}[op.extra_attrs["type"]]
    value = [m.weight(np.array(0.5, numbers_of(op)))] if mode == "constant" else []
    return m.add("Pad", x, m.ints(*pads[0], *pads[1]), *value, output=y, mode=mode)


def write_interpolation(m, op, x, y):
    kind = type(op).__name__
    how = ({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if kind == "NearestInterp"
           else {"mode": "cubic" if kind == "BicubicInterp" else "linear", "coordinate_transformation_mode": "half_pixel"})
    sizes = [*op.input_like[0].shape[:-len(op.size)], *op.size]
    return m.add("Resize", x, "", "", m.ints(*sizes), output=y, **how)


def write_reduction(m, op, x, y):
    kind, axis = type(op).__name__.removeprefix("Torch"), op.extra_attrs["reduce_dim"]
    axis = axis if axis is not None else 0
    if kind == "Squeeze":
        return m.add("Squeeze", x, m.ints(axis), output=y) if op.input_like[0].shape[axis] == 1 else m.add("Identity", x, output=y)
    if kind in ("ArgMin", "ArgMax"):
        return m.add(kind, x, output=y, axis=axis, keepdims=0)
    if kind == "ReduceSum":
        x = m.add("Cast", x, to=ONNX_TYPES[str(op.output_like[0].dtype)])
        return m.add(kind, x, m.ints(axis), output=y, keepdims=0)
    return m.add(kind, x, output=y, axes=[axis], keepdims=0)


def write_division(m, op, inputs, y):
    if numbers_of(op).kind != "f":   # by nothing: a fault of the processor
        inputs[1] = m.add("Max", m.add("Abs", inputs[1]), m.weight(np.array(1, numbers_of(op))))
    return m.add("Div", *inputs, output=y)


def write_moved(m, op, x, y):
    kind, rank = type(op).__name__, op.input_like[0].ndims
    if kind == "Reshape":
        return m.add("Reshape", x, m.ints(*op.target_shape), output=y)
    if kind == "Flatten":
        return m.add("Reshape", x, m.ints(-1), output=y)
    if kind == "Transpose":
        perm, (i, j) = list(range(rank)), op._init_swap_dims(op.input_like[0].shape)
        perm[i], perm[j] = perm[j], perm[i]
        return m.add("Transpose", x, output=y, perm=perm)
    if kind in ("Tril", "Triu"):
        return m.add("Trilu", x, m.weight(np.array(op.diagonal, np.int64)), output=y, upper=int(kind == "Triu"))
    return m.add("Expand", x, m.ints(*op.output_like[0].shape), output=y)


def write_linear(m, op, x, y):
    return m.add("Add", m.add("MatMul", x, m.random_weight((op.ifeat, op.ofeat))), m.random_weight((op.ofeat,)), output=y)


def write(m, op, inputs, y):
    for kind, writer in ((operators.Pad, write_pad), (operators.Slice, write_slice), (operators.InterpBase, write_interpolation),
                         (operators.ReduceBase, write_reduction), (operators.BatchNorm2d, write_batch_norm),
                         ((operators.Pool2d, operators.Conv1d, operators.NCHWConv2d), write_window),
                         ((operators.Reshape, operators.Transpose, operators.TriBase, operators.Expand), write_moved)):
        if isinstance(op, kind):
            return writer(m, op, inputs[0], y)
    kind = type(op).__name__
    if kind == "Flatten":
        return write_moved(m, op, inputs[0], y)
    if kind == "Linear":
        return write_linear(m, op, inputs[0], y)
    if kind == "Div":
        return write_division(m, op, inputs, y)
    if isinstance(op, operators.Concat):
        return m.add("Concat", *inputs, output=y, axis=op.extra_attrs["axis"])
    if len(inputs) == 1:
        return write_unary(m, op, inputs[0], y)
    if kind == "Pow":
        inputs = [m.add("Clip", m.add("Abs", inputs[0]), *(m.weight(np.array(v, numbers_of(op))) for v in (0, 3))), inputs[1]]
    return m.add(kind.removeprefix("PT"), *inputs, output=y)


def declared(name, tensor, is_exact):
    return helper.make_tensor_value_info(name, ONNX_TYPES[str(tensor.dtype)], tensor.shape if is_exact else None)


def written(graph, random):
    m, inputs = Writer(random), []
    for i in graph.insts:
        op = i.iexpr.op
        if isinstance(op, operators.Input) or (isinstance(op, operators.Constant) and random.random() < 0.3):
            inputs.append(declared(i.retval(), op.abs_tensor, True))
        elif isinstance(op, operators.Constant):
            made = m.random_weight(tuple(op.abs_tensor.shape), op.abs_tensor.dtype.numpy())
            m.nodes.append(helper.make_node("Identity", [made], [i.retval()]))
        else:
            write(m, op, list(i.iexpr.args), i.retval())
    is_exact = random.random() < 0.8
    outputs = [declared(name, graph.vars[name], is_exact) for name in graph.leaf_var() if name not in {i.name for i in inputs}]
    made = helper.make_graph(m.nodes, "nnsmith", inputs, outputs, m.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def nnsmith_model(random):
    while True:
        method = str(random.choice(["symbolic-cinit", "symbolic", "concolic"]))
        try:
            graph = model_gen(OPERATORS, method, max_nodes=int(random.integers(3, 16)), seed=int(random.integers(2**31)),
                              timeout_ms=3000, max_elem_per_tensor=4096, dtype_choices=TYPES).make_concrete()
            return written(graph, random)
        except Exception:   # a solver that gave up, sizes that it could not find, or complex numbers in spite of TYPES
            continue
