"""What tuning gains: each model is compiled by taso-opt, then again with --tune from the costs that this measured, and both
compiled models run by turns. Medians of all rounds of the medians of each. Results are kept in FOLDER/tuning.json, model by
model: what is there is not measured again; remove the file to begin anew. Exit code 1 where a tuned model is slower than the
untuned one by more than 1 %. A NAME may be a file."""

import math
import re
import shutil
import statistics

from lib.command import run_script
from models.optimizing import SHAPES, Kept, markdown_table, model_of, parser_of, run_for_json, tell

STANDARD = ["squeezenet", "mobilenetv2", "efficientnet-b0", "resnet18"]
COLUMNS = ["model", "steps", "inexact kernels", "before ms", "after ms", "times as fast", "by round"]
LARGEST_LOSS = 0.01


def parse_arguments():
    parser = parser_of("tuning-table", __doc__, STANDARD)
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
    return [name, *("{} to {}".format(*told[what]) for what in ("steps", "inexact")), *(f"{1e3 * x:.2f}" for x in medians(told)),
            f"{gain(told):.3f}", ", ".join(f"{before / after:.3f}" for before, after in told["rounds"])]


def main():
    options = parse_arguments()
    kept = Kept("tuning", options)
    kept.measure(options.names, lambda name: measure(name, options), lambda name: print(*row(name, kept.results[name]), flush=True))
    all_told = [kept.results[name] for name in options.names if name in kept.results]
    text = markdown_table(COLUMNS, [row(name, kept.results[name]) for name in options.names if name in kept.results])
    if all_told:
        text += f"\n\nGeometric mean of {len(all_told)}: {math.prod(map(gain, all_told)) ** (1 / len(all_told)):.3f} times as fast."
    tell(options, text + kept.told_failures())
    return 1 if kept.failures or any(gain(told) < 1 - LARGEST_LOSS for told in all_told) else 0


if __name__ == "__main__":
    run_script(main)
