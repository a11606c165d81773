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
TABLE = SCRIPT.with_name("unproved-table")
# One that pays, two that are wrong, and one that is true of all sizes and pays for no model.
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
"""
WRITTEN = """(rule written-max
  (source (max ?x ?x))
  (target ?x))
"""


def names(path):
    return set(re.findall(r"^\(rule (\S+)", path.read_text(), re.MULTILINE))


def prove(verify, folder, output, *, may_judge=True):
    """With a verifier that stays the same; where nothing is to be judged anew, one portion's files keep their times."""
    kept = folder / "kept"
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.proved")} if kept.exists() else {}
    command = [sys.executable, SCRIPT, folder / "candidates.rules", folder / "written.rules", output, kept]
    subprocess.run(command, check=True, env={**os.environ, "TASO_VERIFY": verify}, stdout=subprocess.DEVNULL)
    after = {path: path.stat().st_mtime_ns for path in kept.glob("*.proved")}
    assert before != after if may_judge else before == after, "judged anew" if not may_judge else "judged nothing"
    return output.read_bytes()


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
        assert first.count(b"(proof (z3") == len(shipped), "a rule has no certificate"
        for_egraphs = (folder / "egraph.rules").read_bytes()
        assert names(folder / "egraph.rules") == {"double-relu", "written-max"}, names(folder / "egraph.rules")
        assert prove(verify, folder, folder / "second.rules", may_judge=False) == first, "other bytes"
        # As after an interruption: the verdicts of the generated rules are lost.
        for path in (folder / "kept").glob("*.proved"):
            if "one-product" in path.read_text():
                path.unlink()
        assert prove(verify, folder, folder / "third.rules") == first, "other bytes after an interruption"
        assert (folder / "egraph.rules").read_bytes() == for_egraphs, "other bytes for e-graphs after an interruption"
        done = subprocess.run([sys.executable, TABLE, folder / "kept/rejected.rules", folder / "list"], check=True,
                              capture_output=True, text=True)
        assert sum("| refuted: the sides have different" in line for line in done.stdout.splitlines()) >= 1, done.stdout
        assert len((folder / "list").read_text().splitlines()) == 2


main()
