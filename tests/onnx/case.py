"""What a random node is made with: choices, values of each type, inputs and attributes."""
import numpy as np
from onnx import AttributeProto, helper

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


def two(c, shape=None):
    """Two shapes that broadcast."""
    whole = shape or c.shape(0, 4)
    parts = []
    for _ in range(2):
        part = [n if c.chance(0.7) else 1 for n in whole]
        parts.append(part[c.below(len(part) + 1):] if c.chance(0.3) and part else part)
    return parts
