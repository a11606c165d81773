#!/usr/bin/env python3
"""What is false is not proved: `check_false.py TASO-VERIFY RULES`.

Every rule of the file is false. None may come out as proved as it stands, and those that are proved under conditions are
run at random instances that meet these, near and far, of which none may differ.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TRIALS = [], ["--far", "--largest", "30"]


def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout


def names_in(path):
    return re.findall(r"^\(rule (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def main():
    taso_verify, rules = sys.argv[1:]
    names = names_in(pathlib.Path(rules))
    assert len(names) == len(set(names)) > 60
    with tempfile.TemporaryDirectory() as folder:
        proved = pathlib.Path(folder) / "proved.rules"
        said = run(taso_verify, "rules", rules, "-o", proved)
        assert sorted(names_in(proved) + names_in(pathlib.Path(f"{proved}.rejected"))) == sorted(names)
        as_they_stand = re.findall(r"^(\S+): proved(?! under conditions)", said, re.MULTILINE)
        assert not as_they_stand, f"false, and proved: {as_they_stand}"
        for options in TRIALS:
            tried = run(taso_verify, "try", proved, "--instances", "20", "--attempts", "100", "-q", *options)
            assert ": 0 differ," in tried, f"false, and proved under conditions: {tried}"


main()
