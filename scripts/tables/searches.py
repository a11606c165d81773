"""What the searches of the benchmark models come to by how rewriting and layouts go together (Figure 12 of the TASO
paper), by how many operators a side of a rule may have (its Figure 11), and by method. All searches of a model use one
cost database, FOLDER/NAME.costs, and are repeated until they measure nothing; of a method's search that is told with
the processor seconds of the whole program. Prints estimated milliseconds and speed-ups as Markdown. The exit code is 1
if joint optimization ends worse than the sequential one on any model."""

import resource
import sys

from tables.common import SEARCH, SHAPES, find_or_build, markdown_table, parser_of, run_for_json, tell

STANDARD = ["nasrnn", "squeezenet", "bert-taso", "bert-taso-corrected", "resnext50-taso", "inception-v3", "nasnet-a",
            "mobilenetv2"]
STRATEGIES = ["layout-only", "graph-only", "sequential", "joint", "standard"]
RULE_SIZES = [1, 2, 3, 4, 0]   # operators; 0: any
METHODS = ["backtracking", "both"]
MOST_REPETITIONS = 6
EQUAL = 1.0005   # ratio of costs; they are rounded in the report


def processor_seconds():
    """Of all programs that were run."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def search(name, options, *how):
    """The report of a search that measured nothing, as all costs were known, with the program's processor seconds."""
    model = find_or_build(name, options)
    command = [options.program, model, "--threads", options.threads, "--costs", options.folder / f"{model.stem}.costs",
               "--quiet", *SEARCH, *SHAPES.get(name, []), *options.option, *how]
    for _ in range(MOST_REPETITIONS):
        before = processor_seconds()
        report = run_for_json(command, {0})
        if report["steps_measured"] == 0:
            return report | {"processor_seconds": processor_seconds() - before}
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


def tell_strategies(options):
    """Gives the models on which joint optimization ends worse."""
    costs = {name: costs_by_strategy(name, options) for name in options.names}
    rows = [[name, *(f"{cost:.3f}" for cost in of_name.values())] for name, of_name in costs.items()]
    return (markdown_table(["model", "as stored", *STRATEGIES], rows),
            [name for name, of_name in costs.items() if of_name["joint"] > EQUAL * of_name["sequential"]])


def tell_rule_sizes(options):
    speedups = {name: speedups_by_rule_size(name, options) for name in options.names}
    rows = [[size or "any", *(f"{speedups[name][i]:.3f}" for name in options.names)] for i, size in enumerate(RULE_SIZES)]
    return markdown_table(["rules of up to", *options.names], rows), []


def tell_methods(options):
    rows = []
    for name in options.names:
        reports = [search(name, options, "--search", method) for method in METHODS]
        rows.append([name, f"{milliseconds(reports[0], 'before'):.3f}",
                     *(f"{milliseconds(report, 'with_layouts'):.3f}" for report in reports),
                     *(f"{report['processor_seconds']:.1f}" for report in reports)])
    return markdown_table(["model", "as stored", *METHODS, *(f"{method}, s" for method in METHODS)], rows), []


TABLES = {"strategies": tell_strategies, "rule-sizes": tell_rule_sizes, "methods": tell_methods}


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    parser.add_argument("--table", choices=TABLES, action="append", help="only these (default: all)")
    return parser.parse_args()


def main(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    tables, worse = zip(*(TABLES[table](options) for table in options.table or TABLES))
    tell(options, "\n\n".join(tables))
    for name in sum(worse, []):
        print(f"{sys.argv[0]}: {name}: joint optimization ends worse than sequential", file=sys.stderr)
    return 1 if any(worse) else 0
