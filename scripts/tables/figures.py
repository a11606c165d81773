"""Figures of the TASO and Tensat papers, measured here: `results figures [FIGURE...]`, all when none is named.

    8          the two rewrites of NasNet-A: poolings that are added, and separable convolutions that are added
    9d         32 convolutions of ResNeXt-50 in groups of several sizes, by batch
    10         how often each rule is used for the five networks of TASO's paper
    11         speed-up by how many operators a side of a rule may have
    tensat-4   speed-up by backtracking and by saturation
    tensat-6   saturation by the rounds k_multi that rules of several outputs take part in

Each is a table on standard output and, but for 8, a picture FOLDER/figure-NAME.svg. Speed-ups are what taso-opt measures
of original and result by turns, with intervals of 95 %, in our own executor or (--option --runtime --option onnxruntime)
another; of a result that is not faster the original is kept, which is told as 0 %. What is measured is kept in
FOLDER/paper.json, one by one, so a run may be cut; remove the file to begin anew. With --estimate nothing is timed: the
costs of the search tell."""

import onnx

from models.builder import GraphBuilder
from models.layers import average_pool, conv_alone
from tables.common import PUBLISHED, SEARCH, SHAPES, Kept, find_or_build, markdown_table, parser_of, run_for_json, tell
from tables.plots import bars, heat_map, lines

NETWORKS = ["resnet50-taso", "nasnet-a", "resnext50-taso", "nasrnn", "bert-taso"]
TENSAT = ["bert-taso", "resnext50-taso", "nasnet-a", "nasrnn", "inception-v3-tensat", "squeezenet-tensat", "vgg19-tensat"]
GROUPS, BATCHES = [1, 2, 4, 8, 16, 32], [1, 4, 16]
RULE_SIZES = [1, 2, 3, 4, 0]   # 0: any
K_MULTI = [0, 1, 2, 3]
WIDTH, IMAGE, CHANNELS = 4, 56, 128   # of one convolution of ResNeXt-50's first stage; of the cell of NasNet-A


def added_poolings(g):
    x, y = (g.input(name, (1, CHANNELS, IMAGE, IMAGE)) for name in "xy")
    g.output(g.node("Add", average_pool(g, x, 3, 1, 1), average_pool(g, y, 3, 1, 1)))


def added_separables(g):
    x, y = (g.input(name, (1, CHANNELS, IMAGE, IMAGE)) for name in "xy")

    def separable(of, kernel, name):
        with g.scope(name):
            depthwise = conv_alone(g, of, CHANNELS, kernel, group=CHANNELS, name="depthwise")
            return conv_alone(g, depthwise, CHANNELS, 1, name="pointwise")

    g.output(g.node("Add", separable(x, 5, "a"), separable(y, 3, "b")))


def convolutions(g, group, batch):
    """The 32 convolutions in groups: what is read and written is the same for all sizes."""
    for i in range(32 // group):
        x = g.input(f"x{i}", (batch, WIDTH * group, IMAGE, IMAGE))
        g.output(conv_alone(g, x, WIDTH * group, 3, group=group, name=f"conv{i}"), f"y{i}")


def built(name, options, builder, *arguments):
    path = options.folder / f"{name}.onnx"
    if not path.exists():
        graph = GraphBuilder(name, 11)
        builder(graph, *arguments)
        onnx.save(graph.model(), str(path))
    return path


def optimize(model, options, *how):
    """What is told of it: nodes, rules, the search's seconds, and percent faster with its interval."""
    fast = options.folder / "paper-fast.onnx"
    timing = SEARCH if options.estimate else ["-o", fast, "--measure-seconds", options.seconds]
    report = run_for_json([options.program, model, "--threads", options.threads, "--runtime", "taso", "--quiet", "--costs",
                           options.folder / f"{model.stem}.costs", *SHAPES.get(model.stem, []), *timing, *how,
                           *options.option], {0})
    gain = report["estimated_seconds_before"] / report["estimated_seconds_after"]
    ratios = [gain] * 3 if options.estimate else [report.get(f"speedup{end}", 1) for end in ("", "_low", "_high")]
    is_kept = options.estimate or report["optimized"]
    return {"percent": [100 * (ratio - 1) for ratio in ratios] if is_kept else [0, 0, 0], "rules": report["rules_applied"],
            "nodes": [report["nodes_before"], report.get("nodes_after", report["nodes_before"])],
            "seconds": report["search"]["seconds"], "e-nodes": report["search"].get("saturation", {}).get("nodes", "-"),
            "estimated": [report["estimated_seconds_before"], report["estimated_seconds_after"]]}


def time_of(model, options):
    """Median seconds of one run."""
    told = run_for_json([options.runner, model, "--threads", options.threads, "--repeats", options.repeats], {0})
    return told["models"][0]["median"]


def percent_text(percent):
    if not percent:
        return "-"
    value, low, high = percent
    return f"{value:.1f} ({low:.1f} to {high:.1f})" if high > low else f"{value:.1f}"


def measure_all(kept, figure, keys, work):
    """By key; what failed is missing."""
    names = {f"{figure} {' '.join(map(str, key))}": key for key in keys}
    kept.measure(names, lambda name: work(*names[name]))
    return {key: kept.results[name] for name, key in names.items() if name in kept.results}


def percents_of(found, names, variants):
    """By name, of each variant; None where it failed."""
    return {name: [found[name, variant]["percent"] if (name, variant) in found else None for variant in variants]
            for name in names}


# --- figures: each gives a table, and a picture or None ----------------------------------------------------------------

def figure_8(kept, options):
    cells = {"8b": added_poolings, "8c": added_separables}
    found = measure_all(kept, "8", [(name,) for name in cells],
                        lambda name: optimize(built(f"figure-{name}", options, cells[name]), options))
    rules = {name: ", ".join(f"{rule} {n}" for rule, n in of["rules"].items()) or "none" for (name,), of in found.items()}
    rows = [[name, *of["nodes"], percent_text(of["percent"]), rules[name]] for (name,), of in found.items()]
    return markdown_table(["case", "nodes", "after", "faster by %", "rules"], rows), None


def figure_9d(kept, options):
    def measure(group, batch):
        return time_of(built(f"figure-9d-{group}-{batch}", options, convolutions, group, batch), options)

    found = measure_all(kept, "9d", [(group, batch) for batch in BATCHES for group in GROUPS], measure)
    times = {f"batch {batch}": [found.get((group, batch)) for group in GROUPS] for batch in BATCHES}
    rows = [[name, *("-" if t is None else f"{1e3 * t:.3f}" for t in line)] for name, line in times.items()]
    relative = {name: [t and t / min(t for t in line if t) for t in line] for name, line in times.items()}
    return (markdown_table(["convolutions in a group", *GROUPS], rows),
            lines(GROUPS, relative, "convolutions in a group", "time of all 32, as a multiple of the shortest"))


def figure_10(kept, options):
    found = measure_all(kept, "10", [(name,) for name in options.models_of(NETWORKS)],
                        lambda name: optimize(find_or_build(name, options), options))
    counts = {(name, rule): n for (name,), of in found.items() for rule, n in of["rules"].items()}
    networks = {rule: sum((name, rule) in counts for (name,) in found) for _, rule in counts}
    rules = sorted(networks, key=lambda rule: (-networks[rule], rule))
    rows = [[rule, *(counts.get((name, rule), "") for (name,) in found)] for rule in rules]
    return markdown_table(["rule", *(name for name, in found)], rows), heat_map([name for name, in found], rules, counts)


def figure_11(kept, options):
    names = options.models_of(NETWORKS)
    found = measure_all(kept, "11", [(name, size) for name in names for size in RULE_SIZES],
                        lambda name, size: optimize(find_or_build(name, options), options, "--max-rule-ops", size))
    sizes = [size or "any" for size in RULE_SIZES]
    percents = percents_of(found, names, RULE_SIZES)
    rows = [[size, *(percent_text(percents[name][i]) for name in names)] for i, size in enumerate(sizes)]
    return markdown_table(["rules of up to", *names], rows), bars(sizes, percents, "faster by %")


def figure_tensat_4(kept, options):
    names, methods = options.models_of(TENSAT), ["backtracking", "saturation", "both"]
    found = measure_all(kept, "tensat-4", [(name, method) for name in names for method in methods],
                        lambda name, method: optimize(find_or_build(name, options), options, "--search", method))
    by_name = percents_of(found, names, methods)
    rows = [[name, *map(percent_text, by_name[name]), *PUBLISHED.get(name, ("-", "-"))] for name in names]
    by_method = {method: [by_name[name][i] for name in names] for i, method in enumerate(methods)}
    return (markdown_table(["model", *(f"{method} %" for method in methods), "TASO %", "Tensat %"], rows),
            bars(names, by_method, "faster by %"))


def figure_tensat_6(kept, options):
    names = options.models_of(TENSAT)
    found = measure_all(kept, "tensat-6", [(name, k) for name in names for k in K_MULTI],
                        lambda name, k: optimize(find_or_build(name, options), options, "--search", "saturation", "--k-multi", k))
    percents = percents_of(found, names, K_MULTI)
    rows = [[name, k, percent_text(of["percent"]), *(f"{1e3 * t:.3f}" for t in of["estimated"]), of["e-nodes"],
             f"{of['seconds']:.2f}"] for (name, k), of in found.items()]
    return (markdown_table(["model", "k_multi", "faster by %", "estimated ms", "after", "e-nodes", "search s"], rows),
            bars(K_MULTI, percents, "faster by %"))


FIGURES = {"8": figure_8, "9d": figure_9d, "10": figure_10, "11": figure_11, "tensat-4": figure_tensat_4,
           "tensat-6": figure_tensat_6}


def parse_arguments():
    parser = parser_of(__doc__, list(FIGURES))
    parser.add_argument("--seconds", type=float, default=3, help="of timing for each (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=100, help="runs of each model of Figure 9d (default: %(default)s)")
    parser.add_argument("--estimate", action="store_true", help="time nothing")
    parser.add_argument("--only", metavar="MODEL", action="append", help="of the models only these; may be repeated")
    options = parser.parse_args()
    if unknown := set(options.names) - FIGURES.keys():
        parser.error(f"no such figure: {', '.join(unknown)}")
    options.models_of = lambda names: options.only or names
    return options


def main(options):
    kept = Kept("paper-estimates" if options.estimate else "paper", options)
    texts = []
    for name in options.names:
        table, picture = FIGURES[name](kept, options)
        texts.append(f"Figure {name}\n\n{table}")
        print(texts[-1] + "\n", flush=True)
        if picture:
            (options.folder / f"figure-{name}.svg").write_text(picture, encoding="utf-8")
    tell(options, "".join(kept.told_failures()), "\n\n".join(texts))
    return 1 if kept.failures else 0
