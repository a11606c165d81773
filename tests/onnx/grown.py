"""Optimizes random valid models of all element types and asks ONNX Runtime whether they still compute the same.

`grown.py PATH/taso-opt PATH/onnx_rewrite RULES [MODELS [FIRST [KEEP]]]`: models by grown_models.py with seeds from FIRST
(0) on, searched on computed costs, and rewritten by rules at random places. A model must come back with its inputs and
outputs as they were; what does not is kept in KEEP.
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


def complaint_about(command, model, session, fed, target):
    """None: what the command makes of the model computes the same."""
    target.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    if interface(onnx.load(target)) != interface(model):
        return "other inputs or outputs"
    try:
        found = grown_models.session_of(str(target)).run(None, fed)
    except Exception as error:   # ONNX Runtime has many kinds
        return str(error)
    told = [f"{value.name} {what}" for value, a, b in zip(session.get_outputs(), session.run(None, fed), found)
            if (what := differs(a, b))]
    return "; ".join(told) or None


def load(source, fed):
    """None: ONNX Runtime does not run as a whole what it ran node by node."""
    try:
        session = grown_models.session_of(str(source))
        session.run(None, fed)
    except Exception:   # as above
        return None
    return session


def main():
    optimizer, rewriter, rules = sys.argv[1:4]
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else standard for i, standard in ((4, 60), (5, 0)))
    keep = pathlib.Path(sys.argv[6]) if len(sys.argv) > 6 else None
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as name:
        source, target = pathlib.Path(name, "model.onnx"), pathlib.Path(name, "out.onnx")
        for seed in range(first, first + count):
            model, fed = grown_models.make(seed)
            onnx.save(model, source)
            session = load(source, fed)
            skipped += session is None
            search = ["--device", "fake", "--quiet", "--threads", "1", *SEARCHES[seed % 4]]
            commands = [[optimizer, source, "-o", target, *search], [rewriter, rules, str(seed), "8", source, target]]
            for command in commands if session else []:
                told = complaint_about(command, model, session, fed, target)
                if told:
                    failed += 1
                    print(f"seed {seed}, {pathlib.Path(command[0]).name}: {told}", flush=True)
                    if keep:
                        keep.mkdir(parents=True, exist_ok=True)
                        onnx.save(model, keep / f"{seed}.onnx")
    print(f"{count} models, {failed} wrong, {skipped} not run by ONNX Runtime")
    sys.exit(1 if failed or skipped * 5 > count else 0)


if __name__ == "__main__":
    main()
