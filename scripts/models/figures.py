"""What the searches of the benchmark models come to by how rewriting and layouts go together (Figure 12 of the TASO
paper) and by how many operators a side of a rule may have (its Figure 11). All searches of a model use one cost
database, FOLDER/NAME.costs, and are repeated until they measure nothing. Prints estimated milliseconds and speed-ups as
Markdown. The exit code is 1 if joint optimization ends worse than the sequential one on any model."""

import sys

from lib.command import run_script
from models.optimizing import SEARCH, SHAPES, find_or_build, markdown_table, parser_of, run_for_json, tell

STANDARD = ["nasrnn", "squeezenet", "bert-taso", "bert-taso-corrected", "resnext50-taso", "inception-v3", "nasnet-a",
            "mobilenetv2"]
STRATEGIES = ["layout-only", "graph-only", "sequential", "joint", "standard"]
RULE_SIZES = [1, 2, 3, 4, 0]   # operators; 0: any
MOST_REPETITIONS = 6
EQUAL = 1.0005   # ratio of costs; they are rounded in the report


def search(name, options, *how):
    """The report of a search that measured nothing: all costs were known."""
    model = find_or_build(name, options)
    command = [options.program, model, "--threads", options.threads, "--costs", options.folder / f"{model.stem}.costs",
               "--quiet", *SEARCH, *SHAPES.get(name, []), *options.option, *how]
    for _ in range(MOST_REPETITIONS):
        report = run_for_json(command, {0})
        if report["steps_measured"] == 0:
            return report
    raise RuntimeError(f"{name}: {MOST_REPETITIONS} searches in a row had something to measure")


def milliseconds(report, key):
    return 1e3 * report[f"estimated_seconds_{key}"]


def costs_by_strategy(name, options):
    """Of the model as stored, row-major, and of what each strategy finds."""
    reports = {strategy: search(name, options, "--layout", strategy) for strategy in STRATEGIES}
    found = {strategy: milliseconds(report, "with_layouts") for strategy, report in reports.items()}
    return {"as stored": milliseconds(reports["graph-only"], "before")} | found


def speedups_by_rule_size(name, options):
    reports = [search(name, options, "--max-rule-ops", size) for size in RULE_SIZES]
    return [milliseconds(report, "before") / milliseconds(report, "with_layouts") for report in reports]


def main():
    options = parser_of("search-figures", __doc__, STANDARD).parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    costs = {name: costs_by_strategy(name, options) for name in options.names}
    text = markdown_table(["model", "as stored", *STRATEGIES],
                          [[name, *(f"{cost:.3f}" for cost in of_name.values())] for name, of_name in costs.items()])
    speedups = {name: speedups_by_rule_size(name, options) for name in options.names}
    text += "\n\n" + markdown_table(["rules of up to", *options.names],
                                    [[size or "any", *(f"{speedups[name][i]:.3f}" for name in options.names)]
                                     for i, size in enumerate(RULE_SIZES)])
    tell(options, text)
    worse = [name for name, of_name in costs.items() if of_name["joint"] > EQUAL * of_name["sequential"]]
    for name in worse:
        print(f"search-figures: {name}: joint optimization ends worse than sequential", file=sys.stderr)
    return 1 if worse else 0


run_script(main)
