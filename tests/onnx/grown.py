"""Optimizes random valid models of all element types and asks ONNX Runtime whether they still compute the same.

`grown.py PATH/taso-opt [MODELS [FIRST [KEEP]]]`: models by grown_models.py with seeds from FIRST (0) on, searched on
computed costs. A model must come back with its inputs and outputs as they were; what does not is kept in KEEP.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError:
    print("skipped: no onnx or onnxruntime package")
    sys.exit(77)

import grown_models

TOLERANCES = {"float16": 3e-2, "float32": 1e-3, "float64": 1e-3}
SEARCHES = [[], ["--search", "saturation"], ["--alpha", "1.3"], ["--only-proved"]]


def differs(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape} became {b.dtype} {b.shape}"
    if a.dtype.kind != "f":
        return None if np.array_equal(a, b) else "other values"
    worst = np.abs(a.astype(np.float64) - b).max(initial=0) / max(np.abs(a).max(initial=0), 1e-3)
    return None if worst <= TOLERANCES[a.dtype.name] else f"off by {worst:.2g}"


def interface(model):
    return [value.SerializeToString() for value in [*model.graph.input, *model.graph.output]]


def complaint_about(program, seed, source, target):
    """None: all is well, or ONNX Runtime does not run the original."""
    model, fed = grown_models.make(seed)
    onnx.save(model, source)
    try:
        session = grown_models.session_of(str(source))
        expected = session.run(None, fed)
    except Exception:   # what runs node by node may still be no model
        return "skipped"
    command = [program, source, "-o", target, "--device", "fake", "--quiet", "--threads", "1", *SEARCHES[seed % 4]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    result = onnx.load(target)
    if interface(result) != interface(model):
        return "other inputs or outputs"
    found = grown_models.session_of(str(target)).run(None, fed)
    told = [f"{value.name} {what}" for value, a, b in zip(session.get_outputs(), expected, found)
            if (what := differs(a, b))]
    return "; ".join(told) or None


def main():
    program = sys.argv[1]
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else standard for i, standard in ((2, 60), (3, 0)))
    keep = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as name:
        source, target = pathlib.Path(name, "model.onnx"), pathlib.Path(name, "out.onnx")
        for seed in range(first, first + count):
            target.unlink(missing_ok=True)
            try:
                told = complaint_about(program, seed, source, target)
            except Exception as error:   # of ONNX Runtime's, about the result
                told = str(error)
            skipped += told == "skipped"
            if told and told != "skipped":
                failed += 1
                print(f"seed {seed}: {told}", flush=True)
                if keep:
                    keep.mkdir(parents=True, exist_ok=True)
                    source.rename(keep / f"{seed}.onnx")
    print(f"{count} models, {failed} wrong, {skipped} not run by ONNX Runtime")
    sys.exit(1 if failed or skipped * 5 > count else 0)


if __name__ == "__main__":
    main()
