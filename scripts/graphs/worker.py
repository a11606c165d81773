"""One framework runs one graph: `python -m graphs.worker FRAMEWORK FOLDER TYPE [tf32] [cpu]`.

FOLDER is what `run_graphs --save` left: the graph, the beginnings of weights and inputs, the outputs. The first line
that is written is JSON: {"version", "difference"} (of the outputs, as a share of the largest entry), or {"absent": a
reason}. Then, for each line with a number on the standard input, the seconds of so many runs, until an empty line.
"""

import json
import pathlib
import sys
import time

try:
    import numpy as np

    from graphs.frameworks import FRAMEWORKS, NUMPY_TYPES, Absent, Numpy, OnnxRuntime
except ImportError as missing:
    print(json.dumps({"absent": f"{missing.name or missing} is not installed"}))
    sys.exit(0)
from graphs.operators import Unknown, check_operators, run_graph
from graphs.text import read_graph

WARM_UP_RUNS = 3


def read_leaf(path, element_type, dimensions):
    """The file has the beginning; the whole repeats it."""
    block = np.fromfile(path, NUMPY_TYPES[element_type])
    return np.resize(block, dimensions)


def prepare(framework, graph, folder):
    """A function that runs the graph; its weights and inputs are on the device."""
    arguments, names = [], []
    for operator in ("weight", "input"):
        for number, (name, element_type, dimensions) in sorted(graph.leaves(operator).items()):
            leaf = read_leaf(folder / f"{operator}{number}", element_type, dimensions)
            arguments.append(framework.leaf(leaf, f"{operator}{number}"))
            names.append(name)
    return framework.compiled(lambda *leaves: run_graph(framework, graph, dict(zip(names, leaves))), arguments)


def difference_from_ours(framework, graph, folder, results):
    """The largest difference of an output as a share of its largest entry; infinite where only one is a number."""
    worst = 0.0
    for number, result in enumerate(results):
        found = np.asarray(framework.to_numpy(result))
        ours = np.fromfile(folder / f"output{number}", found.dtype)
        if ours.size != found.size:
            return float("inf")
        ours, found = ours.astype(np.float64), found.reshape(-1).astype(np.float64)
        with np.errstate(invalid="ignore"):
            differs = ~((ours == found) | (np.isnan(ours) & np.isnan(found)))
            if not differs.any():
                continue
            share = np.abs(ours - found)[differs].max() / max(np.abs(ours[np.isfinite(ours)]).max(initial=0), 1e-300)
        worst = max(worst, float("inf") if np.isnan(share) else float(share))
    return worst


def serve(run):
    for line in sys.stdin:
        if not line.strip():
            break
        samples = []
        for _ in range(int(line)):
            start = time.perf_counter()
            run()
            samples.append(time.perf_counter() - start)
        print(" ".join(f"{seconds:.6g}" for seconds in samples), flush=True)


def main():
    name, folder, element_type, *more = sys.argv[1:]
    kind, folder = FRAMEWORKS[name], pathlib.Path(folder)
    try:
        graph = read_graph((folder / "graph").read_text())
        check_operators(graph)
        arguments = (element_type, "tf32" in more) + (() if kind is Numpy else ("cpu" not in more,))
        framework = kind(*arguments)
        run = prepare(framework, graph, folder)
        if kind is OnnxRuntime:
            run.wants_outputs = True
        results = run()
        if kind is OnnxRuntime:
            run.wants_outputs = False
        difference = difference_from_ours(framework, graph, folder, results)
        for _ in range(WARM_UP_RUNS):
            run()
    except ImportError as error:
        reason = f"{error.name or error} is not installed"
    except (Absent, Unknown) as error:
        reason = str(error) if isinstance(error, Absent) else f"not known: {error}"
    except Exception as error:  # whatever a framework raises is its answer
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    else:
        print(json.dumps({"version": framework.version(), "difference": difference}), flush=True)
        serve(run)
        return 0
    print(json.dumps({"absent": reason}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
