"""What reading a model alone makes simpler: `simplified.py ROOT TASO-OPT TASO-RUN`.

Each case is a model, and how many nodes are left of it; what is written gives the same in ONNX Runtime.
"""
import numpy as np
import onnx

from commands import OPT, relative_difference, run_tests, session_of, succeed
from expectations import expect
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


run_tests(test_repeated_functions, test_empty_parts, test_chains_of_reshapes)
