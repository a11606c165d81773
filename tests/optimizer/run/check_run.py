#!/usr/bin/env python3
"""Tests taso-run as a user has it: `check_run.py ROOT TASO_RUN [--few]`.

Small models of every kind (with --few each fourth) run, and agree with ONNX Runtime on the same inputs; equal models agree, others do not; wrong
command lines and broken models end with their exit codes and one line. With --few nothing is tuned in parts.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, sys.argv[1] + "/tests/optimizer")
from made_up import tune_until_kept  # noqa: E402
from small_models import session_of, small_model  # noqa: E402

FOURTH = 4 if "--few" in sys.argv else 1
BRIEFLY = ["--threads", "1", "--measure-seconds", "0.2"]   # what is tuned is compared with what was
DONE, CHECK_FAILED, USAGE, BAD_INPUT, UNSUPPORTED = 0, 1, 2, 3, 4
TOLERANCE = 1e-5
BINDINGS = {"gpt2-small": ["batch=2", "sequence=8"]}


def run(tool, *arguments):
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    command = [tool, *map(str, arguments), "--costs", ""]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert "Sanitizer" not in done.stderr, done.stderr
    return done


def shapes_of(name):
    return [f"--shape={binding}" for binding in BINDINGS.get(name, [])]


def outputs_of_runtime(path, folder):
    session = session_of(path)
    inputs = {x.name: np.load(folder / f"input_{i}.npy") for i, x in enumerate(session.get_inputs())}
    return session.run(None, inputs)


def check_model(tool, path, folder):
    folder.mkdir()
    report = folder / "report.json"
    done = run(tool, path, "--repeats", 2, "--save", folder, "--json", report, "--plan", *shapes_of(path.stem))
    assert done.returncode == DONE, f"{path.name}: {done.returncode} {done.stderr}"
    assert json.loads(report.read_text())["models"][0]["runs"] == 2
    for i, wanted in enumerate(outputs_of_runtime(path, folder)):
        found = np.load(folder / f"output_{i}.npy")
        difference = np.abs(found.astype("f8") - wanted).max() / np.abs(wanted).max()
        assert found.shape == wanted.shape and difference <= TOLERANCE, f"{path.name}: output {i} is off by {difference}"


def profiles_tell_of_steps_and_runs(root, tool, folder):
    """The quartiles of steps, and in the last line their sum beside the runs' own times, each the sum of its steps'."""
    model = folder / "models/squeezenet-small.onnx"
    done = run(tool, model, "--repeats", 5, "--threads", 1, "--profile")
    lines = [line for line in done.stdout.splitlines() if " us  cost " in line]
    steps, told = [float(line.split()[0]) for line in lines[:-1]], lines[-1].split()
    assert done.returncode == DONE and steps, f"profile: {done.returncode} {done.stderr}"
    assert abs(sum(steps) - float(told[0])) <= 0.01 * len(steps), f"the sum of {steps}: {lines[-1]}"
    quartile, shortest = float(told[told.index("quartile") + 1]), float(told[-1])
    assert 0 < shortest <= quartile and max(steps) <= quartile + 0.01, lines


def total_of(done):
    """Words of the line that tells of all steps that were tuned."""
    assert done.returncode == DONE, f"--tune: {done.returncode} {done.stderr}"
    return next(line for line in done.stdout.splitlines() if line.startswith("tuned ") and " by " in line).split()


def tuning_goes_on_where_it_ended(root, tool, folder):
    """What was tried is known to the next search; the tuned model computes the same."""
    model, costs, outputs = folder / "models/squeezenet-small.onnx", folder / "tuned.costs", folder / "tuned"
    outputs.mkdir()

    def tune(minutes):
        done = subprocess.run([tool, model, "--tune", minutes, *BRIEFLY, "--repeats", "2", "--costs", costs, "--save", outputs], capture_output=True, text=True)
        assert re.search("times as fast|not timed", done.stdout), f"--tune: {done.returncode} {done.stderr}"
        total = total_of(done)
        return int(total[total.index("by") + 1]), int(total[total.index("known") - 1]), np.load(outputs / "output_0.npy")
    n_tried, n_known, first = tune_until_kept(tune, costs)
    assert n_tried > 0 and n_known == 0, (n_tried, n_known)
    _, n_known, second = tune("0.02")
    assert n_known > 0
    assert np.abs(first - second).max() <= TOLERANCE * np.abs(first).max()


def parts_of_tuning_are_the_whole(root, tool, folder):
    """No step is in two parts, and files of costs of parts together are one."""
    model, steps, files = folder / "models/squeezenet-small.onnx", [], []
    for part in ("1/1", "1/3", "2/3", "3/3"):
        files.append(folder / f"part-{part[0]}-{part[2]}.costs")

        def tune(minutes, part=part):
            return subprocess.run([tool, model, "--tune", minutes, "--tune-part", part, *BRIEFLY, "--repeats", "1", "--costs",
                                   files[-1]], capture_output=True, text=True)
        steps.append(int(total_of(tune_until_kept(tune, files[-1]) if part == "1/3" else tune("0.001"))[1]))
    assert steps[0] > 1 and steps[0] == sum(steps[1:]), f"steps of all and of each part: {steps}"
    together = folder / "together.costs"
    together.write_text("".join(file.read_text() for file in files[1:]))
    total = total_of(subprocess.run([tool, model, "--tune", "0.001", *BRIEFLY, "--repeats", "1", "--costs", together],
                                    capture_output=True, text=True))
    assert int(total[total.index("known") - 1]) > 0, total
    for part in ("0/3", "4/3", "3", "1/3x"):
        assert run(tool, model, "--tune", "0.01", "--tune-part", part).returncode == USAGE, part


def models_agree_with_onnx_runtime(root, tool, folder):
    models = folder / "models"
    subprocess.run([root / "scripts/build-models", "--small", "--out", models], check=True, capture_output=True)
    paths = sorted(models.glob("*.onnx"))
    assert len(paths) >= 10
    for path in paths[::FOURTH]:
        check_model(tool, path, folder / path.stem)


def scaled(path, factor):
    model = onnx.load(path)
    weight = [w for w in model.graph.initializer if len(w.dims) >= 2][-1]
    weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(factor), weight.name))
    other = path.with_name("scaled.onnx")
    onnx.save(model, other)
    return other


def two_models_are_compared(root, tool, folder):
    a = folder / "models/squeezenet-small.onnx"
    report = folder / "two.json"
    done = run(tool, a, a, "--repeats", 3, "--json", report)
    assert done.returncode == DONE and "the outputs agree" in done.stdout, done.stdout + done.stderr
    read = json.loads(report.read_text())
    assert read["agrees"] and read["ratio"] > 0 and read["outputs"][0]["relative_difference"] == 0
    done = run(tool, a, scaled(a, 1.001), "--repeats", 1)
    assert done.returncode == CHECK_FAILED and "do not agree" in done.stdout, done.stdout
    assert run(tool, a, scaled(a, 1.001), "--repeats", 1, "--tolerance", 0.1).returncode == DONE


def constant_outputs_are_not_trusted(root, tool, folder):
    tiny = small_model(folder / "zero.onnx", "(float[2,3] x) => (float[] z) { z = Sub(x, x) }")
    done = run(tool, tiny, tiny, "--repeats", 1)
    assert done.returncode == CHECK_FAILED and "untrustworthy" in done.stdout, done.stdout


def errors_have_their_codes(root, tool, folder):
    unknown = small_model(folder / "unknown.onnx", "(float[2,3] x) => (float[] z) { z = else.Strange(x) }")
    unbound = small_model(folder / "unbound.onnx", "(float[n,3] x) => (float[] z) { z = Relu(x) }")
    broken = folder / "broken.onnx"
    broken.write_bytes(b"\x08\x01\xff\xff")
    good = folder / "models/nasrnn-small.onnx"
    cases = [
        (USAGE, []),
        (USAGE, [good, good, good]),
        (USAGE, [good, "--device", "abacus"]),
        (USAGE, [good, "--repeats", "0"]),
        (USAGE, [good, "--shape", "nobody=3"]),
        (USAGE, [unbound]),
        (DONE, [unbound, "--shape", "n=4", "--repeats", 1]),
        (BAD_INPUT, [folder / "missing.onnx"]),
        (BAD_INPUT, [broken]),
        (UNSUPPORTED, [unknown]),
        (DONE, ["--help"]),
    ]
    for code, arguments in cases:
        done = run(tool, *arguments)
        assert done.returncode == code, f"{arguments}: {done.returncode}, not {code}: {done.stderr}"
        assert code == DONE or len(done.stderr.splitlines()) == 1, done.stderr


def main():
    root, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        for test in [
            models_agree_with_onnx_runtime,
            two_models_are_compared,
            tuning_goes_on_where_it_ended,
            *([parts_of_tuning_are_the_whole] if FOURTH == 1 else []),
            profiles_tell_of_steps_and_runs,
            constant_outputs_are_not_trusted,
            errors_have_their_codes,
        ]:
            test(root, tool, pathlib.Path(folder))
            print("passed:", test.__name__)


main()
