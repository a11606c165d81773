#!/usr/bin/env python3
"""`taso-verify properties` as a user runs it: `check_properties.py TASO-VERIFY`.

False properties, contradictory pairs and redundant properties are found in files in which they were planted.
"""
import pathlib
import subprocess
import sys
import tempfile

COMMUTES = "(property commutes (equal (ewadd ?x ?y) (ewadd ?y ?x)))\n"
ASSOCIATES = "(property associates (equal (ewadd ?x (ewadd ?y ?z)) (ewadd (ewadd ?x ?y) ?z)))\n"
ROTATES = "(property rotates (equal (ewadd (ewadd ?x ?y) ?z) (ewadd (ewadd ?z ?x) ?y)))\n"
FIRST = "(property first (equal (ewadd ?x ?y) ?x) (where (defined (ewadd ?x ?y))))\n"
SQUARE = "(property square (equal (ewmul ?x ?x) ?x))\n"
NEWTON = """(property newton
  (equal (reducesum :axes 0 :keepdims 0 ?x) (reducesum :axes 0 :keepdims 0 (relu ?x))))\n"""
# Types differ first at a width of 4, and values first at a sum of three entries (a symmetric function of degree 3).
STEPS = """(property steps
  (equal (poolmax :kernel 1 3 :stride 1 2 :pad 0 0 0 0 ?x) (poolmax :kernel 1 3 :stride 1 1 :pad 0 0 0 0 ?x)))\n"""
SUM, SQUARES, CUBES = (
    f"(reducesum :axes 0 :keepdims 0 {term})" for term in ("?x", "(ewmul ?x ?x)", "(ewmul ?x (ewmul ?x ?x))")
)
CUBIC = f"""(property cubic (equal
  (ewadd (ewmul {SUM} (ewmul {SUM} {SUM})) (ewadd {CUBES} {CUBES}))
  (ewadd (ewmul {SUM} {SQUARES}) (ewadd (ewmul {SUM} {SQUARES}) (ewmul {SUM} {SQUARES})))))\n"""
POOLS = """(property pools
  (equal (poolmax :kernel $k :stride $s :pad $p :act relu ?x) (relu (poolmax :kernel $k :stride $s :pad $p ?x))))\n"""
# The first pieces are equally long, the tensors need not be: 1|1 and 1|2.
PIECES = """(property pieces (equal (split0 $i (ewadd ?x ?y)) (ewadd (split0 $i ?x) (split0 $i ?y)))
  (where (defined (split0 $i ?x)) (defined (split0 $i ?y))))\n"""

ALL = ["--all", "--theory"]
CASES = [
    # name, properties, exit code, what must be printed, what must not, options (ALL if there are none)
    ("true ones", COMMUTES + ASSOCIATES, 0, ["2 proved", "no contradiction", "0 properties follow"], ["refuted: "]),
    ("a redundant one", COMMUTES + ASSOCIATES + ROTATES, 0, ["rotates follows from: ", "3 proved"], ["commutes follows"]),
    ("a contradictory pair", COMMUTES + FIRST, 1, ["first: refuted", "contradiction: ", "commutes", "entry 0 is 3"], []),
    ("a false one", COMMUTES + SQUARE, 1, ["square: refuted", "?x = ", "entry 0 is", "1 differ"], ["commutes: refuted"]),
    ("a false sum", NEWTON, 1, ["newton: refuted", "entry 0 is"], []),
    ("one of cut tensors", PIECES, 1, ["pieces: refuted", "only the left side", "cut on axis 0"], []),
    ("one below its bound", STEPS, 0, ["steps: tested", "1 tested"], ["refuted: "], ["--bound", "3"]),
    ("one at its bound", STEPS, 1, ["steps: refuted", "different types"], [], ["--bound", "4"]),
    ("a sum of two", CUBIC, 0, ["cubic: tested"], ["refuted: "], ["--bound", "2"]),
    ("a sum of three", CUBIC, 1, ["cubic: refuted", "?x = (f32 3"], [], ["--bound", "3"]),
    ("a sum up to four", CUBIC, 1, ["cubic: refuted", "?x = (f32 3"], [], ["--bound", "4"]),
    ("true ones up to a bound", COMMUTES + POOLS, 0, ["2 tested", "it disagrees on 0"], [], ["--bound", "3"]),
]


def complaint(ran, code, wanted, unwanted):
    if ran.returncode != code:
        return f"exit code {ran.returncode}, not {code}"
    missing = [text for text in wanted if text not in ran.stdout]
    present = [text for text in unwanted if text in ran.stdout]
    return f"does not say {missing}, says {present}" if missing or present else None


def main():
    program = sys.argv[1]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "planted.properties"
        for case, text, code, wanted, unwanted, *options in CASES:
            path.write_text(text, encoding="utf-8")
            command = [program, "properties", str(path), *(options[0] if options else ALL)]
            environment = {"HOME": name, "XDG_CACHE_HOME": name}
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
            reason = complaint(ran, code, wanted, unwanted)
            failures += reason is not None
            print(f"{case}: {reason or 'ok'}{chr(10) + ran.stdout + ran.stderr if reason else ''}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
