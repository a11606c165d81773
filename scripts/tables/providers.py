"""Times models in ONNX Runtime: the original by its own provider, what taso-opt writes for it, the original with our provider,
and with OpenVINO's plugin where that takes this processor. `--prepare` makes what is timed and times nothing: models that
taso-opt writes, and models compiled by our provider (EPContext), which open without a search: by a first session, in which no
cost is known, and by a second one. Then each row takes ROUNDS
times SECONDS for each column, and loading. Everything is kept in FOLDER, so a run can be made in pieces; remove
FOLDER/providers.json to time anew. A cell is the shortest run of all rounds and, in brackets, the median of the rounds'
medians, in milliseconds; ratios are of shortest runs, above 1 where the original by itself is slower."""

import pathlib

from tables.common import ALL, SHAPES, add_timing, by_threads, find_or_build, make_table, parse_known_models, parser_of, threads_of
from tables.peers import best_of, cell, means, notes_of, optimize, time_peer, times_by_turns

ORIGINAL, WRITTEN, FIRST, OURS, OPENVINO = "by itself", "our .onnx", "our provider at first", "our provider", "OpenVINO's provider"
RATIOS = {f"{ORIGINAL} / {column}": column for column in (WRITTEN, FIRST, OURS)}
COLUMNS = ["model", "threads", ORIGINAL, WRITTEN, FIRST, OURS, OPENVINO, *RATIOS]


def parse_arguments():
    parser = parser_of(__doc__, ALL)
    add_timing(parser, 3, 1.5)
    parser.add_argument("--prepare", action="store_true", help="make what is timed, and time nothing")
    parser.add_argument("--provider", type=pathlib.Path, metavar="FILE", help="libonnxruntime_providers_taso.so",
                        default="build/provider/libonnxruntime_providers_taso.so")
    return parse_known_models(parser)


def files_of(model, threads, options):
    """What taso-opt writes, what our provider compiles at first and then, and costs."""
    ends = "written.onnx", "first.onnx", "compiled.onnx", "providers.costs"
    return [options.folder / f"{model.stem}-{threads}-{end}" for end in ends]


def environment_of(model, options, costs):
    return {"TASO_PROVIDER": str(options.provider.resolve()), "TASO_COSTS": str(costs), "TASO_ORIGINAL": str(model)}


def prepare(name, threads, options):
    """What there is is not made again. A model of which our provider takes nothing has no compiled one."""
    model = find_or_build(name, options)
    written, first, compiled, costs = files_of(model, threads, options)
    for file in (first, compiled):
        if not file.exists():
            time_peer("compile", model, threads, SHAPES.get(name, []), 0, TASO_COMPILED=str(file),
                      **environment_of(model, options, costs))
    if not written.exists():
        optimize(model, written, costs, threads, SHAPES.get(name, []), options, "onnxruntime")


def timers_of(name, threads, options):
    """By column: what gives the times of a load."""
    prepare(name, threads, options)
    model = find_or_build(name, options)
    written, first, compiled, costs = files_of(model, threads, options)
    environment = environment_of(model, options, costs)
    left = "provider" if name in SHAPES else "onnxruntime"   # no EPContext has sizes that are not known
    columns = {ORIGINAL: ("onnxruntime", model), WRITTEN: ("onnxruntime", written), OPENVINO: ("openvino-provider", model),
               **{column: ("provider", file) if file.exists() else (left, model)
                  for column, file in ((FIRST, first), (OURS, compiled)) if name not in SHAPES or column == OURS}}
    return {column: lambda of=of: time_peer(*of, threads, SHAPES.get(name, []), options.seconds, **environment)
            for column, of in columns.items()}


def notes_of_left(wanted, options):
    """Rows whose last columns are by ONNX Runtime itself twice, and differ from 1 by noise."""
    left = [f"{name} with {threads}" for name, threads in wanted
            if name not in SHAPES and not files_of(find_or_build(name, options), threads, options)[2].exists()]
    return f"\n- Our provider leaves to ONNX Runtime: {', '.join(left)}" if left else ""


def row(name, threads, times):
    ratios = [f"{best_of(times[ORIGINAL]) / best_of(times[column]):.3f}" if column in times else "-" for column in RATIOS.values()]
    return [name, threads, *(cell(times.get(column)) for column in COLUMNS[2:-len(RATIOS)]), *ratios]


def main(options):
    wanted, failures = by_threads(options.names, threads_of(options)), {}
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, threads in wanted.values() if options.prepare else ():
        prepare(name, threads, options)
        print(f"{name}, {threads} threads: prepared", flush=True)
    if options.prepare:
        return 0

    def measure(name, threads, options):
        return times_by_turns(name, timers_of(name, threads, options), options.rounds, failures)

    return make_table("providers", options, wanted, measure, COLUMNS, row, "Providers in ONNX Runtime",
                      last=lambda rows: means(rows, len(RATIOS)),
                      notes=lambda done: notes_of(failures) + notes_of_left([label for label, _ in done], options))
