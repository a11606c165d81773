#!/usr/bin/env python3
"""What both sides of rules compute, as text: `check_expressions.py TASO-VERIFY WANTED.rules`."""
import re
import subprocess
import sys

EXPECTED = {
    "transpose-of-transpose": "one expression of ?x (f32 2 3)\n  z[i,j] = x[i,j]\n",
    "concat-of-broadcast": "one expression of ?x (f32 2), ?y (f32 3)\n  z[i] = if i - 2 >= 0 then y[i - 2] else x[i]\n",
    "matmul-scale-left": "two expressions of ?x (f32 2 2 5), ?y (f32 2 5 3), ?c (f32)\n"
                         "  z[i,j,k] = (sum(l < 5) (x[i,j,l] * y[i,l,k])) * c[]\n"
                         "  and\n"
                         "  z[i,j,k] = sum(l < 5) (y[i,l,k] * (x[i,j,l] * c[]))\n",
}


def run(*arguments):
    ran = subprocess.run([sys.argv[1], "expressions", *arguments], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def main():
    path = sys.argv[2]
    for name, expected in EXPECTED.items():
        code, out, _ = run(path, name)
        assert code == 0 and out.startswith(f"{name}: {expected}"), out
    code, out, _ = run(path, "--quiet")
    n_rules = len(re.findall(r"^\(rule ", open(path, encoding="utf-8").read(), re.MULTILINE))
    totals = re.fullmatch(r"(\d+) rules? of one expression, (\d+) of two, 0 without an example\n", out)
    assert code == 0 and sum(map(int, totals.groups())) == n_rules, out
    code, out, error = run(path, "no-such-rule")
    assert code == 3 and not out and "no rule named no-such-rule" in error, error
    assert run()[0] == 2


main()
