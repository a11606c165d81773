"""Where other programs spin on all processors: `beside_others.py ROOT TASO-OPT TASO-RUN`, whose numbers need a machine that
is ours but for those."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

from commands import FOLDER, OPT, RUN, estimate_of
from expectations import expect, run_tests, tests_of
from small_models import many_products, products

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}


@contextlib.contextmanager
def spinning(n):
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        time.sleep(1)
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def environment_of(process):
    """After it has begun anew, if it does while it runs."""
    found = {}
    while process.poll() is None and "OMP_WAIT_POLICY" not in found:
        time.sleep(0.1)
        words = pathlib.Path(f"/proc/{process.pid}/environ").read_text().split("\0")
        found = dict(word.split("=", 1) for word in words if "=" in word) or found
    return found


def test_times(folder):
    """Threads do not wait busily for each other, and what is measured, if anything is, is not a time that costs have nothing
    to do with."""
    model, report = many_products(folder / "few.onnx", 4), folder / "shared.json"
    with spinning(os.cpu_count() + 1):
        process = subprocess.Popen([OPT, model, "--runtime", "taso", "--total-time", "8", "--quiet", "--json", report],
                                   env=ENVIRONMENT)
        expect(environment_of(process).get("OMP_WAIT_POLICY") == "passive", "threads sleep while they wait")
        expect(process.wait() == 0, "it ends well")
    told = json.loads(report.read_text())
    times = told.get("measured_seconds_before")
    print(f"shared: {told['kept_reason']}, {times and times['quartile1']} of {told['estimated_seconds_before']}")
    if times and not told.get("on_one_thread"):
        expect(times["minimum"] < 3.1 * told["estimated_seconds_before"], f"a factor of disturbed times: {told}")


def test_costs(folder):
    """Two threads that wait for each other lose time slices: their costs are not those, which are thousands of times as
    long."""
    model, costs = products(folder / "beside.onnx"), folder / "beside.costs"
    usual = estimate_of(model, "--costs", "")
    with spinning(2 * os.cpu_count()):
        found = estimate_of(model, "--costs", costs, threads="2", env=ENVIRONMENT)
    expect(found < 200 * usual, f"beside others: {found}, not some {usual}: {costs.read_text()}")


run_tests(tests_of(globals()), FOLDER)
