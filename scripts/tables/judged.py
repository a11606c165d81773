"""The tables of docs/results/judged-rules.md: `results judged TASO-VERIFY graph_subst.pb TENSAT-FOLDER`.

Judges the rules that TASO released (scripts/taso-rules reads them) and those that Tensat published (scripts/tensat-rules
says which files), and prints one row for all that the program judges alike.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from tables.common import ROOT, bare_parser

VERDICT = re.compile(r"^([a-z]+-\S*\d): (proved under conditions|proved|checked|refuted|not proved|false[^(]*)(.*)$")
ARGUMENT = re.compile(r" (?:(from the properties)|with (symbols) for sizes|(by hand)|as (.*) is, its reverse)$")


def judge(program, rules, folder):
    log = subprocess.run(
        [program, "rules", str(rules), "-o", str(folder / "proved.rules")], capture_output=True, text=True, check=False
    )
    if log.returncode not in (0, 1):   # 1: some are refuted
        sys.exit(log.stderr.strip())
    return [found.groups() for found in map(VERDICT.match, log.stdout.splitlines()) if found]


def ranges(names):
    """taso-0 taso-1 taso-2 taso-5 as taso-0 to 2, 5."""
    runs = {}   # of a stem: first and last numbers
    for stem, number in (re.fullmatch(r"(.*?)(\d+)", name).groups() for name in names):
        of_stem, number = runs.setdefault(stem, []), int(number)
        if of_stem and of_stem[-1][1] == number - 1:
            of_stem[-1][1] = number
        else:
            of_stem.append([number, number])
    told = (", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in of_stem) for of_stem in runs.values())
    return "; ".join(stem + numbers for stem, numbers in zip(runs, told))


def verdict_of(verdict, rest):
    argument = ARGUMENT.search(rest)
    conditions = rest[:argument.start()].strip() if argument else ""
    where = f"`{conditions}`" if conditions else "both sides are well-typed" if argument else "not known"
    return f"{verdict} | {where} | {next(filter(None, argument.groups())) if argument else '-'}"


def table(title, verdicts):
    counts, alike = collections.Counter(verdict for _, verdict, _ in verdicts), {}
    for name, verdict, rest in verdicts:
        alike.setdefault(verdict_of(verdict, rest), []).append(name)
    derived = sum("from the properties" in rest for _, _, rest in verdicts)
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    return (f"## {title}\n\n{len(verdicts)} rules: {told}; {derived} are derived from the properties.\n\n"
            "| verdict | holds where | argument | rules |\n|---|---|---|---|\n"
            + "\n".join(f"| {told} | {ranges(names)} |" for told, names in alike.items()) + "\n")


def convert(script, published, path):
    converter = ROOT / "scripts" / script
    ran = subprocess.run([sys.executable, str(converter), published], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(ran.stderr.strip())
    path.write_text(ran.stdout, encoding="utf-8")


def parse_arguments():
    parser = bare_parser(__doc__)
    for name in ("program", "protobuf", "tensat"):
        parser.add_argument(name)
    return parser.parse_args()


def main(options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, script, published in (("TASO's released rules", "taso-rules", options.protobuf),
                                         ("Tensat's rules", "tensat-rules", options.tensat)):
            convert(script, published, folder / f"{script}.rules")
            print(table(title, judge(options.program, folder / f"{script}.rules", folder)))
