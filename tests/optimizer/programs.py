"""taso-opt and taso-run from the outside: `programs.py ROOT TASO-OPT TASO-RUN PART`. PART is one of

models   each small benchmark model runs within 1e-5 of ONNX Runtime, and is optimized to a model on which ONNX Runtime
         agrees with the original
usage    wrong command lines and files: the documented exit code, one line, nothing written
layouts  every way of choosing layouts gives the same values, and the costs are in the order in which they must be
memory   --max-memory is kept to
kept     what is not understood is kept: opaque nodes, names, and models whose outputs say nothing
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from expectations import expect, failures
from small_models import products, small_model, value, weights

ROOT, OPT, RUN = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
QUICK = ["--budget", "60", "--measure-seconds", "0.2", "--threads", "1", "--runtime", "taso", "--quiet"]
TOLERANCE = 1e-5


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


def test_standard_output(folder, model):
    """-o - is the model and nothing else; what has a second file cannot go there."""
    command = [OPT, model, "-o", "-", "--device", "fake", *QUICK[:-1]]
    done = subprocess.run([*map(str, command)], capture_output=True, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=str(CACHE), TMPDIR=str(folder)))
    expect(done.returncode == 0 and onnx.load_from_string(done.stdout).graph.node, f"-o -: {done.stderr}")
    expect(b"wrote to standard output" in done.stderr and not list(folder.glob("taso-*")), f"-o -: {done.stderr}, {list(folder.iterdir())}")
    whole, apart = onnx.load(model), folder / "apart.onnx"
    onnx.save(whole, apart, save_as_external_data=True, location="apart.data", size_threshold=0)
    command = [OPT, apart, "-o", "-", "--device", "fake", "--layout", "layout-only", *QUICK]
    done = subprocess.run([*map(str, command)], capture_output=True, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=str(CACHE), TMPDIR=str(folder)))
    expect(done.returncode == 4 and not done.stdout and b"two files" in done.stderr, f"apart: {done.stdout} {done.stderr}")
    expect(not list(folder.glob("taso-*")), f"nothing is left behind: {list(folder.glob('taso-*'))}")


def test_usage(folder):
    model, out = products(folder / "model.onnx"), folder / "out.onnx"
    unbound = small_model(folder / "unbound.onnx", [helper.make_node("Add", ["x", "y"], ["z"])],
                          [value("x", "batch", 8), value("y", "batch", 8)], [value("z", "batch", 8)])
    (folder / "bad.rules").write_text("(rule r\n  (source (relux ?x)) (target ?x))\n")
    (folder / "empty.onnx").write_bytes(b"")
    cases = [
        (["--nonsense"], 2), ([model, "-o", out, "--alpha", "0.5"], 2), ([model, model, "-o", out], 2), ([], 2),
        ([model, "-o", out, "--shape", "y=1,2"], 2), ([model, "-o", out, "--without", "no-such-rule"], 2),
        ([folder / "none.onnx", "-o", out], 3), ([folder / "empty.onnx", "-o", out], 3),
        ([model, "-o", out, "--rules", folder / "bad.rules"], 3), ([model, "-o", out, "--rules", folder / "none"], 3),
        ([folder, "-o", out], 3), ([model, "-o", out, "--device", "cuda"], 4),
        ([model, "-o", folder / "no/such/folder.onnx", *QUICK], 3),
        ([model, "--html", folder / "no/such/page.html", *QUICK], 3), ([model, "--max-rule-ops", "-1"], 2),
        ([unbound, "-o", out, "--shape", "batch=2", "--shape", "batch=3"], 2),
        ([unbound, "-o", out, "--shape", "x=2,8", "--shape", "y=3,8"], 2),
        ([unbound, "-o", out, "--shape", "x=2,8", "--shape", "batch=3"], 2),
        ([unbound, "-o", out, "--shape", "batch=99999999999999"], 2),
        (["-", "-o", out], 2), ([model, "--json", "-", *QUICK], 2),
    ]
    for arguments, code in cases:
        done = run(OPT, *arguments)
        expect(done.returncode == code, f"{arguments}: exit code {done.returncode}, not {code}: {done.stderr}")
        lines = done.stderr.strip().splitlines()
        expect(len(lines) == 1 and lines[0].startswith("taso-opt: "), f"{arguments}: stderr {lines}")
        expect(not out.exists(), f"{arguments}: wrote a model")
    (folder / "empty.rules").write_text("; nothing yet\n")
    expect(f"{folder}/empty.rules: has no rules" in run(OPT, model, "--rules", folder / "empty.rules", *QUICK[:-1]).stderr,
           "that a file has no rules")
    expect("bad.rules:2:12: unknown operator relux" in run(OPT, model, "--rules", folder / "bad.rules").stderr,
           "the place in the rules is named")
    test_standard_output(folder, model)
    test_usage_of_runs(folder)
    shown = run(OPT, "--help")
    expect(shown.returncode == 0 and "Exit codes" in shown.stdout and "--budget" in shown.stdout, "--help")
    expect(run(OPT, "--alpha", "3", "--help").stdout == shown.stdout, "--help shows the standard values, not those given")


# --- kept -------------------------------------------------------------------------------------------------------------


def test_usage_of_runs(folder):
    """What cannot be run or compared is named."""
    open_sizes = small_model(folder / "open.onnx", [helper.make_node("Relu", ["x"], ["y"])],
                             [value("x", "batch", "seq", 8)], [value("y", "batch", "seq", 8)])
    done = run(RUN, open_sizes, "--shape", "batch=2")
    expect(done.returncode == 2 and "x (2, seq, 8) is not known" in done.stderr and "--shape seq=" in done.stderr,
           f"open sizes: {done.stderr}")
    model = small_model(folder / "model.onnx", [helper.make_node("Relu", ["x"], ["y"])], [value("x", 2, 8)],
                        [value("y", 2, 8)])
    opaque = small_model(folder / "opaque.onnx", [helper.make_node("Wondrous", ["x"], ["y"], domain="example.org")],
                         [value("x", 2, 8)], [value("y", 2, 8)], domains=["example.org"])
    done = run(RUN, opaque)
    expect(done.returncode == 4 and "operator Wondrous" in done.stderr, f"unknown operator: {done.stderr}")
    other = small_model(folder / "other.onnx", [helper.make_node("Relu", ["x"], ["y"])], [value("x", 3, 8)],
                        [value("y", 3, 8)])
    done = run(RUN, model, other, "--repeats", "1")
    for name in "input x", "output y":
        expect(f"{name}: (f32 2 8) in the first, (f32 3 8) in the second" in done.stdout, f"{name}: {done.stdout}")
    expect(done.returncode == 1 and "inf" not in done.stdout, f"other types: {done.returncode} {done.stdout}")


def negations(path):
    """-(-(x . 0)), whose values say nothing."""
    nodes = [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("Neg", ["p"], ["q"]),
             helper.make_node("Neg", ["q"], ["y"])]
    zeros = numpy_helper.from_array(np.zeros((64, 32), np.float32), "a")
    return small_model(path, nodes, [value("x", 4, 64)], [value("y", 4, 32)], [zeros])


def priced_too_high(model, costs):
    """Options with which every step of the model takes 1,000 seconds: however busy this machine is, a rewrite pays.

    The layouts are fixed, as others would make steps that were not priced, and so is what memory is measured against. No
    cost is doubtful, whatever ran beside: it would be measured again."""
    fixed = ["--layout", "standard", "--costs", costs]
    done = run(RUN, model, "--measure-costs", "--threads", "1", *fixed)
    expect(done.returncode == 0, f"taso-run --measure-costs: {done.returncode} {done.stderr}")
    priced, n_priced = re.subn(r'^(\("(?!memory).*") [^)]*', r"\1 1e3 1e3", costs.read_text(), flags=re.M)
    expect(n_priced, f"steps to price: {priced}")
    costs.write_text(priced)
    return [*fixed, "--no-calibrate"]


def test_agreement(folder):
    """By how much the sum of costs is off the whole model is told, in the report and as JSON."""
    model, report = products(folder / "priced.onnx"), folder / "priced.json"
    done = run(OPT, model, *priced_too_high(model, folder / "priced.costs"), "--json", report, *QUICK[:-1])
    expect(done.returncode == 0, f"priced: {done.returncode} {done.stderr}")
    told = json.loads(report.read_text())
    expect("speedup" in told and 0 < told["speedup_low"] <= told["speedup"] <= told["speedup_high"], "timed")
    for which in ("before", "after"):
        error = told[f"timed_estimate_{which}"] / told[f"measured_seconds_{which}"]["minimum"] - 1
        expect(abs(told[f"estimate_error_{which}"] - error) <= 1e-9 * (1 + abs(error)), f"error of the estimate {which}")
        expect(f"  agreement {which}" in done.stdout, f"the agreement {which}: {done.stdout}")
        estimate = f"  {'estimated ' + which:22} {1e3 * told[f'timed_estimate_{which}']:9.3f} ms\n"
        expect(estimate in done.stdout, f"the estimate that is believed in the end: {estimate}: {done.stdout}")
    expect(not told["costs_corrected"] and told["searches"] == 1, f"believed by request: {told['costs_corrected']}")
    originals = [c for c in told["contenders"] if c["model"] == "original"]
    expect(originals and len(originals) < len(told["contenders"]), f"all were timed: {told['contenders']}")
    reason = told["kept_reason"] or "no file was named (-o)"
    expect(done.stdout.endswith(f"wrote nothing: {reason}\n"), f"what was written: {done.stdout}")


def test_calibration(folder):
    """Costs that the running model contradicts are replaced, stay in the database, and are believed from then on."""
    model, report, costs = products(folder / "wrong.onnx"), folder / "wrong.json", folder / "wrong.costs"
    options = [model, "--json", report, *priced_too_high(model, costs)[:-1], *QUICK]
    done = run(OPT, *options)
    expect(done.returncode == 0, f"calibration: {done.returncode} {done.stderr}")
    told = json.loads(report.read_text())
    expect(told["searches"] > 1 and told["costs_corrected"], f"searched from corrected costs: {told}")
    expect(all(c["seconds_after"] < 1 for c in told["costs_corrected"]), f"{told['costs_corrected']}")
    expect(told["estimated_seconds_before"] < 1, f"the search believed 1,000 s: {told['estimated_seconds_before']}")
    expect("in-model)" in costs.read_text() and "1e3" not in costs.read_text(), costs.read_text())
    known, rewrites = costs.read_text(), []
    for _ in range(2):
        done = run(OPT, *options, "--no-measure")
        expect(done.returncode == 0, f"not measured: {done.returncode} {done.stderr}")
        rewrites.append(json.loads(report.read_text())["rewrites"])
    expect(rewrites[0] == rewrites[1] and costs.read_text() == known, "same database, same result")


def test_nothing_found(folder):
    """Where nothing is rewritten the original is timed under all layouts, and told of with the best, not the last tried."""
    model, report = folder / "plain.onnx", folder / "plain.json"
    weight = numpy_helper.from_array(np.random.default_rng(1).standard_normal((32, 32, 3, 3)).astype(np.float32), "w")
    nodes = [helper.make_node("Conv", ["x", "w"], ["p"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["p"], ["y"])]
    small_model(model, nodes, [value("x", 1, 32, 56, 56)], [value("y", 1, 32, 56, 56)], [weight])
    (folder / "other.rules").write_text("(rule other (source (neg (neg ?x))) (target ?x))\n")
    rules = ["--rules", folder / "other.rules"]
    done = run(OPT, model, "--json", report, "--costs", folder / "plain.costs", *rules, *QUICK[:-1])
    expect(done.returncode == 0, f"nothing to rewrite: {done.returncode} {done.stderr}")
    told = json.loads(report.read_text())
    expect(not told["rewrites"] and "speedup" not in told, f"nothing is gained: {told['rewrites']}")
    expect({c["layouts"] for c in told["contenders"]} >= {"standard", "plain"}, f"{told['contenders']}")
    expect(told["measured_seconds_before"]["quartile1"] > 0 and "  agreement before" in done.stdout, f"{done.stdout}")
    times = {c["layouts"]: c["seconds"] for c in told["contenders"]}
    expect(told["measured_seconds_before"] == times[told["layouts_before"]], f"of the fastest: {told['contenders']}")
    estimate, timed = told["estimated_seconds_with_layouts"], told["timed_estimate_before"]
    of = {c["layouts"]: c["estimated_seconds"] for c in told["contenders"]}   # without the best ones where they are standard
    for told_of, wanted in ((timed, of[told["layouts_before"]]), (estimate, of.get("best", of["standard"]))):
        expect(abs(told_of - wanted) <= 1e-9 * wanted, f"with these layouts, but for the order of a sum: {told}")


def estimate_of(model, *options):
    done = run(RUN, model, "--measure-costs", "--threads", "1", *options)
    expect(done.returncode == 0, f"taso-run --measure-costs {options}: {done.returncode} {done.stderr}")
    return float(re.search(r"estimate ([\d.]+) ms", done.stdout)[1]) / 1e3


def test_repair(folder):
    """Costs marked as doubtful are measured again first, all of them by request, and others are believed."""
    model, report, costs = products(folder / "doubtful.onnx"), folder / "doubtful.json", folder / "doubtful.costs"
    options = priced_too_high(model, costs)
    wrong = costs.read_text()
    expect(estimate_of(model, *options[:-1]) > 1, "believed")
    expect(estimate_of(model, *options[:-1], "--repair") < 1 and estimate_of(model, *options[:-1]) < 1, "repaired")
    costs.write_text(wrong.replace("1e3)", "1e3 doubtful)"))
    expect(estimate_of(model, *options[:-1]) > 1, "doubtful costs serve")
    done = run(OPT, model, *options, "--json", report, *QUICK)
    expect(done.returncode == 0, f"doubtful: {done.returncode} {done.stderr}")
    expect(json.loads(report.read_text())["estimated_seconds_before"] < 1, "measured again")
    done = run(RUN, model, "--repair")
    expect(done.returncode == 2, f"--repair alone: {done.returncode}")


def costs_bound_by_reading(model, costs):
    """What the model takes, and the entry of how fast memory is, which is made with it. Beside other programs a product may be
    too slow to be bound by reading, however often it is measured: then the entry is made up."""
    entry = re.compile(r'\n(\("memory: [^"]*") [^)]*\)')
    for _ in range(4):
        costs.unlink(missing_ok=True)
        usual = estimate_of(model, "--costs", costs)
        if entry.search(costs.read_text()):
            break
    else:
        name = re.search('"(memory: .*)"', (ROOT / "backends/cpu/memory_probe.c").read_text())[1]
        costs.write_text(f'{costs.read_text()}("{name}" 2e-4 0.1)\n')
    return usual, entry.search(costs.read_text())


def test_repair_of_reading(folder):
    """How fast memory is, which costs of weights are shares of, is measured again, too: by request, and where it is doubtful."""
    model, costs = folder / "reading.onnx", folder / "reading.costs"
    small_model(model, [helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", 1, 1536)], [value("y", 1, 1536)],
                [weights("w", 1536, 1536)])
    usual, reading = costs_bound_by_reading(model, costs)
    filled = costs.read_text()
    header = filled.splitlines()[0]
    for mark, more in (" doubtful", []), ("", ["--repair"]):
        slow = f"\n{reading[1]} 1.0e+0 0{mark})"
        costs.write_text(f"{header}{slow}\n" if mark else f"{filled[:reading.start()]}{slow}{filled[reading.end():]}")
        found = estimate_of(model, "--costs", costs, *more)
        expect(found < 100 * usual, f"a share of a second:{mark} {more} {found}, not {usual}: {costs.read_text()}")


def test_costs_beside_others(folder):
    """Two threads that wait for each other lose time slices beside programs that spin: their costs are not those, which are
    thousands of times as long."""
    model, costs = products(folder / "beside.onnx"), folder / "beside.costs"
    usual = estimate_of(model, "--costs", "")
    environment = {name: text for name, text in os.environ.items() if name != "OMP_WAIT_POLICY"}
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    done = subprocess.run([RUN, model, "--measure-costs", "--threads", "2", "--costs", costs], capture_output=True, text=True,
                          env=environment, check=False)
    for program in spinning:
        program.kill()
        program.wait()
    found = float(re.search(r"estimate ([\d.]+) ms", done.stdout)[1]) / 1e3
    expect(found < 200 * usual, f"beside others: {found}, not some {usual}: {costs.read_text()}")


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
    done = run(OPT, model, "-o", out, "--rules", wrong, "--no-validate", *QUICK[:-1])
    expect(done.returncode == 1 and not out.exists(), f"the check fails: {done.returncode} {done.stderr}")
    expect("wrote nothing" in done.stdout, f"that nothing is written is told: {done.stdout}")
    expect(len(done.stderr.strip().splitlines()) == 1, f"one line: {done.stderr}")


def test_rules_of_egraphs(folder):
    """An e-graph has rules of its own, and where --rules names others, those."""
    nodes = [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("MatMul", ["x", "b"], ["q"]),
             helper.make_node("Add", ["p", "q"], ["y"])]
    model = small_model(folder / "sums.onnx", nodes, [value("x", 64, 64)], [value("y", 64, 64)],
                        [weights("a", 64, 64), weights("b", 64, 64)])
    moves, shares, report = folder / "moves.rules", folder / "shares.rules", folder / "report.json"
    moves.write_text("(rule moves (source (ewadd ?x (ewadd ?y ?z))) (target (ewadd (ewadd ?x ?y) ?z)))\n")
    shares.write_text("(rule shares (source (ewadd (matmul ?x ?y) (matmul ?x ?z))) (target (matmul ?x (ewadd ?y ?z))))\n")
    for options, applied in (
        (["--rules", moves, "--egraph-rules", shares, "--search", "saturation"], {"shares": 1}),
        (["--rules", moves, "--egraph-rules", shares, "--search", "both"], {"shares": 1}),
        (["--rules", moves, "--egraph-rules", shares], {}),
        (["--rules", shares, "--search", "saturation"], {"shares": 1}),
        (["--rules", shares, "--egraph-rules", moves, "--search", "saturation"], {}),
    ):
        done = run(OPT, model, *options, "--device", "fake", "--json", report, *QUICK)
        expect(done.returncode == 0, f"{options}: {done.stderr}")
        found = json.loads(report.read_text())
        expect(found["rules_applied"] == applied, f"{options}: {found['rules_applied']}")
    expect(json.loads(report.read_text())["search"]["saturation"]["unions"] == {}, "moves where nothing is to be moved")
    shipped = run(OPT, model, "--search", "saturation", "--only-proved", "--device", "fake", "--json", report, *QUICK)
    expect(shipped.returncode == 0, shipped.stderr)
    unions = json.loads(report.read_text())["search"]["saturation"]["unions"]
    ours = set(re.findall(r"^\(rule (\S+)", (ROOT / "substitutions/egraph.rules").read_text(), re.MULTILINE))
    expect(unions and {name.removeprefix("egraph-") for name in unions} <= ours, f"other rules than ship: {unions}")
    done = run(OPT, model, "--search", "both", "--egraph-rules", folder / "nothing.rules", "--device", "fake", *QUICK)
    expect(done.returncode == 3 and "nothing.rules" in done.stderr, f"no such file: {done.returncode} {done.stderr}")


def test_only_proved(folder):
    """--only-proved believes what was built in, whatever the file and the name of a rule, and no certificate."""
    nodes = [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
    model = small_model(folder / "proved.onnx", nodes, [value("x", 64, 64)], [value("y", 64, 64)],
                        [weights("a", 64, 64)])
    rules, report = folder / "certified.rules", folder / "report.json"
    shipped = (ROOT / "substitutions/taso.rules").read_text()
    certificate = re.search(r"\(rule relu-matmul-e00efd405cd4\n.*\n.*\n  (\(proof .*\))\)\n", shipped)[1]
    true = "(rule {} (source (relu (matmul :act $act ?x ?y))) (target (matmul :act relu ?x ?y)) {})\n".format
    false = "(rule {} (source (relu (matmul ?x ?y))) (target (matmul ?x ?y)) {})\n".format
    tested = re.findall(r"^\(rule (?:.*\n)*?  \(proof (?!.*proved).*$", shipped, re.MULTILINE)
    expect(tested, "some of the shipped rules are only tested")
    for name, text, n_left_out in (
        ("true, without a certificate", true("mine", ""), 0),
        ("true, though it says less", true("mine", "(proof (z3 unknown) (definitions tested (ranks 0 4)))"), 0),
        ("false, with the certificate of a true one", false("drop", certificate), None),
        ("false, with its name too", false("relu-matmul-e00efd405cd4", certificate), None),
        ("one of each", false("drop", certificate) + true("mine", ""), 1),
        ("what ships", shipped, len(tested)),
    ):
        rules.write_text(text)
        report.unlink(missing_ok=True)
        done = run(OPT, model, "--rules", rules, "--only-proved", "--device", "fake", "--json", report, *QUICK)
        expect(done.returncode == (2 if n_left_out is None else 0), f"{name}: {done.returncode} {done.stderr}")
        if n_left_out is None:
            expect("of 1 rule this build knows none as proved (claimed: 1" in done.stderr, f"{name}: {done.stderr}")
            continue
        told = json.loads(report.read_text())
        used = {step["rule"] for step in told["rewrites"]}
        expect(used and "drop" not in used, f"{name}: {used}")
        expect(told["rules_left_out"] == n_left_out, f"{name}: {told['rules_left_out']} rules left out")
    rules.write_text(false("drop", certificate) + true("mine", ""))
    done = run(OPT, model, "--rules", rules, "--only-proved", "--device", "fake", *QUICK[:-1])
    expect("though they claim to be proved: 1 of 2 rules" in done.stderr, f"the claim is named: {done.stderr}")
    expect("rules left out           1, " in done.stdout, f"the report says how many: {done.stdout}")


def costs_of_products(folder):
    """Costs by which two products together cost 1 % more than apart, and three together 2 %."""
    costs = folder / "products.costs"
    for width in (32, 64, 96):
        model = small_model(folder / f"product{width}.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])],
                            [value("x", 1, 64)], [value("y", 1, width)], [weights("w", 64, width)])
        done = run(RUN, model, "--measure-costs", "--costs", costs, "--threads", "1")
        expect(done.returncode == 0, f"taso-run --measure-costs: {done.returncode} {done.stderr}")
    price = {32: "1e3", 64: "2.02e3", 96: "3.06e3"}
    costs.write_text(re.sub(r'(f32\[64x(\d+)\].*") [^)]*', lambda m: f"{m[1]} {price[int(m[2])]} 0", costs.read_text()))
    return costs


def test_finalists(folder):
    """What estimates hold for slightly worse is found as well, and the models themselves decide."""
    model, report = products(folder / "products.onnx"), folder / "finalists.json"
    costs = costs_of_products(folder)
    for finalists in (1, 3):
        done = run(OPT, model, "--json", report, "--costs", costs, "--layout", "standard",
                   "--finalists", finalists, "--no-calibrate", *QUICK)
        expect(done.returncode == 0, f"finalists: {done.returncode} {done.stderr}")
        told = json.loads(report.read_text())
        expect((told["finalists"] > 1) == (finalists > 1), f"{finalists} finalists: {told}")
        expect(bool(told["rewrites"]) == (told["slant"] != "as estimated"), f"the slant of the best: {told}")
    # What was found under other prices is told at the same ones as everything else, and worked on by one validator.
    before, after, course = told["estimated_seconds_before"], told["estimated_seconds_after"], told["search"]["course"]
    expect([course[0]["estimated_seconds"], course[-1]["estimated_seconds"]] == [before, after], f"the course: {course}")
    if told["rewrites"]:   # or else the original won, which other programs can make it
        expect(abs(told["rewrites"][-1]["estimated_seconds_after"] - after) <= 1e-9 * after, f"the rewrites: {told}")
    expect(told["search"]["validated"] >= len(told["rules_applied"]), f"validated: {told['search']}")


def test_lost_digits(folder):
    """A rule that is true, but leaves rounding errors of 1e9 where 1 is wanted, is done without."""
    nodes = [helper.make_node("Mul", ["x", "a"], ["y"]), helper.make_node("Mul", ["x", "b"], ["z"])]
    huge = numpy_helper.from_array(np.full((64, 64), 1e9, np.float32), "b")
    model = small_model(folder / "scales.onnx", nodes, [value("x", 64, 64)], [value("y", 64, 64), value("z", 64, 64)],
                        [weights("a", 64, 64), huge])
    rules, out = folder / "differences.rules", folder / "differences.onnx"
    rules.write_text("(rule by-differences (source (ewmul ?x ?y) (ewmul ?x ?z))"
                     " (target (sub (ewmul ?x (ewadd ?y ?z)) (ewmul ?x ?z)) (ewmul ?x ?z)))\n")
    arguments = [OPT, model, "-o", out, "--rules", rules, *priced_too_high(model, folder / "scales.costs"),
                 *QUICK[:-1]]
    done = run(*arguments, "--no-validate")
    expect(done.returncode == 1 and not out.exists(), f"the check fails: {done.returncode} {done.stderr}")
    done = run(*arguments)
    expect(done.returncode == 0 and out.read_bytes() == model.read_bytes(), f"kept: {done.returncode} {done.stderr}")
    expect("without rules that subtract (1)" in done.stderr, f"that it was searched again is said: {done.stderr}")


def test_unstable(folder):
    """(x + 1e9) - 1e9 has no digits of x: rewritten it differs, and the model stays as it is."""
    nodes = [helper.make_node("Add", ["x", "a"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    huge = [numpy_helper.from_array(np.full((64, 64), sign * 1e9, np.float32), w) for w, sign in (("a", 1), ("b", -1))]
    model = small_model(folder / "unstable.onnx", nodes, [value("x", 64, 64)], [value("y", 64, 64)], huge)
    rules, out, report = (folder / f"unstable.{name}" for name in ("rules", "fast.onnx", "json"))
    rules.write_text("(rule associate (source (ewadd (ewadd ?x ?y) ?z)) (target (ewadd ?x (ewadd ?y ?z))))\n")
    done = run(OPT, model, "-o", out, "--rules", rules, "--json", report,
               *priced_too_high(model, folder / "unstable.costs"), *QUICK)
    told = json.loads(report.read_text())
    expect(done.returncode == 0 and out.read_bytes() == model.read_bytes(), f"kept: {done.returncode} {done.stderr}")
    expect(told["check"] == "failed" and "rounded" in (told["kept_reason"] or ""), f"the reason is told: {told}")


def halves(path, nodes, x_shape, y_shape, **numbers):
    """Of x to y, in numbers of 16 bits."""
    named = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape)
             for name, shape in (("x", x_shape), ("y", y_shape))]
    initializers = [numpy_helper.from_array(np.asarray(n, np.float16), name) for name, n in numbers.items()]
    return small_model(path, nodes, named[:1], named[1:], initializers)


def test_masks_of_halves(folder):
    """x + a + b, where a and b have -65504: their sum is infinite, and the softmax of a row of these is no number."""
    masked = np.where(np.arange(16) % 3, 0, -65504) * np.ones((4, 1))
    masked[1] = -65504
    nodes = [helper.make_node("Add", ["x", "a"], ["p"]), helper.make_node("Add", ["p", "b"], ["q"]),
             helper.make_node("Softmax", ["q"], ["y"], axis=1)]
    for name, second in (("both", masked), ("one", np.ones((4, 16)))):
        model, out = (folder / f"masks-{name}{kind}.onnx" for kind in ("", "-fast"))
        halves(model, nodes, (4, 16), (4, 16), a=masked, b=second)
        for search in ("backtracking", "saturation"):
            done = run(OPT, model, "-o", out, "--device", "fake", "--search", search, "--quiet")
            graph = onnx.load(out).graph
            expect(done.returncode == 0, f"masks of halves: {done.stderr}")
            expect(all(np.isfinite(numpy_helper.to_array(w)).all() for w in graph.initializer), f"{name}: {graph}")
            expect(len(graph.node) == (3 if name == "both" else 2), f"{name}, {search}: {len(graph.node)} nodes")


def test_overflowing_halves(folder):
    """60000 x . w differs from (60000 x) . w in what overflows: the original is written."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Mul", ["p", "s"], ["y"])]
    model, rules, out, report = (folder / f"overflow.{name}" for name in ("onnx", "rules", "fast.onnx", "json"))
    halves(model, nodes, (8, 4), (8, 1), w=np.linspace(-2, 1, 4)[:, None], s=60000)
    rules.write_text("(rule first (source (ewmul (matmul ?x ?y) (broadcast :shape $s ?z)))"
                     " (target (matmul (ewmul ?x (broadcast :shape (dims ?x) ?z)) ?y)) (where (= (rank ?z) 0)))\n")
    done = run(OPT, model, "-o", out, "--rules", rules, "--json", report,
               *priced_too_high(model, folder / "overflow.costs"), *QUICK[:-1])
    told = json.loads(report.read_text())
    expect(done.returncode == 0 and out.read_bytes() == model.read_bytes(), f"kept: {done.returncode} {done.stderr}")
    expect(told["check"] == "failed" and "16 bits" in (told["kept_reason"] or ""), f"the reason is told: {told}")


def test_inputs_with_defaults(folder):
    """x . m * w, and x - w: who sets w would get the one and not the other. Before ir_version 4 nobody can."""
    nodes = [helper.make_node("MatMul", ["x", "m"], ["p"]), helper.make_node("Mul", ["p", "w"], ["y"]),
             helper.make_node("Sub", ["x", "w"], ["z"])]
    model, out = folder / "defaults.onnx", folder / "defaults-fast.onnx"
    small_model(model, nodes, [value(name, *shape) for name, shape in (("x", (3, 4)), ("m", (4, 4)), ("w", (4,)))],
                [value("y", 3, 4), value("z", 3, 4)], [weights("m", 4, 4), weights("w", 4)])
    for version, inputs in ((8, ["x"]), (3, ["x", "w"])):
        loaded = onnx.load(model)
        loaded.ir_version = version
        onnx.save(loaded, model)
        done = run(OPT, model, "-o", out, "--device", "fake")
        graph = onnx.load(out).graph
        expect([node.op_type for node in graph.node] == ["MatMul", "Sub"], f"not folded: {graph.node}")
        expect({i.name for i in graph.input} >= set(inputs) and (version < 4 or len(graph.input) == 1),
               f"inputs of version {version}: {graph.input}")
        expect(("2 inputs with an initializer" in done.stderr) == (version >= 4), f"it is told: {done.stderr}")


def test_traced_sizes(folder):
    """As many places as were not zero when a model was traced are declared: a sum over one of them would be nothing. So
    would be that over a batch of one, as it was before the input was given a symbol."""
    nodes = [helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Cast", ["places"], ["p"], to=1),
             helper.make_node("ReduceSum", ["p", "axes"], ["s"]), helper.make_node("Mul", ["s", "two"], ["m"]),
             helper.make_node("Neg", ["m"], ["n"]), helper.make_node("Neg", ["n"], ["y"])]
    given = [numpy_helper.from_array(np.array(number), name) for name, number in (("axes", [1]), ("two", np.float32(2)))]
    model, out = small_model(folder / "traced.onnx", nodes, [value("x", 3, 4)], [value("y", 2, 1)], given), folder / "o.onnx"
    loaded = onnx.load(model)
    loaded.graph.value_info.extend([helper.make_tensor_value_info("places", TensorProto.INT64, [2, 1]), value("p", 2, 1)])
    onnx.save(loaded, model)
    done = run(OPT, model, "-o", out, "--device", "fake", "--quiet")
    kinds = [node.op_type for node in onnx.load(out).graph.node]
    expect(done.returncode == 0 and "ReduceSum" in kinds, f"sums over places: {done.stderr} {kinds}")

    nodes = [helper.make_node("Wondrous", ["x"], ["p"], domain="example.org"), *nodes[2:]]
    nodes[1].input[1] = "rows"
    given[0].name, given[0].raw_data = "rows", np.int64([0]).tobytes()
    small_model(model, nodes, [value("x", "batch", 4)], [value("y", 1, 4)], given, ["example.org"])
    loaded = onnx.load(model)
    loaded.graph.value_info.append(value("p", 1, 4))
    onnx.save(loaded, model)
    done = run(OPT, model, "-o", out, "--device", "fake", "--quiet")
    kinds = [node.op_type for node in onnx.load(out).graph.node]
    expect(done.returncode == 0 and "ReduceSum" in kinds, f"sums over a batch: {done.stderr} {kinds}")


def test_lists_outside(folder):
    """ONNX Runtime wants to see the sizes that a constant says; those that are an input's default it does not ask for."""
    nodes = [helper.make_node("Identity", ["x"], ["n"]), helper.make_node("Neg", ["n"], ["m"]),
             helper.make_node("NonZero", ["m"], ["p"]), helper.make_node("Expand", ["p", "sizes"], ["y"])]
    sizes = numpy_helper.from_array(np.ones(7, np.int64), "sizes")
    inputs = [value("x", 3, 4), helper.make_tensor_value_info("sizes", TensorProto.INT64, [7])]
    places = helper.make_tensor_value_info("y", TensorProto.INT64, [None] * 7)
    model, out = small_model(folder / "outside.onnx", nodes, inputs, [places], [sizes]), folder / "o.onnx"
    onnx.save(onnx.load(model), model, save_as_external_data=True, location="sizes.data", size_threshold=0)
    done = run(OPT, model, "-o", out, "--device", "fake", "--quiet")
    feed = {"x": np.float32(np.arange(12).reshape(3, 4))}
    expect(done.returncode == 0 and relative_difference(*(session_of(m).run(None, feed)[0] for m in (model, out))) == 0,
           f"sizes outside of the model: {done.stderr}")


def graph_of(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def stale_nodes():
    """What makes r, of which a model may say that it has one row, and inputs: r has more."""
    going, goes = (helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("going", "goes"))
    number = helper.make_tensor_value_info("number", TensorProto.INT64, [])
    again = helper.make_node("Identity", ["going"], ["goes"])
    x, flag, count = np.float32(np.arange(12).reshape(3, 4) + 1), np.array(True), np.int64([3])

    def branches(shape):
        made = [helper.make_node("Neg", ["x"], [name]) for name in ("a", "b")]
        return {key: graph_of([node], [], [value(node.output[0], *shape)])
                for key, node in zip(("then_branch", "else_branch"), made)}

    yield "a branch", [helper.make_node("If", ["flag"], ["r"], **branches([1, 4]))], {"x": x, "flag": flag}
    inner = {key: graph_of([helper.make_node("NonZero", ["x"], [f"{name}s"]),
                            helper.make_node("Cast", [f"{name}s"], [name], to=1)], [], [value(name, None, None)])
             for key, name in (("then_branch", "a"), ("else_branch", "b"))}
    yield "branches that count", [helper.make_node("If", ["flag"], ["r"], **inner)], {"x": x, "flag": flag}
    body = graph_of([again, helper.make_node("Concat", ["s", "s"], ["n"], axis=0)],
                    [number, going, value("s", 1, 4)], [goes, value("n", 1, 4)])
    yield "a state that grows", [helper.make_node("Loop", ["count", "", "first"], ["r"], body=body)], \
        {"first": x[:1], "count": np.array(3)}
    body = graph_of([again, helper.make_node("Neg", ["s"], ["n"]), helper.make_node("Identity", ["s"], ["c"])],
                    [number, going, value("s", 4)], [goes, value("n", 4), value("c", 4)])
    yield "what rounds make", [helper.make_node("Loop", ["count", "", "first"], ["rest", "r"], body=body)], \
        {"first": x[0], "count": np.array(3)}
    body = graph_of([helper.make_node("Add", ["s", "e"], ["n"]), helper.make_node("Identity", ["e"], ["c"])],
                    [value("s", 4), value("e", 4)], [value("n", 4), value("c", 4)])
    yield "what is scanned", [helper.make_node("Scan", ["first", "x"], ["rest", "r"], body=body, num_scan_inputs=1)], \
        {"first": x[0], "x": x}
    yield "a computed end", [helper.make_node("Slice", ["x", "axes", "count"], ["r"])], {"x": x, "count": count}
    yield "computed sizes", [helper.make_node("Reshape", ["x", "count"], ["r"])], {"x": x, "count": np.int64([6, 2])}
    yield "a computed range", [helper.make_node("Range", ["one", "end", "one"], ["v"]),
                               helper.make_node("Unsqueeze", ["v", "last"], ["r"])], {"end": np.array(6, np.float32)}
    yield "a computed scale", [helper.make_node("Resize", ["x", "", "scales"], ["r"], mode="nearest")], \
        {"x": x, "scales": np.float32([2, 1])}
    yield "what a sequence has", [helper.make_node("SequenceConstruct", ["first", "x"], ["q"]),
                                  helper.make_node("SequenceAt", ["q", "count"], ["r"])], \
        {"first": x[:1], "x": x, "count": np.array(1)}


def test_stale_sizes(folder):
    """A sum over the one row that a model declares of a value would be nothing; it has more when it runs."""
    given = [numpy_helper.from_array(np.array(number), name) for name, number in
             (("axes", [0]), ("last", [-1]), ("one", np.float32(1)), ("two", np.float32(2)))]
    for what, nodes, feed in stale_nodes():
        nodes = [*nodes, helper.make_node("ReduceSum", ["r", "axes"], ["s"]), helper.make_node("Mul", ["s", "two"], ["m"]),
                 helper.make_node("Neg", ["m"], ["n"]), helper.make_node("Neg", ["n"], ["y"])]
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                  for name, array in feed.items()]
        model, out = small_model(folder / "stale.onnx", nodes, inputs, [value("y", None, None)], given), folder / "o.onnx"
        loaded = onnx.load(model)
        loaded.graph.value_info.extend([value("v", 1), value("r", 1, 1 if what == "a computed range" else 4)])
        onnx.save(loaded, model)
        want = session_of(model).run(None, feed)[0]
        done = run(OPT, model, "-o", out, "--device", "fake", "--quiet")
        got = session_of(out).run(None, feed)[0] if done.returncode == 0 else None
        expect(got is not None and relative_difference(got, want) < 1e-6, f"{what}: {done.stderr} {got} is not {want}")


def test_unwritable(folder):
    """A result that the model's operator set has no form for leaves the original."""
    model, rules, out = folder / "old.onnx", folder / "newer.rules", folder / "old-fast.onnx"
    nodes = [helper.make_node("Neg", ["x"], ["p"]), helper.make_node("Neg", ["p"], ["y"])]
    graph = helper.make_graph(nodes, "old", [value("x", 64, 64)], [value("y", 64, 64)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=3), model)
    rules.write_text("(rule by-abs (source (neg (neg ?x))) (target (sub (abs ?x) (sub (abs ?x) ?x))))\n")
    arguments = [OPT, model, "-o", out, "--rules", rules, *priced_too_high(model, folder / "old.costs"), *QUICK[:-1]]
    done = run(*arguments, "--no-measure", "--no-check")
    expect(done.returncode == 0 and out.exists() and out.read_bytes() == model.read_bytes(),
           f"an unwritable result: {done.returncode} {done.stderr}")
    expect("needs operator set 7" in done.stdout, f"the reason is told: {done.stdout}")


def test_undone_reshapes(folder):
    """An activation between two layers on matrices is no reason for two reshapes."""
    shapes = [numpy_helper.from_array(np.array(shape, np.int64), name)
              for name, shape in (("sequence", [2, 5, 16]), ("matrix", [10, 16]))]
    nodes = [helper.make_node(op, inputs.split(), [out]) for op, inputs, out in (
        ("MatMul", "x a", "p"), ("Reshape", "p sequence", "s"), ("Tanh", "s", "t"), ("Mul", "s t", "q"),
        ("Reshape", "q matrix", "m"), ("MatMul", "m b", "y"))]
    model = small_model(folder / "undone.onnx", nodes, [value("x", 10, 16)], [value("y", 10, 16)],
                        [weights("a", 16, 16), weights("b", 16, 16), *shapes])
    out, x = folder / "undone-simplified.onnx", np.random.default_rng(1).standard_normal((10, 16)).astype(np.float32)
    done = run(OPT, model, "-o", out, "--device", "fake", "--budget", "0", "--quiet")
    kinds = [node.op_type for node in onnx.load(out).graph.node]
    expect(done.returncode == 0 and kinds == ["MatMul", "Tanh", "Mul", "MatMul"], f"reshapes are left out: {kinds} {done.stderr}")
    before, after = (session_of(path).run(None, {"x": x})[0] for path in (model, out))
    expect(np.array_equal(before, after), "and outputs are the same")


def test_kept(folder):
    test_undone_reshapes(folder)
    test_unwritable(folder)
    test_wrong_rule(folder)
    test_unstable(folder)
    test_traced_sizes(folder)
    test_stale_sizes(folder)
    test_lists_outside(folder)
    test_inputs_with_defaults(folder)
    test_masks_of_halves(folder)
    test_overflowing_halves(folder)
    test_lost_digits(folder)
    test_agreement(folder)
    test_calibration(folder)
    test_nothing_found(folder)
    test_repair(folder)
    test_repair_of_reading(folder)
    test_costs_beside_others(folder)
    test_rules_of_egraphs(folder)
    test_only_proved(folder)
    test_finalists(folder)
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

    constant, rules = negations(folder / "constant.onnx"), folder / "negations.rules"
    rules.write_text("(rule negation-twice (source (neg (neg ?x))) (target ?x))\n")
    done = run(OPT, constant, "-o", fast, "--json", report, "--no-measure", "--rules", rules,
               *priced_too_high(constant, folder / "high.costs"), *QUICK)
    told = json.loads(report.read_text())
    expect(done.returncode == 0 and told["rewrites"], f"constant: {done.returncode} {done.stderr} {told}")
    expect("random weights" in (told["check_reason"] or ""), f"constant outputs are not trusted: {told['check_reason']}")

    unbound = small_model(folder / "unbound.onnx", [helper.make_node("Relu", ["x"], ["y"])],
                          [value("x", "batch", 8)], [value("y", "batch", 8)])
    done = run(OPT, unbound, "-o", fast, *QUICK[:-1])
    expect(not done.stderr and "batch=1" in done.stdout, f"unbound: the user is told: {done.stdout} {done.stderr}")
    dimension = onnx.load(fast).graph.input[0].type.tensor_type.shape.dim[0]
    expect(done.returncode == 0 and dimension.dim_param == "batch", f"unbound: {done.returncode} {done.stderr}")

    before = model.read_bytes()
    run(OPT, model, "-o", fast, "--runtime", "taso", "--budget", "0", "--quiet")
    expect(fast.read_bytes() == before, "nothing to rewrite: the original comes back byte by byte")


# --- layouts ----------------------------------------------------------------------------------------------------------

def images(path):
    """A convolution, then two beside each other that are concatenated and pooled."""
    conv = [helper.make_node("Conv", [x, w], [y], pads=[1, 1, 1, 1] if w == "w3" else [0, 0, 0, 0])
            for x, w, y in (("x", "w0", "a"), ("ra", "w1", "b"), ("ra", "w3", "c"))]
    nodes = [conv[0], helper.make_node("Relu", ["a"], ["ra"]), conv[1], conv[2],
             helper.make_node("Concat", ["b", "c"], ["d"], axis=1),
             helper.make_node("MaxPool", ["d"], ["y"], kernel_shape=[2, 2], strides=[2, 2])]
    return small_model(path, nodes, [value("x", 1, 3, 24, 24)], [value("y", 1, 64, 12, 12)],
                       [weights("w0", 32, 3, 1, 1), weights("w1", 32, 32, 1, 1), weights("w3", 32, 32, 3, 3)])


def test_memory(folder):
    """Whatever it is given, taso-opt does its work, or ends with one line and without a file."""
    output = folder / "bounded.onnx"
    nodes = [helper.make_node("MatMul", ["x", w], [f"x{w}"]) for w in "abc"]
    model = small_model(folder / "large.onnx", nodes, [value("x", 8, 1024)], [value(f"x{w}", 8, 1024) for w in "abc"],
                        [weights(w, 1024, 1024) for w in "abc"])
    codes = []
    for megabytes in (1, 16, 40, 64, 100, 200, 400):
        output.unlink(missing_ok=True)
        done = run(OPT, model, "-o", output, "--max-memory", f"{megabytes}M", "--finalists", 1, *QUICK)
        errors = [line for line in done.stderr.splitlines() if "memory" in line]
        codes.append(done.returncode)
        expect(output.exists() == (done.returncode == 0), f"{megabytes} MB: {done.returncode}, {output.exists()}")
        if done.returncode != 0:
            expect(done.returncode == 4 and len(errors) == 1, f"{megabytes} MB: {done.returncode}, {done.stderr}")
    expect(codes[0] == 4 and codes[-1] == 0, f"exit codes {codes}")


def test_layouts(folder):
    model, costs = images(folder / "images.onnx"), folder / "costs"
    session, told = session_of(model), {}
    for policy in ("standard", "best", "plain"):
        saved = folder / policy
        saved.mkdir()
        done = run(RUN, model, "--layout", policy, "--costs", costs, "--threads", "1", "-n", "3", "--save", saved)
        expect(done.returncode == 0, f"{policy}: {done.returncode} {done.stderr}")
        wanted = session.run(None, {"x": np.load(saved / "input_0.npy")})[0]
        difference = relative_difference(wanted, np.load(saved / "output_0.npy"))
        expect(difference <= TOLERANCE, f"{policy}: outputs differ by {difference}")
    for strategy in ("layout-only", "graph-only", "sequential", "joint", "standard"):
        report, fast = folder / f"{strategy}.json", folder / f"{strategy}.onnx"
        done = run(OPT, model, "-o", fast, "--layout", strategy, "--device", "fake", "--json", report, *QUICK)
        expect(done.returncode == 0, f"{strategy}: {done.returncode} {done.stderr}")
        told[strategy] = json.loads(report.read_text())
        expect(told[strategy]["layout"] == strategy, f"{strategy}: reported as {told[strategy]['layout']}")
    plain = told["graph-only"]["estimated_seconds_before"]
    final = {strategy: of["estimated_seconds_with_layouts"] for strategy, of in told.items()}
    expect(final["layout-only"] <= plain and final["graph-only"] <= plain, f"no worse than {plain}: {final}")
    expect(final["sequential"] <= final["graph-only"], f"layouts chosen afterwards do not cost more: {final}")
    expect(final["joint"] <= final["layout-only"] * (1 + 1e-9), f"rewriting as well does not cost more: {final}")
    expect(not told["layout-only"]["rewrites"], "layout-only rewrites nothing")
    joint_is_never_worse(folder)


def search_only(model, report, strategy, *options):
    done = run(OPT, model, "--device", "fake", "--layout", strategy, "--json", report, "--quiet", *options)
    expect(done.returncode == 0, f"{model.stem}, {strategy}: {done.returncode} {done.stderr}")
    return json.loads(report.read_text())


def joint_is_never_worse(folder):
    """On a device of computed costs, at the standard budget; and on some of the models better."""
    names = ["squeezenet", "nasrnn", "bert-taso-corrected", "resnext50-taso"]
    built = run(ROOT / "scripts/build-models", "--small", "--out", folder, *names)
    expect(built.returncode == 0, f"build-models: {built.stderr}")
    better = []
    for model in sorted(folder.glob("*-small.onnx")):
        told = {strategy: search_only(model, folder / "report.json", strategy) for strategy in ("sequential", "joint")}
        for strategy, of in told.items():
            n_searches = 2 if strategy == "joint" and of["slant"] == "as estimated" else 1
            expect(len(of["search"]["ends"]) == n_searches, f"{model.stem}, {strategy}: why it ended: {of['search']['ends']}")
        final = {strategy: of["estimated_seconds_with_layouts"] for strategy, of in told.items()}
        expect(final["joint"] <= final["sequential"] * (1 + 1e-12), f"{model.stem}: joint is worse: {final}")
        better += [model.stem] if final["joint"] < 0.999 * final["sequential"] else []
        again = search_only(model, folder / "report.json", "joint", "--search-threads", "3")
        alike = [(of["rewrites"], of["estimated_seconds_after"], of["search"]["matches"]) for of in (told["joint"], again)]
        expect(alike[0] == alike[1], f"{model.stem}: threads change what is found")
    expect(better, "joint is better than sequential on some")
    second_search_is_less_patient(folder / "squeezenet-small.onnx", folder / "report.json")


def second_search_is_less_patient(model, report):
    """The first search of joint is that of sequential. The second one finds nothing here, and ends after 0.6 times as
    many graphs as are tried in vain there; it expands the graph that it begins with, too."""
    patience = 20
    first, both = (search_only(model, report, strategy, "--patience", str(patience))["search"]
                   for strategy in ("sequential", "joint"))
    expect(both["ends"] == ["out_of_patience"] * 2, f"patience of {patience}: {both['ends']}")
    expect(first["expanded"] - first["course"][-2]["expanded"] == patience, f"{patience} in vain: {first['course']}")
    expect(both["expanded"] - first["expanded"] == 1 + 0.6 * patience,
           f"less than {patience} in vain: {first['expanded']}, {both['expanded']}")


with tempfile.TemporaryDirectory() as temporary:
    CACHE = pathlib.Path(temporary) / "cache"
    place = pathlib.Path(temporary) / "place"
    place.mkdir()
    {"models": test_models, "usage": test_usage, "kept": test_kept, "layouts": test_layouts,
     "memory": test_memory}[sys.argv[4]](place)
print(f"{len(failures)} failures")
sys.exit(bool(failures))
