#!/usr/bin/env python3
"""What the space of all operators finds ships, follows from what is generated, or is left out with a reason:
`check_whole.py TASO-VERIFY SUBSTITUTIONS LIST [GENERATE-RULES BUILD]`.

LIST has the rules that selection keeps of that space beside those that ship (scripts/generate-rules --whole), each
behind a line that says of which rules it is derived, or why it is left out. What is derived is so by the rules that are
named, at all examples, and a reason is true of its rule. Rules whose source has a constant kernel, as no model has one,
are not listed. With GENERATE-RULES, which takes a quarter of an hour, the list is complete: what is kept today is in
it, or has such a kernel, or is derived of the generated rules.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LISTED = re.compile(r"^; (.*)\n(\(rule (\S+)\n(?:[^(\n;].*\n)*)", re.MULTILINE)
NAMED = re.compile(r"^\(rule (\S+)\n(?:[^(\n;].*\n)*", re.MULTILINE)
CONSTANT = re.compile(r"\((?:iconv|cpool|imatmul|iewmul) ")
ONE_SIZE = re.compile(r"\(where .*\(= \((?:dim \S+ \d|dims \S+)\) (?:\d|\(list \d)")
# Why a rule is left out, and what is true of the rules of which that is said.
REASONS = {
    "it is checked, not proved": lambda rule: "\n  (checked " in rule,
    "its tensors have one size alone": ONE_SIZE.search,
    "searches of nine models apply it nowhere, and come to the same with it": lambda rule: "\n  (proof " in rule,
}


def source_of(rule):
    return rule[rule.index("(source "):rule.index("(target ")]


def read(path):
    return {found[1]: found[0] for found in NAMED.finditer(path.read_text())}


def derive(verify, rules, others):
    """How many examples each rule has, and at how many it is derived."""
    with tempfile.TemporaryDirectory() as name:
        paths = [pathlib.Path(name) / file for file in ("these.rules", "those.rules")]
        for path, texts in zip(paths, (rules, others)):
            path.write_text("".join(texts))
        ran = subprocess.run([verify, "derive", paths[0], "--from", paths[1]], capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return {name: (int(n), int(derived)) for name, n, derived, *_ in map(str.split, ran.stdout.splitlines())}


def check_derived(verify, rules, others):
    for name, (n, n_derived) in derive(verify, rules, others).items():
        assert n == n_derived > 0, f"{name} of the whole space does not ship, is derived at {n_derived} of {n} examples, " \
            "and no reason is listed"


def check_list(verify, known, listed):
    derived, sources = [], set()
    for said, rule, name in listed:
        if said.startswith("derived by "):
            derived.append(rule)
            sources |= set(said.split()[2:])
        else:
            assert said in REASONS, f"{name}: nobody knows the reason '{said}'"
            assert REASONS[said](rule), f"{name}: it is not true that {said}"
    missing = sources - known.keys()
    assert not missing, f"they derive rules of the whole space and are not there: {' '.join(sorted(missing))}"
    check_derived(verify, derived, [known[name] for name in sorted(sources)])


def check_complete(verify, known, listed, generate, build):
    subprocess.run([generate, "--whole"], check=True, env=dict(os.environ, TASO_BUILD=str(build)))
    kept, names = read(build / "whole/kept.rules"), {name for _, _, name in listed}
    assert len(kept) > 100, kept
    left = [rule for name, rule in kept.items() if name not in names and not CONSTANT.search(source_of(rule))]
    if left:
        check_derived(verify, left, known.values())


def main():
    verify, substitutions, path = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    listed = [found.groups() for found in LISTED.finditer(path.read_text())]
    assert len(listed) > 50, listed
    known = read(substitutions / "candidates.rules")
    check_list(verify, known, listed)
    if len(sys.argv) > 4:
        check_complete(verify, known, listed, sys.argv[4], pathlib.Path(sys.argv[5]))


if __name__ == "__main__":
    main()
