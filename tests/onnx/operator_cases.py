"""Random nodes for tests, of the kinds that are read wrongly: axes and places from the end, starts and ends beyond a
tensor, sizes that do not divide, empty lists, values that an element type does not hold, and what changed from one
operator set to the next.

`make(seed)` gives a model of one node, the values of its inputs, and which of them are constants; the same for the same
seed. It may be invalid: whoever runs it tells.
"""
import numpy as np
from onnx import AttributeProto, defs, helper, numpy_helper

import kept_cases

LAST_OPSET = 23   # that ONNX Runtime has in full
FLOATS = [np.float32, np.float32, np.float32, np.float16, np.float64]
INTEGERS = [np.int32, np.int64, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64]
EXTREME = 2**31 - 1


class Case:
    """What a function of the table below says of its node. Inputs are arrays, or None where one is omitted; those in
    `fixed` are initializers, as sizes are in most models."""

    def __init__(self, seed, opset):
        self.random, self.opset = np.random.default_rng(seed), opset
        self.op, self.inputs, self.attributes, self.n_outputs, self.fixed = None, [], {}, 1, set()

    # --- choosing ---

    def pick(self, *values):
        return values[int(self.random.integers(len(values)))]

    def chance(self, share):
        return bool(self.random.random() < share)

    def below(self, n):
        return int(self.random.integers(n))

    def between(self, low, high):
        return int(self.random.integers(low, high + 1))

    def shape(self, low=0, high=4, sizes=(1, 2, 3, 4, 5)):
        return [self.pick(*sizes) for _ in range(self.between(low, high))]

    def axis(self, rank):
        return self.between(-rank, rank - 1) if rank else 0

    def axes(self, rank, least=0):
        n = self.between(min(least, rank), rank)
        chosen = [int(a) for a in self.random.permutation(rank)[:n]]
        return [a - rank if self.chance(0.3) else a for a in chosen]

    def place(self, size):
        """An index as models have it: inside, from the end, at the edges, far beyond."""
        return self.pick(self.between(-size - 2, size + 2), 0, -1, size, -size, -size - 1, EXTREME, -EXTREME - 1,
                         2**63 - 1, -2**63, 500, -500)

    # --- values ---

    def reals(self, shape, dtype=np.float32, scale=2.0):
        return np.asarray(scale * self.random.standard_normal(shape)).astype(dtype)

    def integers(self, shape, dtype=np.int64, low=-5, high=5):
        low = max(low, np.iinfo(dtype).min)
        return np.asarray(self.random.integers(low, high + 1, shape)).astype(dtype)

    def values(self, shape, dtype):
        if dtype == np.bool_:
            return np.asarray(self.random.integers(0, 2, shape)).astype(np.bool_)
        if np.issubdtype(dtype, np.floating):
            return self.reals(shape, dtype)
        # more digits than a double has, and no sum that overflows, which is a runtime's own affair
        high = 2**53 + 1 if np.dtype(dtype).itemsize == 8 and self.chance(0.2) else 0
        return self.integers(shape, dtype) + np.dtype(dtype).type(high)

    def whole(self, shape, dtype):
        """Any value of an integer type, the ends often."""
        info = np.iinfo(dtype)
        full = np.frombuffer(self.random.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(shape)
        return np.where(self.random.random(shape) < 0.3, self.pick(info.min, info.max), full).astype(dtype)

    # --- giving ---

    def data(self, array):
        self.inputs.append(np.array(array))   # never a numpy scalar, which is no array to write to
        return self.inputs[-1]

    def size_input(self, values, dtype=np.int64):
        """A list that sets sizes: an initializer."""
        self.fixed.add(len(self.inputs))
        self.inputs.append(np.array(values, dtype))

    def omit(self):
        self.inputs.append(None)

    def list(self, name, values, first_as_input):
        """An attribute that became an input."""
        if self.opset >= first_as_input:
            self.size_input(values)
        else:
            self.attributes[name] = attribute_of(name, values)


def attribute_of(name, values):
    """helper.make_attribute does not know what an empty list is a list of."""
    return [int(v) for v in values] or helper.make_attribute(name, [], attr_type=AttributeProto.INTS)


def element_type(c, numbers=True):
    return c.pick(*FLOATS, *FLOATS, *INTEGERS, *([] if numbers else [np.bool_]))


# --- places -----------------------------------------------------------------------------------------------------------

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
    c.op = c.pick("ScatterND", "ScatterElements", "GatherND")
    x = c.values(c.shape(1, 4, (1, 2, 3, 4)), element_type(c, False))
    if c.op == "ScatterElements":
        axis = c.axis(x.ndim)
        shape = [c.between(1, n) for n in x.shape]
        indices = np.argsort(c.random.random([*shape[:axis], x.shape[axis], *shape[axis:][1:]]), axis)
        indices = np.take(indices, range(shape[axis]), axis)
        c.attributes["axis"] = axis
        size, updates = x.shape[axis], indices.shape
    else:
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
    x = c.data(c.values(c.shape(2, 4), c.pick(np.float32, np.int64, np.float64)))
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


# --- windows ----------------------------------------------------------------------------------------------------------

def windows(c, n, image, has_dilations, has_ceil):
    kernel = [c.between(1, 3) for _ in range(n)]
    if c.chance(0.8):
        c.attributes["strides"] = [c.between(1, 3) for _ in range(n)]
    if has_dilations and c.chance(0.4):
        c.attributes["dilations"] = [c.between(1, 2) for _ in range(n)]
    how = c.pick("pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    if how == "pads":
        c.attributes["pads"] = [c.between(0, 2) for _ in range(2 * n)]
    elif how != "none":
        c.attributes["auto_pad"] = how
    if has_ceil and c.chance(0.5):
        c.attributes["ceil_mode"] = c.pick(0, 1)
    return kernel


def image(c, n, channels=None):
    return [c.between(1, 2), channels or c.between(1, 4), *(c.between(3, 8) for _ in range(n))]


def pool(c):
    c.op = c.pick("MaxPool", "AveragePool")
    n = c.pick(1, 2, 2, 2, 3)
    x = c.data(c.reals(image(c, n)) - c.pick(0, 5))
    is_max = c.op == "MaxPool"
    c.attributes["kernel_shape"] = windows(c, n, x.shape, c.opset >= (10 if is_max else 19), c.opset >= 10)
    if not is_max and c.chance(0.6):
        c.attributes["count_include_pad"] = c.pick(0, 1)


def global_pool(c):
    c.op = c.pick("GlobalMaxPool", "GlobalAveragePool")
    c.data(c.reals(image(c, c.between(1, 3))))


def conv(c):
    n, groups = c.pick(1, 2, 2, 2, 3), c.pick(1, 1, 2, 3)
    x = c.data(c.reals(image(c, n, groups * c.between(1, 2))))
    kernel = windows(c, n, x.shape, True, False)
    filters = groups * c.between(1, 2)
    c.data(c.reals([filters, x.shape[1] // groups, *kernel]))
    if c.chance(0.5):
        c.data(c.reals([filters]))
    if groups > 1 or c.chance(0.5):
        c.attributes["group"] = groups
    if c.chance(0.5):
        c.attributes["kernel_shape"] = kernel


def conv_transpose(c):
    n, groups = c.pick(1, 2, 2, 2), c.pick(1, 1, 2)
    x = c.data(c.reals(image(c, n, groups * c.between(1, 2))))
    kernel = windows(c, n, x.shape, True, False)
    filters = c.between(1, 2)
    c.data(c.reals([x.shape[1], filters, *kernel]))
    if c.chance(0.5):
        c.data(c.reals([filters * groups]))
    if groups > 1:
        c.attributes["group"] = groups
    strides = c.attributes.get("strides", [1] * n)
    if c.chance(0.4):
        c.attributes["output_padding"] = [c.between(0, max(0, s - 1)) for s in strides]
    if c.chance(0.3):
        c.attributes["output_shape"] = [s * k + c.between(-1, 1) for s, k in zip(x.shape[2:], strides)]


def resize(c):
    if c.opset < 11:
        x = c.data(c.reals(image(c, 2)))
        c.size_input([1, 1, c.pick(1, 2, 1.5, 0.6), c.pick(1, 2, 3, 0.5)], np.float32)
        if c.chance(0.8):
            c.attributes["mode"] = c.pick("nearest", "linear")
        return
    x = c.data(c.reals(image(c, c.pick(1, 2, 2)), c.pick(np.float32, np.float32, np.float64)))
    c.omit()
    n, first = x.ndim - 2, [1, 1]
    axes = list(range(2, x.ndim))[::c.pick(1, -1)]
    if c.opset >= 18 and c.chance(0.5):
        c.attributes["axes"], first = [axis - c.pick(0, x.ndim) for axis in axes], []
    if c.chance(0.6):
        c.size_input([*first, *(c.pick(1, 2, 3, 0.5, 0.6, 1.5, 2.3, 1.0 / 3) for _ in range(n))], np.float32)
    else:
        c.omit()
        c.size_input([*(x.shape[:2] if first else []), *(c.between(1, 9) for _ in range(n))])
    if c.chance(0.9):
        c.attributes["mode"] = c.pick("nearest", "linear", "cubic")
    modes = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
             *(["half_pixel_symmetric"] if c.opset >= 19 else [])]
    if c.chance(0.8):
        c.attributes["coordinate_transformation_mode"] = c.pick(*modes)
    if c.chance(0.7):
        c.attributes["nearest_mode"] = c.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if c.chance(0.3):
        c.attributes["exclude_outside"] = c.pick(0, 1)
    if c.chance(0.3):
        c.attributes["cubic_coeff_a"] = c.pick(-0.5, -0.75)


# --- numbers ----------------------------------------------------------------------------------------------------------

def two(c, shape=None):
    """Two shapes that broadcast."""
    whole = shape or c.shape(0, 4)
    parts = []
    for _ in range(2):
        part = [n if c.chance(0.7) else 1 for n in whole]
        parts.append(part[c.below(len(part) + 1):] if c.chance(0.3) and part else part)
    return parts


def arithmetic(c):
    c.op = c.pick("Add", "Sub", "Mul", "Div", "Max", "Min")
    wide = [np.int32, np.int64] + ([np.uint32, np.uint64] if c.op not in ("Max", "Min") or c.opset >= 12 else [])
    narrow = [np.int8, np.uint8, np.int16, np.uint16] if c.opset >= 14 else []
    dtype = c.pick(*FLOATS, *wide, *narrow)
    if c.op in ("Max", "Min") and c.opset < 12:
        dtype = c.pick(*FLOATS)
    for i, part in enumerate(two(c)):
        if np.issubdtype(dtype, np.integer):
            values = c.whole(part, dtype) if c.chance(0.4) else c.integers(part, dtype, -9, 9)
            if c.op == "Div" and i == 1:
                values = np.where(values == 0, 3, values).astype(dtype)
                values = np.where(values == np.array(-1).astype(dtype), 2, values).astype(dtype)
        else:
            values = c.reals(part, dtype)
            if c.chance(0.3) and values.size:
                values.flat[c.below(values.size)] = c.pick(np.inf, -np.inf, np.nan, 0)
        c.data(values)


def mod(c):
    dtype = c.pick(np.int32, np.int64, np.int8, np.uint8, np.uint32, np.uint64, np.int16, np.float32, np.float64)
    a, b = two(c)
    is_real = np.issubdtype(dtype, np.floating)
    c.data(c.reals(a, dtype, 5) if is_real else c.whole(a, dtype) if c.chance(0.3) else c.integers(a, dtype, -20, 20))
    y = c.reals(b, dtype, 3) if is_real else c.integers(b, dtype, -7, 7)
    c.data(np.where(y == 0, 3, y).astype(dtype))
    if is_real or c.chance(0.4):
        c.attributes["fmod"] = 1


def power(c):
    a, b = two(c)
    dtype = c.pick(np.float32, np.float64, *([np.int32, np.int64] if c.opset >= 12 else []))
    other = c.pick(np.float32, np.float64, np.int32, np.int64) if c.opset >= 12 else dtype
    c.data(c.values(a, dtype) if c.chance(0.5) else np.abs(c.values(a, dtype)))
    c.data(c.integers(b, other, -2, 4) if np.issubdtype(other, np.integer) else
           c.pick(c.reals(b, other), c.integers(b, np.int64, -2, 4).astype(other)))


def clip(c):
    dtype = c.pick(np.float32, np.float64, np.float16, *([np.int32, np.int64, np.int8, np.uint8] if c.opset >= 12 else []))
    if c.opset < 11:
        dtype = np.float32
    x = c.data(c.values(c.shape(0, 3), dtype))
    if np.issubdtype(dtype, np.floating) and c.chance(0.3) and x.size:
        x.flat[0] = np.nan
    low, high = c.between(-3, 3), c.between(-3, 3)
    if np.issubdtype(dtype, np.unsignedinteger):
        low, high = abs(low), abs(high)
    for i, (name, value) in enumerate((("min", low), ("max", high))):
        if c.chance(0.3):
            if c.opset >= 11 and i == 0:
                c.omit()
            continue
        if c.opset < 11:
            c.attributes[name] = float(value)
        else:
            c.inputs.append(np.array(value, dtype))
            if c.chance(0.7):
                c.fixed.add(len(c.inputs) - 1)
    while c.inputs[-1] is None:
        c.inputs.pop()


def cast(c):
    source = c.pick(*FLOATS, *INTEGERS, np.bool_)
    target = c.pick(*FLOATS, *INTEGERS, np.bool_)
    shape = c.shape(0, 3)
    if source == np.bool_:
        c.data(c.values(shape, source))
    elif np.issubdtype(source, np.integer):
        c.data(c.whole(shape, source) if c.chance(0.6) else c.integers(shape, source, -300, 300))
    else:
        x = c.data(c.reals(shape, source, c.pick(3, 100)))
        if np.issubdtype(target, np.integer):
            info = np.iinfo(target)
            x[...] = np.clip(x.astype(np.float64), max(info.min, -6e4), min(info.max, 6e4)).astype(source)
    c.attributes["to"] = helper.np_dtype_to_tensor_dtype(np.dtype(target))


def compare(c):
    c.op = c.pick("Equal", "Less", "Greater", *(["LessOrEqual", "GreaterOrEqual"] if c.opset >= 12 else []))
    dtype = c.pick(np.float32, np.float64, np.int32, np.int64, *([np.bool_] if c.op == "Equal" else []),
                   *([np.uint64, np.uint8] if c.op != "Equal" or c.opset >= 11 else []))
    for part in two(c):
        c.data(c.whole(part, dtype) if np.issubdtype(dtype, np.integer) and c.chance(0.5) else c.values(part, dtype))


def unary(c):
    c.op = c.pick("Abs", "Neg", "Sign", "Relu", "Floor", "Ceil", "Round", "Sqrt", "Exp", "Log", "Reciprocal", "Sigmoid",
                  "Tanh", "Erf", "Softplus", "Softsign", "Not", "IsNaN", "IsInf", "Elu", "Selu", "LeakyRelu",
                  "HardSigmoid", "ThresholdedRelu", "Celu", "HardSwish", "Mish", "Gelu", "Shrink", "Size", "Identity",
                  "Atan", "Asinh", "Cosh", "Sin")
    if c.op == "Not":
        c.data(c.values(c.shape(), np.bool_))
        return
    whole = c.op in ("Abs", "Neg", "Sign", "Relu", "Size", "Identity") and c.chance(0.5) and c.opset >= 14
    dtype = c.pick(np.int32, np.int64, np.int8, *([np.uint8, np.uint64] if c.op in ("Abs", "Sign") else [])) if whole \
        else c.pick(np.float32, np.float32, np.float64, np.float16)
    x = c.data(c.whole(c.shape(), dtype) if whole else c.reals(c.shape(), dtype, c.pick(1, 4, 10)))
    if not whole and x.size and c.chance(0.4):
        x.flat[c.below(x.size)] = c.pick(np.inf, -np.inf, np.nan, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5)
    if c.op in ("Elu", "LeakyRelu", "ThresholdedRelu", "Celu", "HardSigmoid", "Selu") and c.chance(0.6):
        c.attributes["alpha"] = c.pick(0.5, 2.0, 0.1)
    if c.op == "Shrink":
        c.attributes.update(lambd=c.pick(0.5, 1.0, 0.0), bias=c.pick(0.0, 0.5))
    if c.op == "Gelu" and c.chance(0.5):
        c.attributes["approximate"] = c.pick("tanh", "none")
    if c.op == "IsInf":
        c.attributes.update(detect_positive=c.pick(0, 1), detect_negative=c.pick(0, 1))


def where(c):
    shape = c.shape(0, 3)
    parts = [[n if c.chance(0.7) else 1 for n in shape] for _ in range(3)]
    dtype = c.pick(np.float32, np.int64, np.bool_, np.int32, np.uint8)
    c.data(c.values(parts[0], np.bool_))
    c.data(c.values(parts[1], dtype))
    c.data(c.values(parts[2], dtype))


def logic(c):
    c.op = c.pick("And", "Or", "Xor")
    for part in two(c):
        c.data(c.values(part, np.bool_))


def variadic(c):
    c.op = c.pick("Sum", "Max", "Min", "Mean")
    shape, dtype = c.shape(0, 3), c.pick(np.float32, np.float64)
    for _ in range(c.between(1, 4)):
        c.data(c.reals([n if c.chance(0.7) else 1 for n in shape], dtype))


# --- sums -------------------------------------------------------------------------------------------------------------

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


# Name of the operator, or None where the function names it; how often.
TABLE = [
    (slice_, "Slice", 4), (gather, "Gather", 1), (gather_elements, "GatherElements", 1), (scatter, None, 2),
    (pad, "Pad", 4), (split, "Split", 2), (reshape, "Reshape", 3), (squeeze, "Squeeze", 2), (unsqueeze, "Unsqueeze", 1),
    (flatten, "Flatten", 1), (expand, "Expand", 1), (tile, "Tile", 1), (concat, "Concat", 1), (transpose, "Transpose", 1),
    (trilu, "Trilu", 1), (one_hot, "OneHot", 2), (depth_to_space, None, 1), (shape_, "Shape", 1), (range_, "Range", 2),
    (constant_of_shape, "ConstantOfShape", 1), (pool, None, 6), (global_pool, None, 1), (conv, "Conv", 3),
    (conv_transpose, "ConvTranspose", 4), (resize, "Resize", 6), (arithmetic, None, 4), (mod, "Mod", 2),
    (power, "Pow", 2), (clip, "Clip", 3), (cast, "Cast", 4), (compare, None, 2), (unary, None, 5), (where, "Where", 1),
    (logic, None, 1), (variadic, None, 1), (reduce, None, 5), (arg_reduce, None, 2), (softmax, None, 3),
    (cumsum, "CumSum", 1), (matmul, "MatMul", 2), (gemm, "Gemm", 2), (einsum, "Einsum", 3),
    (batch_normalization, "BatchNormalization", 2),
    (norms, None, 3), (dropout, "Dropout", 1), (prelu, "PRelu", 1), (top_k, "TopK", 1),
    *kept_cases.TABLE,
]
SCHEMA_FROM = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, LAST_OPSET]


def is_in_opset(op, opset):
    try:
        return not defs.get_schema(op, opset, "").deprecated
    except defs.SchemaError:
        return False


def make(seed):
    """(model, {input name: value}) or None when the operator set has no such operator."""
    random = np.random.default_rng(seed)
    weights = np.array([weight for _, _, weight in TABLE], float)
    fill, op, _ = TABLE[int(random.choice(len(TABLE), p=weights / weights.sum()))]
    opset = int(random.choice(SCHEMA_FROM))
    c = Case(seed, opset)
    c.op = op
    fill(c)
    if not is_in_opset(c.op, opset):
        return None
    return model_of(c, random.random() < 0.25)


def model_of(c, all_constant):
    names = ["" if value is None else f"i{k}" for k, value in enumerate(c.inputs)]
    outputs = [f"o{k}" for k in range(c.n_outputs)]
    listed = {name: value for name, value in c.attributes.items() if not isinstance(value, AttributeProto)}
    node = helper.make_node(c.op, names, outputs, **listed)
    node.attribute.extend(value for value in c.attributes.values() if isinstance(value, AttributeProto))
    feeds, inputs, initializers = {}, [], []
    for k, value in enumerate(c.inputs):
        if value is None:
            continue
        value = np.ascontiguousarray(value).reshape(np.shape(value))
        if k in c.fixed or all_constant:
            initializers.append(numpy_helper.from_array(value, names[k]))
        else:
            inputs.append(helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            feeds[names[k]] = value
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], "case", inputs, results, initializers)
    opset = [helper.make_opsetid("", c.opset)]
    ir = max(3, min(10, helper.find_min_ir_version_for(opset)))
    return helper.make_model(graph, opset_imports=opset, ir_version=max(ir, 4)), feeds
