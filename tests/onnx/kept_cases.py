"""Random nodes of operators that are kept as they are and yet understood: quantization and recurrent networks. Functions
of operator_cases.TABLE."""
import numpy as np

NARROW = [np.uint8, np.uint8, np.int8, np.int8, np.uint16, np.int16]
LENGTHS = (1, 2, 3, 5)


def positive(c, shape):
    return (0.01 + c.random.random(shape) ** 2).astype(np.float32)


def narrow_type(c):
    return c.pick(*NARROW) if c.opset >= 21 else c.pick(np.uint8, np.int8)


def scales_of(c, shape):
    """Shape of the scales, and the axis: of all, for each place of an axis, or for blocks of places."""
    kinds = ["all", *(["axis"] if c.opset >= 13 and shape else []), *(["blocks"] if c.opset >= 21 and shape else [])]
    kind, axis = c.pick(*kinds), c.axis(len(shape))
    if kind == "all":
        return ()
    c.attributes["axis"] = axis
    if kind == "axis":
        return (shape[axis],)
    block = c.between(1, shape[axis])
    c.attributes["block_size"] = block
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    return tuple(blocks)


def quantize(c):
    shape, dtype = c.shape(0, 4), narrow_type(c)
    c.data(c.reals(shape, np.float32, c.pick(1, 10, 1000)))
    scales = scales_of(c, shape)
    c.data(positive(c, scales))
    if c.chance(0.8):
        c.data(c.whole(scales, dtype))


def dequantize(c):
    shape, dtype = c.shape(0, 4), c.pick(narrow_type(c), np.int32)
    c.data(c.whole(shape, dtype) if dtype != np.int32 else c.integers(shape, dtype, -10**6, 10**6))
    scales = scales_of(c, shape)
    c.data(positive(c, scales))
    if dtype != np.int32 and c.chance(0.8):
        c.data(c.whole(scales, dtype))


def dynamic_quantize(c):
    c.data(c.reals(c.shape(1, 4), np.float32, c.pick(0, 1, 100)) + c.pick(0, 3, -200))
    c.n_outputs = 3


def factors(c):
    """Shapes of two matrices, with batches."""
    m, k, n = (c.pick(1, 2, 3, 8) for _ in range(3))
    batch = c.shape(0, 2)
    return [*batch, m, k], [*(batch if c.chance(0.5) else []), k, n]


def narrow_factor(c, shape, dtype):
    """ONNX Runtime adds two products of a byte and a signed one in 16 bits, which saturate, where a processor has no such dot
    product."""
    return c.integers(shape, dtype, -64, 63) if dtype == np.int8 else c.whole(shape, dtype)


def matmul_integer(c):
    c.op = c.pick("MatMulInteger", "QLinearMatMul")
    a, b = factors(c)
    types = [np.uint8, c.pick(np.uint8, np.int8)]
    zeros = [(), c.pick((), (b[-1],))]
    if c.op == "MatMulInteger":
        for shape, dtype in zip((a, b), types):
            c.data(narrow_factor(c, shape, dtype))
        for shape, dtype in zip(zeros[:c.between(0, 2)], types):
            c.data(c.whole(shape, dtype))
        return
    for shape, dtype, scales in zip((a, b), types, zeros):
        c.data(narrow_factor(c, shape, dtype))
        c.data(positive(c, scales))
        c.data(c.whole(scales, dtype))
    c.data(np.float32(100 * c.random.random() + 1))
    c.data(c.whole((), np.uint8))


def conv_integer(c):
    c.op = c.pick("ConvInteger", "QLinearConv")
    group, filters = c.pick(1, 1, 2), c.pick(2, 4)
    n = c.pick(1, 2)
    kernel = [c.between(1, 3) for _ in range(n)]
    x = [c.between(1, 2), group * c.between(1, 2), *(c.between(3, 7) for _ in range(n))]
    w = [filters, x[1] // group, *kernel]
    c.attributes = {"group": group, "strides": [c.between(1, 2) for _ in range(n)]}
    if c.chance(0.5):
        c.attributes["pads"] = [c.between(0, k - 1) for k in kernel] * 2
    elif c.chance(0.5):
        c.attributes["auto_pad"] = c.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    if c.op == "ConvInteger":
        c.data(c.whole(x, np.uint8))
        c.data(c.whole(w, np.uint8))
        for k in range(c.between(0, 2)):
            c.data(c.whole((), np.uint8))
        return
    weight_type, scales = c.pick(np.uint8, np.int8), c.pick((), (filters,))
    c.data(c.whole(x, np.uint8))
    c.data(positive(c, ()))
    c.data(c.whole((), np.uint8))
    c.data(narrow_factor(c, w, weight_type))
    c.data(positive(c, scales))
    c.data(np.zeros(scales, weight_type) if scales or weight_type == np.int8 else c.whole(scales, weight_type))
    c.data(np.float32(100 * c.random.random() + 1))
    c.data(c.whole((), np.uint8))
    if c.chance(0.5):
        c.data(c.integers([filters], np.int32, -10**4, 10**4))


# --- recurrent networks -----------------------------------------------------------------------------------------------

PARAMETERS = {"Affine": 2, "Elu": 1, "HardSigmoid": 2, "LeakyRelu": 1, "Relu": 0, "ScaledTanh": 2, "Sigmoid": 0,
              "Softsign": 0, "Softplus": 0, "Tanh": 0}


def choose_activations(c, directions, n):
    """Gates stay bounded, or rounding grows from step to step; parameters are given, or the node is not understood."""
    bounded = ["HardSigmoid", "Sigmoid", "Softsign", "Tanh"]
    names = [c.pick(*bounded) if k == 0 else c.pick(*PARAMETERS) for _ in range(directions) for k in range(n)]
    c.attributes["activations"] = names
    for least, attribute in ((1, "activation_alpha"), (2, "activation_beta")):
        values = [0.1 + 0.5 * c.random.random() for name in names if PARAMETERS[name] >= least]
        c.attributes.update({attribute: values} if values else {})


def recurrent(c):
    c.op = c.pick("RNN", "GRU", "LSTM")
    gates, functions = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}[c.op]
    time, batch, size, hidden = (c.pick(*LENGTHS) for _ in range(4))
    direction = c.pick("forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    c.attributes = {"hidden_size": hidden, "direction": direction}
    if c.chance(0.4):
        choose_activations(c, d, functions)
    if c.chance(0.3):
        c.attributes["clip"] = 0.2 + c.random.random()
    if c.op == "GRU" and c.chance(0.5):
        c.attributes["linear_before_reset"] = 1
    if c.op == "LSTM" and c.chance(0.2):
        c.attributes["input_forget"] = 1
    c.data(c.reals([time, batch, size], scale=0.5))
    c.data(c.reals([d, gates * hidden, size], scale=0.5))
    c.data(c.reals([d, gates * hidden, hidden], scale=0.5))
    c.data(c.reals([d, 2 * gates * hidden], scale=0.5)) if c.chance(0.7) else c.omit()
    c.data(np.sort(c.integers([batch], np.int32, 0, time))[::-1]) if c.chance(0.4) else c.omit()
    for _ in range(2 if c.op == "LSTM" else 1):
        c.data(c.reals([d, batch, hidden])) if c.chance(0.6) else c.omit()
    if c.op == "LSTM" and c.chance(0.5):
        c.data(c.reals([d, 3 * hidden]))
    c.n_outputs = 3 if c.op == "LSTM" else 2


TABLE = [
    (quantize, "QuantizeLinear", 1), (dequantize, "DequantizeLinear", 1), (dynamic_quantize, "DynamicQuantizeLinear", 1),
    (matmul_integer, None, 2), (conv_integer, None, 2), (recurrent, None, 4),
]
