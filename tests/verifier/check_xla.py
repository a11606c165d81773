#!/usr/bin/env python3
"""XLA's rules are judged as docs/results/xla.md says: `check_xla.py TASO-VERIFY RESULTS XLA.rules MUTANTS.rules XLA.md`.

The summary of the page is what scripts/results xla prints; what is said to be aimed at is reached, and of the false rules that
look like these none is proved.
"""
import os
import re
import subprocess
import sys

STATED, PROVED = 140, 120


def main():
    program, results, rules, mutants, page = sys.argv[1:]
    ran = subprocess.run([results, "xla", program, rules], env=dict(os.environ, TASO_PYTHON=sys.executable), capture_output=True, text=True, check=True)
    printed = ran.stdout.splitlines()
    with open(page, encoding="utf-8") as file:
        written = file.read().splitlines()
    missing = [line for line in printed if line and line not in written]
    assert not missing, f"the page lacks: {missing[:5]}"
    counts = [int(n) for n in re.findall(r"\d+", next(line for line in printed if line.startswith("| all |")))]
    n_all, proved, *others, not_stated = counts
    assert n_all == 175 == proved + sum(others) + not_stated, counts
    assert n_all - not_stated >= STATED and proved >= PROVED, counts
    judged = subprocess.run([program, "rules", "--no-conditions", mutants], capture_output=True, text=True, check=False)
    assert judged.returncode == 1, judged.stderr
    found = re.findall(r"^(\S+): (proved)?", judged.stdout, re.MULTILINE)
    assert len(found) > 50, judged.stdout
    assert not any(verdict for _, verdict in found), f"false, and proved: {[name for name, verdict in found if verdict]}"


main()
