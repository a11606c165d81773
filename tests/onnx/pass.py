"""Imports and exports ONNX's own tests and asks ONNX Runtime whether they still compute the same.

`pass.py PATH/onnx_pass [--anew] [--few] [NAME...]`: every model under onnx/backend/test/data (or those whose path has a NAME in
it) must come back as a model that onnx.checker accepts, with equal inputs and outputs, and give the outputs that the
original gives. With --anew, no node is kept and everything is written as a rewrite would; what has no form in the model's
own operator set may then be refused (exit code 4), and the large models without test data are left out. Models that ONNX
Runtime cannot run are compared by the checker only; with --few none is run. Skipped where the onnx wheel has no tests.
"""
import collections
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

from each_model import results_of, session_of

TOLERANCE = 1e-5


class NotRun(Exception):
    """Why a model is not run, in a few words."""


def load_value(path, kind):
    content = path.read_bytes()
    if kind == "tensor_type":
        return numpy_helper.to_array(onnx.TensorProto.FromString(content))
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    raise NotRun("an input is neither a tensor nor a sequence")


def load_inputs(folder, model):
    """The values of the first data set, by input name."""
    values = {}
    for i, value in enumerate(model.graph.input):
        path = folder / "test_data_set_0" / f"input_{i}.pb"
        if not path.exists():
            raise NotRun("it comes without inputs")
        values[value.name] = load_value(path, value.type.WhichOneof("value"))
    return values


def run(path, values):
    try:
        session = session_of(path, is_optimizing=False)
    except Exception:
        raise NotRun("ONNX Runtime does not load it") from None
    try:
        return session.run(None, values)
    except Exception:
        raise NotRun("ONNX Runtime does not run it from Python") from None


def is_close(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(is_close(x, y) for x, y in zip(a, b))
    if a is None or b is None or not isinstance(a, np.ndarray):
        return a == b if a is None or b is None else np.array_equal(a, b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    x, y = a.astype(np.complex128), b.astype(np.complex128)
    finite = np.isfinite(x)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return False
    scale = max(np.abs(x[finite]).max(initial=0), 1e-30)
    limit = TOLERANCE if a.dtype.itemsize >= 4 else 4e-3
    return np.abs(x[finite] - y[finite]).max(initial=0) / scale <= limit


IS_RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial",
             "Dropout"}


def compare_by_running(path, target, before):
    if any(n.op_type in IS_RANDOM for n in before.graph.node):
        raise NotRun("its outputs are random")
    values = load_inputs(path.parent, before)
    expected = run(path, values)
    try:
        found = run(target, values)
    except NotRun:
        return "ONNX Runtime runs the original only"
    return "equal" if is_close(expected, found) else "other values"


def judge(result, options, path, target):
    """"equal", "refused", "not run", or the reason of a failure; and a remark."""
    code, said = result
    if "--anew" in options and code == 4:
        return "refused", said
    if code != 0:
        return f"exit code {code}", said
    before, after = onnx.load(str(path)), onnx.load(str(target))
    if [i.name for i in before.graph.output] != [i.name for i in after.graph.output]:
        return "other outputs", ""
    if names_of_inputs(before) != names_of_inputs(after):
        return "other inputs", ""
    try:
        onnx.checker.check_model(before)
    except Exception:
        return "not run", "onnx.checker refuses it"
    try:
        onnx.checker.check_model(after)
    except Exception as e:
        return "onnx.checker refuses the result", str(e)
    if "--few" in options:
        return "not run", ""
    try:
        return compare_by_running(path, target, before), said
    except NotRun as reason:
        return "not run", str(reason)


def names_of_inputs(model):
    initializers = {t.name for t in model.graph.initializer}
    return [i.name for i in model.graph.input if i.name not in initializers]


def main():
    tool, options = sys.argv[1], [a for a in sys.argv[2:] if a.startswith("--")]
    names = [a for a in sys.argv[2:] if a not in options]
    root = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    paths = [p for p in sorted(root.rglob("*.onnx")) if not names or any(n in str(p) for n in names)]
    if "--anew" in options:
        paths = [p for p in paths if p.parent.name != "light"]
    if not paths:
        sys.exit(77)
    ort.set_default_logger_severity(4)
    verdicts = collections.Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = [pathlib.Path(folder) / f"{i}.onnx" for i in range(len(paths))]
        results = results_of([tool, *(o for o in options if o == "--anew")], list(zip(paths, targets)))
        for path, target, result in zip(paths, targets, results):
            verdict, remark = judge(result, options, path, target)
            is_fine = verdict in ("equal", "not run", "refused")
            failures += not is_fine
            verdicts[verdict if is_fine else "failed"] += 1
            if not is_fine or names:
                print(f"{path.relative_to(root)}: {verdict} ({remark})")
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items())), f"of {len(paths)} models")
    sys.exit(1 if failures else 0)


main()
