#!/usr/bin/env python3
"""taso-verify derive: `check_derive.py TASO-VERIFY`. A rule in one rewrite, one in two, one only at some ranks, and none."""
import pathlib
import subprocess
import sys
import tempfile

VERIFY = sys.argv[1]
FROM = """(rule relu-once (source (relu (relu ?x))) (target (relu ?x)))
(rule columns (source (relu (concat 1 ?x ?y))) (target (concat 1 (relu ?x) (relu ?y))))
"""
RULES = """(rule once (source (relu (relu (neg ?a)))) (target (relu (neg ?a))))
(rule twice (source (relu (relu (relu ?x)))) (target (relu ?x)))
(rule some-axes (source (relu (concat $i ?x ?y))) (target (concat $i (relu ?x) (relu ?y))))
(rule never (source (neg (neg ?x))) (target ?x))
"""


def derive(folder, rules, *options):
    (folder / "from.rules").write_text(FROM)
    (folder / "some.rules").write_text(rules)
    command = [VERIFY, "derive", folder / "some.rules", "--from", folder / "from.rules", *options]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    rows = {line.split()[0]: line.split()[1:] for line in ran.stdout.splitlines() if line[0].isalpha()}
    return ran.returncode, rows, ran.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, rows, said = derive(folder, RULES)
        assert code == 1 and not said, (code, said)
        for rule, steps, used in (("once", "1", ["relu-once"]), ("twice", "2", ["relu-once"])):
            n, derived, taken, *by = rows[rule]
            assert int(n) > 10 and derived == n and taken == steps and by == used, rows[rule]
        n, derived, *by = rows["some-axes"]
        assert 0 < int(derived) < int(n) and by == ["1", "columns"], rows["some-axes"]
        assert rows["never"][1:] == ["0", "0"], rows["never"]
        assert derive(folder, RULES, "--steps", "1")[1]["twice"][1] == "0"
        assert derive(folder, RULES.splitlines()[0])[0] == 0
        code, rows, said = derive(folder, RULES, "--graphs", "2")
        n = rows["twice"][0]
        assert code == 1 and rows["twice"][1] == "0" and f"twice: whether {n} of the examples are derived is not known" in said
        assert "once" not in said and "never" not in said, said
        assert derive(folder, RULES, "--generated")[1]["once"][1] == "0", "none of them has the name of a generated rule"
        for arguments in ([folder / "some.rules"], ["--from", folder / "from.rules"]):
            assert subprocess.run([VERIFY, "derive", *arguments], check=False, capture_output=True).returncode == 2


if __name__ == "__main__":
    main()
