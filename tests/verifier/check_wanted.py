#!/usr/bin/env python3
"""Generated rules do what is wanted, and nobody writes what they do: `check_wanted.py TASO-VERIFY SUBSTITUTIONS EXAMPLES`.

The generated rules of taso.rules, and those of egraph.rules, derive every rule of wanted.rules, and those of taso.rules
none of written.rules. Of each rule so many random examples are tried.
"""
import pathlib
import subprocess
import sys


def derive(verify, rules, others, *options):
    """The examples of each rule, and how many are derived."""
    command = [verify, "derive", rules, "--from", others, "--generated", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return {name: (int(n), int(derived)) for name, n, derived, *_ in map(str.split, ran.stdout.splitlines())}


def main():
    verify, folder, random = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    for shipped in ("taso.rules", "egraph.rules"):
        wanted = derive(verify, folder / "wanted.rules", folder / shipped, "--random", random)
        assert len(wanted) > 20, wanted
        for name, (n, derived) in wanted.items():
            assert n == derived > 0, f"{name} is wanted, and {shipped} does it at {derived} of {n} examples"
    for name, (n, derived) in derive(verify, folder / "written.rules", folder / "taso.rules").items():
        assert n > derived, f"{name} is written, and generated rules do it: it belongs into wanted.rules"


if __name__ == "__main__":
    main()
