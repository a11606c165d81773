#!/usr/bin/env python3
"""What is told of what is false: `check_counterexamples.py TASO-VERIFY`.

Differences that only large random instances show are made small before they are printed. `--json` has the verdicts of rules
and properties, what these mean, and counterexamples with numbers that refute them when they are put in; each verdict that
occurs is explained once.
"""
import collections
import json
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
(rule products (source (matmul ?x (matmul ?y ?z))) (target (matmul (matmul ?y ?x) ?z)))
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


def judge(program, command, path, text, *options):
    path.write_text(text, encoding="utf-8")
    written = path.with_suffix(".json")
    said = run(program, command, path, "--json", written, *options)
    judged = json.loads(written.read_text(encoding="utf-8"))[command]
    check_meanings(said, [entry["verdict"] for entry in judged])
    assert all(f'"{entry["verdict"]}": {entry["meaning"]}\n' in said for entry in judged)
    return {entry["name"]: entry for entry in judged}


def tensor(example, name):
    return next(v for v in example["variables"] if v["name"] == name)


def product(x, y):
    """Of matrices."""
    (m, k), n = x["dims"], y["dims"][1]
    return [sum(x["values"][i * k + l] * y["values"][l * n + j] for l in range(k)) for i in range(m) for j in range(n)]


def relu(values):
    return [max(value, 0) for value in values]


def check_difference(example):
    """The first entry that differs, and its place."""
    left, right, entry = example["left"], example["right"], example["entry"]
    differing = [i for i, (x, y) in enumerate(zip(left["values"], right["values"])) if abs(x - y) > 1e-6]
    assert left["dims"] == right["dims"] and differing[0] == entry, example
    flat = 0
    for size, place in zip(left["dims"], example["place"], strict=True):
        flat = flat * size + place
    assert flat == entry, example


def check_rules(program, path):
    judged = judge(program, "rules", path, RULES)
    assert judged["fine"]["verdict"] == "proved" and judged["fine"]["counterexample"] is None
    half = judged["half"]["counterexample"]
    x, y = (tensor(half, name)["values"] for name in "xy")
    assert judged["half"]["verdict"] == "refuted" and half["kind"] == "the sides have different values"
    assert all(value == int(value) for value in x + y), f"no integers: {x} {y}"
    assert half["left"]["values"] == relu([a + b for a, b in zip(x, y)])
    assert half["right"]["values"] == [a + b for a, b in zip(relu(x), y)]
    assert half["left"]["term"] == "(relu (ewadd ?x ?y))" and half["output"] == 0
    check_difference(half)
    assert [tensor(half, name)["dims"] for name in "xy"] == [[], []], "there are smaller ones"
    products = judged["products"]["counterexample"]
    assert [tensor(products, name)["dims"] for name in "xyz"] == [[2, 2], [2, 2], [2, 1]], "there are smaller ones"
    other = judged["other"]["counterexample"]
    assert [a["name"] for a in other["attributes"]] == ["p"] and sorted(other["attributes"][0]["value"]) == [0, 1]


def check_properties(program, path):
    judged = judge(program, "properties", path, PROPERTIES, "--all")
    assert judged["commutes"]["counterexample"] is None and judged["commutes"]["file"] == str(path)
    rows = judged["rows"]["counterexample"]
    x, y = tensor(rows, "x"), tensor(rows, "y")
    assert rows["left"]["values"] == product(x, y)
    assert rows["right"]["values"] == product(x, {**y, "values": relu(y["values"])})
    for name in ("square", "rows"):
        check_difference(judged[name]["counterexample"])
    assert judged["real"]["counterexample"]["attributes"] == [{"name": "a", "value": 0.5}]
    pads = judged["pads"]["counterexample"]
    sides = {side: pads[side]["type"] for side in ("left", "right")}
    assert list(sides.values()).count(None) == 1 and f"only the {min(sides, key=lambda s: sides[s] or '')} " in pads["kind"]
    assert "entry" not in pads and isinstance(pads["attributes"][1]["value"], str)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_smallest(program, folder / "far.rules")
        check_rules(program, folder / "own.rules")
        check_properties(program, folder / "own.properties")
        same = subprocess.run([program, "rules", folder / "own.rules", "--json", folder / "own.rules"], check=False,
                              capture_output=True)
        assert same.returncode == 2, "the input is overwritten"


main()
