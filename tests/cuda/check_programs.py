#!/usr/bin/env python3
"""The programs on an emulated GPU: `check_programs.py ROOT TASO_RUN TASO_OPT PLUGIN [--few]`.

Models of every kind (with --few: of two) give what they give on the processor; costs are measured, kept, and used; the optimizer checks and
times its result on the device.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, sys.argv[1] + "/tests/support")
from cost_files import costs_but_runs  # noqa: E402
from text_models import model_of  # noqa: E402

TOLERANCE = 2e-5
MODELS = ["bert", "nasrnn", "squeezenet"][: 2 if "--few" in sys.argv else None]


def run(tool, *arguments, plugin):
    environment = dict(os.environ, OMP_WAIT_POLICY="passive", TASO_CUDA_PLUGIN=str(plugin))
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done


def outputs_on(tool, model, device, folder, plugin):
    folder.mkdir(parents=True)
    run(tool, model, "--device", device, "--costs", "", "--warmup", 1, "--repeats", 2, "--save", folder, plugin=plugin)
    return [np.load(path).astype("f8") for path in sorted(folder.glob("output_*.npy"))]


def models_agree_with_the_processor(root, tools, folder, plugin):
    models = folder / "models"
    subprocess.run([root / "scripts/build-models", "--small", "--out", models, *MODELS], check=True, capture_output=True)
    for model in sorted(models.glob("*.onnx")):
        wanted = outputs_on(tools[0], model, "cpu", folder / model.stem / "cpu", plugin)
        found = outputs_on(tools[0], model, "cuda", folder / model.stem / "cuda", plugin)
        assert len(found) == len(wanted) > 0
        for a, b in zip(wanted, found):
            difference = np.abs(a - b).max() / np.abs(a).max()
            assert difference <= TOLERANCE, f"{model.name}: off by {difference}"


def costs_are_measured_and_used(root, tools, folder, plugin):
    model, costs = folder / "models/nasrnn-small.onnx", folder / "emulated.costs"
    done = run(tools[0], model, "--device", "cuda", "--measure-costs", "--costs", costs, plugin=plugin)
    assert "(0 guessed)" in done.stdout, done.stdout
    text = costs_but_runs(costs)
    assert text.startswith('(costs 4 "processor, c, 1 multiprocessors') and '"engine 1"' in text, text[:500]
    assert "doubtful" not in text, "the clock of the emulated device knows no other programs"
    other = folder / "emulated-again.costs"
    run(tools[0], model, "--device", "cuda", "--measure-costs", "--costs", other, plugin=plugin)
    assert costs_but_runs(other) == text, "measured twice, costs differ"
    again = run(tools[0], model, "--device", "cuda", "--costs", costs, plugin=folder / "none.so")
    assert done.stdout.splitlines()[-1] == again.stdout.splitlines()[-1], again.stdout


def optimize_at_any_price(root, tools, folder, plugin, name, model, rule, *options):
    """All that the model does is priced at 1,000 seconds: however busy this machine is, the rewrite pays."""
    path, fast, rules, costs = (folder / f"{name}.{ending}" for ending in ("onnx", "fast.onnx", "rules", "costs"))
    onnx.save(model, path)
    rules.write_text(f"(rule {name} {rule})\n")
    arguments = ["--device", "cuda", "--layout", "standard", "--costs", costs, *options]
    run(tools[0], path, "--measure-costs", *arguments, plugin=plugin)
    costs.write_text(re.sub(r'" [\d.e+-]+ [\d.e+-]+', '" 1e3 1e3', costs.read_text()))
    done = run(tools[1], path, "-o", fast, "--rules", rules, "--measure-seconds", 0.2, "--explain", *arguments, plugin=plugin)
    assert name in done.stdout and re.search(r"check +passed", done.stdout), done.stdout
    onnx.checker.check_model(onnx.load(fast))
    return done.stdout


def results_are_checked_on_the_device(root, tools, folder, plugin):
    model = model_of("(float[4,16] x) => (float[4,16] y) { p = MatMul(x, w)  q = Add(p, p)  y = Sub(q, p) }",
                     w=np.eye(16, dtype=np.float32) + 1)
    told = optimize_at_any_price(root, tools, folder, plugin, "twice-less-once", model,
                                 "(source (sub (ewadd ?x ?x) ?x)) (target ?x)")
    assert "outputs may differ by 1e-05" in told, told


def results_with_tf32_differ_by_its_rounding(root, tools, folder, plugin):
    model = model_of("(float[4,16] x, float[16,8] v, float[8,16] w) => (float[4,16] y) {"
                     " p = MatMul(v, w)  y = MatMul(x, p) }")
    told = optimize_at_any_price(root, tools, folder, plugin, "matmul-association", model,
                                 "(source (matmul ?x (matmul ?y ?z))) (target (matmul (matmul ?x ?y) ?z))", "--tf32")
    difference, largest = map(float, re.search(r"^  y +(\S+) +(\S+) +yes +yes$", told, re.MULTILINE).groups())
    assert 1e-5 < difference / largest < 1e-2 and re.search(r"^  tolerance +0\.01$", told, re.MULTILINE), told


def main():
    root, tools, plugin = pathlib.Path(sys.argv[1]), sys.argv[2:4], sys.argv[4]
    with tempfile.TemporaryDirectory() as folder:
        for test in [
            models_agree_with_the_processor,
            costs_are_measured_and_used,
            results_are_checked_on_the_device,
            results_with_tf32_differ_by_its_rounding,
        ]:
            test(root, tools, pathlib.Path(folder), plugin)
            print("passed:", test.__name__, flush=True)


main()
