"""What our provider runs of models in ONNX Runtime, whether it pays or not (`measure` false): of their nodes, as they are when a
session opens, and of the time of a run, by the session's profile; and how far outputs are off those of the own provider.
--python names the Pythons whose onnxruntime is taken. ONNX's node tests and random models are rows of their own. What is
measured is kept in FOLDER/shares.json."""

import json
import os
import pathlib
import re
import subprocess
import sys

from tables.common import ALL, ROOT, make_table, model_of, parse_known_models, parser_of

COLUMNS = ["model", "ONNX Runtime", "nodes", "of them ours", "of the time, ours", "off by"]
MOST_DIFFERENCE = 1e-4   # of the largest entry, of a whole model; each region is within `tolerance` when it is taken
UNDERSTOOD, TAKEN = re.compile(r"taso: (\d+) of (\d+) nodes are understood"), re.compile(r"taso: (\d+) nodes are run")
OF_NODE_TESTS = re.compile(r"(\d+) equal, (\d+) not, .* (\d+) wholly")
OF_RANDOM_MODELS = re.compile(r"(\d+) models, (\d+) differ")


def parse_arguments():
    parser = parser_of(__doc__, ALL)
    parser.set_defaults(threads=1)
    parser.add_argument("--python", metavar="FILE", action="append", default=[], help="a Python with onnxruntime; may be repeated")
    parser.add_argument("--provider", type=pathlib.Path, metavar="FILE", help="libonnxruntime_providers_taso.so",
                        default="build/provider/libonnxruntime_providers_taso.so")
    parser.add_argument("--random", metavar="COUNT", type=int, default=0, help="how many random models (default: none)")
    parser.add_argument("--node-tests", action="store_true", help="ONNX's node tests, too")
    return parse_known_models(parser)


def run_in(python, options, costs, *arguments):
    """What it told on both streams. RuntimeError: it failed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "TASO_COSTS": str(costs),
                   "TASO_PROVIDER": str(options.provider.resolve())}
    done = subprocess.run([python, "-B", *map(str, arguments)], capture_output=True, text=True, check=False, env=environment)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1][:300])
    return done.stdout, done.stderr


def version_of(python, options):
    return run_in(python, options, "", "-c", "import onnxruntime; print(onnxruntime.__version__)")[0].strip()


def measure_model(name, python, options):
    costs = options.folder / f"{pathlib.Path(name).stem}-{options.threads}-shares.costs"
    told, log = run_in(python, options, costs, "-m", "tables.share_worker", model_of(name, options), options.threads)
    understood = [tuple(map(int, found)) for found in UNDERSTOOD.findall(log)]
    return {**json.loads(told.splitlines()[-1]), "nodes": sum(whole for _, whole in understood),
            "ours": sum(map(int, TAKEN.findall(log)))}


def measure_tests(name, python, options):
    """Models instead of nodes; those of the node tests are ours where they run wholly in the provider."""
    script, pattern, more = {
        "node tests": ("check_node_tests.py", OF_NODE_TESTS, []),
        "random models": ("check_random_models.py", OF_RANDOM_MODELS, [1, options.random])}[name]
    told, _ = run_in(python, options, "", ROOT / "tests/provider" / script, options.provider.resolve(), *more)
    found = [int(number) for number in pattern.search(told).groups()]
    n_apart = found[1]
    return {"nodes": sum(found[:2]) if name == "node tests" else found[0], "ours": found[2] if len(found) > 2 else None,
            "difference": float("inf") if n_apart else 0.0}


def measure(name, python, options):
    by = measure_tests if name in ("node tests", "random models") else measure_model
    return {"version": version_of(python, options), **by(name, python, options)}


def row(name, python, told):
    ours, nodes = told["ours"], told["nodes"]
    share = "-" if ours is None else f"{ours} ({100 * ours / max(nodes, 1):.0f} %)"
    time = f"{100 * told['time']:.0f} %" if "time" in told else "-"
    return [pathlib.Path(name).stem, told["version"], nodes, share, time, f"{told['difference']:.1e}"]


def main(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    names = [*options.names, *(["node tests"] if options.node_tests else []), *(["random models"] if options.random else [])]
    pythons = options.python or [str(pathlib.Path(os.environ["TASO_PEERS"]) / "bin/python")]
    wanted = {f"{name} {python}": (name, python) for python in pythons for name in names}
    return make_table("shares", options, wanted, measure, COLUMNS, row, "Shares of our provider",
                      is_bad=lambda told: not told["difference"] <= MOST_DIFFERENCE)
