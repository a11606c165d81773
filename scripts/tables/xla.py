"""The table of docs/results/xla.md: `results xla TASO-VERIFY [tests/verifier/xla.rules]`.

Judges the rules of XLA's algebraic simplifier and prints a row for each, also for those that cannot be stated.
"""
import collections
import pathlib
import re
import subprocess
import sys

from tables.common import ROOT, bare_parser

RULES = ROOT / "tests/verifier/xla.rules"
OTHERS = "; === "   # in the file, before what TensorRight does not state
SECTION, MISSING = re.compile(r"^; --- (.*?) -+$"), re.compile(r"^; not stated: (\S+): (.*)$")
VERDICT = re.compile(r"^(\S+): (proved|checked|refuted|not proved)\b(.*)$", re.MULTILINE)


def rows_of(text):
    """Of each rule its name, family, whether TensorRight states it, and what it cannot be stated for want of."""
    family, is_of_tensorright = "", True
    for line in text.splitlines():
        found, rule = MISSING.match(line), re.match(r"\(rule (\S+)", line)
        if SECTION.match(line):
            family = SECTION.match(line)[1]
        is_of_tensorright = is_of_tensorright and not line.startswith(OTHERS)
        if found or rule:
            yield (found or rule)[1], family, is_of_tensorright, found and found[2]


def judge(program, path):
    ran = subprocess.run([program, "rules", "--no-conditions", str(path)], capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):   # 1: some are not proved
        sys.exit(ran.stderr.strip())
    return {name: (verdict, rest.strip()) for name, verdict, rest in VERDICT.findall(ran.stdout)}


def verdict_of(row, verdicts):
    name, _, _, missing = row
    return ("not stated", missing) if missing else verdicts[name]


def count(rows, verdicts):
    """How many there are of each verdict."""
    return collections.Counter(verdict_of(row, verdicts)[0] for row in rows)


def summary(rows, verdicts):
    kinds = ["proved", "checked", "refuted", "not proved", "not stated"]
    yield "| rules | all | " + " | ".join(kinds) + " |\n|---|--:|" + "--:|" * len(kinds)
    for label, part in (("that TensorRight states", [row for row in rows if row[2]]),
                        ("that it does not state", [row for row in rows if not row[2]]), ("all", rows)):
        counts = count(part, verdicts)
        yield f"| {label} | {len(part)} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |"


def parse_arguments():
    parser = bare_parser(__doc__)
    parser.add_argument("program", metavar="TASO-VERIFY")
    parser.add_argument("rules", type=pathlib.Path, nargs="?", default=RULES)
    return parser.parse_args()


def main(options):
    rows, verdicts = list(rows_of(options.rules.read_text(encoding="utf-8"))), judge(options.program, options.rules)
    print("\n".join(summary(rows, verdicts)))
    print("\n| rule | family | TensorRight | verdict | by, or for want of |\n|---|---|---|---|---|")
    for row in rows:
        verdict, rest = verdict_of(row, verdicts)
        print(f"| `{row[0]}` | {row[1]} | {'states it' if row[2] else ''} | {verdict} | {rest} |")
