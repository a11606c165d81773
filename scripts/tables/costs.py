"""How true costs are, of models searched once each with an empty cost database and taso-opt's own options, in our own
executor: the sum of step costs against the shortest run of the whole model, before and after; the layouts that costs
choose against the standard ones, timed whole; and what the search takes, from beginning to end, in seconds and memory.
With --runtime onnxruntime models are written for ONNX Runtime, and sums are compared with what sessions of the original
and of a result that is written take afterwards, in processes of their own: the median of the loads' medians. Of a result
that is not written it is the median of the contest that it lost.
Results are kept in FOLDER/true-costs.json (true-costs-onnxruntime.json), one by one: what is there is not measured again, so
a run can be interrupted; remove the file to begin anew. A model on which something fails is a line that says so, and the
exit code is 1."""

import statistics
import time

from tables.common import SHAPES, add_numbers_of_threads, by_threads, find_or_build, make_table, markdown_table, parser_of, run_for_json
from tables.peers import python_of_peers, time_peer, times_by_turns
from tables.runtime import written

STANDARD = ["squeezenet", "bert-taso-corrected", "mobilenetv2", "nasrnn", "bert", "resnet50", "vit", "gpt2", "efficientnet-b0",
            "resnext50-taso", "inception-v3"]
AGREEMENT = ["model", "threads", "sum before ms", "whole before ms", "off", "sum after ms", "whole after ms", "off"]
LAYOUTS = ["model", "threads", "original: standard ms", "chosen ms", "chosen / standard", "result: standard ms", "chosen ms",
           "chosen / standard"]
SEARCH = ["model", "threads", "seconds", "steps measured", "of that s", "searches", "file MiB", "written MiB", "peak MiB",
          "times the file", "found, times as fast", "written"]
AGREES, NOT_SLOWER = 0.10, 1.02
ROUNDS, SECONDS = 3, 0.7   # loads in ONNX Runtime, and of timing for each


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    add_numbers_of_threads(parser)
    parser.add_argument("--runtime", choices=["taso", "onnxruntime"], default="taso",
                        help="where the models are to run (default: %(default)s)")
    return parser.parse_args()


def seconds_of_sessions(name, files, threads):
    """By "before" and "after": what a run takes."""
    failures = {}
    timers = {which: lambda file=file: time_peer("onnxruntime", file, threads, SHAPES.get(name, []), SECONDS)
              for which, file in files.items()}
    loads = times_by_turns(name, timers, ROUNDS, failures)
    if failures:
        raise RuntimeError("; ".join(failures.values()))
    return {which: statistics.median(load["median"] for load in of_file) for which, of_file in loads.items()}


def measure(name, threads, options):
    model = find_or_build(name, options)
    fast, costs = (options.folder / f"{model.stem}-{threads}{end}" for end in ("-fast.onnx", ".costs"))
    costs.unlink(missing_ok=True)
    started = time.monotonic()
    is_there = options.runtime == "onnxruntime"
    report = run_for_json([options.program, model, "-o", fast, "--threads", threads, "--costs", costs, "--runtime", options.runtime,
                           *(["--python", python_of_peers()] if is_there else []), "--quiet", *SHAPES.get(name, []),
                           *options.option], {0})
    told = {"seconds": time.monotonic() - started, "file": model.stat().st_size, "written": fast.stat().st_size, "report": report}
    if is_there:
        told["sessions"] = seconds_of_sessions(
            name, {"before": model, **({"after": fast} if report["optimized"] else {})}, threads)
    fast.unlink()
    return told


# --- telling ----------------------------------------------------------------------------------------------------------

def agreement_of(told, which):
    """The sum of costs, a run of the whole, both in ms, and by which share the sum is off; or nothing."""
    report, sessions = told["report"], told.get("sessions")
    measured = report.get(f"measured_seconds_{which}", {}).get("median" if sessions else "minimum")
    total = report.get(f"timed_estimate_{which}") or report[f"estimated_seconds_{which}"]
    whole = (sessions or {}).get(which, measured)
    return (1e3 * total, 1e3 * whole, total / whole - 1) if total and whole else None


def layouts_of(report, which):
    """Lower quartiles of the standard and of the chosen layouts, in ms, of the graph whose fastest way to run is timed
    (None: what is chosen is what is standard); or nothing."""
    of_graph = {}
    for contender in report.get("contenders", []):
        if contender["model"] == which:
            of_graph.setdefault(contender["preference"], {})[contender["layouts"]] = 1e3 * contender["seconds"]["quartile1"]
    graphs = [graph for graph in of_graph.values() if "standard" in graph]
    if not graphs:
        return None
    fastest = min(graphs, key=lambda graph: min(graph.values()))
    return fastest["standard"], fastest.get("best")


def agreement_row(name, threads, told):
    pairs = [agreement_of(told, which) for which in ("before", "after")]
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
            f"{report['peak_memory_bytes'] / told['file']:.2f}", f"{report['speedup']:.3f}" if "speedup" in report else "-", written(report)]


def count(good, values):
    return f"{sum(good(value) for value in values)} of {len(values)}"


def text_of(rows):
    errors = [pair[2] for _, told in rows for which in ("before", "after") if (pair := agreement_of(told, which))]
    ratios = [pair[1] / pair[0] for _, told in rows for which in ("original", "result")
              if (pair := layouts_of(told["report"], which)) and pair[1]]
    layouts = [f"Chosen layouts take at most {NOT_SLOWER} times what standard ones take {count(lambda r: r <= NOT_SLOWER, ratios)} "
               "times, by lower quartiles of one load.", "",
               markdown_table(LAYOUTS, [layouts_row(*label, told) for label, told in rows]), ""]
    return "\n".join([
        f"Sums are within {100 * AGREES:.0f} % of a run {count(lambda e: abs(e) <= AGREES, errors)} times.", "",
        markdown_table(AGREEMENT, [agreement_row(*label, told) for label, told in rows]), "", *(layouts if ratios else []),
        "The whole command, with an empty cost database:", "", markdown_table(SEARCH, [search_row(*label, told) for label, told in rows])])


def main(options):
    wanted = by_threads(options.names, options.threads or [1, 2])
    is_there = options.runtime == "onnxruntime"
    return make_table(f"true-costs{'-onnxruntime' if is_there else ''}", options, wanted, measure, SEARCH, search_row,
                      f"True costs{' in ONNX Runtime' if is_there else ''}", text_of=text_of)
