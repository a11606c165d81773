"""DenseNet-121 as torchvision defines it and torch.onnx exports it: each layer reads the concatenation of all former
ones, the batch norm behind a convolution is part of it, the one behind a concatenation is not."""

from models.layers import average_pool, batch_norm, classifier, conv, max_pool, relu

BOTTLENECK = 4   # times the growth


def dense_layer(g, features, growth):
    x = g.node("Concat", *features, axis=1) if len(features) > 1 else features[0]
    x = relu(g, conv(g, relu(g, batch_norm(g, x, name="norm1")), BOTTLENECK * growth, 1, name="conv1"))
    return conv(g, x, growth, 3, bias=False, name="conv2")


def dense_block(g, x, layers, growth, name):
    features = [x]
    for i in range(layers):
        with g.scope(f"{name}.denselayer{i + 1}"):
            features.append(dense_layer(g, features, growth))
    return g.node("Concat", *features, axis=1)


def transition(g, x, name):
    with g.scope(name):
        x = conv(g, relu(g, batch_norm(g, x, name="norm")), x.shape[1] // 2, 1, bias=False)
        return average_pool(g, x, 2, 2)


def densenet(g, image, blocks, growth, classes):
    x = g.input("input", (1, 3, image, image))
    x = max_pool(g, relu(g, conv(g, x, 2 * growth, 7, stride=2, name="conv0")), 3, 2, 1)
    for i, layers in enumerate(blocks):
        x = dense_block(g, x, layers, growth, f"denseblock{i + 1}")
        if i + 1 < len(blocks):
            x = transition(g, x, f"transition{i + 1}")
    g.output(classifier(g, relu(g, batch_norm(g, x, name="norm5")), classes))
