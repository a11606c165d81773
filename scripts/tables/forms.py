"""What the rules of written.rules gain in ONNX Runtime: small models whose convolutions are of rows, or whose weights
are batches of one matrix, before and after taso-opt."""

import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from tables.common import markdown_table, parser_of, run_for_json, tell

FRAMES, CHANNELS, BLOCKS = 400, 256, 4
# A convolution module of a Conformer: pointwise, gated, by 31 frames of each channel, normalized, SiLU, pointwise.
MODULE = f"""a{{0}} = Conv({{1}}, in{{0}}, inb{{0}})  l{{0}}, g{{0}} = Split<axis = 1>(a{{0}})  h{{0}} = Sigmoid(g{{0}})
    m{{0}} = Mul(l{{0}}, h{{0}})  c{{0}} = Conv<pads = [15, 15], group = {CHANNELS}>(m{{0}}, row{{0}}, rowb{{0}})
    n{{0}} = BatchNormalization(c{{0}}, s{{0}}, t{{0}}, mean{{0}}, var{{0}})  e{{0}} = Sigmoid(n{{0}})  f{{0}} = Mul(n{{0}}, e{{0}})
    o{{0}} = Conv(f{{0}}, out{{0}}, outb{{0}})  x{{0}} = Add({{1}}, o{{0}})"""
SHAPES = {"in": (2 * CHANNELS, CHANNELS, 1), "inb": (2 * CHANNELS,), "row": (CHANNELS, 1, 31), "rowb": (CHANNELS,), "s": (CHANNELS,),
          "t": (CHANNELS,), "mean": (CHANNELS,), "var": (CHANNELS,), "out": (CHANNELS, CHANNELS, 1), "outb": (CHANNELS,)}
COLUMNS = ["model", "before ms", "after ms", "times as fast", "95 %"]


def model_of(text, **shapes):
    graph = parser.parse_graph(f"g {text}")
    drawn = np.random.default_rng(1)
    for name, shape in shapes.items():
        weights = drawn.random(shape, np.float32) if name.startswith("var") else \
            drawn.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[-1] * (shape[1] if len(shape) > 2 else 1)))
        graph.initializer.append(numpy_helper.from_array(weights, name))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def products(batch, rows):
    return model_of(f"(float[{batch},{rows},768] x) => (float[{batch},{rows},768] z) {{ y = MatMul(x, u)  r = Relu(y)  z = MatMul(r, v) }}",
                    u=(1, 768, 3072), v=(1, 3072, 768))


def conformer():
    shape = f"float[1,{CHANNELS},{FRAMES}]"
    modules = " ".join(MODULE.format(i, "x" if i == 0 else f"x{i - 1}") for i in range(BLOCKS))
    return model_of(f"({shape} x) => ({shape} x{BLOCKS - 1}) {{ {modules} }}",
                    **{f"{name}{i}": shape for name, shape in SHAPES.items() for i in range(BLOCKS)})


MODELS = {
    "convolution of 512 rows by 31": lambda: model_of(
        "(float[1,512,256] x) => (float[1,512,256] y) { c = Conv<pads = [15, 15], group = 512>(x, k, b)  y = Relu(c) }",
        k=(512, 1, 31), b=(512,)),
    "convolution modules": conformer,
    "products, batch of 4, one row": lambda: products(4, 1),
    "products, batch of 1, 16 rows": lambda: products(1, 16),
    "products, batch of 1, 128 rows": lambda: products(1, 128),
}


def row_of(name, options, folder):
    model, fast = folder / "model.onnx", folder / "fast.onnx"
    onnx.save(MODELS[name](), str(model))
    told = run_for_json([options.program, model, "-o", fast, "--threads", options.threads, "--runtime", "onnxruntime", "--costs", "",
                         "--python", sys.executable, "--measure-seconds", "2", "--quiet", *options.option], {0})
    if "speedup" not in told:
        return [name, *["-"] * 4]
    times = [f"{1e3 * told[f'measured_seconds_{which}']['median']:.3f}" for which in ("before", "after")]
    return [name, *times, f"{told['speedup']:.2f}", f"{told['speedup_low']:.2f} to {told['speedup_high']:.2f}"]


def parse_arguments():
    options_parser = parser_of(__doc__, list(MODELS))
    options = options_parser.parse_args()
    if unknown := set(options.names) - MODELS.keys():
        options_parser.error(f"no such model: {', '.join(unknown)}")
    return options


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        rows = [row_of(name, options, pathlib.Path(folder)) for name in options.names]
    tell(options, markdown_table(COLUMNS, rows))
    return 0
