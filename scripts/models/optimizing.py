"""What scripts that run taso-opt on the benchmark models have in common."""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHAPES = {"gpt2": ["--shape", "input_ids=1,64"]}   # of inputs whose dimensions are symbolic
SEARCH = ["--no-check", "--no-measure"]
BENCHMARKS = ["nasrnn", "squeezenet", "bert-taso", "bert-taso-corrected", "resnext50-taso", "inception-v3", "nasnet-a",
              "vgg19", "mobilenetv2", "efficientnet-b0", "resnet50", "resnext50", "bert", "vit", "gpt2", "llama"]


def add_arguments(parser, names):
    """Of which models, where they and their cost databases are, and how they are optimized."""
    parser.add_argument("names", metavar="NAME", nargs="*", default=names, help="models (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="the small variants")
    parser.add_argument("--folder", metavar="FOLDER", type=pathlib.Path, default=ROOT / "build/bench",
                        help="for results, and for models that --models does not have (default: %(default)s)")
    parser.add_argument("--models", metavar="DIR", type=pathlib.Path, help="a folder that has models already")
    parser.add_argument("--program", metavar="FILE", default=ROOT / "build/optimizer/taso-opt", help="taso-opt")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the model (default: %(default)s)")


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


def markdown_table(columns, rows):
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
