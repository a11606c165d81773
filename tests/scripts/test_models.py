#!/usr/bin/env python3
"""Tests the scripts around models: every small model is valid, runs, and has the same bytes when built again;
compare-ort tells equal, different, constant and unreadable models apart; malformed models are as the runner expects.

    test_models.py ROOT"""

import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

AGREES, DIFFERS, UNREADABLE, UNTRUSTWORTHY = 0, 1, 3, 5


def run(script, *arguments):
    result = subprocess.run([script, *map(str, arguments)], capture_output=True, text=True, check=False)
    print(result.stdout, result.stderr, sep="", end="")
    return result.returncode


def with_weights_times(factor, source, target):
    """A copy of a model, the last of its matrices multiplied."""
    model = onnx.load(source)
    weight = [w for w in model.graph.initializer if len(w.dims) == 2][-1]
    values = numpy_helper.to_array(weight) * np.float32(factor)
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    onnx.save(model, target)
    return target


def models_are_good_and_the_same_again(scripts, folder):
    first, second = folder / "first", folder / "second"
    assert run(scripts / "build-models", "--small", "--check", "--out", first) == 0
    assert run(scripts / "build-models", "--small", "--out", second) == 0
    names = sorted(os.listdir(first))
    assert filecmp.cmpfiles(first, second, names, shallow=False)[0] == names


def comparisons_tell_models_apart(scripts, folder):
    good = folder / "first" / "nasrnn-small.onnx"
    better = with_weights_times(1.0001, good, folder / "changed.onnx")
    zero = with_weights_times(0.0, folder / "first" / "bert-taso-small.onnx", folder / "zero.onnx")
    (folder / "text.onnx").write_text("no model")
    table = (
        (good, good, AGREES),
        (good, better, DIFFERS),
        (zero, zero, UNTRUSTWORTHY),
        (good, folder / "text.onnx", UNREADABLE),
        (good, folder / "first" / "vit-small.onnx", UNREADABLE),
    )
    for a, b, expected in table:
        assert run(scripts / "compare-ort", a, b) == expected, (a, b)
    on_gpu = AGREES if "CUDAExecutionProvider" in onnxruntime.get_available_providers() else UNREADABLE
    assert run(scripts / "compare-ort", good, good, "--device", "cuda") == on_gpu


def comparisons_load_models_several_times(scripts, folder):
    model, report = folder / "first" / "nasrnn-small.onnx", folder / "times.json"
    assert run(scripts / "compare-ort", model, model, "--time", 0, "--json", report) == AGREES
    told = json.loads(report.read_text(encoding="utf-8"))["time"]
    low, high = told["ratio_interval"]
    assert told["loads"] >= 12 and told["pairs"] >= 4 * told["loads"] and low <= told["ratio"][1] <= high, told


def large_models_have_the_same_weights(scripts, folder):
    size = ("--gigabytes", 0.001, "--width", 100)
    for name, *options in (("inline", "--inline"), ("external",)):
        assert run(scripts / "large-model", folder / f"{name}.onnx", *size, *options) == 0
    assert run(scripts / "compare-ort", folder / "inline.onnx", folder / "external.onnx") == AGREES


def malformed_models_fail_a_careless_program(scripts, folder):
    fuzz = scripts.parent / "tests" / "fuzz"
    runner = fuzz / "run_malformed.py"
    assert run(fuzz / "malformed-models", "--out", folder / "malformed") == 0
    run_one = (runner, "--cases", folder / "malformed", "--only")
    assert run(*run_one, "weighted", "--", "/bin/true") == 0
    assert run(*run_one, "empty", "--", "/bin/true") == 1


def main():
    scripts = pathlib.Path(sys.argv[1]).resolve() / "scripts"
    os.environ.setdefault("TASO_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models_are_good_and_the_same_again(scripts, folder)
        comparisons_tell_models_apart(scripts, folder)
        comparisons_load_models_several_times(scripts, folder)
        large_models_have_the_same_weights(scripts, folder)
        malformed_models_fail_a_careless_program(scripts, folder)


if __name__ == "__main__":
    main()
