"""A graph under construction.

Every node is evaluated as it is added (`evaluation.py`), on one seeded calibration input. So a tensor knows its shape
without shape inference, and a layer can scale its random weights by what it really sees. Names follow the habits of
exporters: weights `layer1.0.conv1.weight`, nodes `/layer1/0/conv1/Conv`, their outputs `.../Conv_output_0`.
"""

import contextlib
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from models.evaluation import evaluate

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
IR_VERSION_OF_OPSET = {9: 4, 11: 6, 13: 7, 14: 7, 17: 8, 18: 8, 20: 9, 22: 10}


def type_of(array):
    return {"f": FLOAT, "i": INT64, "b": BOOL}[array.dtype.kind]


def rounded(values):
    """Values with twelve bits of mantissa: what differs between two machines' libraries is rounded away."""
    mantissa, exponent = np.frexp(np.asarray(values, np.float64))
    return np.ldexp(np.round(mantissa * 4096) / 4096, exponent).astype(np.float32)


class Tensor:
    """A named tensor with its value on the calibration input."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    @property
    def shape(self):
        return self.value.shape


class GraphBuilder:
    def __init__(self, name, opset, description=""):
        self.name, self.opset, self.description = name, opset, description
        self.random = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.scopes, self.used_names = [], {}

    @contextlib.contextmanager
    def scope(self, name):
        self.scopes.append(str(name))
        yield
        self.scopes.pop()

    def uniform(self, shape, low=-(3**0.5), high=3**0.5):
        """Uniform random numbers, by default of mean zero and variance one; the same on every machine."""
        numbers = self.random.random(shape, dtype=np.float32)
        numbers *= np.float32(high - low)
        numbers += np.float32(low)
        return numbers

    def unique(self, name):
        seen = self.used_names[name] = self.used_names.get(name, -1) + 1
        return f"{name}_{seen}" if seen else name

    def input(self, name, shape, below=None, symbols=None):
        """A float input, or an int64 one with values under `below`; `symbols` names the dimensions left open."""
        value = self.uniform(shape).astype(np.float64) if below is None else self.random.integers(0, below, shape)
        self.inputs.append(helper.make_tensor_value_info(name, type_of(value), symbols or shape))
        return Tensor(name, value)

    def weight(self, name, array):
        """An initializer, named after the current scope."""
        name = self.unique(".".join([*self.scopes, name]))
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return Tensor(name, array)

    def constant(self, value, kind=np.float32):
        """The output of a Constant node, as exporters write scalars and shapes."""
        array = np.array(value, kind)
        return self.node("Constant", attributes={"value": numpy_helper.from_array(array)}, values=[array])

    @staticmethod
    def evaluate(kind, *inputs, **attributes):
        return evaluate(kind, inputs, attributes)[0]

    def node(self, kind, *inputs, outputs=1, values=None, attributes=None, **more):
        """Adds a node; gives its output, or the list of them. `values` spares an evaluation; an input may be None."""
        attributes = {**(attributes or {}), **more}
        if values is None:
            values = evaluate(kind, [i.value if i else None for i in inputs], attributes)
        name = self.unique("/".join(["", *(s.replace(".", "/") for s in self.scopes), kind]))
        tensors = [Tensor(f"{name}_output_{i}", values[i]) for i in range(outputs)]
        names = [i.name if i else "" for i in inputs]
        self.nodes.append(helper.make_node(kind, names, [t.name for t in tensors], name, **attributes))
        return tensors[0] if outputs == 1 else tensors

    def output(self, tensor, name="output", symbols=None):
        """Declares an output of the graph and gives the tensor this name."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, known in enumerate(names):
                    if known == tensor.name:
                        names[i] = name
        tensor.name = name
        self.outputs.append(helper.make_tensor_value_info(name, type_of(tensor.value), symbols or tensor.shape))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.opset)],
            ir_version=IR_VERSION_OF_OPSET[self.opset],
            producer_name="taso-build-models",
            doc_string=self.description,
        )
