"""Gives a program of each_model.h many models at once."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from sessions import session_of  # noqa: E402, F401

AT_ONCE = 100


def results_of(command, pairs):
    """(exit code, what is said on stderr) for each pair of a model and what is written for it."""
    results = []
    while len(results) < len(pairs):
        results += results_of_first(command, pairs[len(results):len(results) + AT_ONCE])
    return results


def results_of_first(command, pairs):
    """Those of all of them; or, where the program ends before the last one, up to the one that ends it. That the program
    does not end as its models do is told of the last one."""
    done = subprocess.run([*command, *(str(path) for pair in pairs for path in pair)], capture_output=True, text=True,
                          check=False)
    if len(pairs) == 1:
        return [(done.returncode, done.stderr.strip())]
    codes = [int(line) for line in done.stdout.splitlines()]
    results = list(zip(codes, done.stderr.splitlines()))
    if len(codes) == len(pairs) and done.returncode == max(codes):
        assert len(results) == len(pairs), f"{command}: not one line for each model: {done.stderr}"
        return results
    return results[:len(pairs) - 1] + [(done.returncode, done.stderr)]
