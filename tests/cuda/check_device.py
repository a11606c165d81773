#!/usr/bin/env python3
"""The device "cuda" as a user without a GPU meets it: `check_device.py ROOT TASO_RUN TASO_OPT [PLUGIN]`.

One line and exit code 4 whatever is missing; everything else works; costs of a GPU that is not here are used, those that
were recorded on one among them.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import onnx
except ImportError:
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tests/support"))
from text_models import model_of  # noqa: E402

DONE, BAD_INPUT, UNSUPPORTED = 0, 3, 4
DEVICE = "NVIDIA H200, sm_90, 132 multiprocessors, 4800 GB/s, 66900 GFLOP/s, CUDA 13.0, kernels 1, policy 2"


def run(tool, *arguments, plugin=None):
    environment = dict(os.environ, OMP_WAIT_POLICY="passive", CUDA_VISIBLE_DEVICES="")
    if plugin:
        environment["TASO_CUDA_PLUGIN"] = str(plugin)
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, env=environment)


def save_model(path):
    """Two products of one input, which one product of concatenated weights replaces."""
    onnx.save(model_of("(float[8,64] x) => (float[8,64] z) { a = MatMul(x, v)  b = MatMul(x, w)  c = Mul(a, b)  z = Tanh(c) }",
                       v=(64, 64), w=(64, 64)), path)
    return path


def expect_refusal(done, *words):
    assert done.returncode == UNSUPPORTED, (done.returncode, done.stderr)
    assert len(done.stderr.splitlines()) == 1 and all(w in done.stderr for w in words), done.stderr


def what_is_missing_is_said(tools, model, folder, plugin):
    other = folder / "other.so"
    other.write_bytes(b"no library")
    for tool in tools:
        expect_refusal(run(tool, model, "--device", "cuda", plugin=folder / "none.so"), "no GPU", "none.so")
        expect_refusal(run(tool, model, "--device", "cuda", plugin=other), "no GPU", "cannot be loaded")
        if plugin:
            expect_refusal(run(tool, model, "--device", "cuda", plugin=plugin), "no GPU")


def all_else_works(tools, model, folder, plugin):
    done = run(tools[0], model, "--costs", "", "--repeats", 1, plugin=plugin or folder / "none.so")
    assert done.returncode == DONE, done.stderr


def write_costs(path, entries, device=DEVICE):
    lines = [f'(costs 1 "{device}")']
    path.write_text("\n".join(lines + [f'({json.dumps(text)} {cost} 0.01 "engine")' for text, cost in entries]) + "\n")
    return path


def costs_serve_without_the_device(tools, model, folder, plugin):
    missing = folder / "none.so"
    costs = write_costs(folder / "h200.costs", [("something else", 1e-3)])
    done = run(tools[0], model, "--device", "cuda", "--costs", costs, plugin=missing)
    assert done.returncode == DONE and done.stdout.count(" guessed ") >= 2 and "guessed)" in done.stdout, done.stdout
    steps = [line.split("guessed ", 1)[1].split("   ;")[0] for line in done.stdout.splitlines() if "us guessed " in line]
    write_costs(costs, [(step, 1e-3) for step in steps])
    done = run(tools[0], model, "--device", "cuda", "--costs", costs, plugin=missing)
    assert f"estimate {len(steps)}.000 ms" in done.stdout and "(0 guessed)" in done.stdout, done.stdout
    assert done.stderr.count("\n") == 1 and "warning: no GPU to run on" in done.stderr, done.stderr
    (folder / "saved").mkdir()
    for option, more in ("--json", [folder / "run.json"]), ("--save", [folder / "saved"]), ("--inputs", [folder]), ("--plan", []):
        done = run(tools[0], model, "--device", "cuda", "--costs", costs, option, *more, plugin=missing)
        expect_refusal(done, "no GPU to run on", option)
        assert not done.stdout and not (folder / "run.json").exists() and not any((folder / "saved").iterdir())
    done = run(tools[1], model, "--device", "cuda", "--costs", costs, "-o", folder / "fast.onnx", plugin=missing)
    assert done.returncode == DONE and "are guessed" in done.stderr, done.stderr
    optimized = onnx.load(folder / "fast.onnx")
    assert sum(node.op_type == "MatMul" for node in optimized.graph.node) == 1, optimized.graph.node
    assert re.search(r"check +passed", done.stdout), done.stdout


def files_without_a_gpu_are_refused(tools, model, folder, plugin):
    missing = folder / "none.so"
    costs = write_costs(folder / "cpu.costs", [("x", 1)], "a processor, avx2, 2 threads")
    expect_refusal(run(tools[0], model, "--device", "cuda", "--costs", costs, plugin=missing), "no costs of a GPU", "no GPU")
    write_costs(costs, [("x", 1)])
    expect_refusal(run(tools[0], model, "--device", "cuda", "--tf32", "--costs", costs, plugin=missing), "tf32")
    costs.write_text("(costs 1 nonsense")
    done = run(tools[0], model, "--device", "cuda", "--costs", costs, plugin=missing)
    assert done.returncode == BAD_INPUT and len(done.stderr.splitlines()) == 1, done.stderr


def recorded_costs_are_those_of_our_steps(tools, model, folder, plugin):
    """Where this fails the words of steps have changed, and costs have to be recorded again."""
    build = [ROOT / "scripts/build-models", "--out", folder, "squeezenet"]
    subprocess.run(build, check=True, capture_output=True, env=dict(os.environ, TASO_PYTHON=sys.executable))
    recorded = ROOT / "backends/cuda/recorded/nvidia-h200.costs"
    done = run(tools[0], folder / "squeezenet.onnx", "--device", "cuda", "--costs", recorded, plugin=folder / "none.so")
    assert done.returncode == DONE and "estimate 0.222 ms in 30 steps (0 guessed)" in done.stdout, done.stdout


def main():
    tools, plugin = sys.argv[2:4], sys.argv[4] if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = save_model(folder / "pair.onnx")
        for test in [
            what_is_missing_is_said,
            all_else_works,
            costs_serve_without_the_device,
            files_without_a_gpu_are_refused,
            recorded_costs_are_those_of_our_steps,
        ]:
            test(tools, model, folder, plugin)
            print("passed:", test.__name__)


main()
