"""What ends taso-opt early: `limits.py TASO-OPT`. --total-time bounds everything together, and --simplify-only searches and
measures nothing, but compares what it writes."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import onnx

from expectations import expect, failures
from small_models import convolutions, small_model

OPT = os.path.abspath(sys.argv[1])
TOTAL, SLACK, TRIES = 4, 4, 3   # seconds; of what others do on this machine the least of some tries is free


def many_products(path, count):
    """All of other sizes, each of which has to be measured, and an identity that simplifying takes away."""
    text, weights = ["[same] y0 = Identity(x)"], {}
    for i in range(count):
        text.append(f"[a{i}] a{i} = MatMul(y{i}, u{i}) [b{i}] b{i} = MatMul(y{i}, v{i}) [c{i}] c{i} = Mul(a{i}, b{i}) "
                    f"[y{i}] y{i + 1} = MatMul(c{i}, w{i})")
        weights |= {f"u{i}": (64 + i, 500 + i), f"v{i}": (64 + i, 500 + i), f"w{i}": (500 + i, 65 + i)}
    return small_model(path, f"(float[32,64] x) => (float[32,{64 + count}] y{count}) {{ {' '.join(text)} }}", **weights)


class Run:
    def __init__(self, model, *options):
        folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
        self.out, report = folder / "out.onnx", folder / "report.json"
        command = [OPT, model, "-o", self.out, "--json", report, "--quiet", *options]
        started = time.monotonic()
        done = subprocess.run(command, env=dict(os.environ, XDG_CACHE_HOME=str(folder), TASO_PYTHON=sys.executable),
                              capture_output=True, text=True, check=False)
        self.seconds = time.monotonic() - started
        expect(done.returncode == 0, f"{options}: ends with {done.returncode}: {done.stderr}")
        self.told = json.loads(report.read_text())


def test_total_time(model, *options):
    runs = [Run(model, "--total-time", str(TOTAL), *options)]
    while len(runs) < TRIES and runs[-1].seconds > TOTAL + SLACK:
        runs.append(Run(model, "--total-time", str(TOTAL), *options))
    seconds = [run.seconds for run in runs]
    expect(min(seconds) < TOTAL + SLACK, f"--total-time {TOTAL} {options}: takes {seconds} s")
    onnx.checker.check_model(onnx.load(runs[-1].out))


def test_tune(model):
    """Schedules of the original are tried, and what is tried once is known; where they have no effect, it says so."""
    costs = model.with_name("tuned.costs")
    tuned = [Run(model, "--runtime", "taso", "--threads", "1", "--tune", "0.1", "--budget", "5", "--no-measure", "--costs",
                 costs).told["tuning"] for _ in range(2)]
    expect(all(t["fusion"]["steps"] > 0 and t["fusion"]["gain"] >= 1 for t in tuned), f"fusion is searched: {tuned}")
    tuned = [t["kernels"] for t in tuned]
    expect(tuned[0]["trials"] > 0 and tuned[0]["known_trials"] == 0, f"schedules are tried: {tuned}")
    expect(tuned[1]["known_trials"] > 0, f"what was tried is known: {tuned}")
    expect(all(t["seconds_after"] <= t["seconds_before"] for t in tuned), f"nothing is slower: {tuned}")
    done = subprocess.run([OPT, model, "--device", "fake", "--tune", "1"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "--tune" in done.stderr, f"--tune on paper: {done.returncode} {done.stderr}")


def test_simplify_only(model):
    done = Run(model, "--simplify-only")
    told = done.told
    expect(told["steps_measured"] == 0 and told["seconds_of"]["searching"] < 1, f"it searches or measures: {told}")
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
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    Run(model, "--measure-seconds", "0.1")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    expect(seconds < 20, f"windows of symbols: {seconds:.1f} s of processors")
    expect(used.ru_maxrss < max(1.5 * before.ru_maxrss, 600 << 10), f"windows of symbols: {used.ru_maxrss >> 10} MiB")


def environment_of(process):
    """After it has begun anew, if it does within some seconds."""
    for _ in range(20):
        time.sleep(0.5)
        words = pathlib.Path(f"/proc/{process.pid}/environ").read_text().split("\0")
        found = dict(word.split("=", 1) for word in words if "=" in word)
        if "OMP_WAIT_POLICY" in found:
            break
    return found


def test_shared_machine(model):
    """Where others spin on all processors threads do not wait busily for each other, and what is measured, if anything is,
    is not a time that costs have nothing to do with."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    report = model.parent / "shared.json"
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() + 1)]
    try:
        time.sleep(1)
        process = subprocess.Popen([OPT, model, "--runtime", "taso", "--total-time", "8", "--quiet", "--json", report],
                                   env=dict(environment, XDG_CACHE_HOME=str(model.parent)))
        found = environment_of(process)
        expect(found.get("OMP_WAIT_POLICY") == "passive", "threads sleep while they wait")
        expect(process.wait() == 0, "it ends well")
    finally:
        for other in others:
            other.kill()
            other.wait()
    told = json.loads(report.read_text())
    times = told.get("measured_seconds_before")
    print(f"shared: {told['kept_reason']}, {times and times['quartile1']} of {told['estimated_seconds_before']}")
    if times and not told.get("on_one_thread"):
        expect(times["minimum"] < 3.1 * told["estimated_seconds_before"], f"a factor of disturbed times: {told}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = many_products(folder / "many.onnx", 60)
        test_windows_of_symbols(folder)
        test_simplify_only(model)
        test_tune(convolutions(folder / "tuned.onnx"))
        test_total_time(model, "--runtime", "taso", "--threads", "1")
        test_total_time(model)
        test_shared_machine(many_products(folder / "few.onnx", 4))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
