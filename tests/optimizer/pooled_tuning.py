"""Schedules that others time: `pooled_tuning.py TASO-RUN`.

One process and three at a time, which GNU parallel starts, try the same schedules with the same outcome, byte for byte, where
they measure the same: here seconds follow from a schedule's text. taso-run --try answers jobs; who answers otherwise ends it.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from expectations import expect, failures
from small_models import convolutions

RUN = os.path.abspath(sys.argv[1])
UNSUPPORTED = 4
WORKER = '''
import hashlib, os, pathlib, sys
pathlib.Path(sys.argv[1], str(os.getpid())).touch()
for line in sys.stdin:
    number, step, best, *choices = line.rstrip("\\n").split("\\t")
    hashes = [hashlib.sha256((step + choice[1:]).encode()).digest() for choice in choices]
    print(number, *(f"{1e-6 * (100 + h[0] + h[1] / 256):.4e} 0.010 {1e-7 if c[0] != '0' else 0:.1e} 0"
                    for c, h in zip(choices, hashes)), sep="\\t", flush=True)
'''


def measure(model, costs):
    """What planning asks for, so that those who plan by it plan the same."""
    subprocess.run([RUN, model, "--threads", "1", "--layout", "best", "--repeats", "1", "--costs", costs], check=True,
                   capture_output=True)


def tune(model, costs, command, seconds=600):
    done = subprocess.run([RUN, model, "--threads", "1", "--layout", "best", "--repeats", "1", "--warmup", "0", "--costs", costs,
                           "--measure-seconds", "0.1", "--tune", str(seconds / 60), "--tune-with", command], capture_output=True, text=True, check=False)
    report = re.sub(r" in \d+ s ", " ", "\n".join(line for line in done.stdout.splitlines() if " tried " in line or " by " in line))
    trials = "\n".join(re.sub(r" \(run \d+\)", "", line) for line in costs.read_text().splitlines() if " by " in line)
    return done, report, trials


def keep_few(costs, few):
    """The rows of a database, but of each step only a dozen of the trials."""
    n_trials, kept = collections.Counter(), []
    for line in costs.read_text().splitlines(keepends=True):
        step, is_trial, _ = line.partition(" by ")
        n_trials[step] += bool(is_trial)
        if not is_trial or n_trials[step] <= 12:
            kept.append(line)
    few.write_text("".join(kept))


def parallel():
    """GNU parallel, which others have a program of the same name as."""
    path = shutil.which("parallel")
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout if path else ""
    return path if told.startswith("GNU parallel") else None


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["TMPDIR"] = str(folder / "it's a folder")   # of jobs
        os.mkdir(os.environ["TMPDIR"])
        model, first = convolutions(folder / "model.onnx"), folder / "first.costs"
        worker = folder / "worker.py"
        worker.write_text(WORKER)
        measure(model, first)
        commands = {"one": f"{sys.executable} {worker} {folder}/one"}
        if gnu := parallel():
            commands["three"] = f"{gnu} --will-cite -j 3 --pipe -N 1 {sys.executable} {worker} {folder}/three"
        outcomes = {}
        for count, command in commands.items():
            costs = folder / f"{count}.costs"
            shutil.copy(first, costs)
            (folder / count).mkdir()
            done, *outcomes[count] = tune(model, costs, command)
            print(f"{count}: {len(list((folder / count).iterdir()))} processes, {outcomes[count][1].count(chr(10)) + 1} trials")
            expect(done.returncode == 0 and outcomes[count][1], f"{count}: {done.returncode} {done.stderr} {done.stdout}")
        if gnu:
            expect(outcomes["one"] == outcomes["three"], f"one and three differ: {outcomes}"[:2000])
        larger = convolutions(folder / "larger.onnx", 64)
        few = folder / "few.costs"   # whose steps are not tuned: a command for this model knows nothing of them
        keep_few(folder / "one.costs", few)
        for others in first, few, folder / "one.costs":
            of_second = []
            measure(larger, others)
            for _ in range(2):
                costs = shutil.copy(others, folder / "larger.costs")
                done, *outcome = tune(larger, costs, commands["one"])
                of_second.append(outcome)
            known = re.search(r", and (\d+) known before", done.stdout)
            expect(known and int(known[1]) == 0, f"another model's trials count as this one's: {done.stdout}")
            expect(of_second[0] == of_second[1], f"the same database, and two outcomes: {of_second}"[:2000])
        costs = folder / "itself.costs"
        for seconds in 3, 15, 75:   # on a slow machine it has hardly begun
            shutil.copy(first, costs)
            done, _, trials = tune(model, costs, f"{RUN} {model} --threads 1 --layout best --costs {first} --try", seconds)
            if trials:
                break
        expect(done.returncode == 0 and trials, f"taso-run --try answers: {done.returncode} {done.stderr}")
        repeated = commands["one"] + " | awk 'NR == 1 { first = $0 } { print first }'"
        for command in ("false", "cat", "true", repeated):
            shutil.copy(first, costs)
            done, *_ = tune(model, costs, command)
            expect(done.returncode == UNSUPPORTED and "schedules" in done.stderr, f"{command}: {done.returncode} {done.stderr}")
        done = subprocess.run([RUN, model, "--threads", "1", "--costs", first, "--try"], input="1\t00\t1e-3\t0 tile\n", text=True,
                              capture_output=True, check=False)
        expect(done.returncode == 3 and "no step" in done.stderr, f"a job for another model: {done.returncode} {done.stderr}")
        if not gnu:
            print("GNU parallel is not installed")
    return 0 if gnu else 77


code = main()
sys.exit(1 if failures else code)
