#!/usr/bin/env python3
"""What taso-opt applies is what the verifier says now: `check_shipped.py TASO-VERIFY RULES [--all]`.

All rules that somebody wrote (written.rules, beside RULES) are among them. A share of the rules, those whose text has a
certain hash, are proved again: each must come out as it stands in the file, with the same conditions and the same
verdict. --all takes every rule (minutes).
"""
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

SHARE = 16


def read(file):
    """The rules by name: the text, what it states, and what they rest on: a proof by an argument, or checks."""
    certified = re.compile(r"^\(rule (\S+)(.*?)\n  \((proof|checked) \((\w+)[ )].*$", re.MULTILINE | re.DOTALL)
    rules = {}
    for text in re.split(r"\n(?=\(rule )", pathlib.Path(file).read_text()):
        found = certified.search(text)
        if found:
            rules[found.group(1)] = (text[found.start():], " ".join(found.group(2).split()), found.groups()[2:])
    return rules


def is_asked(text):
    return hashlib.sha256(text.encode()).digest()[0] % SHARE == 0


def main():
    taso_verify, file = sys.argv[1:3]
    shipped = read(file)
    names = set(re.findall(r"^\(rule (\S+)", pathlib.Path(file).read_text(), re.MULTILINE))
    assert shipped and names == shipped.keys(), f"no certificate: {names - shipped.keys()}"
    written = re.findall(r"^\(rule (\S+)", pathlib.Path(file).with_name("written.rules").read_text(), re.MULTILINE)
    assert written and names.issuperset(written), f"written, and not shipped: {set(written) - names}"
    asked = {name: rule for name, rule in shipped.items() if "--all" in sys.argv or is_asked(rule[1])}
    assert asked, "no rule is asked"
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "asked.rules", pathlib.Path(folder) / "proved.rules"
        source.write_text("\n".join(rule[0] for rule in asked.values()))
        command = [taso_verify, "rules", source, "--quiet", "--checked", "--no-conditions", "-o", target]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        proved = read(target)
    for name, (_, text, verdict) in asked.items():
        assert name in proved, f"{name} is neither proved nor checked"
        assert proved[name][1:] == (text, verdict), f"{name}: {proved[name][1:]} and not {(text, verdict)}"
    print(f"{len(asked)} of {len(shipped)} rules judged again")


main()
