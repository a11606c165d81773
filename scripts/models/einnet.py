"""Networks that EinNet (Zheng et al., OSDI 2023) was evaluated on, as their papers have them: generators of images by
transposed convolutions (InfoGAN for 32x32, DCGAN for 64x64), super-resolution by one (FSRCNN), counting by dilated
convolutions (CSRNet), and segmentation by convolutions of one column and of one row (GCN, on a ResNet-50)."""

import numpy as np

from models.layers import batch_norm, conv, conv_transposed, gemm, max_pool, relu
from models.resnet import resnet_stages


def grow(g, x, filters, name, **window):
    return relu(g, batch_norm(g, conv_transposed(g, x, filters, name=name, bias=False, **window), name=f"{name}.bn"))


def infogan(g, batch, codes, width):
    x = gemm(g, g.input("codes", (batch, codes)), 7 * width * 4, name="fc")
    x = relu(g, batch_norm(g, g.node("Reshape", x, g.constant([0, 7 * width, 2, 2], np.int64)), name="bn"))
    for filters in (4 * width, 2 * width, width):
        x = grow(g, x, filters, f"up{filters}", kernel=4, pad=1)
    g.output(g.node("Tanh", conv_transposed(g, x, 3, kernel=4, pad=1, name="image")))


def dcgan(g, batch, codes, width):
    x = grow(g, g.input("codes", (batch, codes, 1, 1)), 8 * width, "first", kernel=4, stride=1)
    for filters in (4 * width, 2 * width, width):
        x = grow(g, x, filters, f"up{filters}", kernel=4, pad=1)
    g.output(g.node("Tanh", conv_transposed(g, x, 3, kernel=4, pad=1, name="image")))


def fsrcnn(g, image, features, shrunk, layers, scale):
    x = relu(g, conv(g, g.input("luminance", (1, 1, image, image)), features, 5, name="extract"))
    x = relu(g, conv(g, x, shrunk, 1, name="shrink"))
    for layer in range(layers):
        x = relu(g, conv(g, x, shrunk, 3, name=f"map{layer}"))
    x = relu(g, conv(g, x, features, 1, name="expand"))
    g.output(conv_transposed(g, x, 1, kernel=9, stride=scale, pad=4, grown=scale - 1, name="up"))


def csrnet(g, image, width):
    x = g.input("image", (1, 3, image, image))
    for stage, (multiple, count) in enumerate(((1, 2), (2, 2), (4, 3), (8, 3))):
        for layer in range(count):
            x = relu(g, conv(g, x, multiple * width, 3, name=f"front.{stage}.{layer}"))
        x = max_pool(g, x, 2, 2) if stage < 3 else x
    for layer, multiple in enumerate((8, 8, 8, 4, 2, 1)):
        x = relu(g, conv(g, x, multiple * width, 3, pads=(2, 2, 2, 2), dilation=2, name=f"back.{layer}"))
    g.output(conv(g, x, 1, 1, name="density"))


def global_convolution(g, x, classes, size):
    """A window of size * size as columns of rows and rows of columns, two convolutions each."""
    left = conv(g, conv(g, x, classes, (size, 1), name="left.column"), classes, (1, size), name="left.row")
    right = conv(g, conv(g, x, classes, (1, size), name="right.row"), classes, (size, 1), name="right.column")
    return g.node("Add", left, right)


def refine_borders(g, x, classes, name):
    with g.scope(name):
        return g.node("Add", x, conv(g, relu(g, conv(g, x, classes, 3)), classes, 3))


def gcn(g, image, blocks, planes, classes, size):
    stages = resnet_stages(g, image, blocks, planes)
    scores = None
    for stage in range(len(stages) - 1, -1, -1):
        with g.scope(f"global{stage}"):
            x = refine_borders(g, global_convolution(g, stages[stage], classes, size), classes, "refine")
            if scores:
                x = refine_borders(g, g.node("Add", x, scores), classes, "refine_sum")
            scores = conv_transposed(g, x, classes, kernel=4, pad=1)
    scores = refine_borders(g, scores, classes, "refine_half")
    g.output(refine_borders(g, conv_transposed(g, scores, classes, kernel=4, pad=1), classes, "refine_whole"))
