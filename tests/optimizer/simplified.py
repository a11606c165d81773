"""What reading a model alone makes simpler: `simplified.py ROOT TASO-OPT TASO-RUN`.

Each case is a model, and how many nodes are left of it; what is written gives the same in ONNX Runtime.
"""
import numpy as np
import onnx

from commands import FOLDER, OPT, relative_difference, session_of, succeed
from expectations import expect, run_tests, tests_of
from small_models import small_model

NUMPY = {"float": np.float32, "double": np.float64, "float16": np.float16, "int32": np.int32, "int64": np.int64, "bool": bool}


def expect_nodes(folder, what, text, left, opset=17, tolerance=1e-6, sizes=None, **given):
    """The kinds of nodes that are left, in order."""
    model, out = small_model(folder / "more.onnx", text, opset=opset, **given), folder / "less.onnx"
    out.unlink(missing_ok=True)
    succeed(what, OPT, model, "-o", out, "--device", "fake", "--quiet", "--budget", "0")
    kinds = [node.op_type for node in onnx.load(out).graph.node]
    expect(kinds == left, f"{what}: {kinds} and not {left}")
    random = np.random.default_rng(4)
    fed = {}
    for i in onnx.load(model).graph.input:
        shape = [d.dim_value or (sizes or {}).get(d.dim_param, 3) for d in i.type.tensor_type.shape.dim]
        kind = NUMPY[{1: "float", 11: "double", 10: "float16", 6: "int32", 7: "int64", 9: "bool"}[i.type.tensor_type.elem_type]]
        fed[i.name] = (random.standard_normal(shape) * 3).astype(kind)
    for a, b in zip(session_of(model).run(None, fed), session_of(out).run(None, fed)):
        same = np.array_equal(a, b) if a.dtype == bool else relative_difference(a, b) <= tolerance
        expect(a.shape == b.shape and same, f"{what}: other values")


def test_repeated_functions(folder):
    """As the definitions say: once is as good as twice, or twice as none."""
    once, none = ["Relu", "Ceil", "Floor", "Round", "Sign", "Abs"], ["Neg"]
    for op in once + none:
        for kind in ["float", "double"] + (["int32", "int64"] if op in ("Sign", "Abs", "Neg") else []):
            for shape in ("2,3", "n,4"):
                text = f"({kind}[{shape}] x) => ({kind}[{shape}] y) {{ t = {op}(x)  u = {op}(t)  y = Exp(u) }}"
                text = text if kind in ("float", "double") else text.replace("y = Exp(u)", "y = Mul(u, u)")
                last = "Exp" if kind in ("float", "double") else "Mul"
                expect_nodes(folder, f"{op} of {kind}[{shape}] twice", text, ([op] if op in once else []) + [last])
    expect_nodes(folder, "three times", "(float[2,3] x) => (float[2,3] y) { a = Neg(x)  b = Neg(a)  y = Neg(b) }", ["Neg"])
    expect_nodes(folder, "Not twice", "(bool[4] x, bool[4] z) => (bool[4] y) { a = Not(x)  b = Not(a)  y = And(b, z) }", ["And"])
    expect_nodes(folder, "BitwiseNot of a constant", """(int32[2] x) => (int32[2] y) <int32[2] c = {5, -1}>
                 { n = BitwiseNot(c)  y = Add(x, n) }""", ["Add"], opset=18)
    expect_nodes(folder, "bounded twice", """(float[2,3] x) => (float[2,3] y) <float low = {-1}, float high = {2}>
                 { a = Clip(x, low, high)  y = Clip(a, low, high) }""", ["Clip"])
    expect_nodes(folder, "other bounds", """(float[2,3] x) => (float[2,3] y) <float low = {-1}, float high = {2}, float more = {3}>
                 { a = Clip(x, low, high)  y = Clip(a, low, more) }""", ["Clip", "Clip"])
    expect_nodes(folder, "read between", "(float[2,3] x) => (float[2,3] y, float[2,3] z) { z = Neg(x)  b = Neg(z)  y = Exp(b) }",
                 ["Neg", "Exp"])
    expect_nodes(folder, "twice is an output", "(float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Relu(x)  z = Relu(y) }",
                 ["Relu", "Relu"])
    for op in ("Tanh", "Sigmoid", "Sqrt", "Reciprocal", "Erf"):
        expect_nodes(folder, f"{op} twice", f"(float[2,3] x) => (float[2,3] y) {{ p = Abs(x)  a = {op}(p)  y = {op}(a) }}",
                     ["Abs", op, op])


def test_casts(folder):
    """There and back by a type that has all numbers of the first one."""
    for kind, there, back, left in (("float", 11, 1, []), ("float16", 1, 10, []), ("float16", 11, 10, []), ("int32", 7, 6, []),
                                    ("double", 1, 11, ["Cast", "Cast"]), ("int32", 1, 6, ["Cast", "Cast"]),
                                    ("int64", 6, 7, ["Cast", "Cast"])):
        for shape in ("2,3", "n,4"):
            expect_nodes(folder, f"{kind} by {there} and back", f"""({kind}[{shape}] x) => ({kind}[] y)
                         {{ a = Cast<to = {there}>(x)  b = Cast<to = {back}>(a)  y = Mul(b, b) }}""", left + ["Mul"])


def test_empty_parts(folder):
    """A part without entries adds nothing, wherever it stands, unless another size of a symbol gives it some."""
    empty, none = {"e": np.zeros((2, 0), np.float32)}, {"e": np.zeros((0,), np.int64)}
    for what, parts, left in (("first", "e, r", []), ("last", "r, e", []), ("between", "r, e, s", ["Concat"]),
                              ("several", "e, r, e, e", [])):
        expect_nodes(folder, f"nothing {what}", f"""(float[2,3] x) => (float[] y)
                     {{ r = Tanh(x)  s = Sin(x)  c = Concat<axis = 1>({parts})  y = Exp(c) }}""",
                     ["Tanh"] + (["Sin"] if "s" in parts else []) + left + ["Exp"], **empty)
    expect_nodes(folder, "nothing of symbols", """(float[n,3] x) => (float[?,?] y)
                 { r = Tanh(x)  c = Concat<axis = 0>(r, e)  y = Exp(c) }""", ["Tanh", "Exp"], e=np.zeros((0, 3), np.float32))
    expect_nodes(folder, "nothing cut off", """(float[2,6] x) => (float[2,6] y) { r = Tanh(x)  p, q = Split<axis = 1>(r, z)
                 c = Concat<axis = 1>(p, q)  y = Exp(c) }""", ["Tanh", "Split", "Exp"], z=np.array([6, 0]))
    expect_nodes(folder, "nothing at one size", """(float[2,n] x, float[2,m] z) => (float[?,?] y)
                 { r = Tanh(x)  c = Concat<axis = 1>(r, z)  y = Exp(c) }""", ["Tanh", "Concat", "Exp"])
    expect_nodes(folder, "sizes", """(float[2,6] x) => (float[3,4] y) { s = Concat<axis = 0>(e, t)  r = Reshape(x, s)  y = Exp(r) }""",
                 ["Reshape", "Exp"], t=np.array([3, 4]), **none)


def test_chains_of_reshapes(folder):
    """Whatever they are called, and whether sizes are known or symbols."""
    one, halves = {"o": np.array([1])}, {"s": np.array([0, 0, 3, 4]), "t": np.array([0, 0, 4, 3])}
    for shape in ("2,5,12", "b,n,12"):
        for what, nodes, given in (
            ("two Unsqueeze", "a = Unsqueeze(r, o)  c = Unsqueeze(a, o)", one),
            ("two Reshape", "a = Reshape(r, s)  c = Reshape(a, t)", halves),
            ("all three", "a = Unsqueeze(r, o)  d = Reshape(a, t)  c = Squeeze(d, o)", {**one, "t": np.array([0, 1, -1, 4, 3])}),
        ):
            expect_nodes(folder, f"{what} of {shape}", f"(float[{shape}] x) => (float[] y) {{ r = Tanh(x)  {nodes}  y = Exp(c) }}",
                         ["Tanh", "Reshape", "Exp"], sizes={"b": 2, "n": 5}, **given)


def test_normalized_products(folder):
    """BatchNormalization behind a product is a part of its weights, however its columns come to be channels."""
    for large, left in ((1 << 20, ["MatMul", "Add"]), (1 << 30, ["MatMul", "Add", "Mul"])):   # a bias that would wrap stays
        expect_nodes(folder, f"integers of {large}", "(int32[5,4] x) => (int32[5,2] y) { t = MatMul(x, w)  u = Add(t, e)  y = Mul(u, s) }",
                     left, w=np.arange(8, dtype=np.int32).reshape(4, 2), e=np.array([large, 5], np.int32), s=np.array([4, 3], np.int32))
    random = np.random.default_rng(9)
    norm = {name: random.random(6).astype(np.float32) + 0.5 for name in "spmv"}
    normalized = "n = BatchNormalization({}, s, p, m, v)  y = Relu(n)"
    product, added = "t = MatMul(x, w)", "u = MatMul(x, w)  t = Add(u, e)"
    gemm = "t = Gemm(x, w, e)"
    for what, shape, nodes, left, given in (
        ("at once", "5,4", gemm, ["Gemm", "Relu"], {}),
        ("at once, of symbols", "b,4", gemm, ["Gemm", "Relu"], {}),
        ("transposed weights", "b,4", "t = Gemm<transB = 1>(x, w, e)", ["Gemm", "Relu"], {"w": (6, 4)}),
        ("a transposition", "3,5,4", f"{added}  r = Transpose<perm = [0, 2, 1]>(t)", ["MatMul", "Add", "Transpose", "Relu"], {}),
        ("a transposition of symbols", "b,n,4", f"{added}  r = Transpose<perm = [0, 2, 1]>(t)",
         ["MatMul", "Add", "Transpose", "Relu"], {}),
        ("a reshape", "5,4", f"{gemm}  r = Reshape(t, o)", ["Gemm", "Reshape", "Relu"], {"o": np.array([-1, 6, 1])}),
        ("channels of several columns", "b,4", f"{gemm}  r = Reshape(t, o)", ["Gemm", "Reshape", "Relu"],
         {"o": np.array([-1, 6, 2, 2]), "w": (4, 24), "e": (24,)}),
        ("columns of one channel each again", "2,5,4", f"{added}  r = Reshape(t, o)", ["MatMul", "Add", "Reshape", "Relu"],
         {"o": np.array([-1, 6])}),
        ("both", "2,15,4", f"{added}  q = Reshape(t, o)  r = Transpose<perm = [0, 3, 1, 2]>(q)",
         ["MatMul", "Add", "Reshape", "Transpose", "Relu"], {"o": np.array([2, 3, 5, 6])}),
    ):
        text = f"(float[{shape}] x) => (float[] y) {{ {nodes}  {normalized.format('r' if 'r = ' in nodes else 't')} }}"
        expect_nodes(folder, what, text, left, sizes={"b": 2, "n": 5}, tolerance=1e-5, **{"w": (4, 6), "e": (6,), **norm, **given})
    expect_nodes(folder, "a shape that is read, too", """(float[2,5,4] x) => (float[] y) { t = MatMul(x, w)  z = Shape(t)
                 f = Flatten<axis = 2>(t)  n = BatchNormalization(f, s, p, m, v)  r = Reshape(n, z)  y = Exp(r) }""",
                 ["MatMul", "Add", "Exp"], tolerance=1e-5, w=(4, 6), **norm)
    expect_nodes(folder, "sizes of symbols that are read, too", """(float[b,n,4] x) => (float[] y) { t = MatMul(x, w)  z = Shape(t)
                 f = Flatten<axis = 2>(t)  q = BatchNormalization(f, s, p, m, v)  first = Gather(z, zero)  last = Gather(z, two)
                 d = Unsqueeze(first, zeros)  e = Unsqueeze(last, zeros)  to = Concat<axis = 0>(d, minus, e)
                 r = Reshape(q, to)  y = Exp(r) }""", ["MatMul", "Add", "Exp"], tolerance=1e-5, sizes={"b": 2, "n": 5},
                 w=(4, 6), zero=np.array(0), two=np.array(2), zeros=np.array([0]), minus=np.array([-1]), **norm)
    expect_nodes(folder, "a shape of a convolution", """(float[1,4,6,7] x) => (float[] y) { c = Conv<pads = [1, 1, 1, 1]>(x, k)
                 s = Shape(c)  n = BatchNormalization(c, o, o, o, o)  r = Reshape(n, s)  y = Relu(r) }""", ["Conv", "Relu"],
                 tolerance=1e-5, k=(4, 4, 3, 3), o=np.full(4, 0.5, np.float32))
    for what, shape, nodes, kept in (
        ("other channels than columns", "6,4", f"{product}  r = Transpose<perm = [1, 0]>(t)", "BatchNormalization"),
        ("read elsewhere, too", "5,4", f"{product}  r = Transpose<perm = [0, 1]>(t)  z = Exp(t)", "BatchNormalization"),
    ):
        outputs = "float[] y, float[] z" if "z = " in nodes else "float[] y"
        model = small_model(folder / "kept.onnx", f"(float[{shape}] x) => ({outputs}) {{ {nodes}  {normalized.format('r')} }}",
                            w=(4, 6), **norm)
        succeed(what, OPT, model, "-o", folder / "out.onnx", "--device", "fake", "--quiet", "--budget", "0")
        kinds = [node.op_type for node in onnx.load(folder / "out.onnx").graph.node]
        expect(kept in kinds, f"{what}: {kinds}")


def test_normalized_transposed(folder):
    """BatchNormalization, a product or a sum behind ConvTranspose is a part of it, whatever its groups, strides and bias."""
    random = np.random.default_rng(8)
    norm = {name: random.random(6).astype(np.float32) + 0.5 for name in "spmv"}
    for attributes in ("", "strides = [2, 2]", "group = 2", "group = 2, strides = [2, 1], pads = [1, 0, 1, 0], output_padding = [1, 0]"):
        n = 3 if "group" in attributes else 6
        for shape in ("2,4,5,6", "b,4,5,6", "b,4,h,w"):
            for bias in ("", ", e"):
                given = {"w": (4, n, 3, 2), **norm, **({"e": (6,)} if bias else {})}
                what = f"ConvTranspose<{attributes}> of [{shape}]{bias}"
                node = f"t = ConvTranspose<{attributes}>(x, w{bias})" if attributes else f"t = ConvTranspose(x, w{bias})"
                text = f"(float[{shape}] x) => (float[] y) {{ {node}  n = BatchNormalization(t, s, p, m, v)  y = Relu(n) }}"
                expect_nodes(folder, what, text, ["ConvTranspose", "Relu"], sizes={"b": 2, "h": 5, "w": 6}, **given)
        given = {"w": (4, n, 3, 2), "s": (6, 1, 1), "p": (1, 6, 1, 1)}
        node = f"t = ConvTranspose<{attributes}>(x, w)" if attributes else "t = ConvTranspose(x, w)"
        expect_nodes(folder, f"scaled and shifted {attributes}", f"""(float[2,4,5,6] x) => (float[] y)
                     {{ {node}  n = Mul(t, s)  a = Add(p, n)  y = Relu(a) }}""", ["ConvTranspose", "Relu"], **given)
    twice = "(float[2,4,5,6] x) => (float[] y) { t = ConvTranspose(x, w)  n = BatchNormalization(t, s, p, m, v)"
    expect_nodes(folder, "twice", f"{twice}  y = BatchNormalization(n, p, s, v, m) }}", ["ConvTranspose"], w=(4, 6, 3, 2), **norm)
    expect_nodes(folder, "read elsewhere, too", f"{twice}  z = Relu(t)  u = Relu(n)  y = Add(z, u) }}",
                 ["ConvTranspose", "BatchNormalization", "Relu", "Relu", "Add"], w=(4, 6, 3, 2), **norm)


def branches(n, channels, attributes="", has_identity=True):
    """The nodes of a block of RepVGG, from x{n} to x{n + 1}, and its weights."""
    random, nodes, given = np.random.default_rng(n), [], {}
    for k, size in enumerate((3, 1)):
        pads = f"pads = [{size // 2}, {size // 2}, {size // 2}, {size // 2}]"
        nodes.append(f"c{k}_{n} = Conv<{pads}{attributes}>(x{n}, w{k}_{n})")
        given[f"w{k}_{n}"] = (random.standard_normal((channels, channels // (2 if "group" in attributes else 1), size, size)) / 8)
    for k, of in enumerate((f"c0_{n}", f"c1_{n}", f"x{n}")[:2 + has_identity]):
        nodes.append(f"b{k}_{n} = BatchNormalization({of}, s{k}_{n}, t{k}_{n}, m{k}_{n}, v{k}_{n})")
        given.update({f"{name}{k}_{n}": random.random(channels) + 0.5 for name in "stmv"})
    nodes.append(f"a_{n} = Add(b0_{n}, b1_{n})")
    nodes.append(f"d_{n} = {f'Add(a_{n}, b2_{n})' if has_identity else f'Identity(a_{n})'}  x{n + 1} = Relu(d_{n})")
    return "  ".join(nodes), {name: np.asarray(items, np.float32) for name, items in given.items()}


def test_branches(folder):
    """Convolutions of one image that are summed are one, with its normalization, where their windows fit each other."""
    for shape in ("2,8,6,7", "b,8,h,w"):
        for attributes, has_identity in (("", True), (", group = 2", True), (", strides = [2, 2]", False), ("", False)):
            nodes, given = branches(0, 8, attributes, has_identity)
            expect_nodes(folder, f"branches of [{shape}]{attributes}", f"(float[{shape}] x0) => (float[] x1) {{ {nodes} }}",
                         ["Conv", "Relu"], sizes={"b": 2, "h": 6, "w": 7}, tolerance=1e-5, **given)
    blocks = [branches(n, 8) for n in range(22)]
    given = {name: items for _, of in blocks for name, items in of.items()}
    expect_nodes(folder, "22 blocks", f"(float[1,8,10,10] x0) => (float[] x22) {{ {'  '.join(nodes for nodes, _ in blocks)} }}",
                 ["Conv", "Relu"] * 22, tolerance=1e-4, **given)
    dilated = "c = Conv<dilations = [2, 2], pads = [2, 2, 2, 2]>(x, k)"
    for what, nodes, left in (
        ("a cross in a square", "c = Conv<pads = [1, 1, 1, 1]>(x, k)  d = Conv<pads = [0, 1, 0, 1]>(x, r, e)", ["Conv"]),
        ("one in a dilated square", f"{dilated}  d = Conv(x, o, e)", ["Conv"]),
        ("both biases", "c = Conv<pads = [1, 1, 1, 1]>(x, k, e)  d = Conv<pads = [1, 1, 1, 1]>(x, l, e)", ["Conv"]),
        ("a corner", "c = Conv<pads = [1, 1, 1, 1]>(x, k)  d = Conv<pads = [1, 1, 0, 0]>(x, q)", ["Conv"]),
        ("other dilations", f"{dilated}  d = Conv<pads = [1, 1, 1, 1]>(x, l)", ["Conv", "Conv", "Add"]),
        ("a window that reaches out", "c = Conv<pads = [1, 0, 1, 0]>(x, u)  d = Conv<pads = [0, 1, 0, 1]>(x, r)",
         ["Conv", "Conv", "Add"]),
        ("another image", "z = Sin(x)  c = Conv<pads = [1, 1, 1, 1]>(x, k)  d = Conv(z, o)", ["Sin", "Conv", "Conv", "Add"]),
    ):
        of = {"k": (4, 4, 3, 3), "l": (4, 4, 3, 3), "r": (4, 4, 1, 3), "u": (4, 4, 3, 1), "o": (4, 4, 1, 1), "q": (4, 4, 2, 2), "e": (4,)}
        expect_nodes(folder, what, f"(float[1,4,6,7] x) => (float[1,4,6,7] y) {{ {nodes}  a = Add(c, d)  y = Relu(a) }}",
                     left + ["Relu"], tolerance=1e-5, **of)
    for shape in ("2,4,6,7", "b,4,h,w"):
        for what, conv, kernel, left in (
            ("a full convolution", "Conv<pads = [1, 1, 1, 1]>(x, k)", (4, 4, 3, 3), ["Conv"]),
            ("a bias", "Conv<pads = [1, 1, 1, 1]>(x, k, e)", (4, 4, 3, 3), ["Conv"]),
            ("one entry", "Conv(x, k)", (4, 4, 1, 1), ["Conv"]),
            ("groups", "Conv<pads = [1, 1, 1, 1], group = 2>(x, k)", (4, 2, 3, 3), ["Conv"]),
            ("channels apart", "Conv<pads = [2, 2, 2, 2], dilations = [2, 2], group = 4>(x, k)", (4, 1, 3, 3), ["Conv"]),
            ("pads that do not fit", "Conv<pads = [2, 1, 0, 1], dilations = [2, 1], group = 4>(x, k)", (4, 1, 2, 3), ["Conv"]),
            ("an image beside its window", "Conv<pads = [1, 1, 1, 1], dilations = [2, 2], group = 4>(x, k)", (4, 1, 2, 2),
             ["Conv", "Add"]),
        ):
            for z in ("Add(x, c)", "Add(c, x)"):
                expect_nodes(folder, f"{what} and its image of [{shape}]", f"""(float[{shape}] x) => (float[] y)
                             {{ c = {conv}  z = {z}  y = Relu(z) }}""", left + ["Relu"], sizes={"b": 2, "h": 6, "w": 7},
                             tolerance=1e-5, k=kernel, **({"e": (4,)} if "e)" in conv else {}))
    three = "c = Conv<pads = [1, 1, 1, 1]>(x, k)  d = Conv(x, o)"
    expect_nodes(folder, "three branches", f"(float[1,4,6,7] x) => (float[] y) {{ {three}  a = Add(c, d)  z = Add(a, x)  y = Relu(z) }}",
                 ["Conv", "Relu"], tolerance=1e-5, k=(4, 4, 3, 3), o=(4, 4, 1, 1))
    for terms in ("c, d, x", "x, d, c", "d, c", "x, c"):
        expect_nodes(folder, f"one sum of {terms}", f"(float[1,4,6,7] x) => (float[1,4,6,7] y) {{ {three}  a = Sum({terms})  y = Relu(a) }}",
                     ["Conv", "Relu"], tolerance=1e-5, k=(4, 4, 3, 3), o=(4, 4, 1, 1))
    expect_nodes(folder, "a sum with another image", f"""(float[1,4,6,7] x, float[1,4,6,7] u) => (float[1,4,6,7] y)
                 {{ {three}  a = Sum(c, u, d)  y = Relu(a) }}""", ["Conv", "Add", "Relu"], tolerance=1e-5, k=(4, 4, 3, 3), o=(4, 4, 1, 1))
    nodes, given = branches(0, 8, ", group = 2")
    expect_nodes(folder, "groups in one sum", f"(float[2,8,6,7] x0) => (float[] x1) {{ {nodes} }}".replace(
        "a_0 = Add(b0_0, b1_0)  d_0 = Add(a_0, b2_0)", "d_0 = Sum(b0_0, b1_0, b2_0)"), ["Conv", "Relu"], tolerance=1e-5, **given)
    expect_nodes(folder, "the image of another", """(float[1,4,6,7] x) => (float[] y)
                 { s = Sin(x)  c = Conv(s, o)  z = Add(c, x)  y = Relu(z) }""", ["Sin", "Conv", "Add", "Relu"], o=(4, 4, 1, 1))
    expect_nodes(folder, "a branch that is read", """(float[1,4,6,7] x) => (float[] y, float[] z)
                 { z = Conv<pads = [1, 1, 1, 1]>(x, k)  d = Conv(x, o)  y = Add(z, d) }""", ["Conv", "Conv", "Add"],
                 k=(4, 4, 3, 3), o=(4, 4, 1, 1))
    huge = np.full((4, 4, 1, 1), 3e38, np.float32)
    expect_nodes(folder, "a sum that is not finite", """(float[1,4,6,7] x) => (float[] y)
                 { t = Mul(x, h)  c = Conv(t, k)  d = Conv(t, l)  y = Add(c, d) }""", ["Mul", "Conv", "Conv", "Add"],
                 k=huge, l=huge * np.float32(0.9), h=np.float32(1e-20))


def test_signs_of_zeros(folder):
    """Constants that are computed have zeros of the signs that ONNX Runtime gives them: 1 / x tells."""
    zeros = np.array([0, -0.0, 0.3, -0.3, 1, -1], np.float32)
    a, b = (x.reshape(-1) for x in np.meshgrid(zeros, zeros))
    of = {"a": a, "b": b, "p": np.stack([a, b], 1), "i": np.stack([a, b], 1).reshape(1, -1, 1, 2), "l": np.float32(0), "h": np.float32(1),
          "k": np.array([1]), "w": np.array([1, 1]), "n": np.float32(-0.0)}
    for node in ("Relu(a)", "Ceil(a)", "Floor(a)", "Round(a)", "Neg(a)", "Abs(a)", "Sign(a)", "Sin(a)", "Tanh(a)", "Clip(a, l, h)",
                 "LeakyRelu(a)", "Softsign(a)", "Max(a, b)", "Min(a, b)", "Add(a, b)", "Sub(a, b)", "Mul(a, b)", "ReduceMax(p, k)",
                 "ReduceMin(p, k)", "ReduceProd(p, k)", "MaxPool<kernel_shape = [1, 2]>(i)", "GlobalMaxPool(i)", "Pad(a, w, n)",
                 "Concat<axis = 0>(a, b)", "CumSum(a, k0)", "HardSwish(a)"):
        name = node.split("(")[0].split("<")[0]
        given = {key: value for key, value in of.items() if key in node.replace(name, "", 1)} | {"k0": np.array(0)}
        model, out = folder / "zeros.onnx", folder / "folded.onnx"
        small_model(model, f"(float[1] x) => (float[] y, float[] z) {{ y = {node}  z = Exp(x) }}", opset=18, **given)
        succeed(name, OPT, model, "-o", out, "--device", "fake", "--quiet", "--budget", "0")
        expect(name not in [n.op_type for n in onnx.load(out).graph.node], f"{name} is not computed")
        fed = {"x": np.zeros(1, np.float32)}
        before, after = (np.asarray(session_of(path).run(["y"], fed)[0]) for path in (model, out))
        expect(np.array_equal(np.signbit(before), np.signbit(after)), f"{name}: {before} and not {after}")


run_tests(tests_of(globals()), FOLDER)
