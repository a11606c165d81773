"""ResNet-18, ResNet-50 and ResNeXt-50 (32x4d) as torchvision defines them: convolutions without bias, separate batch
norms, the stride on the 3x3 convolution, a Gemm head. And the forms of both that TASO measured: no batch norm, no head, every
projection with ReLU, ResNet-50 without a stem."""

from models.layers import batch_norm, classifier, conv, conv_alone, max_pool, relu

EXPANSION = 4


def conv_norm(g, x, filters, kernel, name, **more):
    return batch_norm(g, conv(g, x, filters, kernel, bias=False, name=f"conv{name}", **more), name=f"bn{name}")


def basic_block(g, x, planes, stride):
    y = relu(g, conv_norm(g, x, planes, 3, "1", stride=stride))
    y = conv_norm(g, y, planes, 3, "2")
    if stride != 1 or x.shape[1] != planes:
        x = conv_norm(g, x, planes, 1, "_downsample", stride=stride)
    return relu(g, g.node("Add", y, x))


def bottleneck(g, x, planes, stride, groups=1, width_per_group=64):
    width = planes * width_per_group // 64 * groups
    y = relu(g, conv_norm(g, x, width, 1, "1"))
    y = relu(g, conv_norm(g, y, width, 3, "2", stride=stride, group=groups))
    y = conv_norm(g, y, planes * EXPANSION, 1, "3")
    if stride != 1 or x.shape[1] != planes * EXPANSION:
        x = conv_norm(g, x, planes * EXPANSION, 1, "_downsample", stride=stride)
    return relu(g, g.node("Add", y, x))


def resnet_stages(g, image, blocks, planes, block_of=bottleneck, **more):
    """What each stage makes, the first one at a quarter of the image's size."""
    x = g.input("input", (1, 3, image, image))
    x = max_pool(g, relu(g, conv_norm(g, x, planes, 7, "1", stride=2)), 3, 2, 1)
    made = []
    for stage, count in enumerate(blocks):
        for block in range(count):
            with g.scope(f"layer{stage + 1}.{block}"):
                stride = 2 if stage and not block else 1
                x = block_of(g, x, planes << stage, stride, **more)
        made.append(x)
    return made


def resnet(g, image, blocks, planes, classes, **more):
    g.output(classifier(g, resnet_stages(g, image, blocks, planes, **more)[-1], classes))


def taso_block(g, x, filters, stride, groups, expansion):
    y = relu(g, conv_alone(g, x, filters, 1, name="conv1"))
    y = relu(g, conv_alone(g, y, filters, 3, stride=stride, group=groups, name="conv2"))
    y = conv_alone(g, y, filters * expansion, 1, name="conv3")
    if stride != 1 or x.shape[1] != filters * expansion:
        x = relu(g, conv_alone(g, x, filters * expansion, 1, stride=stride, name="conv4"))
    return relu(g, g.node("Add", x, y))


def taso_stem(g, x, filters):
    return max_pool(g, relu(g, conv_alone(g, x, filters, 7, stride=2, name="stem")), 3, 2, 1)


def taso_resnet(g, input_shape, blocks, filters, groups=1, expansion=4, stem=None):
    x = g.input("input", (1, *input_shape))
    x = taso_stem(g, x, stem) if stem else x
    for stage, count in enumerate(blocks):
        for block in range(count):
            with g.scope(f"layer{stage + 1}.{block}"):
                x = taso_block(g, x, filters << stage, 2 if stage and not block else 1, groups, expansion)
    g.output(x)
