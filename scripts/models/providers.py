"""Times models in ONNX Runtime: the original by its own provider, what taso-opt writes for it, the original with our provider,
and with OpenVINO's plugin where that takes this processor. `--prepare` makes what is timed and times nothing: models that
taso-opt writes, and models compiled by our provider (EPContext), which open without a search. Then each row takes ROUNDS
times SECONDS for each column, and loading. Everything is kept in FOLDER, so a run can be made in pieces; remove
FOLDER/providers.json to time anew. A cell is the shortest run of all rounds and, in brackets, the median of the rounds'
medians, in milliseconds; ratios are of shortest runs, above 1 where the original by itself is slower."""

import argparse
import datetime
import os
import pathlib
import statistics
import subprocess

from lib.command import run_script
from models.catalog import MODELS
from models.optimizing import ALL, SHAPES, Kept, by_threads, find_or_build, machine, markdown_table, parser_of, tell
from models.peers import best_of, cell, optimize, time_peer

ORIGINAL, WRITTEN, OURS, OPENVINO = "by itself", "our .onnx", "our provider", "OpenVINO's provider"
COLUMNS = ["model", "threads", ORIGINAL, WRITTEN, OURS, OPENVINO, f"{ORIGINAL} / {WRITTEN}", f"{ORIGINAL} / {OURS}"]


def parse_arguments():
    parser = parser_of("compare-providers", __doc__, ALL)
    parser.set_defaults(threads=None)
    parser.add_argument("--only-check-arguments", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--prepare", action="store_true", help="make what is timed, and time nothing")
    parser.add_argument("--rounds", type=int, default=3, help="loads of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.5, help="of timing for each load (default: %(default)s)")
    parser.add_argument("--provider", type=pathlib.Path, metavar="FILE", help="libonnxruntime_providers_taso.so",
                        default="build/provider/libonnxruntime_providers_taso.so")
    options = parser.parse_args()
    for name in options.names:
        if name not in MODELS and not (options.models and list(options.models.glob(f"{name}*.onnx"))):
            parser.error(f"no model is called '{name}'; see build-models --list")
    return options


def files_of(model, threads, options):
    """What taso-opt writes, what our provider compiles, and costs."""
    return [options.folder / f"{model.stem}-{threads}-{end}" for end in ("written.onnx", "compiled.onnx", "providers.costs")]


def environment_of(model, options, costs):
    return {"TASO_PROVIDER": str(options.provider.resolve()), "TASO_COSTS": str(costs), "TASO_ORIGINAL": str(model)}


def prepare(name, threads, options):
    """What there is is not made again. A model of which our provider takes nothing has no compiled one."""
    model = find_or_build(name, options)
    written, compiled, costs = files_of(model, threads, options)
    if not written.exists():
        optimize(model, written, costs, threads, SHAPES.get(name, []), options, "onnxruntime")
    if not compiled.exists():
        time_peer("compile", model, threads, SHAPES.get(name, []), 0, TASO_COMPILED=str(compiled),
                  **environment_of(model, options, costs))


def measure(name, threads, options, failures):
    """By column: all loads' times."""
    prepare(name, threads, options)
    model = find_or_build(name, options)
    written, compiled, costs = files_of(model, threads, options)
    environment = environment_of(model, options, costs)
    columns = {ORIGINAL: ("onnxruntime", model), WRITTEN: ("onnxruntime", written),
               OURS: ("provider", compiled if compiled.exists() else model), OPENVINO: ("openvino-provider", model)}
    times, names = {column: [] for column in columns}, list(columns)
    for i in range(options.rounds):
        for column in names[i % len(names):] + names[:i % len(names)]:
            if column not in failures:
                try:
                    times[column].append(time_peer(*columns[column], threads, SHAPES.get(name, []), options.seconds, **environment))
                except (RuntimeError, subprocess.TimeoutExpired) as failure:
                    failures[column] = f"{name}: {failure}"
    return {column: loads for column, loads in times.items() if loads}


def row(name, threads, times):
    ratios = [f"{best_of(times[ORIGINAL]) / best_of(times[column]):.3f}" if column in times else "-" for column in (WRITTEN, OURS)]
    return [name, threads, *(cell(times.get(column)) for column in COLUMNS[2:6]), *ratios]


def means(rows):
    """Geometric, of the ratios."""
    columns = [[float(row[k]) for row in rows if row[k] != "-"] for k in (-2, -1)]
    return ["geometric mean", *[""] * 5, *(f"{statistics.geometric_mean(column):.3f}" if column else "-" for column in columns)]


def main():
    options = parse_arguments()
    if options.only_check_arguments:
        return 0
    counts = [options.threads] if options.threads else sorted({1, min(2, os.cpu_count() or 1)})
    wanted = by_threads(options.names, counts)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.prepare:
        for name, threads in wanted.values():
            prepare(name, threads, options)
            print(f"{name}, {threads} threads: prepared", flush=True)
        return 0
    kept, failures = Kept("providers", options), {}
    row_of = lambda key: row(*wanted[key], kept.results[key])
    kept.measure(wanted, lambda key: measure(*wanted[key], options, failures),
                 lambda key: print(markdown_table(COLUMNS, [row_of(key)]).splitlines()[-1], flush=True))
    rows = [row_of(key) for key in wanted if key in kept.results]
    notes = "".join(f"\n\n- {column} does not run {reason}" for column, reason in failures.items())
    heading = f"# Providers in ONNX Runtime\n\n{machine()}, {os.cpu_count()} cores, {datetime.date.today()}; `scripts/compare-providers`.\n\n"
    tell(options, markdown_table(COLUMNS, [*rows, means(rows)]) + notes + kept.told_failures(), heading)
    return 1 if kept.failures else 0


if __name__ == "__main__":
    run_script(main)
