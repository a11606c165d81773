#!/usr/bin/env python3
"""Malformed rules, properties and rules of TASO's: `check_malformed.py TASO-VERIFY`.

Each must end with exit code 3 and one line that names file, line and column (of text) and reason, and leave no output
behind.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

RULES = {
    "unknown operator": ("(rule a (source (frobnicate ?x)) (target ?x))", "1:18: unknown operator frobnicate"),
    "wrong arity": ("(rule a\n  (source (relu ?x ?y)) (target ?x))", "2:11: relu takes 1 input, not 2"),
    "unbound variable": ("(rule a (source (relu ?x)) (target ?y))", "1:1: ?y does not occur in the source"),
    "unbound attribute": ("(rule a (source (relu ?x)) (target (split0 $i ?x)))", "1:1: $i is no whole attribute"),
    "missing attribute": ("(rule a (source (concat ?x ?y)) (target ?x))", "1:17: concat needs its axis first"),
    "no target": ("(rule a (source (relu ?x)))", "1:1: a rule needs a source and a target"),
    "unequal outputs": ("(rule a (source (relu ?x)) (target ?x ?x))", "1:1: source and target need equally many terms"),
    "not closed": ("(rule a (source (relu ?x))", "1:"),
    "unknown condition": ("(rule a (source (relu ?x)) (target ?x) (where (odd ?x)))", "1:48: unknown condition odd"),
    "cyclic": ("(rule a (source (relu " * 300 + "?x" + ")" * 900, "1:"),
    "defined by itself": (
        "(rule a (source (relu ?x)) (let (?y (relu ?z)) (?z (relu ?y))) (target ?y))", "1:49: ?z is no new name"),
    "unknown attribute": ("(rule a (source (relu :foo 3 ?x)) (target ?x))", "1:23: relu has no attribute foo"),
    "a large number": ("(rule a (source (concat 99999999999999999999 ?x ?y)) (target ?x))", "1:25: integer does not fit"),
    "a name as a term": ("(rule a (source (relu a)) (target ?x))", "1:23: expected an application"),
    "nothing but a word": ("rule", "1:1: expected (rule NAME"),
    "binary": ("(rule \x01)", "1:7:"),
}
PROPERTIES = {
    "unknown operator": ("(property a (equal (frobnicate ?x) ?x))", "1:21: unknown operator frobnicate"),
    "one side": ("(property a (equal ?x))", "1:13: a property needs (equal LEFT RIGHT)"),
    "wrong arity": ("(property a (equal (relu ?x ?y) ?x))", "1:20: relu takes 1 input, not 2"),
    "unbound variable": (
        "(property a (equal ?x ?x)\n (where (defined (relu ?q))))", "2:9: ?q occurs on neither side"),
    "unbound attribute": ("(property a (equal ?x ?x) (where (= $s 1)))", "1:34: $s occurs on neither side"),
    "nested without end": ("(property a (equal " + "(relu " * 1000, "1:1208: lists are nested more than 200 deep"),
    "a guard without a term": ("(property a (equal ?x ?x) (where (defined)))", "1:34: expected (defined TERM)"),
    "given twice": ("(property a (equal ?x ?x) (equal ?x ?x))", "1:27: equal is given twice"),
    "the same name": ("(property a (equal ?x ?x))\n(property a (equal ?x ?x))", "2:1: a property named a was read before"),
}


def complaint(program, command, path, text, expected):
    path.write_text(text, encoding="utf-8")
    output = path.with_suffix(".out")
    arguments = [program, command, str(path)] + (["-o", str(output)] if command == "rules" else [])
    ran = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False)
    lines = ran.stderr.strip().splitlines()
    if ran.returncode != 3:
        return f"exit code {ran.returncode}, not 3: {ran.stderr}"
    if len(lines) != 1 or f"{path}:{expected}" not in lines[0]:
        return f"expected {expected!r} in one line: {ran.stderr}"
    return "output was written" if output.exists() else None


LONG_LINES = {
    "terms": ("rules", "(rule a (source (relu ?x)) (target ", ("?" + "x" * (1 << 20) + " ") * 100 + "))"),
    "one word": ("rules", "(rule ", "x" * 100_000_000),
    "parentheses": ("rules", "", "(" * 100_000_000),
    "guards": ("properties", "(property a (equal ?x ?x) (where ", "(defined ?x) " * 1_000_000),
    "a comment": ("properties", "; ", "x" * 100_000_000 + "\n(property a (equal (relux ?x) ?x))"),
}


def check_long_lines(program, folder):
    """A line of 100 MB (13 MB of guards) is refused, in bounded time."""
    for case, (command, start, rest) in LONG_LINES.items():
        path = folder / f"long.{command}"
        path.write_text(start + rest, encoding="utf-8")
        ran = subprocess.run([program, command, str(path)], capture_output=True, text=True, timeout=600, check=False)
        found = re.search(r":\d+:\d+: ", ran.stderr[:4096])
        is_fine = ran.returncode == 3 and found and ran.stderr.count("\n") == 1
        yield case, None if is_fine else f"exit code {ran.returncode}: {ran.stderr[:300]}"


def check_nothing(program, folder):
    """Files of comments alone are none to complain about."""
    for command in ("rules", "properties"):
        path = folder / f"nothing.{command}"
        path.write_text("; nothing\n", encoding="utf-8")
        arguments = [program, command, str(path)] + (["-o", str(folder / "nothing.out")] if command == "rules" else [])
        ran = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False)
        yield command, None if ran.returncode == 0 else f"exit code {ran.returncode}: {ran.stderr[:300]}"


def main():
    program = sys.argv[1]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for command, cases in (("rules", RULES), ("properties", PROPERTIES)):
            for case, (text, expected) in cases.items():
                reason = complaint(program, command, folder / f"bad.{command}", text, expected)
                failures += reason is not None
                print(f"{command}, {case}: {reason or 'ok'}")
        for case, reason in check_long_lines(program, folder):
            failures += reason is not None
            print(f"long line of {case}: {reason or 'ok'}")
        for case, reason in check_nothing(program, folder):
            failures += reason is not None
            print(f"{case}, nothing: {reason or 'ok'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
