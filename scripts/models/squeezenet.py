"""SqueezeNet 1.1 as torchvision defines it: fire modules, pools with ceil_mode, a convolution as the head."""

from models.layers import conv, max_pool, relu

SQUEEZE_OF_STAGES = ((16, 16), (32, 32), (48, 48, 64, 64))


def fire(g, x, squeeze):
    x = relu(g, conv(g, x, squeeze, 1, name="squeeze"))
    narrow = relu(g, conv(g, x, squeeze * 4, 1, name="expand1x1"))
    wide = relu(g, conv(g, x, squeeze * 4, 3, name="expand3x3"))
    return g.node("Concat", narrow, wide, axis=1)


def squeezenet(g, image, divisor, classes):
    x = g.input("input", (1, 3, image, image))
    x = relu(g, conv(g, x, 64 // divisor, 3, stride=2, pads=(0, 0, 0, 0), name="features.0"))
    for stage, squeezes in enumerate(SQUEEZE_OF_STAGES):
        x = max_pool(g, x, 3, 2, ceil_mode=1)
        for i, squeeze in enumerate(squeezes):
            with g.scope(f"fire{stage + 1}.{i}"):
                x = fire(g, x, squeeze // divisor)
    x = g.node("Dropout", x)
    x = relu(g, conv(g, x, classes, 1, name="classifier"))
    g.output(g.node("Flatten", g.node("GlobalAveragePool", x), axis=1))
