"""The peaks of memory of taso-opt, searching, checking and timing in our own executor, and of taso-run, beside the model's
file and what is written. Results are kept in FOLDER/memory.json, model by model: what is there is not measured again; remove
the file to begin anew. Cost databases are kept in FOLDER, too."""

import os
import pathlib
import subprocess
import time

from tables.common import SHAPES, by_name, find_or_build, make_table, parser_of

STANDARD = ["efficientnet-b0", "resnet50", "inception-v3", "bert-taso-corrected", "bert", "gpt2", "vgg19"]
COLUMNS = ["model", "file MiB", "written MiB", "taso-opt MiB", "times the file", "times the larger", "seconds", "taso-run MiB",
           "times the file"]


def parse_arguments():
    parser = parser_of(__doc__, STANDARD)
    parser.set_defaults(threads=1)
    return parser.parse_args()


def peak_of(command):
    """Bytes that were resident at the peak, and seconds."""
    started = time.monotonic()
    child = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{pathlib.Path(command[0]).name} ended with {child.returncode}")
    return 1024 * usage.ru_maxrss, time.monotonic() - started


def measure(name, options):
    model, shapes = find_or_build(name, options), SHAPES.get(name, [])
    fast, costs = (options.folder / f"{model.stem}-{options.threads}{end}" for end in ("-fast.onnx", ".costs"))
    common = ["--threads", options.threads, "--costs", costs, *shapes]
    peak, seconds = peak_of([options.program, model, "-o", fast, "--runtime", "taso", "--quiet", *common, *options.option])
    told = {"file": model.stat().st_size, "written": fast.stat().st_size, "taso-opt": peak, "seconds": seconds,
            "taso-run": peak_of([options.runner, model, "-n", 3, *common])[0]}
    fast.unlink()
    return told


def row(name, told):
    def mebibytes(what):
        return f"{told[what] / 2**20:.0f}"
    return [name, mebibytes("file"), mebibytes("written"), mebibytes("taso-opt"), f"{told['taso-opt'] / told['file']:.2f}",
            f"{told['taso-opt'] / max(told['file'], told['written']):.2f}", f"{told['seconds']:.0f}", mebibytes("taso-run"),
            f"{told['taso-run'] / told['file']:.2f}"]


def main(options):
    return make_table("memory", options, by_name(options.names), measure, COLUMNS, row, "Memory",
                      "Resident at the peak. *Written* is what `taso-opt` wrote: the original, simplified, where nothing was gained. "
                      "What is timed has the weights of both, one after the other.")
