"""What scripts that measure taso-opt on models have in common: arguments, models, results that are kept, tables."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHAPES = {"gpt2": ["--shape", "input_ids=1,64"]}   # of inputs whose dimensions are symbolic
SEARCH = ["--no-check", "--no-measure"]
BENCHMARKS = ["nasrnn", "squeezenet", "bert-taso", "bert-taso-corrected", "resnext50-taso", "inception-v3", "nasnet-a",
              "vgg19", "mobilenetv2", "efficientnet-b0", "resnet50", "resnext50", "bert", "vit", "gpt2", "llama"]
ALL = [*BENCHMARKS, "unet", "resnet18", "mobilenetv3"]   # beside other runtimes


def parser_of(program, says, names):
    """Of which models, where they and their cost databases are, and how they are optimized."""
    parser = argparse.ArgumentParser(prog=program, description=says, conflict_handler="resolve",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", default=names, help="models (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="the small variants")
    parser.add_argument("--folder", metavar="FOLDER", type=pathlib.Path, default=ROOT / "build/bench",
                        help="for results, and for models that --models does not have (default: %(default)s)")
    parser.add_argument("--models", metavar="DIR", type=pathlib.Path, help="a folder that has models already")
    parser.add_argument("--program", metavar="FILE", default=ROOT / "build/optimizer/taso-opt", help="taso-opt")
    parser.add_argument("--runner", metavar="FILE", default=ROOT / "build/optimizer/taso-run", help="taso-run, where it is needed")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the model (default: %(default)s)")
    parser.add_argument("--option", metavar="OPTION", action="append", default=[], help="more options for taso-opt")
    parser.add_argument("--markdown", metavar="FILE", type=pathlib.Path, help="write the table to this file, too")
    return parser


def add_numbers_of_threads(parser):
    parser.add_argument("--threads", metavar="N", type=int, action="append", default=[],
                        help="of the models; may be repeated (default: 1 and 2)")


class Kept:
    """Results in FOLDER/NAME.json, by key: what is there is not measured again, so that a run can be cut at any time."""

    def __init__(self, name, options):
        options.folder.mkdir(parents=True, exist_ok=True)
        self.path = options.folder / f"{name}{'-small' if options.small else ''}.json"
        self.results = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        self.failures = []

    def measure(self, keys, work, tell=lambda key: None):
        """Those that are not there by `work`; a model on which something fails is a line, and has no result."""
        for key in [key for key in keys if key not in self.results]:
            try:
                self.results[key] = work(key)
                replace_text(self.path, json.dumps(self.results))
                tell(key)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                self.failures.append(f"{key}: {error}")
                print(self.failures[-1], file=sys.stderr, flush=True)

    def told_failures(self):
        return "".join(f"\n\nFailed: {failure}" for failure in self.failures)


def replace_text(path, text):
    """As a whole, whenever it is cut."""
    whole = path.with_name(path.name + ".new")
    whole.write_text(text, encoding="utf-8")
    os.replace(whole, path)


def model_of(name, options):
    return pathlib.Path(name) if pathlib.Path(name).is_file() else find_or_build(name, options)


def find_or_build(name, options):
    """The path of a model's file, which is built in the folder unless it is there."""
    file = f"{name}{'-small' if options.small else ''}.onnx"
    if options.models and (options.models / file).exists():
        return options.models / file
    if not (options.folder / file).exists():
        command = [ROOT / "scripts/build-models", "--out", options.folder, name] + (["--small"] if options.small else [])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return options.folder / file


def parse_shape(text):
    name, _, dimensions = text.rpartition("=")
    try:
        return name, [int(d) for d in dimensions.split(",") if d]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=1,2,3") from None


def shapes_of(model, sizes):
    """The shape of each input that has symbols, as an option."""
    shapes = []
    for i in onnx.load(model, load_external_data=False).graph.input:
        dims = [(d.dim_param or f"{i.name}[{axis}]", d) for axis, d in enumerate(i.type.tensor_type.shape.dim)]
        if any(not d.HasField("dim_value") for _, d in dims):
            numbers = [str(d.dim_value if d.HasField("dim_value") else sizes[name]) for name, d in dims]
            shapes += ["--shape", f"{i.name}={','.join(numbers)}"]
    return shapes


def run_for_json(command, accepted):
    """Runs a command that takes --json, and gives what it wrote. RuntimeError unless its exit code is accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        done = subprocess.run([*map(str, command), "--json", path], capture_output=True, text=True, check=False)
        if done.returncode not in accepted:
            raise RuntimeError(f"{pathlib.Path(command[0]).name} gave {done.returncode}: {done.stderr.strip()[-300:]}")
        return json.loads(path.read_text(encoding="utf-8"))


def by_threads(names, counts):
    """The keys of results of each model by each number of threads."""
    return {f"{name} {threads}": (name, threads) for name in names for threads in counts}


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def write_markdown(options, text):
    if options.markdown:
        replace_text(options.markdown, text)


def tell(options, text, heading=""):
    """On standard output, and behind the heading in the file of --markdown."""
    print(text)
    write_markdown(options, heading + text + "\n")


def markdown_table(columns, rows):
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
