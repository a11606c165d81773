"""Inception-v3 as torchvision defines it, without the auxiliary head: 94 convolutions, each with batch norm and
ReLU."""

from models.layers import average_pool, batch_norm, conv, gemm, max_pool, relu

VALID = (0, 0, 0, 0)


class Inception:
    """The blocks of the network; `divisor` divides every number of channels."""

    def __init__(self, g, divisor):
        self.g, self.divisor = g, divisor

    def conv(self, x, filters, kernel, name, stride=1, pads=None):
        with self.g.scope(name):
            y = conv(self.g, x, filters // self.divisor, kernel, stride=stride, pads=pads, bias=False)
            return relu(self.g, batch_norm(self.g, y, epsilon=1e-3))

    def chain(self, x, name, *layers):
        """Convolutions after one another; layers are (filters, kernel[, stride, pads])."""
        for i, layer in enumerate(layers):
            x = self.conv(x, *layer[:2], f"{name}_{i + 1}", *layer[2:])
        return x

    def concat(self, *branches):
        return self.g.node("Concat", *branches, axis=1)

    def join(self, *branches):
        return self.concat(*branches)

    def averaged(self, x):
        return average_pool(self.g, x, 3, 1, 1, count_include_pad=1)

    def pooled(self, x, filters):
        return self.conv(self.averaged(x), filters, 1, "branch_pool")

    def block_a(self, x, pool_filters):
        return self.join(
            self.conv(x, 64, 1, "branch1x1"),
            self.chain(x, "branch5x5", (48, 1), (64, 5)),
            self.chain(x, "branch3x3dbl", (64, 1), (96, 3), (96, 3)),
            self.pooled(x, pool_filters),
        )

    def convolved_b(self, x):
        yield self.conv(x, 384, 3, "branch3x3", 2, VALID)
        yield self.chain(x, "branch3x3dbl", (64, 1), (96, 3), (96, 3, 2, VALID))

    def block_b(self, x):
        return self.concat(*self.convolved_b(x), max_pool(self.g, x, 3, 2))

    def block_c(self, x, inner):
        return self.join(
            self.conv(x, 192, 1, "branch1x1"),
            self.chain(x, "branch7x7", (inner, 1), (inner, (1, 7)), (192, (7, 1))),
            self.chain(x, "branch7x7dbl", (inner, 1), (inner, (7, 1)), (inner, (1, 7)), (inner, (7, 1)), (192, (1, 7))),
            self.pooled(x, 192),
        )

    def block_d(self, x):
        return self.concat(
            self.chain(x, "branch3x3", (192, 1), (320, 3, 2, VALID)),
            self.chain(x, "branch7x7x3", (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, VALID)),
            max_pool(self.g, x, 3, 2),
        )

    def forked(self, x, name):
        return self.concat(self.conv(x, 384, (1, 3), f"{name}a"), self.conv(x, 384, (3, 1), f"{name}b"))

    def block_e(self, x):
        return self.concat(
            self.conv(x, 320, 1, "branch1x1"),
            self.forked(self.conv(x, 384, 1, "branch3x3_1"), "branch3x3_2"),
            self.forked(self.chain(x, "branch3x3dbl", (448, 1), (384, 3)), "branch3x3dbl_3"),
            self.pooled(x, 192),
        )

    def stem(self, x):
        x = self.chain(x, "Conv2d_1", (32, 3, 2, VALID), (32, 3, 1, VALID), (64, 3))
        x = max_pool(self.g, x, 3, 2)
        x = self.chain(x, "Conv2d_2", (80, 1, 1, VALID), (192, 3, 1, VALID))
        return max_pool(self.g, x, 3, 2)

    def blocks(self):
        """Every block after the stem: (method, its parameters)."""
        yield from ((self.block_a, (filters,)) for filters in (32, 64, 64))
        yield self.block_b, ()
        yield from ((self.block_c, (inner,)) for inner in (128, 160, 160, 192))
        yield self.block_d, ()
        yield from ((self.block_e, ()) for _ in range(2))


    def trunk(self, image):
        x = self.stem(self.g.input("input", (1, 3, image, image)))
        for i, (block, parameters) in enumerate(self.blocks()):
            with self.g.scope(f"Mixed_{i}"):
                x = block(x, *parameters)
        return x


def inception_v3(g, image, divisor, classes):
    x = Inception(g, divisor).trunk(image)
    x = g.node("Dropout", g.node("GlobalAveragePool", x))
    g.output(gemm(g, g.node("Flatten", x, axis=1), classes))
