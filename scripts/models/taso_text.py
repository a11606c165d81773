"""Models from TASO's text export, as Tensat measured them (`tensat/`): four lines a node: its id; its kind, a number;
its inputs, `id:output` each; its parameters. Dimensions come first among the parameters; then

    convolution  dimensions of the weights, stride y, x, padding mode, activation, padding y, x
    pooling      kind, window y, x, stride y, x, padding mode, activation, padding y, x
    transpose    the permutation, and whether the data moves

Biases of the original networks are unused nodes in the export, so the models have none. ReLU on a pool of what ReLU
gave changes nothing and is left out."""

import pathlib

from models.layers import average_pool, batch_norm, conv_alone, max_pool, relu, reshape, scale_to_spread, transpose

FOLDER = pathlib.Path(__file__).with_name("tensat")
INPUT, WEIGHT, CONV, DROPOUT, MATMUL, RELU, BATCH_NORM, CONCAT, RESHAPE, TRANSPOSE, ADD = (
    "0", "1", "3", "4", "18", "8", "11", "12", "14", "15", "16")
MAX_POOL, AVERAGE_POOL = "6", "7"
ACTIVATION_RELU = 2


class Importer:
    """Adds the nodes of an export to a graph; `tensors` holds what each id gives, for a weight only its shape."""

    def __init__(self, g):
        self.g, self.tensors = g, {}

    def conv(self, p, x, weight):
        filters, _, height, width, stride = p[4:9]
        group = p[1] // weight[1]
        y = conv_alone(self.g, x, filters, (height, width), stride, (p[12], p[13]) * 2, group)
        return relu(self.g, y) if p[11] == ACTIVATION_RELU else y

    def pool(self, p, x, layer):
        return layer(self.g, x, p[5], p[7], p[11])

    def matmul(self, _p, x, y):
        """x . y', where y' is a transposed weight: its values are chosen here, where x is known."""
        weights = self.g.uniform(y)
        product = self.g.evaluate("Gemm", x.value, weights, transB=1)
        scale_to_spread(weights, product, 1.0)
        return self.g.node("MatMul", x, transpose(self.g, self.g.weight("weight", weights), 1, 0))

    def transpose(self, p, x):
        return x if isinstance(x, tuple) else transpose(self.g, x, *p[:-1])

    def node(self, kind, p, inputs):
        if kind == INPUT:
            return self.g.input("input", tuple(p))
        if kind == WEIGHT:
            return tuple(p)
        return {
            CONV: self.conv,
            DROPOUT: lambda p, x: self.g.node("Dropout", x),
            MAX_POOL: lambda p, x, _: self.pool(p, x, max_pool),
            AVERAGE_POOL: lambda p, x, _: self.pool(p, x, average_pool),
            RELU: lambda p, x: relu(self.g, x),
            BATCH_NORM: lambda p, x, *_: batch_norm(self.g, x),
            CONCAT: lambda p, *xs: self.g.node("Concat", *xs, axis=p[0]),
            RESHAPE: lambda p, x: reshape(self.g, x, *p),
            TRANSPOSE: self.transpose,
            ADD: lambda p, x, y: self.g.node("Add", x, y),
            MATMUL: self.matmul,
        }[kind](p, *inputs)


def taso_text(g, name):
    """The model in FOLDER/name.model."""
    lines = (FOLDER / f"{name}.model").read_text().split("\n")
    importer, last = Importer(g), None
    for number, kind, inputs, parameters in zip(*(lines[i::4] for i in range(4))):
        p = [int(value) for value in parameters.split(",")]
        arguments = [] if kind in (INPUT, WEIGHT) else [importer.tensors[i.split(":")[0]] for i in inputs.split(",")]
        with g.scope(f"node{number}"):
            last = importer.tensors[number] = importer.node(kind, p, arguments)
    g.output(last)
