"""What ends taso-opt early: `limits.py TASO-OPT`. --total-time bounds everything together, and --simplify-only searches and
measures nothing, but compares what it writes."""
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import onnx

from expectations import expect, failures
from made_up import price_too_high, tune_until_kept
from small_models import convolutions, many_products, small_model

OPT = os.path.abspath(sys.argv[1])
TOTAL, ENDLESS = 3, 1000   # seconds
MOST_SECONDS = 200   # of what does not go on for ever


class Run:
    """With costs of its own; kernels that others compiled need not be compiled again."""

    def __init__(self, model, *options, **environment):
        folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
        self.out, report = folder / "out.onnx", folder / "report.json"
        own = [] if {"fake", "--simplify-only", "--costs"} & {*options} else ["--costs", folder / "costs"]
        command = [OPT, model, "-o", self.out, "--json", report, *own, *options]
        started = time.monotonic()
        environment = dict(os.environ, XDG_CACHE_HOME=str(model.parent / "cache"), TASO_PYTHON=sys.executable, **environment)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.seconds = time.monotonic() - started
        expect(done.returncode == 0, f"{options}: ends with {done.returncode}: {done.stderr}")
        self.errors, self.told = done.stderr, json.loads(report.read_text())


def test_total_time(model, *options):
    """Neither the search nor the contest is as long as it is asked to be."""
    run = Run(model, "--total-time", str(TOTAL), "--measure-seconds", str(ENDLESS), "--budget", "100000000", "--patience",
              "100000000", *options)
    expect(run.seconds < MOST_SECONDS, f"--total-time {TOTAL} {options}: takes {run.seconds} s")
    onnx.checker.check_model(onnx.load(run.out))


def test_estimate_when_cut(model):
    """A search that ends before it begins tells what the original takes with the layouts that it is written for."""
    def told(*options):
        return Run(model, "--runtime", "taso", "--device", "fake", *options).told
    whole, plain, cut = told(), told("--layout", "graph-only"), told("--total-time", "1e-6")
    estimate = "estimated_seconds_before"
    expect(cut["search"]["ends"][-1] == "interrupted", f"no time: {cut['search']['ends']}")
    expect(whole[estimate] < plain[estimate], f"layouts matter here: {whole[estimate]}, {plain[estimate]}")
    expect(cut[estimate] == whole[estimate] == cut["estimated_seconds_with_layouts"], f"the same original: {cut[estimate]}")


def test_tune(model):
    """Schedules of the original are tried, and what is tried once is known; where they have no effect, it says so."""
    costs = model.with_name("tuned.costs")

    def tune(minutes):
        return Run(model, "--runtime", "taso", "--threads", "1", "--tune", minutes, "--budget", "5", "--no-measure", "--costs",
                   costs).told["tuning"]
    tuned = [tune_until_kept(tune, costs)]
    for minutes in "0.03", "0.2", "1":   # a busy machine has no time for fusion in two seconds
        tuned[1:] = [tune(minutes)]
        if "fusion" in tuned[1]:
            break
    expect(all("gain" not in t for t in tuned), f"nothing is timed: {tuned}")
    fusions = [t["fusion"] for t in tuned if "fusion" in t]
    expect(fusions and all(f["steps"] > 0 and f["gain"] >= 1 for f in fusions), f"fusion is searched: {tuned}")
    tuned = [t["kernels"] for t in tuned]
    expect(tuned[0]["trials"] > 0 and tuned[0]["known_trials"] == 0, f"schedules are tried: {tuned}")
    expect(tuned[1]["known_trials"] > 0, f"what was tried is known: {tuned}")
    expect(all(t["seconds_after"] <= t["seconds_before"] for t in tuned), f"nothing is slower: {tuned}")
    done = subprocess.run([OPT, model, "--device", "fake", "--tune", "1"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "--tune" in done.stderr, f"--tune on paper: {done.returncode} {done.stderr}")


def test_tune_when_cut(folder):
    """The first search's graph is written where tuning takes all time, and tuning ends where it knows all candidates."""
    for count in 20, 4:
        model, costs = many_products(folder / f"cut{count}.onnx", count), folder / f"cut{count}.costs"
        options = ["--runtime", "taso", "--threads", "1", "--budget", "3", "--search", "backtracking", "--no-measure", "--no-check",
                   "--costs", costs]
        Run(model, *options)
        price_too_high(costs)   # two products pay as one, whatever they took
        for seconds in "4", "20", "100":   # the first search may take longer
            cut = Run(model, *options, "--tune", "20", "--total-time", seconds)
            if count < 20 or cut.told["rewrites"]:
                break
        expect(count < 20 or cut.told["rewrites"], f"{count}: {cut.told['kept_reason']}")
        expect(cut.seconds < MOST_SECONDS, f"{count}: tuning goes on for {cut.seconds} s")


def choices_of(costs):
    """By which each step runs that no tuning has tried. Doubtful costs are measured again, and may come to others."""
    rows = re.findall(r'^\("((?:[^"\\]|\\.)*)" \S+ \S+(?: "([^"]*)")?(?!.* doubtful\)$)', costs.read_text(), flags=re.M)
    return {key: choice for key, choice in rows if " by " not in key and not key.startswith("pass ")}


def test_untuned(model):
    """What tuning does not make faster beyond the noise is as it was, choices of its steps too, and so is what is written."""
    costs, files = model.with_name("untuned.costs"), [model.with_name(name) for name in ("before.taso", "after.taso")]
    options = ["--runtime", "taso", "--threads", "1", "--budget", "5", "--measure-seconds", "0.3", "--no-calibrate", "--costs", costs]
    Run(model, *options)
    Run(model, *options, "-o", files[0])
    before = choices_of(costs)
    told = Run(model, *options, "--tune", "0.02", "-o", files[1]).told
    gain, after = told["tuning"]["gain"], choices_of(costs)
    changed = [key for key, choice in before.items() if after.get(key, choice) != choice]
    is_written_anew = "doubtful" not in costs.read_text() and files[0].read_bytes() != files[1].read_bytes()
    print(f"tuned: {gain} times as fast, {len(changed)} of {len(before)} choices are others")
    expect(before and (gain > 1 or (gain == 0 and not changed and not is_written_anew)), f"{gain} times as fast by {changed}")


def test_not_tuned(model):
    """What cannot be compiled to be timed is not tuned at all, and it is told why, and where."""
    missing = str(model.with_name("missing"))
    run = Run(model, "--runtime", "taso", "--threads", "1", "--budget", "1", "--measure-seconds", "0.1", "--tune", "0.05", TMPDIR=missing)
    expect("not tuned" in run.errors and missing in run.errors.split("not tuned")[1].split("\n")[0], f"it says why: {run.errors}")
    expect("tuning" not in run.told, f"nothing is tuned: {run.told.get('tuning')}")


def test_simplify_only(model):
    done = Run(model, "--simplify-only")
    told = done.told
    expect(told["steps_measured"] == 0 and not told["search"]["expanded"], f"it searches or measures: {told}")
    expect(not told["optimized"] and told["simplified"], f"it is simplified: {told}")
    expect("only to be simplified" in told["kept_reason"], f"it says why: {told['kept_reason']}")
    nodes = [node.op_type for node in onnx.load(done.out).graph.node]
    expect("Identity" not in nodes and len(nodes) == told["nodes_after"], f"nodes are gone: {nodes}")
    expect(told["runtime"].startswith("onnxruntime"), f"it is compared: {told}")


def test_windows_of_symbols(folder):
    """What the model runs at where nobody says sizes is no more work than a small model is worth: a ConvTranspose whose
    windows are as large as usual images takes minutes and gigabytes in the runtime."""
    model = small_model(folder / "windows.onnx", "(float[b,c,h,w] x, float[c,d,k,l] v) => (float[] y) "
                        "{ t = ConvTranspose(x, v)  y = Relu(t) }")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    symbols = Run(model, "--measure-seconds", "0.1").told["symbols"]
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    work = [math.prod(sizes.values()) for sizes in symbols["profiles"] + symbols["checked"]]   # each entry of x by those of v
    expect(max(work) <= 1 << 37, f"windows of symbols: {work} operations")
    expect(used < max(1.5 * before, 600 << 10), f"windows of symbols: {used >> 10} MiB")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = many_products(folder / "many.onnx", 60)
        test_windows_of_symbols(folder)
        test_simplify_only(model)
        test_tune(convolutions(folder / "tuned.onnx"))
        test_tune_when_cut(folder)
        test_untuned(convolutions(folder / "untuned.onnx"))
        test_not_tuned(convolutions(folder / "not_tuned.onnx"))
        test_estimate_when_cut(convolutions(folder / "cut.onnx"))
        test_total_time(model, "--runtime", "taso", "--threads", "1")
        test_total_time(model)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
