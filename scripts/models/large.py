"""Builds a model of more than 2 GB: layers relu(x . W), each W 5000 x 5000 (100 MB), with the weights in one file of
external data beside the model, or with --inline in the model file itself (which protobuf's own library cannot
read). Weights are written one layer at a time; memory stays at two layers."""

import argparse
import os
import pathlib

import numpy as np
from onnx import TensorProto, helper

from lib.command import run_script
from models.wire import BYTES, data, integer, tag, varint

WIDTH, PAGE = 5000, 4096
GRAPH_OF_MODEL, NODE_OF_GRAPH, NAME_OF_GRAPH, INITIALIZER_OF_GRAPH, INPUT_OF_GRAPH, OUTPUT_OF_GRAPH = 7, 1, 2, 5, 11, 12
RAW_DATA_OF_TENSOR = 9


class Weights:
    """All layers' weights are rotations of one block, scaled so that ReLU layers keep the size of their input."""

    def __init__(self, width):
        self.width = width
        random = np.random.Generator(np.random.PCG64(1))
        self.block = random.random(width * width, dtype=np.float32)
        self.block *= np.float32(2 * (6 / width) ** 0.5)
        self.block -= np.float32((6 / width) ** 0.5)

    @property
    def bytes_per_layer(self):
        return self.block.nbytes

    def write_layer(self, layer, file):
        start = layer * 7919 % self.block.size
        file.write(self.block[start:].data)
        file.write(self.block[:start].data)


def nodes_of(layers):
    for i in range(layers):
        source, target = (f"h{i}" if i else "input"), (f"h{i + 1}" if i + 1 < layers else "output")
        yield helper.make_node("MatMul", [source, f"layers.{i}.weight"], [f"p{i}"], f"/layers/{i}/MatMul")
        yield helper.make_node("Relu", [f"p{i}"], [target], f"/layers/{i}/Relu")


def ends_of(width):
    return (helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, width)) for name in ("input", "output"))


def empty_weight(layer, width):
    return TensorProto(name=f"layers.{layer}.weight", data_type=TensorProto.FLOAT, dims=(width, width))


def up_to_page(size):
    return -(-size // PAGE) * PAGE


def external_weight(layer, weights, location):
    tensor = empty_weight(layer, weights.width)
    tensor.data_location = TensorProto.EXTERNAL
    offset = layer * up_to_page(weights.bytes_per_layer)
    for key, value in (("location", location), ("offset", offset), ("length", weights.bytes_per_layer)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write_external(path, weights, layers):
    side = path.with_suffix(".onnx.data")
    with open(side, "wb") as file:
        for layer in range(layers):
            file.seek(layer * up_to_page(weights.bytes_per_layer))
            weights.write_layer(layer, file)
    tensors = [external_weight(layer, weights, side.name) for layer in range(layers)]
    x, y = ends_of(weights.width)
    graph = helper.make_graph(list(nodes_of(layers)), "large", [x], [y], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    path.write_bytes(model.SerializeToString(deterministic=True))
    return [path, side]


def write_inline(path, weights, layers):
    """Writes the fields one after another; only the lengths must be known before."""
    x, y = ends_of(weights.width)
    before = b"".join(data(NODE_OF_GRAPH, node.SerializeToString()) for node in nodes_of(layers))
    before += data(NAME_OF_GRAPH, b"large")
    after = data(INPUT_OF_GRAPH, x.SerializeToString()) + data(OUTPUT_OF_GRAPH, y.SerializeToString())
    heads = [initializer_head(layer, weights) for layer in range(layers)]
    length = len(before) + sum(len(head) + weights.bytes_per_layer for head in heads) + len(after)
    with open(path, "wb") as file:
        file.write(integer(1, 7) + data(8, data(1, b"") + integer(2, 13)))
        file.write(tag(GRAPH_OF_MODEL, BYTES) + varint(length) + before)
        for layer, head in enumerate(heads):
            file.write(head)
            weights.write_layer(layer, file)
        file.write(after)
    return [path]


def initializer_head(layer, weights):
    """An initializer up to where its raw data begins."""
    head = empty_weight(layer, weights.width).SerializeToString()
    head += tag(RAW_DATA_OF_TENSOR, BYTES) + varint(weights.bytes_per_layer)
    return tag(INITIALIZER_OF_GRAPH, BYTES) + varint(len(head) + weights.bytes_per_layer) + head


def main():
    parser = argparse.ArgumentParser(prog="large-model", description=__doc__)
    parser.add_argument("path", metavar="FILE.onnx", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=2.2, help="size of all weights (default: %(default)s)")
    parser.add_argument("--width", type=int, default=WIDTH, help="width of a layer (default: %(default)s)")
    parser.add_argument("--inline", action="store_true", help="no external data")
    options = parser.parse_args()
    weights = Weights(options.width)
    layers = max(1, round(options.gigabytes * 1e9 / weights.bytes_per_layer))
    files = (write_inline if options.inline else write_external)(options.path, weights, layers)
    print(*(f"{file}  {os.path.getsize(file) / 1e6:.1f} MB" for file in files), sep="\n")


run_script(main)
