#!/usr/bin/env python3
"""Has a second prover confirm what Z3 proved: `check_second_prover.py TASO-VERIFY RULES`.

Writes the obligations of the rules as SMT-LIB 2 and gives each to cvc5, which must answer unsat for at least 25 and
contradict none. Exit code 77 (skipped) where cvc5 is not installed.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

LEAST = 25


def verdict_of(path):
    answer = subprocess.run(["cvc5", "--tlimit=20000", str(path)], capture_output=True, text=True, check=False)
    return answer.stdout.strip().splitlines()[0] if answer.stdout.strip() else answer.stderr.strip()


def main():
    program, rules = sys.argv[1:]
    if not shutil.which("cvc5"):
        print("cvc5 is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "rules", "-q", "--emit-smt2", folder, rules], check=True)
        verdicts = {path.name: verdict_of(path) for path in sorted(pathlib.Path(folder).glob("*.smt2"))}
    unconfirmed = {name: verdict for name, verdict in verdicts.items() if verdict != "unsat"}
    for name, verdict in unconfirmed.items():
        print(f"{name}: {verdict}")
    confirmed = len(verdicts) - len(unconfirmed)
    print(f"{confirmed} of {len(verdicts)} obligations confirmed")
    return 0 if confirmed >= LEAST and "sat" not in unconfirmed.values() else 1


if __name__ == "__main__":
    sys.exit(main())
