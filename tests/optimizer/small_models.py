"""Models of a few nodes, as files."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def small_model(path, nodes, inputs, outputs, initializers=(), domains=()):
    graph = helper.make_graph(nodes, "small", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in domains]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weights(name, *shape):
    random = np.random.default_rng(sum(map(ord, name)))
    return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), name)


def products(path, extra_nodes=(), extra_outputs=(), domains=(), batch=1):
    """x . a, x . b and x . c: always worth merging."""
    nodes = [helper.make_node("MatMul", ["x", w], [f"x{w}"], name=f"product_{w}") for w in "abc"]
    return small_model(path, nodes + list(extra_nodes), [value("x", batch, 64)],
                       [value(f"x{w}", batch, 32) for w in "abc"] + list(extra_outputs),
                       [weights(w, 64, 32) for w in "abc"], domains)
