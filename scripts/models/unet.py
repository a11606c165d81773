"""U-Net (Ronneberger 2015) with its published channels, as it is built today: convolutions of 3x3 with padding, so that
the result is as large as the image, and transposed convolutions of 2x2."""

from models.layers import conv, conv_transposed, max_pool, relu


def two_convs(g, x, filters, name):
    with g.scope(name):
        return relu(g, conv(g, relu(g, conv(g, x, filters, 3, name="conv1")), filters, 3, name="conv2"))


def unet(g, image, width, depth, classes):
    x, skipped = g.input("input", (1, 3, image, image)), []
    for level in range(depth):
        skipped.append(two_convs(g, x, width << level, f"down{level}"))
        x = max_pool(g, skipped[-1], 2, 2)
    x = two_convs(g, x, width << depth, "bottom")
    for level in reversed(range(depth)):
        x = g.node("Concat", skipped[level], conv_transposed(g, x, width << level, name=f"up{level}.up"), axis=1)
        x = two_convs(g, x, width << level, f"up{level}")
    g.output(conv(g, x, classes, 1, name="head"))
