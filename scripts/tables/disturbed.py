"""What other programs do to costs, and what repairing mends. Of each model four cost databases are filled: two quiet ones,
one beside programs that spin, and a copy of that one after `taso-run --measure-costs --repair` without them. The cost of the
model by each is compared with the first's, and what a search by the disturbed one comes to with what the quiet one's does,
both at quiet costs. "Quiet" is as quiet as the machine is: the second quiet database tells how much that is. Medians of all
rounds; exit code 1 where a repaired sum is off by more than 5 %, or a result by more than 2 %, beyond what the two quiet
ones differ."""

import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from tables.common import SEARCH, SHAPES, add_numbers_of_threads, find_or_build, markdown_table, parser_of, run_for_json, tell

STANDARD = ["squeezenet", "nasrnn", "mobilenetv2"]
COLUMNS = ["model", "threads", "quiet ms", "quiet again", "disturbed", "doubtful", "repaired", "steps apart", "repaired apart", "result"]
LARGEST_DIFFERENCE, LARGEST_LOSS = 0.05, 0.02
SPINNING = "while True: pass"


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    add_numbers_of_threads(parser)
    parser.add_argument("--spinning", type=int, default=2, help="programs that spin (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=1, help="databases of each kind (default: %(default)s)")
    return parser.parse_args()


def cost_of(model, costs, shapes, options, *more):
    """Seconds, the sum of the costs of the model's steps; what the database lacks is measured."""
    command = [options.runner, model, "--threads", options.threads, "--costs", costs, "--measure-costs", *shapes, *more]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    return next(float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("  estimate")) / 1e3


def disturbed(n, work):
    """What `work` gives beside n programs that spin."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPINNING]) for _ in range(n)]
    try:
        return work()
    finally:
        for program in spinning:
            program.kill()
            program.wait()


ENTRY = re.compile(r'\("((?:[^"\\]|\\.)*)" (\S+) .*\)')


def entries_of(costs):
    """Seconds by the step's text, and how many are doubtful."""
    lines = [line for line in costs.read_text(encoding="utf-8").splitlines() if ENTRY.fullmatch(line)]
    return {found[1]: float(found[2]) for found in map(ENTRY.fullmatch, lines)}, sum(line.endswith(" doubtful)") for line in lines)


def apart(costs, quiet):
    """The median over the steps of how far a cost is from the quiet one, as a share of that."""
    ours, theirs = entries_of(costs)[0], entries_of(quiet)[0]
    return statistics.median(abs(ours[step] / theirs[step] - 1) for step in ours.keys() & theirs.keys())


def result_by(model, costs, quiet, folder, shapes, options):
    """Seconds at quiet costs of what a search by these costs comes to."""
    own, fast = folder / "own.costs", folder / "fast.onnx"
    shutil.copy(costs, own)
    run_for_json([options.program, model, "-o", fast, "--costs", own, "--runtime", "taso", "--threads", options.threads, "--quiet",
                  *SEARCH, *shapes, *options.option], {0})
    return cost_of(fast, quiet, shapes, options, "--layout", "best")


def measure(name, folder, options):
    """By column, numbers of one round."""
    model, shapes = find_or_build(name, options), SHAPES.get(name, [])
    quiet, again, noisy, repaired = (folder / f"{kind}.costs" for kind in ("quiet", "again", "noisy", "repaired"))
    seconds = cost_of(model, quiet, shapes, options)
    told = {"quiet ms": 1e3 * seconds, "quiet again": cost_of(model, again, shapes, options) / seconds - 1,
            "disturbed": disturbed(options.spinning, lambda: cost_of(model, noisy, shapes, options)) / seconds - 1}
    told["doubtful"], told["steps apart"] = entries_of(noisy)[1], apart(noisy, quiet)
    shutil.copy(noisy, repaired)
    told["repaired"] = cost_of(model, repaired, shapes, options, "--repair") / seconds - 1
    told["repaired apart"] = apart(repaired, quiet)
    by_quiet = result_by(model, quiet, quiet, folder, shapes, options)
    by_noisy = disturbed(options.spinning, lambda: result_by(model, noisy, quiet, folder, shapes, options))
    return {**told, "result": by_noisy / by_quiet - 1}


def median_of(rounds):
    return {column: statistics.median(told[column] for told in rounds) for column in rounds[0]}


def cell(column, told):
    return f"{told[column]:.2f}" if column == "quiet ms" else str(round(told[column])) if column == "doubtful" else f"{100 * told[column]:+.1f} %"


def is_good(told):
    unquiet = abs(told["quiet again"])
    return abs(told["repaired"]) <= LARGEST_DIFFERENCE + unquiet and told["result"] <= LARGEST_LOSS + unquiet


def row_of(name, threads, options):
    """Of the table, and whether it is as it should be."""
    rounds, one = [], argparse.Namespace(**{**vars(options), "threads": threads})
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rounds.append(measure(name, pathlib.Path(folder), one))
    told = median_of(rounds)
    return [name, threads, *(cell(column, told) for column in COLUMNS[2:])], is_good(told)


def main(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    rows, bad = [], []
    for name in options.names:
        for threads in options.threads or [1, 2]:
            row, good = row_of(name, threads, options)
            bad += [] if good else [f"{name} with {threads}"]
            rows.append(row)
            print(markdown_table(COLUMNS, rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    tell(options, markdown_table(COLUMNS, rows))
    if bad:
        print(f"{sys.argv[0]}: not mended: {', '.join(bad)}", file=sys.stderr)
    return 1 if bad else 0
