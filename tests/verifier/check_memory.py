#!/usr/bin/env python3
"""Instances that are large take no memory: `check_memory.py TASO-VERIFY`.

Each rule names sizes at which its tensors, or what its proof would make of them, have billions of entries, or
leaves billions of types to them. `rules` and `try` end with a verdict, and with less than MEGABYTES; a rule of which no
instance is looked at is proved by an argument for all sizes alone, and never checked. So does `symbolic` of products of which there are many renamings to try.
"""
import itertools
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

TRUE = {"enlarged-far", "pooled-far", "mean-of-many"}   # checked, at small instances, or nowhere
MEGABYTES = 1024   # of one process; beside the properties and Z3 a rule took some 200
RULES = """
(rule broadcast-far
  (source (tanh (broadcast :shape 30000 30000 ?x))) (target (broadcast :shape 30000 30000 (sigmoid ?x))))
(rule enlarged-far
  (source (relu (enlarge :kernel 30001 30001 ?x))) (target (enlarge :kernel 30001 30001 (relu ?x))))
(rule pooled-far
  (source (poolavg :kernel 20000 20000 :pad 19000 19000 19000 19000 (neg ?x)))
  (target (neg (poolavg :kernel 20000 20000 :pad 19000 19000 19000 19000 ?x))))
(rule one-of-many (source (onehot 0 1000000000 ?i ?v)) (target (onehot 0 1000000000 ?i (relu ?v))))
"""


def sum_of(term, n):
    """`n` times the term."""
    return term if n == 1 else f"(ewadd {sum_of(term, n // 2)} {sum_of(term, n - n // 2)})"


def rule_of_many_types():
    """True where $a has one entry alone, so that every axis may be the one whose sizes up to 33 matter."""
    mean, total = "(reducemean :axes $a ?x)", "(reducesum :axes $a ?x)"
    source = f"(relu (sub {sum_of(mean, 33)} {total}))"
    target = f"(sub {sum_of(f'(relu {mean})', 33)} (relu {total}))"
    ones = " ".join(f"(= (dim ?x {axis}) 1)" for axis in range(4))
    return f"(rule mean-of-many (source {source}) (target {target}) (where {ones}))\n"


def rule_of_many_renamings():
    """False where four axes differ: the product of all differences of softmax along two of four axes."""
    along = [f"(softmax ${axis} ?x)" for axis in "abcd"]
    factors = [f"(sub {x} {y})" for x, y in itertools.combinations(along, 2)]

    def product_of(terms):
        return terms[0] if len(terms) == 1 else f"(ewmul {product_of(terms[:-1])} {terms[-1]})"
    zero = f"(ewmul {product_of(factors[:-1])} (sub {along[0]} {along[0]}))"
    return f"(rule differences-of-axes (source {product_of(factors)}) (target {zero}))\n"


def check_symbolic(taso_verify, folder):
    rules = pathlib.Path(folder) / "renamed.rules"
    rules.write_text(rule_of_many_renamings(), encoding="utf-8")
    run = subprocess.run([taso_verify, "symbolic", rules, "-q", "-j", "1"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and not run.stderr, f"symbolic: {run.returncode}, {run.stderr}"


def main():
    taso_verify, = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        rules, proved = pathlib.Path(folder) / "large.rules", pathlib.Path(folder) / "proved.rules"
        rules.write_text(RULES + rule_of_many_types(), encoding="utf-8")
        for command in (["rules", rules, "-o", proved, "--checked", "--no-conditions", "-q", "-j", "1"], ["try", rules, "-q", "-j", "1"]):
            run = subprocess.run([taso_verify, *command], capture_output=True, text=True, check=False)
            assert run.returncode in (0, 1) and not run.stderr, f"{command[0]}: {run.returncode}, {run.stderr}"
        found = re.findall(r"^\(rule (\S+)", proved.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(found) <= TRUE, found
        check_symbolic(taso_verify, folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    assert used < MEGABYTES, f"{used:.0f} MB"


if __name__ == "__main__":
    main()
