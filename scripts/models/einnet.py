"""Networks that EinNet (Zheng et al., OSDI 2023) was evaluated on, as their papers have them: generators of images by
transposed convolutions (InfoGAN for 32x32, DCGAN for 64x64), super-resolution by one (FSRCNN), and counting by dilated
convolutions (CSRNet)."""

import numpy as np

from models.layers import batch_norm, conv, conv_transposed, gemm, max_pool, relu


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
