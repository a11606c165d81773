"""taso-opt that is asked to end: `interrupted.py SOURCES TASO-OPT`.

The first signal ends the search and all measuring; the best graph so far is checked, timed briefly and written. Signals
in a row, as `timeout` sends them, are one. The second request ends the program at once, and nothing is written.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy  # pylint: disable=unused-import
    import onnx
except ImportError:
    print("skipped: no onnx package")
    sys.exit(77)

SOURCES, OPT = sys.argv[1:3]
MOST_SECONDS = 20   # on a machine that others use, too; most of it is the check and loading
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)


class Run:
    """With a new cost database; `signals`: what is sent, and how many seconds after the beginning."""

    def __init__(self, model, signals=()):
        folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
        self.out, report = folder / "out.onnx", folder / "report.json"
        command = [OPT, model, "-o", self.out, "--json", report, "--runtime", "taso", "--threads", "1", "--quiet"]
        started = time.monotonic()
        process = subprocess.Popen(command, env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))
        self.came_late = False   # a signal: it had ended by then
        for number, seconds in signals:
            time.sleep(max(0, started + seconds - time.monotonic()))
            self.came_late = process.poll() is not None
            process.send_signal(number)
        signalled = time.monotonic()
        self.code = process.wait()
        self.seconds, self.after_signal = time.monotonic() - started, time.monotonic() - signalled
        self.told = json.loads(report.read_text()) if report.exists() else None


def interrupt_search(model, numbers, moment):
    """Earlier, where the search had ended by then: the machine may have become faster. Gives the moment, too."""
    done = Run(model, [(number, moment) for number in numbers])
    if moment > 0.1 and done.told and done.told["search"]["ends"][-1] != "interrupted":
        return interrupt_search(model, numbers, moment / 2)
    return done, moment


def test_one_request(model, numbers, moment):
    """Gives the moment at which the search was interrupted."""
    done, moment = interrupt_search(model, numbers, moment)
    signals = f"{numbers} after {moment:.2f} s"
    told = done.told
    expect(done.code == 0 and told is not None, f"{signals}: ends with {done.code}")
    if done.code or not told:
        return moment
    expect(told["search"]["ends"][-1] == "interrupted", f"{signals}: the search ended with {told['search']['ends']}")
    expect(told["searches"] == 1 and not told["costs_corrected"], f"{signals}: it goes on with {told['costs_corrected']}")
    expect(done.after_signal < MOST_SECONDS, f"{signals}: it takes {done.after_signal:.1f} s more")
    if not told["rewrites"]:
        expect(not told["optimized"], f"{signals}: nothing was found by then")
    elif told["check"] != "passed":
        expect(False, f"{signals}: what was found is checked: {told['check']}")
    else:
        expect("speedup" in told and told["optimized"] == (told["speedup_low"] > 1), f"{signals}: and timed: {told}")
    onnx.checker.check_model(onnx.load(str(done.out)))
    print(f"{signals}: {len(told['rewrites'])} rewrites, {done.after_signal:.2f} s more")
    return moment


def test_second_request(model, moment):
    for _ in range(8):   # where nothing was found yet it ends before the second one
        done = Run(model, ((signal.SIGTERM, moment), (signal.SIGINT, moment + 0.2)))
        if not done.came_late:
            break
        moment *= 1.3
    expect(done.code == -signal.SIGINT, f"the second request: ends with {done.code}")
    expect(not done.out.exists() and done.told is None, "the second request: something is written")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([f"{SOURCES}/scripts/build-models", "--small", "bert", "--out", folder], check=True,
                       stdout=subprocess.DEVNULL)
        model = folder / "bert-small.onnx"
        seconds = Run(model).told["seconds_measuring"]   # of the costs that the first search asks for, most of it
        test_one_request(model, [signal.SIGTERM], 0.05 * seconds)
        moment = test_one_request(model, [signal.SIGINT, signal.SIGINT], 0.6 * seconds)
        test_second_request(model, moment)
    sys.exit(1 if failures else 0)


main()
