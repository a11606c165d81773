"""Times benchmark models in other runtimes (ONNX Runtime, OpenVINO, PyTorch by onnx2torch, plain and by torch.compile with
max-autotune and freezing) and in our executor: the original in each, and the compiled model that taso-opt makes of it in
ours; with --provider also what taso-opt writes for ONNX Runtime there, and the original in ONNX Runtime with our provider.
In each round every runtime loads the model anew in a process of its own and
runs it for some time, another one first in each round. What was timed is kept in FOLDER/peers.json and not timed again, so a
run can be made in pieces; remove the file to begin anew. A cell is the shortest run of all rounds and, in brackets, the
median of the rounds' medians, in milliseconds. A runtime that is not installed or fails at a model is told of below the
table."""

import json
import os
import pathlib
import statistics
import subprocess

from tables.common import ALL, ROOT, SHAPES, add_timing, by_threads, find_or_build, make_table, parse_known_models, parser_of, run_for_json
from tables.common import threads_of
from tables.peer_worker import PEERS, PROVIDER

WRITTEN = "ONNX Runtime, optimized"
OURS = ["ours", "ours, compiled", WRITTEN, PROVIDER]
RATIOS = [f"best other / {column}" for column in OURS]
COLUMNS = ["model", "threads", *PEERS.values(), *OURS, *RATIOS]


def parse_arguments():
    parser = parser_of(__doc__, ALL)
    add_timing(parser, 5, 1)
    parser.add_argument("--provider", type=pathlib.Path, metavar="FILE",
                        help="libonnxruntime_providers_taso.so (default: none is timed)")
    parser.add_argument("--peers", metavar="NAME", nargs="+", choices=PEERS, default=list(PEERS), help="runtimes")
    return parse_known_models(parser)


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
    command = [python_of_peers(), "-B", "-m", "tables.peer_worker", peer, model, threads, seconds, *shapes]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT / "scripts"), **ours}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment, timeout=600)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1][:200])
    return json.loads(done.stdout.splitlines()[-1])


def time_ours(model, more, costs, threads, seconds, usual, options):
    """As time_peer; `usual` is about how long a run takes, None where the search had no time to estimate it."""
    repeats = max(5, int(seconds / usual)) if usual else 5
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


def times_by_turns(name, timers, rounds, failures):
    """By column: all loads' times. `timers` has by column what gives the times of a load; another column begins each round."""
    times, names = {column: [] for column in timers}, list(timers)
    for i in range(rounds):
        for column in names[i % len(names):] + names[:i % len(names)]:
            if (name, column) in failures:
                continue
            try:
                times[column].append(timers[column]())
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


def means(rows, n_ratios):
    """Of the ratios, which stand last, the geometric ones, as a row."""
    columns = [[float(row[-k]) for row in rows if row[-k] != "-"] for k in range(n_ratios, 0, -1)]
    told = [f"{statistics.geometric_mean(ratios):.2f}" if ratios else "-" for ratios in columns]
    return [["geometric mean", *[""] * (len(rows[0]) - n_ratios - 1), *told]] if rows else []


def notes_of(failures):
    return "".join(f"\n- {column} does not run {name}: {reason}" for (name, column), reason in failures.items())


def main(options):
    failures = {}

    def measure(name, threads, options):
        return times_by_turns(name, runners(name, find_or_build(name, options), threads, options), options.rounds, failures)

    return make_table("peers", options, by_threads(options.names, threads_of(options)), measure, COLUMNS, row,
                      "Our executor beside others",
                      "Milliseconds of the shortest run and, in brackets, the median of the loads' medians. The last columns are above "
                      "1 where ours is faster.", last=lambda rows: means(rows, len(RATIOS)), notes=lambda _: notes_of(failures))
