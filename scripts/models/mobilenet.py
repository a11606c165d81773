"""MobileNetV2 (ReLU6 as Clip between two Constant nodes) and MobileNetV3-Large (HardSwish, squeeze and excitation by
HardSigmoid) as torchvision defines them, and EfficientNet-B0 as TensorFlow's exporters write it (auto_pad SAME_UPPER, swish
as Sigmoid and Mul, squeeze and excitation)."""

from models.layers import batch_norm, classifier, conv, gemm, hard_swish, relu, relu6, swish

# (expansion, channels, repeats, stride)
MOBILENET_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)
# (kernel, width, channels, has squeeze and excitation, has HardSwish, stride)
MOBILENET_V3_BLOCKS = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
    (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
    (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1),
)
# (expansion, channels, repeats, stride, kernel)
EFFICIENTNET_STAGES = (
    (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


def conv_norm(g, x, filters, kernel, name, epsilon=1e-5, **more):
    with g.scope(name):
        return batch_norm(g, conv(g, x, filters, kernel, bias=False, **more), epsilon)


def inverted_residual(g, x, expansion, channels, stride):
    width, y = x.shape[1] * expansion, x
    if expansion != 1:
        y = relu6(g, conv_norm(g, y, width, 1, "expand"))
    y = relu6(g, conv_norm(g, y, width, 3, "depthwise", stride=stride, group=width))
    y = conv_norm(g, y, channels, 1, "project")
    return g.node("Add", x, y) if stride == 1 and x.shape[1] == channels else y


def mobilenet_v2(g, image, divisor, classes, at_most_repeats=4):
    x = g.input("input", (1, 3, image, image))
    x = relu6(g, conv_norm(g, x, 32 // divisor, 3, "stem", stride=2))
    for stage, (expansion, channels, repeats, stride) in enumerate(MOBILENET_STAGES):
        for block in range(min(repeats, at_most_repeats)):
            with g.scope(f"features.{stage}.{block}"):
                x = inverted_residual(g, x, expansion, channels // divisor, 1 if block else stride)
    g.output(classifier(g, relu6(g, conv_norm(g, x, 1280 // divisor, 1, "head")), classes))


def eighths(channels):
    """The nearest multiple of eight that is no tenth smaller."""
    rounded = max(8, (channels + 4) // 8 * 8)
    return rounded + 8 * (rounded < 0.9 * channels)


def excite_hard(g, x):
    with g.scope("se"):
        y = relu(g, conv(g, g.node("GlobalAveragePool", x), eighths(x.shape[1] // 4), 1, name="fc1"))
        y = g.node("HardSigmoid", conv(g, y, x.shape[1], 1, name="fc2"), alpha=1 / 6)
        return g.node("Mul", y, x)


def bottleneck_v3(g, x, kernel, width, channels, has_excitation, has_hard_swish, stride):
    act, y = hard_swish if has_hard_swish else relu, x
    if width != x.shape[1]:
        y = act(g, conv_norm(g, y, width, 1, "expand", epsilon=1e-3))
    y = act(g, conv_norm(g, y, width, kernel, "depthwise", stride=stride, group=width, epsilon=1e-3))
    y = excite_hard(g, y) if has_excitation else y
    y = conv_norm(g, y, channels, 1, "project", epsilon=1e-3)
    return g.node("Add", y, x) if stride == 1 and x.shape[1] == channels else y


def mobilenet_v3(g, image, divisor, classes, blocks=len(MOBILENET_V3_BLOCKS)):
    x = g.input("input", (1, 3, image, image))
    x = hard_swish(g, conv_norm(g, x, 16 // divisor, 3, "stem", stride=2, epsilon=1e-3))
    for number, (kernel, width, channels, *more) in enumerate(MOBILENET_V3_BLOCKS[:blocks]):
        with g.scope(f"features.{number + 1}"):
            x = bottleneck_v3(g, x, kernel, width // divisor, channels // divisor, *more)
    x = hard_swish(g, conv_norm(g, x, 6 * x.shape[1], 1, "head", epsilon=1e-3))
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(gemm(g, hard_swish(g, gemm(g, x, 1280 // divisor, name="classifier.0")), classes, name="classifier.3"))


def excite(g, x, squeezed):
    """Scales each channel by what a small network makes of all channels' means."""
    with g.scope("se"):
        y = g.node("GlobalAveragePool", x)
        y = swish(g, conv(g, y, squeezed, 1, name="reduce"))
        return g.node("Mul", x, g.node("Sigmoid", conv(g, y, x.shape[1], 1, name="expand")))


def mb_conv(g, x, expansion, channels, stride, kernel):
    width, y = x.shape[1] * expansion, x
    same = {"auto_pad": "SAME_UPPER", "epsilon": 1e-3}
    if expansion != 1:
        y = swish(g, conv_norm(g, y, width, 1, "expand", **same))
    y = swish(g, conv_norm(g, y, width, kernel, "depthwise", stride=stride, group=width, **same))
    y = conv_norm(g, excite(g, y, max(1, x.shape[1] // 4)), channels, 1, "project", **same)
    return g.node("Add", y, x) if stride == 1 and x.shape[1] == channels else y


def efficientnet_b0(g, image, divisor, classes, at_most_repeats=4):
    same = {"auto_pad": "SAME_UPPER", "epsilon": 1e-3}
    x = g.input("input", (1, 3, image, image))
    x = swish(g, conv_norm(g, x, 32 // divisor, 3, "stem", stride=2, **same))
    for stage, (expansion, channels, repeats, stride, kernel) in enumerate(EFFICIENTNET_STAGES):
        for block in range(min(repeats, at_most_repeats)):
            with g.scope(f"block{stage + 1}.{block}"):
                x = mb_conv(g, x, expansion, channels // divisor, 1 if block else stride, kernel)
    g.output(classifier(g, swish(g, conv_norm(g, x, 1280 // divisor, 1, "head", **same)), classes))
