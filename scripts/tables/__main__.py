"""Makes a table, or figures, of docs/results, and prints it as Markdown: `results NAME [OPTION...]`; `results NAME --help`
says what it is and what is measured for it.
"""
import argparse
import importlib
import os
import subprocess
import sys

from lib.command import run_script
from tables.common import ROOT

TABLES = {
    "costs": "sums of costs against whole models, layouts timed whole, and what a cold search takes",
    "derivations": "what is derived of EinNet's cases and models",
    "disturbed": "what other programs do to costs, and what repairing mends",
    "figures": "figures of the TASO and Tensat papers",
    "float64": "how far outputs are off those in double precision, in our executor and in ONNX Runtime",
    "forms": "what the rules of written.rules gain in ONNX Runtime",
    "judged": "verdicts on the rules of TASO and Tensat",
    "kernels": "generated kernels beside the library's, and what maps and rows reach",
    "memory": "peaks of memory of taso-opt and taso-run",
    "models": "benchmark models before and after, in our executor and in ONNX Runtime",
    "onnx-tests": "how ONNX's own tests fare",
    "peers": "our executor beside other runtimes",
    "providers": "providers in ONNX Runtime",
    "runtime": "benchmark models and exports before and after, in ONNX Runtime",
    "saturation": "Tensat's tables anew",
    "scaling": "how the time of a search grows with the graph",
    "searches": "what searches come to by layouts, sizes of rules and methods",
    "shares": "what our provider runs of models in ONNX Runtime, and that it runs them right",
    "simplifiers": "what other tools make of models beside taso-opt",
    "tuning": "what tuning gains over untuned compiled models",
    "unproved": "what keeps generated rules from being proved",
    "xla": "verdicts on the rules of XLA's simplifier",
}
# Tables beside other programs, which live in an environment of their own, made of scripts/WHAT.txt.
BESIDE = {"peers": "peers", "providers": "peers", "shares": "peers", "simplifiers": "simplifiers"}


def prepare_environment(what):
    """build/WHAT or $TASO_WHAT: made the first time, and anew when scripts/WHAT.txt changes."""
    variable, wanted = f"TASO_{what.upper()}", ROOT / f"scripts/{what}.txt"
    if variable in os.environ:
        return
    there = ROOT / "build" / what
    made_from = there / "made-from"
    if not made_from.exists() or made_from.read_bytes() != wanted.read_bytes():
        subprocess.run(["python3", "-m", "venv", there], check=True)
        subprocess.run([there / "bin/pip", "install", "--quiet", "-r", wanted], check=True)
        made_from.write_bytes(wanted.read_bytes())
    os.environ[variable] = str(there)


def main():
    listed = "\n".join(f"    {name:12} {what}" for name, what in TABLES.items())
    parser = argparse.ArgumentParser(prog="results", description=f"{__doc__}\n{listed}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", metavar="NAME", choices=TABLES)
    name = parser.parse_args(sys.argv[1:2]).name
    sys.argv[:2] = [f"results {name}"]
    module = importlib.import_module(f"tables.{name.replace('-', '_')}")
    options = module.parse_arguments()
    if name in BESIDE:
        prepare_environment(BESIDE[name])
    return module.main(options)


if __name__ == "__main__":
    run_script(main)
