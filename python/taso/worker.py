"""Runs and times models in ONNX Runtime for taso-opt: `worker.py PROVIDER THREADS`, with a socket as standard input.

Every request is a line of words, some with bytes behind it; every answer is one line, `ok ...` or `error MESSAGE`. The
first line, which nobody asks for, says what runs here: `ok VERSION PROVIDER`.

    load ID file|bytes SIZE     SIZE bytes: a path, or the model     ok
    drop ID                                                          ok
    input SET DTYPE RANK D1 .. NAME_SIZE DATA_SIZE     the name and the elements of one input, kept under a set     ok
    sets N                      a timed run is one on each of the sets 0 to N-1; 1 at first     ok
    outputs A B N               runs both on the sets 0 to N-1       ok COUNT, then for each output what differs
                                                                     (max|a-b|  max|a|  whether a says something, and
                                                                     whether it is finite, each on some set)
    threads N                   models that are loaded from now on run on so many, 0: as ONNX Runtime takes     ok
    run A                       runs it on these sets                ok 1 SECONDS
    bound A COLD SECONDS LEAST  runs A alone, on inputs made up and bound where it computes, with empty caches where
                                COLD is 1     ok COUNT, then seconds, less than 0 of runs that other programs disturbed
    profile SET SECONDS LEAST SIZE BESIDE     SIZE bytes, then BESIDE bytes: paths. Loads the first model for this alone
                                and runs it on one set, with its profile and without; the latter by turns with the second
                                one, where that is named     ok COUNT SECONDS of a run, SECONDS of the other's or 0, then
                                for each kernel, in the order in which they ran, its name (quoted as in addresses) and
                                its seconds

Inputs that were not given are made up from what the model declares. Loaded models stay until they are dropped: a new
session for the same model is another sample of where its weights come to lie in memory.
"""
import json
import os
import re
import resource
import select
import signal
import socket
import sys
import time
import urllib.parse

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")   # which leaves a file where temporary ones lie
try:
    import numpy as np
    import onnxruntime
except Exception as failure:   # told in answer to the greeting, whatever it is
    IMPORT_FAILURE = failure
else:
    IMPORT_FAILURE = None

WARM_UP_RUNS, MOST_RUNS, MOST_PROFILED_RUNS, LOADS_OF_A_PROFILE = 2, 2000, 25, 3
LONGEST_LOADS = 6   # times the time for runs of loads, after which no further load begins
WARM_UP_SECONDS = 0.1   # of each model: the first 30 runs of 3 ms take up to twice as long
LEAST_SAMPLE_SECONDS = 1e-4   # of a model alone: short ones are repeated in it
UNBOUND_SIZE = 16   # of a symbolic dimension that is not the first
# numpy's names of ours, and of ONNX Runtime's.
TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "bool": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4",
         "u32": "u4", "i64": "i8", "u64": "u8", "c64": "c8", "c128": "c16"}
DECLARED = {"tensor(float)": "f4", "tensor(double)": "f8", "tensor(float16)": "f2", "tensor(bool)": "?",
            "tensor(int8)": "i1", "tensor(uint8)": "u1", "tensor(int16)": "i2", "tensor(uint16)": "u2",
            "tensor(int32)": "i4", "tensor(uint32)": "u4", "tensor(int64)": "i8", "tensor(uint64)": "u8"}
FLUSHED_BYTES = 64 << 20   # more than caches keep
# Where a provider's tensors lie; elsewhere than in the processor's memory they are bound before anything is timed.
DEVICES = {"CUDAExecutionProvider": "cuda", "TensorrtExecutionProvider": "cuda"}


# What ONNX Runtime says before what it has to say: its name and a code, the path, a line of its own source.
PREAMBLES = [r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", r"Load model from .*? failed: ?(?:Fatal error: )?",
             r"/\S+\.(?:cc|h):\d+ [^()]*(?:\([^()]*\)[^() ]*)* ?(?:const )?", r"^Exception during initialization: ",
             r"(?:Status Message|Error): "]
MOST_OF_A_REASON, MOST_LOOKED_AT = 200, 4000


def reason_of(failure):
    """A failure in one line that a person reads."""
    text = " ".join(str(failure)[:MOST_LOOKED_AT].split())
    for preamble in PREAMBLES:
        text = re.sub(preamble, "", text)
    return (text if len(text) <= MOST_OF_A_REASON else text[:MOST_OF_A_REASON].rsplit(" ", 1)[0] + " ...") or "it fails"


class Ended(Exception):
    """Nobody is there any more to answer to."""


class Connection:
    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(0))
        self.reader = self.socket.makefile("rb", buffering=1 << 16)

    def read_line(self):
        line = self.reader.readline()
        if not line.endswith(b"\n"):
            raise Ended
        return line.decode("utf-8", "replace").split()

    def read_bytes(self, count):
        data = self.reader.read(count)
        if len(data) != count:
            raise Ended
        return data

    def answer(self, text):
        self.socket.sendall(text.encode("utf-8", "replace") + b"\n")

    def check(self):
        """A request is not followed by another before it was answered: what can be read here is the end."""
        if select.select([self.socket], [], [], 0)[0]:
            raise Ended


def made_up(declared, seed, largest=15):
    """An array for an input that nobody gave: of ones where it is symbolic at the front, and of some size elsewhere."""
    if declared.type not in DECLARED:
        raise ValueError(f"input {declared.name} is of the type {declared.type}")
    shape = [d if isinstance(d, int) and d > 0 else (1 if i == 0 else UNBOUND_SIZE)
             for i, d in enumerate(declared.shape)]
    dtype, random = np.dtype(DECLARED[declared.type]), np.random.default_rng(seed)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    return random.integers(min(1, largest), largest + 1, shape).astype(dtype)   # divisors by 0 end the process


def is_equal(a, b):
    """Of outputs that are no arrays of numbers."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(is_equal, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return difference_of(a, b)[0] <= 1e-5 * difference_of(a, b)[1] if a.dtype.kind in "biuf" else bool((a == b).all())
    return bool(a == b)


def difference_of(a, b):
    """max|a-b|, max|a|, whether `a` says something (neither constant nor zero nor infinite), and whether it is finite."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind in "biuf"):
        return (0.0 if is_equal(a, b) else np.inf), 0.0, True, True
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf, 0.0, True, True
    is_float, x, y = a.dtype.kind == "f", a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(x)
    x, y = x[finite], y[finite]   # what is not finite in the original says nothing
    if not np.isfinite(y).all():
        return np.inf, 0.0, False, bool(finite.all())
    largest, difference = np.abs(x).max(initial=0), np.abs(x - y).max(initial=0)
    if not is_float and difference > 0:
        difference = np.inf
    varies = x.size <= 1 or not is_float or np.ptp(x) > 1e-6 * largest
    return float(difference), float(largest), bool(x.size and largest > 0 and varies), bool(finite.all())


def involuntary_switches():
    """How often other programs took a processor from a thread of this one."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def mean_of_lower_half(values):
    """Other programs only make things longer; and clocks of whole microseconds say more in the mean."""
    half = sorted(values)[:(len(values) + 1) // 2]
    return sum(half) / len(half)


def kernels_of(events):
    """Name and seconds of every kernel of a profile, in the order in which they ran first. Those within another one's
    time are of its subgraphs, and a part of it. The runs that warm up are left out."""
    kernels, end = {}, -1
    suffix = "_kernel_time"
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        if event.get("cat") != "Node" or not event["name"].endswith(suffix) or event["ts"] < end >= event["ts"] + event["dur"]:
            continue
        end = event["ts"] + event["dur"]
        key = event["args"].get("node_index"), event["name"][:-len(suffix)]
        kernels.setdefault(key, []).append(1e-6 * event["dur"])
    return [(name, mean_of_lower_half(taken[min(WARM_UP_RUNS, len(taken) - 1):])) for (_, name), taken in kernels.items()]


class Worker:
    def __init__(self, runtime, connection, provider, threads):
        self.runtime, self.connection, self.provider = runtime, connection, provider
        self.models, self.inputs, self.timed_sets = {}, {}, 1
        self.fed = {}   # of every model that runs, what it is run on
        self.use_threads(threads)

    def use_threads(self, count):
        """One thread is timed by what it worked, not by what others took from it."""
        self.threads = int(count)
        is_one_thread = self.threads == 1 and self.provider == "CPUExecutionProvider"
        self.clock = time.thread_time if is_one_thread else time.perf_counter
        return ""

    def options(self):
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self.threads
        # Threads of one model that wait for work in a loop would slow down the other one.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        if os.environ.get("OMP_WAIT_POLICY", "").lower() == "passive":
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return options

    def load(self, name, kind, size):
        data = self.connection.read_bytes(int(size))
        model = os.fsdecode(data) if kind == "file" else data
        self.drop(name)
        self.models[name] = self.runtime.InferenceSession(model, self.options(), providers=[self.provider])
        return ""

    def drop(self, name):
        self.models.pop(name, None)
        self.fed.pop(name, None)
        return ""

    def input(self, which, dtype, rank, *rest):
        shape, (name_size, data_size) = [int(d) for d in rest[:int(rank)]], map(int, rest[int(rank):])
        name = self.connection.read_bytes(name_size).decode("utf-8")
        data = self.connection.read_bytes(data_size)
        if dtype not in TYPES:
            raise ValueError(f"input {name} is of the type {dtype}")
        self.fed.clear()
        self.inputs.setdefault(int(which), {})[name] = np.frombuffer(data, TYPES[dtype]).reshape(shape)
        return ""

    def sets(self, count):
        self.timed_sets = int(count)
        self.fed.clear()
        return ""

    def feeds(self, model, which):
        given = self.inputs.get(which, {})
        return {declared.name: given[declared.name] if declared.name in given else made_up(declared, [which, i])
                for i, declared in enumerate(model.get_inputs())}

    def outputs(self, a, b, count):
        a, b, worst = self.models[a], self.models[b], []
        for which in range(int(count)):
            pairs = zip(*(model.run(None, self.feeds(model, which)) for model in (a, b)))
            found = [difference_of(*pair) for pair in pairs]
            worst = [(max(d, e), max(m, n), s or t, f or g) for (d, m, s, f), (e, n, t, g) in zip(worst, found)] if which else found
        return " ".join([str(len(worst))] + [f"{d:.9g} {m:.9g} {int(s)} {int(f)}" for d, m, s, f in worst])

    def run(self, name):
        model, clock = self.models[name], self.clock
        if name not in self.fed:
            self.fed[name] = [self.feeds(model, which) for which in range(self.timed_sets)]
        started = clock()
        for feed in self.fed[name]:
            model.run(None, feed)
        return f"1 {clock() - started:.9g}"

    def bind(self, model, largest):
        binding, device = model.io_binding(), DEVICES.get(self.provider, "cpu")
        for i, declared in enumerate(model.get_inputs()):
            value = self.runtime.OrtValue.ortvalue_from_numpy(made_up(declared, i, largest), device, 0)
            binding.bind_ortvalue_input(declared.name, value)
        for declared in model.get_outputs():
            binding.bind_output(declared.name, device)
        return binding

    def bind_what_runs(self, model):
        """Integers may be indices into an axis of any size: where they are too large, they are 0."""
        binding = self.bind(model, 15)
        try:
            model.run_with_iobinding(binding)
        except Exception:   # the runtime's own, of many kinds; what fails with zeros, too, is told
            binding = self.bind(model, 0)
        return binding

    def bound(self, name, is_cold, seconds, least):
        model, clock = self.models[name], self.clock
        binding = self.bind_what_runs(model)
        for _ in range(WARM_UP_RUNS):
            started = clock()
            model.run_with_iobinding(binding)
            once = clock() - started
        flushed = np.zeros(FLUSHED_BYTES if is_cold == "1" else 0, np.uint8)
        repeats = 1 if flushed.size else 1 + int(LEAST_SAMPLE_SECONDS / max(once, 1e-7))
        taken, end = [], time.monotonic() + float(seconds)
        while len(taken) < int(least) or (len(taken) < MOST_RUNS and time.monotonic() < end):
            self.connection.check()
            flushed += 1
            switches, started = involuntary_switches(), clock()
            for _ in range(repeats):
                model.run_with_iobinding(binding)
            once = (clock() - started) / repeats
            taken.append(once if involuntary_switches() == switches else -once)
        return " ".join([str(len(taken))] + [f"{t:.9g}" for t in taken])

    def repeat(self, models, feed, seconds, least, most=MOST_PROFILED_RUNS):
        """Seconds of runs of each, by turns."""
        taken, end = [[] for _ in models], time.monotonic() + seconds
        while len(taken[0]) < least or (len(taken[0]) < most and time.monotonic() < end):
            self.connection.check()
            for model, seconds_of_runs in zip(models, taken):
                started = self.clock()
                model.run(None, feed)
                seconds_of_runs.append(self.clock() - started)
        return taken

    def wholes(self, models, paths, feed, seconds, least):
        """What runs of each file take, by turns, on average over loads, the first of which are `models`, as far as these
        go: where weights come to lie in memory makes a session faster or slower by percents for as long as it lives. Of
        large models, which take long to load, there are fewer."""
        loads, end = [], time.monotonic() + LONGEST_LOADS * seconds
        while len(loads) < LOADS_OF_A_PROFILE and (not loads or time.monotonic() < end):
            models += [self.runtime.InferenceSession(path, self.options(), providers=[self.provider])
                       for path in paths[len(models):]]
            self.repeat(models, feed, WARM_UP_SECONDS * len(models), WARM_UP_RUNS, MOST_RUNS)
            taken = self.repeat(models, feed, seconds / LOADS_OF_A_PROFILE, -(-least // LOADS_OF_A_PROFILE))
            loads.append([mean_of_lower_half(of_model) for of_model in taken])
            models.clear()
        return [sum(of_file) / len(loads) for of_file in zip(*loads)]

    def profile(self, which, seconds, least, size, size_beside):
        path, beside = (os.fsdecode(self.connection.read_bytes(int(n))) for n in (size, size_beside))
        options = self.options()
        options.enable_profiling, options.profile_file_prefix = True, path
        model = self.runtime.InferenceSession(path, options, providers=[self.provider])
        feed = self.feeds(model, int(which))
        self.repeat([model], feed, float(seconds) / 2, WARM_UP_RUNS + int(least))
        profile = model.end_profiling()
        try:
            with open(profile, encoding="utf-8", errors="replace") as file:
                kernels = kernels_of(json.load(file))
        finally:
            os.unlink(profile)
        models = [model]
        del model   # there is room for as many as are timed
        wholes = self.wholes(models, [path, *([beside] if beside else [])], feed, float(seconds) / 2, int(least)) + [0]
        words = [f"{urllib.parse.quote(name, safe='')} {taken:.9g}" for name, taken in kernels]
        return " ".join([str(len(words)), f"{wholes[0]:.9g}", f"{wholes[1]:.9g}"] + words)

    def serve(self):
        requests = {"load": self.load, "drop": self.drop, "input": self.input, "sets": self.sets,
                    "outputs": self.outputs, "threads": self.use_threads, "run": self.run, "bound": self.bound,
                    "profile": self.profile}
        while True:
            words = self.connection.read_line()
            try:
                self.connection.answer("ok " + requests[words[0]](*words[1:]))
            except (Ended, OSError):
                raise
            except Exception as failure:   # whatever a runtime raises concerns one model, and is told
                self.connection.answer("error " + reason_of(failure))


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection, provider, threads = Connection(), sys.argv[1], int(sys.argv[2])
    if IMPORT_FAILURE:
        connection.answer("error onnxruntime cannot be imported there: " + reason_of(IMPORT_FAILURE))
        return 1
    available = onnxruntime.get_available_providers()
    provider = provider or "CPUExecutionProvider"
    if provider not in available:
        connection.answer(f"error its onnxruntime has no {provider}, only {', '.join(available)}")
        return 1
    connection.answer(f"ok {onnxruntime.__version__} {provider}")
    try:
        Worker(onnxruntime, connection, provider, threads).serve()
    except (Ended, OSError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
