"""Graphs that are cyclic, nested beyond reason, or at odds with themselves."""

from onnx import TensorProto, helper

from malformed.case import REJECT, SURVIVE, Case, model_of, serialized
from models.wire import data, integer, nested

DEEP = 10000
SHAPE = (1, 4, 8, 8)


def graph_of(nodes, initializers=(), shape=SHAPE, outputs=("y",)):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    return helper.make_graph(nodes, "graph", [x], results, initializers)


def inconsistent():
    node = helper.make_node
    tables = {
        "cycle-of-one": [node("Add", ["x", "y"], ["y"])],
        "cycle-of-two": [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])],
        "cycle-aside": [node("Relu", ["x"], ["y"]), node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])],
        "cycle-of-unknown-operators": [node("Odd", ["x", "b"], ["y"]), node("Odd", ["y"], ["b"])],
        "input-undefined": [node("Add", ["x", "nowhere"], ["y"])],
        "output-undefined": [node("Relu", ["x"], ["z"])],
        "defined-twice": [node("Relu", ["x"], ["y"]), node("Sigmoid", ["x"], ["y"])],
        "defined-twice-by-one-node": [node("Split", ["x"], ["y", "y"], axis=1)],
        "shadows-an-input": [node("Relu", ["x"], ["x"]), node("Relu", ["x"], ["y"])],
    }
    for name, nodes in tables.items():
        yield Case(name, REJECT, serialized(model_of(graph_of(nodes))))
    unsorted = [node("Relu", ["a"], ["y"]), node("Relu", ["x"], ["a"])]
    yield Case("unsorted", SURVIVE, serialized(model_of(graph_of(unsorted))))


def long_cycle():
    """The cycle closes after 20,000 nodes: neither a recursive search nor a quadratic one survives."""
    names = ["x", *(f"v{i}" for i in range(20000)), "y"]
    nodes = [helper.make_node("Relu", [a], [b]) for a, b in zip(names, names[1:])]
    nodes[0] = helper.make_node("Add", ["x", "y"], ["v0"])
    yield Case("cycle-of-20000", REJECT, serialized(model_of(graph_of(nodes))))
    chain = [helper.make_node("Odd", [a], [b], domain="test") for a, b in zip(names, names[1:])]
    yield Case("chain-of-20000", SURVIVE, serialized(model_of(graph_of(chain))))


def wide():
    """A sum of 10,000 becomes as many additions, each of which is named."""
    total = helper.make_node("Sum", ["x"] * 10000, ["y"])
    yield Case("sum-of-10000", SURVIVE, serialized(model_of(graph_of([total]))))


def ill_typed():
    """Nodes that mean nothing: attributes missing, of the wrong kind, or out of range."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, (4, 4, 3, 3), [0.1] * 144)
    target = helper.make_tensor("s", TensorProto.INT64, (2,), [1 << 62, 1 << 62])
    empty = helper.make_tensor("e", TensorProto.INT64, (0,), [])
    convolutions = {
        "conv-group-zero": {"group": 0},
        "conv-group-huge": {"group": 1 << 62},
        "conv-group-odd": {"group": 3},
        "conv-stride-zero": {"strides": [0, 0]},
        "conv-stride-negative": {"strides": [-1, -1]},
        "conv-dilation-zero": {"dilations": [0, 0]},
        "conv-dilation-huge": {"dilations": [1 << 62, 1 << 62]},
        "conv-pads-huge": {"pads": [(1 << 63) - 1] * 4},
        "conv-pads-negative": {"pads": [-100] * 4},
        "conv-pads-too-few": {"pads": [1]},
        "conv-pads-too-many": {"pads": [1] * 1000},
        "conv-kernel-other": {"kernel_shape": [7, 7]},
        "conv-strides-text": {"strides": "two"},
        "conv-auto-pad-unknown": {"auto_pad": "SAME_SIDEWAYS"},
    }
    for name, attributes in convolutions.items():
        yield ill_typed_case(name, helper.make_node("Conv", ["x", "w"], ["y"], **attributes), weight)
    pool = {"kernel_shape": [0, 0]}, {"kernel_shape": [1 << 40, 1 << 40]}, {"kernel_shape": [100, 100]}, {}
    for i, attributes in enumerate(pool):
        yield ill_typed_case(f"pool-window-{i}", helper.make_node("AveragePool", ["x"], ["y"], **attributes))
    for axis in (4, -5, 1 << 62, -(1 << 63)):
        yield ill_typed_case(f"concat-axis-{axis}", helper.make_node("Concat", ["x", "x"], ["y"], axis=axis))
        yield ill_typed_case(f"softmax-axis-{axis}", helper.make_node("Softmax", ["x"], ["y"], axis=axis))
    for i, perm in enumerate(([0, 0, 0, 0], [0, 1], [9, 8, 7, 6], [-1, 0, 1, 2], list(range(100)))):
        yield ill_typed_case(f"transpose-{i}", helper.make_node("Transpose", ["x"], ["y"], perm=perm))
    for block in (0, -2, 3, 1 << 32, 1 << 40, 1 << 62):
        for op in ("DepthToSpace", "SpaceToDepth"):
            yield ill_typed_case(f"{op}-of-{block}", helper.make_node(op, ["x"], ["y"], blocksize=block))
    yield ill_typed_case("reshape-huge", helper.make_node("Reshape", ["x", "s"], ["y"]), target)
    yield ill_typed_case("reshape-to-scalar", helper.make_node("Reshape", ["x", "e"], ["y"]), empty)
    yield ill_typed_case("expand-huge", helper.make_node("Expand", ["x", "s"], ["y"]), target)
    yield ill_typed_case("constant-of-shape-huge", helper.make_node("ConstantOfShape", ["s"], ["y"]), target)
    yield ill_typed_case("tile-huge", helper.make_node("Tile", ["x", "s"], ["y"]), target)
    yield ill_typed_case("split-sizes-huge", helper.make_node("Split", ["x", "s"], ["y", "z"], axis=1), target)
    yield ill_typed_case("gather-beyond", helper.make_node("Gather", ["x", "s"], ["y"]), target)
    yield ill_typed_case("no-inputs", helper.make_node("Add", [], ["y"]))
    yield ill_typed_case("too-many-inputs", helper.make_node("Relu", ["x"] * 1000, ["y"]))
    yield ill_typed_case("no-operator", helper.make_node("", ["x"], ["y"]))
    yield ill_typed_case("matmul-of-strangers", helper.make_node("MatMul", ["x", "w"], ["y"]), weight)


def ill_typed_case(name, node, *initializers):
    return Case(name, SURVIVE, serialized(model_of(graph_of([node], initializers))))


def odd_inputs():
    """Inputs of impossible size. Reading such a model is no crime; allocating for it is."""
    relu = [helper.make_node("Relu", ["x"], ["y"])]
    shapes = {
        "input-overflows": (1 << 32, 1 << 32, 1 << 32),
        "input-negative": (-1, 4),
        "input-huge": (1 << 62,),
        "input-of-rank-1000": (1,) * 1000,
        "input-empty": (0, 4),
    }
    for name, shape in shapes.items():
        yield Case(name, SURVIVE, serialized(model_of(graph_of(relu, shape=shape))))


def deep():
    """Ten thousand subgraphs in one another, and a type of as many sequences."""
    version, opset = integer(1, 7), data(8, data(1, b"") + integer(2, 13))
    # a level: graph.node (1) { op_type (4) "If", attribute (5) { name (1), type (20) GRAPH, g (6) { ... } } }
    node = data(4, b"If")
    attribute = data(1, b"then_branch") + integer(20, 5)
    graphs = nested([[(7, version + opset)], *[[(1, b""), (5, node), (6, attribute)]] * DEEP], b"")
    yield Case(f"subgraphs-{DEEP}-deep", REJECT, graphs)
    # graph.input (11) { name (1), type (2) { sequence_type (4) { elem_type (1) { ... } } } }
    types = nested([[(7, version + opset), (11, b""), (2, data(1, b"x"))], *[[(4, b""), (1, b"")]] * DEEP], b"")
    yield Case(f"types-{DEEP}-deep", REJECT, types)


def cases():
    yield from inconsistent()
    yield from long_cycle()
    yield from wide()
    yield from ill_typed()
    yield from odd_inputs()
    yield from deep()
