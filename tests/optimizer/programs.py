"""taso-opt and taso-run from the outside: `programs.py ROOT TASO-OPT TASO-RUN PART`. PART is one of

models   each small benchmark model runs within 1e-5 of ONNX Runtime, and is optimized to a model on which ONNX Runtime
         agrees with the original
usage    wrong command lines and files: the documented exit code, one line, nothing written
kept     what is not understood is kept: opaque nodes, names, and models whose outputs say nothing
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT, OPT, RUN = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
QUICK = ["--budget", "60", "--measure-seconds", "0.2", "--quiet"]
TOLERANCE = 1e-5
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)


def run(*command, cwd=None):
    environment = dict(os.environ, XDG_CACHE_HOME=str(CACHE))
    return subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environment, check=False)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def relative_difference(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    size = np.abs(a.astype(np.float64)).max(initial=0)
    difference = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0)
    return difference / size if size else difference


# --- models -----------------------------------------------------------------------------------------------------------

SHAPES = {"gpt2-small": ["--shape", "batch=1", "--shape", "sequence=16"]}


def check_execution(model, folder):
    """taso-run's outputs against ONNX Runtime's on the inputs that taso-run saved."""
    saved = folder / f"saved-{model.stem}"
    saved.mkdir()
    done = run(RUN, model, "--save", saved, "--repeats", 1, "--warmup", 0, *SHAPES.get(model.stem, []))
    expect(done.returncode in (0, 1), f"taso-run {model.stem}: {done.returncode} {done.stderr.strip()}")
    session = session_of(model)
    inputs = {value.name: np.load(saved / f"input_{i}.npy") for i, value in enumerate(session.get_inputs())}
    for i, expected in enumerate(session.run(None, inputs)):
        difference = relative_difference(expected, np.load(saved / f"output_{i}.npy"))
        expect(difference <= TOLERANCE, f"{model.stem}: output {i} differs by {difference:.1e}")


def check_optimization(model, folder):
    fast, report = folder / f"fast-{model.name}", folder / f"{model.stem}.json"
    # The costs of a device on paper: measured ones differ from run to run, and so would what is tested.
    done = run(OPT, model, "-o", fast, "--json", report, "--device", "fake", *QUICK, *SHAPES.get(model.stem, []))
    expect(done.returncode == 0, f"taso-opt {model.stem}: {done.returncode} {done.stderr.strip()}")
    if done.returncode:
        return
    onnx.checker.check_model(str(fast))
    told = json.loads(report.read_text())
    expect(told["check"] == "skipped", f"{model.stem}: check {told['check']}")
    compared = run(ROOT / "scripts/compare-ort", model, fast)
    expect(compared.returncode == 0, f"compare-ort {model.stem}: {compared.stdout} {compared.stderr}")
    print(f"{model.stem}: {len(told['rewrites'])} rewrites, estimated speed-up "
          f"{told['estimated_seconds_before'] / told['estimated_seconds_after']:.3f}", flush=True)


def test_models(folder):
    built = run(ROOT / "scripts/build-models", "--small", "--out", folder)
    expect(built.returncode == 0, f"build-models: {built.stderr}")
    models = sorted(folder.glob("*.onnx"))
    expect(len(models) >= 12, f"only {len(models)} small models")
    for model in models:
        check_execution(model, folder)
        check_optimization(model, folder)


# --- usage ------------------------------------------------------------------------------------------------------------


def small_model(path, nodes, inputs, outputs, initializers=(), domains=()):
    graph = helper.make_graph(nodes, "small", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in domains]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weights(name, *shape):
    random = np.random.default_rng(sum(map(ord, name)))
    return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), name)


def products(path, extra_nodes=(), extra_outputs=(), domains=()):
    """x . a, x . b and x . c: always worth merging."""
    nodes = [helper.make_node("MatMul", ["x", w], [f"x{w}"], name=f"product_{w}") for w in "abc"]
    return small_model(path, nodes + list(extra_nodes), [value("x", 1, 64)],
                       [value(f"x{w}", 1, 32) for w in "abc"] + list(extra_outputs), [weights(w, 64, 32) for w in "abc"],
                       domains)


def test_usage(folder):
    model, out = products(folder / "model.onnx"), folder / "out.onnx"
    (folder / "bad.rules").write_text("(rule r\n  (source (relux ?x)) (target ?x))\n")
    (folder / "empty.onnx").write_bytes(b"")
    cases = [
        (["--nonsense"], 2), ([model, "-o", out, "--alpha", "0.5"], 2), ([model, model, "-o", out], 2), ([], 2),
        ([model, "-o", out, "--shape", "y=1,2"], 2), ([model, "-o", out, "--without", "no-such-rule"], 2),
        ([folder / "none.onnx", "-o", out], 3), ([folder / "empty.onnx", "-o", out], 3),
        ([model, "-o", out, "--rules", folder / "bad.rules"], 3), ([model, "-o", out, "--rules", folder / "none"], 3),
        ([folder, "-o", out], 3), ([model, "-o", out, "--device", "cuda"], 4),
        ([model, "-o", folder / "no/such/folder.onnx", *QUICK], 3),
    ]
    for arguments, code in cases:
        done = run(OPT, *arguments)
        expect(done.returncode == code, f"{arguments}: exit code {done.returncode}, not {code}: {done.stderr}")
        lines = done.stderr.strip().splitlines()
        expect(len(lines) == 1 and lines[0].startswith("taso-opt: "), f"{arguments}: stderr {lines}")
        expect(not out.exists(), f"{arguments}: wrote a model")
    expect("bad.rules:2:12: unknown operator relux" in run(OPT, model, "--rules", folder / "bad.rules").stderr,
           "the place in the rules is named")
    shown = run(OPT, "--help")
    expect(shown.returncode == 0 and "Exit codes" in shown.stdout and "--budget" in shown.stdout, "--help")


# --- kept -------------------------------------------------------------------------------------------------------------


def test_wrong_rule(folder):
    """A rule that is false is refuted before it is applied; without that, the check of the outputs fails."""
    nodes = [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("MatMul", ["p", "b"], ["y"])]
    model = small_model(folder / "chain.onnx", nodes, [value("x", 64, 64)], [value("y", 64, 64)],
                        [weights("a", 64, 64), weights("b", 64, 64)])
    wrong, out = folder / "wrong.rules", folder / "wrong.onnx"
    wrong.write_text("(rule drop (source (matmul (matmul ?x ?y) ?z)) (target (matmul ?x ?y)))\n")
    done = run(OPT, model, "-o", out, "--rules", wrong, *QUICK[:-1])
    expect(done.returncode == 0 and out.read_bytes() == model.read_bytes(), f"refuted: {done.returncode} {done.stderr}")
    expect("REFUTED" in done.stdout and "drop" in done.stdout, f"the wrong rule is named: {done.stdout}")
    out.unlink()
    done = run(OPT, model, "-o", out, "--rules", wrong, "--no-validate", *QUICK)
    expect(done.returncode == 1 and not out.exists(), f"the check fails: {done.returncode} {done.stderr}")
    expect(len(done.stderr.strip().splitlines()) == 1, f"one line: {done.stderr}")


def test_kept(folder):
    test_wrong_rule(folder)
    nodes = [helper.make_node("Wondrous", ["xa"], ["w"], domain="example.org", name="wondrous"),
             helper.make_node("Relu", ["w"], ["r"])]
    model = products(folder / "opaque.onnx", nodes, [value("r", 1, 32)], ["example.org"])
    fast, report = folder / "fast.onnx", folder / "report.json"
    done = run(OPT, model, "-o", fast, "--json", report, "--no-measure", "--device", "cpu", *QUICK)
    expect(done.returncode == 0, f"opaque: {done.returncode} {done.stderr}")
    told, graph = json.loads(report.read_text()), onnx.load(fast).graph
    kinds = [node.op_type for node in graph.node]
    expect("Wondrous" in kinds and told["opaque_nodes"] >= 1, f"the unknown operator is kept: {kinds}")
    expect([o.name for o in graph.output] == ["xa", "xb", "xc", "r"], "outputs keep their names and order")

    constant = small_model(folder / "constant.onnx",
                           [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("MatMul", ["x", "b"], ["q"]),
                            helper.make_node("Add", ["p", "q"], ["y"])],
                           [value("x", 4, 64)], [value("y", 4, 32)],
                           [numpy_helper.from_array(np.zeros((64, 32), np.float32), w) for w in "ab"])
    done = run(OPT, constant, "-o", fast, "--json", report, "--no-measure", *QUICK)
    told = json.loads(report.read_text())
    expect(done.returncode == 0 and told["rewrites"], f"constant: {done.returncode} {done.stderr} {told}")
    expect("random weights" in (told["check_reason"] or ""), f"constant outputs are not trusted: {told['check_reason']}")

    unbound = small_model(folder / "unbound.onnx", [helper.make_node("Relu", ["x"], ["y"])],
                          [value("x", "batch", 8)], [value("y", "batch", 8)])
    done = run(OPT, unbound, "-o", fast, *QUICK)
    dimension = onnx.load(fast).graph.input[0].type.tensor_type.shape.dim[0]
    expect(done.returncode == 0 and dimension.dim_param == "batch", f"unbound: {done.returncode} {done.stderr}")

    before = model.read_bytes()
    run(OPT, model, "-o", fast, "--budget", "0", "--quiet")
    expect(fast.read_bytes() == before, "nothing to rewrite: the original comes back byte by byte")


with tempfile.TemporaryDirectory() as temporary:
    CACHE = pathlib.Path(temporary) / "cache"
    place = pathlib.Path(temporary) / "place"
    place.mkdir()
    {"models": test_models, "usage": test_usage, "kept": test_kept}[sys.argv[4]](place)
print(f"{len(failures)} failures")
sys.exit(bool(failures))
