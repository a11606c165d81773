"""What a user of ONNX Runtime gets: each model is optimized by taso-opt for that runtime, and the original and what was
written are timed there by turns, with all of its own optimizations on both (compare-ort), for each number of threads. A
model is one of build-models, a file, or one in --models, as those of export-models, which are not built; of one with
symbolic dimensions the sizes are those of taso-opt's profile.
Results are kept in FOLDER/runtime.json, one by one, and so is the table of --markdown: what is there is not measured
again, so that a run can be cut at any time and goes on when it is called again. A model on which something fails is a line that says so, and the exit code is
1; so it is where a result is slower than 0.99 of the original with its whole interval."""

import sys

from models.exports import EXPORTS
from tables.common import BENCHMARKS, ROOT, SHAPES, by_threads, make_table, model_of, parser_of, run_for_json, shapes_of

COLUMNS = ["model", "sizes", "threads", "nodes", "written", "taso-opt says", "before ms", "after ms", "speed-up", "95 %", ""]
SLOWER = 0.99


def parse_arguments():
    parser = parser_of(__doc__, BENCHMARKS + [f"exports/{name}" for name in EXPORTS])
    parser.set_defaults(threads=None)
    parser.add_argument("--counts", metavar="N", type=int, nargs="+", default=[1, 2],
                        help="numbers of threads, each a line of the table (default: 1 2); --threads N is one alone")
    parser.add_argument("--seconds", type=float, default=20, help="of comparing for each (default: %(default)s)")
    return parser.parse_args()


def compare(model, fast, shapes, threads, options):
    """In processes of its own, so that what one leaves behind is not there for the next."""
    if fast.read_bytes() == model.read_bytes():
        return None
    return run_for_json([ROOT / "scripts/compare-ort", model, fast, *shapes, "--threads", threads, "--tolerance", 1e-4,
                         "--time", options.seconds], {0, 5})


def measure(name, threads, options):
    model, bound = model_of(name, options), SHAPES.get(name, [])
    fast = options.folder / f"{model.stem}-fast.onnx"
    try:
        report = run_for_json([options.program, model, "-o", fast, "--threads", threads, "--runtime", "onnxruntime", "--python",
                               sys.executable, "--costs", options.folder / "runtime.costs", "--quiet", *bound, *options.option], {0})
        sizes = (report.get("symbols") or {}).get("profiles", [{}])[0]
        compared = compare(model, fast, bound or shapes_of(model, sizes), threads, options)
    finally:
        fast.unlink(missing_ok=True)
    kept = ["optimized", "simplified", "speedup", "simplified_speedup", "nodes_before", "nodes_after", "rewrites"]
    return {"sizes": sizes, "report": {key: report.get(key) for key in kept}, "time": compared and compared["time"]}


# --- telling ----------------------------------------------------------------------------------------------------------

def is_slower(result):
    return bool(result["time"]) and result["time"]["ratio_interval"][1] < SLOWER


def written(report):
    return "rewritten" if report["optimized"] else "simplified" if report["simplified"] else "the original"


def row_of(name, threads, result):
    report, times = result["report"], result["time"]
    said = report["speedup"] if report["optimized"] else report["simplified_speedup"] if report["simplified"] else None
    measured = ["-"] * 4 + [""]
    if times:
        low, high = times["ratio_interval"]
        measured = [f"{times['milliseconds_a'][1]:.2f}", f"{times['milliseconds_b'][1]:.2f}", f"{times['ratio'][1]:.3f}",
                    f"{low:.3f} to {high:.3f}", "slower" if is_slower(result) else "faster" if low > 1 else ""]
    return [name, " ".join(f"{k}={v}" for k, v in result["sizes"].items()) or "fixed", threads,
            f"{report['nodes_before']} to {report['nodes_after']}", written(report), f"{said:.3f}" if said else "-", *measured]


def main(options):
    wanted = by_threads(options.names, [options.threads] if options.threads else options.counts)
    return make_table("runtime", options, wanted, measure, COLUMNS, row_of, "Original against result, in ONNX Runtime",
                      "*taso-opt says* is the speed-up that it measured when it decided, the rest is measured afterwards, in processes "
                      "of its own:\nmedians, and the median ratio of loads with its interval. Where the original is written nothing is "
                      "timed.", is_bad=is_slower)
