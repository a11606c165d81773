"""A Python that does not begin in time, as on a machine that is overwhelmed: `silent_runtime.py TASO-OPT`. Models are timed
in our own executor then, and a warning says why; a Python that has no ONNX Runtime is no reason for one."""
import os
import pathlib
import subprocess
import sys
import tempfile

from expectations import expect, failures
from small_models import products

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    products(folder / "in.onnx")
    for kind, does, warns in ("silent", "exec sleep 300", True), ("without", "exit 1", False):
        python = folder / kind
        python.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        python.chmod(0o755)
        ran = subprocess.run([sys.argv[1], folder / "in.onnx", "-o", folder / "out.onnx", "--budget", "1"], capture_output=True,
                             text=True, check=False, env={**os.environ, "TASO_PYTHON": str(python)})
        expect(ran.returncode == 0, f"{kind}: exit code {ran.returncode}: {ran.stderr}")
        expect(("timed in our own executor" in ran.stderr) == warns, f"{kind}: {ran.stderr}")
sys.exit(1 if failures else 0)
