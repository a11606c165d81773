"""Optimizes random valid models of all element types and asks ONNX Runtime whether they still compute the same.

`grown.py PATH/taso-opt PATH/onnx_rewrite RULES [MODELS [FIRST [KEEP]]]`: models by grown_models.py with seeds from FIRST
(0) on, searched on computed costs, rewritten by rules at random places, and searched by saturation at random prices,
with RULES or with egraph.rules beside them. A model must come back with its inputs and outputs as they were, and
compute the same, at other sizes of its symbols, too; what does not is kept in KEEP.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import grown_models
from each_model import session_of

TOLERANCES = {"float16": 3e-2, "float32": 1e-3, "float64": 1e-3}
NO_FORM = 4   # the exit code of onnx_rewrite where the model's operator set has no form for a result
SEARCHES = [[], ["--search", "saturation"], ["--alpha", "1.3"], ["--only-proved"]]


def differs(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape} became {b.dtype} {b.shape}"
    if a.dtype.kind != "f":
        return None if np.array_equal(a, b) else "other values"
    worst = np.abs(a.astype(np.float64) - b).max(initial=0) / max(np.abs(a).max(initial=0), 1e-3)
    return None if worst <= TOLERANCES[a.dtype.name] else f"off by {worst:.2g}"


def interface(model):
    """Inputs and outputs; initializers that are inputs, too, are weights."""
    weights = {weight.name for weight in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    return [value.SerializeToString() for value in [*inputs, *model.graph.output]]


def symbols_of(model):
    return {value.name: {i: dim.dim_param for i, dim in enumerate(value.type.tensor_type.shape.dim) if dim.dim_param}
            for value in model.graph.input}


def at_other_sizes(model, fed, random):
    """What to feed with other sizes for the symbols."""
    symbols = symbols_of(model)
    sizes = {name: random.integers(1, 8) for of_input in symbols.values() for name in of_input.values()}
    other = {}
    for name, value in fed.items():
        for axis, symbol in symbols[name].items():
            value = np.take(value, random.integers(0, value.shape[axis], sizes[symbol]), axis) if value.size else value
        other[name] = grown_models.jittered(value, random)
    return other


def runs_steadily(session, fed, random):
    """Does ONNX Runtime run it, and to values that rounding does not change?"""
    try:
        values = session.run(None, fed)
        again = session.run(None, {name: grown_models.jittered(value, random) for name, value in fed.items()})
    except Exception:   # ONNX Runtime has many kinds, and what runs at some sizes need not at others
        return False
    return all(map(grown_models.is_moderate, values)) and all(map(grown_models.are_near, values, again))


def to_feed(model, session, fed, seed):
    """At the sizes that the model was grown at, and at others where it has symbols and runs there."""
    random = np.random.default_rng(seed)
    if any(symbols_of(model).values()):
        others = [at_other_sizes(model, fed, random) for _ in range(3)]
        return [fed, *(other for other in others if runs_steadily(session, other, random))]
    return [fed]


def complaint_about(command, model, session, feeds, target):
    """None: what the command makes of the model computes the same."""
    target.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode == NO_FORM and "needs operator set" in done.stderr:
        return None
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    if interface(onnx.load(target)) != interface(model):
        return "other inputs or outputs"
    told = []
    try:
        result = session_of(target, is_optimizing=False)
        for fed in feeds:
            told += [f"{value.name} {what}" for value, a, b in
                     zip(session.get_outputs(), session.run(None, fed), result.run(None, fed)) if (what := differs(a, b))]
    except Exception as error:   # as above
        return str(error)
    return "; ".join(told) or None


def runs_in_a_child(source, fed):
    """ONNX Runtime crashes on some."""
    child = os.fork()
    if child == 0:
        try:
            session_of(source, is_optimizing=False).run(None, fed)
            os._exit(0)
        except Exception:   # as above
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def load(source, fed):
    """None: ONNX Runtime does not run as a whole what it ran node by node."""
    return session_of(source, is_optimizing=False) if runs_in_a_child(source, fed) else None


def save(model, path, seed):
    """Some with weights in a file beside it, all but short lists, which shape inference wants to see."""
    apart = path.with_suffix(".data")
    apart.unlink(missing_ok=True)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    onnx.save(copy, path, save_as_external_data=seed % 5 == 0, location=apart.name, size_threshold=80)


def main():
    optimizer, rewriter, rules = sys.argv[1:4]
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else standard for i, standard in ((4, 60), (5, 0)))
    keep = pathlib.Path(sys.argv[6]) if len(sys.argv) > 6 else None
    failed = skipped = resized = 0
    with tempfile.TemporaryDirectory() as name:
        source, target = pathlib.Path(name, "model.onnx"), pathlib.Path(name, "out.onnx")
        for seed in range(first, first + count):
            model, fed = grown_models.make(seed)
            save(model, source, seed)
            session = load(source, fed)
            skipped += session is None
            feeds = to_feed(model, session, fed, seed) if session else []
            resized += len(feeds) > 1
            search = ["--device", "fake", "--quiet", *SEARCHES[seed % 4]]
            of_egraph = rules if seed % 2 else pathlib.Path(rules).with_name("egraph.rules")
            commands = [[optimizer, source, "-o", target, *search], [rewriter, rules, str(seed), "8", source, target],
                        [rewriter, of_egraph, str(seed), "saturate", source, target]]
            for command in commands if session else []:
                told = complaint_about(command, model, session, feeds, target)
                if told:
                    failed += 1
                    print(f"seed {seed}, {pathlib.Path(command[0]).name} {command[3]}: {told}", flush=True)
                    if keep:
                        keep.mkdir(parents=True, exist_ok=True)
                        onnx.save(model, keep / f"{seed}.onnx")
    print(f"{count} models, {resized} at other sizes, too, {failed} wrong, {skipped} not run by ONNX Runtime")
    sys.exit(1 if failed or skipped * 5 > count else 0)


if __name__ == "__main__":
    main()
