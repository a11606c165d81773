"""What tables share: arguments, models, results that are kept, tables that are made model by model, Markdown."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
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


# Of Tensat's Table 1 (Yang et al., MLSys 2021): how many percent faster TASO and Tensat made models on an NVIDIA T4.
PUBLISHED = {"bert-taso": (8.5, 9.2), "resnext50-taso": (5.5, 8.8), "nasnet-a": (1.9, 7.3), "nasrnn": (45.4, 68.9),
             "inception-v3-tensat": (6.3, 10.0), "squeezenet-tensat": (6.7, 24.5), "vgg19-tensat": (8.9, 8.9)}


# --- arguments ---------------------------------------------------------------------------------------------------------

def bare_parser(says):
    return argparse.ArgumentParser(prog=sys.argv[0], description=says, conflict_handler="resolve",
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def parser_of(says, names):
    """Of which models, where they and their cost databases are, and how they are optimized."""
    parser = bare_parser(says)
    parser.add_argument("names", metavar="NAME", nargs="*", default=names, help="models (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="the small variants")
    parser.add_argument("--folder", metavar="FOLDER", type=pathlib.Path, default=ROOT / "build/bench",
                        help="for results, and for models that --models does not have (default: %(default)s)")
    parser.add_argument("--models", metavar="DIR", type=pathlib.Path, help="a folder that has models already")
    parser.add_argument("--program", metavar="FILE", default=ROOT / "build/programs/taso-opt", help="taso-opt")
    parser.add_argument("--runner", metavar="FILE", default=ROOT / "build/programs/taso-run", help="taso-run, where it is needed")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the model (default: %(default)s)")
    parser.add_argument("--option", metavar="OPTION", action="append", default=[], help="more options for taso-opt")
    parser.add_argument("--markdown", metavar="FILE", type=pathlib.Path, help="write the table to this file, too")
    parser.add_argument("--only-tell", action="store_true", help="measure nothing, print what was measured")
    return parser


def add_numbers_of_threads(parser):
    parser.add_argument("--threads", metavar="N", type=int, action="append", default=[],
                        help="of the models; may be repeated (default: 1 and 2)")


def add_timing(parser, rounds, seconds):
    """By 1 and 2 threads, unless --threads names one number."""
    parser.set_defaults(threads=None)
    parser.add_argument("--rounds", type=int, default=rounds, help="loads of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=seconds, help="of timing for each load (default: %(default)s)")


def parse_known_models(parser):
    """Names are those of build-models, of files, or of files in --models."""
    from models.catalog import MODELS
    options = parser.parse_args()
    for name in options.names:
        is_file = pathlib.Path(name).is_file()
        if name not in MODELS and not is_file and not (options.models and list(options.models.glob(f"{name}*.onnx"))):
            parser.error(f"no model is called '{name}', and no file; see build-models --list")
    return options


def threads_of(options):
    return [options.threads] if options.threads else sorted({1, min(2, os.cpu_count() or 1)})


# --- results -----------------------------------------------------------------------------------------------------------

class Kept:
    """Results in FOLDER/NAME.json, by key: what is there is not measured again, so that a run can be cut at any time."""

    def __init__(self, name, options):
        options.folder.mkdir(parents=True, exist_ok=True)
        self.path = options.folder / f"{name}{'-small' if options.small else ''}.json"
        self.results = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        self.failures, self.only_tells = [], options.only_tell

    def measure(self, keys, work, tell=lambda key: None):
        """Those that are not there by `work`; a model on which something fails is a line, and has no result."""
        for key in [key for key in keys if key not in self.results and not self.only_tells]:
            try:
                self.results[key] = work(key)
                replace_text(self.path, json.dumps(self.results))
                tell(key)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                self.failures.append(f"{key}: {error}")
                print(self.failures[-1], file=sys.stderr, flush=True)

    def told_failures(self):
        return "".join(f"\n\nFailed: {failure}" for failure in self.failures)


def make_table(file, options, wanted, measure, columns, row, title, says="", text_of=None, last=lambda rows: [],
               notes=lambda done: "", is_bad=lambda result: False):
    """The whole way of a table: `wanted` has by key what measure and row are given, `text_of` makes more than one table of
    (arguments, result), `last` rows behind the others, and `notes` what stands below. What there is is written after each result. Gives the exit code."""
    kept = Kept(file, options)

    def done():
        return [(wanted[key], kept.results[key]) for key in wanted if key in kept.results]

    def text():
        rows = [row(*arguments, result) for arguments, result in done()]
        return (text_of(done()) if text_of else markdown_table(columns, rows + last(rows))) + notes(done()) + kept.told_failures()

    def tell_row(key):
        write_markdown(options, heading(title, says) + text() + "\n")
        print(markdown_table(columns, [row(*wanted[key], kept.results[key])]).splitlines()[-1], file=sys.stderr, flush=True)

    kept.measure(wanted, lambda key: measure(*wanted[key], options), tell_row)
    tell(options, text(), heading(title, says))
    return 1 if kept.failures or any(is_bad(result) for _, result in done()) else 0


def heading(title, says=""):
    return (f"# {title}\n\n{machine()}, {os.cpu_count()} cores, {datetime.date.today()}, by\n\n"
            f"    scripts/{sys.argv[0]} {shlex.join(sys.argv[1:])}\n\n{says}{chr(10) * 2 if says else ''}")


def replace_text(path, text):
    """As a whole, whenever it is cut."""
    whole = path.with_name(path.name + ".new")
    whole.write_text(text, encoding="utf-8")
    os.replace(whole, path)


# --- models ------------------------------------------------------------------------------------------------------------

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


def shapes_of(model, sizes):
    """The shape of each input that has symbols, as an option."""
    shapes = []
    for i in onnx.load(model, load_external_data=False).graph.input:
        dims = [(d.dim_param or f"{i.name}[{axis}]", d) for axis, d in enumerate(i.type.tensor_type.shape.dim)]
        if any(not d.HasField("dim_value") for _, d in dims):
            numbers = [str(d.dim_value if d.HasField("dim_value") else sizes[name]) for name, d in dims]
            shapes += ["--shape", f"{i.name}={','.join(numbers)}"]
    return shapes


# --- commands ----------------------------------------------------------------------------------------------------------

def run_for_json(command, accepted):
    """Runs a command that takes --json, and gives what it wrote. RuntimeError unless its exit code is accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        done = subprocess.run([*map(str, command), "--json", path], capture_output=True, text=True, check=False)
        if done.returncode not in accepted:
            raise RuntimeError(f"{pathlib.Path(command[0]).name} gave {done.returncode}: {done.stderr.strip()[-300:]}")
        return json.loads(path.read_text(encoding="utf-8"))


def by_name(names):
    return {name: (name,) for name in names}


def by_threads(names, counts):
    """The keys of results of each model by each number of threads."""
    return {f"{name} {threads}": (name, threads) for name in names for threads in counts}


# --- text --------------------------------------------------------------------------------------------------------------

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


def percent(ratios):
    """Of a ratio with its interval: low, itself, high."""
    low, ratio, high = (100 * (ratio - 1) for ratio in ratios)
    return f"{ratio:+.1f} ({low:+.1f} to {high:+.1f})"


def markdown_table(columns, rows):
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
