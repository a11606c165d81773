"""Tuning that is killed at random moments and started again: `killed_tuning.py TASO-OPT TASO-RUN KILLS [MODEL.onnx [MINUTES]]`.

After each kill the cost database is whole, and has what it had before: schedules that were tried, with the seconds of then
(but for those that other programs disturbed, which are tried again), and what was best of steps and nodes. An output is
there as a whole, or not. In the end the search is let run, and knows all.
How long a second run takes that nobody kills, with a database of its own, says when to kill.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import onnx

from expectations import expect, failures
from small_models import convolutions

OPT, RUN, KILLS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
MODEL = pathlib.Path(sys.argv[4]).absolute() if len(sys.argv) > 4 else None
MOST_KILLS = KILLS + 36   # where all of them were too early, as this machine was slower then: each is later than the last
MINUTES = float(sys.argv[5]) if len(sys.argv) > 5 else 0.04
ROW = re.compile(r'\("((?:[^"\\]|\\.)*)" ([^ ]+) .*\)')


def rows_of(costs):
    """Each row by device and text; None: a line is none."""
    rows, device = {}, ""
    for line in costs.read_text().splitlines() if costs.exists() else ():
        if line.startswith("(costs "):
            device = line
        elif match := ROW.fullmatch(line):
            rows[device, match[1]] = None if line.endswith(" doubtful)") else match[2]
        else:
            return None
    return rows


def is_trial(row):
    return " by " in row[1]


def start(command, folder):
    return subprocess.Popen(command, env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def check_rows(before, costs, when):
    rows = rows_of(costs)
    expect(rows is not None, f"{when}: a row of {costs} is broken")
    rows = rows or before
    lost = [row for row in before if row not in rows]
    changed = [row for row in before if is_trial(row) and before[row] and rows.get(row, before[row]) != before[row]]
    expect(not lost and not changed, f"{when}: {len(lost)} rows are lost, {len(changed)} trials changed: {(lost + changed)[:3]}")
    return rows


def seconds_of_whole(command, costs, folder):
    """With costs of its own, and whether anything was tried. The first run compiles kernels, which those that are killed
    find."""
    whole = costs.with_suffix(".whole")
    for _ in range(2):
        started = time.monotonic()
        start([word if word != costs else whole for word in command], folder).wait()
    return time.monotonic() - started, any(map(is_trial, rows_of(whole)))


def kill_again_and_again(name, command_of, costs, folder, output=None):
    """Gives the rows, and the command: with more time where a slow machine tries nothing in little."""
    rows, chance, n_with_news, n_kills = rows_of(costs), random.Random(1), 0, 0
    for minutes in MINUTES, 5 * MINUTES, 25 * MINUTES:
        command = command_of(["--threads", "1", "--tune", str(minutes), "--costs", costs])
        seconds, has_trials = seconds_of_whole(command, costs, folder)
        if has_trials:
            break
    while n_kills < KILLS or (n_with_news == 0 and n_kills < MOST_KILLS):
        n_kills += 1
        process = start(command, folder)
        time.sleep(chance.uniform(0.02, seconds) * 1.1 ** max(0, n_kills - KILLS))
        process.kill()
        process.wait()
        n_before = len(rows)
        rows = check_rows(rows, costs, f"{name}, kill {n_kills}")
        n_with_news += len(rows) > n_before
        if output and output.exists():
            onnx.checker.check_model(onnx.load(output))
            output.unlink()
    n_trials = sum(map(is_trial, rows))
    print(f"{name}: {n_kills} kills within {seconds:.1f} s, {n_with_news} after something new, {len(rows)} rows, {n_trials} of them trials")
    expect(n_trials > 0 and n_with_news > 0, f"{name}: what was killed had done something")
    return rows, command


def check_verdict(told):
    """The whole model runs by what was found where its interval says that it is faster; where there is none others disturbed it."""
    timed = re.search(r"ms: ([\d.]+) times as fast \(95 % interval ([\d.]+) to ([\d.]+), \d+ loads?\)(.*)", told)
    low, ratio, high = (float(timed[i]) for i in (2, 1, 3)) if timed else (1, 1, 1)
    expect(low <= ratio <= high and (timed or "not timed" in told), f"before and after are told with an interval: {told}")
    expect(abs(low - 1) < 1e-3 or ("as it was" in told) == (low < 1), f"what is not faster stays as it was: {told}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, output = MODEL or convolutions(folder / "model.onnx"), folder / "out.onnx"
        of_run, of_opt = folder / "run.costs", folder / "opt.costs"   # who knows all trials at once has none to lose
        run = [RUN, model, "--layout", "best", "--repeats", "3", "--measure-seconds", "0.5"]
        opt = [OPT, model, "-o", output, "--runtime", "taso", "--budget", "5", "--no-measure", "--quiet"]
        rows, run = kill_again_and_again("taso-run", lambda tune: [*run, *tune], of_run, folder)
        done = subprocess.run(run, env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")), capture_output=True, text=True,
                              check=False)
        known = re.search(r"by (\d+) trials?, and (\d+) known before", done.stdout)
        expect(done.returncode == 0 and known, f"what was killed goes on: {done.returncode} {done.stderr}")
        is_any_sure = any(is_trial(row) and rows[row] for row in rows)
        expect(known and (int(known[2]) > 0 or not is_any_sure), f"the trials are known: {done.stdout}")
        check_verdict(done.stdout)
        check_rows(rows, of_run, "taso-run, in the end")
        rows, opt = kill_again_and_again("taso-opt", lambda tune: [*opt, *tune], of_opt, folder, output)
        expect(start(opt, folder).wait() == 0 and output.exists(), "taso-opt: what was killed goes on")
        check_rows(rows, of_opt, "taso-opt, in the end")


main()
sys.exit(len(failures) > 0)
