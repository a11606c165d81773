"""Layers with random weights, for networks that are never trained.

Random weights make activations vanish or explode with depth, and a chain of ReLU lets the outputs of all inputs
converge to one. So each linear layer is scaled by what it sees of the calibration input to an output of a given
standard deviation, and batch-norm statistics are those of a forward pass. Biases centre each channel 0.7 deviations
above zero: centred on zero, ReLU would amplify rounding errors by 1.2 a layer (sqrt(pi / (pi - 1))), there by 1.09.
"""

import numpy as np

from models.builder import rounded

FEW_SAMPLES = 32
OFFSETS = (0.2, 1.2)
SMALL_MEANS = 0.1


def statistics_per_channel(values):
    """Mean and variance per channel (axis 1), drawn to those of the whole tensor where a channel has few samples."""
    channels = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
    trust = channels.shape[1] / (channels.shape[1] + FEW_SAMPLES)
    mean = trust * channels.mean(1) + (1 - trust) * channels.mean()
    variance = trust * channels.var(1) + (1 - trust) * channels.var()
    return mean, variance


def scale_to_spread(weights, values, spread):
    """Scales weights and the values that they gave, so that the values have this standard deviation."""
    factor = rounded(spread / values.std())
    weights *= factor
    return values * np.float64(factor)


def conv_attributes(kernel, stride, pads, group, auto_pad=None, dilation=1):
    """Pads are (top, left, bottom, right), by default half the kernel on every side."""
    height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    pads = pads or (height // 2, width // 2, height // 2, width // 2)
    attributes = {"dilations": [dilation, dilation], "group": group, "kernel_shape": [height, width], "strides": [stride, stride]}
    attributes.update({"auto_pad": auto_pad} if auto_pad else {"pads": list(pads)})
    return attributes


def conv(g, x, filters, kernel, stride=1, pads=None, group=1, bias=True, auto_pad=None, dilation=1, name="conv"):
    """A convolution with a bias, or one that stands before a batch norm."""
    attributes = conv_attributes(kernel, stride, pads, group, auto_pad, dilation)
    with g.scope(name):
        weights = g.uniform((filters, x.shape[1] // group, *attributes["kernel_shape"]))
        values = scale_to_spread(weights, g.evaluate("Conv", x.value, weights, **attributes), 1.0)
        inputs = [x, g.weight("weight", weights)]
        if bias:
            offsets = rounded(-statistics_per_channel(values)[0]) + g.uniform(filters, *OFFSETS)
            inputs.append(g.weight("bias", offsets))
            values = values + offsets[:, None, None]
        return g.node("Conv", *inputs, values=[values], **attributes)


def conv_transposed(g, x, filters, kernel=2, stride=2, pad=0, grown=0, bias=True, name="up"):
    """A transposed convolution, as standard of windows of 2x2 in steps of two, by which each pixel becomes four; with a
    bias, or before a batch norm. `grown` rows and columns are added behind."""
    attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2}
    attributes.update({"pads": [pad] * 4} if pad else {})
    attributes.update({"output_padding": [grown] * 2} if grown else {})
    with g.scope(name):
        weights = g.uniform((x.shape[1], filters, kernel, kernel))
        values = scale_to_spread(weights, g.evaluate("ConvTranspose", x.value, weights, **attributes), 1.0)
        inputs = [x, g.weight("weight", weights)]
        if bias:
            offsets = rounded(-statistics_per_channel(values)[0]) + g.uniform(filters, *OFFSETS)
            inputs.append(g.weight("bias", offsets))
            values = values + offsets[:, None, None]
        return g.node("ConvTranspose", *inputs, values=[values], **attributes)


def means_as_filters(x, like, group):
    """For each group, a filter of the size of `like`'s, of the means of the group's channels over its square sum; zero
    where the means are small against the values, so that no weight becomes large."""
    means = x.mean((0, 2, 3)).reshape(group, -1)
    means_squared = (means**2).sum(1, keepdims=True)
    values_squared = (x**2).mean((0, 2, 3)).reshape(group, -1).sum(1, keepdims=True)
    is_felt = means_squared > SMALL_MEANS * values_squared
    taps = like.shape[2] * like.shape[3]
    filters = np.divide(means, taps * means_squared, out=np.zeros_like(means), where=is_felt)
    return np.broadcast_to(rounded(filters)[:, :, None, None], (group, *like.shape[1:]))


def conv_alone(g, x, filters, kernel, stride=1, pads=None, group=1, name="conv"):
    """A convolution without bias or batch norm. What a bias would do is done by adding a multiple of its inputs' means
    to each filter."""
    attributes = conv_attributes(kernel, stride, pads, group)
    with g.scope(name):
        weights = g.uniform((filters, x.shape[1] // group, *attributes["kernel_shape"]))
        values = scale_to_spread(weights, g.evaluate("Conv", x.value, weights, **attributes), 1.0)
        means = means_as_filters(x.value, weights, group)
        shifts = rounded(-statistics_per_channel(values)[0]) + g.uniform(filters, *OFFSETS)
        weights += shifts[:, None, None, None] * np.repeat(means, filters // group, axis=0)
        answers = np.repeat(g.evaluate("Conv", x.value, means, **attributes), filters // group, axis=1)
        values = values + shifts[:, None, None] * answers
        return g.node("Conv", x, g.weight("weight", weights), values=[values], **attributes)


def batch_norm(g, x, epsilon=1e-5, name="bn"):
    channels = x.shape[1]
    mean, variance = statistics_per_channel(x.value)
    with g.scope(name):
        parameters = [
            g.weight("weight", g.uniform(channels, 0.5, 1.5)),
            g.weight("bias", g.uniform(channels, *OFFSETS)),
            g.weight("running_mean", rounded(mean)),
            g.weight("running_var", rounded(variance)),
        ]
        return g.node("BatchNormalization", x, *parameters, epsilon=epsilon)


def relu(g, x):
    return g.node("Relu", x)


def swish(g, x):
    return g.node("Mul", x, g.node("Sigmoid", x))


def hard_swish(g, x):
    return g.node("HardSwish", x)


def relu6(g, x):
    return g.node("Clip", x, g.constant(0.0), g.constant(6.0))


def max_pool(g, x, kernel, stride, pad=0, **attributes):
    return g.node("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **attributes)


def average_pool(g, x, kernel, stride, pad=0, **attributes):
    return g.node("AveragePool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **attributes)


def gemm(g, x, features, spread=1.0, name="fc"):
    """A fully connected layer as Gemm, its weights transposed as PyTorch keeps them."""
    weights = g.uniform((features, x.shape[1]))
    values = scale_to_spread(weights, g.evaluate("Gemm", x.value, weights, transB=1), spread)
    with g.scope(name):
        offsets = g.uniform(features, -0.1 * spread, 0.1 * spread)
        inputs = [x, g.weight("weight", weights), g.weight("bias", offsets)]
        return g.node("Gemm", *inputs, values=[values + offsets], alpha=1.0, beta=1.0, transB=1)


def classifier(g, x, classes, name="fc"):
    """Global pooling, Flatten and Gemm."""
    pooled = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    return gemm(g, pooled, classes, name=name)


def linear(g, x, features, bias=True, spread=1.0, name="linear"):
    """A fully connected layer over the last axis as MatMul and Add, as exporters write it for more than two axes."""
    weights = g.uniform((x.shape[-1], features))
    values = scale_to_spread(weights, g.evaluate("MatMul", x.value, weights), spread)
    with g.scope(name):
        product = g.node("MatMul", x, g.weight("weight", weights), values=[values])
        if not bias:
            return product
        return g.node("Add", g.weight("bias", g.uniform(features, -0.1 * spread, 0.1 * spread)), product)


def layer_norm_parameters(g, x):
    width = x.shape[-1]
    return g.weight("weight", g.uniform(width, 0.8, 1.2)), g.weight("bias", g.uniform(width, -0.1, 0.1))


def layer_norm(g, x, epsilon=1e-5, name="norm"):
    with g.scope(name):
        return g.node("LayerNormalization", x, *layer_norm_parameters(g, x), axis=-1, epsilon=epsilon)


def layer_norm_decomposed(g, x, epsilon=1e-5, name="norm"):
    """Layer normalization as exporters wrote it before opset 17."""
    with g.scope(name):
        scale, bias = layer_norm_parameters(g, x)
        centred = g.node("Sub", x, g.node("ReduceMean", x, axes=[-1]))
        variance = g.node("ReduceMean", g.node("Pow", centred, g.constant(2.0)), axes=[-1])
        deviation = g.node("Sqrt", g.node("Add", variance, g.constant(epsilon)))
        return g.node("Add", g.node("Mul", g.node("Div", centred, deviation), scale), bias)


def gelu(g, x):
    """The erf form: x / 2 . (1 + erf(x / sqrt 2))."""
    erf = g.node("Erf", g.node("Div", x, g.constant(2**0.5)))
    return g.node("Mul", g.node("Mul", x, g.node("Add", erf, g.constant(1.0))), g.constant(0.5))


def gelu_tanh(g, x):
    """The tanh form of GPT-2."""
    cubic = g.node("Mul", g.node("Pow", x, g.constant(3.0)), g.constant(0.044715))
    tanh = g.node("Tanh", g.node("Mul", g.node("Add", x, cubic), g.constant((2 / np.pi) ** 0.5)))
    return g.node("Mul", g.node("Mul", x, g.constant(0.5)), g.node("Add", tanh, g.constant(1.0)))


def reshape(g, x, *shape):
    return g.node("Reshape", x, g.constant(shape, np.int64))


def transpose(g, x, *perm):
    return g.node("Transpose", x, perm=list(perm))
