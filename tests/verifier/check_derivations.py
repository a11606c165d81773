#!/usr/bin/env python3
"""Definitions are derived, what is none is refused, and what is made of the table of bilinear algorithms ships:
`check_derivations.py TASO-VERIFY taso.rules bilinear-rules family-rules`."""
import importlib.machinery
import importlib.util
import pathlib
import random
import re
import subprocess
import sys
import tempfile

CONV = """x0 f32[1,5,4,4]
x1 f32[5,3,4,4]
z[i,j,k,l] f32[1,3,8,8] = sum(m < 5) sum(n < 4) sum(p < 4) (if 0 - ((k - n + 1) mod 2) >= 0 then \
(if 0 - ((l - p + 1) mod 2) >= 0 then (x0[i,m,(k - n + 1) / 2,(l - p + 1) / 2 or 0] * x1[m,j,n,p]) else 0.0) else 0.0)
"""
# As models have it: zeros between the entries of an image, and bounds that hold for the even places of these.
OF_ZEROS = """x0 f32[1,5,4,4]
x1 f32[3,5,4,4]
z[i,j,k,l] f32[1,3,8,8] = sum(m < 5) sum(n < 4) sum(p < 4) (if 8 - k - n >= 0 then (if 8 - l - p >= 0 then \
(if 0 - ((k + n) mod 2) >= 0 then (if 0 - ((l + p) mod 2) >= 0 then \
(x0[i,m,(k + n) / 2 - 1,(l + p) / 2 - 1 or 0] * x1[j,m,n,p]) else 0.0) else 0.0) else 0.0) else 0.0)
"""


def run(*arguments):
    ran = subprocess.run([sys.argv[1], "derivations", *arguments], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


JUDGED = ("matmul-strassen", "conv-bias-karatsuba-1", "conv-bias-relu-winograd-4-3-2")


def check_bilinear(shipped, folder):
    """All ship as proved for all sizes; some are judged anew, and ship as the verifier prints them."""
    out = subprocess.run([sys.argv[3]], check=True, stdout=subprocess.PIPE, text=True).stdout
    rules = {rule.split()[1]: rule for rule in re.split(r"^(?=\(rule )", out, flags=re.MULTILINE)[1:]}
    proofs = dict(re.findall(r"^\(rule (\S+)\n(?: .*\n)*?  \((proof|checked) ", shipped, re.MULTILINE))
    assert set(JUDGED) <= set(rules) and {proofs.get(name) for name in rules} == {"proof"}, (list(rules), proofs)
    candidates, proved = folder / "candidates.rules", folder / "proved.rules"
    candidates.write_text("".join(rules[name] for name in JUDGED), encoding="utf-8")
    subprocess.run([sys.argv[1], "rules", "-q", candidates, "-o", proved], check=True)
    for rule in re.split(r"^(?=\(rule )", proved.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        assert re.sub(r"\n  \(proof .*", "", rule) in re.sub(r"\n  \(proof .*", "", shipped), rule


# Sizes of a tensor, and one that is none of these.
FORMS = (lambda d: 7, lambda d: d[1], lambda d: d[2] + 1, lambda d: 5 - d[3], lambda d: d[0] + d[3] + d[4] - 2,
         lambda d: d[0] - d[1] + d[3] + 1, lambda d: d[0] * d[1] * d[2], lambda d: 9 * d[0] * d[1],
         lambda d: (2 * d[0] + 2 * d[3] + 6) // 2)
NO_FORM = lambda d: (d[0] % 5 * (d[1] % 7)) ^ d[2]  # noqa: E731


def value_of(term, sizes):
    """Of a term of sums, differences, products and quotients."""
    if isinstance(term, str):
        return int(term)
    if term[0] == "dim":
        return sizes[term[1]][int(term[2])]
    x, y = (value_of(part, sizes) for part in term[1:])
    return {"+": x + y, "-": x - y, "*": x * y, "/": x // y if y else 0}[term[0]]


def check_terms():
    """Terms of sizes are found by their values at some, and what has none of the forms is not. What was found is used again."""
    sys.path.insert(0, str(pathlib.Path(sys.argv[4]).parent))
    loader = importlib.machinery.SourceFileLoader("family_rules", sys.argv[4])
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("family_rules", loader))
    loader.exec_module(script)
    rng = random.Random(1)
    for _ in range(8):
        sizes = [{"?x": [rng.randrange(3, 23) for _ in range(5)]} for _ in range(12)]
        terms = script.Terms(sizes)
        for number, form in enumerate(FORMS):
            wanted = tuple(form(s["?x"]) for s in sizes)
            found = terms.find(wanted)
            assert found and tuple(value_of(script.parse(found)[0], s) for s in sizes) == wanted, (number, found)
        assert terms.find(tuple(NO_FORM(s["?x"]) for s in sizes)) is None
        terms, parts = script.Terms(sizes), [tuple(FORMS[i](s["?x"]) for s in sizes) for i in (4, 5)]
        product = tuple(x * y for x, y in zip(*parts))
        assert terms.find(product) is None and all(map(terms.find, (*parts, product)))


def main():
    check_terms()
    with tempfile.TemporaryDirectory() as folder:
        check_bilinear(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"), pathlib.Path(folder))
        path = pathlib.Path(folder) / "conv.txt"
        path.write_text(CONV, encoding="utf-8")
        code, out, _ = run(str(path), "--depth", "3", "--weights", "x1")
        assert code == 0 and out.startswith("1: equal, "), out
        assert "by solve sum, substitute axes\n" in out and "is conv (f32 1 5 4 4) (f32 12 5 2 2) " in out, out
        assert "217 states of 333 steps" in out, out
        path.write_text(OF_ZEROS, encoding="utf-8")
        code, out, _ = run(str(path), "--depth", "3", "--weights", "x1")
        assert code == 0 and "is conv (f32 1 5 4 4) (f32 12 5 2 2) :stride 1 1 :pad 1 1 1 1" in out, out
        code, out, error = run(str(path), "--weights", "x2")
        assert code == 2 and not out and "no input x2" in error, error
        path.write_text("x0 i64[4]\nz[i] i64[4] = x0[i]\n", encoding="utf-8")
        code, out, error = run(str(path))
        assert code == 3 and not out and "floating-point" in error, error
        path.write_text("z[i] f32[4] = x0[i]\n", encoding="utf-8")
        assert run(str(path))[0] == 3
    assert run()[0] == 2


main()
