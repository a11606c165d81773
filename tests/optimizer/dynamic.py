"""taso-opt on models with symbolic dimensions: `dynamic.py SOURCE-ROOT TASO-OPT [--few|--all]`. What is written has the interface of
the original and agrees with it in ONNX Runtime at ten bindings of the symbols, ones among them. With --few each fifth test; with
--all short tables are of five lengths instead of two."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

from expectations import expect, run_tests, tests_of
from made_up import BY_PRODUCTS, misbehaving, price_too_high
from small_models import model_of, session_of, small_model

sys.path.insert(0, sys.argv[1] + "/tests/onnx")
import dynamic_models   # noqa: E402

OPT = sys.argv[2]
COMPUTED_COSTS = ["--device", "fake", "--budget", "200", "--no-measure"]
INTEGERS_BELOW = 50
PROVED = "\n  (proof (symbols (families 1)))"   # a certificate: no other rules are used at symbolic sizes


def run(model, *options):
    """The written model, the report (None: nothing is written), and how it ended."""
    out, report = model.with_suffix(".out.onnx"), model.with_suffix(".json")
    out.unlink(missing_ok=True)
    python = [] if {"fake", "taso", "--python"} & {*options} else ["--python", sys.executable]
    done = subprocess.run([OPT, model, "-o", out, "--json", report, *python, *options], capture_output=True, text=True,
                          env=dict(os.environ, XDG_CACHE_HOME=str(model.parent / "cache")))
    return out, json.loads(report.read_text()) if done.returncode == 0 else None, done


def optimize(model, *options):
    out, report, done = run(model, *options)
    expect(done.returncode == 0, f"{model.name} {options}: exit code {done.returncode}: {done.stderr}")
    return out, report, done


def interface(model):
    graph = onnx.load(model).graph
    return [v.SerializeToString() for v in [*graph.input, *graph.output]]


def feed(inputs, sizes, random):
    """Sizes by symbol, or by INPUT[AXIS] where there is none."""
    fed = {}
    for i in inputs:
        shape = [d if isinstance(d, int) else sizes[d or f"{i.name}[{axis}]"] for axis, d in enumerate(i.shape)]
        fed[i.name] = (random.standard_normal(shape).astype(np.float32) if "float" in i.type
                       else random.integers(0, 2 if "mask" in i.name else INTEGERS_BELOW, shape))
    return fed


def priced(model, folder, *options):
    """Options with which every step of the model takes 1,000 seconds: a rewrite pays, however busy this machine is."""
    costs = folder / "priced.costs"
    costs.unlink(missing_ok=True)
    optimize(model, *options, "--no-measure", "--budget", "0", "--costs", costs)
    price_too_high(costs)
    return [*options, "--costs", costs, "--no-calibrate"]


def symbols(model):
    return sorted({d or f"{i.name}[{axis}]" for i in session_of(model).get_inputs() for axis, d in enumerate(i.shape)
                   if not isinstance(d, int)})


def expect_agreement(original, result, most=100, bindings=10):
    a, b, random = session_of(original), session_of(result), np.random.default_rng(7)
    expect(interface(original) == interface(result), f"{original.name}: the interface changed")
    for n in range(bindings):
        sizes = {s: 1 if n == 0 else int(random.integers(1, most)) for s in symbols(original)}
        fed = feed(a.get_inputs(), sizes, random)
        for x, y in zip(a.run(None, fed), b.run(None, fed)):
            scale = np.abs(x).max(initial=0)
            expect(x.shape == y.shape and (np.abs(x - y) <= 1e-5 * scale).all(), f"{original.name}: differs at {sizes}")


def expect_same(original, result, bindings):
    """At these sizes of the symbols."""
    a, b, random = session_of(original), session_of(result), np.random.default_rng(8)
    for sizes in bindings:
        fed = feed(a.get_inputs(), sizes, random)
        for x, y in zip(a.run(None, fed), b.run(None, fed)):
            expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4),
                   f"{original.name}: {x.shape} {y.shape} differs at {sizes}")


def images_of(sizes, n=2):
    return [{"batch": n, "height": height, "width": width} for height, width in sizes]


def count(model, *kinds):
    return sum(n.op_type in kinds for n in onnx.load(model).graph.node)


# --- exports ----------------------------------------------------------------------------------------------------------

def weight_bytes(model):
    graph = onnx.load(model).graph
    constants = [a.t for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.TENSOR]
    return sum(numpy_helper.to_array(t).nbytes for t in [*graph.initializer, *constants])


def expect_told_weights(path, out, report):
    expect([report["weight_bytes_before"], report["weight_bytes_after"]] == [weight_bytes(path), weight_bytes(out)],
           f"{path.name}: the weights are said to take other bytes than they do")


def test_exports(folder):
    for name, make in dynamic_models.MODELS.items():
        path = folder / f"{name}.onnx"
        onnx.save(make(), path)
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"] or name == "gpt", f"{name}: nothing was rewritten")
        expect_agreement(path, out)
        expect(count(out, "Shape", "Unsqueeze", "Concat") < count(path, "Shape", "Unsqueeze", "Concat"),
               f"{name}: computes as much with shapes as before")
        expect_told_weights(path, out, report)
        expect(report["opaque_nodes"] < report["nodes_after"], f"{name}: kept are {report['opaque_nodes']} nodes")
        unchanged, _, _ = optimize(path, *COMPUTED_COSTS[:-1], "--budget", "0", "--no-simplify", "--no-measure")
        expect(interface(unchanged) == interface(path), f"{name}: the interface depends on the verdict")


def test_exports_of_torch(folder):
    """By both exporters (tests/onnx/exports): what is kept for its sizes are cuts, and what reads numbers made of sizes."""
    for source in sorted((pathlib.Path(sys.argv[1]) / "tests/onnx/exports").glob("*.onnx")):
        path = folder / source.name
        path.write_bytes(source.read_bytes())
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        kept = {k["operator"] for k in report["symbols"]["kept"]}
        expect(kept <= {"Slice", "Range", "Mul", "GatherND"}, f"{source.name}: {kept}")
        expect(report["nodes_after"] < report["nodes_before"], f"{source.name}: {report['nodes_after']} nodes")
        expect_told_weights(path, out, report)
        expect_agreement(path, out)


def test_checked_here(folder):
    """On this processor, and in ONNX Runtime, at the profiles and at other sizes."""
    path, rules = folder / "checked.onnx", folder / "checked.rules"
    rules.write_text("(rule once\n  (source (ewadd (matmul ?x ?y) (matmul ?x ?z)))\n"
                     f"  (target (matmul ?x (ewadd ?y ?z))){PROVED})\n")
    model = dynamic_models.bert(layers=1)
    more = model_of("""(float[batch,sequence,64] last_hidden_state) => (float[batch,sequence,1024] sum)
                       { [times_a] times_a = MatMul(last_hidden_state, a)  [times_b] times_b = MatMul(last_hidden_state, b)
                         [sum] sum = Add(times_a, times_b) }""", a=(64, 1024), b=(64, 1024)).graph
    model.graph.node.extend(more.node)
    model.graph.initializer.extend(more.initializer)
    model.graph.output.extend(more.output)
    onnx.save(model, path)
    options = priced(path, folder, "--rules", rules, "--profile", "batch=1,3 sequence=24", "--seed", "3")
    out, report, done = optimize(path, "--no-measure", *options)
    told = report["symbols"]
    expect(told["profiles"] == [{"batch": 1, "sequence": 24}, {"batch": 3, "sequence": 24}], f"profiles: {told}")
    expect(len(told["checked"]) == 3 and report["check"] == "passed", f"checked: {told} {report['check']}")
    expect([k["operator"] for k in told["kept"]] == ["Slice"] and told["kept"][0]["symbols"] == "sequence",
           f"what the size of sequence keeps is named: {told['kept']}")
    expect("optimized for batch=1, sequence=24 and batch=3, sequence=24; " in done.stdout, f"the report names profiles: {done.stdout}")
    expect_agreement(path, out)


def test_faster(folder):
    """Half of all products are spared: what is timed at two profiles is written."""
    nodes = "".join(f"xa{i} = MatMul(r{i}, a{i})  xb{i} = MatMul(r{i}, b{i})  s{i} = Add(xa{i}, xb{i})  r{i + 1} = Relu(s{i})  "
                    for i in range(3))
    path = small_model(folder / "pairs.onnx", f"(float[batch,sequence,16] r0) => (float[batch,sequence,16] r3) {{ {nodes} }}",
                       **{f"{w}{i}": (16, 16) for i in range(3) for w in "ab"})
    options = priced(path, folder, "--python", misbehaving(folder, "by-products", BY_PRODUCTS), "--threads", "1",
                     "--profile", "batch=1,4", "--profile", "sequence=48")
    out, report, _ = optimize(path, "--finalists", "1", "--measure-seconds", "0.1", *options)
    expect(report["optimized"] and len(report["symbols"]["profiles"]) == 2, f"pairs: {report['kept_reason']}")
    expect(report["speedup_low"] > 1.9, f"pairs: {report['speedup_low']}")
    expect_agreement(path, out)


def test_given_inputs(folder):
    """They have the sizes of the first profile that is given; at other sizes inputs are made up."""
    path, inputs = products(folder / "given.onnx"), folder / "inputs"
    inputs.mkdir()
    for name in "xy":
        np.save(inputs / f"{name}.npy", np.ones((3, 16), np.float32))
    out, report, _ = optimize(path, "--no-measure", *priced(path, folder, "--inputs", inputs, "--profile", "n=3"))
    expect(report["check"] == "passed" and len(report["symbols"]["checked"]) == 3, f"given: {report['check']}")
    expect_agreement(path, out)
    out.unlink()
    done = subprocess.run([OPT, path, "-o", out, "--no-measure", "--inputs", inputs, "--profile", "n=1"],
                          capture_output=True, text=True)
    expect(done.returncode == 3 and "[3, 16]" in done.stderr and "[1, 16]" in done.stderr and not out.exists(),
           f"given: other sizes than those of the profile: {done.returncode} {done.stderr}")


def test_inputs_of_kept_nodes(folder):
    """They have the sizes of the profiles, too: else the original fails in ONNX Runtime, and nothing is timed there."""
    path = small_model(folder / "inputs.onnx", """(float[2,n] x, float[2,n] y) => (float[2,n] z) <int64[2] lengths = {2, 1}>
                       { r = Identity(x)  k = ReverseSequence<batch_axis = 0, time_axis = 1>(y, lengths)  z = Add(r, k) }""")
    _, report, done = optimize(path, "--profile", "n=5", "--measure-seconds", "0.1")
    expect(report["runtime"], f"inputs: timed in ONNX Runtime: {done.stderr}")


def test_sum_of_sizes(folder):
    """Where nobody says sizes: the mask of a decoder is as long as what is remembered and what is new."""
    path = small_model(folder / "decoder.onnx", """(float[2,past] x, float[2,new] y, float[2,total] mask) => (float[2,total] z)
                       { i = Identity(x)  c = Concat<axis = 1>(i, y)  m = Add(c, mask)  z = Relu(m) }""")
    _, report, done = optimize(path, "--measure-seconds", "0.1")
    profile = report["symbols"]["profiles"][0]
    expect(report["runtime"] and profile["total"] == profile["past"] + profile["new"], f"decoder: {profile} {done.stderr}")


def test_costs_are_of_profiles(folder):
    """At the sizes that it is checked at nothing is measured, and these are of their own."""
    path = small_model(folder / "image.onnx", """(float[1,3,height,33] x) => (float[1,16,height,512] o)
                       { y = Conv<pads = [1, 1, 1, 1]>(x, kernel)  ya = MatMul(y, a)  yb = MatMul(y, b)  o = Add(ya, yb) }""",
                       kernel=(16, 3, 3, 3), a=(33, 512), b=(33, 512))
    costs = folder / "image.costs"
    for seed in "1", "2":
        costs.unlink(missing_ok=True)
        _, report, _ = optimize(path, "--runtime", "taso", "--layout", "joint", "--no-measure",
                                "--threads", "1", "--profile", "height=31", "--costs", costs, "--seed", seed)
        text, checked = costs.read_text(), [b["height"] for b in report["symbols"]["checked"]]
        expect("x31x33]" in text, "image: costs at the profile are measured")
        expect(len({31, *checked}) == 4, f"image: each check has sizes of its own, {checked}")
        expect(not any(f"x{h}x33" in text for h in checked), f"image: costs at {checked} are measured")


def test_memory_of_checks(folder):
    """Sizes to check at for which there is no memory are left out; the profile's are those that have to fit."""
    path = small_model(folder / "large.onnx", """(float[rows,columns,16] x) => (float[rows,columns,16] o)
                       { xa = MatMul(x, a)  xb = MatMul(x, b)  o = Add(xa, xb) }""", a=(16, 16), b=(16, 16))
    left_out = []
    for limit in "40M", "60M", "100M":
        _, report, done = run(path, "--no-measure", "--runtime", "taso", "--layout", "standard",
                                "--threads", "1", "--costs", folder / "large.costs", "--profile", "rows=250 columns=250",
                                "--seed", "3", "--max-memory", limit)
        expect(done.returncode in (0, 4), f"large: exit code {done.returncode} with {limit}")
        if done.returncode == 0:
            left_out.append(done.stderr.count("not checked here at rows="))
            expect(report["check"] == "passed" and len(report["symbols"]["checked"]) == 3 - left_out[-1],
                   f"large: {report['check']} {report['symbols']} {done.stderr}")
    expect(any(left_out) and left_out[-1] == 0, f"large: {left_out} are left out")


# --- symbols ----------------------------------------------------------------------------------------------------------

def products(path, symbol="n"):
    """x . a + b and x . c + d, always worth merging, of several inputs."""
    return small_model(path, f"""(float[{symbol},16] x, float[{symbol},16] y) => (float[?,?] p, float[?,8] r)
                       {{ xa = MatMul(x, a)  xb = MatMul(x, b)  p = Concat<axis = 0>(xa, xb)
                          yc = MatMul(y, c)  yd = MatMul(y, d)  q = Add(yc, yd)  r = Add(q, xa) }}""",
                       **dict.fromkeys("abcd", (16, 8)))


def test_shared_symbol(folder):
    path = products(folder / "shared.onnx")
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "a symbol that inputs share: nothing was rewritten")
    expect_agreement(path, out)


def test_unnamed(folder):
    """Each is a symbol of its own, so that the sum of x and y is kept: it may be broadcast, or fail."""
    path = products(folder / "unnamed.onnx", "?")
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == ["x[0]", "y[0]"], f"unnamed: {report['symbols']}")
    expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Add"],
           f"unnamed: {report['rewrites']} {report['symbols']['kept']}")
    expect_same(path, out, [{"x[0]": x, "y[0]": y} for x, y in ((5, 5), (1, 7), (1, 1))])
    expect(interface(path) == interface(out), "unnamed: the interface changed")
    _, report, _ = optimize(path, "--no-measure", *priced(path, folder, "--profile", "x[0]=3 y[0]=3"))
    checked = report["symbols"]["checked"]
    expect(report["rewrites"] and report["optimized"] and checked and all(1 in c.values() or c["x[0]"] == c["y[0]"] for c in checked),
           f"unnamed: checked where the original runs: {checked} {report['kept_reason']}")
    model = onnx.load(path)
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "?"
    onnx.save(model, path)
    _, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == ["x[0]", "y[0]"], f"called ?, as exporters do of several: {report['symbols']}")


def test_size_of_output_only(folder):
    """What NonZero finds is of a size that no input has."""
    path = small_model(folder / "found.onnx", """(float[n,16] x) => (int64[found,2] z)
                       { xa = MatMul(x, a)  xb = MatMul(x, b)  c = Add(xa, xb)  r = Relu(c)  d = NonZero(r)
                         z = Transpose<perm = [1, 0]>(d) }""", a=(16, 8), b=(16, 8))
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect_agreement(path, out, most=20)
    expect(count(out, "MatMul") == 1, f"found: {report['rewrites']}")


def test_sums_of_symbols(folder):
    """A cache of the past: the written shape is computed from past + sequence."""
    path = small_model(folder / "past.onnx", """
        (float[batch,past,16] past, float[batch,sequence,16] x, float[1,1] v) => (float[4,?,4] z, float[?,?] w)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}>
        { k = Concat<axis = 1>(past, x)  s = Shape(k)  n = Gather(s, zero)  t = Gather(s, one)  nt = Mul(n, t)
          to = Concat<axis = 0>(nt, four, four)  r = Reshape(k, to)  u = Transpose<perm = [1, 0, 2]>(r)
          tn = Concat<axis = 0>(t, n)  w = Expand(v, tn)  z = Relu(u) }""")
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(not report["symbols"]["kept"], f"past: {report['symbols']['kept']}")
    expect_agreement(path, out)


def test_large(folder):
    """Eight symbols of one tensor: at thousands each it would be larger than any memory."""
    names = [f"n{i}" for i in range(8)]
    path = small_model(folder / "large.onnx", f"(float[{','.join(names)}] x) => (float[{','.join(names)}] z) {{ y = Relu(x)  z = Neg(y) }}")
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == names and not report["symbols"]["kept"], f"large: {report['symbols']}")
    expect_agreement(path, out, most=3)
    path = small_model(folder / "twice.onnx", """(float[2,n0,n1,n0,n1,16] x) => (float[2,n0,n1,n0,n1,8] z)
                       { xa = MatMul(x, a)  xb = MatMul(x, b)  z = Add(xa, xb) }""", a=(16, 8), b=(16, 8))
    out, report, _ = optimize(path, "--device", "fake", "--budget", "200")
    expect(report["rewrites"], "two symbols of usual sizes, twice, are 34 GB: nothing was rewritten")
    expect_agreement(path, out, most=4)
    path = small_model(folder / "many.onnx", """(float[n0,n1,n2,n3] x, float[n4,n5,n6,n7,n8] y) => (float[n0,n1,n2,n3] z)
                       { z = Relu(x) }""")
    out, report, done = optimize(path, *COMPUTED_COSTS)
    expect("symbols" not in report and "--shape" in done.stderr, f"nine symbols: {done.stderr}")
    expect(interface(out) == interface(path), "nine symbols: the interface changed")


def test_binding(folder):
    path = folder / "bound.onnx"
    onnx.save(dynamic_models.bert(layers=1), path)
    out, report, _ = optimize(path, *COMPUTED_COSTS, "--shape", "batch=2")
    shapes = [[d.dim_value or d.dim_param for d in i.type.tensor_type.shape.dim] for i in onnx.load(out).graph.input]
    expect(shapes == [[2, "sequence"]] * 2 and report["symbols"]["names"] == ["sequence"],
           f"bound: {shapes} {report['symbols']}")
    expect(len(onnx.load(out).graph.node) and session_of(out).run(None, feed(session_of(out).get_inputs(), {"sequence": 9},
                                                                         np.random.default_rng(1))), "bound: runs")


# --- images of any height and width -----------------------------------------------------------------------------------

def images(path):
    """Strides, poolings that round down and up, a mean over what is left, and sizes divided by nodes."""
    return small_model(path, """
        (float[batch,3,height,width] x) => (float[batch,4] mean, float[?,?,?,?] v, float[4,4,?,?] spread)
        <int64[1] two = {2}, int64[1] three = {3}, int64[1] far = {4}, int64[2] ones = {4, 4}>
        { c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, k)
          up = MaxPool<ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]>(c)  ua = Conv(up, a)  ub = Conv(up, b)
          s = Concat<axis = 1>(ua, ub)  v = Conv<dilations = [2, 1]>(s, m)  r = Relu(v)
          p = AveragePool<kernel_shape = [3, 3], strides = [2, 2]>(r)  g = GlobalAveragePool(p)  mean = Flatten(g)
          shape = Shape(x)  hw = Slice(shape, two, far)  thirds = Div(hw, three)  to = Concat<axis = 0>(ones, thirds)
          e = Expand(a, to)  spread = Transpose<perm = [0, 1, 3, 2]>(e) }""",
        k=(4, 3, 3, 3), a=(4, 4, 1, 1), b=(4, 4, 1, 1), m=(4, 8, 3, 3))


def test_images(folder):
    path = images(folder / "images.onnx")
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"] and all(k["operator"] in ("Shape", "Slice", "Div", "Concat") for k in report["symbols"]["kept"]),
           f"images: {report['rewrites']} {report['symbols']['kept']}")
    expect(interface(path) == interface(out), "images: the interface changed")
    expect_same(path, out, images_of([(31, 32), (33, 57), (40, 41), (64, 35), (97, 98), (129, 131), (30, 202)]))


def test_same_pads(folder):
    """Pads of SAME with strides depend on sizes, and are kept; what stands behind them is optimized."""
    path = small_model(folder / "same.onnx", """(float[batch,3,height,width] x) => (float[batch,4,?,?] y)
                       { c = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, k)
                         p = MaxPool<auto_pad = "SAME_LOWER", kernel_shape = [3, 3], strides = [3, 2]>(c)
                         pa = Conv(p, a)  pb = Conv(p, b)  y = Max(pa, pb) }""", k=(4, 3, 3, 3), a=(4, 4, 1, 1), b=(4, 4, 1, 1))
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Conv", "MaxPool"],
           f"same: {report['rewrites']} {report['symbols']['kept']}")
    expect_same(path, out, images_of([(1, 1), (5, 8), (31, 32), (33, 57), (40, 41), (64, 35), (97, 98)]))


def down_and_up(path, resizes):
    """An image is halved, enlarged again and joined with what it was: doubled, where only even sizes have a result, or
    resized to sizes that are read off the other."""
    up = 's = Shape(x)  u = Resize<mode = "nearest">(h, , , s)' if resizes else "u = ConvTranspose<strides = [2, 2]>(h, t)"
    return small_model(path, f"""(float[batch,3,height,width] x) => (float[batch,4,height,width] z)
                       {{ h = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)  {up}
                          c = Concat<axis = 1>(x, u)  ca = Conv(c, a)  cb = Conv(c, b)  z = Max(ca, cb) }}""",
                       t=(3, 3, 2, 2), a=(4, 6, 1, 1), b=(4, 6, 1, 1))


def test_down_and_up(folder):
    for resizes in (False, True):
        path = down_and_up(folder / "down.onnx", resizes)
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Resize"] * resizes,
               f"down and up: {report['rewrites']} {report['symbols']['kept']}")
        _, measured, _ = optimize(path, "--no-measure", *priced(path, folder, "--runtime", "taso", "--profile",
                                                                "batch=1 height=8 width=8"))
        heights = [binding["height"] for binding in measured["symbols"]["checked"]]
        expect(measured["check"] == "passed" and len(heights) == 3 and (resizes or not any(h % 2 for h in heights)),
               f"down and up: checked {heights} {measured['check']}")
        done = subprocess.run([OPT, path, "--device", "fake", "--profile", "width=6 height=8,7"], capture_output=True, text=True)
        expect(done.returncode == 2 * (not resizes) and ("height=7 is no multiple of 2" in done.stderr) == (not resizes),
               f"down and up: a size that fails: {done.returncode} {done.stderr}")
        expect_same(path, out, images_of([(6, 8), (34, 50), (2, 4)] + resizes * [(7, 9), (33, 50)]))


def test_doubled_and_added(folder):
    """What is doubled and added to what it was goes with odd sizes, too, where that is a single row."""
    path = small_model(folder / "added.onnx", """
        (float[batch,3,height,width] x) => (float[batch,4,?,?] z, float[?,?] none) <int64[1] two = {2}, int64[1] four = {4}>
        { h = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, k)  u = ConvTranspose<strides = [2, 2]>(h, t)
          c = Add(x, u)  ca = Conv(c, a)  cb = Conv(c, b)  z = Max(ca, cb)
          s = Shape(h)  hw = Slice(s, two, four)  none = ConstantOfShape(hw) }""",
        k=(3, 3, 3, 3), t=(3, 3, 2, 2), a=(4, 3, 1, 1), b=(4, 3, 1, 1))
    out, _, _ = optimize(path, *COMPUTED_COSTS)
    expect_same(path, out, images_of([(1, 1), (1, 6), (4, 1), (6, 8)]))


def test_halves_of_one(folder):
    """A size of nothing is no dimension that a Reshape keeps."""
    path = small_model(folder / "nothing.onnx", """
        (float[batch,4,height,width] x) => (float[4,?,?,?] y, float[?,4,?,?] z)
        <int64[1] n0 = {0}, int64[1] n2 = {2}, int64[1] n3 = {3}, int64[1] n4 = {4}>
        { shape = Shape(x)  batch = Gather(shape, n0)  height = Gather(shape, n2)  width = Gather(shape, n3)
          half = Div(height, n2)  s = Concat<axis = 0>(batch, n4, half, width)  e = ConstantOfShape(s)
          t = Transpose<perm = [0, 1, 3, 2]>(e)  to = Concat<axis = 0>(batch, width, half, n4)
          r = Reshape<allowzero = 1>(t, to)  y = Transpose<perm = [3, 1, 0, 2]>(r)
          xa = Conv(x, a)  xb = Conv(x, b)  z = Max(xa, xb) }""", a=(4, 4, 1, 1), b=(4, 4, 1, 1))
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "halves of one: not rewritten")
    expect_same(path, out, images_of([(1, 1), (1, 6), (7, 1), (6, 8)]))


def flattened(path, order, axis, opset):
    """A tensor with these axes, of which `half` is nothing where an image has a single row, as a matrix."""
    return small_model(path, f"""
        (float[batch,4,height,width] x) => (float[?,?] y, float[?,4,?,?] z) <int64[1] n0 = {{0}}, int64[1] n2 = {{2}}, int64[1] n3 = {{3}}>
        {{ shape = Shape(x)  batch = Gather(shape, n0)  height = Gather(shape, n2)  width = Gather(shape, n3)
           half = Div(height, n2)  s = Concat<axis = 0>({order})  e = ConstantOfShape(s)  u = Unsqueeze(e, n0)
           y = Flatten<axis = {axis + 1}>(u)  xa = Conv(x, a)  xb = Conv(x, b)  z = Max(xa, xb) }}""",
        opset=opset, a=(4, 4, 1, 1), b=(4, 4, 1, 1))


def test_flattened_to_nothing(folder):
    """Before operator set 14 the -1 of a Reshape says that a size is nothing; where it cannot, the node is kept."""
    for opset in (13, 17):
        for order, axis in (("batch, width, half", 2), ("half, batch, width", 1), ("batch, half, width, half", 2)):
            case = f"flattened, {order}, operator set {opset}"
            path = flattened(folder / "flattened.onnx", order, axis, opset)
            out, _, _ = optimize(path, *COMPUTED_COSTS)
            expect(count(out, "Conv") == 1, f"{case}: {count(out, 'Conv')} convolutions")
            expect_same(path, out, images_of([(1, 1), (1, 6), (7, 1), (6, 8)]))


HALVED = "h = Conv<strides = [2], pads = [1, 1]>({}, k)  s = Shape(h)  none = ConstantOfShape(s)".format
DOUBLED = "u = ConvTranspose<strides = [2]>({}, t)".format


def test_grouped(folder):
    """A vector that is made rows of four has a multiple of four entries; of rows of three nobody knows how many there are."""
    for size, kept in (4, []), (3, ["Reshape", "Relu"]):
        path = small_model(folder / "grouped.onnx", f"""(float[n] x) => (float[?,{size}] z) <int64[2] to = {{-1, {size}}}>
                           {{ y = Reshape(x, to)  z = Relu(y) }}""")
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect([k["operator"] for k in report["symbols"]["kept"]] == kept, f"grouped by {size}: {report['symbols']['kept']}")
        expect(all(k["symbols"] for k in report["symbols"]["kept"]), f"grouped by {size}: {report['symbols']['kept']}")
        expect_same(path, out, [{"n": n * size} for n in (1, 2, 7)])
        expect(interface(path) == interface(out), f"grouped by {size}: the interface changed")


def test_no_units(folder):
    """Sizes that are no multiples, and yet have a result: where both sides are cut, where a window leaves a single row,
    beside others that are no multiples either. Halved is the last axis, rounded up, and told is how large it is then."""
    together = "float[1,4,x] x, float[1,4,y] y, float[1,4,z] z"
    for case, inputs, nodes, bindings in (
        ("cut", "float[1,4,n] x", f"""{HALVED("x")}  {DOUBLED("h")}  c = Slice(x, zero, most, two)  d = Slice(u, zero, most, two)
         sum = Concat<axis = 1>(c, d)""", [{"n": 601}, {"n": 6}]),
        ("windows", "float[1,4,n] x", f"""g = Conv(x, v)  {HALVED("g")}  {DOUBLED("h")}  sum = Add(g, u)""", [{"n": 9}, {"n": 14}]),
        ("together", together, f"""xyz = Concat<axis = 2>(x, y, z)  {HALVED("x")}  g = Conv<strides = [2], pads = [1, 1]>(xyz, k)
         {DOUBLED("g")}  sum = Add(xyz, u)""", [{"x": 1, "y": 3, "z": 4}, {"x": 5, "y": 2, "z": 3}, {"x": 2, "y": 4, "z": 6}]),
    ):
        path = small_model(folder / f"{case}.onnx", f"""
            ({inputs}) => (float[1,?,?] sum, float[1,?,?] none, float[1,?,?] two_in_one)
            <int64[1] zero = {{0}}, int64[1] two = {{2}}, int64[1] most = {{512}}>
            {{ {nodes}  xa = Conv(x, a)  xb = Conv(x, b)  two_in_one = Concat<axis = 1>(xa, xb) }}""",
            k=(4, 4, 3), t=(4, 4, 2), v=(4, 4, 9), a=(4, 4, 1), b=(4, 4, 1))
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"], f"no units, {case}: nothing was rewritten")
        expect_same(path, out, bindings)


def test_dilated_pools_rounded_up(folder):
    """The end pad that rounds up is none that runtimes refuse: one of as many entries as the window has."""
    for height in ("height", 5):
        path = small_model(folder / "dilated.onnx", f"""(float[2,3,{height},{height}] x) => (float[2,3,?,?] z) {{ r = Relu(x)  s = Relu(r)
                           z = MaxPool<ceil_mode = 1, dilations = [3, 3], kernel_shape = [2, 2], strides = [3, 3]>(s) }}""")
        out, _, _ = optimize(path, *COMPUTED_COSTS)
        expect_same(path, out, [{"height": size} for size in ([5] if height == 5 else range(4, 40))])


# --- what holds at some sizes only ------------------------------------------------------------------------------------

def test_poolings_of_smaller_images(folder):
    """A mean that counts its padding is a convolution, which fails where ONNX Runtime gives one entry of an image that is
    smaller than the window."""
    path = small_model(folder / "smaller.onnx", """(float[n,3,1,n] x) => (float[?,?,?,?] z)
                       { y = MaxPool<kernel_shape = [2, 1], pads = [1, 0, 1, 0], strides = [2, 1]>(x)
                         z = AveragePool<kernel_shape = [1, 3], pads = [0, 0, 0, 1], strides = [2, 2], count_include_pad = 1>(y) }""",
                       opset=18)
    out, _, _ = optimize(path, "--device", "fake")
    expect_agreement(path, out, most=20)


def test_cuts(folder):
    """x[:, :16], x[:, :y.size(1)] and min(size, 16) mean something else beyond sixteen; x[:, -1:] never does."""
    path = small_model(folder / "cuts.onnx", """
        (float[batch,n] x, float[batch,n] y) => (float[?,?] a, float[?,?] b, float[?,?] d, float[?] c, float[?] g, float[?] i,
         int64[?] k, int64[?] e, int64[?] f)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] most = {16}, int64[1] last = {-1},
         int64[1] far = {4611686018427387904}, int64[1] flat = {-1}>
        { r = Relu(x)  a = Slice(r, zero, most, one)  b = Slice(r, last, far, one)  s = Shape(y)  n = Gather(s, one)
          c = Slice(w, zero, n, zero)  k = Min(n, most)  d = Slice(r, zero, k, one)  is_less = Less(n, most)
          e = Where(is_less, n, most)  f = Div(n, two)  is_most = Equal(n, most)  g = Cast<to = 1>(is_most)
          h = Reshape(y, flat)  i = Slice(h, zero, n, zero) }""", w=(40,))
    out, _, _ = optimize(path, *COMPUTED_COSTS)
    expect_agreement(path, out, most=60, bindings=20)


def test_cuts_within(folder):
    """What is cut off an axis of any size is the same at all sizes, or there is not always as much: then nothing is known."""
    for name, cut, is_typed in (("its own length", "s = Shape<start = 2>(x)  c = Slice(wide, zero, s, two)", True),
                                ("an end", "c = Slice(wide, zero, less, two)", True),
                                ("both ends", "c = Slice(wide, one, less, two)", True),
                                ("more at both ends", "c = Slice(wide, one, two_less, two)", False),
                                ("the last", "l = Slice(x, less, far, two)  c = Add(l, x)", True),
                                ("the last two", "c = Slice(wide, two_less, far, two)", True),
                                ("the last four", "c = Slice(wide, four_less, far, two)", False),
                                ("the first two", "c = Slice(wide, zero, two, two)", True),
                                ("the first four", "c = Slice(wide, zero, four, two)", False),
                                ("another length", "s = Shape<start = 2>(y)  c = Slice(wide, zero, s, two)", False)):
        path = small_model(folder / "within.onnx", f"""(float[1,4,n] x, float[1,4,m] y) => (float[1,?,?] z, float[] t)
            <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] four = {{4}}, int64[1] less = {{-1}},
             int64[1] two_less = {{-2}}, int64[1] four_less = {{-4}}, int64[1] far = {{{2**63 - 1}}}>
            {{ wide = Conv<pads = [1, 1]>(x, w)  {cut}  pc = MatMul(p, c)  qc = MatMul(q, c)  z = Add(pc, qc)  t = Relu(y) }}""",
            w=(4, 4, 2), p=(8, 4), q=(8, 4))
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(bool(report["rewrites"]) == is_typed, f"{name}: {report['symbols']['kept']}")
        expect_agreement(path, out, most=12)


def test_all_of_an_axis(folder):
    """Exporters write several numbers for the end of any axis."""
    for end in (10**9, 2**31 - 1, 2**63 - 1):
        path = small_model(folder / "all.onnx", f"""(float[n,4] x) => (float[n,4] z) <int64[1] zero = {{0}}, int64[1] end = {{{end}}}>
                           {{ c = Slice(x, zero, end, zero)  cp = MatMul(c, p)  cq = MatMul(c, q)  z = Add(cp, cq) }}""",
                           p=(4, 4), q=(4, 4))
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"] and count(out, "Slice") == 0, f"all up to {end}: {report['symbols']['kept']}")


def test_seen_at_all_probes(folder):
    """What the sizes of import do not show: a table's end, entries far into it, the end before the start, a size of 1."""
    clipped = np.minimum(np.arange(6000), 64)
    path = small_model(folder / "seen.onnx", f"""
        (float[n,4] x, int64[m] y) => ({", ".join(f"float[] {name}" for name in "abcdefghijk")})
        <int64[1] zero = {{0}}, int64[2] sizes = {{2, 3}}, int64 five = {{5}}, int64 step = {{1}}, int64 zeroth = {{0}}>
        {{ s = Shape<start = 0, end = 1>(x)  n = Squeeze(s)  whole = Shape(x)  a = Slice(short, zero, s, zero)
           as = Shape(a)  b = ConstantOfShape(as)  cs = Slice(sizes, zero, s, zero)  c = Expand(one, cs)
           ds = Slice(whole, zero, s, zero)  dp = ReduceProd<keepdims = 1>(ds)  d = ConstantOfShape(dp)
           es = Gather(counts, s)  e = ConstantOfShape(es)  fs = Gather(factors, s)  f = Mul(x, fs)
           r = Range(five, n, step)  ry = Concat<axis = 0>(r, y)  gs = Shape(ry)  g = ConstantOfShape(gs)
           js = Range(n, five, step)  jn = Shape(js)  j = ConstantOfShape(jn)  ks = Range(zeroth, five, n)
           kn = Shape(ks)  k = ConstantOfShape(kn)  h1 = Unsqueeze(x, zero)  h2 = Squeeze(h1)  hs = Shape(h2)
           h = Expand(one, hs)  xp = MatMul(x, p)  xq = MatMul(x, q)  i = Add(xp, xq) }}""",
        short=(8, 4), counts=clipped, factors=clipped.astype(np.float32), one=(1,), p=(4, 4), q=(4, 4))
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "seen: nothing was rewritten")
    for most in (8, 100):
        expect_agreement(path, out, most=most)


def test_elsewhere(folder):
    """A table of 64 that is cut to n has no more than 64; what is one window up to 32 is two beyond that."""
    pair = "xp = MatMul({0}, p)  xq = MatMul({0}, q)  z = Add(xp, xq)".format
    windows = """t = Transpose<perm = [1, 0]>(w)  u = Unsqueeze(t, zero)  m = MaxPool<kernel_shape = [1], strides = [32]>(u)
                 ms = Shape(m)  y = ConstantOfShape(ms)"""
    for name, nodes, kept, most in (
        ("shape", f"{pair('x')}  cs = Shape(c)  y = ConstantOfShape(cs)", None, 100),
        ("added", f"w = Add(x, c)  {pair('w')}  y = MatMul(c, p)", ["Slice"], 64),
        ("windows", f"{pair('x')}  w = Add(x, c)  {windows}", None, 64),
    ):
        path = small_model(folder / f"{name}.onnx", f"""(float[n,4] x) => (float[n,4] z, float[] y) <int64[1] zero = {{0}}>
                           {{ s = Shape<start = 0, end = 1>(x)  c = Slice(table, zero, s, zero)  {nodes} }}""",
                           table=(64, 4), p=(4, 4), q=(4, 4))
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"], f"{name}: nothing was rewritten")
        expect(kept in (None, [k["operator"] for k in report["symbols"]["kept"]]), f"{name}: {report['symbols']['kept']}")
        expect_agreement(path, out, most=most)


def test_elsewhere_of_constants(folder):
    """A table has no more than its rows, cut from a place on that takes long to compute, a 0 of many numbers, and where the model
    has so many constants that not all are computed."""
    place = "squares = Mul(large, large)  least = ReduceMin<axes = [0]>(squares)  floor = Floor(least)  start = Cast<to = 7>(floor)"
    chain = "  ".join(f"t{i + 1} = Tanh(t{i})" for i in range(150))
    for name, nodes, end, weights in (
            ("place", place, "Slice(table, start, s, zero)", {"large": (400000,)}),
            ("chain", f"{chain}  u = ReduceMean<keepdims = 0>(t150)", "Slice(table, zero, s, zero)", {"t0": (256, 256)})):
        path = small_model(folder / f"{name}.onnx", f"""(float[n,4] x) => (float[n,4] z, float[] y, float[] v)
            <int64[1] zero = {{0}}, int64 first = {{0}}, float u0 = {{1}}>
            {{ {nodes}  shape = Shape(x)  n0 = Gather(shape, first)  s = Unsqueeze(n0, zero)  c = {end}  cs = Shape(c)
               y = ConstantOfShape(cs)  xp = MatMul(x, p)  xq = MatMul(x, q)  z = Add(xp, xq)
               v = Mul({"u" if name == "chain" else "u0"}, u0) }}""", table=(64, 4), p=(4, 4), q=(4, 4), **weights)
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"], f"{name}: nothing was rewritten")
        expect_agreement(path, out, most=100)


def tables():
    """How a table of `rows` is cut or gathered from by sizes: a name, inputs, nodes that make the sum h of them and of rows, and
    the least and the most sizes that all tables allow."""
    two = "float[batch,n,26] x, float[batch,m,26] c"
    whole = "s = Shape<start = 1, end = 2>(x)  n = Squeeze(s, zero)  "
    past = whole + "ps = Shape<start = 1, end = 2>(c)  pn = Squeeze(ps, zero)  ts = Add(s, ps)  tn = Add(n, pn)  "
    added = "  h = Add(x, p)"
    yield "cut", two, whole + "p = Slice(table, zero, s, zero)" + added, 12
    yield "cut behind one", two, whole + "e = Add(s, one)  p = Slice(table, one, e, zero)" + added, 11
    yield "cut at twice", two, whole + "e = Mul(s, two)  l = Slice(table, zero, e, zero)  k = Reshape(l, pairs)  " \
        "p = ReduceMax<axes = [1], keepdims = 0>(k)" + added, 6
    yield "cut behind the past", two, past + "p = Slice(table, ps, ts, zero)" + added, 6
    yield "cut from the end", two, whole + "e = Neg(s)  p = Slice(table, e, all, zero)" + added, 12
    yield "counted", two, whole + "r = Range(nothing, n, single)  p = Gather(table, r)" + added, 12
    yield "counted behind the past", two, past + "r = Range(pn, tn, single)  p = Gather(table, r)" + added, 6
    yield "the last", two, whole + "l = Sub(n, single)  p = Gather(table, l)" + added, 12
    rows = "s = Shape<end = 1>(f)  "
    counted = "n = Squeeze(s, zero)  r = Range(nothing, n, single)  p = Gather(table, r)"
    for name, inputs, joined, most in (
            ("a product", "float[n,m,26] x, float[k] c", "f = Reshape(x, flat)  ", 3),
            ("a sum of three", "float[n,26] x, float[m,26] c, float[k,26] d", "f = Concat<axis = 0>(x, c, d)  ", 4),
            ("a sum and a number", "float[n,26] x, float[m,26] c", "f = Concat<axis = 0>(x, c, three)  ", 4)):
        yield f"cut at {name}", inputs, joined + rows + "p = Slice(table, zero, s, zero)  h = Add(f, p)", most
        yield f"counted to {name}", inputs, joined + rows + counted + "  h = Add(f, p)", most


def test_short_tables(folder):
    """As much is understood of a table that is shorter than the sizes that are tried as of one that is longer. The numbers of
    the model are multiples of the least primes."""
    for name, inputs, nodes, most in tables():
        kept = []
        for rows in (12, 18, 20, 24, 20000)[::1 if "--all" in sys.argv else 4]:
            path = small_model(folder / "table.onnx", f"""({inputs}) => (float[] z, float[] y)
                <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64 nothing = {{0}}, int64 single = {{1}},
                 int64[1] all = {{1000000000000}}, int64[3] pairs = {{-1, 2, 26}}, int64[2] flat = {{-1, 26}}>
                {{ {nodes}  hq = MatMul(h, q)  hr = MatMul(h, r0)  z = Add(hq, hr)  y = Relu(c) }}""",
                table=(rows, 26), q=(26, 26), r0=(26, 26), three=(3, 26))
            out, report, _ = optimize(path, *COMPUTED_COSTS)
            kept.append([k["operator"] for k in report["symbols"]["kept"]])
            expect(report["rewrites"], f"{name} of {rows}: nothing was rewritten: {report['symbols']['kept']}")
            expect_agreement(path, out, most=most + 1)
        expect(all(k == kept[0] for k in kept), f"{name}: {kept}")


def test_sums_of_squares(folder):
    """n rows of n ones: a small constant of one that no memory holds."""
    path = small_model(folder / "square.onnx", """(float[n] x) => (float[n] y) <int64[1] zero = {0}>
                       { s = Shape(x)  ss = Concat<axis = 0>(s, s)  a = ConstantOfShape(ss)
                         b = ReduceSum<keepdims = 0>(a, zero)  y = Add(b, x) }""")
    out, _, _ = optimize(path, *COMPUTED_COSTS, "--max-memory", "1G")
    expect_agreement(path, out)


def test_names_of_unnamed(folder):
    """A symbol that is called as a dimension without a name would be."""
    path = products(folder / "called.onnx", "?")
    model = onnx.load(path)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "x[0]"
    onnx.save(model, path)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == ["x[0]'", "x[0]"], f"called: {report['symbols']}")
    a, b, fed = session_of(path), session_of(out), {"x": np.ones((1, 16), np.float32), "y": np.ones((7, 16), np.float32)}
    for u, v in zip(a.run(None, fed), b.run(None, fed)):
        expect(u.shape == v.shape and np.allclose(u, v, rtol=1e-5), "called: differs at 1, 7")


def test_rules_of_some_sizes(folder):
    """Rules that are right at one size: of the profile, and of the binding that the graph is made for."""
    path = small_model(folder / "sum.onnx", """(float[n,16] x) => (float[n,8] z)
                       { xa = MatMul(x, a)  xb = MatMul(x, b)  z = Add(xa, xb) }""", a=(16, 8), b=(16, 8))
    source, product = "  (source (ewadd (matmul ?x ?y) (matmul ?x ?z)))\n", "(matmul ?x (ewadd ?y ?z))"
    rules = folder / "some.rules"
    for size in (8, 211):
        in_condition = f"(target {product})\n  (where (= (dim ?x 0) {size}))"
        in_attribute = f"(target (reshape :shape (list {size} 8) {product}))"
        for target in (in_condition, in_attribute):
            rules.write_text(f"(rule of-one-size\n{source}  {target}{PROVED})\n")
            options = ["--rules", rules, *COMPUTED_COSTS]
            out, report, _ = optimize(path, *options, "--profile", f"n={size}")
            expect(not report["rewrites"], f"a rule for n={size} was applied: {target}")
            expect_agreement(path, out)
            _, report, _ = optimize(path, *options, "--shape", f"n={size}")
            expect(report["rewrites"], f"where --shape says {size}, the rule holds: {target}")
    rules.write_text(f"(rule of-all\n{source}  (target (reshape :shape (list (dim ?x 0) (dim ?y 1)) {product})){PROVED})\n")
    out, report, _ = optimize(path, "--rules", rules, *COMPUTED_COSTS)
    expect(report["rewrites"], "a rule that holds for all sizes is applied")
    expect_agreement(path, out)


# --- the command line -------------------------------------------------------------------------------------------------

def test_usage(folder):
    fixed = small_model(folder / "fixed.onnx", "(float[4] x) => (float[4] z) { z = Relu(x) }")
    free = products(folder / "free.onnx")
    out = folder / "none.onnx"
    for model, *options in [(fixed, "--profile", "n=4"), (free, "--profile", "m=4"), (free, "--profile", "n=0"),
                            (free, "--profile", "n"), (free, "--profile", "n=4,"), (free, "--profile", "n=1,x"),
                            (free, "--profile", "n=1", "--profile", "n=2"), (free, "--profile", "n=1,2,3,4,5,6,7,8,9"),
                            (free, "--shape", "n=4", "--profile", "n=4")]:
        done = subprocess.run([OPT, model, "-o", out, *options], capture_output=True, text=True)
        lines = done.stderr.strip().splitlines()
        expect(done.returncode == 2 and len(lines) == 1 and "--profile" in lines[0] and not out.exists(),
               f"{model.name} {options}: {done.returncode} {done.stderr}")
    doubled = small_model(folder / "doubled.onnx", """(float[1,3,h,w] x) => (float[1,3,?,?] z) <float[4] by = {1, 1, 2, 2}>
                          { y = Resize<mode = "linear">(x, , by)  z = Relu(y) }""")
    _, report, _ = optimize(doubled, *COMPUTED_COSTS)
    expect(all(k["reason"] for k in report["symbols"]["kept"]), f"doubled: {report['symbols']['kept']}")


def test_standard_sizes(folder):
    """What they come to is bounded by the model: all that a run makes, at the sizes of the check, too."""
    for symbols, nodes in [("1, a, b, c, 2", "z = Relu(x)"), ("a, b, c, d, e, f", "z = Relu(x)"),
                           ("a, b, c, d", "p = Sigmoid(x)  q = Mul(p, x)  r = Tanh(q)  s = Mul(r, p)  z = Add(s, x)")]:
        model = small_model(folder / "standard-sizes.onnx", f"(double[{symbols}] x) => (double[{symbols}] z) {{ {nodes} }}")
        _, report, _ = optimize(model, "--device", "fake")
        symbolic = report["symbols"]
        for sizes, most in [(symbolic["profiles"], 32 << 20), (symbolic["checked"], 64 << 20)]:
            for at in sizes:
                entries = np.prod([int(s) if s.isdigit() else at[s] for s in symbols.split(", ")])
                expect(8 * entries * (nodes.count("=") + 1) <= most, f"standard sizes: {at}")


run_tests(tests_of(globals())[1::5] if "--few" in sys.argv else tests_of(globals()))
