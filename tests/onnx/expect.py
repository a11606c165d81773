"""Runs ONNX's own tests through onnx_expect and counts.

`expect.py PATH/onnx_expect [--cpu] [--bind] [--list VERDICT]`: every folder with a model under onnx/backend/test/data must
be equal, opaque (it has an operator that is kept as it is), or without data that can be read; --list prints the folders
of one verdict.
"""
import collections
import pathlib
import subprocess
import sys

import onnx


def main():
    tool, options = sys.argv[1], [a for a in ("--cpu", "--bind") if a in sys.argv]
    listed = sys.argv[-1] if "--list" in sys.argv else None
    root = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    folders = sorted(path.parent for path in root.rglob("model.onnx"))
    if not folders:
        sys.exit(77)
    done = subprocess.run([tool, *options, *map(str, folders)], capture_output=True, text=True)
    verdicts = collections.Counter()
    for line in done.stdout.splitlines():
        folder, _, verdict = line.partition(": ")
        kind = verdict.split(" (")[0]
        verdicts[kind] += 1
        if kind in ("DIFFERS", listed):
            print(f"{pathlib.Path(folder).relative_to(root)}: {verdict}")
    print(", ".join(f"{n} {kind}" for kind, n in sorted(verdicts.items())), f"of {len(folders)} tests")
    if done.returncode not in (0, 1) or sum(verdicts.values()) != len(folders):
        sys.exit(f"onnx_expect ended with {done.returncode}: {done.stderr}")
    sys.exit(1 if verdicts["DIFFERS"] else 0)


main()
