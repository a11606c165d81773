"""Models of ONNX in its own text form."""
import numpy as np
from onnx import helper, numpy_helper, parser


def random_weights(name, shape):
    random = np.random.default_rng(sum(map(ord, name)))
    return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def model_of(text, opset=17, ir_version=8, **given):
    """`(float[4,8] x) => (float[4,8] y) { y = Mul(x, a) }`, where what is given by name is an initializer: an array, or
    the shape of random weights. Domains that operators name have version 1."""
    graph = parser.parse_graph(f"g {text}")
    for name, what in given.items():
        array = random_weights(name, what) if isinstance(what, tuple) else np.asarray(what)
        graph.initializer.append(numpy_helper.from_array(array, name))
    domains = {"": opset, **{node.domain: 1 for node in graph.node if node.domain}}
    opsets = [helper.make_opsetid(*domain) for domain in domains.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
