#!/usr/bin/env python3
"""`taso-verify model` as a user runs it: `check_model.py TASO-VERIFY TASO-OPT [--few]`.

Models that are equal by structure, by rules, over the prime field, in numbers alone; and models that are not. With --few,
four large models instead of ten.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import near_misses
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit(77)

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def constant(name, *shape, seed=0, scale=0.25):
    values = numpy.random.default_rng(seed).standard_normal(shape) * scale
    return numpy_helper.from_array(values.astype(numpy.float32), name)


def model(nodes, weights, inputs=None, outputs=None, opset=17):
    inputs = inputs or [("x", FLOAT, [4, 8])]
    outputs = outputs or [("y", FLOAT, None)]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs],
        weights,
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), output.split(), **attributes)


def two_heads(perturbed=None, names=("x", "y", "z"), is_reordered=False, place=(3, 5)):
    """Two matrix products that share x, which rules join."""
    x, y, z = names
    weights = [constant("w1", 8, 8, seed=1), constant("w2", 8, 8, seed=2)]
    if perturbed is not None:
        values = numpy_helper.to_array(weights[1]).copy()
        values[place] += perturbed
        weights[1] = numpy_helper.from_array(values, "w2")
    left = [node("MatMul", f"{x} w1", "a"), node("Relu", "a", y)]
    right = [node("MatMul", f"{x} w2", "b"), node("Tanh", "b", z)]
    nodes = right + left if is_reordered else left + right
    if is_reordered:
        weights.reverse()
    return model(nodes, weights, [(x, FLOAT, [4, 8])], [(y, FLOAT, [4, 8]), (z, FLOAT, [4, 8])])


def summed_products():
    weights = [constant(f"w{i}", 8, 8, seed=i) for i in (1, 2, 3)]
    nodes = [node("MatMul", f"x w{i}", f"p{i}") for i in (1, 2, 3)]
    nodes += [node("Add", "p1 p2", "s"), node("Add", "s p3", "t"), node("Relu", "t", "y")]
    return model(nodes, weights)


def joined_heads():
    w1, w2 = (numpy_helper.to_array(constant("", 8, 8, seed=s)) for s in (1, 2))
    weight = numpy_helper.from_array(numpy.concatenate([w1, w2], axis=1), "w")
    nodes = [
        node("MatMul", "x w", "both"),
        node("Split", "both sizes", "a b", axis=1),
        node("Relu", "a", "y"),
        node("Tanh", "b", "z"),
    ]
    sizes = numpy_helper.from_array(numpy.array([8, 8], numpy.int64), "sizes")
    return model(nodes, [weight, sizes], None, [("y", FLOAT, [4, 8]), ("z", FLOAT, [4, 8])])


def four_branches(is_merged, wrong=0.0, is_split_again=False):
    """Four branches, concatenated in pairs, that four convolutions read; or (merged) one convolution of each branch with
    its part of all weights, summed and split, maybe in two steps: weights are merged along one axis, and cut along the
    other."""
    weights = [numpy_helper.to_array(constant("", f, 24, 1, 1, seed=20 + f)) for f in (6, 3, 7, 5)]
    branches, curves, heads = "abcd", ("Relu", "Tanh", "Sigmoid", "Softplus"), ("Relu", "Tanh", "Sigmoid", "Softsign")
    initializers = [constant(f"w_{b}", 6, 4, 3, 3, seed=i + 30) for i, b in enumerate(branches)]
    nodes = [node("Conv", f"x w_{b}", f"c_{b}") for b in branches]
    nodes += [node(curve, f"c_{b}", b) for curve, b in zip(curves, branches)]
    if is_merged:
        merged = numpy.concatenate([weights[i] for i in (2, 0, 3, 1)])
        merged[8, 9] += wrong
        initializers += [numpy_helper.from_array(part.copy(), f"m_{b}")
                         for part, b in zip(numpy.split(merged, 4, axis=1), branches)]
        for name, sizes in ("sizes", [7, 6, 5, 3]), ("halves", [13, 8]), ("left", [7, 6]), ("right", [5, 3]):
            initializers.append(numpy_helper.from_array(numpy.array(sizes, numpy.int64), name))
        nodes += [node("Conv", f"{b} m_{b}", f"p_{b}") for b in branches]
        nodes += [node("Add", "p_d p_c", "s"), node("Add", "p_b p_a", "t"), node("Add", "s t", "sum")]
        splits = {"sum halves": "l r", "l left": "q_2 q_0", "r right": "q_3 q_1"}
        nodes += [node("Split", whole, parts, axis=1)
                  for whole, parts in (splits if is_split_again else {"sum sizes": "q_2 q_0 q_3 q_1"}).items()]
    else:
        initializers += [numpy_helper.from_array(weight, f"w_{i}") for i, weight in enumerate(weights)]
        nodes += [node("Concat", "a b", "ab", axis=1), node("Concat", "c d", "cd", axis=1)]
        nodes.append(node("Concat", "ab cd", "abcd", axis=1))
        nodes += [node("Conv", f"abcd w_{i}", f"q_{i}") for i in range(4)]
    nodes += [node(head, f"q_{i}", f"y_{i}") for i, head in enumerate(heads)]
    return model(nodes, initializers, [("x", FLOAT, [1, 4, 6, 6])],
                 [(f"y_{i}", FLOAT, [1, weight.shape[0], 4, 4]) for i, weight in enumerate(weights)])


def convolved_rows(is_by_winograd, wrong=0.0):
    """A convolution, its bias and ReLU; or (by Winograd) even and odd rows of the result from sums of rows of the image,
    side by side, with the bias added last and ReLU where both stand together."""
    kernel, bias = constant("k", 8, 8, 3, 3, seed=50), constant("bias", 8, seed=51)
    if not is_by_winograd:
        nodes = [node("Conv", "x k bias", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "y")]
        return model(nodes, [kernel, bias], [("x", FLOAT, [1, 8, 8, 8])], [("y", FLOAT, [1, 8, 8, 8])])
    k0, k1, k2 = (numpy_helper.to_array(kernel)[:, :, [i]] for i in range(3))
    rows = [[1, 0, -1, 0], [0, .5, .5, 0], [0, -.5, .5, 0], [0, -1, 0, 1]]
    weights = {"k0": k0, "k1": k0 + k2 + k1, "k2": k0 + k2 - k1, "k3": k2 + numpy.float32(wrong),
               "minus": -numpy.ones((8, 1, 1, 1)), "b": numpy_helper.to_array(bias).reshape(8, 1, 1)}
    weights |= {f"r{i}": numpy.tile(numpy.reshape(row, (1, 1, 4, 1)), (8, 1, 1, 1)) for i, row in enumerate(rows)}
    initializers = [numpy_helper.from_array(weight.astype(numpy.float32), name) for name, weight in weights.items()]
    initializers.append(numpy_helper.from_array(numpy.array([1, 8, 8, 8], numpy.int64), "shape"))
    nodes = [node("Conv", f"x r{i}", f"x{i}", strides=[2, 1], pads=[1, 0, 1, 0], group=8) for i in range(4)]
    nodes += [node("Conv", f"x{i} k{i}", f"p{i}", pads=[0, 1, 0, 1]) for i in range(4)]
    nodes += [node("Conv", "p2 minus", "n2", group=8), node("Add", "p2 p0", "s"), node("Add", "s p1", "t"),
              node("Add", "t b", "even"), node("Add", "n2 p3", "u"), node("Add", "u p1", "v"), node("Add", "v b", "odd"),
              node("Concat", "even odd", "both", axis=3), node("Relu", "both", "r"), node("Reshape", "r shape", "y")]
    return model(nodes, initializers, [("x", FLOAT, [1, 8, 8, 8])], [("y", FLOAT, [1, 8, 8, 8])])


def chain(changed=None, axis=-1, is_swapped=False):
    """Four layers of products; `changed`: one of which has another weight; another axis, or inputs, of what follows."""
    weights = [constant(f"w{i}", 8, 8, seed=i + (100 if i == changed else 0)) for i in range(4)]
    nodes, last = [], "x"
    for i in range(4):
        nodes += [node("MatMul", f"{last} w{i}", f"p{i}"), node("Relu", f"p{i}", f"r{i}")]
        last = f"r{i}"
    nodes += [node("Softmax", "r3", "s", axis=axis), node("Sub", "r0 s" if is_swapped else "s r0", "y")]
    return model(nodes, weights)


def folded(factor=None):
    """Two biases, or (with a factor) their sum, rounded in another way."""
    one, two = (numpy_helper.to_array(constant("", 8, seed=s)) for s in (5, 6))
    total = ((one.astype(numpy.float64) + two) * (factor or 1)).astype(numpy.float32)
    weights = [constant("w", 8, 8, seed=7)] + [numpy_helper.from_array(v, n) for n, v in (("one", one), ("two", two))]
    if factor:
        return model([node("MatMul", "x w", "p"), node("Add", "p total", "y")],
                     [weights[0], numpy_helper.from_array(total, "total")])
    return model([node("MatMul", "x w", "p"), node("Add", "p one", "q"), node("Add", "q two", "y")], weights)


def cubes(is_factored, extra=0.0):
    """x^3 + 3 x^2 + 3 x + 1 and (x + 1)^3: equal as polynomials, by none of the rules."""
    one, three = (numpy_helper.from_array(numpy.float32(v + extra), n) for v, n in ((1, "one"), (3, "three")))
    nodes = [node("Add", "x one", "s"), node("Mul", "s s", "s2"), node("Mul", "s2 s", "y")]
    if not is_factored:
        nodes = [
            node("Mul", "x x", "x2"),
            node("Mul", "x2 x", "x3"),
            node("Mul", "x2 three", "t2"),
            node("Mul", "x three", "t1"),
            node("Add", "x3 t2", "u"),
            node("Add", "u t1", "v"),
            node("Add", "v one", "y"),
        ]
    return model(nodes, [one, three])


def rounded(is_folded):
    """x / 3 and x times the float nearest to 1/3."""
    value = numpy.float32(1) / numpy.float32(3) if is_folded else numpy.float32(3)
    return model([node("Mul" if is_folded else "Div", "x c", "y")], [numpy_helper.from_array(value, "c")])


def own_operator(after, extra=0.0, strength=1.0):
    """An operator that nobody knows, around which the models are compared."""
    weights = [constant("w", 8, 8, seed=3), numpy_helper.from_array(numpy.float32(1 + extra), "c")]
    nodes = [
        node("MatMul", "x w", "a"),
        helper.make_node("Strange", ["a"], ["b"], domain="own", strength=strength),
        node(after, "b", "r"),
        node("Mul", "r c", "y"),
    ]
    made = model(nodes, weights)
    made.graph.value_info.append(helper.make_tensor_value_info("b", FLOAT, [4, 8]))
    return made


def recurrent(start=None):
    """An LSTM of two steps, which begins at a constant, or at nothing."""
    weights = [constant("w", 1, 32, 8, seed=5), constant("r", 1, 32, 8, seed=6)]
    state = [] if start is None else [numpy_helper.from_array(numpy.full((1, 4, 8), start, numpy.float32), "s")]
    read = ["x", "w", "r", "", "", *(["s", "s"] if state else ["", ""])]
    nodes = [helper.make_node("LSTM", read, ["h"], hidden_size=8), node("Relu", "h", "y")]
    return model(nodes, weights + state, [("x", FLOAT, [2, 4, 8])], [("y", FLOAT, [2, 1, 4, 8])])


def gathered(perturbed=False):
    table = numpy_helper.to_array(constant("t", 6, 8, seed=4)).copy()
    table[5, 7] += 0.5 * perturbed
    nodes = [node("Gather", "t i", "a"), node("Add", "a a", "y")]
    return model(nodes, [numpy_helper.from_array(table, "t")], [("i", INT64, [64])], [("y", FLOAT, [64, 8])])


def symbolic(op="Relu", size="n"):
    return model([node(op, "x", "y")], [], [("x", FLOAT, [size, 8])])


def constant_output():
    zero = numpy_helper.from_array(numpy.float32(0), "zero")
    return model([node("Mul", "x zero", "a"), node("Add", "a a", "y")], [zero])


def biased(is_folded, spread=1.0, scale=1.0, dtype=numpy.float32):
    """Two biases or their sum, one entry of which is small beside the largest one, and then another number."""
    one, two = (numpy_helper.to_array(constant("", 8, seed=s)) for s in (5, 6))
    total = one.astype(numpy.float64) + two
    weights = {"w": numpy_helper.to_array(constant("", 8, 8, seed=7)), "one": one, "two": two, "total": total * scale}
    for name in ("one", "total"):
        weights[name] = weights[name] + numpy.array([spread - 1] + [0] * 7)
    weights["total"][1] += spread * 2e-7
    initializers = [numpy_helper.from_array(v.astype(dtype), n) for n, v in weights.items()]
    nodes = [node("Add", "p total", "y")] if is_folded else [node("Add", "p one", "q"), node("Add", "q two", "y")]
    kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    return model([node("MatMul", "x w", "p"), *nodes], initializers, [("x", kind, [4, 8])], [("y", kind, None)])


def two_biases(is_folded, scale=1.0):
    """One bias of two operands, or twice the bias of their sum."""
    bias = numpy_helper.to_array(constant("", 8, seed=8))
    apart = [node("Relu", "x", "p"), node("Tanh", "x", "q"), node("Add", "p bias", "s"), node("Add", "q bias", "t"),
             node("Add", "s t", "y")]
    folded_ones = [*apart[:2], node("Add", "p bias", "s"), node("Add", "s q", "y")]
    weight = numpy_helper.from_array((2 * scale if is_folded else 1) * bias, "bias")
    return model(folded_ones if is_folded else apart, [weight])


IMAGE = [("x", FLOAT, [1, 4, 7, 7])]


def image_of(kinds, weights):
    return model([node(op, f"x {read}".strip(), "y", **attributes) for op, read, attributes in kinds], weights, IMAGE)


def zero_bias(is_left_out, scale=0.0):
    weights = [constant("w", 8, 4, 3, 3, seed=9), constant("b", 8, seed=10, scale=scale)]
    return image_of([("Conv", "w" if is_left_out else "w b", {"kernel_shape": [3, 3]})], weights)


def windows(op, pads):
    """Every second row and column of seven begins a window of three: the last one ends where the image does."""
    weights = [constant("w", 4, 4, 3, 3, seed=11)]
    return image_of([(op, "w" if op == "Conv" else "", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": pads})], weights)


def large_product(is_divided, wrong=0.0):
    """A large matrix, or the seven products of Strassen, for which what a rule makes of it must be computed."""
    weight = numpy_helper.to_array(constant("", 2048, 8192, seed=12))
    y = [[weight[i : i + 1024, j : j + 4096] for j in (0, 4096)] for i in (0, 1024)]
    u1 = y[0][1] - y[0][0]
    u2 = y[1][1] - u1
    factors = [y[0][0], y[1][0], y[1][1], y[1][0] - u2, u1, u2, y[1][1] - y[0][1]]
    factors[5] = factors[5] + numpy.float32(wrong) * numpy.eye(1024, 4096, dtype=numpy.float32)
    weights = [numpy_helper.from_array(weight, "w")]
    if not is_divided:
        return model([node("MatMul", "x w", "y")], weights, [("x", FLOAT, [2, 2048])])
    weights = [numpy_helper.from_array(f, f"f{i}") for i, f in enumerate(factors)]
    nodes = [node("Split", "x", "top bottom", axis=0), node("Split", "top", "a b", axis=1),
             node("Split", "bottom", "c d", axis=1), node("Add", "c d", "s1"), node("Sub", "s1 a", "s2"),
             node("Sub", "a c", "s3"), node("Sub", "b s2", "s4"), node("MatMul", "a f0", "p1"),
             node("MatMul", "b f1", "p2"), node("MatMul", "s4 f2", "p3"), node("MatMul", "d f3", "p4"),
             node("MatMul", "s1 f4", "p5"), node("MatMul", "s2 f5", "p6"), node("MatMul", "s3 f6", "p7"),
             node("Add", "p1 p2", "z1"), node("Add", "p1 p6", "t2"), node("Add", "t2 p5", "t4"),
             node("Add", "t4 p3", "z2"), node("Add", "t2 p7", "t3"), node("Add", "t3 p4", "z3"),
             node("Add", "t3 p5", "z4"), node("Concat", "z1 z2", "above", axis=1),
             node("Concat", "z3 z4", "below", axis=1), node("Concat", "above below", "y", axis=0)]
    return model(nodes, weights, [("x", FLOAT, [2, 2048])], opset=13)


def activated(is_reshaped, curve="Tanh"):
    """A layer on a matrix, and its activation between a reshape and one that undoes it; or without these."""
    weights = [constant("w", 8, 8, seed=60), numpy_helper.from_array(numpy.float32(0.5), "half")]
    weights += [numpy_helper.from_array(numpy.array(shape, numpy.int64), name)
                for name, shape in (("sequence", [2, 2, 8]), ("matrix", [4, 8]))]
    x, y = ("s", "r") if is_reshaped else ("a", "y")
    nodes = [node("MatMul", "x w", "a"), node("Mul", f"{x} half", "h"), node(curve, "h", "t"), node("Mul", f"{x} t", y)]
    if is_reshaped:
        nodes = [nodes[0], node("Reshape", "a sequence", "s"), *nodes[1:], node("Reshape", "r matrix", "y")]
    return model(nodes, weights if is_reshaped else weights[:2])


def bounded(is_bounded):
    """Random numbers are below 1000, but not all are."""
    return model([node("Min" if is_bounded else "Identity", "x most" if is_bounded else "x", "y")],
                 [numpy_helper.from_array(numpy.float32(1000), "most")] * is_bounded)


def largest_place(is_last):
    """Where several entries are the largest, the first or the last of them: no two random numbers are equal."""
    return model([node("ArgMax", "x", "y", axis=1, select_last_index=is_last)], [], None, [("y", INT64, None)])


def chosen(is_always):
    """Of two tensors where a test says so, or always the first; the test is an output of both models."""
    nodes = [node("Less", "x z", "c"), node("Identity", "x", "y") if is_always else node("Where", "c x z", "y")]
    inputs = [(name, FLOAT, [4, 8]) for name in "xz"]
    return model(nodes, [], inputs, [("c", TensorProto.BOOL, [4, 8]), ("y", FLOAT, [4, 8])])


def one_row(perturbed=False):
    """One row of eight: the last one may be another without a random index that meets it."""
    table = numpy_helper.to_array(constant("t", 8, 8, seed=4)) + numpy.array([[0]] * 7 + [[perturbed]])
    return model([node("Gather", "t i", "a"), node("Add", "a a", "y")],
                 [numpy_helper.from_array(table.astype(numpy.float32), "t")], [("i", INT64, [1])],
                 [("y", FLOAT, [1, 8])])


def halved(is_halved):
    """x / 2 * 2, of integers."""
    two = numpy_helper.from_array(numpy.int64(2), "two")
    nodes = [node("Div", "x two", "a"), node("Mul", "a two", "y")] if is_halved else [node("Identity", "x", "y")]
    return model(nodes, [two] * is_halved, [("x", INT64, [4, 8])], [("y", INT64, None)])


def random_in_branch(name):
    body = helper.make_graph([helper.make_node("RandomNormal", [], [name], shape=[4, 8])], name, [],
                             [helper.make_tensor_value_info(name, FLOAT, [4, 8])])
    return {"then_branch": body, "else_branch": body}


def noisy(is_noisy, calls_function):
    """x and the difference of two draws, inside of branches or functions."""
    kinds = {"domain": "own"} if calls_function else random_in_branch("r")
    op, read = ("Draw", "x") if calls_function else ("If", "c")
    nodes = [node(op, read, "a", **kinds), node(op, read, "b", **kinds), node("Sub", "a b", "d"), node("Add", "x d", "y")]
    made = model(nodes if is_noisy else [node("Identity", "x", "y")], [],
                 [("x", FLOAT, [4, 8]), ("c", TensorProto.BOOL, [])], [("y", FLOAT, [4, 8])])
    made.graph.value_info.extend(helper.make_tensor_value_info(n, FLOAT, [4, 8]) for n in "ab")
    made.functions.append(helper.make_function("own", "Draw", ["x"], ["y"], [node("RandomNormalLike", "x", "y")],
                                               [helper.make_opsetid("", 17)]))
    return made


CASES = [
    # name, first model, second model, arguments, exit code, what must be said
    ("itself", two_heads(), two_heads(), [], 0, ["2 of 2 outputs equal by structure", "the models are equal"]),
    ("another order", two_heads(), two_heads(is_reordered=True), [], 0, ["2 of 2 outputs equal by structure"]),
    ("other names", two_heads(), two_heads(names=("in", "p", "q")), [], 0, ["paired by position", "2 of 2 outputs"]),
    ("joined products", two_heads(), joined_heads(), [], 0, ["equal by structure and rules", "nothing is left"]),
    ("merged and cut", four_branches(False), four_branches(True), ["--no-field"], 0, ["4 of 4 outputs equal by structure and rules"]),
    ("merged and cut wrongly", four_branches(False), four_branches(True, 1e-3), ["--no-field"], 1,
     ["0 of 4 outputs equal by structure", "the models differ"]),
    ("merged and cut, split again", four_branches(False), four_branches(True, is_split_again=True), ["--no-field"], 0,
     ["4 of 4 outputs equal by structure and rules"]),
    ("by Winograd", convolved_rows(False), convolved_rows(True), ["--no-field"], 0,
     ["the models are equal: by structure and rules\n"]),
    ("by Winograd, wrongly", convolved_rows(False), convolved_rows(True, 1e-3), ["--no-field"], 1,
     ["0 of 1 output equal by structure", "the models differ"]),
    ("without rules", two_heads(), joined_heads(), ["--no-rewrite"], 0, ["field:   2 of 2", "over the prime field"]),
    ("the wrong half", joined_heads(), two_heads(0.5), [], 1, ["output z: unknown", "tanh", "4 of 32 entries do not agree, first at [0,5]"]),
    ("one weight, exactly", cubes(True), cubes(False, 0.5), [], 1, ["field:   0 of 1", "differs in 32 of 32 entries"]),
    ("no rounds", two_heads(), joined_heads(), ["--rounds", "0"], 0, ["the budget of nodes or rounds was spent"]),
    ("one weight", two_heads(), two_heads(0.5), [], 1, ["1 of 2 outputs equal by", "the models differ"]),
    ("one weight, where", two_heads(), two_heads(0.5, place=(0, 7)), [], 1, ["first at [0,7]", "only in"]),
    ("a cube", cubes(True), cubes(False), ["--no-rewrite"], 0, ["field:   1 of 1 other output", "equal in all 32 entries"]),
    ("too costly", cubes(True), cubes(False), ["--no-rewrite", "--operations", "3"], 0, ["needs more than", "in numbers alone"]),
    ("rounding", rounded(True), rounded(False), [], 0, ["field:   0 of 1", "in numbers alone"]),
    ("rounding, strictly", rounded(True), rounded(False), ["--tolerance", "0"], 1, ["the models differ"]),
    ("no numbers", rounded(True), rounded(False), ["--no-numbers"], 1, ["not found to be equal"]),
    ("own operator", own_operator("Relu"), own_operator("Relu"), [], 0, ["equal by structure", "numbers: 2 of 2"]),
    ("behind it", own_operator("Relu"), own_operator("Abs"), [], 1, ["numbers: 1 of 2", "the models differ"]),
    ("its attribute", own_operator("Relu"), own_operator("Relu", strength=2.0), [], 1, ["not found to be equal"]),
    ("around it", own_operator("Relu"), own_operator("Relu", extra=0.5), [], 1, ["the models differ"]),
    ("begun at zero", recurrent(0), recurrent(), ["--no-field", "--no-numbers"], 0, ["1 of 1 output equal by structure"]),
    ("begun elsewhere", recurrent(0.5), recurrent(), ["--no-field", "--no-numbers"], 1, ["not found to be equal"]),
    ("indices", gathered(), gathered(), [], 0, ["equal by structure"]),
    ("a table", gathered(), gathered(True), [], 1, ["the models differ"]),
    ("a layer", chain(), chain(changed=2), [], 1, ["a.onnx: p2, made by matmul", "b.onnx: p2,", "the models differ"]),
    ("another axis", chain(), chain(axis=0), [], 1, ["a.onnx: s, made by softmax", "the models differ"]),
    ("swapped inputs", chain(), chain(is_swapped=True), [], 1, ["a.onnx: y, made by sub", "the models differ"]),
    ("folded", folded(), folded(1 + 2e-7), [], 0, ["equal by structure and rules", "equal but for rounding"]),
    ("folded wrongly", folded(), folded(1.0001), [], 1, ["0 of 1 output", "the models differ"]),
    ("folded, in one line", biased(False), biased(True), ["-q", "--no-numbers"], 0, ["rules, but for rounding of constants"]),
    ("folded, unevenly", biased(False, 1e6), biased(True, 1e6), [], 0, ["models are equal: by structure and rules, but for"]),
    ("folded half", biased(False, dtype=numpy.float16), biased(True, scale=1.006, dtype=numpy.float16), ["--no-numbers"], 1, ["0 of 1 output"]),
    ("a bias twice", two_biases(False), two_biases(True), ["--no-field"], 0, ["1 of 1 output equal by structure and rules"]),
    ("a bias twice, wrongly", two_biases(False), two_biases(True, 1.001), ["--no-field"], 1, ["0 of 1 output equal"]),
    ("a bias of zeros", zero_bias(False), zero_bias(True), ["--no-field"], 0, ["1 of 1 output equal by structure"]),
    ("a small bias", zero_bias(False, 1e-3), zero_bias(True), ["--no-field"], 1, ["0 of 1 output equal", "the models differ"]),
    *((f"pads that {op} does not read", windows(op, [0, 0, 0, 0]), windows(op, [0, 0, 1, 1]), ["--no-field"], 0,
       ["1 of 1 output equal by structure\n"]) for op in ("MaxPool", "Conv")),
    ("pads that it reads", windows("Conv", [1, 1, 0, 0]), windows("Conv", [0, 0, 1, 1]), ["--no-field"], 1, ["0 of 1 output equal"]),
    ("large, divided", large_product(False), large_product(True), ["--no-field", "--no-numbers"], 0,
     ["1 of 1 output equal by structure and rules"]),
    ("large, divided wrongly", large_product(False), large_product(True, 1e-2), ["--no-field", "--no-numbers"], 1,
     ["0 of 1 output equal"]),
    ("reshapes undone", activated(True), activated(False), ["--no-field", "--no-numbers"], 0,
     ["1 of 1 output equal by structure"]),
    ("reshapes undone, wrongly", activated(True), activated(False, "Sin"), ["--no-field"], 1, ["the models differ"]),
    ("a large bound", bounded(False), bounded(True), ["--no-numbers"], 1, ["agrees in all 32 entries", "(min)"]),
    ("ties", largest_place(0), largest_place(1), ["--no-numbers"], 1, ["agrees in all 4 entries", "(argmax)"]),
    ("a test of both", chosen(True), chosen(False), ["--no-numbers"], 1, ["1 of 2 outputs", "(less)"]),
    ("a row", one_row(), one_row(True), ["--no-numbers"], 1, ["agrees in all 8 entries", "(input)"]),
    ("halves", halved(False), halved(True), ["--no-numbers"], 1, ["agrees in all 32 entries"]),
    ("noise in branches", noisy(True, False), noisy(False, False), ["--no-numbers"], 1, ["not found to be equal"]),
    ("noise in functions", noisy(True, True), noisy(False, True), ["--no-numbers"], 1, ["not found to be equal"]),
    ("symbols", symbolic(), symbolic(), [], 0, ["at n=", "numbers: 1 of 1"]),
    ("symbols, not equal", symbolic(), symbolic("Abs"), [], 1, ["at n=", "the models differ"]),
    ("no shape", symbolic(size=None), symbolic(size=None), [], 0, ["not run: the type of an input is not known"]),
    ("no sizes", symbolic(size=None), symbolic("Abs", None), [], 1,
     ["dimensions of inputs have no size", "not found to be equal"]),
    ("a shape", symbolic(), symbolic(), ["--shape", "n=3"], 0, ["numbers: 1 of 1"]),
    ("two sizes of a symbol", symbolic(), symbolic(), ["--shape", "n=3,4"], 2, ["--shape n=3,4: a symbolic dimension has one size"]),
    ("a shape of neither", symbolic(), symbolic(), ["--shape", "m=3"], 2, ["names no input and no symbolic dimension"]),
    ("constant", constant_output(), constant_output(), [], 0, ["says nothing"]),
    ("other inputs", two_heads(), gathered(), [], 4, ["cannot be compared: 2 outputs and 1"]),
    ("other types", gathered(), cubes(True), [], 4, ["cannot be compared: input i has the types"]),
]


def run(program, first, second, *arguments):
    command = [program, "model", str(first), str(second), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def complaint(ran, code, expected):
    if ran.returncode != code:
        return f"exit code {ran.returncode}, not {code}"
    missing = [text for text in expected if text not in ran.stdout + ran.stderr]
    if missing:
        return f"does not say {missing}"
    return "more than one line of error" if code > 1 and len(ran.stderr.strip().splitlines()) != 1 else None


def check_cases(program, folder):
    failures = 0
    for name, a, b, arguments, code, expected in CASES:
        onnx.save(a, folder / "a.onnx")
        onnx.save(b, folder / "b.onnx")
        ran = run(program, folder / "a.onnx", folder / "b.onnx", *arguments)
        reason = complaint(ran, code, expected)
        failures += reason is not None
        print(f"{name}: {reason or 'ok'}{chr(10) + ran.stdout + ran.stderr if reason else ''}")
    return failures


def check_files(program, folder):
    """What cannot be read ends with exit code 3, and a wrong command line with 2."""
    onnx.save(two_heads(), folder / "a.onnx")
    (folder / "broken.onnx").write_bytes((folder / "a.onnx").read_bytes()[:200])
    (folder / "text.onnx").write_text("no model at all\n")
    failures = 0
    for name, arguments, code, expected in (
        ("a file that ends early", [folder / "a.onnx", folder / "broken.onnx"], 3, "broken.onnx"),
        ("text", [folder / "text.onnx", folder / "a.onnx"], 3, "text.onnx"),
        ("no such file", [folder / "a.onnx", folder / "none.onnx"], 3, "none.onnx"),
        ("no such rules", [folder / "a.onnx", folder / "a.onnx", "--rules", folder / "none.rules"], 3, "none.rules"),
        ("one model", [folder / "a.onnx"], 2, "expected two models"),
        ("an unknown option", [folder / "a.onnx", folder / "a.onnx", "--frobnicate"], 2, "frobnicate"),
    ):
        command = [program, "model", *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        reason = complaint(ran, code, [expected])
        failures += reason is not None
        print(f"{name}: {reason or 'ok'} {ran.stderr if reason else ''}")
    return failures


def check_only_proved(program, folder):
    """--only-proved takes the rules that ship as proved, in whatever file, and believes no certificate."""
    shipped = (pathlib.Path(__file__).resolve().parents[2] / "substitutions/taso.rules").read_text()
    certificate = re.search(r"\(rule relu-matmul-e00efd405cd4\n.*\n.*\n  (\(proof .*\))\)\n", shipped)[1]
    forged = f"(rule sums-commute (source (ewadd ?x ?y)) (target (ewadd ?y ?x)) {certificate})\n"
    uncertified = re.sub(r"\n  \(proof .*\)\)$", ")", shipped, flags=re.MULTILINE)
    assert uncertified != shipped and "(proof" not in uncertified
    onnx.save(two_heads(), folder / "a.onnx")
    onnx.save(joined_heads(), folder / "b.onnx")
    rules, failures = folder / "some.rules", 0
    for name, text, code, expected in (
        ("forged", forged, 2, "of 1 rule this build knows none as proved (claimed: 1;"),
        ("nothing is claimed", forged.replace(certificate, ""), 2, "(claimed: 0;"),
        ("shipped", shipped, 0, "equal by structure and rules"),
        ("shipped, without certificates", uncertified, 0, "equal by structure and rules"),
        ("shipped, and a forged one", uncertified + forged, 0, "though they claim to be proved: 1 of "),
    ):
        rules.write_text(text)
        ran = run(program, folder / "a.onnx", folder / "b.onnx", "--rules", str(rules), "--only-proved")
        reason = complaint(ran, code, [expected, *["rules:   "] * (code == 0)])
        failures += reason is not None
        print(f"only proved, {name}: {reason or 'ok'} {ran.stdout + ran.stderr if reason else ''}")
    return failures


def check_optimized(program, taso_opt, folder):
    """What taso-opt makes is equal to what it was given, by rules; the same models give the same text."""
    onnx.save(summed_products(), folder / "a.onnx")
    command = [taso_opt, str(folder / "a.onnx"), "-o", str(folder / "b.onnx"), "--device", "fake", "--quiet"]
    subprocess.run(command, check=True)
    before, after = ([n.op_type for n in onnx.load(folder / name).graph.node] for name in ("a.onnx", "b.onnx"))
    if before == after:
        print("optimized: taso-opt changed nothing, so that this test says nothing")
        return 1
    ran = [run(program, folder / "a.onnx", folder / "b.onnx", "-j", threads) for threads in ("1", "2")]
    reason = complaint(ran[0], 0, ["1 of 1 output equal by structure and rules"])
    if ran[0].stdout.splitlines()[0] != ran[1].stdout.splitlines()[0]:
        reason = "depends on the number of threads"
    print(f"optimized: {reason or 'ok'} {ran[0].stdout + ran[0].stderr if reason else ''}")
    return reason is not None


def check_near_misses(program, first, second, folder):
    """None of them is equal by rules; in numbers the first one is told to be different."""
    failures = 0
    for way, wrong in near_misses.write_near_misses(second, folder):
        ran = run(program, first, wrong, "--no-field", "--no-numbers", "--rounds", "20", "--nodes", "1000")
        is_caught = ran.returncode != 0 and "models are equal" not in ran.stdout
        print(f"{first.stem}, {way}: {'ok' if is_caught else 'FOUND TO BE EQUAL ' + ran.stdout}")
        failures += not is_caught
    ran = run(program, first, folder / "change_one_number.onnx", "--no-field", "--no-rewrite")
    reason = complaint(ran, 1, ["the models differ"])
    print(f"{first.stem}, in numbers: {reason or 'ok'} {ran.stdout + ran.stderr if reason else ''}")
    return failures + (reason is not None)


def check_models(program, taso_opt, models, folder, has_few):
    """Whole models: what taso-opt makes of them is equal by rules, within a budget that takes a second; what is nearly
    that is not."""
    failures = 0
    few = [("squeezenet", "200"), ("bert-taso-corrected", "40"), ("nasrnn", "100"), ("llama", "100")]
    others = [("bert-taso", "40"), ("bert", "100"), ("resnet50", "100"), ("inception-v3", "200"), ("nasnet-a", "100"),
              ("vgg19", "100")]
    for name, rounds in few if has_few else few + others:
        build = [sys.executable, "-m", "models", name, "--small", "--out", str(folder)]
        subprocess.run(build, check=True, capture_output=True, cwd=models)
        first, second = folder / f"{name}-small.onnx", folder / "optimized.onnx"
        command = [taso_opt, str(first), "-o", str(second), "--device", "fake", "--quiet"]
        subprocess.run(command, check=True)
        ran = run(program, first, second, "--no-field", "--no-numbers", "--rounds", rounds)
        reason = complaint(ran, 0, ["the models are equal: by structure and rules"])
        print(f"{name}: {reason or 'ok'} {ran.stdout + ran.stderr if reason else ''}")
        failures += reason is not None
        failures += check_near_misses(program, first, second, folder)
    return failures


def main():
    program, taso_opt = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:3])
    models = pathlib.Path(__file__).resolve().parents[2] / "scripts"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        failures = check_cases(program, folder) + check_files(program, folder) + check_only_proved(program, folder)
        failures += check_optimized(program, taso_opt, folder)
        failures += check_models(program, taso_opt, models, folder, "--few" in sys.argv)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
