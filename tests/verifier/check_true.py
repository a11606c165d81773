#!/usr/bin/env python3
"""What is true is proved, as far as arguments go: `check_true.py TASO-VERIFY RULES`.

Every rule of the file is true. Those behind the line "; not proved" are not, for want of an argument: one that comes out as
proved has found one and moves up.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    taso_verify, rules = sys.argv[1:]
    proved_part, other_part = pathlib.Path(rules).read_text(encoding="utf-8").split("; not proved\n")
    expected, others = (re.findall(r"^\(rule (\S+)", part, re.MULTILINE) for part in (proved_part, other_part))
    assert len(set(expected + others)) == len(expected + others) > 60
    with tempfile.TemporaryDirectory() as folder:
        proved = pathlib.Path(folder) / "proved.rules"
        command = [taso_verify, "rules", rules, "-o", str(proved), "--no-conditions", "--quiet"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode in (0, 1), run.stderr
        written = re.findall(r"^\(rule (\S+)", proved.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(expected) <= set(written), f"true, and not proved: {sorted(set(expected) - set(written))}"
    assert set(written) == set(expected), f"proved by now: {sorted(set(written) - set(expected))}"


if __name__ == "__main__":
    main()
