"""Runs two models in ONNX Runtime, all of its optimizations on, on the same seeded inputs, and reports for each output
the largest difference, max|a-b| / max|a|. An output that is constant, zero, not finite, or the same for every input
proves nothing and is called untrustworthy. With --time, both are timed in turns: the ratio of each pair of neighbours,
its median with a 95 % interval, and its quartiles. Where weights come to lie in memory makes a session faster or slower
by percents for as long as it lives, so both models are loaded anew again and again, first one and then the other first,
until the interval, which is that of the loads' medians, is narrow enough or the time is over.

Exit codes: 0 all outputs agree; 1 some output differs; 2 wrong usage; 3 a model that cannot be read or run; 5 no output
differs, but some are untrustworthy."""

import argparse
import itertools
import json
import os
import sys
import time

import numpy as np

from models.runtime import PROVIDERS, parse_shape, prepare, random_inputs, session_of

SEEDS = (1, 2)
WARM_UP, LEAST_PAIRS, SECONDS_OF_PAIRS = 2, 2, 0.4   # of each load
LEAST_LOADS = 12
AGREES, DIFFERS, UNTRUSTWORTHY = "agrees", "DIFFERS", "untrustworthy"
EXIT_DIFFERS, EXIT_UNREADABLE, EXIT_UNTRUSTWORTHY = 1, 3, 5


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="compare-ort", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="A.onnx", help="the model to trust")
    parser.add_argument("b", metavar="B.onnx", help="the model to judge")
    parser.add_argument("--shape", metavar="NAME=1,3,224,224", action="append", type=parse_shape, default=[],
                        help="the shape of an input with symbolic dimensions (default: batches 1, others 16)")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="largest difference (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="threads of ONNX Runtime (default: %(default)s)")
    parser.add_argument("--device", choices=PROVIDERS, default="cpu",
                        help="where ONNX Runtime runs them (default: %(default)s); cuda needs onnxruntime-gpu")
    parser.add_argument("--time", metavar="SECONDS", type=float,
                        help=f"time both in turns for so long at most, loading included, but {LEAST_LOADS} loads at least")
    parser.add_argument("--precision", metavar="X", type=float, default=0.005,
                        help="how far from the median the interval may reach (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the results to this file too")
    return parser.parse_args()


def arrays_of(output):
    """The arrays in an output, which may be a sequence, a map or a missing optional."""
    if output is None:
        return []
    if isinstance(output, dict):
        output = list(output.items())
    if isinstance(output, (list, tuple)):
        return [array for part in output for array in arrays_of(part)]
    return [np.asarray(output)]


def difference(a, b):
    """max|a-b| / max|a|; 0 or infinity where a difference has no size (text, infinities, shapes)."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if a.dtype.kind not in "fiub" or not a.size:
        return 0.0 if np.array_equal(a, b) else np.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(b[finite]).all():
        return np.inf
    error, size = np.abs(a - b)[finite].max(initial=0.0), np.abs(a[finite]).max(initial=0.0)
    return error / size if size else (np.inf if error else 0.0)


def proves_nothing(first, second):
    """Whether an output, given for two seeds, is constant over its elements or over the inputs, or not finite."""
    if first.dtype.kind != "f":
        return False
    constant = first.size > 1 and np.ptp(first) <= 1e-7 * np.abs(first).max()
    return bool(not np.isfinite(first).all() or not first.any() or constant or np.array_equal(first, second))


def judge(a, b, has_inputs, tolerance):
    """The verdict on one output, and its largest difference; a and b list its values for each seed."""
    pairs = [list(itertools.zip_longest(arrays_of(x), arrays_of(y), fillvalue=np.zeros(0))) for x, y in zip(a, b)]
    worst = max((difference(x, y) for pair in pairs for x, y in pair), default=0.0)
    if not worst <= tolerance:
        return DIFFERS, worst
    doubtful = has_inputs and any(proves_nothing(x, y) for (x, _), (y, _) in zip(*pairs) if x.shape == y.shape)
    return (UNTRUSTWORTHY if doubtful else AGREES), worst


def compare_outputs(a, b, shapes, tolerance):
    """For each output of a by name: its verdict and difference."""
    names = [o.name for o in a.get_outputs()]
    values = [[], []]
    for seed in SEEDS:
        inputs = random_inputs(a, seed, shapes)
        for session, results in zip((a, b), values):
            results.append(session.run(names, inputs))
    has_inputs = bool(a.get_inputs())
    return {
        name: judge(*([outputs[i] for outputs in results] for results in values), has_inputs, tolerance)
        for i, name in enumerate(names)
    }


def seconds_of(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def time_in_turns(a, b):
    """Two columns of seconds, one row per pair of neighbouring runs; which one is first alternates, each as often."""
    for run in (a, b) * WARM_UP:
        run()
    pairs, end = [], time.perf_counter() + SECONDS_OF_PAIRS
    while len(pairs) < LEAST_PAIRS or len(pairs) % 2 or time.perf_counter() < end:
        order = ((0, a), (1, b)) if len(pairs) % 2 else ((1, b), (0, a))
        taken = {which: seconds_of(run) for which, run in order}
        pairs.append((taken[0], taken[1]))
    return np.array(pairs)


def time_load(options, shapes, first):
    paths = options.a, options.b
    sessions = {which: session_of(paths[which], options.threads, by_turns=True, device=options.device)
                for which in (first, 1 - first)}
    inputs = random_inputs(sessions[0], SEEDS[0], shapes)
    return time_in_turns(*(prepare(sessions[which], inputs, options.device) for which in (0, 1)))


def medians_of(loads):
    """Of ratios, as geometric means where two lie in the middle: a ratio and its inverse have the median 1."""
    return np.array([np.exp(np.median(np.log(load[:, 0] / load[:, 1]))) for load in loads])


def is_known_well(loads, precision):
    medians = medians_of(loads)
    low, high = interval_of_median(medians)
    return len(loads) >= LEAST_LOADS and max(high / np.median(medians) - 1, 1 - low / np.median(medians)) <= precision


def time_loads(options, shapes):
    """The pairs of each load."""
    loads, end = [], time.perf_counter() + options.time
    while len(loads) < LEAST_LOADS or (time.perf_counter() < end and not is_known_well(loads, options.precision)):
        loads.append(time_load(options, shapes, len(loads) % 2))
    return loads


def stay_on_cores(n):
    """Not to be moved from core to core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])


def quartiles(values):
    return [float(q) for q in np.percentile(values, (25, 50, 75))]


def interval_of_median(values):
    """Between which of the sorted values the median of all lies with 95 % confidence, whatever their distribution."""
    values = np.sort(values)
    reach = 0.98 * np.sqrt(len(values))
    low, high = (len(values) - 1) / 2 - reach, (len(values) - 1) / 2 + reach
    return [float(values[max(int(low), 0)]), float(values[min(int(np.ceil(high)), len(values) - 1)])]


def report_times(loads, threads):
    pairs = np.concatenate(loads)
    medians = medians_of(loads)
    results = {
        "milliseconds_a": quartiles(pairs[:, 0] * 1e3),
        "milliseconds_b": quartiles(pairs[:, 1] * 1e3),
        "ratio": quartiles(medians),
        "ratio_interval": interval_of_median(medians),
        "loads": len(loads),
        "pairs": len(pairs),
        "threads": threads,
    }
    for which in "ab":
        low, median, high = results[f"milliseconds_{which}"]
        print(f"{which.upper()}: {median:.3f} ms (quartiles {low:.3f} to {high:.3f})")
    low, median, high = results["ratio"]
    least, most = results["ratio_interval"]
    print(f"A / B: {median:.3f} ({least:.3f} to {most:.3f} with 95 % confidence; quartiles {low:.3f} to {high:.3f}; "
          f"{len(pairs)} pairs in {len(loads)} loads, {threads} threads)")
    return results


def report_outputs(outputs):
    for name, (verdict, worst) in outputs.items():
        print(f"{name}: {verdict}, difference {worst:.2e}")
    return {name: {"verdict": verdict, "difference": float(worst)} for name, (verdict, worst) in outputs.items()}


def exit_code_of(outputs):
    verdicts = [verdict for verdict, _ in outputs.values()]
    if DIFFERS in verdicts:
        return EXIT_DIFFERS
    return EXIT_UNTRUSTWORTHY if UNTRUSTWORTHY in verdicts else 0


def compare(options):
    a, b = (session_of(path, options.threads, device=options.device) for path in (options.a, options.b))
    shapes = dict(options.shape)
    outputs = compare_outputs(a, b, shapes, options.tolerance)
    results = {"outputs": report_outputs(outputs)}
    if options.time is not None:
        del a, b
        stay_on_cores(options.threads)
        results["time"] = report_times(time_loads(options, shapes), options.threads)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)
    return exit_code_of(outputs)


def main():
    options = parse_arguments()
    try:
        return compare(options)
    except Exception as error:  # ONNX Runtime's exceptions have no common base but this one
        print(f"compare-ort: {' '.join(str(error).split())}", file=sys.stderr)
        return EXIT_UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
