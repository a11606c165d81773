"""taso-opt with models timed elsewhere: `runtime.py TASO-OPT TASO-RUN [--few]`. ONNX Runtime runs in this Python; workers
that misbehave, and commands that print what a test wants, are scripts. With --few each sixth test is run."""
import json
import os
import pathlib
import re
import subprocess
import sys
import types

import numpy as np
import onnx

from expectations import expect, run_tests, tests_of
from made_up import BY_PRODUCTS, PROFILED, TIMED, misbehaving, price_too_high, script
from small_models import products, small_model

OPT, RUN = sys.argv[1:3]


def priced_too_high(model, folder, *options, device="cpu"):
    """Every step of the model takes 1,000 seconds, here and there: a rewrite pays, however busy this machine is. None is
    doubtful: it would be measured again."""
    costs = folder / f"costs-{device}"
    costs.unlink(missing_ok=True)
    if device != "fake":
        subprocess.run([RUN, model, "--measure-costs", "--threads", "1", "--layout", "standard", "--costs", costs, *options],
                       check=True, capture_output=True)
    subprocess.run([OPT, model, "--runtime", "onnxruntime", "--python", sys.executable, "--budget", "0", "--threads", "1",
                    "--costs", costs, "--quiet", "--device", device, *options], check=True, capture_output=True)
    expect("onnxruntime" in costs.read_text(), "costs are kept under the runtime's name")
    price_too_high(costs)
    return ["--costs", costs, "--no-calibrate"]   # sessions would say what it really takes


class Run:
    def __init__(self, folder, *arguments, python=sys.executable, output=True):
        self.out, self.report, self.temporary = folder / "out.onnx", folder / "report.json", folder / "temporary"
        self.out.unlink(missing_ok=True)
        self.temporary.mkdir(exist_ok=True)
        environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"), TASO_PYTHON=str(python),
                           TMPDIR=str(self.temporary))
        files = ["-o", self.out, "--json", self.report] if output else []
        quick = ["--budget", "60"] + ([] if "--no-measure" in arguments else ["--measure-seconds", "0.2"])
        quick += [] if "fake" in arguments and "--runtime" not in arguments else ["--threads", "1"]
        done = subprocess.run([OPT, *map(str, [*arguments, *files, *quick])], capture_output=True, text=True,
                              env=environment, check=False)
        self.code, self.text, self.errors = done.returncode, done.stdout, done.stderr
        # "taso: ..." of the progress is no message
        self.lines = [line for line in re.split(r"[\r\n]+", done.stderr) if line.startswith("taso-opt: ")]
        self.told = json.loads(self.report.read_text()) if output and self.code == 0 else {}
        left = list(self.temporary.iterdir())
        expect(not left, f"{arguments}: what is left: {left}")


BUSY_SECONDS = 0.05   # of a processor, for each part that is measured alone
BUSY = f"""
    def bound(self, *words):
        import time
        end = time.process_time() + {BUSY_SECONDS}
        while time.process_time() < end:
            pass
        return super().bound(*words)
"""


def test_measured_there(folder):
    model = products(folder / "products.onnx")
    costs = priced_too_high(model, folder)
    timed = misbehaving(folder, "timed", TIMED.format(log=str(folder / "log")) + BUSY)   # merged products are faster
    done = Run(folder, model, *costs, python=timed)
    told = done.told
    expect(done.code == 0 and not done.lines, f"onnxruntime: {done.code} {done.errors}")
    expect((told["runtime"] or "").startswith("onnxruntime ") and told["runtime"].endswith("CPUExecutionProvider"),
           f"that it is the standard: {told['runtime']}")
    expect([o["name"] for o in told["outputs_in_runtime"]] == ["xa", "xb", "xc"], "outputs are compared there")
    expect(all(o["equal"] and o["trustworthy"] for o in told["outputs_in_runtime"]), f"and equal: {told}")
    expect(told["speedup_low"] > 1 and told["optimized"], f"the verdict: {told}")
    expect(told["layout"] == "standard", "layouts are not ours to choose there")
    expect(told["processor_seconds_measuring"] > 0.8 * BUSY_SECONDS * told["steps_measured"] > 0,
           f"what the worker takes counts: {told['processor_seconds_measuring']} s for {told['steps_measured']} steps")
    untimed = Run(folder, model, "--no-measure", *costs).told
    expect("speedup" not in untimed and untimed["optimized"] and untimed["seconds_of"]["timing"] == 0,
           f"nothing is timed: {untimed}")
    expect([o["equal"] for o in untimed["outputs_in_runtime"]] == [True] * 3, f"but compared: {untimed}")
    fake = ["--device", "fake", *priced_too_high(model, folder, device="fake")]
    for options in (["--no-measure", *costs], fake, ["--no-measure", *fake]):
        told = Run(folder, model, "--runtime", "onnxruntime", *options, python=timed).told
        expect([o["equal"] for o in told["outputs_in_runtime"]] == [True] * 3, f"and with {options}: {told}")
        expect(told["tolerance"] == 1e-5, f"within what they differ: {told['tolerance']}")
        expect(("speedup" in told) == ("--no-measure" not in options), f"timed where that is wanted: {told}")
    unchecked = Run(folder, model, "--no-measure", "--no-check", *costs).told
    expect(unchecked["optimized"] and not unchecked["outputs_in_runtime"], f"unless nobody wants that: {unchecked}")
    ours = Run(folder, model, "--runtime", "taso", *costs).told
    expect(ours["runtime"] is None and not ours["outputs_in_runtime"] and ours["layout"] == "joint", f"taso: {ours}")
    bare = script(folder / "bare", f"#!/bin/sh\nexec {sys.executable} -S -I \"$@\"\n")   # without packages
    for python in ("/bin/false", bare, folder / "none"):
        none = Run(folder, model, "--quiet", *costs, python=python)
        expect(none.code == 0 and none.told["runtime"] is None and not none.errors, f"no onnxruntime: {none.errors}")
    done = Run(folder, model, "--runtime", "onnxruntime", python=bare)
    expect(done.code == 4 and f"{bare}: onnxruntime cannot be imported there: No module named" in done.errors, f"{done.errors}")


def test_steps(folder):
    """What is fused there is measured as one; what was measured is known."""
    model = small_model(folder / "steps.onnx", """(float[1,8,16,16] x) => (float[1,8,16,32] y) <float two = {2}>
                        { c = Conv<pads = [1, 1, 1, 1]>(x, k, b)  r = Relu(c)  s = Softmax(r)
                          t = Transpose<perm = [0, 1, 3, 2]>(s)  m = MatMul(t, w)  y = Mul(m, two) }""",
                        k=(8, 8, 3, 3), b=(8,), w=(16, 32))
    costs, rules = folder / "costs", folder / "negations.rules"
    rules.write_text("(rule negation-twice (source (neg (neg ?x))) (target ?x))\n")
    options = ["--runtime", "onnxruntime", "--costs", costs, "--rules", rules, "--no-calibrate"]
    done = Run(folder, model, *options)
    told = costs.read_text().splitlines()
    lines = [line for line in told if line.startswith('("(graph')]
    changes = [line for line in told if line.startswith('("blocks of ')]   # of layouts: the image's and the result's are alike
    expect(len(changes) == 1 and changes[0].startswith('("blocks of (f32 1 8 16 16)"'), f"changes of layouts: {changes}")
    for words in (("conv", "broadcast", "relu"), ("softmax",), ("transpose", "matmul", "ewmul")):
        expect(sum(all(f"({w} " in line or f"({w})" in line for w in words) for line in lines) == 1, f"{words}: {lines}")
    known = sum(float(re.search(r'" ([-+.e\d]+) ', line)[1]) for line in lines)
    expect(abs(known / done.told["estimated_seconds_before"] - 1) < 1e-3, f"their sum: {known} {done.told}")
    expect(len(lines) == done.told["steps_measured"] == 3, f"{done.told['steps_measured']} steps: {lines}")
    n_doubtful = sum(line.endswith(" doubtful)") for line in lines)   # other programs came between
    again = Run(folder, model, *options)
    expect(again.told["steps_measured"] <= n_doubtful, f"known steps are measured: {again.told['steps_measured']}: {lines}")


def test_sessions(folder):
    """What a session's profile says is believed rather than what parts take alone, also where the runtime fuses and calls
    kernels otherwise; the search goes by it, and the sum is the whole."""
    model = products(folder / "products.onnx")
    by_operator = """[(node.name.replace('#', '%23'), 3.0 if node.op_type == 'MatMul' else 0.5)
                   for node in onnx.load(path).graph.node]"""
    merged = ["--runtime", "onnxruntime", "--costs", folder / "costs", "--measure-seconds", "0.2"]
    methods = TIMED.format(log="/dev/null") + PROFILED.format(rule=by_operator)
    told = Run(folder, model, *merged, python=misbehaving(folder, "slow-products", methods)).told
    expect(abs(told["search"]["trajectory"][0]["estimated_seconds"] - 9.0) < 1e-3, f"three products of 3 s: {told['search']}")
    expect(told["rewrites"] and 3.0 <= told["estimated_seconds_after"] < 6.0, f"one product, and splits: {told}")
    expect({round(c["seconds_after"], 2) for c in told["costs_corrected"]} >= {3.0, 0.5}, f"what was corrected: {told}")
    steps = {c["operators"] for c in told["costs_corrected"]}
    expect("matmul of f32 1 64, f32 64 32" in steps and not any("(" in step for step in steps), f"steps for people: {steps}")
    expect("in-model" not in (folder / "costs").read_text(), "they are of this session, and not kept")
    fused = small_model(folder / "fused.onnx", """(float[1,64] x) => (float[32,1] t)
                        { m = MatMul(x, w)  s = Softmax(m)  t = Transpose(s) }""", w=(64, 32))
    one_kernel = "[('taso%230%23/SomeFusion/', 7.0), ('ReorderOutput', 1.0)]"
    told = Run(folder, fused, "--runtime", "onnxruntime", "--costs", folder / "others",
               python=misbehaving(folder, "fuses", PROFILED.format(rule=one_kernel))).told
    expect(abs(told["estimated_seconds_before"] - 8.0) < 1e-3, f"all that was fused: {told['estimated_seconds_before']}")
    broken = misbehaving(folder, "no-profile", "    def profile(self, which, seconds, least, *sizes):\n"
                         "        self.connection.read_bytes(sum(map(int, sizes)))\n        raise ValueError('no')")
    done = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / "third", python=broken)
    expect(done.code == 0 and not done.lines and not done.told["costs_corrected"], f"without a profile: {done.errors}")


def test_loads_of_a_profile(folder):
    """By a clock of its own: what takes long to load is loaded once, all else three times."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    from taso import worker
    at, real = [0.0], worker.time

    def take(seconds):
        at[0] += seconds
        return types.SimpleNamespace(run=lambda _, feed: take(0.1))

    for of_load, n_expected in (0.01, 3), (5, 1):
        one = object.__new__(worker.Worker)
        loaded = []
        one.runtime = types.SimpleNamespace(
            SessionOptions=lambda: types.SimpleNamespace(add_session_config_entry=lambda *_: None),
            InferenceSession=lambda path, *_, of_load=of_load, loaded=loaded, **__: loaded.append(path) or take(of_load))
        one.connection = types.SimpleNamespace(check=lambda: None)
        one.provider, one.threads, one.clock = "", 1, lambda: at[0]
        worker.time = types.SimpleNamespace(monotonic=lambda: at[0])
        wholes = one.wholes([], ["first", "second"], {}, 0.5, 5)
        worker.time = real
        expect(loaded == ["first", "second"] * n_expected, f"loads that take {of_load} s: {loaded}")
        expect(all(abs(whole - 0.1) < 1e-9 for whole in wholes), f"what a run takes: {wholes}")


def test_disturbed_sessions(folder):
    """A session that other programs slow down says nothing of a model: the original's is run again beside each result."""
    model = products(folder / "products.onnx")
    slowed = """[(node.name.replace('#', '%23'), slower * (3.0 if node.op_type == 'MatMul' else 0.5))
              for node in onnx.load(path).graph.node for slower in [{slower}]]"""
    for name, slower in (("first", "1.5 if n_profiles == 1 else 1"), ("later", "1 if n_profiles == 1 else 1.5")):
        costs = ["--runtime", "onnxruntime", "--costs", folder / f"costs-{name}", "--measure-seconds", "0.2"]
        methods = TIMED.format(log=str(folder / "log")) + PROFILED.format(rule=slowed.format(slower=slower))
        told = Run(folder, model, *costs, python=misbehaving(folder, name, methods)).told
        sums = [told[f"timed_estimate_{which}"] for which in ("before", "after")]
        # Parts that no session of the result had are as they were timed, so how far it comes down is not said.
        expect(told["rewrites"] and abs(sums[0] - 9.0) < 1e-3 and sums[1] < 9.0,
               f"{name}: {sums}, not three products, and less behind the rewriting: {told['rewrites']}")


def test_dear_alone(folder):
    """A merged product that was once measured too long alone is found all the same, as a session shows what it takes. What
    one has shown stays, also where the way to it, two of three products merged, has become dearer by that."""
    model = products(folder / "products.onnx")
    bound = """    def bound(self, name, *words):
        columns = sum(output.shape[-1] for output in self.models[name].get_outputs() if output.shape)
        seconds = {alone}[columns // 32] if self.nodes[name] else 1e-9
        return '4' + 4 * f' {{seconds}}'
"""
    by_count = """[(node.name.replace('#', '%23'), 1e-6 if node.op_type != 'MatMul' else 0.5 if n == 3 else {merged})
                for graph in [onnx.load(path).graph] for n in [sum(node.op_type == 'MatMul' for node in graph.node)]
                for node in graph.node]"""
    for name, alone, merged in (("noisy", [0, 1.0, 2.4, 3.6], 0.9), ("once", [0, 1.0, 3.0, 1.9], 1.2)):
        methods = TIMED.format(log=str(folder / "log")) + bound.format(alone=alone) + \
            PROFILED.format(rule=by_count.format(merged=merged))
        told = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / f"costs-{name}",
                   python=misbehaving(folder, name, methods)).told
        before, after = (told.get(f"timed_estimate_{which}", 0) for which in ("before", "after"))
        expect(told["rewrites"] and abs(before - 1.5) < 1e-2 and abs(after - merged) < 1e-2,
               f"{name}: {before} and {after} are not what sessions show: {told}")


def test_cut_behind_the_comparison(folder):
    """What was compared there and not timed, as the time was over, is told without a time."""
    model = products(folder / "products.onnx")
    by_operator = """[(node.name.replace('#', '%23'), 3.0 if node.op_type == 'MatMul' else 0.5)
                   for node in onnx.load(path).graph.node]"""
    methods = PROFILED.format(rule=by_operator) + """    def outputs(self, *words):
        self.is_compared = True
        return super().outputs(*words)

    def run(self, name):
        __import__('time').sleep(100 if hasattr(self, 'is_compared') else 0)
        return super().run(name)
"""
    for seconds in "8", "40", "200":   # a slow machine has not compared them by then
        done = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / f"costs-{seconds}", "--total-time", seconds,
                   python=misbehaving(folder, "never-done", methods))
        if "compared in the runtime" in done.text:
            break
    expect(done.code == 0 and "compared in the runtime, where the time was over" in done.text, f"{done.code}: {done.text} {done.errors}")


def test_kept_under_load(folder):
    """Costs that were kept beside other programs, which fell on some of them, hide a rewrite; some are tried, and then all
    that the same run left is measured anew, as one line says."""
    model = products(folder / "products.onnx", "u = Softmax(z)  v = Neg(z)  s = Exp(z)", "float[1,48] u, float[1,48] v, float[1,48] s",
                     more_inputs="float[1,48] z")
    by_operator = """[(node.name.replace('#', '%23'), 1e-3 if node.op_type == 'MatMul' else 1e-4)
                   for node in onnx.load(path).graph.node]"""
    bound = """    def bound(self, name, *words):
        is_scalar = [o.shape for o in self.models[name].get_outputs()] == [[]]   # of the overhead
        return '4' + 4 * (' 1e-3' if self.nodes[name] else ' 1e-9' if is_scalar else ' 1e-4')

    def run(self, name):
        return f'1 {3e-4 + 1e-3 * len(self.nodes[name])}'
"""
    methods = TIMED.format(log=str(folder / "log")) + bound + PROFILED.format(rule=by_operator)
    python, costs = misbehaving(folder, "steady", methods), folder / "costs"
    options = [model, "--runtime", "onnxruntime", "--costs", costs]
    expect(Run(folder, *options, python=python).told["rewrites"], "the products are merged")
    disturbed = re.sub(r'^(\(".*(?:64 64|64 96|softmax|neg|exp).*") ([\d.e-]+) ', lambda m: f"{m[1]} {10 * float(m[2]):.4e} ",
                       costs.read_text(), flags=re.M)
    costs.write_text(disturbed)
    believed = Run(folder, *options, "--no-calibrate", python=python)
    expect(not believed.told["rewrites"] and not believed.lines, f"hidden: {believed.told['rewrites']} {believed.lines}")
    tried = Run(folder, *options, python=python)
    expect(tried.told["rewrites"], f"found: {tried.told}")
    expect(len(tried.lines) == 1 and re.search(r": costs of [-\d]+ [:\d]+ are 1 to 10 times what steps take now: all \d+ of "
                                               "them are measured again$", tried.lines[0]), f"and told: {tried.lines}")


def test_regions(folder):
    """Of two rewrites that costs favour, the one that is slower in the whole model is given up, and the other one kept;
    nothing is timed with it any more."""
    model = products(folder / "two.onnx", "u = Softmax(z)  ya = MatMul(u, d)  yb = MatMul(u, e)  yc = MatMul(u, f)",
                     "float[1,16] ya, float[1,16] yb, float[1,16] yc", more_inputs="float[1,48] z", **dict.fromkeys("def", (48, 16)))
    log = folder / "log"
    by_operator = """[(node.name.replace('#', '%23'), 3.0 if node.op_type == 'MatMul' else 0.1)
                   for node in onnx.load(path).graph.node]"""
    python = misbehaving(folder, "timed", TIMED.format(log=str(log)) + PROFILED.format(rule=by_operator))
    done = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / "costs", python=python)
    made = {output for node in onnx.load(done.out).graph.node if node.op_type == "MatMul" for output in node.output}
    expect(done.told["optimized"] and {"ya", "yb", "yc"} <= made and "xa" not in made, f"what is written: {made} {done.told}")
    expect(abs(done.told["speedup"] - 1.25) < 1e-6 and done.told["rewrites"], f"its gain: {done.told}")
    timed = [line for line in log.read_text().splitlines() if "part" not in line]
    expect(any("'ya'" not in line and len(line) > 2 for line in timed), f"the slower one was tried: {timed}")
    expect("'ya'" in timed[-1] or "'ya'" in timed[-2], f"and is not in what was timed last: {timed}")
    chain = products(folder / "chain.onnx", "u = Softmax(z)  ya = MatMul(u, d)  yb = MatMul(ya, e)", "float[1,16] yb",
                     more_inputs="float[1,48] z", d=(48, 16), e=(16, 16))
    rules = folder / "three.rules"
    rules.write_text("(rule idle (source (tanh (tanh (tanh ?x)))) (target (tanh (tanh (tanh ?x)))))\n"
                     "(rule associate (source (matmul (matmul ?x ?y) ?z)) (target (matmul ?x (matmul ?y ?z))))\n"
                     "(rule join (source (matmul ?x ?y) (matmul ?x ?z))"
                     " (target (split0 (- (rank ?x) 1) (matmul ?x (concat (- (rank ?y) 1) ?y ?z)))"
                     " (split1 (- (rank ?x) 1) (matmul ?x (concat (- (rank ?y) 1) ?y ?z)))))\n")
    done = Run(folder, chain, "--runtime", "onnxruntime", "--costs", folder / "costs", "--rules", rules, "--without", "idle",
               python=python)
    told = {rewrite["rule"] for rewrite in done.told["rewrites"]}
    expect(told == {"join"} == set(done.told["rules_applied"]), f"rules of what is left: {told} {done.errors}")


def test_indices(folder):
    """A table of two rows is read by indices that are 0 or 1, whatever is made up for other integers; and where a part
    cannot be timed at all, that is said."""
    model = small_model(folder / "indices.onnx", "(int64[1,16] i) => (float[1,16,8] y) { g = Gather(table, i)  y = MatMul(g, w) }",
                        table=(2, 8), w=(8, 8))
    options = ["--runtime", "onnxruntime", "--costs", folder / "costs"]
    done = Run(folder, model, *options)
    expect(done.code == 0 and done.told["estimated_seconds_before"] and not done.errors, f"{done.told} {done.errors}")
    fails = misbehaving(folder, "fails", "    def bound(self, *words):\n"
                        "        self.n_bound = getattr(self, 'n_bound', 0) + 1   # two are for the overhead of a run\n"
                        "        if self.n_bound > 2:\n            raise ValueError('no')\n"
                        "        return super().bound(*words)")
    done = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / "others", python=fails)
    expect(done.code == 0 and "2 parts of it could not be timed alone" in done.errors, f"{done.told} {done.errors}")
    again = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / "others")
    expect(again.told["steps_measured"] >= 2 and not again.errors, f"a guess is not kept: {again.told} {again.errors}")


def test_constants(folder):
    """They keep their values in a part that is timed alone: indices of axes of one entry, divisors that are not 0."""
    model = small_model(folder / "constants.onnx", """(float[4,1,8] x, int64[4,8] n) => (float[4,8] g, int64[4,8] d, float[4,2,8] h)
                        { g = Gather<axis = 1>(x, first)  d = Div(n, by)  h = Gather<axis = 1>(x, twice) }""",
                        first=np.array(0), twice=np.array([0, -1]), by=np.array([3, 1, 2, 5, 7, 1, 9, 4]))
    done = Run(folder, model, "--runtime", "onnxruntime", "--costs", folder / "of-constants")
    expect(done.code == 0 and not done.errors and done.told["steps_measured"] == 3, f"{done.told} {done.errors}")


def test_step_that_fails(folder):
    """What does not touch it is rewritten."""
    model = products(folder / "with-a-step-that-fails.onnx", "s = Softmax(xa)  t = Transpose(s)", "float[32,1] t")
    costs = priced_too_high(model, folder)
    costs[1].write_text("".join(line for line in costs[1].read_text().splitlines(True) if "softmax" not in line))
    fails = misbehaving(folder, "fails-at-one", TIMED.format(log="/dev/null") + "\n    def bound(self, name, *words):\n"
                        "        if [i.shape for i in self.models[name].get_inputs()] == [[1, 32]]:\n"
                        "            raise ValueError('no')\n"
                        "        return super().bound(name, *words)")
    done = Run(folder, model, "--runtime", "onnxruntime", *costs, python=fails)
    expect("1 part of it could not be timed alone" in done.errors, f"{done.errors}")
    expect(done.code == 0 and done.told["rewrites"], f"the products are merged: {done.told} {done.errors}")


def test_doubts(folder):
    """A runtime that is named and refuses the model is none to optimize for; --strict ends with 5 at any doubt."""
    unknown = small_model(folder / "unknown.onnx", "(float[8,8] x) => (float[8,8] y) { p = MatMul(x, w)  y = NoSuchOperator(p) }",
                          w=(8, 8))
    done = Run(folder, unknown, "--runtime", "onnxruntime")
    expect(done.code == 4 and not done.out.exists() and len(done.lines) == 1, f"named: {done.code} {done.errors}")
    done = Run(folder, unknown)
    expect(done.code == 0 and done.out.exists() and done.told["runtime"] is None, f"not named: {done.code} {done.told}")
    expect(sum("NoSuchOperator" in line for line in done.lines) == 1, f"that is said once: {done.errors}")
    done = Run(folder, unknown, "--strict")
    expect(done.code == 5 and done.out.exists() and "refuses the model; nodes are not understood" in done.lines[-1], done.errors)
    model = products(folder / "products.onnx")
    costs = priced_too_high(model, folder)
    for options, doubts in ((["--no-measure"], "the result is not timed"),
                            (["--no-measure", "--no-check"], "the result is not checked; the result is not timed"),
                            (["--budget", "0"], None)):
        done = Run(folder, model, "--strict", "--runtime", "taso", *costs, *options)
        expect(done.code == (5 if doubts else 0) and done.out.exists(), f"{options}: {done.code} {done.errors}")
        expect(not doubts or done.lines[-1].endswith(f"--strict: {doubts}"), f"{options}: {done.errors}")


def test_symbolic(folder):
    """Inputs of sizes that were bound are given to the original, which has none."""
    model = products(folder / "symbolic.onnx", batch="n")
    done = Run(folder, model, "--shape", "n=4", "--no-measure", *priced_too_high(model, folder, "--shape", "n=4"))
    expect(done.code == 0 and not done.lines and done.told["outputs_in_runtime"][0]["equal"], f"n=4: {done.errors}")


def test_wrong_requests(folder):
    model = products(folder / "products.onnx")
    for arguments, code, words in (
        (["--runtime", "nonsense"], 2, "--runtime is taso or onnxruntime"),
        (["--runtime", "taso:CPUExecutionProvider"], 2, "--runtime is taso or onnxruntime[:PROVIDER], not taso:CPU"),
        (["--runtime", "onnxruntime:"], 2, "--runtime is taso or onnxruntime[:PROVIDER], not onnxruntime:"),
        (["--no-measure", "--python", folder / "none"], 4, "cannot be started"),
        (["--no-measure", "--python", "/bin/false"], 4, "/bin/false does not answer as a Python"),
        (["--runtime", "onnxruntime:NoProvider"], 4, "its onnxruntime has no NoProvider, only "),
        (["--runtime", "onnxruntime", "--python", "/bin/false"], 4, "/bin/false does not answer as a Python"),
        (["--python", "/bin/false"], 4, "/bin/false does not answer as a Python"),
        (["--python", folder / "none"], 4, "cannot be started"),
        (["--runtime", "onnxruntime", "--python", folder / "none"], 4, "cannot be started"),
    ):
        done = Run(folder, model, *arguments)
        expect(done.code == code and words in done.errors and len(done.lines) == 1, f"{arguments}: {done.code} {done.errors}")
        expect(not done.out.exists(), f"{arguments}: nothing is written")


def has_ended(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_failures(folder):
    model = products(folder / "products.onnx")
    costs = priced_too_high(model, folder)
    ends = misbehaving(folder, "ends", "    def outputs(self, *words):\n        os._exit(9)")
    for _ in range(8):   # one that others disturb times nothing
        done = Run(folder, model, *costs, python=ends)
        if "speedup" in done.told:
            break
    expect(done.code == 0 and done.told["runtime"] is None, f"a worker that ends: {done.code} {done.errors}")
    expect(len(done.lines) == 1 and "ended unexpectedly; models are timed by our own" in done.lines[0], f"{done.errors}")
    expect("speedup" in done.told and "in our own executor, " in done.text, f"our own executor timed it: {done.text}")

    differs = misbehaving(folder, "differs", "    def outputs(self, *words):\n        return '3 0.5 1 1 1 0 1 1 1 0 1 1 1'")
    done = Run(folder, model, *costs, python=differs)
    expect(done.out.read_bytes() == model.read_bytes() and "fails the check, at output xa" in done.told["kept_reason"],
           f"outputs that differ there: {done.told}")
    expect(all("the check fails" in line for line in done.lines) and has_ended(int((folder / "worker.pid").read_text())), "nothing is left of the worker")
    done = Run(folder, model, "--no-measure", *costs, python=differs)
    expect(done.out.read_bytes() == model.read_bytes() and "fails the check, at output xa" in done.told["kept_reason"],
           f"outputs that differ where nothing is timed: {done.told}")
    done = Run(folder, untidy(folder / "untidy.onnx"), "--no-measure", "--budget", "0", python=differs)
    expect(done.told["not_simplified"] == "its outputs would differ", f"nor is the model simplified then: {done.told}")
    done = Run(folder, model, "--runtime", "onnxruntime", "--device", "fake",
               *priced_too_high(model, folder, device="fake"), python=differs)
    expect(done.out.read_bytes() == model.read_bytes(), f"outputs that differ for a device that runs nothing: {done.told}")

    fails = misbehaving(folder, "fails", "    def load(self, name, kind, size):\n"
                                         "        path = self.connection.read_bytes(int(size))\n"
                                         "        if b'result' in path:\n            raise ValueError('what is\\nthis? ' + 10 ** 6 * '/a')\n"
                                         "        self.models[name] = self.runtime.InferenceSession(os.fsdecode(path))\n"
                                         "        return ''")
    done = Run(folder, model, *costs, python=fails)
    expect(done.out.read_bytes() == model.read_bytes() and "what is this?" in (done.told["kept_reason"] or ""),
           f"a result that fails there: {done.told} {done.errors}")

    unknown = products(folder / "unknown.onnx", "w = example.org.Wondrous(xa)", "float[1,32] w")
    done = Run(folder, unknown, *costs)
    expect(done.code == 0 and len(done.lines) == 1 and "example.org" in done.lines[0] and done.told["runtime"] is None,
           f"an original that onnxruntime cannot load: {done.code} {done.errors}")
    is_told = "without the nodes that are not understood" in done.text or "no rewrite was found to be faster" in done.text
    expect(is_told, f"what was timed of it, if our own executor's costs favoured a result: {done.text}")


def check_names(model, told):
    """Nodes have names, and those that a rule made say which one."""
    onnx.checker.check_model(model)
    names = [node.name for node in model.graph.node]
    expect(all(names) and len(set(names)) == len(names), f"names of nodes: {names}")
    rules = {entry.value for node in model.graph.node for entry in node.metadata_props if entry.key == "taso.rule"}
    expect(rules and rules <= set(told["rules_applied"]), f"rules of nodes: {rules}, of the report: {told['rules_applied']}")


def test_command(folder):
    """What a command prints decides."""
    model, log = products(folder / "it's a model.onnx"), folder / "log"
    costs = priced_too_high(model, folder)
    for result, is_kept in (("0.5", False), ("1.01", True), ("1", True)):
        command = script(folder / "measure", f"#!/bin/sh\necho \"$1\" >> '{log}'\n"
                                             f"if [ \"$1\" = \"{model}\" ]; then echo took 1; else echo took {result}; fi\n")
        done = Run(folder, model, "--measure-command", command, *costs)
        expect(done.code == 0 and done.told["optimized"] != is_kept, f"{result}: {done.told} {done.errors}")
        expect(abs(done.told["speedup"] - 1 / float(result)) < 1e-9, f"speed-up {done.told['speedup']}")
        expect((done.out.read_bytes() == model.read_bytes()) == is_kept, f"{result}: what is written")
        first, last = done.text.splitlines()[0], done.text.splitlines()[-1]
        expect(first == last == done.told["headline"], f"the first line is the last: {done.text}")
        wanted = "not made faster: what was found runs " if is_kept else "2.00 x faster (2.00 to 2.00) in the command "
        expect(wanted in first and done.told["operators_before"] != done.told["operators_after"] or is_kept, f"{result}: {first}")
        expect([done.told[f"{key}_{which}"] for key in ("timed_estimate", "estimate_error") for which in ("before", "after")]
               == [None] * 4, f"{result}: our estimates are of another executor: {done.told}")
        if not is_kept:
            check_names(onnx.load(done.out), done.told)
    for text in ("exit 1", "echo soon", "true", "echo -1", "echo nan", "yes"):
        command = script(folder / "measure", f"#!/bin/sh\n{text}\n")
        done = Run(folder, model, "--measure-command", command, *costs)
        expect(done.code == 4 and not done.out.exists() and "the command that measures" in done.errors and
               len(done.errors.splitlines()) == 1, f"{text}: {done.code} {done.errors}")
        done = Run(folder, model, "--measure-command", command, "--device", "fake")
        expect(done.code == 4 and not done.out.exists(), f"{text}, a device that runs nothing: {done.code} {done.errors}")
        command = script(folder / "measure", f"#!/bin/sh\n[ \"$1\" = \"{model}\" ] && echo 1 || {text}\n")
        done = Run(folder, model, "--measure-command", command, *costs)
        expect(done.out.read_bytes() == model.read_bytes() and "the command that measures" in done.told["kept_reason"],
               f"{text}, of the result: {done.told} {done.errors}")


def test_refused_there(folder):
    """What ONNX Runtime says of a model that it does not load is one line, without its own source in it."""
    model = onnx.load(products(folder / "later.onnx"))
    model.ir_version = 30
    onnx.save(model, folder / "later.onnx")
    done = Run(folder, folder / "later.onnx", "--budget", "0")
    expect(done.code == 0 and len(done.lines) == 1, f"later: {done.code} {done.errors}")
    expect(re.search("onnxruntime [^:]*: Unsupported model IR version: 30[^/\\[]*our own executor", done.errors), done.errors)


def untidy(path):
    """Seven nodes, of which two say everything: relu(x + c), twice."""
    return small_model(path, """(float[4,8] x) => (float[4,8] y, float[4,8] z)
                       { c = Constant<value_floats = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>()
                         p = Add(x, c)  q = Add(x, c)  i = Identity(p)  y = Relu(i)  z = Relu(q)  dead = Exp(q) }""")


def test_simplified(folder):
    """What is simpler is written where no rewrite is, unless somebody finds it slower or different."""
    model, still = untidy(folder / "untidy.onnx"), ["--budget", "0", "--no-explain"]
    python = misbehaving(folder, "by-products", BY_PRODUCTS)   # of which there are none
    for options in (["--runtime", "taso"], ["--runtime", "onnxruntime"]):
        done = Run(folder, model, *options, *still, python=python)
        kinds = [node.op_type for node in onnx.load(done.out).graph.node]
        expect(kinds == ["Add", "Relu", "Identity"], f"{options}: {kinds}")   # the last one gives z its name
        expect(done.told["simplified"] and (done.told["nodes_before"], done.told["nodes_after"]) == (7, 3),
               f"{options}: {done.told}")
        expect("simplified" in done.text.splitlines()[-1], f"that it is told: {done.text}")
    done = Run(folder, model, "--no-simplify", *still)
    expect(done.out.read_bytes() == model.read_bytes() and not done.told["simplified"], "--no-simplify")
    for result, is_simplified in ((1.2, False), (1, True), (0.9, True)):
        count = folder / "calls"
        count.write_text("")
        command = script(folder / "measure", f"#!/bin/sh\necho >> '{count}'\nsleep 0.1\n"
                         f"[ \"$1\" = {model} ] && echo 1 || echo {result}\n")
        done = Run(folder, model, "--measure-command", command, *still)
        calls = len(count.read_text().splitlines())
        expect(calls > 2 and done.told["seconds_of"]["timing"] >= 0.1 * (calls - 1),   # one asks only whether it works
               f"timing what is simplified counts as timing: {calls} calls, {done.told['seconds_of']}")
        expect(done.told["simplified"] == is_simplified, f"{result}: {done.told}")
        expect(abs(done.told["simplified_speedup"] - 1 / result) < 1e-6 and (f"{1 / result:.2f}" in done.text) == is_simplified,
               f"{result}: how fast the simplified model is: {done.text}")
    for times, said in (((1, 1), "as fast as before (1.00 to 1.00 x)"), ((0.7, 1.4), "no difference in time to be told (0.")):
        count = folder / "count"
        count.write_text("")
        command = script(folder / "measure", f"#!/bin/sh\n[ \"$1\" = {model} ] && echo 1 && exit\necho >> '{count}'\n"
                         f"[ $(($(wc -l < '{count}') % 2)) = 0 ] && echo {times[0]} || echo {times[1]}\n")
        for _ in range(10):   # a busy machine has no word for what says nothing
            done = Run(folder, model, "--measure-command", command, *still)
            if "not measured" not in done.told["headline"]:
                break
        is_said = said in done.told["headline"] or (times[0] < 1 and "not measured" in done.told["headline"])
        expect(done.told["simplified"] and is_said, f"{times}: {done.told['headline']}")
        expect(is_simplified or ("slower" in done.told["not_simplified"] and done.out.read_bytes() == model.read_bytes()),
               f"the reason: {done.told}")
    differs = misbehaving(folder, "differs", "    def outputs(self, *words):\n        return '2 0.5 1 1 1 0 1 1 1'")
    done = Run(folder, model, *still, python=differs)
    expect(done.out.read_bytes() == model.read_bytes() and "differ" in done.told["not_simplified"], f"{done.told}")


def test_files(folder):
    """Of two files, the second has two products and the first ten, which are all that takes time."""
    chain = " ".join(f"[m{i}] y{i + 1} = MatMul(y{i}, w)" for i in range(10))
    text = "(float[64,256] x) => (float[64,256] z) {{ [first] y0 = Relu(x) {} [last] z = Add({}, x) }}"
    square = np.eye(256, dtype=np.float32)
    slow = small_model(folder / "slow.onnx", text.format(chain, "y10"), w=square)
    fast = small_model(folder / "fast.onnx", text.format(" ".join(chain.split("[m2]")[:1]), "y2"), w=square)
    other = small_model(folder / "other.onnx", text.format("[m] y = Exp(y0)", "y"))
    report = folder / "files.json"

    def run(*arguments):
        return subprocess.run([RUN, *map(str, arguments), "--threads", "1", "--measure-seconds", "0.3"], capture_output=True,
                              text=True, check=False)
    python = misbehaving(folder, "by-products", BY_PRODUCTS)
    done = run(slow, fast, "--runtime", "onnxruntime", "--python", python, "--json", report)
    told = json.loads(report.read_text()) if done.returncode == 0 else {}
    expect(done.returncode == 0, f"two files: {done.stderr}")
    if told:
        of = [told[f"speedup{which}"] for which in ("_low", "", "_high")]
        expect(all(abs(factor - 5) < 1e-4 for factor in of) and told["agrees"], f"which is faster: {told}")
        expect(done.stdout.splitlines()[-1].startswith(f"the second is {told['speedup']:.3f} x as fast"), done.stdout)
    done = run(slow, other, "--runtime", "onnxruntime", "--python", sys.executable)
    expect(done.returncode == 1 and "do not agree" in done.stdout, f"another function: {done.returncode} {done.stdout}")
    done = run(slow, fast, "--runtime", "onnxruntime", "--python", "./absent")
    expect(done.returncode == 4, f"no Python: {done.returncode}")
    for wrong in (["--runtime", "other"], ["--runtime", "onnxruntime", "--plan"], ["--measure-seconds", "1"]):
        expect(run(slow, fast, *wrong).returncode == 2, f"wrong usage: {wrong}")


run_tests(tests_of(globals())[:: 6 if "--few" in sys.argv else 1])
