"""taso-opt that is asked to end: `interrupted.py SOURCES TASO-OPT`.

The first signal ends the search and all measuring; the best graph so far is checked, timed briefly and written. Signals
in a row, as `timeout` sends them, are one. The second request ends the program at once, and nothing is written or left.
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
    import numpy
    import onnx
except ImportError:
    print("skipped: no onnx package")
    sys.exit(77)

SOURCES, OPT = map(os.path.abspath, sys.argv[1:3])
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


def test_leaves_no_folder(model):
    """While models are timed in a runtime, and while one is made for standard output: whatever ends the process, another
    who asks twice, a reader who is gone, or a file that was cut."""
    for signals in ([signal.SIGTERM] * 2, [signal.SIGPIPE], [signal.SIGBUS]):
        ends_without_folder(model, signals)


def ends_without_folder(model, signals):
    folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
    pause = folder / "pause"
    pause.write_text("#!/bin/sh\ncase \"$1\" in */taso-*) touch began; sleep 2; esac\necho 1\n")
    pause.chmod(0o755)
    (folder / "temporary").mkdir()
    environment = dict(os.environ, TMPDIR=str(folder / "temporary"), XDG_CACHE_HOME=str(folder / "cache"))
    command = [OPT, model, "-o", "-", "--device", "fake", "--measure-command", pause, "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=environment)
    while not (folder / "began").exists() and process.poll() is None:
        time.sleep(0.01)
    expect(list((folder / "temporary").iterdir()), "temporary folder: it is there")
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    expect(process.wait() == -signals[0], f"temporary folder: ends with {process.returncode}")
    expect(not list((folder / "temporary").iterdir()), f"temporary folder: it is left by {signals[0]}")


def test_nobody_reads(model):
    """The folder of a model for standard output is gone before that is written, and when memory runs out."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
    reading, writing = os.pipe()
    os.close(reading)
    command = [OPT, model, "-o", "-", "--device", "fake", "--no-measure", "--no-check", "--runtime", "taso", "--quiet"]
    done = subprocess.run(command, stdout=writing, env=dict(os.environ, TMPDIR=str(folder)))
    os.close(writing)
    expect(done.returncode == -signal.SIGPIPE, f"nobody reads: ends with {done.returncode}")
    expect(not list(folder.iterdir()), "nobody reads: the folder is left")
    done = subprocess.run([*command, "--max-memory", "1"], capture_output=True, env=dict(os.environ, TMPDIR=str(folder)))
    expect(done.returncode == 4 and not list(folder.iterdir()), f"no memory: {done.returncode}, or the folder is left")
    expect(done.stderr.startswith(b"taso-opt: the limit of memory is reached"), f"no memory: {done.stderr}")


def write_products_of_weights(path, n, size):
    """The model is one product, but for what is made of its weights first."""
    weights = [onnx.numpy_helper.from_array(numpy.eye(size, dtype=numpy.float32), f"w{i}") for i in range(n)]
    names = ["w0"] + [f"c{i}" for i in range(1, n)]
    nodes = [onnx.helper.make_node("MatMul", [names[i - 1], f"w{i}"], [names[i]]) for i in range(1, n)]
    nodes.append(onnx.helper.make_node("MatMul", ["x", names[-1]], ["y"]))
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "products", ends[:1], ends[1:], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def test_constants(folder):
    """The reference takes seconds for each of these products: no further one after the signal."""
    model, out = folder / "products.onnx", folder / "products-out.onnx"
    write_products_of_weights(model, 40, 700)
    process = subprocess.Popen([OPT, model, "-o", out, "--device", "fake", "--fold-limit", "0", "--quiet"])
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    signalled = time.monotonic()
    code = process.wait()
    taken = time.monotonic() - signalled
    expect(code == 0 and taken < MOST_SECONDS, f"constants: ends with {code} after {taken:.1f} s")
    expect(out.exists() and len(onnx.load(str(out)).graph.node) == 40, "constants: the original is written")


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)   # it may be ignored here, and would be by taso-opt
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([f"{SOURCES}/scripts/build-models", "--small", "bert", "--out", folder], check=True,
                       stdout=subprocess.DEVNULL)
        model = folder / "bert-small.onnx"
        seconds = Run(model).told["seconds_measuring"]   # of the costs that the first search asks for, most of it
        test_one_request(model, [signal.SIGTERM], 0.05 * seconds)
        moment = test_one_request(model, [signal.SIGINT, signal.SIGINT], 0.6 * seconds)
        test_second_request(model, moment)
        test_leaves_no_folder(model)
        test_nobody_reads(model)
        test_constants(folder)
    sys.exit(1 if failures else 0)


main()
