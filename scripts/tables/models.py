"""Builds models with weights, optimizes each with taso-opt, and compares the original with the result side by side: in
taso's own executor (as taso-opt measured it) and in ONNX Runtime with all its optimizations on both. Each model is searched
three times: with an empty cost database, with what that has measured, and, to be timed, with all finalists. Prints a
table beside what TASO and Tensat published. Results are kept in FOLDER/results.json, model by model: what is there is not
measured again, so a run can be made in pieces; remove the file to begin anew. A model on which something fails is a line
that says so, and the exit code is 1."""

from tables.common import BENCHMARKS, PUBLISHED, ROOT, SEARCH, SHAPES, by_name, find_or_build, make_table, markdown_table, parser_of
from tables.common import percent, run_for_json

# Models of ours that those of PUBLISHED stand for.
ALIAS = {"bert-taso-corrected": "bert-taso", "inception-v3": "inception-v3-tensat", "squeezenet": "squeezenet-tensat",
         "vgg19": "vgg19-tensat"}
COLUMNS = ["model", "nodes", "search: warm s", "cold s", "MiB", "rewrites", "estimated %", "own %", "ONNX Runtime %",
           "TASO, Tensat %", "before ms", "estimate off", "after ms", "estimate off"]


def parse_arguments():
    parser = parser_of(__doc__, BENCHMARKS)
    parser.add_argument("--seconds", type=float, default=5, help="of timing for each (default: %(default)s)")
    return parser.parse_args()


def measure(name, options):
    model = find_or_build(name, options)
    fast, costs = options.folder / f"{model.stem}-fast.onnx", options.folder / f"{model.stem}.costs"
    costs.unlink(missing_ok=True)
    shapes = SHAPES.get(name, [])
    taso = [options.program, model, "--threads", options.threads, "--costs", costs, "--quiet", *shapes, *options.option]
    cold, warm = (run_for_json([*taso, *SEARCH], {0}) for _ in range(2))
    timed = run_for_json([*taso, "-o", fast, "--measure-seconds", options.seconds], {0})
    comparison = run_for_json([ROOT / "scripts/compare-ort", model, fast, *shapes, "--threads", options.threads, "--time",
                               options.seconds], {0, 5}) if timed["optimized"] else None
    fast.unlink(missing_ok=True)
    return {"cold": cold["search"]["seconds"], "steps": cold["steps_measured"], "warm": warm["search"]["seconds"],
            "memory": warm["peak_memory_bytes"], "report": timed, "ort": comparison}


# --- telling ----------------------------------------------------------------------------------------------------------

def estimated_gain(report):
    """By the costs that are believed in the end, where both were timed; else by those of the search."""
    timed = [report.get(f"timed_estimate_{which}", 0) for which in ("before", "after")]
    return timed[0] / timed[1] if all(timed) else report["estimated_seconds_before"] / report["estimated_seconds_after"]


def own_gain(report):
    return percent([report[key] for key in ("speedup_low", "speedup", "speedup_high")]) if "speedup" in report else "nothing found"


def ort_gain(comparison):
    if not comparison:
        return "the original is kept"
    times = comparison["time"]
    low, high = times["ratio_interval"]
    return percent([low, times["ratio"][1], high])


def times_and_errors(report):
    cells = []
    for which in ("before", "after"):
        if f"measured_seconds_{which}" in report:
            error = report[f"estimate_error_{which}"]
            cells += [f"{1e3 * report[f'measured_seconds_{which}']['median']:.2f}",
                      "-" if error is None else f"{100 * error:+.0f} %"]
        else:
            cells += ["-", "-"]
    return cells


def row_of(name, result):
    report = result["report"]
    gain = estimated_gain(report)
    published = PUBLISHED.get(ALIAS.get(name, name))
    return [name, report["nodes_before"], f"{result['warm']:.1f}", f"{result['cold']:.1f}",
            f"{result['memory'] / 2**20:.0f}", len(report["rewrites"]), f"{100 * (gain - 1):+.1f}", own_gain(report),
            ort_gain(result["ort"]), f"{published[0]}, {published[1]}" if published else "-", *times_and_errors(report)]


def rules_of(name, result):
    rules = sorted(result["report"]["rules_applied"].items(), key=lambda rule: -rule[1])
    return f"- {name}: " + (", ".join(f"{rule} {n}" for rule, n in rules) or "none")


def text_of(done):
    table = markdown_table(COLUMNS, [row_of(*label, result) for label, result in done])
    return "\n".join([table, "", "Rules used, and how often:", "", *(rules_of(*label, result) for label, result in done)])


def main(options):
    return make_table("results", options, by_name(options.names), measure, COLUMNS, row_of, "Benchmark models", text_of=text_of)
