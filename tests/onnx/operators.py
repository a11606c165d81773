"""Random nodes of every kind (operator_cases.py), read as ONNX Runtime reads them.

`operators.py PATH/onnx_expect PATH/onnx_pass [FIRST LAST]`: each node that ONNX Runtime runs must give the same by the
definitions and on the processor, or be kept as it is (opaque); and what is written for it, node by node, must give ONNX
Runtime the same as the original. FIRST and LAST are seeds.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
except ImportError:
    sys.exit(77)

import operator_cases

STANDARD_SEEDS = (0, 2000)
WRITTEN = 400       # of them are written and read again
LEAST_EQUAL = 0.7   # of what runs; the others are opaque


def run(model, feeds):
    """The outputs, or None."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception:
        return None


def write_case(folder, model, feeds, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, values in (("input", feeds.values()), ("output", outputs)):
        for i, value in enumerate(values):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def name_of(seed, model):
    node = model.graph.node[0]
    return f"seed {seed}: {node.op_type}, operator set {model.opset_import[0].version}"


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
                failures.append(f"{name_of(*cases[folder][:2])} {' '.join(options)}: {verdict}")
    if sum(verdicts.values()) != len(cases):
        failures.append(f"{sum(verdicts.values())} verdicts of {len(cases)}")
    return failures, verdicts


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


def written_fails(tool, folder, case):
    """Why what is written anew is wrong, or None. Exit code 4: the operator set has no form for it."""
    _, model, feeds, outputs = case
    if is_product_of_nothing(model, feeds):
        return None
    target = f"{folder}/written.onnx"
    done = subprocess.run([tool, "--anew", f"{folder}/model.onnx", target], capture_output=True, text=True)
    if done.returncode == 4:
        return None
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr}"
    found = run(onnx.load(target), feeds)
    if found is None:
        return "ONNX Runtime does not run what is written"
    return None if all(map(is_equal, outputs, found)) else "what is written gives something else"


def make_cases(folder, first, last):
    cases = {}
    for seed in range(first, last):
        made = operator_cases.make(seed)
        outputs = made and run(*made)
        if outputs:
            path = folder / str(seed)
            write_case(path, *made, outputs)
            cases[str(path)] = (seed, *made, outputs)
    return cases


def main():
    tools, seeds = sys.argv[1:3], tuple(map(int, sys.argv[3:5])) or STANDARD_SEEDS
    warnings.simplefilter("ignore")
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as temporary:
        cases = make_cases(pathlib.Path(temporary), *seeds)
        failures = []
        for options in ([], ["--cpu"]):
            failed, verdicts = expect(tools[0], options, cases)
            failures += failed
            if verdicts["equal"] < LEAST_EQUAL * len(cases):
                failures.append(f"only {verdicts['equal']} of {len(cases)} are understood")
        for folder, case in list(cases.items())[:WRITTEN]:
            reason = written_fails(tools[1], folder, case)
            if reason:
                failures.append(f"{name_of(*case[:2])}: {reason}")
    print(*failures, f"{len(failures)} failures, {len(cases)} cases: {dict(verdicts)}", sep="\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
