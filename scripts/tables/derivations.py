"""Derives the cases of the EinNet paper (Zheng et al., OSDI 2023) at its sizes, none of them preset, and the models that it
was evaluated on, and prints two tables. Of a case: the rules that lead to it, programs that were met of those that rules
led to (with and without fingerprints, EinNet's Figure 19), programs of operators that were found with and without
converging derivation (Figure 18), the time of the model before and after `taso-opt --derive` on this CPU, and what an
H200's rooflines say of both. Of a model: seconds of a cold and a warm run, and what it gains in our own executor.
Results are kept in FOLDER, case by case; what is there is not measured again."""

import dataclasses
import re
import subprocess
import tempfile

from onnx import helper, numpy_helper, parser
import numpy as np
import onnx

from tables.common import ROOT, Kept, find_or_build, heading, markdown_table, parser_of, run_for_json, tell

MODELS = ["infogan", "dcgan", "fsrcnn", "gcn", "resnet18", "csrnet", "longformer"]
VERIFY = ROOT / "build/programs/taso-verify"
PEAK, BANDWIDTH = 67e12, 4.8e12   # of an H200: operations of f32 outside of tensor cores, and bytes, in a second


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    definition: str
    made_of: str      # operators of the program that is wanted
    depth: int
    model: str = ""   # what is timed, in ONNX's text
    weights: dict = dataclasses.field(default_factory=dict)   # shapes by names


def conv(channels, size, filters, window, pad, dilation=1):
    """A convolution of one image as a definition, and as a model."""
    (r, s), (p, q) = window, pad
    places = [f"{axis} + {tap} * {dilation} - {begin}" for axis, tap, begin in (("k", "n", p), ("l", "p", q))]
    definition = (f"x0 f32[1,{channels},{size},{size}]\nx1 f32[{filters},{channels},{r},{s}]\n"
                  f"z[i,j,k,l] f32[1,{filters},{size},{size}] = sum(m < {channels}) sum(n < {r}) sum(p < {s}) "
                  f"(x0[i,m,{places[0]},{places[1]} or 0] * x1[j,m,n,p])\n")
    model = (f"(float[1,{channels},{size},{size}] x) => (float[1,{filters},{size},{size}] y) "
             f"{{ y = Conv<pads = [{p}, {q}, {p}, {q}], dilations = [{dilation}, {dilation}]>(x, k) }}")
    return {"definition": definition, "model": model, "weights": {"k": (filters, channels, r, s)}}


def beside_conv(channels, size, filters, window, pad):
    """The same with a convolution 1x1 of the same image beside it in the model: both are one product (Figure 3a)."""
    case = conv(channels, size, filters, window, pad)
    model = case["model"].replace(" y) {", f" y, float[1,{filters},{size},{size}] z) {{ z = Conv(x, l)")
    return {**case, "model": model, "weights": {**case["weights"], "l": (filters, channels, 1, 1)}}


def transposed(batch, channels, size, filters):
    definition = (f"x0 f32[{batch},{channels},{size},{size}]\nx1 f32[{channels},{filters},4,4]\n"
                  f"z[i,j,k,l] f32[{batch},{filters},{2 * size},{2 * size}] = sum(m < {channels}) sum(n < 4) sum(p < 4) "
                  "(if 0 - ((k - n + 1) mod 2) >= 0 then (if 0 - ((l - p + 1) mod 2) >= 0 then "
                  "(x0[i,m,(k - n + 1) / 2,(l - p + 1) / 2 or 0] * x1[m,j,n,p]) else 0.0) else 0.0)\n")
    model = (f"(float[{batch},{channels},{size},{size}] x) => (float[{batch},{filters},{2 * size},{2 * size}] y) "
             "{ y = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k) }")
    return {"definition": definition, "model": model, "weights": {"k": (channels, filters, 4, 4)}}


def product(rows, inner, columns):
    definition = (f"x0 f32[{rows},{inner}]\nx1 f32[{inner},{columns}]\n"
                  f"z[i,j] f32[{rows},{columns}] = sum(m < {inner}) (x0[i,m] * x1[m,j])\n")
    model = f"(float[{rows},{inner}] x) => (float[{rows},{columns}] y) {{ y = MatMul(x, k) }}"
    return {"definition": definition, "model": model, "weights": {"k": (inner, columns)}}


def band(heads, length, width, side, dilation):
    """Of Longformer; the model has it with blocks (longformer.py), of which one layer is timed."""
    columns = 2 * side + 1
    return {"definition": f"x0 f32[{heads},{length},{width}]\nx1 f32[{heads},{length},{width}]\n"
                          f"z[i,j,k] f32[{heads},{length},{columns}] = sum(m < {width}) "
                          f"(x0[i,j,m] * x1[i,j + k * {dilation} - {side * dilation},m or 0])\n"}


CASES = (
    Case("conv 3x3 as one product and an offset-reduce", made_of="matmul (f32 4608 512) (f32 512 49)", depth=3,
         **conv(512, 7, 512, (3, 3), (1, 1))),
    Case("the same beside a conv 1x1 of the same image", made_of="matmul (f32 4608 512) (f32 512 49)", depth=3,
         **beside_conv(512, 7, 512, (3, 3), (1, 1))),
    Case("conv 3x3 as im2col and a product", made_of="matmul (f32 512 4608) (f32 4608 49)", depth=0,
         **conv(512, 7, 512, (3, 3), (1, 1))),
    Case("conv 3x3 in three groups", made_of="conv (f32 7 1536 7) (f32 1536 512 3) :stride 1 :pad 1 1 :dilation 1 :group 3",
         depth=1, **conv(512, 7, 512, (3, 3), (1, 1))),
    Case("conv 5x5 as 3x3 of four times the channels",
         made_of="conv (f32 1 32 224 224) (f32 128 32 3 3) :stride 1 1 :pad 2 2 3 3 :dilation 1 1", depth=4,
         **conv(32, 224, 32, (5, 5), (2, 2))),
    Case("transposed convolution as one product and an offset-reduce", made_of="matmul (f32 64 448) (f32 448 4096)", depth=3,
         **transposed(16, 448, 2, 256)),
    Case("transposed convolution as one convolution of all phases",
         made_of="conv (f32 16 448 2 2) (f32 1024 448 2 2) :stride 1 1 :pad 1 1 1 1 :dilation 1 1", depth=3,
         **transposed(16, 448, 2, 256)),
    Case("dilated convolution as one without dilation",
         made_of="conv (f32 4 512 9 9) (f32 512 512 3 3) :stride 1 1 :pad 0 0 0 0 :dilation 1 1", depth=1,
         **conv(512, 14, 512, (3, 3), (2, 2), 2)),
    Case("dilated G2BMM as products of tiles without dilation", made_of="matmul (f32 160 500 64) (f32 160 64 2500)", depth=3,
         **band(8, 10000, 64, 1000, 4)),
    Case("conv 1x7 as one product and an offset-reduce", made_of="matmul (f32 147 2048) (f32 2048 49)", depth=3,
         **conv(2048, 7, 21, (1, 7), (0, 3))),
    Case("conv 7x1 as one product and an offset-reduce", made_of="matmul (f32 147 2048) (f32 2048 49)", depth=3,
         **conv(2048, 7, 21, (7, 1), (3, 0))),
    Case("Winograd's F(4x4, 3x3)", made_of="matmul (f32 36 196 64) (f32 36 64 64)", depth=2,
         **conv(64, 56, 64, (3, 3), (1, 1))),
    Case("Strassen's product", made_of="matmul (f32 7 512 512) (f32 7 512 512)", depth=1, **product(1024, 1024, 1024)),
)


# --- cases -------------------------------------------------------------------------------------------------------------

def derived(case, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(case.definition)
        file.flush()
        done = subprocess.run([VERIFY, "derivations", file.name, "--depth", str(case.depth), "--weights", "x1", *options],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{case.name}: {done.stderr.strip()}")
    return done.stdout


def counters(text):
    states, steps, programs = map(int, re.search(r"(\d+) states of (\d+) steps,.*; (\d+) programs", text).groups())
    return {"states": states, "steps": steps, "programs": programs}


def roofline(text, which):
    """Seconds on an H200, by its rooflines."""
    operations, bytes_moved = map(int, re.search(rf"^{which}: (\d+) operations, (\d+) bytes", text, re.MULTILINE).groups())
    return max(operations / PEAK, bytes_moved / BANDWIDTH)


def build(case, path):
    graph = parser.parse_graph(f"g {case.model}")
    for name, shape in case.weights.items():
        weights = np.random.default_rng(7).standard_normal(shape, np.float32) / np.float32(np.prod(shape[1:]) ** 0.5)
        graph.initializer.append(numpy_helper.from_array(weights, name))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def measure_case(case, options):
    found = derived(case, "--made-of", case.made_of)
    path = re.search(r"^\d+: equal, .*, by (.*)$", found, re.MULTILINE)
    if not path:
        raise RuntimeError(f"{case.name}: not found")
    return {"path": path[1], **counters(found), "forgetful": counters(derived(case, "--show", "0", "--no-fingerprints")),
            "unguided": counters(derived(case, "--show", "0", "--no-converging")),
            "rooflines": [roofline(found, "original"), roofline(found, "derived")], "report": time_case(case, options)}


def time_case(case, options):
    if not case.model:
        return None
    model = options.folder / "case.onnx"
    build(case, model)
    return optimized(model, options, "--costs", options.folder / "cases.costs")


def optimized(model, options, *more):
    return run_for_json([options.program, model, "--derive", "-o", options.folder / f"{model.stem}.taso", "--quiet", "--threads",
                         options.threads, "--measure-seconds", options.seconds, *more, *options.option], {0})


def times(report):
    if not report:
        return ["-"] * 3
    before, after = (report.get(f"measured_seconds_{which}", {}).get("median") for which in ("before", "after"))
    return [f"{1e3 * t:.3f}" if t else "-" for t in (before, after)] + [gain(report)]


def gain(report):
    if "speedup" not in report:
        return "1: nothing found"
    low, middle, high = (report[key] for key in ("speedup_low", "speedup", "speedup_high"))
    kept = "" if report["optimized"] else "; the original is kept"
    return f"{middle:.2f} ({low:.2f} to {high:.2f}){kept}"


def row_of_case(case, result):
    before, after = (1e6 * seconds for seconds in result["rooflines"])
    return [case.name, result["path"], f"{result['states']} of {result['steps']}", result["forgetful"]["states"],
            result["programs"], result["unguided"]["programs"], *times(result["report"]), f"{before:.1f}", f"{after:.1f}"]


CASE_COLUMNS = ["case", "rules on the way", "states, of steps", "without fingerprints", "programs", "without converging",
                "before ms", "after ms", "times as fast (95 %)", "H200 before us", "after us"]


# --- models ------------------------------------------------------------------------------------------------------------

def measure_model(name, options):
    model, costs = find_or_build(name, options), options.folder / f"{name}.costs"
    costs.unlink(missing_ok=True)
    cold = optimized(model, options, "--costs", costs)
    return {"cold": cold, "warm": optimized(model, options, "--costs", costs)}


def derived_rules(report):
    return ", ".join(f"{rule} {n}" for rule, n in report["rules_applied"].items() if rule.startswith("derived")) or "none"


def row_of_model(name, result):
    cold, warm = result["cold"], result["warm"]
    return [name, f"{cold['seconds']:.1f}", f"{warm['seconds']:.1f}", *times(warm), derived_rules(warm)]


MODEL_COLUMNS = ["model", "cold s", "warm s", "before ms", "after ms", "times as fast (95 %)", "derived rules"]


def parse_arguments():
    parser = parser_of(__doc__, ["cases", *MODELS])
    parser.add_argument("--seconds", type=float, default=2, help="of timing for each (default: %(default)s)")
    return parser.parse_args()


def table(columns, rows):
    return markdown_table(columns, rows) + "\n\n" if rows else ""


def main(options):
    kept, cases = Kept("derivations", options), {case.name: case for case in CASES if "cases" in options.names}
    models = [name for name in options.names if name != "cases"]
    kept.measure(cases, lambda name: measure_case(cases[name], options), lambda key: print(key, flush=True))
    kept.measure(models, lambda name: measure_model(name, options), lambda key: print(key, flush=True))
    found = kept.results
    text = table(CASE_COLUMNS, [row_of_case(cases[name], found[name]) for name in cases if name in found])
    text += table(MODEL_COLUMNS, [row_of_model(name, found[name]) for name in models if name in found])
    tell(options, text.rstrip() + kept.told_failures(), heading("Derivation"))
    return 1 if kept.failures else 0
