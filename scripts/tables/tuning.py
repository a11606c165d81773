"""What tuning gains: each model is compiled by taso-opt from an empty cost database, then again with --tune from the costs
that this measured, and both compiled models run by turns, in several loads, and are to agree. Medians of all rounds of the
medians of each. The last columns are what passes gained by the sums of their steps, and what taso-opt itself timed at the
end (0: it gave up what was tuned). Results are kept in FOLDER/tuning.json, one by one: what is there is not measured again,
and a job that was cut goes on from its trials; remove the file to begin anew. Exit code 1 where a tuned model is slower
than the untuned one by more than 1 %. A NAME may be a file."""

import pathlib
import re
import shutil
import statistics

from tables.common import SHAPES, add_timing, by_threads, make_table, model_of, parser_of, run_for_json, threads_of

STANDARD = ["squeezenet", "mobilenetv2", "efficientnet-b0", "resnet18"]
PASSES = ["graph", "fusion", "layout", "schedules"]
COLUMNS = ["model", "threads", "steps", "inexact kernels", "before ms", "after ms", "times as fast", "by round", "trials", "kernels",
           *PASSES, "whole"]
LARGEST_LOSS = 0.01


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    add_timing(parser, 3, 1)
    parser.add_argument("--minutes", type=float, default=4, help="of tuning, for each model (default: %(default)s)")
    return parser.parse_args()


def measure(name, threads, options):
    model = model_of(name, options)
    stem = options.folder / f"{re.sub(r'[^a-zA-Z0-9]', '-', model.stem)}-{threads}"
    before, after = (stem.with_name(stem.name + end) for end in ("-untuned", "-tuned"))
    compiled = [path.with_suffix(".taso") for path in (before, after)]
    costs = [path.with_suffix(".costs") for path in (before, after)]
    common = [options.program, model, "--threads", threads, "--quiet", *SHAPES.get(name, []), *options.option]
    if not compiled[0].exists():   # else this was cut
        costs[0].unlink(missing_ok=True)
        for _ in range(2):   # the second time from costs that are known, as tuning begins
            run_for_json([*common, "-o", compiled[0], "--costs", costs[0]], {0})
        shutil.copy(costs[0], costs[1])
    report = run_for_json([*common, "-o", compiled[1], "--costs", costs[1], "--tune", options.minutes], {0})
    repeats = max(5, int(options.seconds / report["estimated_seconds_after"]))
    rounds = [run_for_json([options.runner, *compiled, "--threads", threads, "-n", repeats, "--tolerance", "0.01"], {0})["models"]
              for _ in range(options.rounds)]
    for path in compiled:
        path.unlink()
    return {"rounds": [[model["median"] for model in both] for both in rounds], "tuning": report.get("tuning", {}),
            "steps": [model["steps"] for model in rounds[0]], "inexact": [model["inexact_kernels"] for model in rounds[0]]}


def medians(told):
    return [statistics.median(times) for times in zip(*told["rounds"])]


def gain(told):
    before, after = medians(told)
    return before / after


def row(name, threads, told):
    passes = told["tuning"]   # none where no step has schedules
    kernels = passes.get("kernels", {"trials": 0, "seconds_after": 0})
    return [pathlib.Path(name).stem, threads, *("{} to {}".format(*told[what]) for what in ("steps", "inexact")),
            *(f"{1e3 * x:.2f}" for x in medians(told)), f"{gain(told):.3f}",
            ", ".join(f"{before / after:.3f}" for before, after in told["rounds"]), kernels["trials"],
            f"{kernels['seconds_before'] / kernels['seconds_after']:.3f}" if kernels["seconds_after"] else "-",
            *(f"{passes[which]['gain']:.3f}" if which in passes else "-" for which in PASSES), f"{passes.get('gain', 1):.3f}"]


def note_of(done):
    counts = sorted({threads for (_, threads), _ in done})
    gains = {count: [gain(told) for (_, threads), told in done if threads == count] for count in counts}
    return "\n\n" + " ".join(f"Geometric mean of {len(of)} with {count} thread{'s' * (count > 1)}: "
                             f"{statistics.geometric_mean(of):.3f} times as fast." for count, of in gains.items()) if gains else ""


def main(options):
    return make_table("tuning", options, by_threads(options.names, threads_of(options)), measure, COLUMNS, row, "Tuning", notes=note_of,
                      is_bad=lambda told: gain(told) < 1 - LARGEST_LOSS)
