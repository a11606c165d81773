#!/usr/bin/env python3
"""No false rule is proved: `check_thresholds.py TASO-VERIFY [COUNT [SEED]]`.

Makes COUNT (80) rules by false_families.py, which hold at everything small and fail just beyond a number that proofs try.
`taso-verify rules` may refute them or only check them. That each is false is shown by the program, too: it finds a
difference in the rule, or in the rule where its family says that it is false.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import false_families

LIMITS = ["--steps", "100000", "--instances", "2000"]
FAR = ["--far", "--largest", "30", "--instances", "200", "--attempts", "1000"]


def run(program, command, text, folder, *options):
    path = pathlib.Path(folder) / "false.rules"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    ran = subprocess.run([program, command, path, "--quiet", *options], capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout


def judge(program, rules, folder):
    """What was proved, and the reasons against all others, by name."""
    proved = pathlib.Path(folder) / "proved.rules"
    run(program, "rules", rules, folder, "-o", proved, "--no-conditions", *LIMITS)
    rejected = pathlib.Path(f"{proved}.rejected").read_text(encoding="utf-8")
    reasons = re.findall(r"^; ([^;\n]*)\n(?:;.*\n)*\(rule (\S+)", rejected, re.MULTILINE)
    return proved.read_text(encoding="utf-8"), {name: reason for reason, name in reasons}


def not_seen_false(program, rules, refuted, folder):
    """Names of rules at which nothing differs anywhere."""
    left = {name: rule for name, rule in rules.items() if name not in refuted}
    _, reasons = judge(program, [rule.text_there(name) for name, rule in left.items()], folder)
    left = {name: rule for name, rule in left.items() if not reasons.get(name, "").startswith("refuted")}
    for text in (false_families.Rule.text_there, false_families.Rule.text):
        tried = run(program, "try", [text(rule, name) for name, rule in left.items()], folder, *FAR)
        differing = set(re.findall(r"^(\S+): the sides", tried, re.MULTILINE))
        left = {name: rule for name, rule in left.items() if name not in differing}
    return sorted(left)


def main():
    program, *numbers = sys.argv[1:]
    count, seed = [int(n) for n in numbers] + [80, 1][len(numbers):]
    rules = false_families.make(count, seed)
    assert len(rules) == count
    with tempfile.TemporaryDirectory() as folder:
        proved, reasons = judge(program, [rule.text(name) for name, rule in rules.items()], folder)
        refuted = {name for name, reason in reasons.items() if reason.startswith("refuted")}
        perhaps_true = not_seen_false(program, rules, refuted, folder)
    print(f"{len(re.findall(r'^.rule ', proved, re.MULTILINE))} of {count} false rules are proved; {len(refuted)} are refuted")
    assert not proved, f"proved, and false:\n{proved}"
    assert len(reasons) == count
    assert not perhaps_true, f"no difference was found: {perhaps_true}"


if __name__ == "__main__":
    main()
