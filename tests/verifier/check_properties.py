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

CASES = [
    # name, properties, exit code, what must be printed, what must not
    ("true ones", COMMUTES + ASSOCIATES, 0, ["2 proved", "no contradiction", "0 properties follow"], ["refuted: "]),
    ("a redundant one", COMMUTES + ASSOCIATES + ROTATES, 0, ["rotates follows from: ", "3 proved"], ["commutes follows"]),
    ("a contradictory pair", COMMUTES + FIRST, 1, ["first: refuted", "contradiction: ", "commutes", "entry 0 is 3"], []),
    ("a false one", COMMUTES + SQUARE, 1, ["square: refuted", "?x = ", "entry 0 is", "1 differ"], ["commutes: refuted"]),
    ("a false sum", NEWTON, 1, ["newton: refuted", "entry 0 is"], []),
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
        for case, text, code, wanted, unwanted in CASES:
            path.write_text(text, encoding="utf-8")
            command = [program, "properties", str(path), "--all", "--theory"]
            environment = {"HOME": name, "XDG_CACHE_HOME": name}
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
            reason = complaint(ran, code, wanted, unwanted)
            failures += reason is not None
            print(f"{case}: {reason or 'ok'}{chr(10) + ran.stdout + ran.stderr if reason else ''}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
