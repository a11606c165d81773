"""NasNet-A as TASO measured it: a stem and 3 x (5 normal cells + 1 reduction cell), channels from 128 doubling, a
separable convolution being a depthwise one and a 1x1 one; no batch norm, no biases, no head."""

from models.layers import average_pool, conv_alone, max_pool, relu


def squeeze(g, x, filters, name):
    return relu(g, conv_alone(g, x, filters, 1, name=name))


def separable(g, x, kernel, stride, name):
    with g.scope(name):
        x = conv_alone(g, x, x.shape[1], kernel, stride=stride, group=x.shape[1], name="depthwise")
        return conv_alone(g, x, x.shape[1], 1, name="pointwise")


def normal_cell(g, before, last, filters):
    last = squeeze(g, last, filters, "squeeze")
    before = squeeze(g, before, filters, "fit")
    pairs = (
        (separable(g, last, 3, 1, "a"), last),
        (separable(g, before, 3, 1, "b"), separable(g, last, 3, 1, "c")),
        (average_pool(g, last, 3, 1, 1), before),
        (average_pool(g, before, 3, 1, 1), average_pool(g, before, 3, 1, 1)),
        (separable(g, before, 5, 1, "d"), separable(g, before, 3, 1, "e")),
    )
    return g.node("Concat", *(g.node("Add", x, y) for x, y in pairs), axis=1)


def reduction_cell(g, before, last, filters):
    last = squeeze(g, last, filters, "squeeze")
    before = squeeze(g, before, filters, "fit")
    first = g.node("Add", separable(g, before, 7, 2, "a"), separable(g, last, 5, 2, "b"))
    second = g.node("Add", max_pool(g, last, 3, 2, 1), separable(g, before, 7, 2, "c"))
    third = g.node("Add", average_pool(g, last, 3, 2, 1), separable(g, before, 5, 2, "d"))
    fourth = g.node("Add", max_pool(g, last, 3, 2, 1), separable(g, first, 3, 1, "e"))
    fifth = g.node("Add", average_pool(g, first, 3, 1, 1), second)
    return g.node("Concat", first, second, third, fourth, fifth, axis=1)


def nasnet_a(g, image, filters, normal_cells):
    x = g.input("input", (1, 3, image, image))
    x = max_pool(g, relu(g, conv_alone(g, x, filters // 2, 7, stride=2, name="stem")), 3, 2, 1)
    for stage in range(3):
        before = last = x
        for cell in range(normal_cells):
            with g.scope(f"stage{stage}.normal{cell}"):
                before, last = last, normal_cell(g, before, last, filters << stage)
        with g.scope(f"stage{stage}.reduction"):
            x = reduction_cell(g, before, last, filters << stage + 1)
    g.output(x)
