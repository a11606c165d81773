"""Random nodes for tests, of the kinds that are read wrongly: axes and places from the end, starts and ends beyond a
tensor, sizes that do not divide, empty lists, values that an element type does not hold, and what changed from one
operator set to the next.

`make(seed)` gives a model of one node, the values of its inputs, and which of them are constants; the same for the same
seed. It may be invalid: whoever runs it tells.
"""
import numpy as np
from onnx import AttributeProto, defs, helper, numpy_helper

import kept_cases
import number_cases
import place_cases
import sum_cases
import window_cases
from case import Case

LAST_OPSET = 23   # that ONNX Runtime has in full
# Function, name of the operator (None: the function names it), how often.
TABLE = [*place_cases.TABLE, *window_cases.TABLE, *number_cases.TABLE, *sum_cases.TABLE, *kept_cases.TABLE]
SCHEMA_FROM = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, LAST_OPSET]


def is_in_opset(op, opset):
    try:
        return not defs.get_schema(op, opset, "").deprecated
    except defs.SchemaError:
        return False


def make(seed):
    """(model, {input name: value}) or None when the operator set has no such operator."""
    random = np.random.default_rng(seed)
    weights = np.array([weight for _, _, weight in TABLE], float)
    fill, op, _ = TABLE[int(random.choice(len(TABLE), p=weights / weights.sum()))]
    opset = int(random.choice(SCHEMA_FROM))
    c = Case(seed, opset)
    c.op = op
    fill(c)
    if not is_in_opset(c.op, opset):
        return None
    return model_of(c, random.random() < 0.25)


def model_of(c, all_constant):
    names = ["" if value is None else f"i{k}" for k, value in enumerate(c.inputs)]
    outputs = [f"o{k}" for k in range(c.n_outputs)]
    listed = {name: value for name, value in c.attributes.items() if not isinstance(value, AttributeProto)}
    node = helper.make_node(c.op, names, outputs, **listed)
    node.attribute.extend(value for value in c.attributes.values() if isinstance(value, AttributeProto))
    feeds, inputs, initializers = {}, [], []
    for k, value in enumerate(c.inputs):
        if value is None:
            continue
        value = np.ascontiguousarray(value).reshape(np.shape(value))
        if k in c.fixed or all_constant:
            initializers.append(numpy_helper.from_array(value, names[k]))
        else:
            inputs.append(helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            feeds[names[k]] = value
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], "case", inputs, results, initializers)
    opset = [helper.make_opsetid("", c.opset)]
    ir = max(3, min(10, helper.find_min_ir_version_for(opset)))
    return helper.make_model(graph, opset_imports=opset, ir_version=max(ir, 4)), feeds
