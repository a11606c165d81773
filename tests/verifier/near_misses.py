"""Models that are nearly another one: `near_misses.py MODEL.onnx FOLDER` writes one file for each way in which it differs.

A number of a weight, two weights exchanged, a pad moved to the other side, the inputs of a concatenation or a difference
exchanged, an axis, another operator. None of them is equal to the model."""
import pathlib
import sys

import numpy
import onnx
from onnx import helper, numpy_helper


def large_weights(model):
    return sorted((w for w in model.graph.initializer if w.data_type == onnx.TensorProto.FLOAT),
                  key=lambda w: -numpy.prod(w.dims))


def change_one_number(model):
    weight = large_weights(model)[0]
    values = numpy_helper.to_array(weight).copy()
    values.flat[values.size // 2] += 0.5
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return True


def change_one_number_a_little(model):
    """By a thousandth of the largest entry, which is much more than rounding."""
    weight = large_weights(model)[-1]
    values = numpy_helper.to_array(weight).copy()
    values.flat[values.size // 3] += 1e-3 * abs(values).max() or 1
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return True


def exchange_weights(model):
    of_shape = {}
    for weight in large_weights(model):
        other = of_shape.setdefault(tuple(weight.dims), weight)
        if other is not weight and (numpy_helper.to_array(other) != numpy_helper.to_array(weight)).any():
            weight.name, other.name = other.name, weight.name
            return True
    return False


def nodes_of(model, *kinds):
    return [n for n in model.graph.node if n.op_type in kinds]


def attribute_of(node, name):
    return next((a for a in node.attribute if a.name == name), None)


def move_a_pad(model):
    for node in reversed(nodes_of(model, "Conv", "MaxPool", "AveragePool")):
        pads = attribute_of(node, "pads")
        if pads and pads.ints[0] > 0:
            pads.ints[0] -= 1
            pads.ints[len(pads.ints) // 2] += 1
            return True
    return False


def exchange_inputs(model, *kinds):
    for node in reversed(nodes_of(model, *kinds)):
        if node.input[0] != node.input[1]:
            node.input[0], node.input[1] = node.input[1], node.input[0]
            return True
    return False


def exchange_parts(model):
    return exchange_inputs(model, "Concat")


def exchange_operands(model):
    return exchange_inputs(model, "Sub", "Div")


def change_an_axis(model):
    for node in nodes_of(model, "Softmax"):
        node.attribute.remove(attribute_of(node, "axis"))
        node.attribute.append(helper.make_attribute("axis", -2))
        return True
    return False


def exchange_axes(model):
    for node in reversed(nodes_of(model, "Transpose")):
        perm = attribute_of(node, "perm")
        if perm and len(perm.ints) > 2:
            perm.ints[-1], perm.ints[-2] = perm.ints[-2], perm.ints[-1]
            return True
    return False


def exchange_results(model):
    for node in nodes_of(model, "Split"):
        node.output[0], node.output[1] = node.output[1], node.output[0]
        return True
    return False


def change_an_operator(model):
    others = {"Relu": "Sigmoid", "Erf": "Tanh", "Sigmoid": "Tanh", "Tanh": "Sigmoid"}
    for node in reversed(nodes_of(model, *others)):
        node.op_type = others[node.op_type]
        return True
    return False


def subtract_instead(model):
    for node in reversed(nodes_of(model, "Add")):
        node.op_type = "Sub"
        return True
    return False


WAYS = (change_one_number, change_one_number_a_little, exchange_weights, move_a_pad, exchange_parts, exchange_operands,
        change_an_axis, exchange_axes, exchange_results, change_an_operator, subtract_instead)


def write_near_misses(path, folder):
    """Yields a name and a file for each way that the model has."""
    for way in WAYS:
        model = onnx.load(path)
        if way(model):
            target = pathlib.Path(folder) / f"{way.__name__}.onnx"
            onnx.save(model, target)
            yield way.__name__, target


if __name__ == "__main__":
    for name, written in write_near_misses(*sys.argv[1:3]):
        print(name, written)
