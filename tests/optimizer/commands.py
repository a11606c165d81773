"""taso-opt and taso-run as a user runs them, with a cache of their own: `TEST.py ROOT TASO-OPT TASO-RUN ...`."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from expectations import expect
from made_up import price_too_high
from small_models import session_of  # noqa: F401

ROOT, OPT, RUN = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
QUICK = ["--budget", "60", "--measure-seconds", "0.2", "--threads", "1", "--runtime", "taso", "--quiet"]
ON_PAPER = ["--device", "fake", "--quiet"]   # runs nothing
UNTIMED = ["--no-measure", *QUICK[:2], *QUICK[4:]]
TEMPORARY = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(TEMPORARY.name) / "place"
FOLDER.mkdir()
os.environ["XDG_CACHE_HOME"] = f"{TEMPORARY.name}/cache"


def run(*command, **more):
    return subprocess.run([*map(str, command)], **{"capture_output": True, "text": True, "check": False, **more})


def relative_difference(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    size = np.abs(a.astype(np.float64)).max(initial=0)
    difference = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0)
    return difference / size if size else difference


def succeed(what, *command):
    done = run(*command)
    expect(done.returncode == 0, f"{what}: {done.returncode} {done.stderr}")
    return done


def optimize(what, model, *options):
    """How taso-opt ended, and what its report told."""
    report = FOLDER / "report.json"
    report.unlink(missing_ok=True)
    done = succeed(what, OPT, model, "--json", report, *options)
    return done, json.loads(report.read_text()) if report.exists() else {}


def priced_too_high(model, costs):
    """Options with which every step of the model takes 1,000 seconds: however busy this machine is, a rewrite pays.

    The layouts are fixed, as others would make steps that were not priced."""
    fixed = ["--layout", "standard", "--costs", costs]
    succeed("taso-run --measure-costs", RUN, model, "--measure-costs", "--threads", "1", *fixed)
    price_too_high(costs)
    return [*fixed, "--no-calibrate"]


def estimate_of(model, *options, threads="1", **more):
    done = run(RUN, model, "--measure-costs", "--threads", threads, *options, **more)
    expect(done.returncode == 0, f"taso-run --measure-costs {options}: {done.returncode} {done.stderr}")
    return float(re.search(r"estimate ([\d.]+) ms", done.stdout)[1]) / 1e3
