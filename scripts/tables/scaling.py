"""How the time of a search grows with the graph: searches synthetic graphs of repeated blocks with a made-up cost.

    results scaling [--program BENCHMARK] [--out PLOT.svg] [--data ROWS.csv] [--limit NODES]

Prints a row for each graph as Markdown, then for each family the exponent e of seconds = c * nodes^e, fitted to all
graphs that take longer than 50 ms. The plot has both axes logarithmic."""
import csv
import math
import pathlib
import re
import subprocess
import sys

from tables.common import bare_parser, markdown_table
from tables.plots import logarithmic_lines

# Blocks of each family, and about how many nodes one has.
FAMILIES = {"inception": (19, [50, 100, 200, 400, 800, 1100]), "attention": (34, [12, 50, 100, 200, 400, 600]),
            "rnn": (45, [5, 20, 50, 100, 200, 400])}
ROW = re.compile(r"(\w+):(\d+)\s+(\d+) ->\s+(\d+) nodes,.*\(\s*([-\d.]+) %\),\s+([\d.]+) s,.* (\d+) matches.* (\d+) MiB")


def measure(program, limit):
    names = [f"{family}:{n}" for family, (size, counts) in FAMILIES.items() for n in counts if n * size <= limit]
    done = subprocess.run([program, *names], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program}: exit code {done.returncode}: {done.stderr.strip()}")
    rows = []
    for line in done.stdout.splitlines():
        family, blocks, nodes, after, gain, seconds, matches, memory = ROW.match(line).groups()
        rows.append((family, int(blocks), int(nodes), int(after), float(gain), float(seconds), int(matches), int(memory)))
    return rows


def exponent(points):
    """The slope of the line through the logarithms by least squares; None when there are not two points."""
    points = [(math.log(nodes), math.log(seconds)) for nodes, seconds in points if seconds > 0.05]
    if len(points) < 2:
        return None
    x, y = (sum(values) / len(points) for values in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, b in points)


def points_of(rows, family):
    return [(row[2], row[5]) for row in rows if row[0] == family]


def print_table(rows):
    print(markdown_table(["graph", "nodes", "after", "estimated gain", "matches priced", "seconds", "MiB"],
                         [[f"{family}, {blocks}", f"{nodes:,}", f"{after:,}", f"{gain:.1f} %", f"{matches:,}", f"{seconds:.2f}", memory]
                          for family, blocks, nodes, after, gain, seconds, matches, memory in rows]))
    for family in FAMILIES:
        e = exponent(points_of(rows, family))
        print(f"\n{family}: seconds grow as nodes^{e:.2f}" if e is not None else f"\n{family}: too few graphs to tell")


def write_data(rows, path):
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["family", "blocks", "nodes", "after", "gain_percent", "seconds", "matches", "peak_mib"])
        out.writerows(rows)


def parse_arguments():
    parser = bare_parser(__doc__)
    parser.add_argument("--program", default="build/tests/benchmarks/benchmark_search", help="(default: %(default)s)")
    parser.add_argument("--out", metavar="PLOT.svg", type=pathlib.Path)
    parser.add_argument("--data", metavar="ROWS.csv", type=pathlib.Path)
    parser.add_argument("--limit", metavar="NODES", type=int, default=30000, help="no larger graphs (default: %(default)s)")
    options = parser.parse_args()
    if all(size * min(counts) > options.limit for size, counts in FAMILIES.values()):
        parser.error("no graph is that small")
    return options


def main(options):
    rows = measure(options.program, options.limit)
    print_table(rows)
    if options.data:
        write_data(rows, options.data)
    if options.out:
        picture = logarithmic_lines({family: points_of(rows, family) for family in FAMILIES}, "nodes", "s")
        options.out.write_text(picture, encoding="utf-8")
