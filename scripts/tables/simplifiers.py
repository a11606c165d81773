"""What onnxsim, onnxslim, ONNX Runtime's own optimization ahead of time, and taso-opt make of models: nodes, how long and
with how much memory, whether outputs are the original's, and how the results run in ONNX Runtime. `taso` is taso-opt
without a search (--budget 0: what import simplifies), and `taso, searched`, with --search, taso-opt as it comes, with a
time for its search. `onnxsim, standard` is onnxsim without its pass that makes operators which only ONNX Runtime has.
A row is a model, and a cell what a tool made of it: nodes without constants, seconds, MiB at the peak, and, where it is
more than 1e-5, the largest difference of an output from the original's, in parts of its largest value. With --loads there
is the speed besides: how many times longer the original takes, in processor seconds, which count what threads spend and not
what they wait: the median of loads, in which models take turns, with the least and the largest of them. Models with
symbolic dimensions run at the sizes of taso-opt's profile. A model is one of build-models, a file, or one in --models, as
those of export-models, which are not built."""

import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import onnx

from models.exports import EXPORTS
from tables.common import BENCHMARKS, ROOT, heading, markdown_table, model_of, parse_known_models, parser_of, shapes_of
from tables.common import write_markdown
from tables.simplifier_worker import TOOLS

OURS = "taso"
SEARCHED = "taso, searched"
SMALL_DIFFERENCE, DIFFERS = 1e-5, 1e-4


def parse_arguments():
    parser = parser_of(__doc__, BENCHMARKS + [f"exports/{name}" for name in EXPORTS])
    parser.set_defaults(threads=1)
    parser.add_argument("--tools", metavar="NAME", nargs="+", choices=TOOLS, default=list(TOOLS), help="besides ours")
    parser.add_argument("--search", metavar="SECONDS", type=int, help="let taso-opt search for so long, too")
    parser.add_argument("--loads", type=int, default=5, help="of each result; 0: no timing (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=8, help="for each load (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=600, help="seconds for a tool (default: %(default)s)")
    return parse_known_models(parser)


def command_of(tool, model, out, options):
    if tool in TOOLS:
        python = pathlib.Path(os.environ["TASO_SIMPLIFIERS"]) / "bin/python"
        return [python, "-B", ROOT / "scripts/tables/simplifier_worker.py", tool, model, out]
    ours = [options.program, model, "-o", out, "--quiet", "--json", out.with_suffix(".json"), *options.option]
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
    """As text, with how many of them are no operators of ONNX."""
    nodes = [node for node in onnx.load(path, load_external_data=False).graph.node if node.op_type != "Constant"]
    other = sum(node.domain not in ("", "ai.onnx") for node in nodes)
    return f"{len(nodes)} ({other} not of ONNX)" if other else str(len(nodes))


def largest_difference(expected, found):
    """Relative to the largest value of the output; of all outputs."""
    worst = 0.0
    for a, b in zip(expected, found):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        worst = max(worst, float(np.abs(a - b).max(initial=0)) / max(float(np.abs(a).max(initial=0)), 1e-30))
    return worst


def inputs_of(model, report):
    """Random inputs of the sizes that taso-opt took, from its report."""
    from models.runtime import parse_shape, random_inputs, session_of
    sizes = (json.loads(report.read_text(encoding="utf-8")).get("symbols") or {}).get("profiles", [{}])[0]
    shapes = dict(parse_shape(text) for text in shapes_of(model, sizes)[1::2])
    return random_inputs(session_of(model), 1, shapes)


def medians_of_load(files, inputs, options):
    """Processor seconds of a run, by tool: the sessions of one load, by turns."""
    from models.runtime import session_of
    sessions = {tool: session_of(path, options.threads, by_turns=True) for tool, path in files.items()}
    times = {tool: [] for tool in files}
    for i in range(-1, options.runs):
        for tool, session in sessions.items():
            begin = time.process_time()
            session.run(None, inputs)
            if i >= 0:   # the first run warms up
                times[tool].append(time.process_time() - begin)
    return {tool: float(np.median(values)) for tool, values in times.items()}


def time_all(files, inputs, options):
    """By tool: the speed-up, as text. Files are loaded in one order and in its reverse by turns."""
    orders = [dict(list(files.items())[::1 if i % 2 else -1]) for i in range(options.loads)]
    loads = [medians_of_load(order, inputs, options) for order in orders]
    ratios = {tool: [load["original"] / load[tool] for load in loads] for tool in files}
    return {tool: [f"{np.median(r):.2f} ({min(r):.2f} to {max(r):.2f})"] if loads else [] for tool, r in ratios.items()}


def differences(files, inputs):
    """Of the outputs from the original's, by tool."""
    from models.runtime import session_of
    outputs = {tool: session_of(path).run(None, inputs) for tool, path in files.items()}
    return {tool: largest_difference(outputs["original"], found) for tool, found in outputs.items()}


def told_difference(difference):
    """NaN differs."""
    if difference <= SMALL_DIFFERENCE:
        return []
    return [f"{difference:.0e}" if difference <= DIFFERS else f"DIFFERS by {difference:.0e}"]


def tools_of(options):
    return [*options.tools, OURS] + ([SEARCHED] if options.search else [])


def compare(name, options, notes):
    """A row of the table."""
    model = model_of(name, options)
    files, costs = {"original": model}, {}
    for tool in tools_of(options):
        out = options.folder / f"{model.stem}-by-{tool.replace(' ', '-').replace(',', '')}.onnx"
        try:
            costs[tool] = run_measured(command_of(tool, model, out, options), options.limit)
            files[tool] = out
        except RuntimeError as failure:
            notes.append(f"{tool} on {name}: {failure}")
    inputs = inputs_of(model, files[OURS].with_suffix(".json"))
    found, times = differences(files, inputs), time_all(files, inputs, options)
    cells = {tool: [nodes_of(files[tool]), f"{seconds:.1f} s", f"{peak:.0f} MiB", *told_difference(found[tool]), *times[tool]]
             for tool, (seconds, peak) in costs.items()}
    shown = model.stem if pathlib.Path(name).is_file() else name
    return [shown, nodes_of(model)] + [", ".join(cells.get(tool, ["none"])) for tool in tools_of(options)]


def main(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    notes, rows = [], []
    for name in options.names:
        rows.append(compare(name, options, notes))
        print(*rows[-1], sep=" | ", flush=True)
        text = heading("Beside other simplifiers") + markdown_table(["model", "original", *tools_of(options)], rows) + "\n"
        write_markdown(options, text + "".join(f"\n- {note}" for note in notes) + "\n" * bool(notes))
    print(*notes, sep="\n")
    return 0
