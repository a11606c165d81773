"""A case is a small folder with a file model.onnx, and what a program must make of it."""

import dataclasses
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from models.builder import GraphBuilder
from models.layers import batch_norm, conv, gemm, max_pool, relu, reshape

ACCEPT, REJECT, SURVIVE = "accept", "reject", "survive"
MODEL, OUTSIDE = "model.onnx", "outside.bin"


@dataclasses.dataclass(frozen=True)
class Link:
    target: str


class Fifo:
    """A named pipe that nobody writes to: who opens it for reading waits for ever."""


@dataclasses.dataclass
class Case:
    name: str
    verdict: str
    model: bytes
    others: dict = dataclasses.field(default_factory=dict)

    def write(self, root):
        folder = root / self.verdict / self.name
        folder.mkdir(parents=True)
        for name, content in {MODEL: self.model, **self.others}.items():
            if isinstance(content, Link):
                os.symlink(content.target, folder / name)
            elif content is Fifo:
                os.mkfifo(folder / name)
            else:
                (folder / name).write_bytes(content)


def serialized(model):
    return model.SerializeToString(deterministic=True)


def convolutional_model():
    """A small model of many kinds of fields; so few weights that a random byte is likely to be structure."""
    g = GraphBuilder("malformed-base", 13, "a small model to break")
    x = g.input("input", (1, 2, 6, 6))
    x = max_pool(g, relu(g, batch_norm(g, conv(g, x, 2, 3, stride=2))), 2, 1)
    g.output(gemm(g, reshape(g, x, 1, 8), 3))
    model = g.model()
    helper.set_model_props(model, {"purpose": "test"})
    return model


WEIGHT_SHAPE = (4, 4)


def weight_values():
    return np.arange(16, dtype=np.float32).reshape(WEIGHT_SHAPE)


def model_with_weight(weight):
    """y = x . W + x, with this TensorProto, or these bytes of one, as W."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, WEIGHT_SHAPE) for name in "xy")
    nodes = [helper.make_node("MatMul", ["x", "W"], ["p"]), helper.make_node("Add", ["p", "x"], ["y"])]
    return model_of(helper.make_graph(nodes, "weighted", [x], [y], [weight]))


def model_of(graph, opset=13):
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=7, producer_name="malformed")


def good_weight():
    return numpy_helper.from_array(weight_values(), "W")


def controls():
    """Cases that are right: a program that rejects them makes the others worthless."""
    yield Case("convolutional", ACCEPT, serialized(convolutional_model()))
    yield Case("weighted", ACCEPT, serialized(model_with_weight(good_weight())))


def checked(cases):
    """The same cases; refuses names that occur twice."""
    names = set()
    for case in cases:
        assert case.name not in names, case.name
        names.add(case.name)
        yield case


