"""taso-opt on models with symbolic dimensions: `dynamic.py SOURCE-ROOT TASO-OPT`. What is written has the interface of
the original and agrees with it in ONNX Runtime at ten bindings of the symbols, ones among them."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from expectations import expect, failures

sys.path.insert(0, sys.argv[1] + "/tests/onnx")
import dynamic_models   # noqa: E402

OPT = sys.argv[2]
COMPUTED_COSTS = ["--device", "fake", "--finalists", "1", "--budget", "200", "--no-measure"]
INTEGERS_BELOW = 50


def value(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, nodes, inputs, outputs, weights=None, opset=17):
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    graph = helper.make_graph([helper.make_node(op, i, o, name=f"/{op}_{n}", **attributes)
                               for n, (op, i, o, attributes) in enumerate(nodes)], "g", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def run(model, *options):
    """The written model, the report (None: nothing is written), and how it ended."""
    out, report = model.with_suffix(".out.onnx"), model.with_suffix(".json")
    out.unlink(missing_ok=True)
    done = subprocess.run([OPT, model, "-o", out, "--json", report, "--python", sys.executable, *options],
                          capture_output=True, text=True)
    return out, json.loads(report.read_text()) if done.returncode == 0 else None, done


def optimize(model, *options):
    out, report, done = run(model, *options)
    expect(done.returncode == 0, f"{model.name} {options}: exit code {done.returncode}: {done.stderr}")
    return out, report, done


def interface(model):
    graph = onnx.load(model).graph
    return [v.SerializeToString() for v in [*graph.input, *graph.output]]


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feed(inputs, sizes, random):
    """Sizes by symbol, or by INPUT[AXIS] where there is none."""
    fed = {}
    for i in inputs:
        shape = [d if isinstance(d, int) else sizes[d or f"{i.name}[{axis}]"] for axis, d in enumerate(i.shape)]
        fed[i.name] = (random.standard_normal(shape).astype(np.float32) if "float" in i.type
                       else random.integers(0, 2 if "mask" in i.name else INTEGERS_BELOW, shape))
    return fed


def symbols(model):
    return sorted({d or f"{i.name}[{axis}]" for i in session(model).get_inputs() for axis, d in enumerate(i.shape)
                   if not isinstance(d, int)})


def expect_agreement(original, result, most=100, bindings=10):
    a, b, random = session(original), session(result), np.random.default_rng(7)
    expect(interface(original) == interface(result), f"{original.name}: the interface changed")
    for n in range(bindings):
        sizes = {s: 1 if n == 0 else int(random.integers(1, most)) for s in symbols(original)}
        fed = feed(a.get_inputs(), sizes, random)
        for x, y in zip(a.run(None, fed), b.run(None, fed)):
            scale = np.abs(x).max(initial=0)
            expect(x.shape == y.shape and (np.abs(x - y) <= 1e-5 * scale).all(), f"{original.name}: differs at {sizes}")


def count(model, *kinds):
    return sum(n.op_type in kinds for n in onnx.load(model).graph.node)


# --- exports ----------------------------------------------------------------------------------------------------------

def weight_bytes(model):
    return sum(onnx.numpy_helper.to_array(t).nbytes for t in onnx.load(model).graph.initializer)


def test_exports(folder):
    for name, make in dynamic_models.MODELS.items():
        path = folder / f"{name}.onnx"
        onnx.save(make(), path)
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"] or name == "gpt", f"{name}: nothing was rewritten")
        expect_agreement(path, out)
        expect(count(out, "Shape", "Unsqueeze", "Concat") < count(path, "Shape", "Unsqueeze", "Concat"),
               f"{name}: computes as much with shapes as before")
        expect([report["weight_bytes_before"], report["weight_bytes_after"]] == [weight_bytes(path), weight_bytes(out)],
               f"{name}: the weights are said to take other bytes than they do")
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
        expect_agreement(path, out)


def test_checked_here(folder):
    """On this processor, and in ONNX Runtime, at the profiles and at other sizes."""
    path, rules = folder / "checked.onnx", folder / "checked.rules"
    rules.write_text("(rule once\n  (source (ewadd (matmul ?x ?y) (matmul ?x ?z)))\n  (target (matmul ?x (ewadd ?y ?z))))\n")
    model, random = dynamic_models.bert(layers=1), np.random.default_rng(15)
    for name in "ab":
        model.graph.node.append(helper.make_node("MatMul", ["last_hidden_state", name], [f"times_{name}"], name=f"times_{name}"))
        model.graph.initializer.append(numpy_helper.from_array(random.standard_normal((64, 1024)).astype(np.float32), name))
    model.graph.node.append(helper.make_node("Add", ["times_a", "times_b"], ["sum"], name="sum"))
    model.graph.output.append(value("sum", "batch", "sequence", 1024))
    onnx.save(model, path)
    out, report, done = optimize(path, "--no-measure", "--finalists", "1", "--rules", rules,
                                 "--profile", "batch=1,3 sequence=24", "--seed", "3")
    told = report["symbols"]
    expect(told["profiles"] == [{"batch": 1, "sequence": 24}, {"batch": 3, "sequence": 24}], f"profiles: {told}")
    expect(len(told["checked"]) == 3 and report["check"] == "passed", f"checked: {told} {report['check']}")
    expect([k["operator"] for k in told["kept"]] == ["Slice"] and told["kept"][0]["symbols"] == "sequence",
           f"what the size of sequence keeps is named: {told['kept']}")
    expect("batch=1, sequence=24; batch=3, sequence=24" in done.stdout, f"the report names profiles: {done.stdout}")
    expect_agreement(path, out)


NOT_SEEN_TO_BE_FASTER = ("the result is not measurably faster", "no rewrite was found to be faster")


def test_faster(folder):
    """Half of all products are spared: what is timed at two profiles is written, unless other programs hide the gain."""
    random, nodes, weights, x = np.random.default_rng(4), [], {}, "x"
    for layer in range(3):
        parts = [f"{w}{layer}" for w in "ab"]
        weights |= {w: (random.standard_normal((256, 256)) / 16).astype(np.float32) for w in parts}
        nodes += [("MatMul", [x, w], [f"x{w}"], {}) for w in parts]
        nodes += [("Add", [f"x{w}" for w in parts], [f"s{layer}"], {}), ("Relu", [f"s{layer}"], [f"r{layer}"], {})]
        x = f"r{layer}"
    path = save(folder / "pairs.onnx", nodes, [value("x", "batch", "sequence", 256)],
                [value(x, "batch", "sequence", 256)], weights)
    for _ in range(6):
        out, report, _ = optimize(path, "--threads", "1", "--finalists", "1", "--measure-seconds", "1",
                                  "--profile", "batch=1,4", "--profile", "sequence=48")
        if report["kept_reason"] not in NOT_SEEN_TO_BE_FASTER:
            break
    expect(report["optimized"] and len(report["symbols"]["profiles"]) == 2, f"pairs: {report['kept_reason']}")
    expect_agreement(path, out)


def test_given_inputs(folder):
    """They have the sizes of the first profile that is given; at other sizes inputs are made up."""
    path, inputs = products(folder / "given.onnx", "n", 16), folder / "inputs"
    inputs.mkdir()
    for name in "xy":
        np.save(inputs / f"{name}.npy", np.ones((3, 16), np.float32))
    out, report, _ = optimize(path, "--no-measure", "--finalists", "1", "--inputs", inputs, "--profile", "n=3")
    expect(report["check"] == "passed" and len(report["symbols"]["checked"]) == 3, f"given: {report['check']}")
    expect_agreement(path, out)
    out.unlink()
    done = subprocess.run([OPT, path, "-o", out, "--no-measure", "--inputs", inputs, "--profile", "n=1"],
                          capture_output=True, text=True)
    expect(done.returncode == 3 and "[3, 16]" in done.stderr and "[1, 16]" in done.stderr and not out.exists(),
           f"given: other sizes than those of the profile: {done.returncode} {done.stderr}")


def test_costs_are_of_profiles(folder):
    """At the sizes that it is checked at nothing is measured, and these are of their own."""
    random = np.random.default_rng(5)
    shapes = {"kernel": (16, 3, 3, 3), "a": (33, 512), "b": (33, 512)}
    path = save(folder / "image.onnx",
                [("Conv", ["x", "kernel"], ["y"], {"pads": [1] * 4}), ("MatMul", ["y", "a"], ["ya"], {}),
                 ("MatMul", ["y", "b"], ["yb"], {}), ("Add", ["ya", "yb"], ["o"], {})],
                [value("x", 1, 3, "height", 33)], [value("o", 1, 16, "height", 512)],
                {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()})
    costs = folder / "image.costs"
    for seed in "1", "2":
        costs.unlink(missing_ok=True)
        _, report, _ = optimize(path, "--runtime", "taso", "--layout", "joint", "--no-measure", "--finalists", "1",
                                "--threads", "1", "--profile", "height=31", "--costs", costs, "--seed", seed)
        text, checked = costs.read_text(), [b["height"] for b in report["symbols"]["checked"]]
        expect("x31x33]" in text, "image: costs at the profile are measured")
        expect(len({31, *checked}) == 4, f"image: each check has sizes of its own, {checked}")
        expect(not any(f"x{h}x33" in text for h in checked), f"image: costs at {checked} are measured")


def test_memory_of_checks(folder):
    """Sizes to check at for which there is no memory are left out; the profile's are those that have to fit."""
    weights = {w: np.random.default_rng(6).standard_normal((16, 16)).astype(np.float32) for w in "ab"}
    nodes = [*(("MatMul", ["x", w], [f"x{w}"], {}) for w in "ab"), ("Add", ["xa", "xb"], ["o"], {})]
    path = save(folder / "large.onnx", nodes, [value("x", "rows", "columns", 16)], [value("o", "rows", "columns", 16)], weights)
    left_out = []
    for limit in "40M", "60M", "100M":
        out, report, done = run(path, "--no-measure", "--finalists", "1", "--runtime", "taso", "--layout", "standard",
                                "--threads", "1", "--costs", folder / "large.costs", "--profile", "rows=250 columns=250",
                                "--seed", "3", "--max-memory", limit)
        expect(done.returncode in (0, 4), f"large: exit code {done.returncode} with {limit}")
        if done.returncode == 0:
            left_out.append(done.stderr.count("not checked here at rows="))
            expect(report["check"] == "passed" and len(report["symbols"]["checked"]) == 3 - left_out[-1],
                   f"large: {report['check']} {report['symbols']} {done.stderr}")
    expect(any(left_out) and left_out[-1] == 0, f"large: {left_out} are left out")


# --- symbols ----------------------------------------------------------------------------------------------------------

def products(path, *dims, kind="batch"):
    """x . a + b and x . c + d, always worth merging, of several inputs."""
    random = np.random.default_rng(1)
    weights = {w: random.standard_normal((16, 8)).astype(np.float32) for w in "abcd"}
    nodes = [("MatMul", ["x", "a"], ["xa"], {}), ("MatMul", ["x", "b"], ["xb"], {}),
             ("Concat", ["xa", "xb"], ["p"], {"axis": 0}), ("MatMul", ["y", "c"], ["yc"], {}),
             ("MatMul", ["y", "d"], ["yd"], {}), ("Add", ["yc", "yd"], ["q"], {}), ("Add", ["q", "xa"], ["r"], {})]
    return save(path, nodes, [value("x", *dims), value("y", *dims)], [value("p", None, None), value("r", None, 8)],
                weights)


def test_shared_symbol(folder):
    path = products(folder / "shared.onnx", "n", 16)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "a symbol that inputs share: nothing was rewritten")
    expect_agreement(path, out)


def test_unnamed(folder):
    """Each is a symbol of its own, so that the sum of x and y is kept: it may be broadcast, or fail."""
    path = products(folder / "unnamed.onnx", None, 16)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == ["x[0]", "y[0]"], f"unnamed: {report['symbols']}")
    expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Add"],
           f"unnamed: {report['rewrites']} {report['symbols']['kept']}")
    a, b = session(path), session(out)
    for x, y in ((5, 5), (1, 7), (1, 1)):
        fed = {"x": np.ones((x, 16), np.float32), "y": np.ones((y, 16), np.float32)}
        for u, v in zip(a.run(None, fed), b.run(None, fed)):
            expect(u.shape == v.shape and np.allclose(u, v, rtol=1e-5), f"unnamed: differs at {x}, {y}")
    expect(interface(path) == interface(out), "unnamed: the interface changed")
    _, report, _ = optimize(path, "--no-measure", "--finalists", "1", "--profile", "x[0]=3 y[0]=3")
    checked = report["symbols"]["checked"]
    expect(report["rewrites"] and report["optimized"] and checked and all(c["x[0]"] in (1, c["y[0]"]) for c in checked),
           f"unnamed: checked where the original runs: {checked} {report['kept_reason']}")


def test_size_of_output_only(folder):
    """What NonZero finds is of a size that no input has."""
    random = np.random.default_rng(2)
    path = save(folder / "found.onnx",
                [("MatMul", ["x", "a"], ["xa"], {}), ("MatMul", ["x", "b"], ["xb"], {}),
                 ("Add", ["xa", "xb"], ["c"], {}), ("Relu", ["c"], ["r"], {}), ("NonZero", ["r"], ["d"], {}),
                 ("Transpose", ["d"], ["z"], {"perm": [1, 0]})],
                [value("x", "n", 16)], [value("z", "found", 2, kind=TensorProto.INT64)],
                {w: random.standard_normal((16, 8)).astype(np.float32) for w in "ab"})
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect_agreement(path, out, most=20)
    expect(count(out, "MatMul") == 1, f"found: {report['rewrites']}")


def test_sums_of_symbols(folder):
    """A cache of the past: the written shape is computed from past + sequence."""
    path = save(folder / "past.onnx",
                [("Concat", ["past", "x"], ["k"], {"axis": 1}), ("Shape", ["k"], ["s"], {}),
                 ("Gather", ["s", "zero"], ["n"], {}), ("Gather", ["s", "one"], ["t"], {}),
                 ("Mul", ["n", "t"], ["nt"], {}), ("Concat", ["nt", "four", "four"], ["to"], {"axis": 0}),
                 ("Reshape", ["k", "to"], ["r"], {}), ("Transpose", ["r"], ["u"], {"perm": [1, 0, 2]}),
                 ("Concat", ["t", "n"], ["tn"], {"axis": 0}), ("Expand", ["v", "tn"], ["w"], {}),
                 ("Relu", ["u"], ["z"], {})],
                [value("past", "batch", "past", 16), value("x", "batch", "sequence", 16), value("v", 1, 1)],
                [value("z", 4, None, 4), value("w", None, None)],
                {"zero": [0], "one": [1], "four": [4]})
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(not report["symbols"]["kept"], f"past: {report['symbols']['kept']}")
    expect_agreement(path, out)


def test_large(folder):
    """Eight symbols of one tensor: at thousands each it would be larger than any memory."""
    names = [f"n{i}" for i in range(8)]
    path = save(folder / "large.onnx", [("Relu", ["x"], ["y"], {}), ("Neg", ["y"], ["z"], {})], [value("x", *names)],
                [value("z", *names)])
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == names and not report["symbols"]["kept"], f"large: {report['symbols']}")
    expect_agreement(path, out, most=3)
    random = np.random.default_rng(3)
    path = save(folder / "twice.onnx", [("MatMul", ["x", "a"], ["xa"], {}), ("MatMul", ["x", "b"], ["xb"], {}),
                                       ("Add", ["xa", "xb"], ["z"], {})],
                [value("x", 2, *names[:2], *names[:2], 16)], [value("z", 2, *names[:2], *names[:2], 8)],
                {w: random.standard_normal((16, 8)).astype(np.float32) for w in "ab"})
    out, report, _ = optimize(path, "--device", "fake", "--budget", "200")
    expect(report["rewrites"], "two symbols of usual sizes, twice, are 34 GB: nothing was rewritten")
    expect_agreement(path, out, most=4)
    names.append("n8")
    path = save(folder / "many.onnx", [("Relu", ["x"], ["z"], {})], [value("x", *names[:4]), value("y", *names[4:])],
                [value("z", *names[:4])])
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
    expect(len(onnx.load(out).graph.node) and session(out).run(None, feed(session(out).get_inputs(), {"sequence": 9},
                                                                         np.random.default_rng(1))), "bound: runs")


# --- images of any height and width -----------------------------------------------------------------------------------

def images(path):
    """Strides, poolings that round down and up, a mean over what is left, and sizes divided by nodes."""
    random = np.random.default_rng(4)
    weights = {name: random.standard_normal(shape).astype(np.float32)
               for name, shape in {"k": (4, 3, 3, 3), "a": (4, 4, 1, 1), "b": (4, 4, 1, 1), "m": (4, 4, 3, 3)}.items()}
    window = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [("Conv", ["x", "k"], ["c"], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
             ("MaxPool", ["c"], ["up"], {**window, "ceil_mode": 1}), ("Conv", ["up", "a"], ["ua"], {}),
             ("Conv", ["up", "b"], ["ub"], {}), ("Add", ["ua", "ub"], ["s"], {}),
             ("Conv", ["s", "m"], ["v"], {"dilations": [2, 1]}), ("Relu", ["v"], ["r"], {}),
             ("AveragePool", ["r"], ["p"], window), ("GlobalAveragePool", ["p"], ["g"], {}),
             ("Flatten", ["g"], ["mean"], {}), ("Shape", ["x"], ["shape"], {}),
             ("Slice", ["shape", "two", "far"], ["hw"], {}), ("Div", ["hw", "three"], ["thirds"], {}),
             ("Concat", ["ones", "thirds"], ["to"], {"axis": 0}), ("Expand", ["a", "to"], ["e"], {}),
             ("Transpose", ["e"], ["spread"], {"perm": [0, 1, 3, 2]})]
    return save(path, nodes, [value("x", "batch", 3, "height", "width")],
                [value("mean", "batch", 4), value("v", None, None, None, None), value("spread", 4, 4, None, None)],
                {**weights, "two": [2], "three": [3], "far": [4], "ones": [4, 4]})


def test_images(folder):
    path = images(folder / "images.onnx")
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"] and all(k["operator"] in ("Shape", "Slice", "Div", "Concat") for k in report["symbols"]["kept"]),
           f"images: {report['rewrites']} {report['symbols']['kept']}")
    expect(interface(path) == interface(out), "images: the interface changed")
    a, b, random = session(path), session(out), np.random.default_rng(8)
    for height, width in [(31, 32), (33, 57), (40, 41), (64, 35), (97, 98), (129, 131), (30, 202)]:
        fed = feed(a.get_inputs(), {"batch": 2, "height": height, "width": width}, random)
        for x, y in zip(a.run(None, fed), b.run(None, fed)):
            expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4), f"images: differs at {height}, {width}")


def test_same_pads(folder):
    """Pads of SAME with strides depend on sizes, and are kept; what stands behind them is optimized."""
    random = np.random.default_rng(6)
    weights = {name: random.standard_normal(shape).astype(np.float32)
               for name, shape in {"k": (4, 3, 3, 3), "a": (4, 4, 1, 1), "b": (4, 4, 1, 1)}.items()}
    nodes = [("Conv", ["x", "k"], ["c"], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
             ("MaxPool", ["c"], ["p"], {"auto_pad": "SAME_LOWER", "kernel_shape": [3, 3], "strides": [3, 2]}),
             ("Conv", ["p", "a"], ["pa"], {}), ("Conv", ["p", "b"], ["pb"], {}), ("Add", ["pa", "pb"], ["y"], {})]
    path = save(folder / "same.onnx", nodes, [value("x", "n", 3, "h", "w")], [value("y", "n", 4, None, None)], weights)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Conv", "MaxPool"],
           f"same: {report['rewrites']} {report['symbols']['kept']}")
    a, b, random = session(path), session(out), np.random.default_rng(8)
    for height, width in [(1, 1), (5, 8), (31, 32), (33, 57), (40, 41), (64, 35), (97, 98)]:
        fed = feed(a.get_inputs(), {"n": 2, "h": height, "w": width}, random)
        x, y = a.run(None, fed)[0], b.run(None, fed)[0]
        expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4), f"same: differs at {height}, {width}")


def down_and_up(path, resizes):
    """An image is halved, enlarged again and joined with what it was: doubled, where only even sizes have a result, or
    resized to sizes that are read off the other."""
    random = np.random.default_rng(6)
    weights = {name: random.standard_normal(shape).astype(np.float32)
               for name, shape in {"t": (3, 3, 2, 2), "a": (4, 6, 1, 1), "b": (4, 6, 1, 1)}.items()}
    up = [("Shape", ["x"], ["s"], {}), ("Resize", ["h", "", "", "s"], ["u"], {"mode": "nearest"})] if resizes else \
        [("ConvTranspose", ["h", "t"], ["u"], {"strides": [2, 2]})]
    nodes = [("MaxPool", ["x"], ["h"], {"kernel_shape": [2, 2], "strides": [2, 2]}), *up,
             ("Concat", ["x", "u"], ["c"], {"axis": 1}), ("Conv", ["c", "a"], ["ca"], {}), ("Conv", ["c", "b"], ["cb"], {}),
             ("Add", ["ca", "cb"], ["z"], {})]
    return save(path, nodes, [value("x", "batch", 3, "height", "width")], [value("z", "batch", 4, "height", "width")], weights)


def test_down_and_up(folder):
    for resizes in (False, True):
        path = down_and_up(folder / "down.onnx", resizes)
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Resize"] * resizes,
               f"down and up: {report['rewrites']} {report['symbols']['kept']}")
        _, measured, _ = optimize(path, "--no-measure", "--finalists", "1", "--runtime", "taso",
                                  "--profile", "batch=1 height=8 width=8")
        heights = [binding["height"] for binding in measured["symbols"]["checked"]]
        expect(measured["check"] == "passed" and len(heights) == 3 and (resizes or not any(h % 2 for h in heights)),
               f"down and up: checked {heights} {measured['check']}")
        done = subprocess.run([OPT, path, "--device", "fake", "--profile", "width=6 height=8,7"], capture_output=True, text=True)
        expect(done.returncode == 2 * (not resizes) and ("height=7 is no multiple of 2" in done.stderr) == (not resizes),
               f"down and up: a size that fails: {done.returncode} {done.stderr}")
        a, b, random = session(path), session(out), np.random.default_rng(9)
        for height, width in [(6, 8), (34, 50), (2, 4)] + resizes * [(7, 9), (33, 50)]:
            fed = feed(a.get_inputs(), {"batch": 3, "height": height, "width": width}, random)
            x, y = a.run(None, fed)[0], b.run(None, fed)[0]
            expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4), f"down and up: differs at {height}, {width}")


def test_doubled_and_added(folder):
    """What is doubled and added to what it was goes with odd sizes, too, where that is a single row."""
    random = np.random.default_rng(10)
    weights = {name: random.standard_normal(shape).astype(np.float32)
               for name, shape in {"k": (3, 3, 3, 3), "t": (3, 3, 2, 2), "a": (4, 3, 1, 1), "b": (4, 3, 1, 1)}.items()}
    nodes = [("Conv", ["x", "k"], ["h"], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
             ("ConvTranspose", ["h", "t"], ["u"], {"strides": [2, 2]}), ("Add", ["x", "u"], ["c"], {}),
             ("Conv", ["c", "a"], ["ca"], {}), ("Conv", ["c", "b"], ["cb"], {}), ("Add", ["ca", "cb"], ["z"], {}),
             ("Shape", ["h"], ["s"], {}), ("Slice", ["s", "two", "four"], ["hw"], {}),
             ("ConstantOfShape", ["hw"], ["none"], {})]
    path = save(folder / "added.onnx", nodes, [value("x", "batch", 3, "height", "width")],
                [value("z", "batch", 4, None, None), value("none", None, None)], {**weights, "two": [2], "four": [4]})
    out, _, _ = optimize(path, *COMPUTED_COSTS)
    a, b = session(path), session(out)
    for height, width in [(1, 1), (1, 6), (4, 1), (6, 8)]:
        fed = feed(a.get_inputs(), {"batch": 2, "height": height, "width": width}, random)
        for x, y in zip(a.run(None, fed), b.run(None, fed)):
            expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4), f"doubled and added: differs at {height}, {width}")


def test_halves_of_one(folder):
    """A size of nothing is no dimension that a Reshape keeps."""
    random = np.random.default_rng(12)
    weights = {name: random.standard_normal((4, 4, 1, 1)).astype(np.float32) for name in "ab"}
    numbers = {str(n): [n] for n in range(5)}
    size = [("Gather", ["shape", axis], [name], {"axis": 0}) for axis, name in (("0", "batch"), ("2", "height"), ("3", "width"))]
    nodes = [("Shape", ["x"], ["shape"], {}), *size, ("Div", ["height", "2"], ["half"], {}),
             ("Concat", ["batch", "4", "half", "width"], ["s"], {"axis": 0}), ("ConstantOfShape", ["s"], ["e"], {}),
             ("Transpose", ["e"], ["t"], {"perm": [0, 1, 3, 2]}),
             ("Concat", ["batch", "width", "half", "4"], ["to"], {"axis": 0}), ("Reshape", ["t", "to"], ["r"], {"allowzero": 1}),
             ("Transpose", ["r"], ["y"], {"perm": [3, 1, 0, 2]}),
             ("Conv", ["x", "a"], ["xa"], {}), ("Conv", ["x", "b"], ["xb"], {}), ("Add", ["xa", "xb"], ["z"], {})]
    path = save(folder / "nothing.onnx", nodes, [value("x", "batch", 4, "height", "width")],
                [value("y", 4, None, None, None), value("z", None, 4, None, None)], {**weights, **numbers})
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    a, b = session(path), session(out)
    expect(report["rewrites"], "halves of one: not rewritten")
    for height, width in [(1, 1), (1, 6), (7, 1), (6, 8)]:
        fed = feed(a.get_inputs(), {"batch": 2, "height": height, "width": width}, random)
        for x, y in zip(a.run(None, fed), b.run(None, fed)):
            expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4), f"halves of one: differs at {height}, {width}")


def flattened(path, order, axis, opset):
    """A tensor with these axes, of which `half` is nothing where an image has a single row, as a matrix."""
    size = [("Gather", ["shape", at], [name], {"axis": 0}) for at, name in (("0", "batch"), ("2", "height"), ("3", "width"))]
    nodes = [("Shape", ["x"], ["shape"], {}), *size, ("Div", ["height", "2"], ["half"], {}),
             ("Concat", order, ["s"], {"axis": 0}), ("ConstantOfShape", ["s"], ["e"], {}),
             ("Unsqueeze", ["e", "0"], ["u"], {}), ("Flatten", ["u"], ["y"], {"axis": axis + 1}),
             ("Conv", ["x", "a"], ["xa"], {}), ("Conv", ["x", "b"], ["xb"], {}), ("Add", ["xa", "xb"], ["z"], {})]
    return save(path, nodes, [value("x", "batch", 4, "height", "width")], [value("y", None, None), value("z", None, 4, None, None)],
                {**{str(n): [n] for n in (0, 2, 3)}, **{w: np.ones((4, 4, 1, 1), np.float32) for w in "ab"}}, opset)


def test_flattened_to_nothing(folder):
    """Before operator set 14 the -1 of a Reshape says that a size is nothing; where it cannot, the node is kept."""
    for opset in (13, 17):
        for order, axis in (("batch width half", 2), ("half batch width", 1), ("batch half width half", 2)):
            case = f"flattened, {order}, operator set {opset}"
            path = flattened(folder / "flattened.onnx", order.split(), axis, opset)
            out, _, _ = optimize(path, *COMPUTED_COSTS)
            expect(count(out, "Conv") == 1, f"{case}: {count(out, 'Conv')} convolutions")
            a, b, random = session(path), session(out), np.random.default_rng(13)
            for height, width in [(1, 1), (1, 6), (7, 1), (6, 8)]:
                fed = feed(a.get_inputs(), {"batch": 2, "height": height, "width": width}, random)
                for x, y in zip(a.run(None, fed), b.run(None, fed)):
                    expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4), f"{case}: differs at {height}, {width}")


def halved(x):
    """Nodes that halve the last axis, rounded up, and tell how large it is then."""
    return [("Conv", [x, "k"], ["h"], {"strides": [2], "pads": [1, 1]}), ("Shape", ["h"], ["s"], {}),
            ("ConstantOfShape", ["s"], ["none"], {})]


def test_no_units(folder):
    """Sizes that are no multiples, and yet have a result: where both sides are cut, where a window leaves a single row,
    beside others that are no multiples either."""
    random = np.random.default_rng(14)
    weights = {name: random.standard_normal(shape).astype(np.float32)
               for name, shape in {"k": (4, 4, 3), "t": (4, 4, 2), "v": (4, 4, 9), "a": (4, 4, 1), "b": (4, 4, 1)}.items()}
    pair = [("Conv", ["x", "a"], ["xa"], {}), ("Conv", ["x", "b"], ["xb"], {}), ("Add", ["xa", "xb"], ["two_in_one"], {})]
    weights |= {"zero": [0], "two": [2], "most": [512]}
    one, three = [value("x", 1, 4, "n")], [value(name, 1, 4, name) for name in "xyz"]
    cases = {
        "cut": (one, [*halved("x"), ("ConvTranspose", ["h", "t"], ["u"], {"strides": [2]}),
                      ("Slice", ["x", "zero", "most", "two"], ["c"], {}), ("Slice", ["u", "zero", "most", "two"], ["d"], {}),
                      ("Concat", ["c", "d"], ["sum"], {"axis": 1})], [{"n": 601}, {"n": 6}]),
        "windows": (one, [("Conv", ["x", "v"], ["g"], {}), *halved("g"),
                          ("ConvTranspose", ["h", "t"], ["u"], {"strides": [2]}), ("Add", ["g", "u"], ["sum"], {})],
                    [{"n": 9}, {"n": 14}]),
        "together": (three, [("Concat", ["x", "y", "z"], ["xyz"], {"axis": 2}), *halved("x"),
                             ("Conv", ["xyz", "k"], ["g"], {"strides": [2], "pads": [1, 1]}),
                             ("ConvTranspose", ["g", "t"], ["u"], {"strides": [2]}), ("Add", ["xyz", "u"], ["sum"], {})],
                     [{"x": 1, "y": 3, "z": 4}, {"x": 5, "y": 2, "z": 3}, {"x": 2, "y": 4, "z": 6}])}
    for case, (inputs, nodes, bindings) in cases.items():
        outputs = [value(name, 1, None, None) for name in ("sum", "none", "two_in_one")]
        path = save(folder / f"{case}.onnx", nodes + pair, inputs, outputs, weights)
        out, report, _ = optimize(path, *COMPUTED_COSTS)
        expect(report["rewrites"], f"no units, {case}: nothing was rewritten")
        a, b = session(path), session(out)
        for sizes in bindings:
            fed = feed(a.get_inputs(), sizes, random)
            for x, y in zip(a.run(None, fed), b.run(None, fed)):
                expect(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4),
                       f"no units, {case}: {x.shape} {y.shape} at {sizes}")


def test_dilated_pools_rounded_up(folder):
    """The end pad that rounds up is none that runtimes refuse: one of as many entries as the window has."""
    window = {"kernel_shape": [2, 2], "dilations": [3, 3], "strides": [3, 3], "ceil_mode": 1}
    for height in ("height", 5):
        nodes = [("Relu", ["x"], ["r"], {}), ("Relu", ["r"], ["s"], {}), ("MaxPool", ["s"], ["z"], window)]
        path = save(folder / "dilated.onnx", nodes,
                    [value("x", 2, 3, height, height)], [value("z", 2, 3, None, None)])
        out, _, _ = optimize(path, *COMPUTED_COSTS)
        a, b, random = session(path), session(out), np.random.default_rng(11)
        for size in [5] if height == 5 else range(4, 40):
            fed = feed(a.get_inputs(), {"height": size}, random)
            expect(np.array_equal(a.run(None, fed)[0], b.run(None, fed)[0]), f"dilated pools: differs at {size}")


# --- what holds at some sizes only ------------------------------------------------------------------------------------

def test_poolings_of_smaller_images(folder):
    """A mean that counts its padding is a convolution, which fails where ONNX Runtime gives one entry of an image that is
    smaller than the window."""
    path = save(folder / "smaller.onnx",
                [("MaxPool", ["x"], ["y"], {"kernel_shape": [2, 1], "pads": [1, 0, 1, 0], "strides": [2, 1]}),
                 ("AveragePool", ["y"], ["z"], {"kernel_shape": [1, 3], "pads": [0, 0, 0, 1], "strides": [2, 2],
                                                "count_include_pad": 1})],
                [value("x", "n", 3, 1, "n")], [value("z", None, None, None, None)], opset=18)
    out, _, _ = optimize(path, "--device", "fake")
    expect_agreement(path, out, most=20)


def test_cuts(folder):
    """x[:, :16], x[:, :y.size(1)] and min(size, 16) mean something else beyond sixteen; x[:, -1:] never does."""
    nodes = [("Relu", ["x"], ["r"], {}), ("Slice", ["r", "zero", "most", "one"], ["a"], {}),
             ("Slice", ["r", "last", "far", "one"], ["b"], {}),
             ("Shape", ["y"], ["s"], {}), ("Gather", ["s", "one"], ["n"], {}),
             ("Slice", ["w", "zero", "n", "zero"], ["c"], {}), ("Min", ["n", "most"], ["k"], {}),
             ("Slice", ["r", "zero", "k", "one"], ["d"], {}), ("Less", ["n", "most"], ["is_less"], {}),
             ("Where", ["is_less", "n", "most"], ["e"], {}), ("Div", ["n", "two"], ["f"], {}),
             ("Equal", ["n", "most"], ["is_most"], {}), ("Cast", ["is_most"], ["g"], {"to": TensorProto.FLOAT}),
             ("Reshape", ["y", "flat"], ["h"], {}), ("Slice", ["h", "zero", "n", "zero"], ["i"], {})]
    outputs = [value(o, None, None) for o in "abd"] + [value("c", None), value("g", None), value("i", None)]
    outputs += [value(o, None, kind=TensorProto.INT64) for o in "kef"]
    path = save(folder / "cuts.onnx", nodes, [value("x", "batch", "n"), value("y", "batch", "n")], outputs,
                {"zero": [0], "one": [1], "two": [2], "most": [16], "last": [-1], "far": [2**62], "flat": [-1],
                 "w": np.arange(40, dtype=np.float32)})
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect_agreement(path, out, most=60, bindings=20)


def test_seen_at_all_probes(folder):
    """What the sizes of import do not show: a table's end, entries far into it, the end before the start, a size of 1."""
    clipped = np.minimum(np.arange(6000), 64)
    nodes = [("Shape", ["x"], ["s"], {"start": 0, "end": 1}), ("Squeeze", ["s"], ["n"], {}), ("Shape", ["x"], ["whole"], {}),
             ("Slice", ["short", "zero", "s", "zero"], ["a"], {}), ("Shape", ["a"], ["as"], {}),
             ("ConstantOfShape", ["as"], ["b"], {}), ("Slice", ["sizes", "zero", "s", "zero"], ["cs"], {}),
             ("Expand", ["one", "cs"], ["c"], {}), ("Slice", ["whole", "zero", "s", "zero"], ["ds"], {}),
             ("ReduceProd", ["ds"], ["dp"], {"keepdims": 1}), ("ConstantOfShape", ["dp"], ["d"], {}),
             ("Gather", ["counts", "s"], ["es"], {}), ("ConstantOfShape", ["es"], ["e"], {}),
             ("Gather", ["factors", "s"], ["fs"], {}), ("Mul", ["x", "fs"], ["f"], {}),
             ("Range", ["five", "n", "step"], ["r"], {}), ("Concat", ["r", "y"], ["ry"], {"axis": 0}),
             ("Shape", ["ry"], ["gs"], {}), ("ConstantOfShape", ["gs"], ["g"], {}),
             ("Range", ["n", "five", "step"], ["js"], {}), ("Shape", ["js"], ["jn"], {}),
             ("ConstantOfShape", ["jn"], ["j"], {}), ("Range", ["zeroth", "five", "n"], ["ks"], {}),
             ("Shape", ["ks"], ["kn"], {}), ("ConstantOfShape", ["kn"], ["k"], {}),
             ("Unsqueeze", ["x", "zero"], ["h1"], {}), ("Squeeze", ["h1"], ["h2"], {}), ("Shape", ["h2"], ["hs"], {}),
             ("Expand", ["one", "hs"], ["h"], {}),
             ("MatMul", ["x", "p"], ["xp"], {}), ("MatMul", ["x", "q"], ["xq"], {}), ("Add", ["xp", "xq"], ["i"], {})]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "abcdefghijk"]
    path = save(folder / "seen.onnx", nodes, [value("x", "n", 4), value("y", "m", kind=TensorProto.INT64)], outputs,
                {"short": np.ones((8, 4), np.float32), "zero": [0], "sizes": [2, 3], "counts": clipped,
                 "factors": clipped.astype(np.float32), "five": np.int64(5), "step": np.int64(1), "zeroth": np.int64(0),
                 "one": np.ones(1, np.float32), **{w: np.ones((4, 4), np.float32) for w in "pq"}})
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "seen: nothing was rewritten")
    for most in (8, 100):
        expect_agreement(path, out, most=most)


def test_elsewhere(folder):
    """A table of 64 that is cut to n has no more than 64; what is one window up to 32 is two beyond that."""
    lines = {"zero": [0], "one": [1], "table": np.ones((64, 4), np.float32),
             **{w: np.random.default_rng(5).standard_normal((4, 4)).astype(np.float32) for w in "pq"}}
    cut = [("Shape", ["x"], ["s"], {"start": 0, "end": 1}), ("Slice", ["table", "zero", "s", "zero"], ["c"], {})]
    pair = [("MatMul", ["x", "p"], ["xp"], {}), ("MatMul", ["x", "q"], ["xq"], {}), ("Add", ["xp", "xq"], ["z"], {})]
    shape = [("Shape", ["c"], ["cs"], {}), ("ConstantOfShape", ["cs"], ["y"], {})]
    free = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    path = save(folder / "shape.onnx", cut + pair + shape, [value("x", "n", 4)], [value("z", "n", 4), free], lines)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "a table's shape: nothing was rewritten")
    expect_agreement(path, out)
    added = [("Add", ["x", "c"], ["w"], {})]
    of_sum = [(op, ["w" if i == "x" else i for i in inputs], *rest) for op, inputs, *rest in pair]
    path = save(folder / "added.onnx", cut + added + of_sum + [("MatMul", ["c", "p"], ["y"], {})], [value("x", "n", 4)],
                [value("z", "n", 4), free], lines)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"] and [k["operator"] for k in report["symbols"]["kept"]] == ["Slice"],
           f"positions: {report['rewrites']} {report['symbols']['kept']}")
    expect_agreement(path, out, most=64)
    windows = [("Transpose", ["w"], ["t"], {"perm": [1, 0]}), ("Unsqueeze", ["t", "zero"], ["u"], {}),
               ("MaxPool", ["u"], ["m"], {"kernel_shape": [1], "strides": [32]}), ("Shape", ["m"], ["ms"], {}),
               ("ConstantOfShape", ["ms"], ["y"], {})]
    path = save(folder / "windows.onnx", cut + pair + added + windows, [value("x", "n", 4)], [value("z", "n", 4), free], lines)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["rewrites"], "windows: nothing was rewritten")
    expect_agreement(path, out, most=64)


def test_sums_of_squares(folder):
    """n rows of n ones: a small constant of one that no memory holds."""
    path = save(folder / "square.onnx", [("Shape", ["x"], ["s"], {}), ("Concat", ["s", "s"], ["ss"], {"axis": 0}),
                                         ("ConstantOfShape", ["ss"], ["a"], {}), ("ReduceSum", ["a", "zero"], ["b"], {"keepdims": 0}),
                                         ("Add", ["b", "x"], ["y"], {})], [value("x", "n")], [value("y", "n")], {"zero": [0]})
    out, _, _ = optimize(path, *COMPUTED_COSTS, "--max-memory", "1G")
    expect_agreement(path, out)


def test_names_of_unnamed(folder):
    """A symbol that is called as a dimension without a name would be."""
    path = products(folder / "called.onnx", None, 16)
    model = onnx.load(path)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "x[0]"
    onnx.save(model, path)
    out, report, _ = optimize(path, *COMPUTED_COSTS)
    expect(report["symbols"]["names"] == ["x[0]'", "x[0]"], f"called: {report['symbols']}")
    a, b, fed = session(path), session(out), {"x": np.ones((1, 16), np.float32), "y": np.ones((7, 16), np.float32)}
    for u, v in zip(a.run(None, fed), b.run(None, fed)):
        expect(u.shape == v.shape and np.allclose(u, v, rtol=1e-5), "called: differs at 1, 7")


def test_rules_of_some_sizes(folder):
    """Rules that are right at one size: of the profile, and of the binding that the graph is made for."""
    random = np.random.default_rng(3)
    path = save(folder / "sum.onnx",
                [("MatMul", ["x", "a"], ["xa"], {}), ("MatMul", ["x", "b"], ["xb"], {}), ("Add", ["xa", "xb"], ["z"], {})],
                [value("x", "n", 16)], [value("z", "n", 8)],
                {w: random.standard_normal((16, 8)).astype(np.float32) for w in "ab"})
    source, product = "  (source (ewadd (matmul ?x ?y) (matmul ?x ?z)))\n", "(matmul ?x (ewadd ?y ?z))"
    rules = folder / "some.rules"
    for size in (8, 211):
        in_condition = f"(target {product})\n  (where (= (dim ?x 0) {size}))"
        in_attribute = f"(target (reshape :shape (list {size} 8) {product}))"
        for target in (in_condition, in_attribute):
            rules.write_text(f"(rule of-one-size\n{source}  {target})\n")
            options = ["--rules", rules, *COMPUTED_COSTS]
            out, report, _ = optimize(path, *options, "--profile", f"n={size}")
            expect(not report["rewrites"], f"a rule for n={size} was applied: {target}")
            expect_agreement(path, out)
            _, report, _ = optimize(path, *options, "--shape", f"n={size}")
            expect(report["rewrites"], f"where --shape says {size}, the rule holds: {target}")
    rules.write_text(f"(rule of-all\n{source}  (target (reshape :shape (list (dim ?x 0) (dim ?y 1)) {product})))\n")
    out, report, _ = optimize(path, "--rules", rules, *COMPUTED_COSTS)
    expect(report["rewrites"], "a rule that holds for all sizes is applied")
    expect_agreement(path, out)


# --- the command line -------------------------------------------------------------------------------------------------

def test_usage(folder):
    fixed = save(folder / "fixed.onnx", [("Relu", ["x"], ["z"], {})], [value("x", 4)], [value("z", 4)])
    free = products(folder / "free.onnx", "n", 16)
    grouped = save(folder / "grouped.onnx", [("Reshape", ["x", "to"], ["y"], {}), ("Relu", ["y"], ["z"], {})],
                   [value("x", "n")], [value("z", None, 4)], {"to": [-1, 4]})
    out = folder / "none.onnx"
    for model, *options in [(fixed, "--profile", "n=4"), (free, "--profile", "m=4"), (free, "--profile", "n=0"),
                            (free, "--profile", "n"), (free, "--profile", "n=4,"), (free, "--profile", "n=1,x"),
                            (free, "--profile", "n=1", "--profile", "n=2"), (free, "--profile", "n=1,2,3,4,5,6,7,8,9"),
                            (free, "--shape", "n=4", "--profile", "n=4")]:
        done = subprocess.run([OPT, model, "-o", out, *options], capture_output=True, text=True)
        lines = done.stderr.strip().splitlines()
        expect(done.returncode == 2 and len(lines) == 1 and "--profile" in lines[0] and not out.exists(),
               f"{model.name} {options}: {done.returncode} {done.stderr}")
    doubled = save(folder / "doubled.onnx", [("Resize", ["x", "", "by"], ["y"], {"mode": "linear"}), ("Relu", ["y"], ["z"], {})],
                   [value("x", 1, 3, "h", "w")], [value("z", 1, 3, None, None)], {"by": np.array([1, 1, 2, 2], np.float32)})
    _, report, _ = optimize(doubled, *COMPUTED_COSTS)
    expect(all(k["reason"] for k in report["symbols"]["kept"]), f"doubled: {report['symbols']['kept']}")
    kept, report, _ = optimize(grouped, *COMPUTED_COSTS)
    expect([k["operator"] for k in report["symbols"]["kept"]] == ["Reshape", "Relu"] and
           report["symbols"]["kept"][0]["symbols"] == "n", f"grouped: {report['symbols']['kept']}")
    expect(interface(kept) == interface(grouped), "grouped: the interface changed")


def main():
    with tempfile.TemporaryDirectory() as name:
        for test in (test_exports, test_exports_of_torch, test_checked_here, test_faster, test_given_inputs,
                     test_costs_are_of_profiles, test_memory_of_checks, test_shared_symbol, test_unnamed,
                     test_size_of_output_only,
                     test_sums_of_symbols, test_large, test_binding, test_images, test_same_pads, test_down_and_up,
                     test_doubled_and_added, test_halves_of_one, test_flattened_to_nothing, test_no_units, test_dilated_pools_rounded_up,
                     test_poolings_of_smaller_images, test_cuts, test_seen_at_all_probes,
                     test_elsewhere, test_sums_of_squares, test_names_of_unnamed, test_rules_of_some_sizes, test_usage):
            test(pathlib.Path(name))
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
