"""taso-opt that is asked to end: `interrupted.py SOURCES TASO-OPT`.

The first signal ends the search and all measuring; the best graph so far is checked, timed briefly and written. Signals
in a row, as `timeout` sends them, are one. The second request ends the program at once, and nothing is written or left.
How fast the machine is, and how busy, decides only where a run is met: one that had ended is interrupted earlier.
"""
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import numpy
import onnx

from expectations import expect, failures
from small_models import model_of

SOURCES, OPT = map(os.path.abspath, sys.argv[1:3])
MOST_SECONDS = 300   # of what ends within two on a machine of one's own, and would else go on for much longer


def wait_until_caught(process, number):
    """Until a signal ends the program no more (or it has ended)."""
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        caught = re.search(r"SigCgt:\s*(\w+)", status)
        if caught and int(caught[1], 16) >> number - 1 & 1:
            return
        time.sleep(0.01)


def ask_until_ended(process, number):
    """Requests that are too near to each other are one."""
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.2)
    return process.wait()


class Run:
    """With a new cost database; `numbers`: the signals that are sent so many seconds after they are caught, without which
    nothing is timed; is_ended: the last of them again and again; is_derived: what is compiled may have operators that were
    found for this model."""

    def __init__(self, model, numbers=(), moment=0, is_ended=False, is_derived=False):
        folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
        self.out, report = folder / ("out.taso" if is_derived else "out.onnx"), folder / "report.json"
        command = [OPT, model, "-o", self.out, "--json", report, "--runtime", "taso", "--threads", "1", "--quiet",
                   *(["--derive"] if is_derived else []), *([] if numbers else ["--no-measure"])]
        process = subprocess.Popen(command, env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))
        if numbers:
            wait_until_caught(process, numbers[0])
            time.sleep(moment)
        signalled = time.monotonic()
        for number in numbers:
            process.send_signal(number)
        self.code = ask_until_ended(process, numbers[-1]) if is_ended else process.wait()
        self.after_signal = time.monotonic() - signalled
        self.told = json.loads(report.read_text()) if report.exists() else None


def is_busy(told):
    """What was found is neither timed nor checked beside programs that take the processors."""
    return told and told["check_reason"] == "this machine is busy"


def interrupt_search(model, numbers, moment, is_derived):
    """Earlier, where the search had ended by then, or signals in a row came apart; later, where the model was still being
    read, which a request ends at once; and again on a busy machine. Gives the moment, too."""
    for _ in range(20):
        done = Run(model, numbers, moment, is_derived=is_derived)
        is_early = done.code == -numbers[-1] and not done.out.exists()
        is_late = done.told and done.told["search"]["ends"][-1] != "interrupted"
        if not is_early and not is_late and not is_busy(done.told):
            break
        moment *= 0.5 if is_late else 1.5 if is_early and len(numbers) == 1 else 1
    return done, moment


def test_one_request(model, numbers, moment, is_derived=False):
    """Gives the moment at which the search was interrupted."""
    done, moment = interrupt_search(model, numbers, moment, is_derived)
    signals = f"{numbers} after {moment:.2f} s"
    told = done.told
    expect(done.code == 0 and told is not None, f"{signals}: ends with {done.code}")
    if done.code or not told:
        return moment
    expect(told["search"]["ends"][-1] == "interrupted", f"{signals}: the search ended with {told['search']['ends']}")
    expect(told["searches"] == 1 and not told["costs_corrected"], f"{signals}: it goes on with {told['costs_corrected']}")
    expect(done.after_signal < MOST_SECONDS, f"{signals}: it takes {done.after_signal:.1f} s more")
    if not told["rewrites"] or is_busy(told):
        expect(not told["optimized"], f"{signals}: nothing was found by then, or it was not timed")
    elif told["check"] != "passed":
        expect(False, f"{signals}: what was found is checked: {told['check']}")
    else:
        expect("speedup" in told and told["optimized"] == (told["speedup_low"] > 1), f"{signals}: and timed: {told}")
    expect(done.out.exists(), f"{signals}: nothing is written")
    if not is_derived:
        onnx.checker.check_model(onnx.load(str(done.out)))
    print(f"{signals}: {len(told['rewrites'])} rewrites, {done.after_signal:.2f} s more")
    return moment


def test_second_request(model, moment):
    """Where it ends before the second one, which test_leaves_no_folder rules out, the first one was enough."""
    for _ in range(8):
        done = Run(model, [signal.SIGTERM, signal.SIGINT], moment, is_ended=True)
        if done.code:
            expect(done.code == -signal.SIGINT, f"the second request: ends with {done.code}")
            expect(not done.out.exists(), "the second request: something is written")
            break
        expect(done.out.exists() and done.told, "the second request came late, and nothing was written")
        moment *= 1.3


def test_leaves_no_folder(model):
    """While models are timed in a runtime, and while one is made for standard output: whatever ends the process, another
    who asks twice, a reader who is gone, or a file that was cut."""
    for signals in ([signal.SIGTERM] * 2, [signal.SIGPIPE], [signal.SIGBUS]):
        ends_without_folder(model, signals)


def ends_without_folder(model, signals):
    folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
    pause = folder / "pause"
    pause.write_text("#!/bin/sh\ncase \"$1\" in */taso-*) touch began; while [ ! -e ended ]; do sleep 0.1; done; esac\necho 1\n")
    pause.chmod(0o755)
    (folder / "temporary").mkdir()
    environment = dict(os.environ, TMPDIR=str(folder / "temporary"), XDG_CACHE_HOME=str(folder / "cache"))
    command = [OPT, model, "-o", "-", "--device", "fake", "--measure-command", pause, "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=environment)
    while not (folder / "began").exists() and process.poll() is None:
        time.sleep(0.01)
    expect(list((folder / "temporary").iterdir()), "temporary folder: it is there")
    if len(signals) == 1:
        process.send_signal(signals[0])
    code = ask_until_ended(process, signals[0]) if len(signals) > 1 else process.wait()
    (folder / "ended").touch()
    expect(code == -signals[0], f"temporary folder: ends with {code}")
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


def test_nobody_reads_on(model):
    """While the file is written, be it to a pipe that is full, there is a second more, and then an end."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=model.parent))
    os.mkfifo(folder / "pipe")
    for out in (folder / "pipe", "-"):
        reading, writing = (os.open(out, os.O_RDWR), None) if out != "-" else os.pipe()
        process = subprocess.Popen([OPT, model, "-o", out, "--simplify-only", "--no-check", "--quiet"], stdout=writing,
                                   env=dict(os.environ, TMPDIR=str(folder)))
        wait_until_caught(process, signal.SIGTERM)
        wait_until_read(reading)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=MOST_SECONDS)
        expect(code == -signal.SIGTERM, f"{out} is full: ends with {code}")
        expect([f.name for f in folder.iterdir()] == ["pipe"], f"{out} is full: {list(folder.iterdir())}")
        for end in (reading, writing):
            if end is not None:
                os.close(end)


def write_products_of_weights(path, n, size, dtype, rows=1):
    """The model is one product, but for what is made of its weights first."""
    weights = [onnx.numpy_helper.from_array(numpy.eye(size, dtype=dtype), "w")]
    names = ["w"] + [f"c{i}" for i in range(1, n)]
    nodes = [onnx.helper.make_node("MatMul", [names[i - 1], "w"], [names[i]]) for i in range(1, n)]
    nodes.append(onnx.helper.make_node("MatMul", ["x", names[-1]], ["y"]))
    element = onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    ends = [onnx.helper.make_tensor_value_info(name, element, [rows, size]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "products", ends[:1], ends[1:], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def wait_until_read(pipe):
    """Until something can be read there, and a moment longer: writing begins, and is met by a pipe that is full."""
    select.select([pipe], [], [], MOST_SECONDS)
    time.sleep(0.3)


def signal_behind_the_import(command, number, moment):
    """Later, where the model was still being read, which a request ends at once. Gives how it ended."""
    out = command[command.index("-o") + 1]
    for _ in range(8):
        out.unlink(missing_ok=True)
        process = subprocess.Popen(command)
        wait_until_caught(process, number)
        time.sleep(moment)
        process.send_signal(number)
        if process.wait() != -number or out.exists():
            break
        moment *= 1.5
    return process.returncode


def test_constants(folder):
    """The reference takes minutes for a product of integers, and is broken off; products of real numbers are computed by the
    processor's kernels, on a device that runs nothing, too."""
    model, out = folder / "products.onnx", folder / "products-out.onnx"
    for options in ["--device", "fake"], ["--runtime", "taso"]:
        write_products_of_weights(model, 2, 2000, numpy.int64)
        code = signal_behind_the_import([OPT, model, "-o", out, "--fold-limit", "0", "--quiet", *options], signal.SIGTERM, 1)
        expect(code == 0, f"constants {options}: ends with {code}")
        expect(out.exists() and len(onnx.load(str(out)).graph.node) == 2, f"constants {options}: the original is written")
    onnx.save(model_of("(float[4096,2048] x) => (float[4096,2048] y) { v = MatMul(x, a)  y = MatMul(v, b) }",
                       a=(2048, 2048), b=(2048, 2048)), model)
    started = time.monotonic()
    subprocess.run([OPT, model, "-o", out, "--device", "fake", "--quiet"], check=True)
    taken = time.monotonic() - started
    expect(taken < MOST_SECONDS and len(onnx.load(str(out)).graph.node) == 1, f"constants: {taken:.1f} s")


def test_asked_before_the_import(folder):
    """A signal that comes while rules are read ends the import of a large model, too: not all constants are computed."""
    model, out = folder / "integers.onnx", folder / "integers-out.onnx"
    write_products_of_weights(model, 60, 250, numpy.int64)   # computed at import: many seconds
    process = subprocess.Popen([OPT, model, "-o", out, "--device", "fake", "--quiet", "--fold-limit", "4M"])
    wait_until_caught(process, signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    code = process.wait()
    expect(code == -signal.SIGTERM or (code == 0 and len(onnx.load(str(out)).graph.node) > 1), f"import: ends with {code}")


def test_compiled(model, seconds):
    """Layouts that nobody has measured yet are the standard ones."""
    for moment in 0.1 * seconds, 0.4 * seconds:
        out = model.with_suffix(".taso")
        code = signal_behind_the_import([OPT, model, "-o", out, "--no-measure", "--threads", "1", "--quiet", "--costs",
                                         model.parent / f"{moment}.costs"], signal.SIGINT, moment)
        expect(code == 0 and out.exists(), f"compiled: ends with {code} after {moment:.2f} s")


def test_derived(model):
    """While operators are looked for, and while it searches with those that were found: the best so far counts."""
    whole = Run(model, is_derived=True).told
    expect(any(rule.startswith("derived") for rule in whole["rules_applied"]), f"derived: only {whole['rules_applied']}")
    begin = whole["seconds_of"]["importing"] + whole["seconds_of"]["deriving"]
    for moment in 0.7 * begin, begin + 0.3 * whole["seconds_of"]["searching"], begin + 0.7 * whole["seconds_of"]["searching"]:
        test_one_request(model, [signal.SIGINT], moment, is_derived=True)


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)   # it may be ignored here, and would be by taso-opt
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([f"{SOURCES}/scripts/build-models", "--small", "bert", "dcgan", "--out", folder], check=True,
                       stdout=subprocess.DEVNULL)
        model = folder / "bert-small.onnx"
        seconds = Run(model).told["seconds_measuring"]   # of the costs that the first search asks for, most of it
        moment = test_one_request(model, [signal.SIGINT, signal.SIGINT], 0.6 * seconds)
        test_second_request(model, moment)
        test_leaves_no_folder(model)
        test_nobody_reads(model)
        test_nobody_reads_on(model)
        test_constants(folder)
        test_asked_before_the_import(folder)
        test_one_request(model, [signal.SIGTERM], 0.05 * seconds)
        test_compiled(model, seconds)
        test_derived(folder / "dcgan-small.onnx")
    sys.exit(1 if failures else 0)


main()
