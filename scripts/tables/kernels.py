"""Every distinct convolution and product of the benchmark models, generated against the library's best: the fastest of its ways
in any layout by the fastest of ours, as costs are measured, alone; and what maps and rows reach: the share of a copy's speed, or
of the functions' own, that they do. Each model is measured for at most --seconds; kernels are compiled before, by a run that is
not counted. Results are kept in FOLDER/kernels-THREADS.json, model by model."""

import statistics
import subprocess

from tables.common import ALL, ROOT, by_name, find_or_build, make_table, markdown_table, parser_of

LIBRARY = ("", "winograd", "chain")   # first words of choices that are not generated
ENOUGH = 0.85
LEAST_MICROSECONDS = 20   # what takes less is mostly the start of it
SHOWN = 12


def parse_arguments():
    parser = parser_of(__doc__, ALL)
    parser.set_defaults(threads=1)
    parser.add_argument("--seconds", type=int, default=60, help="of measuring a model at most (default: %(default)s)")
    parser.add_argument("--benchmark", metavar="FILE", default=ROOT / "build/tests/benchmarks/benchmark_choices", help="(default: %(default)s)")
    parser.add_argument("--compile", action="store_true", help="run everything once for the cache of kernels, keep nothing")
    return parser.parse_args()


# --- measuring ---------------------------------------------------------------------------------------------------------

def measure(name, options):
    command = [options.benchmark, f"threads={options.threads}", f"seconds={options.seconds}", find_or_build(name, options)]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr.strip()[-300:])
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {"is_whole": done.returncode == 0,
            "choices": [[kernel, layout, key, *map(float, (operations, size, by_bytes, by_functions)), choice, float(seconds), float(error)]
                        for kernel, layout, key, operations, size, by_bytes, by_functions, choice, seconds, error in lines]}


def best_of(rows):
    """By step: of its operations the library's best, ours, and ours among exact ones, in seconds; None where there is none."""
    steps = {}
    for _, _, key, operations, _, _, _, choice, seconds, error in rows:
        if key.split(" ")[0] not in ("conv", "matmul"):
            continue
        best = steps.setdefault(key, [operations, None, None, None])
        for at in [1] if choice.split(" ")[0] in LIBRARY else [2] if error else [2, 3]:
            best[at] = seconds if best[at] is None else min(best[at], seconds)
    return steps


def shares_of(rows):
    """Loops by step in a layout: seconds, and the share of the roofline that is reached, by bytes or by functions."""
    steps = {}
    for kernel, layout, key, _, size, by_bytes, by_functions, _, seconds, _ in rows:
        if kernel == "loops":
            known = steps.get((layout, key), (seconds,))
            steps[layout, key] = (min(seconds, known[0]), size, by_bytes, by_functions)
    return {key: (seconds, max(by_bytes, by_functions) / seconds, by_functions > by_bytes, size)
            for key, (seconds, size, by_bytes, by_functions) in steps.items() if 1e6 * seconds >= LEAST_MICROSECONDS}


# --- telling -----------------------------------------------------------------------------------------------------------

def distribution(label, values):
    if not values:
        return [label, 0, *["-"] * 7]
    cuts = statistics.quantiles(values, n=20, method="inclusive") if len(values) > 1 else values * 19
    return [label, len(values), *(f"{v:.2f}" for v in (min(values), cuts[0], cuts[4], cuts[9], cuts[14], cuts[18], max(values)))]


COLUMNS = ["", "steps", "least", "5 %", "25 %", "median", "75 %", "95 %", "largest"]


def kind_of(key):
    words = key.split(" ")
    if words[0] != "conv":
        return "products"
    window = words[3].split("x")[2:]
    groups = int(words[2].split("x")[1]) != int(words[3].split("x")[1])
    return "convolutions in groups" if groups else f"convolutions of {'x'.join(window)}" if window in (["1", "1"], ["3", "3"]) else "other convolutions"


def text_of(rows):
    steps, loops = {}, {}
    for _, told in rows:
        steps.update(best_of(told["choices"]))
        loops.update(shares_of(told["choices"]))
    both = {key: best for key, best in steps.items() if best[1] and best[2]}
    kinds = sorted({kind_of(key) for key in both})
    ratios = [distribution(kind, [best[1] / best[2] for key, best in both.items() if kind_of(key) == kind]) for kind in kinds]
    ratios += [distribution("all", [best[1] / best[2] for best in both.values()]),
               distribution("all, exact ones", [best[1] / best[3] for best in both.values() if best[3]])]
    worst = sorted(both.items(), key=lambda item: item[1][1] / item[1][2])[:SHOWN]
    bound = {True: "functions", False: "bytes"}
    shares = [distribution(f"bound by {bound[which]}", [share for _, share, is_by, _ in loops.values() if is_by == which])
              for which in (False, True)]
    low = sorted((item for item in loops.items() if item[1][1] < ENOUGH), key=lambda item: -item[1][0] * (1 - item[1][1]))
    lacking = sum(1 for best in steps.values() if best[1] and not best[2])
    return "\n".join([
        f"The library's time by ours of {len(both)} distinct convolutions and products ({lacking} more have none of ours).", "", markdown_table(COLUMNS, ratios), "",
        "Where ours is slowest beside the library's:", "",
        markdown_table(["step", "library us", "ours us", "ratio"],
                       [[key, f"{1e6 * b[1]:.0f}", f"{1e6 * b[2]:.0f}", f"{b[1] / b[2]:.2f}"] for key, b in worst]), "",
        f"Maps and rows of at least {LEAST_MICROSECONDS} us, share of the roofline (more than 1 where caches hold the bytes); "
        f"{sum(share >= ENOUGH for _, share, _, _ in loops.values())} of {len(loops)} reach {ENOUGH}:", "", markdown_table(COLUMNS, shares), "",
        "Those below with the most to gain:", "",
        markdown_table(["step", "us", "MB", "bound by", "share"],
                       [[key[1][:90].replace("|", "/"), f"{1e6 * s:.0f}", f"{1e-6 * size:.2f}", bound[is_by], f"{share:.2f}"]
                        for key, (s, share, is_by, size) in low[:SHOWN]])])


def row(name, told):
    ratios = [best[1] / best[2] for best in best_of(told["choices"]).values() if best[1] and best[2]]
    return [name, len(ratios), f"{statistics.median(ratios):.2f}" if ratios else "-", "yes" if told["is_whole"] else "no"]


def main(options):
    if options.compile:
        for name in options.names:
            measure(name, options)
        return 0
    return make_table(f"kernels-{options.threads}", options, by_name(options.names), measure,
                      ["model", "steps", "median ratio", "whole"], row, "Generated kernels beside the library's", text_of=text_of)
