"""VGG-19 as torchvision defines it: convolutions with bias, Flatten, and three Gemm with Dropout between."""

from models.layers import conv, gemm, max_pool, relu

STAGES = ((1, 2), (2, 2), (4, 4), (8, 4), (8, 4))


def vgg19(g, image, width, hidden, classes):
    x = g.input("input", (1, 3, image, image))
    for stage, (multiple, count) in enumerate(STAGES):
        for layer in range(count):
            x = relu(g, conv(g, x, multiple * width, 3, name=f"features.{stage}.{layer}"))
        x = max_pool(g, x, 2, 2)
    x = g.node("Flatten", x, axis=1)
    for layer in range(2):
        x = g.node("Dropout", relu(g, gemm(g, x, hidden, name=f"classifier.{layer}")))
    g.output(gemm(g, x, classes, name="classifier.2"))
