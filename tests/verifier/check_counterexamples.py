#!/usr/bin/env python3
"""What is told of what is false: `check_counterexamples.py TASO-VERIFY`.

Differences that only large random instances show are made small before they are printed, and numbers are small integers.
Each verdict that occurs is explained once.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = [
    # rule that holds at everything small, the least instance at which it is false
    ("(rule sum (source (reducemax :axes 0 (slice :start 0 :size 7 :step 1 ?x))) (target (reducemax :axes 0 ?x))"
     " (where (= (rank ?x) 1)))", "?x = (f32 8)"),
    ("(rule stride (source (poolmax :kernel 1 1 :stride 1 5 ?x)) (target (poolmax :kernel 1 1 :stride 1 6 ?x))"
     " (where (= (rank ?x) 4)))", "?x = (f32 1 1 1 6)"),
    ("(rule parts (source (split1 1 (concat 1 ?x ?y))) (target (slice :start 0 (dim ?x 1) :size (dims ?y) :step 1 1"
     " (concat 1 ?x (relu ?y)))) (where (= (rank ?x) 2)))", "?x = (f32 1 1), ?y = (f32 1 1)"),
    ("(rule attribute (source (conv :stride $s $s :pad 0 0 0 0 ?x ?k)) (target (conv :stride 1 1 :pad 0 0 0 0 ?x ?k)))",
     "?x = (f32 1 1 1 2), ?k = (f32 1 1 1 1), $s = 2"),
]
RULES = """(rule half (source (relu (ewadd ?x ?y))) (target (ewadd (relu ?x) ?y)))
(rule fine (source (relu (relu ?x))) (target (relu ?x)))
(rule other (source (transpose :perm $p (relu ?x))) (target (relu ?x)))
"""
PROPERTIES = """(property commutes (equal (ewadd ?x ?y) (ewadd ?y ?x)))
(property square (equal (ewmul ?x ?x) ?x))
(property rows (equal (matmul ?x ?y) (matmul ?x (relu ?y))) (where (= (rank ?x) 2) (= (rank ?y) 2)))
(property real (equal (thresholdedrelu :alpha $a ?x) ?x))
(property pads (equal (poolmax :kernel 2 2 :pad $p :act $a ?x) (poolmax :kernel 2 2 ?x)) (where (= (rank ?x) 4)))
"""


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert ran.returncode == 1, f"{command}: {ran.returncode}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def check_smallest(program, path):
    path.write_text("\n".join(text for text, _ in CASES), encoding="utf-8")
    options = ["--far", "--largest", "30", "--seed", "3", "--attempts", "1000", "--instances", "200"]
    said = run(program, "try", path, "-q", *options)
    assert said == run(program, "try", path, "-q", "-j1", *options), "not the same twice"
    for text, wanted in CASES:
        name = text.split()[1]
        least = re.search(rf"^{name}: .* at (.*)$", said, re.MULTILINE)
        assert least and least[1] == wanted, f"{name}: {least and least[1]}, not {wanted}"


def check_meanings(said, verdicts):
    """Each verdict that occurs, and no other, is explained by a sentence."""
    meanings = collections.Counter(re.findall(r'^"([a-z ]+)": [A-Z].*\.$', said, re.MULTILINE))
    assert meanings == collections.Counter(set(verdicts)), f"{meanings} are explained, and there are {verdicts}"


def check_words(program, command, path, text, *options):
    path.write_text(text, encoding="utf-8")
    said = run(program, command, path, *options)
    names = re.findall(r"^\((?:rule|property) (\S+)", text, re.MULTILINE)
    verdicts = re.findall(rf"^(?:{'|'.join(names)}): ([a-z ]+?)(?= from| with| \(|,|$)", said, re.MULTILINE)
    assert len(verdicts) == len(names), said
    check_meanings(said, verdicts)
    numbers = re.findall(r"^    \?\w+ =(.*)", said, re.MULTILINE)
    assert numbers[0].strip() and all(float(n).is_integer() for line in numbers for n in line.split()), numbers
    assert '\n"' not in run(program, command, path, "-q", *options)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_smallest(program, folder / "far.rules")
        check_words(program, "rules", folder / "own.rules", RULES)
        check_words(program, "properties", folder / "own.properties", PROPERTIES, "--all")


main()
