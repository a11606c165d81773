"""Random valid models of all element types that grow node by node: each node is run by ONNX Runtime as it is added,
and stays only when that accepts it and its values are finite, of moderate size, and not near to a jump. Nodes of types
that numpy does not have (bf16, float8, int4) are added together with the casts around them.

`make(seed)` gives the model, what to feed it, and the outputs' values; the same for the same seed and version of ONNX
Runtime. There are operator sets from 7 on, symbolic sizes, subgraphs in subgraphs, functions, sequences, operators
without a meaning, strings, quantized tensors, scalars, empty tensors, up to eight axes, negative axes and steps;
constants as initializers, as nodes, in subgraphs, and as inputs besides; outputs that are inputs or constants, or the
same tensor twice, or are left out; inputs that nothing reads.
"""
import os
import pickle

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from each_model import session_of
from grown_structures import Structures

OPSETS = [20, 20, 20, 21, 21, 23, 22, 19, 18, 17, 15, 13, 11, 10, 9, 8, 7]
FLOATS = [np.float32, np.float32, np.float32, np.float64, np.float16]
NARROW = [TensorProto.BFLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.INT4,
          TensorProto.UINT4, TensorProto.FLOAT8E4M3FNUZ]
INTEGERS = [np.int64, np.int32, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64]
MOST_ENTRIES = 2048
LARGEST = 1e4
JITTER = {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-4}


def element_type(value):
    return TensorProto.STRING if value.dtype == object else helper.np_dtype_to_tensor_dtype(value.dtype)


def is_float(value):
    return value.dtype.kind == "f"


def is_moderate(value):
    if not isinstance(value, np.ndarray) or value.size > MOST_ENTRIES or value.ndim > 8:
        return False
    return not is_float(value) or bool(np.all(np.isfinite(value)) and np.all(np.abs(value) < LARGEST))


def jittered(value, random):
    if not is_float(value):
        return value
    step = JITTER[value.dtype]
    noise = random.uniform(-step, step, value.shape)
    return (value * (1 + noise) + noise / 10).astype(value.dtype)


def are_near(a, b):
    if a.shape != b.shape:
        return False
    if not is_float(a):
        return bool(np.array_equal(a, b))
    return bool(np.all(np.abs(a.astype(np.float64) - b) <= 0.03 * max(1e-3, float(np.abs(a).max(initial=0)))))


class Grower(Structures):
    """A graph under construction: `values` has every tensor that a node may read, as it is at the inputs chosen."""

    def __init__(self, seed, attempt=0):
        self.seed = seed
        self.random = np.random.default_rng([seed, attempt] if attempt else seed)
        self.opset = self.choose(OPSETS)
        self.ir_version = 10 if self.opset > 20 else 3 if self.opset < 9 and self.chance(0.5) else 9
        self.values, self.nodes, self.weights, self.inputs, self.hidden, self.functions = {}, [], [], {}, set(), []

    # --- choices ---

    def chance(self, p):
        return bool(self.random.random() < p)

    def choose(self, values):
        values = list(values)
        return values[int(self.random.integers(len(values)))] if values else None

    def size(self):
        return 0 if self.chance(0.02) else int(self.random.choice([1, 2, 2, 3, 4, 4, 5, 6]))

    def entries(self, dtype, shape):
        dtype = np.dtype(dtype)
        if dtype == object:
            return self.random.choice(np.array(["a", "bc", "", "déf"], object), shape)
        if dtype == bool:
            return self.random.random(shape) < 0.5
        if dtype.kind == "f":
            return self.random.standard_normal(shape).astype(dtype)
        low = 0 if dtype.kind == "u" else -6
        return self.random.integers(low, 7, shape).astype(dtype)

    def tensor(self, accepts=lambda value: True):
        """The name of a tensor, recent ones more often; None: there is none."""
        names = [name for name, value in self.values.items() if accepts(value)]
        return self.choose(names[-6:] if self.chance(0.6) else names)

    def float(self, least=0, most=6):
        return self.tensor(lambda v: is_float(v) and least <= v.ndim <= most)

    def axis(self, value, inclusive=0):
        n = value.ndim + inclusive
        return int(self.random.integers(-n, n)) if n else 0

    # --- what is added ---

    def input(self, value):
        name = f"input{len(self.inputs)}"
        self.inputs[name] = self.values[name] = np.asarray(value)
        return name

    def weight(self, value):
        name = f"weight{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value, name))
        self.values[name] = value
        self.hidden.add(name)
        return name

    def integers(self, values):
        return self.weight(np.array(values, np.int64))

    def other(self, x):
        """A tensor or weight that goes with `x` in broadcasting."""
        value = self.values[x]
        same = self.tensor(lambda v: v.dtype == value.dtype and v.shape == value.shape)
        if same and self.chance(0.6):
            return same
        shape = [n if self.chance(0.6) else 1 for n in value.shape][int(self.chance(0.3)):]
        made = self.entries(value.dtype, shape)
        return self.weight(made) if self.chance(0.8) else self.input(made)

    def run(self, nodes, fed, outputs):
        graph = helper.make_graph(
            nodes, "some",
            [helper.make_tensor_value_info(name, element_type(value), value.shape) for name, value in fed.items()],
            [helper.make_empty_tensor_value_info(name) for name in outputs])
        return session_of(self.model_of(graph), is_optimizing=False).run(None, fed)

    def model_of(self, graph):
        domains = [helper.make_opsetid("", self.opset), *([helper.make_opsetid("own", 1)] if self.functions else [])]
        return helper.make_model(graph, opset_imports=domains, functions=self.functions, ir_version=self.ir_version)

    def add(self, op, inputs, n_outputs=1, reads=(), **attributes):
        """False: ONNX Runtime refuses the node, or what it gives is of no use here."""
        outputs = [f"t{len(self.values) + i}" for i in range(n_outputs)]
        if any(name is None for name in inputs):
            return False
        if n_outputs > 1 and not reads and self.chance(0.3):   # ONNX Runtime crashes where a Loop leaves one out
            outputs[int(self.random.integers(n_outputs))] = ""
        node = helper.make_node(op, inputs, outputs, name=f"node{len(self.nodes)}" if self.chance(0.7) else "",
                                **{name: value for name, value in attributes.items() if value is not None})
        return self.add_nodes([node], [name for name in [*inputs, *reads] if name], [name for name in outputs if name])

    def add_nodes(self, nodes, reads, outputs):
        """All of them or, as above, none."""
        fed = {name: self.values[name] for name in reads}
        try:
            values = self.run(nodes, fed, outputs)
            if not all(map(is_moderate, values)):
                return False
            if nodes[0].op_type == "MatMul" and values[0].size and not all(value.size for value in fed.values()):
                return False   # sums of nothing, which ONNX Runtime leaves as its memory was
            if any(map(is_float, fed.values())):
                again = self.run(nodes, {name: jittered(value, self.random) for name, value in fed.items()}, outputs)
                if not all(map(are_near, values, again)):
                    return False
        except Exception:   # ONNX Runtime has many kinds, and all of them say no
            return False
        self.nodes += nodes
        self.values.update(zip(outputs, values))
        return True

    # --- operators ---

    def unary(self):
        x = self.tensor()
        ops = ["Identity", "Abs", "Neg", "Sign", "Relu"]
        if is_float(self.values[x]):
            ops += ["Relu", "Sigmoid", "Tanh", "Exp", "Floor", "Ceil", "Round", "Erf", "Softplus", "Softsign", "Elu",
                    "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Gelu", "Celu", "ThresholdedRelu", "Sqrt",
                    "Reciprocal", "Log", "Sin", "Cos", "Mish", "IsNaN", "Dropout", "Atan"]
        if self.values[x].dtype == bool:
            ops += ["Not"] * 4
        op = self.choose(ops)
        slopes = {"alpha": float(self.random.uniform(0.1, 1.5))} if op in ("LeakyRelu", "Elu", "Celu") else {}
        return self.add(op, [x], **slopes)

    def binary(self):
        x = self.tensor(lambda v: v.dtype != object)
        y = self.other(x)
        if self.values[x].dtype == bool:
            ops = ["And", "Or", "Xor", "Equal"]
        else:
            ops = ["Add", "Add", "Mul", "Mul", "Sub", "Div", "Min", "Max", "Equal", "Less", "GreaterOrEqual", "Pow",
                   "Mean", "Sum"]
            ops += [] if is_float(self.values[x]) else ["Mod", "BitwiseAnd", "BitwiseXor"]
        return self.add(self.choose(ops), self.choose([[x, y], [y, x]]))

    def cast(self):
        x = self.tensor()
        to = self.choose(FLOATS + FLOATS + INTEGERS + [bool])
        return self.add("Cast", [x], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))

    def select(self):
        x = self.tensor()
        y = self.other(x)
        c = self.tensor(lambda v: v.dtype == bool) or self.weight(self.entries(bool, self.values[x].shape))
        return self.add("Where", [c, x, y])

    def clip(self):
        x = self.tensor(lambda v: v.dtype != bool and v.dtype != object)
        if x is None:
            return False
        if self.opset < 11:
            return self.add("Clip", [x], min=0.0 if self.chance(0.7) else None, max=3.0 if self.chance(0.7) else None)
        bounds = [self.weight(np.array(n, self.values[x].dtype)) if self.chance(0.7) else "" for n in (0, 3)]
        return self.add("Clip", [x, *bounds])

    def reduce(self):
        x = self.tensor(lambda v: v.dtype != object and v.ndim > 0)
        if x is None:
            return False
        op = self.choose(["ReduceSum", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2",
                          "ReduceSumSquare", "ReduceLogSumExp", "ReduceL1"])
        ndim = self.values[x].ndim
        axes = [int(i) - (ndim if self.chance(0.3) else 0) for i in
                self.random.permutation(ndim)[:int(self.random.integers(1, ndim + 1))]]
        keepdims = int(self.chance(0.6))
        if self.opset < (13 if op == "ReduceSum" else 18):
            return self.add(op, [x], keepdims=keepdims, axes=axes if self.chance(0.9) else None)
        if self.chance(0.15):
            return self.add(op, [x], keepdims=keepdims, noop_with_empty_axes=int(self.chance(0.5)))
        return self.add(op, [x, self.integers(axes)], keepdims=keepdims)

    def places(self):
        x = self.tensor(lambda v: v.dtype != object and v.ndim > 0)
        if x is None:
            return False
        axis = self.axis(self.values[x])
        if self.values[x].size == 0:
            return False
        kind = self.choose(["arg", "cumsum", "topk", "softmax", "logsoftmax"])
        if kind == "arg":
            return self.add(self.choose(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=int(self.chance(0.5)))
        if kind == "cumsum":
            return self.add("CumSum", [x, self.weight(np.array(axis, np.int64))], exclusive=int(self.chance(0.3)),
                            reverse=int(self.chance(0.3)))
        if kind == "topk":
            k = int(self.random.integers(1, self.values[x].shape[axis] + 1))
            if self.opset < 10:
                return self.add("TopK", [x], 2, axis=axis, k=k)
            return self.add("TopK", [x, self.integers([k])], 2, axis=axis, largest=int(self.chance(0.7)))
        return self.add("Softmax" if kind == "softmax" else "LogSoftmax", [x], axis=axis)

    def move(self):
        x = self.tensor()
        value = self.values[x]
        kind = self.choose(["transpose", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "tile", "shape"])
        if kind == "transpose":
            permutation = [int(i) for i in self.random.permutation(value.ndim)]
            return value.ndim > 0 and self.add("Transpose", [x], perm=permutation if self.chance(0.9) else None)
        if kind == "reshape":
            return self.reshape(x)
        if kind == "flatten":
            return self.add("Flatten", [x], axis=self.axis(value, 1))
        if kind in ("squeeze", "unsqueeze") and self.opset < 13:
            ones = [i for i, n in enumerate(value.shape) if n == 1]
            axes = ones[:1] if kind == "squeeze" else [self.axis(value, 1) % (value.ndim + 1)]   # from the end since 11
            return bool(axes) and self.add(kind.capitalize(), [x], axes=axes)
        if kind == "squeeze":
            ones = [i for i, n in enumerate(value.shape) if n == 1]
            return self.add("Squeeze", [x, self.integers([self.choose(ones)])]) if ones else self.add("Squeeze", [x])
        if kind == "unsqueeze":
            return self.add("Unsqueeze", [x, self.integers([self.axis(value, 1)])])
        if kind == "expand":
            shape = [self.size() if n == 1 else self.choose([1, n]) for n in value.shape]
            return self.add("Expand", [x, self.integers(([2] if self.chance(0.3) else []) + shape)])
        if kind == "tile":
            return self.add("Tile", [x, self.integers([self.choose([1, 1, 2]) for _ in value.shape])])
        return self.add(self.choose(["Shape", "Shape", "Size"]), [x])

    def reshape(self, x):
        shape = list(self.values[x].shape)
        while len(shape) > 1 and self.chance(0.6):
            i = int(self.random.integers(len(shape) - 1))
            shape[i:i + 2] = [shape[i] * shape[i + 1]]
        for i, n in enumerate(list(shape)):
            if n % 2 == 0 and n > 2 and self.chance(0.3):
                shape[i:i + 1] = [2, n // 2]
        if shape and self.chance(0.4):
            shape[int(self.random.integers(len(shape)))] = -1
        if shape and self.values[x].ndim and shape[0] == self.values[x].shape[0] and self.chance(0.4):
            shape[0] = 0
        return self.add("Reshape", [x, self.integers(shape)])

    def cut(self):
        x = self.tensor(lambda v: v.ndim > 0)
        if x is None:
            return False
        value = self.values[x]
        axis = self.axis(value)
        n = value.shape[axis]
        kinds = ["slice", "slice", "split", "pad", "trilu"]
        kind = self.choose(kinds + ["gather", "elements", "nd", "scatter"] if value.size else kinds)
        if kind == "slice":
            step = self.choose([1, 1, 2, -1, -2])
            ends = sorted(int(i) for i in self.random.integers(-n - 3, n + 4, 2))
            start, end = ends if step > 0 else ends[::-1]
            if self.opset < 10:
                return self.add("Slice", [x], starts=[ends[0]], ends=[ends[1]], axes=[axis])
            return self.add("Slice", [x, *(self.integers([i]) for i in (start, end, axis, step))])
        if kind == "split":
            first = int(self.random.integers(0, n + 1))
            if self.opset < 13:
                return self.add("Split", [x], 2, axis=axis, split=[first, n - first])
            return self.add("Split", [x, self.integers([first, n - first])], 2, axis=axis)
        if kind == "gather":
            shape = self.choose([(), (2,), (1, 3)])
            return self.add("Gather", [x, self.weight(np.array(self.random.integers(-n, n, shape)))], axis=axis)
        if kind == "pad":
            pads = [int(i) for i in self.random.integers(-1, 3, 2 * value.ndim)]
            mode = self.choose(["constant", "constant", "edge", "reflect"])
            if self.opset < 11:
                return self.add("Pad", [x], pads=pads, mode=mode, value=self.choose([None, 0.5]))
            return self.add("Pad", [x, self.integers(pads)], mode=mode)
        if kind == "elements":
            return self.add("GatherElements", [x, self.weight(self.random.integers(-n, n, value.shape))], axis=axis)
        if kind == "nd":
            return self.add("GatherND", [x, self.weight(self.random.integers(0, value.shape[0], (2, 1)))])
        if kind == "scatter" and value.dtype != object:
            at = self.weight(self.random.integers(0, value.shape[0], (1, 1)))
            new = self.weight(self.entries(value.dtype, (1, *value.shape[1:])))
            return self.add("ScatterND", [x, at, new])
        return value.ndim >= 2 and self.add("Trilu", [x], upper=int(self.chance(0.5)))

    def concat(self):
        x = self.tensor(lambda v: v.ndim > 0)
        if x is None:
            return False
        axis, value = self.axis(self.values[x]), self.values[x]

        def fits(v):
            return v.dtype == value.dtype and v.ndim == value.ndim and all(
                a == b or i == axis % value.ndim for i, (a, b) in enumerate(zip(v.shape, value.shape)))
        return self.add("Concat", [x, *(self.tensor(fits) for _ in range(int(self.random.integers(1, 3))))], axis=axis)

    def product(self):
        x = self.tensor(lambda v: v.ndim > 0 and v.dtype != object and v.dtype != bool)
        if x is None:
            return False
        value = self.values[x]
        k = value.shape[-1]
        y = self.tensor(lambda v: v.dtype == value.dtype and v.ndim > 1 and v.shape[-2] == k)
        if y is None or self.chance(0.6):
            y = self.weight(self.entries(value.dtype, (*value.shape[:-2][:int(self.chance(0.3))], k, self.size())))
        kind = self.choose(["matmul", "matmul", "gemm", "einsum"])
        if kind == "gemm" and value.ndim == 2:
            m = self.size()
            b = self.weight(self.entries(value.dtype, self.choose([(m, k), (k, m)])))
            c = [self.weight(self.entries(value.dtype, (m,)))] if self.chance(0.6) else []
            return self.add("Gemm", [x, b, *c], transB=int(self.values[b].shape[1] == k), alpha=self.choose([1.0, 0.5]),
                            beta=self.choose([1.0, 0.5]))
        if kind == "einsum" and value.ndim == 2 and self.values[y].ndim == 2:
            return self.add("Einsum", [x, y], equation=self.choose(["ik,kj->ij", "ik,kj->ji", "ik,kj->i", "ik,kj"]))
        return self.add("MatMul", [x, y])

    def window(self):
        x = self.tensor(lambda v: is_float(v) and v.ndim in (3, 4) and v.shape[1] > 0)
        if x is None:
            return False
        value = self.values[x]
        n = value.ndim - 2
        kernel = [self.choose([1, 2, 3]) for _ in range(n)]
        common = dict(kernel_shape=kernel, strides=[self.choose([1, 1, 2]) for _ in range(n)])
        if self.chance(0.3):
            common["auto_pad"] = self.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
        else:
            common["pads"] = [self.choose([0, k // 2]) for k in kernel * 2]
        kind = self.choose(["conv", "conv", "conv", "max", "average", "global", "norm", "transposed", "space"])
        if kind in ("conv", "transposed"):
            channels = value.shape[1]
            groups = self.choose(g for g in (1, 1, 2, channels) if channels % g == 0)
            filters = groups * self.choose([1, 2])
            shape = (filters, channels // groups) if kind == "conv" else (channels, filters // groups)
            w = self.weight(self.entries(value.dtype, (*shape, *kernel)))
            bias = [self.weight(self.entries(value.dtype, (filters,)))] if self.chance(0.5) else []
            return self.add("Conv" if kind == "conv" else "ConvTranspose", [x, w, *bias], group=groups,
                            dilations=[self.choose([1, 1, 2]) for _ in range(n)], **common)
        if kind == "max":
            return self.add("MaxPool", [x], self.choose([1, 1, 2]) if self.opset > 7 else 1,
                            ceil_mode=int(self.chance(0.3)) if self.opset > 9 else None, **common)
        if kind == "average":
            return self.add("AveragePool", [x], ceil_mode=int(self.chance(0.3)) if self.opset > 9 else None,
                            count_include_pad=int(self.chance(0.5)), **common)
        if kind == "global":
            return self.add(self.choose(["GlobalAveragePool", "GlobalMaxPool"]), [x])
        if kind == "space":
            return self.add("SpaceToDepth", [x], blocksize=2)
        return self.norm(x)

    def norm(self, x):
        channels, dtype = self.values[x].shape[1], self.values[x].dtype
        parameters = [self.weight(np.abs(self.entries(dtype, (channels,))) + dtype.type(0.5)) for _ in range(4)]
        if self.chance(0.5):
            return self.add("BatchNormalization", [x, *parameters], epsilon=1e-3)
        return self.add("InstanceNormalization", [x, *parameters[:2]], epsilon=1e-3)

    def layer_norm(self):
        x = self.float(1)
        if x is None:
            return False
        shape = self.values[x].shape[-1:]
        return self.add("LayerNormalization", [x, *(self.weight(self.entries(self.values[x].dtype, shape))
                                                    for _ in range(2))], self.choose([1, 1, 3]), axis=-1)

    def recurrent(self):
        """Of one direction or both, all, some or one of its outputs."""
        x = self.tensor(lambda v: v.dtype == np.float32 and v.ndim == 3 and v.size > 0)
        if x is None:
            return False
        op, gates = self.choose([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
        directions, hidden = self.choose([1, 2]), self.choose([1, 2, 3])
        shapes = [(directions, gates * hidden, n) for n in (self.values[x].shape[2], hidden)]
        shapes += [(directions, 2 * gates * hidden)] if self.chance(0.5) else []
        return self.add(op, [x, *(self.weight(self.entries(np.float32, shape)) for shape in shapes)],
                        self.choose([1, 2, 3 if op == "LSTM" else 2]), hidden_size=hidden,
                        direction="bidirectional" if directions == 2 else self.choose(["forward", "reverse"]))

    def narrow(self):
        """A cast to a type that numpy does not have, some nodes of that type, and a cast back."""
        x = self.float(1)
        if x is None:
            return False
        n, value, to = len(self.nodes), self.values[x], self.choose(NARROW)
        nodes, last = [helper.make_node("Cast", [x], [f"narrow{n}"], to=to)], f"narrow{n}"
        for i in range(int(self.random.integers(1, 4))):
            name, op = f"narrow{n}_{i}", self.choose(["Identity", "Transpose", "Flatten", "Concat", "Relu", "Add", "Mul", "Neg",
                                                      "Reshape", "Unsqueeze", "MatMul", "Abs", "Sum"])
            more = {"Concat": [last], "Add": [last], "Mul": [last], "MatMul": [last], "Sum": [last, last],
                    "Reshape": [self.integers([-1])], "Unsqueeze": [self.integers([0])]}.get(op, [])
            node = helper.make_node(op, [last, *more], [name], **({"axis": 0} if op == "Concat" else {}))
            reads = [x, *(name for node in [*nodes, node] for name in node.input if name in self.values)]
            try:
                back = helper.make_node("Cast", [name], ["back"], to=TensorProto.FLOAT)
                self.run([*nodes, node, back], {name: self.values[name] for name in reads}, ["back"])
            except Exception:   # as above
                continue
            nodes, last = [*nodes, node], name
        reads = {x, *(name for node in nodes for name in node.input if name in self.values)}
        output = f"t{len(self.values)}"
        nodes.append(helper.make_node("Cast", [last], [output], to=element_type(value)))
        return self.add_nodes(nodes, sorted(reads), [output])

    def quantized(self):
        x = self.tensor(lambda v: v.dtype == np.float32)
        y = self.tensor(lambda v: v.dtype in (np.uint8, np.int8))
        scale = self.weight(np.float32(self.random.uniform(0.02, 0.2)))
        if y and self.chance(0.5):
            zero = self.weight(np.array(3, self.values[y].dtype))
            return self.add("DequantizeLinear", [y, scale, zero])
        if self.chance(0.3):
            return self.add("DynamicQuantizeLinear", [x], 3)
        return self.add("QuantizeLinear", [x, scale, self.weight(np.array(3, self.choose([np.uint8, np.int8])))])

    def body(self, prefix, reads):
        """Some nodes on tensors from outside, and what they give; some read a constant of their own."""
        nodes, constants, names = [], [], list(reads)
        for i in range(int(self.random.integers(1, 4))):
            name, op = f"{prefix}_{i}", self.choose(["Add", "Mul", "Sub", "Neg", "Relu", "Identity", "Constant"])
            x, y = self.choose(names[-3:]), self.choose(names)
            if op == "Constant":
                op, y = "Add", f"{name}_c"
                value = numpy_helper.from_array(self.entries(self.values[reads[-1]].dtype, ()), y)
                if self.chance(0.5) and self.ir_version > 3:
                    constants.append(value)
                else:
                    nodes.append(helper.make_node("Constant", [], [y], value=value))
            nodes.append(helper.make_node(op, [x, y][:1 + (op in ("Add", "Mul", "Sub"))], [name]))
            names.append(name)
        return nodes, constants, names[-1]

    def branch(self):
        """An If whose branches read tensors from outside, often with a condition that is known."""
        x = self.tensor(lambda v: v.dtype.kind in "fi")
        condition = None if self.chance(0.4) else self.tensor(lambda v: v.dtype == bool and v.size == 1)
        condition = condition or self.weight(np.array(self.chance(0.5)))
        if x is None:
            return False
        y, bodies, n_outputs = self.other(x), [], self.choose([1, 1, 2])
        for which in range(3):
            nodes, constants, last = self.body(f"inner{len(self.nodes)}b{which}", [x, y])
            outputs = [last, *(f"{last}_{i}" for i in range(1, n_outputs))]
            nodes += [helper.make_node(self.choose(["Neg", "Identity"]), [self.choose([last, x])], [name]) for name in outputs[1:]]
            bodies.append(helper.make_graph(nodes, f"body{which}", [],
                                            [helper.make_empty_tensor_value_info(name) for name in outputs], constants))
        if self.chance(0.3):   # one in a branch of another
            names = [f"inner{len(self.nodes)}If{i}" for i in range(n_outputs)]
            inner = helper.make_node("If", [condition], names, then_branch=bodies[0], else_branch=bodies[2])
            bodies[0] = helper.make_graph([inner], "If", [], [helper.make_empty_tensor_value_info(name) for name in names])
        return self.add("If", [condition], n_outputs, reads=[condition, x, y], then_branch=bodies[0], else_branch=bodies[1])

    def loop(self):
        """A Loop that adds a tensor from outside some times over."""
        x = self.float()
        if x is None:
            return False
        y = self.other(x)
        if np.broadcast_shapes(self.values[x].shape, self.values[y].shape) != self.values[x].shape:
            return False
        n = len(self.nodes)
        kind = element_type(self.values[x])
        info = helper.make_tensor_value_info
        collects = self.chance(0.3)
        inside, constants, last = self.body(f"inside{n}", [y]) if self.chance(0.5) else ([], [], y)
        nodes = [helper.make_node("Identity", [f"go{n}"], [f"on{n}"]), *inside,
                 helper.make_node("Add", [f"in{n}", last], [f"out{n}"]), helper.make_node("Neg", [f"out{n}"], [f"each{n}"])]
        body = helper.make_graph(
            nodes if collects else nodes[:-1], "body",
            [info(f"i{n}", TensorProto.INT64, []), info(f"go{n}", TensorProto.BOOL, []), info(f"in{n}", kind, None)],
            [info(f"on{n}", TensorProto.BOOL, []), info(f"out{n}", kind, None), info(f"each{n}", kind, None)][:2 + collects],
            constants)
        count, goes = self.weight(np.array(self.choose([0, 1, 3, 3]), np.int64)), self.choose(["", "", self.weight(np.array(self.chance(0.7)))])
        return self.add("Loop", [count, goes, x], 1 + collects, reads=[y], body=body)

    def scan(self):
        """A running sum along the first axis, beside what it is at each place, times a tensor from outside."""
        x = self.float(1)
        if x is None or self.values[x].shape[0] == 0:
            return False
        value, n = self.values[x], len(self.nodes)
        kind, shape = element_type(value), value.shape[1:]
        start, factor = (self.weight(self.entries(value.dtype, shape)) for _ in range(2))
        info = helper.make_tensor_value_info
        body = helper.make_graph(
            [helper.make_node("Add", [f"sum{n}", f"at{n}"], [f"next{n}"]),
             helper.make_node("Mul", [f"next{n}", factor], [f"times{n}"])],
            "body", [info(f"sum{n}", kind, shape), info(f"at{n}", kind, shape)],
            [info(f"next{n}", kind, shape), info(f"times{n}", kind, shape)])
        return self.add("Scan", [start, x], 2, reads=[factor], num_scan_inputs=1, body=body)

    # --- the model ---

    def info_of(self, name, value):
        """Some sizes are symbols, the same for the same size of all inputs: the first, or any."""
        is_symbol = [i == 0 if self.seed % 2 else self.chance(0.4) for i in range(value.ndim)]
        shape = [f"n{n}" if self.seed % 3 == 0 and is_symbol[i] else n for i, n in enumerate(value.shape)]
        return helper.make_tensor_value_info(name, element_type(value), shape)

    def put_constants_elsewhere(self):
        """Some weights become nodes, which stand first, others stay and are inputs besides."""
        self.weights, weights, given = [], self.weights, []
        for weight in weights:
            if self.chance(0.15):
                self.nodes.insert(0, helper.make_node("Constant", [], [weight.name], value=weight))
            else:
                self.weights.append(weight)
                if self.ir_version < 4 or self.chance(0.05):
                    given.append(helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims))
        return given

    def name_once_more(self, outputs):
        """Outputs that are inputs, constants, or the same tensor twice."""
        if self.chance(0.1):
            outputs.append(self.choose(self.inputs))
        if self.weights and self.chance(0.1):
            outputs.append(self.choose(self.weights).name)
        for name in list(outputs):
            if self.chance(0.08):
                self.nodes.append(helper.make_node("Identity", [name], [f"{name}_again"]))
                self.values[f"{name}_again"] = self.values[name]
                outputs.append(f"{name}_again")

    def model(self):
        read = {name for node in self.nodes for name in node.input}
        outputs = [name for node in self.nodes for name in node.output
                   if name in self.values and (name not in read or self.chance(0.1))]
        if self.chance(0.1):
            self.input(self.entries(self.choose([np.float32, np.int64, bool]), [self.size()]))   # that nothing reads
        given = self.put_constants_elsewhere()
        self.name_once_more(outputs)
        graph = helper.make_graph(
            self.nodes, "grown", [self.info_of(name, value) for name, value in self.inputs.items()] + given,
            [helper.make_tensor_value_info(name, element_type(self.values[name]),
                                           self.values[name].shape if self.seed % 3 else None) for name in outputs],
            self.weights)
        return self.model_of(graph)


def grow(seed, attempt=0, n_nodes=14):
    g = Grower(seed, attempt)
    rank = g.choose([0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 6, 7])
    shape = [g.size() if rank < 5 else g.choose([1, 2, 2, 3]) for _ in range(rank)]
    kinds = g.choose([[np.float32], [np.float32], [np.float32], [np.float32, g.choose(FLOATS), g.choose(INTEGERS)],
                      [g.choose(INTEGERS)], [g.choose(FLOATS)], [np.float32, bool], [np.float32, object]])
    for kind in kinds:
        g.input(g.entries(kind, shape))
    steps = [g.unary, g.binary, g.binary, g.binary, g.cast, g.select, g.clip, g.reduce, g.places, g.move, g.move, g.cut,
             g.cut, g.concat, g.product, g.product, g.product, g.window, g.window, g.window, g.layer_norm, g.quantized,
             g.branch, g.branch, g.loop, g.scan, g.recurrent, g.narrow, g.nested, g.nested, g.call, g.call, g.sequence,
             g.data_dependent, g.resize, g.signal, g.signal]
    favourites = [g.choose(steps) for _ in range(6)]
    for _ in range(6 * n_nodes):
        if len(g.nodes) >= n_nodes:
            break
        g.choose(favourites if g.chance(0.6) else steps)()
    return g.model(), g.inputs


def in_a_child(function, *arguments):
    """What it gives; None: the process ended before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "wb") as file:
                pickle.dump(function(*arguments), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        made = file.read()
    os.waitpid(child, 0)
    return pickle.loads(made) if made else None


def make(seed):
    """ONNX Runtime crashes on some nodes: another attempt then."""
    made = (in_a_child(grow, seed, attempt) for attempt in range(10))
    return next(model for model in made if model)
