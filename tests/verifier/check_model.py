#!/usr/bin/env python3
"""`taso-verify model` as a user runs it: `check_model.py TASO-VERIFY TASO-OPT [--few | --fewest]`.

Models that are equal by structure, by rules, over the prime field, in numbers alone; and models that are not. With --few,
three large models instead of ten, no large weights, and what is not equal is looked for as long as in the near misses; with --fewest
one model, and each third case.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import parser

import near_misses

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from text_models import model_of  # noqa: E402


def random(*shape, seed=0, scale=0.25):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def model(nodes, inputs="float[4,8] x", outputs="float[] y", opset=17, **given):
    return model_of(f"({inputs}) => ({outputs}) {{ {nodes} }}", opset=opset, ir_version=9, **given)


def two_heads(perturbed=0, names=("x", "y", "z"), is_reordered=False, place=(3, 5)):
    """Two matrix products that share x, which rules join."""
    x, y, z = names
    weights = {"w1": random(8, 8, seed=1), "w2": random(8, 8, seed=2)}
    weights["w2"][place] += perturbed
    left, right = f"a = MatMul({x}, w1)  {y} = Relu(a)", f"b = MatMul({x}, w2)  {z} = Tanh(b)"
    return model(f"{right}  {left}" if is_reordered else f"{left}  {right}", f"float[4,8] {x}", f"float[4,8] {y}, float[4,8] {z}",
                 **dict(sorted(weights.items(), reverse=is_reordered)))


def summed_products():
    return model("p1 = MatMul(x, w1)  p2 = MatMul(x, w2)  p3 = MatMul(x, w3)  s = Add(p1, p2)  t = Add(s, p3)  y = Relu(t)",
                 **{f"w{i}": random(8, 8, seed=i) for i in (1, 2, 3)})


def joined_heads():
    return model("both = MatMul(x, w)  a, b = Split<axis = 1>(both, sizes)  y = Relu(a)  z = Tanh(b)", outputs="float[4,8] y, float[4,8] z",
                 w=np.concatenate([random(8, 8, seed=s) for s in (1, 2)], axis=1), sizes=np.array([8, 8]))


def four_branches(is_merged, wrong=0.0, is_split_again=False):
    """Four branches, concatenated in pairs, that four convolutions read; or (merged) one convolution of each branch with
    its part of all weights, summed and split, maybe in two steps: weights are merged along one axis, and cut along the
    other."""
    weights = [random(f, 24, 1, 1, seed=20 + f) for f in (6, 3, 7, 5)]
    branches, curves, heads = "abcd", ("Relu", "Tanh", "Sigmoid", "Softplus"), ("Relu", "Tanh", "Sigmoid", "Softsign")
    given = {f"w_{b}": random(6, 4, 3, 3, seed=i + 30) for i, b in enumerate(branches)}
    nodes = [f"c_{b} = Conv(x, w_{b})  {b} = {curve}(c_{b})" for b, curve in zip(branches, curves)]
    if is_merged:
        merged = np.concatenate([weights[i] for i in (2, 0, 3, 1)])
        merged[8, 9] += wrong
        given |= {f"m_{b}": part.copy() for part, b in zip(np.split(merged, 4, axis=1), branches)}
        given |= {"sizes": np.array([7, 6, 5, 3]), "halves": np.array([13, 8]), "left": np.array([7, 6]), "right": np.array([5, 3])}
        nodes += [f"p_{b} = Conv({b}, m_{b})" for b in branches]
        nodes += ["s = Add(p_d, p_c)  t = Add(p_b, p_a)  sum = Add(s, t)"]
        nodes += ["l, r = Split<axis = 1>(sum, halves)  q_2, q_0 = Split<axis = 1>(l, left)  q_3, q_1 = Split<axis = 1>(r, right)"
                  if is_split_again else "q_2, q_0, q_3, q_1 = Split<axis = 1>(sum, sizes)"]
    else:
        given |= {f"w_{i}": weight for i, weight in enumerate(weights)}
        nodes += ["ab = Concat<axis = 1>(a, b)  cd = Concat<axis = 1>(c, d)  abcd = Concat<axis = 1>(ab, cd)"]
        nodes += [f"q_{i} = Conv(abcd, w_{i})" for i in range(4)]
    nodes += [f"y_{i} = {head}(q_{i})" for i, head in enumerate(heads)]
    return model(" ".join(nodes), "float[1,4,6,6] x", ", ".join(f"float[1,{len(w)},4,4] y_{i}" for i, w in enumerate(weights)), **given)


def convolved_rows(is_by_winograd, wrong=0.0):
    """A convolution, its bias and ReLU; or (by Winograd) even and odd rows of the result from sums of rows of the image,
    side by side, with the bias added last."""
    kernel, bias, images = random(8, 8, 3, 3, seed=50), random(8, seed=51), ("float[1,8,8,8] x", "float[1,8,8,8] y")
    if not is_by_winograd:
        return model("c = Conv<pads = [1, 1, 1, 1]>(x, k, bias)  y = Relu(c)", *images, k=kernel, bias=bias)
    k0, k1, k2 = (kernel[:, :, [i]] for i in range(3))
    rows = np.float32([[1, 0, -1, 0], [0, .5, .5, 0], [0, -.5, .5, 0], [0, -1, 0, 1]])
    given = {f"r{i}": np.tile(row.reshape(1, 1, 4, 1), (8, 1, 1, 1)) for i, row in enumerate(rows)}
    nodes = [f"x{i} = Conv<strides = [2, 1], pads = [1, 0, 1, 0], group = 8>(x, r{i})" for i in range(4)]
    nodes += [f"p{i} = Conv<pads = [0, 1, 0, 1]>(x{i}, k{i})" for i in range(4)]
    return model(" ".join(nodes) + """
        n2 = Conv<group = 8>(p2, minus)  s = Add(p2, p0)  t = Add(s, p1)  even = Add(t, bias)
        u = Add(n2, p3)  v = Add(u, p1)  odd = Add(v, bias)
        a = Relu(even)  b = Relu(odd)  e = Reshape(a, row)  o = Reshape(b, row)
        both = Concat<axis = 3>(e, o)  y = Reshape(both, shape)""", *images,
        k0=k0, k1=k0 + k2 + k1, k2=k0 + k2 - k1, k3=k2 + np.float32(wrong), minus=-np.ones((8, 1, 1, 1), np.float32),
        bias=bias.reshape(8, 1, 1), row=np.array([1, 8, 4, 1, 8]), shape=np.array([1, 8, 8, 8]), **given)


def chain(changed=None, axis=-1, is_swapped=False):
    """Four layers of products; `changed`: one of which has another weight; another axis, or inputs, of what follows."""
    weights = {f"w{i}": random(8, 8, seed=i + (100 if i == changed else 0)) for i in range(4)}
    layers = " ".join(f"p{i} = MatMul({f'r{i - 1}' if i else 'x'}, w{i})  r{i} = Relu(p{i})" for i in range(4))
    return model(f"{layers}  s = Softmax<axis = {axis}>(r3)  y = Sub({'r0, s' if is_swapped else 's, r0'})", **weights)


def folded(factor=None):
    """Two biases, or (with a factor) their sum, rounded in another way."""
    w, one, two = random(8, 8, seed=7), random(8, seed=5), random(8, seed=6)
    if factor:
        total = ((one.astype(np.float64) + two) * factor).astype(np.float32)
        return model("p = MatMul(x, w)  y = Add(p, total)", w=w, total=total)
    return model("p = MatMul(x, w)  q = Add(p, one)  y = Add(q, two)", w=w, one=one, two=two)


def cubes(is_factored, extra=0.0):
    """x^3 + 3 x^2 + 3 x + 1 and (x + 1)^3: equal as polynomials, by none of the rules."""
    return model("s = Add(x, one)  s2 = Mul(s, s)  y = Mul(s2, s)" if is_factored else
                 """x2 = Mul(x, x)  x3 = Mul(x2, x)  t2 = Mul(x2, three)  t1 = Mul(x, three)
                    u = Add(x3, t2)  v = Add(u, t1)  y = Add(v, one)""", one=np.float32(1 + extra), three=np.float32(3 + extra))


def rounded(is_folded):
    """x / 3 and x times the float nearest to 1/3."""
    return model("y = Mul(x, c)", c=np.float32(1) / np.float32(3)) if is_folded else model("y = Div(x, c)", c=np.float32(3))


def add_function(made, text):
    made.functions.append(parser.parse_function(f'<domain: "own", opset_import: ["" : 17]> {text}'))
    return made


def own_operator(after, extra=0.0, strength=1.0):
    """An operator of a runtime's own, around which the models are compared."""
    return model(f"a = MatMul(x, w)  b = com.microsoft.QuickGelu<alpha = {strength}>(a)  r = {after}(b)  y = Mul(r, c)",
                 w=random(8, 8, seed=3), c=np.float32(1 + extra))


def unknown_operators(is_joined=False, after="Relu", factor=1.0, strength=1.0, wrong=0.0):
    """Two products of one input, or (joined) one of both weights, are read by operators of which nothing is known, not even
    the types that they make."""
    w1, w2 = random(8, 8, seed=1), random(8, 8, seed=2) + np.float32(wrong)
    given = {"w": np.concatenate([w1, w2], axis=1), "sizes": np.array([8, 8])} if is_joined else {"w1": w1, "w2": w2}
    products = "w_x = MatMul(x, w)  a, b = Split<axis = 1>(w_x, sizes)" if is_joined else "a = MatMul(x, w1)  b = MatMul(x, w2)"
    return model(f"""{products}  c = odd.Strange<strength = {strength}>(a, b)  d, e = odd.Other(b, , a)  f = Add(c, d)
        g = {after}(f)  y = Mul(g, k)  z = Mul(e, k)""", outputs="float[] y, float[] z", k=np.float32(factor), **given)


def recurrent(start=None):
    """An LSTM of two steps, which begins at a constant, or at nothing."""
    given = {"w": random(1, 32, 8, seed=5), "r": random(1, 32, 8, seed=6)}
    given |= {} if start is None else {"s": np.full((1, 4, 8), start, np.float32)}
    return model(f"h = LSTM<hidden_size = 8>(x, w, r, , {', s, s' if 's' in given else ', , , '})  y = Relu(h)", "float[2,4,8] x",
                 "float[2,1,4,8] y", **given)


def gathered(perturbed=False):
    table = random(6, 8, seed=4)
    table[5, 7] += 0.5 * perturbed
    return model("a = Gather(t, i)  y = Add(a, a)", "int64[64] i", "float[64,8] y", t=table)


def symbolic(op="Relu", size="n"):
    return model(f"y = {op}(x)", f"float[{size or '?'},8] x")


def constant_output():
    return model("a = Mul(x, zero)  y = Add(a, a)", zero=np.float32(0))


def biased(is_folded, spread=1.0, scale=1.0, dtype=np.float32):
    """Two biases or their sum, one entry of which is small beside the largest one, and then another number."""
    one, two = random(8, seed=5), random(8, seed=6)
    weights = {"w": random(8, 8, seed=7), "one": one, "two": two, "total": (one.astype(np.float64) + two) * scale}
    for name in ("one", "total"):
        weights[name] = weights[name] + np.array([spread - 1] + [0] * 7)
    weights["total"][1] += spread * 2e-7
    kind = "float" if dtype == np.float32 else "float16"
    return model(f"p = MatMul(x, w)  {'y = Add(p, total)' if is_folded else 'q = Add(p, one)  y = Add(q, two)'}",
                 f"{kind}[4,8] x", f"{kind}[] y", **{name: v.astype(dtype) for name, v in weights.items()})


def two_biases(is_folded, scale=1.0):
    """One bias of two operands, or twice the bias of their sum."""
    rest = "y = Add(s, q)" if is_folded else "t = Add(q, bias)  y = Add(s, t)"
    return model(f"p = Relu(x)  q = Tanh(x)  s = Add(p, bias)  {rest}", bias=(2 * scale if is_folded else 1) * random(8, seed=8))


IMAGE = "float[1,4,7,7] x"


def zero_bias(is_left_out, scale=0.0):
    return model(f"y = Conv<kernel_shape = [3, 3]>(x, {'w' if is_left_out else 'w, b'})", IMAGE, w=random(8, 4, 3, 3, seed=9),
                 b=random(8, seed=10, scale=scale))


def windows(op, pads):
    """Every second row and column of seven begins a window of three: the last one ends where the image does."""
    return model(f"y = {op}<kernel_shape = [3, 3], strides = [2, 2], pads = {pads}>({'x, w' if op == 'Conv' else 'x'})", IMAGE,
                 w=random(4, 4, 3, 3, seed=11))


def large_product(is_divided, wrong=0.0):
    """A large matrix, or the seven products of Strassen, for which what a rule makes of it must be computed."""
    weight = random(2048, 8192, seed=12)
    if not is_divided:
        return model("y = MatMul(x, w)", "float[2,2048] x", w=weight)
    y = [[weight[i : i + 1024, j : j + 4096] for j in (0, 4096)] for i in (0, 1024)]
    u1 = y[0][1] - y[0][0]
    u2 = y[1][1] - u1
    factors = [y[0][0], y[1][0], y[1][1], y[1][0] - u2, u1, u2, y[1][1] - y[0][1]]
    factors[5] = factors[5] + np.float32(wrong) * np.eye(1024, 4096, dtype=np.float32)
    return model("""
        top, bottom = Split<axis = 0>(x)  a, b = Split<axis = 1>(top)  c, d = Split<axis = 1>(bottom)
        s1 = Add(c, d)  s2 = Sub(s1, a)  s3 = Sub(a, c)  s4 = Sub(b, s2)
        p1 = MatMul(a, f0)  p2 = MatMul(b, f1)  p3 = MatMul(s4, f2)  p4 = MatMul(d, f3)
        p5 = MatMul(s1, f4)  p6 = MatMul(s2, f5)  p7 = MatMul(s3, f6)
        z1 = Add(p1, p2)  t2 = Add(p1, p6)  t4 = Add(t2, p5)  z2 = Add(t4, p3)  t3 = Add(t2, p7)  z3 = Add(t3, p4)  z4 = Add(t3, p5)
        above = Concat<axis = 1>(z1, z2)  below = Concat<axis = 1>(z3, z4)  y = Concat<axis = 0>(above, below)""",
        "float[2,2048] x", opset=13, **{f"f{i}": f for i, f in enumerate(factors)})


def activated(is_reshaped, curve="Tanh"):
    """A layer on a matrix, and its activation between a reshape and one that undoes it; or without these."""
    s, r, before, after = ("s", "r", "s = Reshape(a, sequence)", "y = Reshape(r, matrix)") if is_reshaped else ("a", "y", "", "")
    return model(f"a = MatMul(x, w)  {before}  h = Mul({s}, half)  t = {curve}(h)  {r} = Mul({s}, t)  {after}",
                 w=random(8, 8, seed=60), half=np.float32(0.5), sequence=np.array([2, 2, 8]), matrix=np.array([4, 8]))


def bounded(is_bounded):
    """Random numbers are below 1000, but not all are."""
    return model("y = Min(x, most)", most=np.float32(1000)) if is_bounded else model("y = Identity(x)")


def largest_place(is_last):
    """Where several entries are the largest, the first or the last of them: no two random numbers are equal."""
    return model(f"y = ArgMax<axis = 1, select_last_index = {is_last}>(x)", outputs="int64[] y")


def chosen(is_always):
    """Of two tensors where a test says so, or always the first; the test is an output of both models."""
    return model(f"c = Less(x, z)  y = {'Identity(x)' if is_always else 'Where(c, x, z)'}", "float[4,8] x, float[4,8] z",
                 "bool[4,8] c, float[4,8] y")


def one_row(perturbed=False):
    """One row of eight: the last one may be another without a random index that meets it."""
    table = random(8, 8, seed=4) + np.float32([[0]] * 7 + [[perturbed]])
    return model("a = Gather(t, i)  y = Add(a, a)", "int64[1] i", "float[1,8] y", t=table)


def halved(is_halved):
    """x / 2 * 2, of integers."""
    return model("a = Div(x, two)  y = Mul(a, two)" if is_halved else "y = Identity(x)", "int64[4,8] x", "int64[] y", two=np.int64(2))


def noisy(is_noisy, calls_function):
    """x and the difference of two draws, inside of branches or functions."""
    body = "b () => (float[4,8] r) { r = RandomNormal<shape = [4, 8]>() }"
    draw = "own.Draw(x)" if calls_function else f"If(c)<then_branch = {body}, else_branch = {body}>"
    nodes = f"a = {draw}  b = {draw}  d = Sub(a, b)  y = Add(x, d)" if is_noisy else "y = Identity(x)"
    made = model_of(f"(float[4,8] x, bool c) => (float[4,8] y) <float[4,8] a, float[4,8] b> {{ {nodes} }}")
    return add_function(made, "Draw (x) => (y) { y = RandomNormalLike(x) }") if calls_function and is_noisy else made


def branching(names=("r", "s", "k"), constant=2.0, order="{0}, {1}", extra="", types="float[4,8]", form="raw", more=""):
    """An If, one branch of which reads two outer values and a constant; names, types and forms of data mean nothing."""
    r, s, k = names
    then = f"b () => ({types} {r}) {{ {s} = Sub({order.format('p', 'q')})  {extra} {r} = Mul({s}, {k}) }}"
    made = model_of(f"""(float[4,8] x, bool c) => (float[4,8] y) {{ p = Tanh(x)  q = Sin(x)  {more}
        y = If(c)<then_branch = {then}, else_branch = e () => (float[4,8] {s}2) {{ {s}2 = Identity(x) }}> }}""")
    branch = next(a.g for n in made.graph.node for a in n.attribute if a.name == "then_branch")
    value = np.full((4, 8), constant, np.float32)
    branch.initializer.append(onnx.numpy_helper.from_array(value, k) if form == "raw" else
                              onnx.helper.make_tensor(k, onnx.TensorProto.FLOAT, value.shape, value.flatten()))
    if form == "told":
        branch.doc_string = branch.node[0].name = branch.node[0].doc_string = branch.initializer[0].doc_string = "told"
        branch.value_info.append(onnx.helper.make_tensor_value_info(s, onnx.TensorProto.FLOAT, (4, 8)))
        branch.name = "another"
    return made


def calling(body="y = Elu<alpha: float = @a>(x)", has_more=False, is_swapped=False):
    """A function of the model within a branch."""
    made = model_of("""(float[4,8] x, bool c) => (float[4,8] y) { y = If(c)<then_branch = b () => (float[4,8] r)
        { r = own.Strange<a = 2.0>(x) }, else_branch = e () => (float[4,8] s) { s = Relu(x) }> }""")
    if has_more:
        add_function(made, "Unused (x) => (y) { y = Neg(x) }")
    add_function(made, f"Strange <a> (x) => (y) {{ {body} }}")
    made.opset_import.extend([onnx.helper.make_opsetid("own", 1)] if "own" not in [o.domain for o in made.opset_import] else [])
    if is_swapped:
        made.opset_import.insert(0, made.opset_import.pop())
    return made


def single_axes(nodes, shape):
    return model(nodes, "float[4,1,8] x", f"float[{shape}] y", s=np.array([int(d) for d in shape.split(",")]),
                 t=np.array([1, 32]))


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
    ("unknown operators", unknown_operators(), unknown_operators(), [], 0, ["2 of 2 outputs equal by structure\n"]),
    ("before them", unknown_operators(), unknown_operators(True), [], 0, ["2 of 2 outputs equal by structure and rules"]),
    ("before them, wrongly", unknown_operators(), unknown_operators(True, wrong=0.5), [], 1, ["0 of 2 outputs", "the models differ"]),
    ("behind unknown operators", unknown_operators(), unknown_operators(after="Abs"), [], 1,
     ["1 of 2 outputs", "a.onnx: g, made by Relu\n", "b.onnx: g, made by Abs\n", "the models keep different nodes as they are",
      "not found to be equal"]),
    ("a number behind them", unknown_operators(), unknown_operators(factor=2.0), [], 1, ["0 of 2 outputs", "not found to be equal"]),
    ("an attribute of one", unknown_operators(), unknown_operators(strength=2.0), [], 1,
     ["1 of 2 outputs", "c, made by Strange\n", "not found to be equal"]),
    ("an element type that one does not know", model("a = own.Strange(x)  y = Identity(a)"), model("y = own.Strange(x)"), [], 0,
     ["1 of 1 output equal by structure"]),
    ("a type that one does not know", model("a = own.Strange(x)  y = Identity(a)", outputs="float[4,8] y"),
     model("y = own.Strange(x)", outputs="float[4,8] y"), [], 0, ["1 of 1 output equal by structure"]),
    ("omitted inputs and outputs", model("a, b = own.Strange(x, , )  y = Relu(a)"), model("a, b = own.Strange(x)  y = Relu(a)"),
     [], 0, ["1 of 1 output equal by structure"]),
    *((f"a branch {name}", branching(), branching(**other), ["--no-field", "--no-numbers"], 0, ["1 of 1 output equal by structure"])
      for name, other in {"with other names": {"names": ("u", "v", "w")}, "with typed data": {"form": "typed"},
                          "with declarations": {"form": "told"}, "of unknown sizes": {"types": "float[?,?]"},
                          "with more than it needs": {"extra": "dead = Neg(p)"},
                          "beside others": {"more": "o = Neg(x)"}}.items()),
    *((f"a branch {name}", branching(), branching(**other), ["--no-field", "--no-numbers"], 1, ["0 of 1 output equal"])
      for name, other in {"with another constant": {"constant": 3.0}, "of swapped values": {"order": "{1}, {0}"},
                          "of one value": {"order": "{0}, {0}"}}.items()),
    ("functions", calling(), calling("z = Elu<alpha: float = @a>(x)  y = Identity(z)", True), ["--no-field", "--no-numbers"], 0,
     ["1 of 1 output equal by structure"]),
    ("operator sets in another order", calling(), calling(is_swapped=True), ["--no-field", "--no-numbers"], 0,
     ["1 of 1 output equal by structure"]),
    ("another function", calling(), calling("y = Celu<alpha: float = @a>(x)"), ["--no-field", "--no-numbers"], 1, ["0 of 1"]),
    *((f"an axis of one entry, {name}", single_axes(f"a = {one}  y = Relu(a)", shape), single_axes(f"a = {other}  y = Relu(a)", shape),
       ["--no-field", "--no-numbers", "--no-rewrite"], 0, ["1 of 1 output equal by structure"])
      for name, one, other, shape in (
          ("moved", "Transpose<perm = [1, 0, 2]>(x)", "Reshape(x, s)", "1,4,8"),
          ("moved last", "Transpose<perm = [0, 2, 1]>(x)", "Reshape(x, s)", "4,8,1"),
          ("moved and gone", "Transpose<perm = [1, 0, 2]>(x)  b = Reshape(a, t)  a2 = Reshape(b, s)", "Reshape(x, s)", "1,4,8"),
          ("moved twice", "Transpose<perm = [1, 2, 0]>(x)", "Transpose<perm = [1, 2, 0]>(x)", "1,8,4"))),
    ("a row for a column", model("y = Gemm<transB = 1>(x, w)", "float[4,8] x, float[1,8] w", "float[4,1] y"),
     model("c = Reshape(w, s)  y = MatMul(x, c)", "float[4,8] x, float[1,8] w", "float[4,1] y", s=np.array([8, 1])),
     ["--no-field", "--no-numbers", "--no-rewrite"], 0, ["1 of 1 output equal by structure"]),
    ("axes of more", single_axes("y = Transpose<perm = [1, 2, 0]>(x)", "1,8,4"), single_axes("y = Reshape(x, s)", "1,8,4"), [], 1,
     ["0 of 1 output equal", "the models differ"]),
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
    ("folded half", biased(False, dtype=np.float16), biased(True, scale=1.006, dtype=np.float16), ["--no-numbers"], 1, ["0 of 1 output"]),
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


BRIEFLY = ["--rounds", "20", "--nodes", "1000"]


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


IS_FEWEST = "--fewest" in sys.argv
HAS_FEW = IS_FEWEST or "--few" in sys.argv


def cases(has_few):
    """With few, a search that ends where nothing is found, not where nothing is left, meets the same code."""
    for name, a, b, arguments, code, expected in CASES[:: 5 if IS_FEWEST else 1]:
        if not has_few:
            yield name, a, b, arguments, code, expected
        elif not name.startswith("large, "):
            yield name, a, b, arguments + BRIEFLY * name.endswith("wrongly"), code, expected


def check_cases(program, folder, has_few):
    failures = 0
    for name, a, b, arguments, code, expected in cases(has_few):
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


def check_places(program, folder):
    """Data of a subgraph in another file, at another place of it, or inside of the model, mean the same."""
    failures = 0
    for name, constant, code in (("elsewhere", 2.0, 0), ("elsewhere, other numbers", 3.0, 1)):
        for size, file in ((10**9, "a.onnx"), (0, "b.onnx")):
            made = branching(constant=2.0 if file == "a.onnx" else constant)
            onnx.save(made, folder / file, save_as_external_data=size == 0, location="b.data", size_threshold=size,
                      convert_attribute=True)
        ran = run(program, folder / "a.onnx", folder / "b.onnx", "--no-field", "--no-numbers")
        reason = complaint(ran, code, [])
        (folder / "b.data").unlink()
        failures += reason is not None
        print(f"{name}: {reason or 'ok'} {ran.stdout if reason else ''}")
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
        ran = run(program, first, wrong, "--no-field", "--no-numbers", *BRIEFLY)
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
    few = [("nasrnn", "100"), ("squeezenet", "200"), ("bert-taso-corrected", "40")][: 1 if IS_FEWEST else None]
    others = [("llama", "100"), ("bert-taso", "40"), ("bert", "100"), ("resnet50", "100"), ("inception-v3", "200"),
              ("nasnet-a", "100"), ("vgg19", "100")]
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
        failures += 0 if IS_FEWEST else check_near_misses(program, first, second, folder)
    return failures


def main():
    program, taso_opt = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:3])
    models = pathlib.Path(__file__).resolve().parents[2] / "scripts"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        failures = check_cases(program, folder, HAS_FEW) + check_files(program, folder) + check_only_proved(program, folder)
        failures += check_places(program, folder) + check_optimized(program, taso_opt, folder)
        failures += check_models(program, taso_opt, models, folder, HAS_FEW)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
