"""Models that are written while the program is killed or the disk fills up: `whole_files.py TASO-OPT [--moments N]`.

Each moment writes an optimized model with external data, over the input or over an older result, and is ended by
SIGKILL, by a limit of file sizes, or by a small file system (where a mount of one's own is allowed) at a random point.
Whenever that was, the input, and the model that stands at the output with the data that it names, are the old ones or
the new ones to the byte, and an error leaves no other file behind.
"""
import argparse
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto

from small_models import model_of

IS_MOUNTED = "TASO_TEST_IN_MOUNT"
SHAPES = {"w2": (32, 2048), "w1": (64, 32), "w0": (64, 32)}   # in the order of the data file
MOST_WRITTEN = 560_000
WRITING_SECONDS = 0.02


def write_model(path, seed):
    """The sum of two products is joined, and another stays as it is: the result has weights of both files."""
    rng = np.random.default_rng(seed)
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
    location, offset, tensors = f"{path.name}.data", 0, []
    for name, weight in weights.items():
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=weight.shape,
                             data_location=TensorProto.EXTERNAL)
        for key, text in (("location", location), ("offset", str(offset)), ("length", str(weight.nbytes))):
            tensor.external_data.add(key=key, value=text)
        tensors.insert(0, tensor)
        offset += weight.nbytes
    model = model_of("""(float[4,64] x) => (float[4,2048] y)
                        { a = MatMul(x, w0)  b = MatMul(x, w1)  c = Add(a, b)  d = Relu(c)  y = MatMul(d, w2) }""")
    model.graph.initializer.extend(tensors)
    model.doc_string = "so that it takes some space " * 7000
    path.write_bytes(model.SerializeToString())
    path.with_name(location).write_bytes(b"".join(weight.tobytes() for weight in weights.values()))


def whole(path):
    """A model with the data that it names; None when one is missing."""
    if not path.exists():
        return None
    model = onnx.load(str(path), load_external_data=False)
    names = sorted({e.value for t in model.graph.initializer for e in t.external_data if e.key == "location"})
    if any(not path.with_name(name).exists() for name in names):
        return None
    return path.read_bytes(), tuple((name, path.with_name(name).read_bytes()) for name in names)


class Case:
    """Input and output in a folder, as they are before each moment and as they may be afterwards."""

    def __init__(self, program, folder, over_input):
        self.program, self.folder = program, folder
        self.cache = folder.parent / "cache"
        self.source = folder / "m.onnx"
        self.target = self.source if over_input else folder / "fast.onnx"
        write_model(self.source, 1)
        self.before_any = {p.name: p.read_bytes() for p in folder.iterdir()}
        self.start(20).wait()
        self.new = whole(self.target)
        if not over_input:   # an older result, with other data
            self.restore()
            write_model(self.source, 2)
            self.start(20).wait()
            kept = {p.name: p.read_bytes() for p in folder.iterdir() if p.name.startswith("fast")}
            self.before_any |= kept
        self.restore()
        self.old, self.old_source = whole(self.target), whole(self.source)
        assert self.old and self.new and self.old != self.new and "fast" in str(self.target) or over_input

    def restore(self):
        for path in self.folder.iterdir():
            path.unlink()
        for name, content in self.before_any.items():
            (self.folder / name).write_bytes(content)

    def start(self, budget, limit=None):
        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        command = [self.program, str(self.source), "-o", str(self.target), "--device", "fake", "-q", "--budget",
                   str(budget), "--search-threads", "1"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, restore_signals=False,
                                env=dict(os.environ, XDG_CACHE_HOME=str(self.cache)),
                                preexec_fn=limit_files if limit is not None else None)

    def fault(self, code):
        """What is wrong after the program ended; None: all is whole."""
        found = whole(self.target)
        if found != self.old and found != self.new:
            return "the output is neither the old one nor the new one"
        if self.target != self.source and whole(self.source) != self.old_source:
            return "the input has changed"
        if code == 0 and found != self.new:
            return "the program was done, and the output is not the new one"
        left = sorted(p.name for p in self.folder.iterdir() if p.name not in self.before_any)
        if code > 0 and found == self.old and left:
            return f"left behind after an error: {left}"
        return None


def killed(case, duration, rng):
    """Half of the moments are spread over the whole run, half come while files are written, which begins with a new one."""
    process = case.start(20)
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0, duration))
    else:
        while process.poll() is None and set(os.listdir(case.folder)) <= set(case.before_any):
            time.sleep(1e-4)
        time.sleep(rng.uniform(0, WRITING_SECONDS))
    process.send_signal(signal.SIGKILL)
    return process.wait()


def limited(case, duration, rng):
    process = case.start(20, rng.randrange(0, MOST_WRITTEN))
    return process.wait()


def filled(case, duration, rng):
    """The disk has a random rest of space."""
    ballast = case.folder.parent / "ballast"
    space = os.statvfs(case.folder)
    rest = rng.randrange(0, MOST_WRITTEN)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(4096, space.f_bavail * space.f_frsize - rest))
    code = case.start(20).wait()
    ballast.unlink()
    return code


def measure(case):
    started = time.perf_counter()
    case.start(20).wait()
    duration = time.perf_counter() - started
    case.restore()
    return duration


def try_moments(case, ways, moments, rng):
    faults, outcomes = 0, {}
    duration = min(measure(case) for _ in range(3))
    for way in ways:
        for _ in range(moments):
            code = way(case, duration, rng)
            fault = case.fault(code)
            is_new = whole(case.target) == case.new
            outcomes[way.__name__, is_new] = outcomes.get((way.__name__, is_new), 0) + 1
            if fault:
                print(f"{way.__name__}, {case.target.name}, exit code {code}: {fault}")
                faults += 1
            case.restore()
    for (way, is_new), n in sorted(outcomes.items()):
        print(f"{case.target.name}: {way}: {n} {'new' if is_new else 'old'}")
    return faults


def run_in_mount(arguments):
    """This script again with a small file system of its own; None where that is not allowed."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=8m none "$1" && shift && exec "$@"', "sh",
                   folder, sys.executable, *sys.argv, "--folder", folder]
        if not shutil.which("unshare") or subprocess.run(command[:4] + ['mount -t tmpfs none "$1"', "sh", folder],
                                                         capture_output=True, check=False).returncode != 0:
            return None
        return subprocess.run(command, env=dict(os.environ, **{IS_MOUNTED: "1"}), check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--moments", type=int, default=15, help="of each way, for each of two outputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="a small file system")
    options = parser.parse_args()
    in_mount = IS_MOUNTED in os.environ
    if not in_mount:
        code = run_in_mount(options)
        if code is not None:
            return code
        print("no mount of its own is allowed: the limit of file sizes alone stands for a full disk")
    rng = random.Random(options.seed)
    faults = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        for over_input in (True, False):
            folder = pathlib.Path(name) / f"{over_input}"
            folder.mkdir()
            case = Case(options.program, folder, over_input)
            faults += try_moments(case, [killed, limited] + [filled] * in_mount, options.moments, rng)
            shutil.rmtree(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
