"""What onnxsim, onnxslim, ONNX Runtime's own optimization ahead of time, and taso-opt make of models: nodes, how long and
with how much memory, and how the results run in ONNX Runtime. `taso` is taso-opt without a search (--budget 0: what
import simplifies), and `taso, searched`, with --search, taso-opt as it comes, with a time for its search. Constants are
no nodes. The speed is how many times longer the original takes: shortest runs, by turns, over several loads of all. An
output that differs from the original's by more than 1e-4 of its largest value is told of below the table."""

import argparse
import datetime
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import onnx

from lib.command import run_script
from models.catalog import MODELS
from models.optimizing import ROOT, SHAPES, add_arguments, find_or_build, markdown_table
from models.peers import machine
from models.simplifier_worker import TOOLS

STANDARD = ["squeezenet", "mobilenetv2", "resnet50", "bert-taso-corrected", "nasrnn", "gpt2"]
OURS = "taso"
SEARCHED = "taso, searched"
TOLERANCE = 1e-4
COLUMNS = ["model", "tool", "nodes", "seconds", "MiB", "speed, 1 thread", "speed, 2 threads"]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="compare-simplifiers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, STANDARD)
    parser.add_argument("--only-check-arguments", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tools", metavar="NAME", nargs="+", choices=TOOLS, default=list(TOOLS), help="besides ours")
    parser.add_argument("--search", metavar="SECONDS", type=int, help="let taso-opt search for so long, too")
    parser.add_argument("--loads", type=int, default=3, help="of each result; 0: no timing (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=10, help="for each load (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=600, help="seconds for a tool (default: %(default)s)")
    parser.add_argument("--markdown", metavar="FILE", type=pathlib.Path, help="write the table with its heading there")
    options = parser.parse_args()
    for name in options.names:
        if name not in MODELS and not pathlib.Path(name).is_file():
            parser.error(f"no model is called '{name}', and no file; see build-models --list")
    return options


def model_of(name, options):
    return pathlib.Path(name) if pathlib.Path(name).is_file() else find_or_build(name, options)


def command_of(tool, model, out, shapes, options):
    if tool in TOOLS:
        python = pathlib.Path(os.environ["TASO_SIMPLIFIERS"]) / "bin/python"
        return [python, "-B", ROOT / "scripts/models/simplifier_worker.py", tool, model, out]
    ours = [options.program, model, "-o", out, "--quiet", *shapes]
    return ours + (["--budget", "0", "--device", "fake"] if tool == OURS
                   else ["--time", str(options.search), "--runtime", "onnxruntime", "--python", sys.executable])


def peak_of(process):
    """MiB so far; 0 when it is over. What wait4 tells begins with the memory of this process."""
    status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return max([int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")], default=0)


def run_measured(command, limit):
    """Seconds and MiB at the peak. RuntimeError: why there is no result."""
    begin, peak = time.perf_counter(), 0
    with subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            peak = peak_of(child.pid) or peak
            if time.perf_counter() - begin > limit:
                child.kill()
                raise RuntimeError(f"was not done after {limit} s")
            time.sleep(0.01)
    if child.returncode:
        raise RuntimeError(f"ended with {child.returncode}")
    return time.perf_counter() - begin, peak


def nodes_of(path):
    return sum(node.op_type != "Constant" for node in onnx.load(path, load_external_data=False).graph.node)


def largest_difference(expected, found):
    """Relative to the largest value of the output; of all outputs."""
    worst = 0.0
    for a, b in zip(expected, found):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        worst = max(worst, float(np.abs(a - b).max(initial=0)) / max(float(np.abs(a).max(initial=0)), 1e-30))
    return worst


def speeds(files, threads, options):
    """By tool: the original's shortest run over the result's."""
    from models.runtime import random_inputs, session_of
    times = {tool: [] for tool in files}
    for _ in range(options.loads):
        sessions = {tool: session_of(path, threads, by_turns=True) for tool, path in files.items()}
        inputs = random_inputs(sessions["original"], 1)
        for _ in range(options.runs):
            for tool, session in sessions.items():
                begin = time.perf_counter()
                session.run(None, inputs)
                times[tool].append(time.perf_counter() - begin)
    return {tool: f"{min(times['original']) / min(values):.2f}" if values else "" for tool, values in times.items()}


def differences(files):
    """Of the outputs from the original's, by tool."""
    from models.runtime import random_inputs, session_of
    inputs, expected, found = None, None, {}
    for tool, path in files.items():
        session = session_of(path)
        inputs = inputs or random_inputs(session, 1)
        outputs = session.run(None, inputs)
        expected = expected or outputs
        found[tool] = largest_difference(expected, outputs)
    return found


def compare(name, options, notes):
    """Rows of the table."""
    model = model_of(name, options)
    shapes = SHAPES.get(name, [])
    files, costs, label = {"original": model}, {}, pathlib.Path(name).stem
    for tool in [*options.tools, OURS] + ([SEARCHED] if options.search else []):
        out = options.folder / f"{label}-by-{tool.replace(' ', '-').replace(',', '')}.onnx"
        try:
            costs[tool] = run_measured(command_of(tool, model, out, shapes, options), options.limit)
            files[tool] = out
        except RuntimeError as failure:
            notes.append(f"{tool} on {label}: {failure}")
    found = {threads: speeds(files, threads, options) for threads in (1, 2)}
    for tool, difference in differences(files).items():
        if difference > TOLERANCE:
            notes.append(f"{tool} on {label}: an output differs by {difference:.1e} of its largest value")
    rows = [[label, "original", nodes_of(model), "", "", "", ""]]
    for tool in list(files)[1:]:
        rows.append(["", tool, nodes_of(files[tool]), f"{costs[tool][0]:.1f}", f"{costs[tool][1]:.0f}",
                     *(found[threads][tool] for threads in (1, 2))])
    return rows


def table_of(rows, options):
    shown = len(COLUMNS) if options.loads else -2
    return markdown_table(COLUMNS[:shown], [row[:shown] for row in rows])


def heading(options):
    names = " ".join(name if name in MODELS else pathlib.Path(name).name for name in options.names)
    search = f"--search {options.search} " if options.search else ""
    return (f"# Beside other simplifiers\n\n{machine()}, {os.cpu_count()} cores, {datetime.date.today()}; "
            f"`scripts/compare-simplifiers {search}--loads {options.loads} --runs {options.runs} {names}`.\n\n")


def main():
    options = parse_arguments()
    if options.only_check_arguments:
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    notes, rows = [], []
    for name in options.names:
        rows += compare(name, options, notes)
        print(table_of(rows[-2 - len(options.tools):], options), flush=True)
        if options.markdown:
            text = heading(options) + table_of(rows, options) + "\n"
            options.markdown.write_text(text + "".join(f"\n- {note}" for note in notes) + "\n" * bool(notes), encoding="utf-8")
    print(*notes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(run_script(main))
