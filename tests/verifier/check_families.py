#!/usr/bin/env python3
"""What is derived of families for all sizes is refused when it is false: `check_families.py TASO-VERIFY RULES FAMILIES COUNT`.

A number in the target of a rule of RULES (derived.rules) is another one: COUNT such false traces are tried at random sizes
beside the rules themselves. And one family of FAMILIES, derived again, gives what ships.
"""
import pathlib
import random
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"(?<=[ (])-?\d+(?=[ )])")


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def rules_in(text):
    return {re.match(r"\(rule (\S+)", rule)[1]: rule.strip() for rule in re.split(r"\n(?=\(rule )", "\n" + text)[1:]}


def rules_of(path):
    return rules_in(pathlib.Path(path).read_text(encoding="utf-8"))


def statement_of(rule):
    return re.sub(r"\n  \((proof|checked) .*", ")", rule)


def false_trace(rng, name, rule, number):
    """The rule with a number of its target changed by one; targets speak of no axis that is not there."""
    start, end = rule.index("(target"), rule.index("\n  (where")
    places = [m for m in NUMBER.finditer(rule, start, end) if not re.search(r"\(dim \?\w $", rule[:m.start()])]
    at = rng.choice(places)
    changed = str(int(at[0]) + rng.choice((-1, 1)))
    return rule[:at.start()].replace(f"(rule {name}", f"(rule {name}-{number}", 1) + changed + rule[at.end():]


def tried(program, path, *options):
    """The names of the rules that differ somewhere, and of those that have no instance; of all others nothing is told."""
    out = run(program, "try", path, *options).stdout
    lines = re.findall(r"^(derived-\S+): (.*)", out, re.MULTILINE)
    return ({name for name, said in lines if not re.match(r"\d+ instances?$", said)},
            {name for name, said in lines if said.startswith("0 instance")})


def main():
    program, shipped, families, count = *sys.argv[1:4], int(sys.argv[4])
    rules = {name: statement_of(rule) for name, rule in rules_of(shipped).items()}
    rng = random.Random(44)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tried.rules"
        path.write_text("\n".join(rules.values()) + "\n", encoding="utf-8")
        differ, _ = tried(program, path, "--instances", "6", "--attempts", "2000")
        assert not differ, differ
        traces = [false_trace(rng, name, rules[name], number)
                  for number, name in enumerate(rng.choices(sorted(rules), k=count))]
        path.write_text("\n".join(traces) + "\n", encoding="utf-8")
        differ, untyped = tried(program, path, "--instances", "10", "--attempts", "2000")
        left = count - len(differ | untyped)
        print(f"{count} traces: {len(differ)} differ, {len(untyped)} have no instance, {left} agree")
        assert left <= count // 10, "hardly a trace is told: few numbers say nothing"
        family = next(rule for name, rule in rules_of(families).items() if name == "derived-conv-1x7")
        path.write_text(family, encoding="utf-8")
        again = {name: statement_of(rule) for name, rule in rules_in(run(program, "derivations", path).stdout).items()}
        assert again and all(again[name] == rules[name] for name in again), again


main()
