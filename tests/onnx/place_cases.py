"""Random nodes that move entries: slices, gathers, pads, parts, shapes. Functions of operator_cases.TABLE."""
import numpy as np
from onnx import numpy_helper

from case import FLOATS, attribute_of, element_type


def slice_(c):
    x = c.data(c.values(c.shape(1, 4, (0, 1, 2, 3, 5, 8)), element_type(c, False)))
    chosen = c.axes(x.ndim, 1) if c.chance(0.8) else list(range(c.between(1, x.ndim)))
    is_listed = c.chance(0.8) or chosen != list(range(len(chosen)))
    starts, ends = ([int(np.clip(c.place(x.shape[a]), -2**63, 2**63 - 1)) for a in chosen] for _ in range(2))
    if c.opset < 10:
        c.attributes.update(starts=starts, ends=ends, **({"axes": chosen} if is_listed else {}))
        return
    dtype = c.pick(np.int32, np.int64)
    fit = np.iinfo(dtype)
    for values in (starts, ends):
        c.size_input([min(max(v, fit.min), fit.max) for v in values], dtype)
    if is_listed or c.chance(0.5):
        c.size_input(chosen, dtype)
    if len(c.inputs) == 4 and c.chance(0.8):
        c.size_input([c.pick(1, 2, 3, -1, -1, -2, -3, 100, -100, fit.max, fit.min + 1) for _ in chosen], dtype)


def gather(c):
    x = c.data(c.values(c.shape(1, 4), element_type(c, False)))
    axis = c.axis(x.ndim)
    size = x.shape[axis]
    c.attributes = {"axis": axis} if c.chance(0.8) else {}
    size = x.shape[c.attributes.get("axis", 0)]
    low = -size if c.opset >= 11 else 0
    c.data(c.integers(c.shape(0, 3), c.pick(np.int32, np.int64), low, size - 1))


def gather_elements(c):
    x = c.data(c.values(c.shape(1, 4), element_type(c, False)))
    axis = c.axis(x.ndim)
    shape = [c.between(1, n) for n in x.shape]
    shape[axis] = c.between(1, 6)
    c.attributes = {"axis": axis}
    c.data(c.integers(shape, c.pick(np.int32, np.int64), -x.shape[axis], x.shape[axis] - 1))


def scatter(c):
    """Constant for the most part: otherwise they are kept as they are. Some have a place twice, or a reduction."""
    c.op = c.pick("ScatterND", "GatherND")
    x = c.values(c.shape(1, 4, (1, 2, 3, 4)), element_type(c, False))
    batch = c.between(0, x.ndim - 1) if c.op == "GatherND" and c.opset >= 12 else 0
    depth, count = c.between(1, x.ndim - batch), c.between(0, 4)
    size = np.array(x.shape[batch:batch + depth])
    grid = c.random.permutation(np.indices(size).reshape(depth, -1).T)[:count]
    indices = np.broadcast_to(grid, [*x.shape[:batch], *grid.shape])
    updates = [len(grid), *x.shape[depth:]]
    if batch:
        c.attributes["batch_dims"] = batch
    if indices.size and c.chance(0.1):
        indices = np.zeros_like(indices)
    constants = [x, np.where(c.random.random(indices.shape) < 0.3, indices - size, indices).astype(np.int64)]
    if c.op != "GatherND":
        constants.append(c.values(updates, x.dtype))
    if c.op != "GatherND" and c.opset >= 16 and c.chance(0.1):
        c.attributes["reduction"] = c.pick("add", "mul")
    for k, value in enumerate(constants):
        c.data(value)
        if k > 0 or c.chance(0.8):
            c.fixed.add(k)


def pad(c):
    x = c.data(c.values(c.shape(1, 4, (0, 1, 2, 3, 4)), c.pick(*FLOATS, np.int32, np.int64) if c.opset >= 11 else
                        c.pick(np.float32, np.float64)))
    mode = c.pick("constant", "constant", "reflect", "edge", *(["wrap"] if c.opset >= 19 else []))
    if c.chance(0.9):
        c.attributes["mode"] = mode
    axes = c.axes(x.ndim, 1) if c.opset >= 18 and c.chance(0.4) else None
    pads = [c.between(-2, 3) if c.chance(0.8) else c.between(-6, 9) for _ in range(2 * (len(axes) if axes else x.ndim))]
    if c.opset < 11:
        c.attributes["pads"] = pads
        if c.chance(0.5):
            c.attributes["value"] = 1.5
        return
    c.size_input(pads)
    if c.chance(0.5):
        c.size_input(3, x.dtype)
    elif axes:
        c.omit()
    if axes:
        c.size_input(axes)


def split(c):
    x = c.data(c.values(c.shape(1, 3, (1, 2, 3, 4, 5, 6, 7, 8)), element_type(c)))
    axis = c.axis(x.ndim)
    c.attributes["axis"] = axis
    c.n_outputs = c.between(1, 5)
    if c.opset >= 18 and c.chance(0.5):
        c.attributes["num_outputs"] = c.n_outputs
    elif c.chance(0.6):
        cuts = sorted(c.between(0, x.shape[axis]) for _ in range(c.n_outputs - 1))
        sizes = np.diff([0, *cuts, x.shape[axis]])
        c.list("split", sizes, 13)


def reshape(c):
    x = c.data(c.values(c.shape(0, 4, (0, 1, 2, 3, 4, 6)), element_type(c, False)))
    shape = list(c.random.permutation([n for n in x.shape]))
    if len(shape) > 1 and c.chance(0.5):
        shape = [int(shape[0]) * int(shape[1]), *shape[2:]]
    shape = [int(n) for n in shape]
    if shape and c.chance(0.5):
        shape[c.below(len(shape))] = -1
    for i in range(min(len(shape), x.ndim)):
        if shape[i] == x.shape[i] and c.chance(0.5):
            shape[i] = 0
    if c.chance(0.2):
        shape.insert(c.below(len(shape) + 1), 1)
    if c.opset >= 14 and c.chance(0.4):
        c.attributes["allowzero"] = c.pick(0, 1)
    c.size_input(shape)


def squeeze(c):
    x = c.data(c.values(c.shape(0, 4, (1, 1, 2, 3)), element_type(c, False)))
    ones = [a for a in range(x.ndim) if x.shape[a] == 1]
    if c.chance(0.7):
        chosen = [a - x.ndim if c.chance(0.3) and c.opset >= 11 else a for a in ones if c.chance(0.6)]
        c.list("axes", chosen, 13)


def unsqueeze(c):
    x = c.data(c.values(c.shape(0, 3), element_type(c, False)))
    n = c.between(0, 3)
    rank = x.ndim + n
    chosen = [int(a) for a in c.random.permutation(rank)[:n]]
    c.list("axes", [a - rank if c.chance(0.3) and c.opset >= 11 else a for a in chosen], 13)


def flatten(c):
    x = c.data(c.values(c.shape(0, 4, (0, 1, 2, 3)), element_type(c) if c.opset >= 9 else np.float32))
    if c.chance(0.8):
        c.attributes["axis"] = c.between(-x.ndim if c.opset >= 11 else 0, x.ndim)


def expand(c):
    x = c.data(c.values(c.shape(0, 3, (1, 1, 2, 3)), element_type(c, False)))
    shape = [n if c.chance(0.5) else c.pick(1, n if n > 1 else c.pick(0, 2, 4)) for n in x.shape]
    c.size_input(([c.pick(1, 2)] if c.chance(0.4) else []) + (shape if c.chance(0.8) else shape[1:]))


def tile(c):
    x = c.data(c.values(c.shape(1, 3), element_type(c, False)))
    c.size_input([c.pick(0, 1, 1, 2, 3) for _ in x.shape])


def concat(c):
    shape, dtype = c.shape(1, 4), element_type(c, False)
    axis = c.axis(len(shape))
    for _ in range(c.between(1, 4)):
        part = list(shape)
        part[axis] = c.between(0, 3)
        c.data(c.values(part, dtype))
    c.attributes["axis"] = axis


def transpose(c):
    x = c.data(c.values(c.shape(0, 4, (0, 1, 2, 3)), element_type(c, False)))
    if c.chance(0.8):
        c.attributes["perm"] = attribute_of("perm", c.random.permutation(x.ndim))


def trilu(c):
    c.data(c.values(c.shape(2, 4), c.pick(np.float32, np.int64, np.float64)))
    if c.chance(0.8):
        c.size_input(c.pick(c.between(-6, 6), -2**40, 2**40))
    if c.chance(0.7):
        c.attributes["upper"] = c.pick(0, 1)


def one_hot(c):
    depth = c.between(1, 5)
    indices = c.data(c.integers(c.shape(0, 3), c.pick(np.int64, np.int32), -depth - 2, depth + 2))
    c.size_input(c.pick(depth, [depth]))
    c.data(c.values([2], c.pick(np.float32, np.int64, np.int32)))
    if c.chance(0.8):
        c.attributes["axis"] = c.axis(indices.ndim + 1)


def depth_to_space(c):
    c.op = c.pick("DepthToSpace", "SpaceToDepth")
    b = c.between(1, 3)
    if c.op == "DepthToSpace":
        c.data(c.reals([2, b * b * c.between(1, 3), 2, 3]))
        if c.opset >= 11 and c.chance(0.6):
            c.attributes["mode"] = c.pick("DCR", "CRD")
    else:
        c.data(c.reals([2, 3, b * 2, b * c.between(1, 3)]))
    c.attributes["blocksize"] = b


def shape_(c):
    x = c.data(c.values(c.shape(0, 4, (0, 1, 2, 3)), element_type(c, False)))
    for name in ("start", "end") if c.opset >= 15 else ():
        if c.chance(0.6):
            c.attributes[name] = c.between(-x.ndim - 2, x.ndim + 2)


def range_(c):
    dtype = c.pick(np.int32, np.int64, np.float32, np.float64, np.int16)
    if dtype == np.int64 and c.chance(0.2):
        first = c.pick(2**60, -2**60, 2**53) + c.between(-3, 3)
        return [c.size_input(value, dtype) for value in (first, first + c.between(0, 2**53 + 3), 2**51 + c.between(-3, 3))]
    for value in (c.between(-5, 5), c.between(-8, 12), c.pick(1, 2, 3, -1, -2, -3)):
        c.size_input(value if np.issubdtype(dtype, np.integer) else value * c.pick(1, 0.3, 0.1), dtype)


def constant_of_shape(c):
    c.size_input(c.shape(0, 3, (0, 1, 2, 3)))
    if c.chance(0.7):
        dtype = c.pick(np.float32, np.int64, np.bool_, np.uint8, np.float16, np.int32, np.uint64)
        c.attributes["value"] = numpy_helper.from_array(c.values([1], dtype))


TABLE = [
    (slice_, "Slice", 4), (gather, "Gather", 1), (gather_elements, "GatherElements", 1), (scatter, None, 2),
    (pad, "Pad", 4), (split, "Split", 2), (reshape, "Reshape", 3), (squeeze, "Squeeze", 2),
    (unsqueeze, "Unsqueeze", 1), (flatten, "Flatten", 1), (expand, "Expand", 1), (tile, "Tile", 1),
    (concat, "Concat", 1), (transpose, "Transpose", 1), (trilu, "Trilu", 1), (one_hot, "OneHot", 2),
    (depth_to_space, None, 1), (shape_, "Shape", 1), (range_, "Range", 2), (constant_of_shape, "ConstantOfShape", 1),
]
