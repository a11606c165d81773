"""Models with symbolic dimensions, in the way that torch.onnx.export writes them: shapes are taken apart, computed with and
put together again by nodes."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes with names, and weights from a seed."""

    def __init__(self, seed=0):
        self.nodes, self.weights, self.random, self.count = [], {}, np.random.default_rng(seed), 0

    def __call__(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"{op.lower()}_{self.count}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"/{op}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype=np.int64):
        array = np.asarray(value, dtype)
        self.count += 1
        self.weights[f"constant_{self.count}"] = array
        return f"constant_{self.count}"

    def weight(self, *shape):
        self.count += 1
        fan_in = shape[0] if len(shape) == 2 else int(np.prod(shape[1:])) if len(shape) > 2 else 1
        array = self.random.standard_normal(shape) * (fan_in ** -0.5 if len(shape) > 1 else 0.1)
        self.weights[f"weight_{self.count}"] = array.astype(np.float32)
        return f"weight_{self.count}"

    def size(self, x, axis):
        """x.shape[axis], as a scalar."""
        return self("Gather", self("Shape", x), self.constant(axis), axis=0)

    def shape(self, *parts):
        """A shape of names of scalars and of numbers."""
        entries = [self("Unsqueeze", p, self.constant([0])) if isinstance(p, str) else self.constant([p]) for p in parts]
        return self("Concat", *entries, axis=0)

    def linear(self, x, n_in, n_out):
        return self("Add", self.weight(n_out), self("MatMul", x, self.weight(n_in, n_out)))

    def norm(self, x, width):
        return self("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1, epsilon=1e-5)

    def model(self, inputs, outputs, opset=17):
        initializers = [numpy_helper.from_array(array, name) for name, array in self.weights.items()]
        graph = helper.make_graph(self.nodes, "dynamic", inputs, outputs, initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, shape)


def attention(b, x, mask, width, heads, causal_positions=0):
    """Reshapes to [batch, sequence, heads, width of a head] by what Shape says."""
    batch, length = b.size(x, 0), b.size(x, 1)

    def of_heads(t):
        return b("Transpose", b("Reshape", t, b.shape(batch, length, heads, width // heads)), perm=[0, 2, 1, 3])

    query, key, values = (of_heads(b.linear(x, width, width)) for _ in range(3))
    scores = b("MatMul", query, b("Transpose", key, perm=[0, 1, 3, 2]))
    scores = b("Div", scores, b.constant((width // heads) ** 0.5, np.float32))
    if causal_positions:
        scores = causal(b, scores, causal_positions)
    if mask:
        scores = b("Add", scores, mask)
    context = b("Transpose", b("MatMul", b("Softmax", scores, axis=-1), values), perm=[0, 2, 1, 3])
    return b.linear(b("Reshape", context, b.shape(batch, length, width)), width, width)


def causal(b, scores, positions):
    """As GPT-2 does: a table of all positions, cut to the lengths that there are."""
    queries, keys = b.size(scores, 2), b.size(scores, 3)
    table = b.constant(np.tril(np.ones((1, 1, positions, positions), bool)), bool)
    unsqueezed = [b("Unsqueeze", n, b.constant([0])) for n in (b("Sub", keys, queries), keys)]
    table = b("Slice", table, unsqueezed[0], unsqueezed[1], b.constant([2]))
    table = b("Slice", table, b.constant([0]), unsqueezed[1], b.constant([3]))
    return b("Where", table, scores, b.constant(-1e4, np.float32))


def feed_forward(b, x, width):
    h = b.linear(x, width, 4 * width)
    h = b("Mul", b("Mul", h, b("Add", b("Erf", b("Div", h, b.constant(2 ** 0.5, np.float32))),
                               b.constant(1, np.float32))), b.constant(0.5, np.float32))
    return b.linear(h, 4 * width, width)


def embed(b, ids, width, vocabulary, positions):
    """Words, and positions cut out of a table of all."""
    numbers = b.constant(np.arange(positions)[None])
    length = b("Unsqueeze", b.size(ids, 1), b.constant([0]))
    where = b("Slice", numbers, b.constant([0]), length, b.constant([1]))
    return b("Add", b("Gather", b.weight(vocabulary, width), ids), b("Gather", b.weight(positions, width), where))


def bert(width=64, heads=4, layers=2, vocabulary=100, positions=512, opset=17):
    b = Builder()
    mask = b("Unsqueeze", b("Unsqueeze", "attention_mask", b.constant([1])), b.constant([2]))
    mask = b("Mul", b("Sub", b.constant(1, np.float32), b("Cast", mask, to=TensorProto.FLOAT)),
             b.constant(-1e4, np.float32))
    x = b.norm(embed(b, "input_ids", width, vocabulary, positions), width)
    for _ in range(layers):
        x = b.norm(b("Add", x, attention(b, x, mask, width, heads)), width)
        x = b.norm(b("Add", x, feed_forward(b, x, width)), width)
    first = b("Gather", x, b.constant(0), axis=1)
    b.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], name="/out"))
    b.nodes.append(helper.make_node("Tanh", [b.linear(first, width, width)], ["pooled"], name="/pooled"))
    return b.model([value("input_ids", TensorProto.INT64, "batch", "sequence"),
                    value("attention_mask", TensorProto.INT64, "batch", "sequence")],
                   [value("last_hidden_state", TensorProto.FLOAT, "batch", "sequence", width),
                    value("pooled", TensorProto.FLOAT, "batch", width)], opset)


def gpt(width=64, heads=4, layers=2, vocabulary=100, positions=512, opset=17):
    b = Builder(1)
    x = embed(b, "input_ids", width, vocabulary, positions)
    for _ in range(layers):
        x = b("Add", x, attention(b, b.norm(x, width), None, width, heads, positions))
        x = b("Add", x, feed_forward(b, b.norm(x, width), width))
    b.nodes.append(helper.make_node("MatMul", [b.norm(x, width), b.weight(width, vocabulary)], ["logits"], name="/out"))
    return b.model([value("input_ids", TensorProto.INT64, "batch", "sequence")],
                   [value("logits", TensorProto.FLOAT, "batch", "sequence", vocabulary)], opset)


def convolutions(channels=16, opset=13):
    """Two branches of one image, joined; flattened by x.view(x.size(0), -1)."""
    b = Builder(2)

    def conv(x, n_in, n_out, size):
        return b("Relu", b("Conv", x, b.weight(n_out, n_in, size, size), b.weight(n_out), kernel_shape=[size, size],
                           pads=[size // 2] * 4))

    x = conv("image", 3, channels, 3)
    for _ in range(2):
        x = b("Concat", conv(x, channels, channels // 2, 1), conv(x, channels, channels // 2, 1), axis=1)
        x = b("MaxPool", conv(x, channels, channels, 3), kernel_shape=[2, 2], strides=[2, 2])
    x = b("Reshape", x, b.shape(b.size(x, 0), -1))
    b.nodes.append(helper.make_node("Gemm", [x, b.weight(10, channels * 64), b.weight(10)], ["classes"], transB=1))
    return b.model([value("image", TensorProto.FLOAT, "batch", 3, 32, 32)],
                   [value("classes", TensorProto.FLOAT, "batch", 10)], opset)


MODELS = {"bert": bert, "gpt": gpt, "convolutions": convolutions}
SMALL = [lambda: bert(width=4, heads=2, layers=1, vocabulary=8, positions=16),
         lambda: gpt(width=4, heads=2, layers=1, vocabulary=8, positions=16)]
