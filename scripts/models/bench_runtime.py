"""What a user of ONNX Runtime gets: each model is optimized by taso-opt for that runtime, and the original and what was
written are timed there by turns, with all of its own optimizations on both (compare-ort), for each number of threads. A
model is one of build-models, a file, or one in --models, as those of export-models, which are not built; of one with
symbolic dimensions the sizes are those of taso-opt's profile.
Results are kept in FOLDER/runtime.json, one by one, and so is the table of --markdown: what is there is not measured
again, so that a run can be cut at any time and goes on when it is called again. A model on which something fails is a line that says so, and the exit code is
1; so it is where a result is slower than 0.99 of the original with its whole interval."""

import datetime
import sys

from lib.command import run_script
from models.exports import EXPORTS
from models.optimizing import (BENCHMARKS, ROOT, SHAPES, Kept, by_threads, machine, markdown_table, model_of,
                               parser_of, run_for_json, shapes_of, tell, write_markdown)

COLUMNS = ["model", "sizes", "threads", "nodes", "written", "taso-opt says", "before ms", "after ms", "speed-up", "95 %", ""]
SLOWER = 0.99


def parse_arguments():
    parser = parser_of("bench-runtime", __doc__, BENCHMARKS + [f"exports/{name}" for name in EXPORTS])
    parser.set_defaults(threads=None)
    parser.add_argument("--counts", metavar="N", type=int, nargs="+", default=[1, 2],
                        help="numbers of threads, each a line of the table (default: 1 2); --threads N is one alone")
    parser.add_argument("--seconds", type=float, default=20, help="of comparing for each (default: %(default)s)")
    parser.add_argument("--only-tell", action="store_true", help="measure nothing, print what was measured")
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


def text_of(kept, wanted):
    rows = [row_of(*wanted[key], kept.results[key]) for key in wanted if key in kept.results]
    return markdown_table(COLUMNS, rows) + kept.told_failures()


def heading(options):
    return (f"# Original against result, in ONNX Runtime\n\nMade by `scripts/bench-runtime`, {datetime.date.today()}, on "
            f"{machine()}.\n*taso-opt says* is the speed-up that it measured when it decided, the rest is measured "
            f"afterwards, in processes of its own:\nmedians, and the median ratio of loads with its interval. Where the "
            f"original is written nothing is timed.\n\n")


def main():
    options = parse_arguments()
    counts = [options.threads] if options.threads else options.counts
    wanted = by_threads(options.names, counts)
    kept = Kept("runtime", options)

    def tell_row(key):
        write_markdown(options, heading(options) + text_of(kept, wanted) + "\n")
        print(*row_of(*wanted[key], kept.results[key]), flush=True)

    if not options.only_tell:
        kept.measure(wanted, lambda key: measure(*wanted[key], options), tell_row)
    tell(options, text_of(kept, wanted), heading(options))
    return 1 if kept.failures or any(is_slower(kept.results[key]) for key in wanted if key in kept.results) else 0


run_script(main)
