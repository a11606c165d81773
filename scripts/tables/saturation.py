"""Searches the seven models of Tensat's Table 1 at its dimensions, and prints its Tables 1, 3, 4, 5 and Figure 6 anew.

`results saturation BUILD MODELS`: BUILD is a build folder (with tests/benchmarks/benchmark_saturation), MODELS the folder
that scripts/build-models has filled. Costs are made up (launch, arithmetic, traffic), so they compare searches and
extractions, not devices. Times are processor seconds of one thread.
"""
import json
import os
import pathlib
import subprocess

from tables.common import PUBLISHED, ROOT, bare_parser

# Of Tensat's Table 1: seconds of TASO and of Tensat.
MODELS = {
    "bert-taso": (13.6, 1.4),
    "resnext50-taso": (25.3, 0.7),
    "nasnet-a": (1226, 10.6),
    "nasrnn": (177.3, 0.5),
    "inception-v3-tensat": (68.6, 5.1),
    "squeezenet-tensat": (16.4, 0.3),
    "vgg19-tensat": (8.9, 0.4),
}
KEPT, VANILLA, EFFICIENT = 0, 1, 2   # enum cycle_filtering
UNORDERED, ORDERED = 0, 1   # enum ilp_form
# Of Tensat's Table 4: seconds of extraction with real and with integer orders, and without, by k_multi.
PROGRAMS = {
    "bert-taso": {1: (0.96, 0.98, 0.16), 2: (">3600", ">3600", 510.3)},
    "nasrnn": {1: (1116, 1137, 0.32), 2: (">3600", ">3600", 356.7)},
    "nasnet-a": {1: (424, 438, 1.81), 2: (">3600", ">3600", 75.1)},
}
# Large explorations: rounds that all rules take part in, and matches of one in a round before it is banned.
LIMITS = [
    ("squeezenet-tensat", "taso.rules", 50000, 100, 1000),
    ("nasnet-a", "taso.rules", 50000, 100, 1000),
    ("bert-taso", "taso.rules", 50000, 100, 1000),
    ("nasnet-a", "egraph.rules", 1000000, 40, 20000),
]


def run(arguments, rules, model, **options):
    """What the benchmark tells, and the MiB that it took."""
    command = [
        arguments.build / "tests/benchmarks/benchmark_saturation",
        ROOT / "substitutions" / rules,
        arguments.models / f"{model}{'-small' if arguments.small else ''}.onnx",
        *(f"{name}={value}" for name, value in options.items()),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return json.loads(told) | {"MiB": usage.ru_maxrss / 1024}


def explore(arguments, model, **options):
    return run(arguments, "egraph.rules", model, nodes=arguments.nodes, **options)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells):
    row(*cells)
    print("|---" * len(cells) + "|")


def percent(before, after):
    return f"{100 * (before / after - 1):.1f}"


def search(arguments, model, egraph_rules):
    return run(arguments, "taso.rules", model, nodes=arguments.nodes, searches=1, egraph_rules=egraph_rules)


def print_searches(arguments):
    kinds = ("backtracking", "saturation", "both")
    head("model", "original ms", *kinds, "saturation by Tensat's rules", *(f"faster by %: {kind}" for kind in kinds),
         "e-graphs", "seconds", "TASO %", "Tensat %", "seconds")
    for model, (taso_seconds, tensat_seconds) in MODELS.items():
        found = search(arguments, model, ROOT / "substitutions/egraph.rules")
        by_tensat = arguments.tensat_rules and search(arguments, model, arguments.tensat_rules)
        row(model, *(f"{1e3 * found[kind]:.3f}" for kind in ("before", *kinds)),
            f"{1e3 * by_tensat['saturation']:.3f}" if by_tensat else "-",
            *(percent(found["before"], found[kind]) for kind in kinds),
            ", ".join(str(found[f"{kind}_egraphs"]) for kind in kinds[1:]),
            ", ".join(f"{found[f'{kind}_cpu']:.1f}" for kind in kinds), *PUBLISHED[model],
            f"{taso_seconds}, {tensat_seconds}")


def print_explorations(arguments):
    head("model", "k_multi", "e-nodes", "classes", "rounds", "exploring s", "vanilla s", "filtered", "original", "tree",
         "DAG", "best", "bound", "extracting s")
    for model in MODELS:
        for k_multi in (0, 1, 2):
            found = explore(arguments, model, k_multi=k_multi, cycles=EFFICIENT, branches=1000)
            vanilla = explore(arguments, model, k_multi=k_multi, cycles=VANILLA)
            row(model, k_multi, found["nodes"], found["classes"], found["rounds"], f"{found['cpu']:.2f}",
                f"{vanilla['cpu']:.2f}", f"{found['prevented']} + {found['filtered']}", f"{1e3 * found['before']:.3f}",
                *(cost(found, kind) for kind in ("tree", "DAG", "cheapest", "bound")), f"{found['extracting_cpu']:.1f}")


def cost(found, extraction):
    return f"{1e3 * found[extraction]:.3f}" if extraction in found else "="


def solve(arguments, model, k_multi, form):
    """Order constraints are for e-graphs whose cycles are kept, the others for those where they are filtered."""
    found = explore(arguments, model, k_multi=k_multi, cycles=EFFICIENT if form == UNORDERED else KEPT, form=form,
                    program_seconds=arguments.program_seconds)
    seconds = f"{'' if found['optimal'] else '>'}{found['cpu']:.1f}"
    return found, f"{seconds} ({cost(found, 'cost') if 'cost' in found else 'none'})"


def print_programs(arguments):
    head("model", "k_multi", "e-nodes, in the largest cycle", "ordered", "without", "Tensat: real order", "integer",
         "without")
    for model, published in PROGRAMS.items():
        for k_multi, seconds in published.items():
            solved = [solve(arguments, model, k_multi, form) for form in (ORDERED, UNORDERED)]
            row(model, k_multi, f"{solved[0][0]['nodes']}, {solved[0][0]['component']}", *(cell for _, cell in solved),
                *seconds)


def print_limits(arguments):
    head("model", "rules", "most e-nodes", "e-nodes", "classes", "rounds", "seconds", "MiB of the program")
    for model, rules, nodes, rounds, matches in LIMITS:
        found = run(arguments, rules, model, nodes=nodes, k_multi=rounds, rounds=rounds, matches=matches)
        row(model, rules, nodes, found["nodes"], found["classes"], found["rounds"], f"{found['cpu']:.1f}",
            f"{found['MiB']:.0f}")


TABLES = {"searches": print_searches, "explorations": print_explorations, "programs": print_programs,
          "limits": print_limits}


def parse_arguments():
    parser = bare_parser(__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="the small variants")
    parser.add_argument("--nodes", type=int, default=20000, help="e-nodes to make")
    parser.add_argument("--tensat-rules", type=pathlib.Path, metavar="FILE",
                        help="those of Tensat's rules that are proved (docs/results/judged-rules.md)")
    parser.add_argument("--program-seconds", type=int, default=60, help="for one integer program")
    parser.add_argument("--table", choices=TABLES, action="append", help="only these")
    return parser.parse_args()


def main(arguments):
    for name in arguments.table or TABLES:
        TABLES[name](arguments)
        print(flush=True)
