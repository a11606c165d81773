"""What tuning gains: each model is compiled by taso-opt, then again with --tune from the costs that this measured, and both
compiled models run by turns. Medians of all rounds of the medians of each. Results are kept in FOLDER/tuning.json, model by
model: what is there is not measured again; remove the file to begin anew. Exit code 1 where a tuned model is slower than the
untuned one by more than 1 %. A NAME may be a file."""

import pathlib
import re
import shutil
import statistics

from tables.common import SHAPES, by_name, make_table, model_of, parser_of, run_for_json

STANDARD = ["squeezenet", "mobilenetv2", "efficientnet-b0", "resnet18"]
COLUMNS = ["model", "steps", "inexact kernels", "before ms", "after ms", "times as fast", "by round"]
LARGEST_LOSS = 0.01


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    parser.set_defaults(threads=1)
    parser.add_argument("--minutes", type=float, default=4, help="of tuning, for each model (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="in which both are loaded and timed (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=60, help="runs of each in a round (default: %(default)s)")
    return parser.parse_args()


def measure(name, options):
    model = model_of(name, options)
    stem = options.folder / f"{re.sub(r'[^a-zA-Z0-9]', '-', model.stem)}-{options.threads}"
    before, after = (stem.with_name(stem.name + end) for end in ("-untuned", "-tuned"))
    compiled = [path.with_suffix(".taso") for path in (before, after)]
    common = [options.program, model, "--threads", options.threads, "--quiet", *SHAPES.get(name, []), *options.option]
    run_for_json([*common, "-o", compiled[0], "--costs", before.with_suffix(".costs")], {0})
    shutil.copy(before.with_suffix(".costs"), after.with_suffix(".costs"))
    run_for_json([*common, "-o", compiled[1], "--costs", after.with_suffix(".costs"), "--tune", options.minutes], {0})
    rounds = [run_for_json([options.runner, *compiled, "--threads", options.threads, "-n", options.repeats, "--tolerance", "0.01"],
                           {0})["models"] for _ in range(options.rounds)]
    for path in compiled:
        path.unlink()
    return {"rounds": [[model["median"] for model in both] for both in rounds],
            "steps": [model["steps"] for model in rounds[0]], "inexact": [model["inexact_kernels"] for model in rounds[0]]}


def medians(told):
    return [statistics.median(times) for times in zip(*told["rounds"])]


def gain(told):
    before, after = medians(told)
    return before / after


def row(name, told):
    return [pathlib.Path(name).stem, *("{} to {}".format(*told[what]) for what in ("steps", "inexact")), *(f"{1e3 * x:.2f}" for x in medians(told)),
            f"{gain(told):.3f}", ", ".join(f"{before / after:.3f}" for before, after in told["rounds"])]


def note_of(done):
    gains = [gain(told) for _, told in done]
    return f"\n\nGeometric mean of {len(gains)}: {statistics.geometric_mean(gains):.3f} times as fast." if gains else ""


def main(options):
    return make_table("tuning", options, by_name(options.names), measure, COLUMNS, row, "Tuning", notes=note_of,
                      is_bad=lambda told: gain(told) < 1 - LARGEST_LOSS)
