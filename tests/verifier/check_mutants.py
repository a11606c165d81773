#!/usr/bin/env python3
"""What is proved of rules that were changed at random does not differ at random sizes.

check_mutants.py TASO-VERIFY RULES [COUNT [SEED]]

Makes COUNT (60) mutants of the rules of a file: on one side or both an attribute gets another value, or none, an operator its
counterpart, an axis another number, a tensor another place, or an expression stands for a tensor. Most are false, many
only just. `taso-verify rules` and `taso-verify symbolic` judge all of them, and `taso-verify try` runs what each proved,
under the conditions that the first found.
"""
import copy
import pathlib
import random
import re
import subprocess
import sys
import tempfile

VALUES = {":stride": ["1 1", "2 2", "2 1", "3 3"], ":pad": ["0 0 0 0", "1 1 1 1", "0 1 0 1", "1 0 1 0"],
          ":dilation": ["1 1", "2 2"], ":kernel": ["3 3", "1 1", "2 2", "1 3"], ":group": ["1", "2", "4"],
          ":act": ["relu", "none"], ":padding": ["counted", "ignored"]}
OPTIONAL = [":stride", ":pad", ":dilation", ":act", ":group"]
COUNTERPARTS = [("split0", "split1"), ("ewadd", "ewmul"), ("poolmax", "poolavg"), ("relu", "sigmoid")]
OTHER = {a: b for pair in COUNTERPARTS for a, b in (pair, pair[::-1])}
EXPRESSIONS = ["(ewadd {0} {0})", "(relu {0})", "(concat 0 {0} {0})", "(concat 1 {0} {0})", "(merge 2 2 {0})",
               "(split0 0 {0})", "(split1 1 {0})", "(transpose :perm 1 0 {0})", "(enlarge :kernel 3 3 {0})",
               "(poolmax :kernel 3 3 :pad $q {0})", "(conv :group 2 :stride $r :pad $q {0} ?q)"]


# --- rules as nested lists ---------------------------------------------------------------------------------------------

def parse(text):
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(token)
    return stack[0]


def text_of(term):
    return f"({' '.join(text_of(part) for part in term)})" if isinstance(term, list) else term


OF_ATTRIBUTES = "dim dims rank + - * / list sum product take drop repeat length iota at".split()


def terms_of(term):
    """All lists below a term, itself included, that are applications."""
    return [term] + [t for part in term if isinstance(part, list) and part[0] not in OF_ATTRIBUTES for t in terms_of(part)]


def attributes_of(term):
    """(application, name, where its value starts and ends) of every attribute that is named."""
    found = []
    for t in terms_of(term):
        for i, part in enumerate(t):
            if isinstance(part, str) and part in VALUES:
                end = i + 2
                while not isinstance(t[i + 1], list) and end < len(t) and isinstance(t[end], str) and t[end][0] not in ":?":
                    end += 1
                found.append((t, part, i + 1, end))
    return found


def places_of(term, matches):
    return [(t, i) for t in terms_of(term) for i, part in enumerate(t) if isinstance(part, str) and matches(part)]


def is_tensor(part):
    return part.startswith("?")


def tensors_of(term):
    return sorted({t[i] for t, i in places_of(term, is_tensor)})


# --- edits: each changes a side in place, or says that it cannot --------------------------------------------------------

def set_attribute(rng, side, rule):
    t, name, start, end = rng.choice(attributes_of(side))
    others = [found[first:last] for found, other, first, last in attributes_of(rule) if other == name]
    t[start:end] = rng.choice(others + [value.split() for value in VALUES[name]])


def drop_attribute(rng, side, _):
    t, _, start, end = rng.choice([found for found in attributes_of(side) if found[1] in OPTIONAL])
    del t[start - 1:end]


def add_attribute(rng, side, _):
    t, name = rng.choice([(t, name) for t in terms_of(side) if t[0] in ("conv", "poolmax") for name in OPTIONAL[:4]
                          if name not in t])
    t[1:1] = [name, *rng.choice(VALUES[name] + (["$new"] if name != ":act" else [])).split()]


def set_axis(rng, side, _):
    t = rng.choice([t for t in terms_of(side) if t[0] in ("concat", "split0", "split1")])
    t[1] = rng.choice("0123")


def exchange_operator(rng, side, _):
    t = rng.choice([t for t in terms_of(side) if t[0] in OTHER and ":padding" not in t])
    t[0] = OTHER[t[0]]


def set_tensor(rng, side, rule):
    t, i = rng.choice(places_of(side, is_tensor))
    t[i] = rng.choice(tensors_of(rule))


def exchange_tensors(rng, side, rule):
    a, b = rng.sample(tensors_of(rule), 2)
    for t, i in places_of(side, lambda part: part in (a, b)):
        t[i] = b if t[i] == a else a


def put_expression(rng, side, _):
    t, i = rng.choice(places_of(side, is_tensor))
    t[i] = parse(rng.choice(EXPRESSIONS).format(t[i]))[0]


EDITS = [set_attribute] * 3 + [drop_attribute, add_attribute, set_axis, exchange_operator, set_tensor, exchange_tensors,
                               put_expression]


def set_everywhere(rng, rule):
    """An attribute on both sides, wherever it has this value."""
    t, name, start, end = rng.choice(attributes_of(rule))
    old, new = t[start:end], rng.choice(VALUES[name]).split()
    for found, other, first, last in reversed(attributes_of(rule)):
        if other == name and found[first:last] == old:
            found[first:last] = new


def put_everywhere(rng, rule):
    """An expression for a tensor on both sides."""
    tensor, expression = rng.choice(tensors_of(rule)), rng.choice(EXPRESSIONS)
    for t, i in places_of(rule, lambda part: part == tensor):
        t[i] = parse(expression.format(tensor))[0]


def mutant_of(rng, sides):
    """Another rule's sides; IndexError or ValueError where the edits that were chosen have nothing to edit."""
    sides = copy.deepcopy(sides)
    if rng.random() < 0.4:
        rng.choice([set_everywhere, put_everywhere])(rng, sides)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(EDITS)(rng, rng.choice(sides), sides)
    return sides


def names_in(side):
    return set(re.findall(r"[?$]\w+", text_of(side)))


def mutants_of(rules, count, seed):
    rng, mutants = random.Random(seed), {}
    while len(mutants) < count:
        name, *sides = rng.choice(rules)
        try:
            source, target = mutant_of(rng, sides)
        except (IndexError, ValueError):
            continue
        if source[1:] != target[1:] and names_in(target) <= names_in(source):
            mutants[f"{name}-{len(mutants)}"] = f"{text_of(source)} {text_of(target)}"
    return mutants


# --- judging -----------------------------------------------------------------------------------------------------------

def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout


def try_proved(program, proved):
    out = run(program, "try", proved, "--instances", "12", "--attempts", "100", "-q")
    assert ": 0 differ," in out, f"what was proved is false: {out}"


def main():
    program, file, *numbers = sys.argv[1:]
    count, seed = [int(number) for number in numbers] + [60, 1][len(numbers):]
    rules = [(rule[1], rule[2], rule[3]) for rule in parse(pathlib.Path(file).read_text(encoding="utf-8"))]
    mutants = mutants_of(rules, count, seed)
    with tempfile.TemporaryDirectory() as folder:
        source, proved = pathlib.Path(folder) / "mutants.rules", pathlib.Path(folder) / "proved.rules"
        source.write_text("".join(f"(rule {name} {sides})\n" for name, sides in mutants.items()), encoding="utf-8")
        run(program, "rules", source, "-o", proved, "--quiet")
        n_proved = len(re.findall(r"^\(rule ", proved.read_text(encoding="utf-8"), re.MULTILINE))
        try_proved(program, proved)
        by_symbols = re.findall(r"^(\S+): proved", run(program, "symbolic", source), re.MULTILINE)
        proved.write_text("".join(f"(rule {name} {mutants[name]})\n" for name in by_symbols), encoding="utf-8")
        try_proved(program, proved)
    print(f"{n_proved} of {count} proved, {len(by_symbols)} by symbols")
    assert count // 10 <= n_proved <= count // 2, "hardly a mutant is false, or hardly one is true"
    assert by_symbols, "no mutant is proved by symbols"


if __name__ == "__main__":
    main()
