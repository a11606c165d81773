"""The value of an ONNX node on numpy arrays, as far as the models of this package use it.

Values only calibrate weights, they are not a reference: floats are float64, so that statistics rounded to a few digits
come out the same on every machine, and `Erf` is an approximation. Convolution and pooling add up one shifted
picture per tap of the window:  y[n,f,i,j] = sum over (r,s) of w[f,:,r,s] . x[n,:,i*stride+r,j*stride+s].
"""

import itertools

import numpy as np

COLUMNS_AT_ONCE = 1 << 10


def evaluate(kind, inputs, attributes):
    """The list of the outputs of a node of this kind."""
    result = OPERATORS[kind](*inputs, **attributes)
    return result if isinstance(result, list) else [result]


def multiply_matrices(x, w):
    """x . w in float64, without a float64 copy of a whole large matrix of weights."""
    if w.ndim != 2 or w.size < 1 << 22:
        return np.matmul(x, w.astype(np.float64))
    starts = range(0, w.shape[1], COLUMNS_AT_ONCE)
    return np.concatenate([x @ w[:, i : i + COLUMNS_AT_ONCE].astype(np.float64) for i in starts], axis=-1)


def gemm(x, w, bias=None, transB=0):
    y = multiply_matrices(x, w.T if transB else w)
    return y if bias is None else y + bias


def same_upper_pads(size, window, stride):
    total = np.maximum((-(-size // stride) - 1) * stride + window - size, 0)
    return [*(total // 2), *(total - total // 2)]


class Windows:
    """The geometry of a sliding window over the two last axes of x: for each tap, the picture that it sees."""

    def __init__(self, x, window, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), auto_pad="NOTSET", ceil_mode=0,
                 fill=0.0):
        size, window, self.strides = np.array(x.shape[2:]), np.array(window), np.array(strides)
        self.dilations = np.array(dilations)
        reach = (window - 1) * self.dilations + 1
        if auto_pad == "SAME_UPPER":
            pads = same_upper_pads(size, reach, self.strides)
        begin, end = np.array(pads[:2]), np.array(pads[2:])
        steps = size + begin + end - reach
        self.output = (-(-steps // self.strides) if ceil_mode else steps // self.strides) + 1
        end = np.maximum(end, (self.output - 1) * self.strides + reach - size - begin)
        self.taps = list(itertools.product(*map(range, window)))
        borders = [(0, 0), (0, 0), (begin[0], end[0]), (begin[1], end[1])]
        self.x = np.pad(x, borders, constant_values=fill) if np.any(begin + end) else x

    def seen_by(self, tap):
        start = tap * self.dilations
        stop = start + (self.output - 1) * self.strides + 1
        return self.x[:, :, start[0] : stop[0] : self.strides[0], start[1] : stop[1] : self.strides[1]]


def convolve(x, w, bias=None, group=1, kernel_shape=None, **geometry):
    filters, channels = w.shape[:2]
    windows = Windows(x, w.shape[2:], **geometry)
    height, width = windows.output
    w = w.astype(np.float64).reshape(group, filters // group, channels, *w.shape[2:])
    y = np.zeros((x.shape[0], group, filters // group, height * width))
    for tap in windows.taps:
        picture = windows.seen_by(tap).reshape(x.shape[0], group, channels, height * width)
        weights = w[..., tap[0], tap[1]]
        y += weights * picture if channels == 1 else weights @ picture
    y = y.reshape(x.shape[0], filters, height, width)
    return y if bias is None else y + bias[:, None, None]


def convolve_transposed(x, w, kernel_shape, strides, pads=(0, 0, 0, 0), output_padding=(0, 0)):
    """Without a bias: each entry adds a window of its own to the result, whose borders are cut."""
    n, _, height, width = x.shape
    w = w.astype(np.float64)
    sizes = [(size - 1) * stride + kernel + more
             for size, stride, kernel, more in zip((height, width), strides, kernel_shape, output_padding)]
    y = np.zeros((n, w.shape[1], *sizes))
    for r in range(kernel_shape[0]):
        rows = slice(r, r + (height - 1) * strides[0] + 1, strides[0])
        for s in range(kernel_shape[1]):
            columns = slice(s, s + (width - 1) * strides[1] + 1, strides[1])
            y[:, :, rows, columns] += np.einsum("ncij,cf->nfij", x, w[:, :, r, s], optimize=True)
    return y[:, :, pads[0]:sizes[0] - pads[2], pads[1]:sizes[1] - pads[3]]


def hard_sigmoid(x, alpha=0.2, beta=0.5):
    return np.clip(alpha * x + beta, 0, 1)


def pool_maximum(x, kernel_shape, **geometry):
    windows = Windows(x, kernel_shape, fill=-np.inf, **geometry)
    return np.maximum.reduce([windows.seen_by(tap) for tap in windows.taps])


def pool_average(x, kernel_shape, count_include_pad=0, **geometry):
    windows = Windows(x, kernel_shape, **geometry)
    total = sum(windows.seen_by(tap) for tap in windows.taps)
    if count_include_pad:
        return total / len(windows.taps)
    present = Windows(np.ones((1, 1, *x.shape[2:])), kernel_shape, **geometry)
    return total / sum(present.seen_by(tap) for tap in present.taps)


def normalize_batch(x, scale, bias, mean, variance, epsilon=1e-5):
    scale, bias, mean, variance = (v.astype(np.float64)[:, None, None] for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def normalize_layer(x, scale, bias, axis=-1, epsilon=1e-5):
    centred = x - x.mean(axis, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis, keepdims=True) + epsilon) * scale + bias


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def approximate_erf(x):
    return np.tanh(2 / np.sqrt(np.pi) * (x + 0.08943 * x**3))


def reshape(x, shape):
    return x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(shape)])


def flatten(x, axis=1):
    return x.reshape(int(np.prod(x.shape[:axis])), -1)


def mean(x, axes=None, keepdims=1):
    return x.mean(tuple(int(a) for a in axes), keepdims=bool(keepdims))


def take_slice(x, starts, ends, axes, steps=None):
    index = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        index[axis] = slice(int(starts[i]), int(ends[i]), 1 if steps is None else int(steps[i]))
    return x[tuple(index)]


def split(x, sizes, axis=0):
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def squeeze(x, axes):
    return np.squeeze(x, tuple(int(a) for a in axes))


def unsqueeze(x, axes):
    return np.expand_dims(x, tuple(int(a) for a in axes))


def pad(x, pads):
    return np.pad(x, list(zip(pads[: x.ndim], pads[x.ndim :])))


def cast(x, to):
    return x.astype({1: np.float64, 7: np.int64, 9: bool}[to])


OPERATORS = {
    "Add": np.add,
    "AveragePool": pool_average,
    "BatchNormalization": normalize_batch,
    "Cast": cast,
    "Clip": lambda x, low, high: np.clip(x, low, high),
    "Concat": lambda *xs, axis: np.concatenate(xs, axis),
    "Conv": convolve,
    "ConvTranspose": convolve_transposed,
    "Div": lambda x, y: x // y if x.dtype == np.int64 else x / y,
    "Dropout": lambda x: x,
    "Erf": approximate_erf,
    "Expand": lambda x, shape: x * np.ones(shape, x.dtype),
    "Flatten": flatten,
    "Gather": lambda x, index, axis=0: np.take(x, index, axis),
    "Gemm": gemm,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "HardSigmoid": hard_sigmoid,
    "HardSwish": lambda x: x * hard_sigmoid(x, 1 / 6),
    "Identity": lambda x: x,
    "LayerNormalization": normalize_layer,
    "MatMul": multiply_matrices,
    "MaxPool": pool_maximum,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Pad": pad,
    "Pow": np.power,
    "Range": np.arange,
    "ReduceMean": mean,
    "Relu": lambda x: np.maximum(x, 0),
    "Reshape": reshape,
    "Shape": lambda x: np.array(x.shape, np.int64),
    "Sigmoid": sigmoid,
    "Slice": take_slice,
    "Softmax": softmax,
    "Split": split,
    "Sqrt": np.sqrt,
    "Squeeze": squeeze,
    "Sub": np.subtract,
    "Tanh": np.tanh,
    "Transpose": lambda x, perm: x.transpose(perm),
    "Unsqueeze": unsqueeze,
    "Where": np.where,
}
