#!/usr/bin/env python3
"""What symbols prove of properties that were changed at random, no instance refutes.

check_property_mutants.py TASO-VERIFY COUNT SEED FILE.properties ...

Makes COUNT mutants of the properties of the files: a side is edited as check_mutants.py edits those of rules, a number in a
size or an axis is one more, or a guard or a condition is left out. `taso-verify symbolic` judges all, and `taso-verify
properties` explores those that it proves: none may be refuted. Most of the others have to be false, which is shown of a
sample.
"""
import copy
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from check_mutants import EDITS, parse, text_of

SAMPLE = 40


def add_one(rng, side, _):
    numbers = [(t, i) for t in lists_of(side) for i, part in enumerate(t) if isinstance(part, str) and part.isdigit()]
    t, i = rng.choice(numbers)
    t[i] = str(int(t[i]) + 1)


def lists_of(term):
    return [term] + [t for part in term if isinstance(part, list) for t in lists_of(part)]


def drop_condition(rng, equation, where):
    del where[rng.randrange(1, len(where))]


def mutant(rng, original):
    equation, where = copy.deepcopy(original)
    side = rng.choice([side for side in equation[1:] if isinstance(side, list)])
    if rng.random() < 0.3:
        drop_condition(rng, equation, where)
    else:
        rng.choice([*EDITS, add_one, add_one])(rng, side, equation)
    return equation, where


def read(paths):
    """The equation and the conditions of each property."""
    found = []
    for path in paths:
        text = re.sub(r'\((comment|axiom) "[^"]*"\)', "", pathlib.Path(path).read_text(encoding="utf-8"))
        for term in parse(text):
            parts = {part[0]: part for part in term[2:]}
            found.append((parts["equal"], parts.get("where", ["where"])))
    return found


def make(properties, count, seed):
    rng, texts = random.Random(seed), {}
    while len(texts) < count:
        try:
            equation, where = mutant(rng, rng.choice(properties))
        except (IndexError, ValueError):
            continue   # there is nothing to edit
        if isinstance(equation[1], str) and isinstance(equation[2], str):
            continue
        condition = f" {text_of(where)}" if len(where) > 1 else ""
        texts[f"m{len(texts)}"] = f"(property m{len(texts)} {text_of(equation)}{condition})\n"
    return texts


def said_of(program, command, texts, path, *options):
    """Verdicts by name; what no program reads is left out, one by one."""
    while True:
        path.write_text("".join(texts.values()), encoding="utf-8")
        environment = {"HOME": str(path.parent), "XDG_CACHE_HOME": str(path.parent)}
        ran = subprocess.run([program, command, path, *options], capture_output=True, text=True, check=False, env=environment)
        if ran.returncode in (0, 1):
            return dict(re.findall(r"^(m\d+): ([a-z ]+)", ran.stdout, re.MULTILINE)), ran.stdout
        line = int(re.search(rf"{path}:(\d+):", ran.stderr)[1])
        del texts[list(texts)[line - 1]]


def main():
    program, count, seed, *paths = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mutants.properties"
        texts = make(read(paths), int(count), int(seed))
        verdicts, _ = said_of(program, "symbolic", texts, path)
        proved = {name: text for name, text in texts.items() if verdicts[name] == "proved"}
        unknown = [name for name in texts if name not in proved]
        sample = {name: texts[name] for name in random.Random(1).sample(unknown, min(SAMPLE, len(unknown)))}
        explored, said = said_of(program, "properties", proved, path, "--all") if proved else ({}, "")
        wrong = [texts[name] for name in proved if explored[name] == "refuted"]
        of_sample, _ = said_of(program, "properties", sample, path, "--all")
    n_false = sum(verdict == "refuted" for verdict in of_sample.values())
    print(f"{len(texts)} mutants: {len(proved)} proved, of which instances refute {len(wrong)}; of {len(of_sample)} others "
          f"instances refute {n_false}")
    print(*wrong, said if wrong else "", sep="")
    return 1 if wrong or n_false * 2 < len(of_sample) else 0


if __name__ == "__main__":
    sys.exit(main())
