"""Random nodes of sums and maxima over axes: reductions, products, normalizations. Functions of operator_cases.TABLE."""
import numpy as np

from case import two


def reduce(c):
    c.op = "Reduce" + c.pick("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
    dtype = c.pick(np.float32, np.float32, np.float64, np.int32, np.int64) if c.op not in (
        "ReduceLogSum", "ReduceLogSumExp", "ReduceL2") else c.pick(np.float32, np.float64)
    shape = c.shape(0, 4, (1, 2, 3, 4, 5) if c.chance(0.9) else (0, 1, 2))
    x = c.values(shape, dtype)
    c.data(np.abs(x) if c.op == "ReduceLogSum" else x)
    if c.chance(0.7):
        c.list("axes", c.axes(x.ndim, 0 if c.opset >= (13 if c.op == "ReduceSum" else 18) else 1),
               13 if c.op == "ReduceSum" else 18)
    if c.chance(0.6):
        c.attributes["keepdims"] = c.pick(0, 1)
    if c.opset >= (13 if c.op == "ReduceSum" else 18) and c.chance(0.5):
        c.attributes["noop_with_empty_axes"] = c.pick(0, 1)


def arg_reduce(c):
    c.op = c.pick("ArgMax", "ArgMin")
    x = c.data(c.pick(c.integers(c.shape(1, 3), np.int32, 0, 2), c.reals(c.shape(1, 3))))
    if c.chance(0.8):
        c.attributes["axis"] = c.axis(x.ndim)
    if c.chance(0.6):
        c.attributes["keepdims"] = c.pick(0, 1)
    if c.opset >= 12 and c.chance(0.5):
        c.attributes["select_last_index"] = c.pick(0, 1)


def softmax(c):
    c.op = c.pick("Softmax", "LogSoftmax", "Hardmax")
    x = c.data(c.reals(c.shape(1, 4), c.pick(np.float32, np.float32, np.float64, np.float16), c.pick(1, 30)))
    if c.chance(0.8):
        c.attributes["axis"] = c.axis(x.ndim) if c.opset >= 11 else c.below(x.ndim)


def cumsum(c):
    x = c.data(c.values(c.shape(1, 3), c.pick(np.float32, np.int32, np.int64, np.float64)))
    c.size_input(c.axis(x.ndim), c.pick(np.int32, np.int64))
    c.attributes = {name: c.pick(0, 1) for name in ("exclusive", "reverse") if c.chance(0.7)}


def matmul(c):
    batch = c.shape(0, 2)
    m, k, n = c.between(1, 4), c.between(0, 4), c.between(1, 4)
    dtype = c.pick(np.float32, np.float32, np.float64, *([np.int32, np.int64, np.uint32] if c.opset >= 9 else []))
    a, b = two(c, batch)
    c.data(c.values([*a, m, k] if c.chance(0.85) else [k], dtype))
    c.data(c.values([*b, k, n] if c.chance(0.85) else [k], dtype))


def einsum(c):
    """Some of five axes for each operand, spaces, an ellipsis at any place, axes of size 1 that are longer elsewhere."""
    sizes = {label: c.between(1, 4) for label in "ijklm"}
    ellipsis = c.shape(1, 2) if c.chance(0.3) else None
    dtype, terms = c.pick(np.float32, np.float32, np.float64, np.int32, np.int64), []
    for _ in range(c.pick(1, 2, 2, 2, 2, 3, 4)):
        term = [str(s) for s in c.random.permutation(list("ijklm"))[:c.between(0, 4)]]
        if term and c.chance(0.08):
            term[0] = term[-1]   # a diagonal, where there are two
        shape = [1 if c.chance(0.05) else sizes[label] for label in term]
        if ellipsis and c.chance(0.8):
            place = c.below(len(term) + 1)
            term.insert(place, "...")
            shape[place:place] = [1 if c.chance(0.1) else n for n in ellipsis]
        # ONNX Runtime sums integers in doubles here
        c.data(c.integers(shape, dtype) if np.issubdtype(dtype, np.integer) else c.reals(shape, dtype))
        terms.append(term)
    labels = sorted({label for term in terms for label in term if label != "..."})
    equation = ",".join("".join(term) for term in terms)
    if c.chance(0.75):
        output = [str(s) for s in c.random.permutation(labels)[:c.between(0, len(labels))]] if labels else []
        if any("..." in term for term in terms):
            output.insert(c.below(len(output) + 1), "...")
        equation += "->" + "".join(output)
    c.attributes["equation"] = equation.replace(",", " , ").replace("->", " -> ") if c.chance(0.3) else equation


def gemm(c):
    m, k, n = c.between(1, 4), c.between(1, 4), c.between(1, 4)
    flags = {name: c.pick(0, 1) for name in ("transA", "transB") if c.chance(0.7)}
    dtype = c.pick(np.float32, np.float32, np.float64)
    c.data(c.reals([k, m] if flags.get("transA") else [m, k], dtype))
    c.data(c.reals([n, k] if flags.get("transB") else [k, n], dtype))
    if c.opset < 11 or c.chance(0.7):
        c.data(c.reals(c.pick([m, n], [n], [1, n], [m, 1], [1], []), dtype))
    c.attributes = {**flags, **{name: c.pick(0.0, 0.5, 2.0, 1.0) for name in ("alpha", "beta") if c.chance(0.5)}}


def batch_normalization(c):
    shape = c.shape(2, 4)
    c.data(c.reals(shape))
    for i in range(4):
        values = c.reals([shape[1]])
        c.data(np.abs(values) if i == 3 else values)
    if c.chance(0.5):
        c.attributes["epsilon"] = c.pick(1e-5, 1e-2)
    if c.opset >= 14 and c.chance(0.2):
        c.attributes["training_mode"] = 1
        c.n_outputs = 3
    if c.opset < 9 and c.chance(0.3):
        c.attributes["spatial"] = 1


def norms(c):
    c.op = c.pick("LayerNormalization", "InstanceNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization",
                  "GroupNormalization", "RMSNormalization")
    dtype = c.pick(np.float32, np.float64, np.float16) if c.op == "LayerNormalization" else np.float32
    x = c.reals(c.shape(3, 4, (2, 3, 4)), dtype)
    c.data(x)
    if c.op in ("LayerNormalization", "RMSNormalization"):
        axis = c.axis(x.ndim)
        c.attributes["axis"] = axis
        shape = x.shape[axis:] if axis >= 0 else x.shape[x.ndim + axis:]
        c.data(c.reals(shape if c.chance(0.7) else [n if c.chance(0.5) else 1 for n in shape], dtype))
        if c.op == "LayerNormalization" and c.chance(0.6):
            c.data(c.reals(shape, dtype))
        if c.op == "LayerNormalization" and c.chance(0.3):
            c.n_outputs = c.between(1, 3)
    elif c.op == "InstanceNormalization":
        c.data(c.reals([x.shape[1]]))
        c.data(c.reals([x.shape[1]]))
    elif c.op == "GroupNormalization":
        groups = c.pick(*(g for g in range(1, x.shape[1] + 1) if x.shape[1] % g == 0))
        n = x.shape[1] if c.opset >= 21 else groups
        c.data(c.reals([n]))
        c.data(c.reals([n]))
        c.attributes["num_groups"] = groups
    elif c.op == "LRN":
        c.attributes.update(size=c.between(1, 4), alpha=c.pick(1e-4, 0.5), beta=c.pick(0.75, 0.5), bias=c.pick(1.0, 2.0))
    elif c.op == "LpNormalization":
        c.attributes.update(axis=c.axis(x.ndim), p=c.pick(1, 2))
    elif c.chance(0.5):
        c.attributes["axes"] = c.axes(x.ndim, 1)


def dropout(c):
    c.data(c.reals(c.shape(1, 3)))
    if c.opset < 12:
        if c.chance(0.5):
            c.attributes["ratio"] = 0.3
    elif c.chance(0.6):
        c.size_input(0.3, np.float32)
        if c.chance(0.5):
            c.size_input(False, np.bool_)
    c.n_outputs = c.pick(1, 1, 2)


def prelu(c):
    shape = c.shape(1, 4)
    c.data(c.reals(shape))
    slope = [n if c.chance(0.6) else 1 for n in shape]
    c.data(c.reals(slope[c.below(len(slope)):]))


def top_k(c):
    x = c.data(c.reals(c.shape(1, 3)))
    axis = c.axis(x.ndim)
    c.size_input([c.between(1, x.shape[axis])])
    c.attributes = {"axis": axis, "largest": c.pick(0, 1)}
    c.n_outputs = 2


TABLE = [
    (reduce, None, 5), (arg_reduce, None, 2), (softmax, None, 3), (cumsum, "CumSum", 1), (matmul, "MatMul", 2),
    (gemm, "Gemm", 2), (einsum, "Einsum", 3), (batch_normalization, "BatchNormalization", 2), (norms, None, 3),
    (dropout, "Dropout", 1), (prelu, "PRelu", 1), (top_k, "TopK", 1),
]
