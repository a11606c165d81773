"""Rewrites small models at random places and asks ONNX Runtime whether they still compute the same.

`rewrite.py ROOT PATH/onnx_rewrite PATH/onnx_pass [SEEDS [MODELS [FIRST]]]`: builds small models with scripts/build-models
and MODELS random ones (random_models.py, seeds from FIRST on), passes each through import and export (as it is, and
written anew), then applies substitutions/taso.rules at random, with SEEDS seeds (3).
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import random_models
from each_model import session_of

MODELS = ["bert", "inception-v3", "llama-block", "mobilenetv2", "nasnet-a", "nasrnn", "resnet50", "resnext50",
          "squeezenet", "vit"]
TOLERANCE = 1e-5
STEPS = 15


def random_inputs(session):
    rng = np.random.default_rng(5)
    values = {}
    for value in session.get_inputs():
        if "float" in value.type:
            values[value.name] = rng.standard_normal(value.shape).astype(np.float32)
        else:
            values[value.name] = rng.integers(0, 20, value.shape).astype(np.int64 if "64" in value.type else np.int32)
    return values


def difference(expected, found):
    worst = 0.0
    for a, b in zip(expected, found):
        if a.shape != b.shape or not np.all(np.isfinite(b)):
            return float("inf")
        worst = max(worst, float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30)))
    return worst


def complaint_about(command, target, values, expected):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr}"
    onnx.checker.check_model(str(target))
    worst = difference(expected, session_of(target, is_optimizing=False).run(None, values))
    return None if worst <= TOLERANCE else f"differs by {worst:.2g} after {done.stderr}"


def main():
    root, rewriter, passer = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    seeds, n_random, first = (int(sys.argv[i]) if len(sys.argv) > i else standard for i, standard in
                              ((4, 3), (5, 40), (6, 0)))
    rules = root / "substitutions/taso.rules"
    failures = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([root / "scripts/build-models", "--small", "--out", folder, *MODELS], check=True,
                       stdout=subprocess.DEVNULL)
        for seed in range(first, first + n_random):
            onnx.save(random_models.make(seed), folder / f"random{seed}-small.onnx")
        target = folder / "out.onnx"
        for path in sorted(folder.glob("*-small.onnx")):
            session = session_of(path, is_optimizing=False)
            values = random_inputs(session)
            expected = session.run(None, values)
            commands = [[passer, path, target], [passer, "--anew", path, target]]
            commands += [[rewriter, rules, str(seed), str(STEPS), path, target] for seed in range(seeds)]
            for command in commands:
                complaint = complaint_about(command, target, values, expected)
                count += 1
                failures += complaint is not None
                if complaint:
                    print(f"{' '.join(map(str, command))}: {complaint}")
    print(f"{failures} of {count} failed")
    sys.exit(1 if failures else 0)


main()
