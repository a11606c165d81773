"""Builds the models named, or all of them, each into OUT/NAME.onnx (NAME-small.onnx with --small). The same bytes each
time. Prints each file's name when it is complete."""

import argparse
import os
import pathlib
import sys
import time

from lib.command import run_script
from models.catalog import MODELS


def parse_arguments():
    parser = argparse.ArgumentParser(prog="build-models", description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help="a model; default: all of them")
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, default=pathlib.Path("build/models"),
                        help="the folder for the files (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="build small variants, for tests, of all that have one")
    parser.add_argument("--layers", metavar="N", type=int, help="the number of layers of transformers")
    parser.add_argument("--check", action="store_true", help="check each file, and its outputs in ONNX Runtime")
    parser.add_argument("--list", action="store_true", help="list the models and stop")
    options = parser.parse_args()
    for name in options.names:
        if name not in MODELS:
            parser.error(f"no model is called '{name}'; see --list")
        if options.small and MODELS[name].small is None:
            parser.error(f"'{name}' has no small variant")
    options.names = options.names or [m.name for m in MODELS.values() if not options.small or m.small is not None]
    return options


def list_models():
    for model in MODELS.values():
        print(f"{model.name:24} {model.description}")


def write(model, options):
    """Writes one model to a temporary file, then renames it."""
    path = options.out / f"{model.name}{'-small' if options.small else ''}.onnx"
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(model.build(options.small, options.layers).SerializeToString(deterministic=True))
    os.replace(unfinished, path)
    return path


def is_good(path):
    from models.selfcheck import complaints_about

    complaints, numbers = complaints_about(path)
    print(f"    {numbers}")
    for complaint in complaints:
        print(f"{path}: {complaint}", file=sys.stderr)
    return not complaints


def main():
    options = parse_arguments()
    if options.list:
        return list_models()
    options.out.mkdir(parents=True, exist_ok=True)
    good = True
    for name in options.names:
        start = time.monotonic()
        path = write(MODELS[name], options)
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB  {time.monotonic() - start:.1f} s", flush=True)
        good = (not options.check or is_good(path)) and good
    return 0 if good else 1


run_script(main)
