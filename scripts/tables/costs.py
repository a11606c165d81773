"""How true costs are, of models searched once each with an empty cost database and taso-opt's own options, in our own
executor: the sum of step costs against the shortest run of the whole model, before and after; the layouts that costs
choose against the standard ones, timed whole; and what the search takes, from beginning to end, in seconds and memory.
Results are kept in FOLDER/true-costs.json, one by one: what is there is not measured again, so a run can be interrupted;
remove the file to begin anew. A model on which something fails is a line that says so, and the exit code is 1."""

import time

from tables.common import SHAPES, add_numbers_of_threads, by_threads, find_or_build, make_table, markdown_table, parser_of, run_for_json

STANDARD = ["squeezenet", "bert-taso-corrected", "mobilenetv2", "nasrnn", "bert", "resnet50", "vit", "gpt2", "efficientnet-b0",
            "resnext50-taso", "inception-v3"]
AGREEMENT = ["model", "threads", "sum before ms", "whole before ms", "off", "sum after ms", "whole after ms", "off"]
LAYOUTS = ["model", "threads", "original: standard ms", "chosen ms", "chosen / standard", "result: standard ms", "chosen ms",
           "chosen / standard"]
SEARCH = ["model", "threads", "seconds", "steps measured", "of that s", "searches", "file MiB", "written MiB", "peak MiB",
          "times the file"]
AGREES, NOT_SLOWER = 0.10, 1.02


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    add_numbers_of_threads(parser)
    return parser.parse_args()


def measure(name, threads, options):
    model = find_or_build(name, options)
    fast, costs = (options.folder / f"{model.stem}-{threads}{end}" for end in ("-fast.onnx", ".costs"))
    costs.unlink(missing_ok=True)
    started = time.monotonic()
    report = run_for_json([options.program, model, "-o", fast, "--threads", threads, "--costs", costs, "--runtime", "taso",
                           "--quiet", *SHAPES.get(name, []), *options.option], {0})
    told = {"seconds": time.monotonic() - started, "file": model.stat().st_size, "written": fast.stat().st_size, "report": report}
    fast.unlink()
    return told


# --- telling ----------------------------------------------------------------------------------------------------------

def agreement_of(report, which):
    """The sum of costs, the shortest run of the whole, both in ms, and by which share the sum is off; or nothing."""
    if f"measured_seconds_{which}" not in report:
        return None
    return (1e3 * report[f"timed_estimate_{which}"], 1e3 * report[f"measured_seconds_{which}"]["minimum"],
            report[f"estimate_error_{which}"])


def layouts_of(report, which):
    """Lower quartiles of the standard and of the chosen layouts, in ms, of the graph whose fastest way to run is timed
    (None: what is chosen is what is standard); or nothing."""
    of_graph = {}
    for contender in report.get("contenders", []):
        if contender["model"] == which:
            of_graph.setdefault(contender["slant"], {})[contender["layouts"]] = 1e3 * contender["seconds"]["quartile1"]
    graphs = [graph for graph in of_graph.values() if "standard" in graph]
    if not graphs:
        return None
    fastest = min(graphs, key=lambda graph: min(graph.values()))
    return fastest["standard"], fastest.get("best")


def agreement_row(name, threads, told):
    pairs = [agreement_of(told["report"], which) for which in ("before", "after")]
    return [name, threads, *(cell for pair in pairs for cell in
                      ((f"{pair[0]:.2f}", f"{pair[1]:.2f}", f"{100 * pair[2]:+.1f} %") if pair else ["-"] * 3))]


def layouts_row(name, threads, told):
    cells = []
    for which in ("original", "result"):
        pair = layouts_of(told["report"], which)
        cells += ["-"] * 3 if not pair else [f"{pair[0]:.2f}"] + (
            ["the same", "1"] if pair[1] is None else [f"{pair[1]:.2f}", f"{pair[1] / pair[0]:.3f}"])
    return [name, threads, *cells]


def search_row(name, threads, told):
    report = told["report"]
    return [name, threads, f"{told['seconds']:.1f}", report["steps_measured"], f"{report['seconds_measuring']:.1f}", report["searches"],
            *(f"{told[what] / 2**20:.0f}" for what in ("file", "written")), f"{report['peak_memory_bytes'] / 2**20:.0f}",
            f"{report['peak_memory_bytes'] / told['file']:.2f}"]


def count(good, values):
    return f"{sum(good(value) for value in values)} of {len(values)}"


def text_of(rows):
    errors = [pair[2] for _, told in rows for which in ("before", "after") if (pair := agreement_of(told["report"], which))]
    ratios = [pair[1] / pair[0] for _, told in rows for which in ("original", "result")
              if (pair := layouts_of(told["report"], which)) and pair[1]]
    return "\n".join([
        f"Sums are within {100 * AGREES:.0f} % of the shortest run {count(lambda e: abs(e) <= AGREES, errors)} times.", "",
        markdown_table(AGREEMENT, [agreement_row(*label, told) for label, told in rows]), "",
        f"Chosen layouts take at most {NOT_SLOWER} times what standard ones take {count(lambda r: r <= NOT_SLOWER, ratios)} times, "
        "by lower quartiles of one load.", "", markdown_table(LAYOUTS, [layouts_row(*label, told) for label, told in rows]), "",
        "The whole command, with an empty cost database:", "", markdown_table(SEARCH, [search_row(*label, told) for label, told in rows])])


def main(options):
    wanted = by_threads(options.names, options.threads or [1, 2])
    return make_table("true-costs", options, wanted, measure, SEARCH, search_row, "True costs", text_of=text_of)
