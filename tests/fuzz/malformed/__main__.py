"""Writes malformed models, one folder DIR/VERDICT/CASE/ with a model.onnx each. The verdict is what a program must do:
`reject` the file (exit code 3, one line, nothing written), `survive` it (the file may happen to be right: an orderly
exit code from 0 to 4), or `accept` it (controls). The same seed gives the same files.

`tests/fuzz/run_malformed.py` runs a program on all of them."""

import argparse
import itertools
import pathlib
import shutil

from lib.command import run_script
from malformed import files, graphs, tensors
from malformed.case import OUTSIDE, checked, controls, weight_values


def all_cases(root, seed):
    return checked(itertools.chain(controls(), files.cases(seed), graphs.cases(), tensors.cases_in(root)))


def remove_earlier(root):
    for verdict in ("accept", "reject", "survive"):
        shutil.rmtree(root / verdict, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(
        prog="malformed-models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, required=True, help="the folder for the cases")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the random ones (default: %(default)s)")
    options = parser.parse_args()
    root = options.out.resolve()
    root.mkdir(parents=True, exist_ok=True)
    remove_earlier(root)
    (root / OUTSIDE).write_bytes(weight_values().tobytes())
    count = 0
    for case in all_cases(root, options.seed):
        case.write(root)
        count += 1
    print(f"{root}: {count} cases")


run_script(main)
