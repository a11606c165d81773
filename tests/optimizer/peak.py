"""How much memory a model takes at the peak: `peak.py TASO-OPT TASO-RUN`.

Half of the model's bytes are the weight of its last product. Packed last, that one was there twice when all others were
packed: 1.77 times the file for taso-opt, 1.58 for taso-run, where it is 1.21 and 1.14 when it is packed first.
"""
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from small_models import small_model

MOST = 1.5   # times the file
SIDE, LAYERS = 1024, 16


def write_model(path):
    """Products with an activation between each two, and one whose weight is as large as all theirs."""
    layers = "".join(f"a{i} = MatMul(r{i}, w{i})  r{i + 1} = Relu(a{i})  " for i in range(LAYERS))
    block = np.random.default_rng(0).standard_normal(1 << 18, dtype=np.float32) / 32
    weights = {f"w{i}": np.resize(block, (SIDE, SIDE)) for i in range(LAYERS)}
    small_model(path, f"(float[8,{SIDE}] r0) => (float[8,{LAYERS * SIDE}] y) {{ {layers} y = MatMul(r{LAYERS}, large) }}",
                **weights, large=np.resize(block, (SIDE, LAYERS * SIDE)))


def write_elsewhere(path):
    """What this process itself holds counts as its children's, until they run something else."""
    writer = multiprocessing.get_context("spawn").Process(target=write_model, args=(path,))
    writer.start()
    writer.join()
    assert writer.exitcode == 0


def peak_of(command):
    with subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"{command[0]} ended with {child.returncode}"
    return 1024 * usage.ru_maxrss


def main():
    taso_opt, taso_run = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, costs = folder / "model.onnx", folder / "costs"
        write_elsewhere(model)
        common = ["--costs", costs, "--threads", "1"]
        commands = [[taso_opt, model, "-o", folder / "fast.onnx", "--runtime", "taso", "--quiet", "--budget", "60",
                     "--measure-seconds", "0.2", *common], [taso_run, model, "-n", "3", *common]]
        for command in commands:
            times = peak_of(command) / model.stat().st_size
            print(f"{pathlib.Path(command[0]).name}: {times:.2f} times the file")
            assert times <= MOST, f"{command[0]}: {times:.2f} times the file"


if __name__ == "__main__":
    main()
