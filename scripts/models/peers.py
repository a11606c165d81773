"""Times benchmark models in other runtimes (ONNX Runtime, OpenVINO, PyTorch by onnx2torch, plain and by torch.compile with
max-autotune and freezing) and in our executor: the original in each, and the compiled model that taso-opt makes of it in
ours; with --provider also what taso-opt writes for ONNX Runtime there, and the original in ONNX Runtime with our provider.
In each round every runtime loads the model anew in a process of its own and
runs it for some time, another one first in each round. What was timed is kept in FOLDER/peers.json and not timed again, so a
run can be made in pieces; remove the file to begin anew. A cell is the shortest run of all rounds and, in brackets, the
median of the rounds' medians, in milliseconds. A runtime that is not installed or fails at a model is told of below the
table."""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess

from lib.command import run_script
from models.catalog import MODELS
from models.optimizing import ALL, ROOT, SHAPES, Kept, by_threads, find_or_build, machine, markdown_table, parser_of, run_for_json, tell
from models.peer_worker import PEERS, PROVIDER

WRITTEN = "ONNX Runtime, optimized"
OURS = ["ours", "ours, compiled", WRITTEN, PROVIDER]
RATIOS = [f"best other / {column}" for column in OURS]
COLUMNS = ["model", "threads", *PEERS.values(), *OURS, *RATIOS]


def parse_arguments():
    parser = parser_of("compare-peers", __doc__, ALL)
    parser.set_defaults(threads=None)
    parser.add_argument("--only-check-arguments", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5, help="loads of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1, help="of timing for each load (default: %(default)s)")
    parser.add_argument("--provider", type=pathlib.Path, metavar="FILE",
                        help="libonnxruntime_providers_taso.so (default: none is timed)")
    parser.add_argument("--peers", metavar="NAME", nargs="+", choices=PEERS, default=list(PEERS), help="runtimes")
    options = parser.parse_args()
    for name in options.names:
        if name not in MODELS and not (options.models and list(options.models.glob(f"{name}*.onnx"))):
            parser.error(f"no model is called '{name}'; see build-models --list")
    return options


def optimize(model, fast, costs, threads, shapes, options, runtime=None):
    """taso-opt's report; `fast` is compiled for our executor, of the original where nothing is gained; or the model for that
    runtime, the original where nothing is gained."""
    command = [options.program, model, "-o", fast, "--costs", costs, "--threads", threads, "--quiet",
               *(["--runtime", runtime, "--python", python_of_peers()] if runtime else [])]
    return run_for_json([*command, *shapes, *options.option], {0})


def python_of_peers():
    return pathlib.Path(os.environ["TASO_PEERS"]) / "bin/python"


def time_peer(peer, model, threads, shapes, seconds, **ours):
    """The times of a load in one of the others. RuntimeError: why there are none."""
    command = [python_of_peers(), "-B", ROOT / "scripts/models/peer_worker.py", peer, model, threads, seconds, *shapes]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT / "scripts"), **ours}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment, timeout=600)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1][:200])
    return json.loads(done.stdout.splitlines()[-1])


def time_ours(model, more, costs, threads, seconds, usual, options):
    """As time_peer; `usual` is about how long a run takes."""
    repeats = max(5, int(seconds / usual))
    told = run_for_json([options.runner, model, "--threads", threads, "--costs", costs, "--repeats", repeats, *more],
                        {0, 1})["models"][0]
    return {"best": told["best"], "median": told["median"]}


def runners(name, model, threads, options):
    """What is timed: a function for each column that gives the times of one load."""
    shapes = SHAPES.get(name, [])
    fast, costs = (options.folder / f"{model.stem}-{threads}{end}" for end in (".taso", ".costs"))
    report = optimize(model, fast, costs, threads, shapes, options)
    usual = report.get("measured_seconds_before", {}).get("median", report["estimated_seconds_before"])
    seconds, layouts = options.seconds, report.get("layouts_before") or "best"
    found = {PEERS[peer]: lambda peer=peer: time_peer(peer, model, threads, shapes, seconds) for peer in options.peers}
    for column, file, more in zip(OURS, (model, fast), (["--layout", layouts, *shapes], [])):
        found[column] = lambda file=file, more=more: time_ours(file, more, costs, threads, seconds, usual, options)
    if options.provider:
        ours = {"TASO_PROVIDER": str(options.provider.resolve()), "TASO_COSTS": str(costs)}
        found[PROVIDER] = lambda: time_peer("provider", model, threads, shapes, seconds, **ours)
        there = options.folder / f"{model.stem}-{threads}-onnxruntime.onnx"
        optimize(model, there, costs, threads, shapes, options, "onnxruntime")
        found[WRITTEN] = lambda: time_peer("onnxruntime", there, threads, shapes, seconds)
    return found


def measure(name, threads, options, failures):
    """By column: all loads' times."""
    found = runners(name, find_or_build(name, options), threads, options)
    times, names = {column: [] for column in found}, list(found)
    for i in range(options.rounds):
        for column in names[i % len(names):] + names[:i % len(names)]:
            if (name, column) in failures:
                continue
            try:
                times[column].append(found[column]())
            except (RuntimeError, subprocess.TimeoutExpired) as failure:
                failures[name, column] = str(failure)
    return {column: loads for column, loads in times.items() if loads}


def best_of(loads):
    return min(load["best"] for load in loads)


def cell(loads):
    return f"{1e3 * best_of(loads):.2f} ({1e3 * statistics.median(load['median'] for load in loads):.2f})" if loads else "-"


def row(name, threads, times):
    others = [best_of(loads) for column, loads in times.items() if column not in OURS]
    ratios = [f"{min(others) / best_of(times[column]):.2f}" if others and column in times else "-" for column in OURS]
    return [name, threads, *(cell(times.get(column)) for column in [*PEERS.values(), *OURS]), *ratios]


def means(rows):
    """Of the ratios, the geometric ones, as a row."""
    mean_of = lambda ratios: f"{statistics.geometric_mean(ratios):.2f}" if ratios else "-"
    columns = [[float(row[-k]) for row in rows if row[-k] != "-"] for k in range(len(RATIOS), 0, -1)]
    return ["geometric mean", *[""] * (len(COLUMNS) - len(RATIOS) - 1), *map(mean_of, columns)]


def heading(options):
    return (f"# Our executor beside others\n\n{machine()}, {os.cpu_count()} cores, {datetime.date.today()}; "
            f"`scripts/compare-peers --rounds {options.rounds} --seconds {options.seconds:g} {'--small ' if options.small else ''}{' '.join(options.names)}`. "
            "Milliseconds of the shortest run and, in brackets, the median of the loads' medians. The last columns are above "
            "1 where ours is faster.\n\n")


def main():
    options = parse_arguments()
    if options.only_check_arguments:
        return 0
    counts = [options.threads] if options.threads else sorted({1, min(2, os.cpu_count() or 1)})
    wanted = by_threads(options.names, counts)
    kept, failures = Kept("peers", options), {}

    def row_of(key):
        return row(*wanted[key], kept.results[key])

    kept.measure(wanted, lambda key: measure(*wanted[key], options, failures),
                 lambda key: print(markdown_table(COLUMNS, [row_of(key)]).splitlines()[-1], flush=True))
    rows = [row_of(key) for key in wanted if key in kept.results]
    notes = "".join(f"\n\n- {column} does not run {name}: {reason}" for (name, column), reason in failures.items())
    tell(options, heading(options) + markdown_table(COLUMNS, [*rows, means(rows)]) + notes + kept.told_failures())
    return 1 if kept.failures else 0


if __name__ == "__main__":
    run_script(main)
