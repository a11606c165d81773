"""Builds models with weights, optimizes each with taso-opt, and compares the original with the result side by side: in
taso's own executor (as taso-opt measured it) and in ONNX Runtime with all its optimizations on both. Prints a table and,
with --markdown, writes it with the machine it was measured on. A model on which something fails is a row that says so, and the
exit code is 1."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STANDARD = ["nasrnn", "bert", "squeezenet", "inception-v3", "resnet50", "resnext50", "mobilenetv2", "vgg19", "nasnet-a",
            "vit", "llama-block"]
COLUMNS = ["model", "nodes", "rewrites", "search s", "estimated", "own: before ms", "after ms", "speed-up",
           "ORT: before ms", "after ms", "speed-up", "ORT difference"]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="bench-models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", default=STANDARD, help="models (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="the small variants")
    parser.add_argument("--folder", metavar="DIR", type=pathlib.Path, default=ROOT / "build/bench",
                        help="for the models (default: %(default)s)")
    parser.add_argument("--program", metavar="FILE", default=ROOT / "build/optimizer/taso-opt", help="taso-opt")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for both (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=5, help="of timing for each (default: %(default)s)")
    parser.add_argument("--option", metavar="OPTION", action="append", default=[], help="more options for taso-opt")
    parser.add_argument("--markdown", metavar="FILE", type=pathlib.Path, help="write the table to this file")
    return parser.parse_args()


def build(name, options):
    path = options.folder / f"{name}{'-small' if options.small else ''}.onnx"
    if not path.exists():
        command = [ROOT / "scripts/build-models", "--out", options.folder, name] + (["--small"] if options.small else [])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def run_for_json(command, accepted):
    """Runs a command that takes --json, and gives what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        done = subprocess.run([*map(str, command), "--json", path], capture_output=True, text=True, check=False)
        if done.returncode not in accepted:
            raise RuntimeError(f"{pathlib.Path(command[0]).name} gave {done.returncode}: {done.stderr.strip()[-300:]}")
        return json.loads(path.read_text(encoding="utf-8"))


def spread(values, digits=2):
    low, median, high = values
    return f"{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def own_columns(report):
    before, after = report["estimated_seconds_before"], report["estimated_seconds_after"]
    row = [sum(report["operators_before"].values()), len(report["rewrites"]), f"{report['search']['seconds']:.1f}",
           f"{before / after:.3f}"]
    if "speedup" not in report:
        return row + ["-"] * 3
    times = [f"{1e3 * report[f'measured_seconds_{which}']['median']:.2f}" for which in ("before", "after")]
    return row + times + [spread([report["speedup_low"], report["speedup"], report["speedup_high"]], 3)]


def ort_columns(comparison):
    worst = max(output["difference"] for output in comparison["outputs"].values())
    times = comparison["time"]
    return [f"{times[f'milliseconds_{which}'][1]:.2f}" for which in "ab"] + [spread(times["ratio"], 3), f"{worst:.1e}"]


def measure(name, options):
    model = build(name, options)
    fast = model.with_name(model.stem + "-fast.onnx")
    report = run_for_json([options.program, model, "-o", fast, "--threads", options.threads, "--measure-seconds",
                           options.seconds, *options.option], {0})
    comparison = run_for_json([ROOT / "scripts/compare-ort", model, fast, "--threads", options.threads, "--time",
                               options.seconds], {0, 5})
    return [name, *own_columns(report), *ort_columns(comparison)], report["device"]


def table_of(rows):
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def main():
    options = parse_arguments()
    rows, failures, device = [], [], platform.processor()
    for name in options.names:
        try:
            row, device = measure(name, options)
            rows.append(row)
            print(" ".join(f"{column}={value}" for column, value in zip(COLUMNS, row)), flush=True)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            failures.append(f"{name}: {error}")
            print(failures[-1], file=sys.stderr, flush=True)
    text = table_of(rows) + "".join(f"\n\nFailed: {failure}" for failure in failures)
    print(text)
    if options.markdown:
        heading = f"Measured {datetime.date.today()} on {device}, {options.threads} threads, by `scripts/bench-models`."
        options.markdown.write_text(f"{heading}\n\n{text}\n", encoding="utf-8")
    return 1 if failures else 0


sys.exit(main())
