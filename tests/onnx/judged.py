"""Models with the values that ONNX Runtime gives, judged by onnx_expect and written by onnx_pass.

A case is (name, model, feeds, outputs), known by the folder that onnx_expect reads.
"""
import collections
import subprocess
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from each_model import results_of, session_of

warnings.simplefilter("ignore")
onnxruntime.set_default_logger_severity(4)


def run(model, feeds):
    """The outputs, or None."""
    try:
        return session_of(model, is_optimizing=False).run(None, feeds)
    except Exception:
        return None


def write_case(folder, model, feeds, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, values in (("input", feeds.values()), ("output", outputs)):
        for i, value in enumerate(values):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def add_case(cases, folder, name, model, feeds):
    """What ONNX Runtime does not run is no case."""
    outputs = run(model, feeds)
    if outputs is not None:
        write_case(folder, model, feeds, outputs)
        cases[str(folder)] = (name, model, feeds, outputs)
    return outputs is not None


def expect(tool, options, cases):
    """Failures; and how many there are of each verdict."""
    folders, failures, verdicts = list(cases), [], collections.Counter()
    for i in range(0, len(folders), 500):
        done = subprocess.run([tool, *options, *folders[i:i + 500]], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            failures.append(f"onnx_expect ended with {done.returncode}: {done.stderr}")
        for line in done.stdout.splitlines():
            folder, _, verdict = line.partition(": ")
            verdicts[verdict.split(" (")[0]] += 1
            if verdict.startswith("DIFFERS"):
                failures.append(f"{cases[folder][0]} {' '.join(options)}: {verdict}")
    if sum(verdicts.values()) != len(cases):
        failures.append(f"{sum(verdicts.values())} verdicts of {len(cases)}")
    return failures, verdicts


def judge(tool, cases, is_wanted):
    """Failures by the definitions and on the processor; `is_wanted` says whether the numbers of verdicts are."""
    failures = []
    for options in ([], ["--cpu"]):
        failed, verdicts = expect(tool, options, cases)
        failures += failed + ([] if is_wanted(verdicts) else [f"{options}: {dict(verdicts)} of {len(cases)}"])
    return failures


def is_equal(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    limit = 1e-5 if a.dtype.itemsize >= 4 else 5e-3
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(a)
    return (np.array_equal(a[~finite], b[~finite], equal_nan=True)
            and np.abs(a[finite] - b[finite]).max(initial=0) <= limit * max(np.abs(a[finite]).max(initial=0), 1e-30))


def is_product_of_nothing(model, feeds):
    """ONNX Runtime leaves some of these as memory was before."""
    sizes = [np.shape(value) for value in feeds.values()] + [tuple(t.dims) for t in model.graph.initializer]
    return model.graph.node[0].op_type in ("MatMul", "Gemm") and any(0 in size for size in sizes)


def written_fails(result, target, case):
    """Why what is written anew is wrong, or None. Exit code 4: the operator set has no form for it."""
    (code, said), (_, model, feeds, outputs) = result, case
    if code == 4 or is_product_of_nothing(model, feeds):
        return None
    if code:
        return f"exit code {code}: {said}"
    found = run(onnx.load(target), feeds)
    if found is None:
        return "ONNX Runtime does not run what is written"
    return None if all(map(is_equal, outputs, found)) else "what is written gives something else"


def write(tool, cases):
    """Failures of what is written anew."""
    paths = [(f"{folder}/model.onnx", f"{folder}/written.onnx") for folder in cases]
    results = results_of([tool, "--anew"], paths)
    reasons = [written_fails(result, target, case) for result, (_, target), case in zip(results, paths, cases.values())]
    return [f"{case[0]}: {reason}" for reason, case in zip(reasons, cases.values()) if reason]


def conclude(failures, cases):
    print(*failures, f"{len(failures)} failures, {len(cases)} cases", sep="\n")
    sys.exit(bool(failures))
