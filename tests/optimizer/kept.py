"""What is not understood, or would have other values, is kept: `kept.py ROOT TASO-OPT TASO-RUN`."""
import numpy as np
import onnx
from onnx import numpy_helper, parser

from commands import FOLDER, ON_PAPER, OPT, QUICK, UNTIMED
from commands import optimize, priced_too_high, relative_difference, session_of, succeed
from expectations import expect, run_tests, tests_of
from small_models import products, small_model


def written(what, model, *options):
    """The model that taso-opt makes, and its operators."""
    out = model.with_suffix(".fast.onnx")
    succeed(what, OPT, model, "-o", out, *ON_PAPER, *options)
    return out, [node.op_type for node in onnx.load(out).graph.node]


def test_masks_of_halves(folder):
    """x + a + b, where a and b have -65504: their sum is infinite, and the softmax of a row of these is no number."""
    masked = np.float16(np.where(np.arange(16) % 3, 0, -65504) * np.ones((4, 1)))
    masked[1] = -65504
    for name, second in (("both", masked), ("one", np.ones((4, 16), np.float16))):
        model = small_model(folder / f"masks-{name}.onnx", """(float16[4,16] x) => (float16[4,16] y)
                            { p = Add(x, a)  q = Add(p, b)  y = Softmax<axis = 1>(q) }""", a=masked, b=second)
        for search in ("backtracking", "saturation"):
            out, kinds = written("masks of halves", model, "--search", search)
            given = onnx.load(out).graph.initializer
            expect(all(np.isfinite(numpy_helper.to_array(w)).all() for w in given), f"{name}: {given}")
            expect(len(kinds) == (3 if name == "both" else 2), f"{name}, {search}: {kinds}")


def test_inputs_with_defaults(folder):
    """x . m * w, and x - w: who sets w would get the one and not the other. Before ir_version 4 nobody can."""
    for version, inputs in ((8, ["x"]), (3, ["x", "w"])):
        model = small_model(folder / "defaults.onnx", """(float[3,4] x, float[4,4] m, float[4] w)
                            => (float[3,4] y, float[3,4] z) { p = MatMul(x, m)  y = Mul(p, w)  z = Sub(x, w) }""",
                            ir_version=version, m=(4, 4), w=(4,))
        done = succeed("defaults", OPT, model, "-o", folder / "defaults.fast.onnx", "--device", "fake")
        graph = onnx.load(folder / "defaults.fast.onnx").graph
        expect([node.op_type for node in graph.node] == ["MatMul", "Sub"], f"not folded: {graph.node}")
        expect({i.name for i in graph.input} >= set(inputs) and (version < 4 or len(graph.input) == 1),
               f"inputs of version {version}: {graph.input}")
        expect(("2 inputs with an initializer" in done.stderr) == (version >= 4), f"it is told: {done.stderr}")


def test_traced_sizes(folder):
    """As many places as were not zero when a model was traced are declared: a sum over one of them would be nothing. So
    would be that over a batch of one, as it was before the input was given a symbol."""
    for what, text in (
        ("places", """(float[3,4] x) => (float[2,1] y) <int64[2,1] places, float[2,1] p, int64[1] axes = {1}, float two = {2}>
                      { places = NonZero(x)  p = Cast<to = 1>(places) """),
        ("a batch", """(float[batch,4] x) => (float[1,4] y) <float[1,4] p, int64[1] axes = {0}, float two = {2}>
                       { p = example.org.Wondrous(x) """),
    ):
        model = small_model(folder / "traced.onnx", text + "s = ReduceSum(p, axes)  m = Mul(s, two)  n = Neg(m)  y = Neg(n) }")
        _, kinds = written(f"sums over {what}", model)
        expect("ReduceSum" in kinds, f"sums over {what}: {kinds}")


def test_lists_outside(folder):
    """ONNX Runtime wants to see the sizes that a constant says; those that are an input's default it does not ask for."""
    model = small_model(folder / "outside.onnx", """(float[3,4] x, int64[7] sizes) => (int64[?,?,?,?,?,?,?] y)
                        { n = Identity(x)  m = Neg(n)  p = NonZero(m)  y = Expand(p, sizes) }""", sizes=np.ones(7, np.int64))
    onnx.save(onnx.load(model), model, save_as_external_data=True, location="sizes.data", size_threshold=0)
    out, _ = written("sizes outside of the model", model)
    feed = {"x": np.float32(np.arange(12).reshape(3, 4))}
    expect(relative_difference(*(session_of(m).run(None, feed)[0] for m in (model, out))) == 0, "sizes outside of the model")


X = np.float32(np.arange(12).reshape(3, 4) + 1)
FLAG, THREE = np.array(True), np.array(3)
# What makes r, of which a model may say that it has one row, and inputs: r has more.
STALE = {
    "a branch": ("""r = If(flag)<then_branch = t () => (float[1,4] a) { a = Neg(x) },
                                 else_branch = e () => (float[1,4] b) { b = Neg(x) }>""", {"x": X, "flag": FLAG}),
    "branches that count": ("""r = If(flag)<then_branch = t () => (float[?,?] a) { as = NonZero(x)  a = Cast<to = 1>(as) },
                                            else_branch = e () => (float[?,?] b) { bs = NonZero(x)  b = Cast<to = 1>(bs) }>""",
                            {"x": X, "flag": FLAG}),
    "a state that grows": ("""r = Loop(count, , first)<body = b (int64 number, bool going, float[1,4] s)
                              => (bool goes, float[1,4] n) { goes = Identity(going)  n = Concat<axis = 0>(s, s) }>""",
                           {"first": X[:1], "count": THREE}),
    "what rounds make": ("""rest, r = Loop(count, , first)<body = b (int64 number, bool going, float[4] s)
                            => (bool goes, float[4] n, float[4] c) { goes = Identity(going)  n = Neg(s)  c = Identity(s) }>""",
                         {"first": X[0], "count": THREE}),
    "what is scanned": ("""rest, r = Scan(first, x)<num_scan_inputs = 1, body = b (float[4] s, float[4] e)
                           => (float[4] n, float[4] c) { n = Add(s, e)  c = Identity(e) }>""", {"first": X[0], "x": X}),
    "a computed end": ("r = Slice(x, axes, count)", {"x": X, "count": np.int64([3])}),
    "computed sizes": ("r = Reshape(x, count)", {"x": X, "count": np.int64([6, 2])}),
    "a computed range": ("v = Range(one, end, one)  r = Unsqueeze(v, last)", {"end": np.array(6, np.float32)}),
    "a computed scale": ("""r = Resize<mode = "nearest">(x, , scales)""", {"x": X, "scales": np.float32([2, 1])}),
    "an operator of a runtime": ("r = com.microsoft.FusedMatMul<transB = 1>(x, x)", {"x": X}),
    "a function": ("r = example.org.Twice(x)", {"x": X}),
    "what a sequence has": ("q = SequenceConstruct(first, x)  r = SequenceAt(q, count)",
                            {"first": X[:1], "x": X, "count": np.array(1)}),
}


TWICE = '<domain: "example.org", opset_import: ["" : 17]> Twice (a) => (b) { b = Concat<axis = 0>(a, a) }'


def declared(name, array):
    sizes = ",".join(map(str, array.shape))
    return f"{str(array.dtype).replace('float32', 'float')}{f'[{sizes}]' if sizes else ''} {name}"


def test_stale_sizes(folder):
    """A sum over the one row that a model declares of a value would be nothing; it has more when it runs."""
    for what, (text, feed) in STALE.items():
        model = small_model(folder / "stale.onnx", f"""({", ".join(declared(*item) for item in feed.items())}) => (float[?,?] y)
                            <float[1] v, float[1,{1 if what == "a computed range" else 4}] r, int64[1] axes = {{0}},
                             int64[1] last = {{-1}}, float one = {{1}}, float two = {{2}}>
                            {{ {text}  s = ReduceSum(r, axes)  m = Mul(s, two)  n = Neg(m)  y = Neg(n) }}""")
        loaded = onnx.load(model)
        loaded.functions.append(parser.parse_function(TWICE))
        onnx.save(loaded, model)
        out, _ = written(what, model)
        want, got = (session_of(path).run(None, feed)[0] for path in (model, out))
        expect(relative_difference(got, want) < 1e-6, f"{what}: {got} is not {want}")


def test_captured_ranks(folder):
    """ONNX Runtime knows that a Gemm has two axes, and of a product what it knows of its inputs: of what a loop makes
    nothing. A Scan runs only where it knows the ranks of all that it makes."""
    model = small_model(folder / "captured.onnx", """(float[1,4] x) => (float[?,?,?] y) <int64 one = {1}>
                        { l = Loop(one, , x)<body = b (int64 number, bool going, float[] s) => (bool goes, float[] n)
                          { goes = Identity(going)  n = Neg(s) }>  t = Gemm<alpha = 0.5>(l, w)
                          y = Scan<num_scan_inputs = 1, body = b (float[4] e) => (m) { m = Neg(t) }>(x) }""", w=(4, 4))
    out, kinds = written("captured ranks", model)
    expect(kinds == ["Loop", "MatMul", "Scan"], f"captured ranks: {kinds}")
    want, got = (session_of(path).run(None, {"x": X[:1]})[0] for path in (model, out))
    expect(relative_difference(got, want) < 1e-6, f"captured ranks: {got} is not {want}")


def test_unwritable(folder):
    """A result that the model's operator set has no form for leaves the original."""
    model = small_model(folder / "old.onnx", "(float[64,64] x) => (float[64,64] y) { p = Reciprocal(x)  y = Reciprocal(p) }", opset=6,
                        ir_version=3)
    rules, out = folder / "newer.rules", folder / "old-fast.onnx"
    rules.write_text("(rule by-abs (source (reciprocal (reciprocal ?x))) (target (sub (abs ?x) (sub (abs ?x) ?x))))\n")
    done = succeed("an unwritable result", OPT, model, "-o", out, "--rules", rules,
                   *priced_too_high(model, folder / "old.costs"), *UNTIMED[:-1], "--no-check")
    expect(out.exists() and out.read_bytes() == model.read_bytes(), f"an unwritable result: {done.stderr}")
    expect("needs operator set 7" in done.stdout, f"the reason is told: {done.stdout}")


def test_undone_reshapes(folder):
    """An activation between two layers on matrices is no reason for two reshapes."""
    model = small_model(folder / "undone.onnx", """(float[10,16] x) => (float[10,16] y)
                        <int64[3] sequence = {2, 5, 16}, int64[2] matrix = {10, 16}>
                        { p = MatMul(x, a)  s = Reshape(p, sequence)  t = Tanh(s)  q = Mul(s, t)
                          m = Reshape(q, matrix)  y = MatMul(m, b) }""", a=(16, 16), b=(16, 16))
    x = np.random.default_rng(1).standard_normal((10, 16)).astype(np.float32)
    out, kinds = written("undone reshapes", model, "--budget", "0")
    expect(kinds == ["MatMul", "Tanh", "Mul", "MatMul"], f"reshapes are left out: {kinds}")
    before, after = (session_of(path).run(None, {"x": x})[0] for path in (model, out))
    expect(np.array_equal(before, after), "and outputs are the same")


def test_unknown_operators(folder):
    model = products(folder / "opaque.onnx", "[wondrous] w = example.org.Wondrous(xa)  r = Relu(w)", "float[1,32] r")
    fast = folder / "fast.onnx"
    _, told = optimize("opaque", model, "-o", fast, "--device", "cpu", *UNTIMED)
    graph = onnx.load(fast).graph
    kinds = [node.op_type for node in graph.node]
    expect("Wondrous" in kinds and told["opaque_nodes"] >= 1, f"the unknown operator is kept: {kinds}")
    expect([o.name for o in graph.output] == ["xa", "xb", "xc", "r"], "outputs keep their names and order")
    succeed("nothing to rewrite", OPT, model, "-o", fast, "--runtime", "taso", "--budget", "0", "--measure-seconds", "0.2", "--quiet")
    expect(fast.read_bytes() == model.read_bytes(), "nothing to rewrite: the original comes back byte by byte")


def repetitions():
    """Constants that are much smaller than what is made of them: a name, nodes that make r of [16,32,24], and what is given."""
    sizes, row = np.array([16, 32, 24]), np.linspace(-1, 1, 24).astype(np.float32)
    for name, nodes, given in (
        ("expanded", "r = Expand(b, s)", {"b": row}),
        ("activated", "e = Expand(b, s)  r = Tanh(e)", {"b": row}),
        ("added", "e = Expand(b, s)  f = Expand(c, s)  r = Add(e, f)", {"b": row, "c": row[:1].reshape(1, 1)}),
        ("cast", "e = Expand(b, s)  r = Cast<to = 1>(e)", {"b": np.arange(24)}),
        ("reshaped", "e = Expand(b, t)  r = Reshape(e, s)", {"b": row, "t": np.array([512, 24])}),
        ("flattened", "e = Expand(b, t)  f = Flatten<axis = 0>(e)  r = Reshape(f, s)", {"b": row, "t": np.array([512, 24])}),
        ("moved", "e = Expand(b, t)  r = Transpose<perm = [2, 1, 0]>(e)", {"b": row[:16], "t": np.array([24, 32, 16])}),
        ("tiled", "e = Tile(b, t)  r = Relu(e)", {"b": row.reshape(1, 1, 24), "t": np.array([16, 32, 1])}),
        ("gathered", "e = Gather(b, i)  r = Expand(e, s)", {"b": row.reshape(1, 24), "i": np.zeros((32,), np.int64)}),
        ("multiplied", "e = Expand(b, t)  r = MatMul(e, w)", {"b": row.reshape(1, 1, 24), "t": np.array([16, 32, 24]), "w": (24, 24)}),
        ("one number", "e = ConstantOfShape<value = float[1] {2.5}>(s)  r = Exp(e)", {}),
        ("halves", "e = Expand(b, s)  f = Neg(e)  r = Cast<to = 1>(f)", {"b": np.abs(row).astype(np.float16)}),
    ):
        yield name, nodes, {"s": sizes, **given}


def test_repetitions(folder):
    """What only repeats what there is does not become a large weight, whatever reads it."""
    random = np.random.default_rng(3)
    for name, nodes, given in repetitions():
        for reader, text, shape in (("sum", "y = Add(x, r)", "16,32,24"), ("join", "y = Concat<axis = 0>(x, r)", "32,32,24")):
            model = small_model(folder / "repeated.onnx",
                                f"(float[16,32,24] x) => (float[{shape}] y) {{ {nodes}  {text} }}", **given)
            for options in (["--device", "fake"], ["--device", "fake", "--search", "saturation"]):
                out = folder / "repeated.fast.onnx"
                succeed(name, OPT, model, "-o", out, *options, "--quiet")
                before, after = (sum(numpy_helper.to_array(w).size for w in onnx.load(m).graph.initializer) for m in (model, out))
                expect(after <= before + 4096, f"{name}, {reader}: {after} entries of weights where there were {before}")
                x = {"x": random.standard_normal((16, 32, 24)).astype(np.float32)}
                a, b = session_of(model).run(None, x)[0], session_of(out).run(None, x)[0]
                expect(relative_difference(a, b) < 1e-6, f"{name}, {reader}: other values")


def test_constant_outputs(folder):
    """p + p - p of x . 0, whose values say nothing."""
    model = small_model(folder / "constant.onnx", "(float[4,64] x) => (float[4,32] y) { p = MatMul(x, a)  q = Add(p, p)  y = Sub(q, p) }",
                        a=np.zeros((64, 32), np.float32))
    rules = folder / "negations.rules"
    rules.write_text("(rule twice-less-once (source (sub (ewadd ?x ?x) ?x)) (target ?x))\n")
    _, told = optimize("constant", model, "-o", folder / "fast.onnx", "--rules", rules,
                       *priced_too_high(model, folder / "high.costs"), *UNTIMED)
    expect(told["rewrites"] and "random weights" in (told["check_reason"] or ""), f"constant outputs are not trusted: {told}")


def test_symbols(folder):
    model, fast = folder / "unbound.onnx", folder / "fast.onnx"
    small_model(model, "(float[batch,8] x) => (float[batch,8] y) { y = Relu(x) }")
    done = succeed("unbound", OPT, model, "-o", fast, *QUICK[:-1])
    expect(not done.stderr and "batch=1" in done.stdout, f"unbound: the user is told: {done.stdout} {done.stderr}")
    dimension = onnx.load(fast).graph.input[0].type.tensor_type.shape.dim[0]
    expect(dimension.dim_param == "batch", f"unbound: {done.stderr}")


run_tests(tests_of(globals()), FOLDER)
