#!/usr/bin/env python3
"""scripts/prove-rules ships what is proved, goes on where it was interrupted, and gives the same bytes each time:
`check_prove_rules.py TASO-VERIFY`.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/prove-rules"
RESULTS = SCRIPT.with_name("results")
# Two that pay, two that are wrong, one that pays for no model, and one that only moves.
CANDIDATES = """; Substitutions that somebody made up.

(rule merge-products
  (source (matmul ?x ?y) (matmul ?x ?z))
  (target (split0 (- (rank ?y) 1) (matmul ?x (concat (- (rank ?y) 1) ?y ?z)))
          (split1 (- (rank ?y) 1) (matmul ?x (concat (- (rank ?y) 1) ?y ?z)))))
(rule one-product
  (source (ewadd (matmul ?x ?y) (matmul ?x ?z)))
  (target (matmul ?x (ewadd ?y ?z)))
  (proof (generated (family matrices) (operators 3 2))))
(rule product-commutes
  (source (ewadd (matmul ?x ?y) (matmul ?z ?x)))
  (target (matmul ?x (ewadd ?y ?z)))
  (proof (generated (family matrices) (operators 3 2))))
(rule difference-of-itself
  (source (ewadd (relu ?x) (relu ?x)))
  (target (relu ?x)))
(rule double-relu
  (source (relu (relu ?x)))
  (target (relu ?x)))
(rule turned-relu
  (source (relu (transpose :perm 1 0 ?x)))
  (target (transpose :perm 1 0 (relu ?x))))
"""
WRITTEN = """(rule written-max
  (source (max ?x ?x))
  (target ?x))
"""
WANTED = """(rule wanted
  (source (relu (transpose :perm 1 0 ?matrix)))
  (target (transpose :perm 1 0 (relu ?matrix)))
  (where (weight ?matrix)))
"""


def names(path):
    return set(re.findall(r"^\(rule (\S+)", path.read_text(), re.MULTILINE))


def run(verify, folder, output):
    command = [sys.executable, SCRIPT, folder / "candidates.rules", folder / "written.rules", output, folder / "kept"]
    return subprocess.run(command, check=False, env={**os.environ, "TASO_VERIFY": verify}, capture_output=True, text=True)


def prove(verify, folder, output, *, may_judge=True):
    """With a verifier that stays the same; where nothing is to be judged anew, one portion's files keep their times."""
    kept = folder / "kept"
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.proved")} if kept.exists() else {}
    ran = run(verify, folder, output)
    assert ran.returncode == 0, ran.stderr
    after = {path: path.stat().st_mtime_ns for path in kept.glob("*.proved")}
    assert before != after if may_judge else before == after, "judged anew" if not may_judge else "judged nothing"
    return output.read_bytes()


def check_wanted(verify, folder):
    """What only moves ships where it is wanted, for weights where those are; what nothing derives cannot be wanted."""
    assert "turned-relu" not in names(folder / "first.rules")
    (folder / "wanted.rules").write_text(WANTED)
    prove(verify, folder, folder / "moving.rules", may_judge=False)
    for shipped in ("moving.rules", "egraph.rules"):
        text = (folder / shipped).read_text()
        assert "(relu ?x)))\n  (where (weight ?x))\n  (proof (" in text, text
        assert "wanted" not in names(folder / shipped)
    (folder / "wanted.rules").write_text(WANTED.replace("(relu ?matrix)))", "(tanh ?matrix)))"))
    ran = run(verify, folder, folder / "never.rules")
    assert ran.returncode == 1 and "wanted is wanted, and derived at 0 of" in ran.stderr, ran.stderr
    assert not (folder / "never.rules").exists()


def main():
    verify = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "candidates.rules").write_text(CANDIDATES)
        (folder / "written.rules").write_text(WRITTEN)
        first = prove(verify, folder, folder / "first.rules")
        shipped, rejected = names(folder / "first.rules"), names(folder / "kept/rejected.rules")
        assert {"one-product", "double-relu", "written-max"} <= shipped, shipped
        assert rejected == {"product-commutes", "difference-of-itself"}, rejected
        assert len(re.findall(rb"^  \((?:proof|checked) \(", first, re.MULTILINE)) == len(shipped), "a rule has no certificate"
        for_egraphs = (folder / "egraph.rules").read_bytes()
        small = {"double-relu", "written-max", "turned-relu"}
        assert names(folder / "egraph.rules") == small, names(folder / "egraph.rules")
        assert prove(verify, folder, folder / "second.rules", may_judge=False) == first, "other bytes"
        check_wanted(verify, folder)
        (folder / "wanted.rules").unlink()
        # As after an interruption: the verdicts of the generated rules are lost.
        for path in (folder / "kept").glob("*.proved"):
            if "one-product" in path.read_text():
                path.unlink()
        assert prove(verify, folder, folder / "third.rules") == first, "other bytes after an interruption"
        assert (folder / "egraph.rules").read_bytes() == for_egraphs, "other bytes for e-graphs after an interruption"
        done = subprocess.run([RESULTS, "unproved", folder / "kept/rejected.rules"], check=True, capture_output=True, text=True,
                              env=dict(os.environ, TASO_PYTHON=sys.executable))
        rows = [line for line in done.stdout.splitlines() if line.startswith("| refuted: the sides have different")]
        assert rows and sum(int(row.split("|")[2]) for row in rows) == 2, done.stdout


main()
