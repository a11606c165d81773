"""The networks as Tensat measured them: no biases, and what TASO's importer and exporter made of the rest. Tensat
publishes them in TASO's text form; tests compare the structure of these with what that gives."""

import numpy as np

from models.inception import Inception
from models.layers import average_pool, batch_norm, conv_alone, max_pool, relu, reshape, scale_to_spread, transpose
from models.mobilenet import MOBILENET_STAGES
from models.squeezenet import SQUEEZE_OF_STAGES
from models.vgg import STAGES as VGG_STAGES

CLASSES = 1000
MOBILENET_STRIDES = (1, 2, 2, 1, 2, 2, 1)  # of stages: the image is halved one stage later than elsewhere


def conv_relu(g, x, *parameters, **more):
    return relu(g, conv_alone(g, x, *parameters, **more))


def image(g, size):
    return g.input("input", (1, 3, size, size))


def linear(g, x, features):
    """x . y', where y' is a transposed weight."""
    weights = g.uniform((features, x.shape[1]))
    scale_to_spread(weights, g.evaluate("Gemm", x.value, weights, transB=1), 1.0)
    return g.node("MatMul", x, transpose(g, g.weight("weight", weights), 1, 0))


def vgg19(g):
    x = image(g, 224)
    for multiple, count in VGG_STAGES:
        for _ in range(count):
            x = conv_relu(g, x, 64 * multiple, 3)
        x = max_pool(g, x, 2, 2)
    for features in (4096, 4096):
        x = reshape(g, x, 1, int(np.prod(x.shape)))
        x = g.node("Dropout", relu(g, linear(g, x, features)))
    g.output(linear(g, reshape(g, x, *x.shape), CLASSES))


def fire(g, x, squeeze):
    x = conv_relu(g, x, squeeze, 1)
    return g.node("Concat", conv_relu(g, x, 4 * squeeze, 1), conv_relu(g, x, 4 * squeeze, 3), axis=1)


def squeezenet(g):
    x = conv_relu(g, image(g, 224), 64, 3, 2, (0, 0, 0, 0))
    for squeezes in SQUEEZE_OF_STAGES:
        x = max_pool(g, x, 3, 2)
        for squeeze in squeezes:
            x = fire(g, x, squeeze)
    x = conv_relu(g, g.node("Dropout", x), CLASSES, 1)
    g.output(reshape(g, average_pool(g, x, 13, 13), 1, CLASSES))


def conv_norm(g, x, *parameters):
    return batch_norm(g, conv_alone(g, x, *parameters))


def inverted_residual(g, x, expansion, channels, stride):
    width = x.shape[1] * expansion
    y = relu(g, conv_norm(g, x, width, 1))
    y = relu(g, conv_norm(g, y, width, 3, stride, None, width))
    y = conv_norm(g, y, channels, 1)
    return g.node("Add", y, x) if stride == 1 and x.shape[1] == channels else y


def mobilenet_v2(g):
    x = relu(g, conv_norm(g, image(g, 224), 32, 3, 2))
    for (expansion, channels, repeats, _), stride in zip(MOBILENET_STAGES, MOBILENET_STRIDES):
        for block in range(repeats):
            x = inverted_residual(g, x, expansion, channels, 1 if block else stride)
    x = average_pool(g, relu(g, conv_norm(g, x, 1280, 1)), 7, 1)
    g.output(reshape(g, conv_alone(g, x, CLASSES, 1), 1, CLASSES))


class TensatInception(Inception):
    """Without batch norm, four branches joined in pairs, and other pools: averages for maxima in the first block that
    halves the image, maxima for averages in the last two, on images of 8x8."""

    def conv(self, x, filters, kernel, name, stride=1, pads=None):
        return conv_relu(self.g, x, filters, kernel, stride, pads, name=name)

    def averaged(self, x):
        return (max_pool if x.shape[2] == 8 else average_pool)(self.g, x, 3, 1, 1)

    def join(self, a, b, c, d):
        return self.concat(self.concat(a, b), self.concat(c, d))

    def block_b(self, x):
        return self.concat(average_pool(self.g, x, 3, 2), self.concat(*self.convolved_b(x)))


def inception_v3(g):
    g.output(average_pool(g, TensatInception(g, 1).trunk(299), 8, 1))
