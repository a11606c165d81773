#!/usr/bin/env python3
"""Proofs with sizes that have no values: `check_symbolic.py TASO-VERIFY TRUE.rules FALSE.rules SIZES.rules [--few]`.

Every rule of the first file is proved, and none of the second, or of each fifth of it with --few, and of the third; nor is
any that false_families.py makes, of which there are fewer, too.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import false_families

FROM_GENERATOR, FEW_FROM_GENERATOR = 200, 40


def verdicts_of(program, path):
    ran = subprocess.run([program, "symbolic", path, "-j", "1"], capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    verdicts = dict(re.findall(r"^(\S+): (proved|unknown)\b", ran.stdout, re.MULTILINE))
    assert len(verdicts) == len(re.findall(r"^\(rule ", pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE))
    assert ran.returncode == ("unknown" in verdicts.values()), "the exit code says something else"
    return verdicts


def each_fifth_rule(path, few):
    rules = re.split(r"^(?=\(rule )", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    few.write_text("".join(rules[::5]), encoding="utf-8")
    return few


def main():
    program, true, false, sizes, *few = sys.argv[1:]
    unknown = [name for name, verdict in verdicts_of(program, true).items() if verdict != "proved"]
    assert not unknown, f"true, and not proved: {unknown}"
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made.rules"
        rules = false_families.make(FEW_FROM_GENERATOR if few else FROM_GENERATOR, 1)
        made.write_text("".join(f"{rule.text(name)}\n" for name, rule in rules.items()), encoding="utf-8")
        if few:
            false = each_fifth_rule(false, pathlib.Path(folder) / "few.rules")
        for path in (false, sizes, made):
            proved = [name for name, verdict in verdicts_of(program, path).items() if verdict == "proved"]
            assert not proved, f"false, and proved: {proved}"


main()
