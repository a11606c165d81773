"""Small random models for tests: graphs of matrices or of images in which tensors are read more than once, weights are
shared, and outputs of all kinds meet in sums, concatenations and splits, which is what substitutions look for.

`make(seed)` gives the same model for the same seed. Sizes are 1 to 8, so that axes that need not be equally long often
are, and some are 1.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
UNARY = ["Relu", "Relu", "Sigmoid", "Tanh"]
BINARY = ["Add", "Add", "Mul", "Sub"]


class Builder:
    """A graph under construction. Every tensor of it that is no weight is in `shapes`, by name."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.shapes, self.inputs = [], [], {}, []

    def size(self):
        return int(self.random.choice([1, 2, 2, 3, 4, 4, 6, 8]))

    def choose(self, values):
        values = list(values)
        return values[int(self.random.integers(len(values)))]

    def input(self, shape):
        name = f"input{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.shapes[name] = tuple(shape)
        return name

    def weight(self, shape):
        """A new weight or, often, one of the same shape that is there already."""
        known = [w.name for w in self.weights if tuple(w.dims) == tuple(shape)]
        if known and self.random.random() < 0.5:
            return self.choose(known)
        values = self.random.standard_normal(shape).astype(np.float32) / np.sqrt(max(1, np.prod(shape[1:])))
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), f"weight{len(self.weights)}"))
        return self.weights[-1].name

    def integers(self, values):
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), f"integers{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, op, inputs, shapes, **attributes):
        outputs = [f"t{len(self.shapes) + i}" for i in range(len(shapes))]
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        self.shapes.update(zip(outputs, map(tuple, shapes)))

    def tensor(self, accepts=lambda shape: True):
        """A tensor whose shape is accepted, recent ones more often; None: there is none."""
        names = [name for name, shape in self.shapes.items() if accepts(shape)]
        return self.choose(names[-6:] if self.random.random() < 0.5 else names) if names else None

    def elementwise(self):
        x = self.tensor()
        if self.random.random() < 0.5:
            return self.add(self.choose(UNARY), [x], [self.shapes[x]])
        shape = self.shapes[x]
        y = self.tensor(lambda other: other == shape) if self.random.random() < 0.7 else self.weight(
            [n if self.random.random() < 0.5 else 1 for n in shape])
        return self.add(self.choose(BINARY), self.choose([[x, y], [y, x]]), [shape])

    def concat(self):
        x = self.tensor()
        axis = int(self.random.integers(len(self.shapes[x])))

        def fits(shape):
            return len(shape) == len(self.shapes[x]) and all(
                a == b or i == axis for i, (a, b) in enumerate(zip(shape, self.shapes[x])))
        parts = [x] + [self.tensor(fits) for _ in range(int(self.random.integers(1, 3)))]
        shape = list(self.shapes[x])
        shape[axis] = sum(self.shapes[part][axis] for part in parts)
        if shape[axis] <= 24:
            self.add("Concat", parts, [shape], axis=axis)

    def split(self):
        x = self.tensor(lambda shape: max(shape) > 1)
        if x is None:
            return
        axis = self.choose(i for i, n in enumerate(self.shapes[x]) if n > 1)
        n = self.shapes[x][axis]
        cut = int(self.random.integers(1, n)) if self.random.random() < 0.5 or n % 2 else n // 2
        shapes = [list(self.shapes[x]), list(self.shapes[x])]
        shapes[0][axis], shapes[1][axis] = cut, n - cut
        self.add("Split", [x, self.integers([cut, n - cut])], shapes, axis=axis)

    def transpose(self):
        x = self.tensor()
        permutation = [int(i) for i in self.random.permutation(len(self.shapes[x]))]
        self.add("Transpose", [x], [[self.shapes[x][i] for i in permutation]], perm=permutation)

    def matmul(self):
        x = self.tensor(lambda shape: len(shape) in (2, 3))
        shape = self.shapes[x]
        y = self.tensor(lambda other: len(other) == len(shape) and other[:-2] == shape[:-2] and other[-2] == shape[-1])
        if y is None or self.random.random() < 0.6:
            y_shape = [shape[-1], self.size()]
            y = self.weight(y_shape)
        else:
            y_shape = self.shapes[y]
        self.add("MatMul", [x, y], [[*shape[:-1], y_shape[-1]]])

    def softmax(self):
        x = self.tensor()
        self.add("Softmax", [x], [self.shapes[x]], axis=len(self.shapes[x]) - 1)

    def windows(self, shape, kernel):
        """Strides, pads and dilations under which the kernel fits, and the sizes that result; None: there are none."""
        strides = self.choose([[1, 1], [1, 1], [2, 2], [1, 2]])
        pads = self.choose([[0, 0, 0, 0], [k // 2 for k in kernel] * 2, [k // 2 for k in kernel] * 2])
        dilations = self.choose([[1, 1], [1, 1], [1, 1], [2, 1], [2, 2]])
        sizes = [(shape[2 + i] + pads[i] + pads[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
                 for i in range(2)]
        reach = [dilations[i] * (kernel[i] - 1) for i in range(2)]
        fits = min(sizes) >= 1 and all(reach[i] < shape[2 + i] for i in range(2))
        return (dict(kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations), sizes) if fits else None

    def conv(self):
        x = self.tensor()
        shape = self.shapes[x]
        kernel = self.choose([[1, 1], [1, 3], [3, 1], [3, 3], [3, 3]])
        found = self.windows(shape, kernel)
        groups = self.choose(g for g in (1, 1, 2, 4, shape[1]) if shape[1] % g == 0)
        filters = groups * self.choose([1, 1, 2]) if groups > 1 else self.size()
        if found:
            attributes, sizes = found
            self.add("Conv", [x, self.weight([filters, shape[1] // groups, *kernel])], [[shape[0], filters, *sizes]],
                     group=groups, **attributes)

    def pool(self):
        x = self.tensor()
        shape = self.shapes[x]
        found = self.windows(shape, self.choose([[2, 2], [3, 3], [1, 3]]))
        if found is None:
            return
        attributes, sizes = found
        if self.random.random() < 0.5:
            self.add("MaxPool", [x], [[*shape[:2], *sizes]], **attributes)
        else:
            del attributes["dilations"]
            sizes = [(shape[2 + i] + attributes["pads"][i] + attributes["pads"][2 + i] - attributes["kernel_shape"][i])
                     // attributes["strides"][i] + 1 for i in range(2)]
            self.add("AveragePool", [x], [[*shape[:2], *sizes]], count_include_pad=self.choose([0, 1]), **attributes)

    def model(self):
        read = {name for node in self.nodes for name in node.input}
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.shapes.items()
                   if name not in read and name.startswith("t")]
        weights = [weight for weight in self.weights if weight.name in read]
        inputs = [value for value in self.inputs if value.name in read]
        graph = helper.make_graph(self.nodes, "random", inputs, outputs, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def make(seed, n_operators=14):
    b = Builder(seed)
    is_of_images = seed % 2 == 1
    rank = 4 if is_of_images else b.choose([2, 3])
    shape = [b.size() for _ in range(rank)]
    for _ in range(b.choose([1, 2, 2])):
        b.input(shape)
    steps = [b.elementwise, b.elementwise, b.concat, b.split]
    steps += [b.conv, b.conv, b.conv, b.pool] if is_of_images else [b.matmul, b.matmul, b.matmul, b.transpose, b.softmax]
    for _ in range(100 * n_operators):
        if len(b.nodes) >= n_operators:
            break
        b.choose(steps)()
    return b.model()
