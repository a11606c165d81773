"""--strict-nan keeps what is no number: `strict_nan.py TASO-OPT`.

Models that are rewritten run, before and after, in ONNX's reference (numpy) on NaN, infinities, signed zeros, the largest
and the least numbers. With --strict-nan all results agree; without it some do not, so that the inputs
tell. What only moves entries is rewritten in either case.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from expectations import expect, failures
from small_models import small_model

OPT = sys.argv[1]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, 1e-45, 1, -2], np.float32)
SQUARE = {"a": (8, 8), "b": (8, 8)}
PRODUCTS = "y = MatMul(x, a)  z = MatMul(x, b)  w = MatMul(x, c)"
KEPT = {   # rewritten by what only moves entries
    "joined": (f"(float[1,64] x) => (float[1,32] y, float[1,32] z, float[1,32] w) {{ {PRODUCTS} }}", dict.fromkeys("abc", (64, 32))),
    "turned": ("(float[4,8] x) => (float[4,8] y) { s = Transpose<perm = [1, 0]>(x)  t = Relu(s)"
               "  y = Transpose<perm = [1, 0]>(t) }", {}),
    "activated": ("(float[4,8] x, float[4,8] v) => (float[4,16] y) { s = Relu(x)  t = Relu(v)  y = Concat<axis = 1>(s, t) }", {}),
}
OTHERS = {   # that only numbers allow to be rewritten
    "chained": ("(float[4,8] x) => (float[4,8] y) { s = MatMul(x, a)  y = MatMul(s, b) }", SQUARE),
    "shared": ("(float[4,8] x, float[4,8] v, float[8,8] w) => (float[4,8] y) { s = MatMul(x, w)  t = MatMul(v, w)  y = Add(s, t) }", {}),
    "factor": ("(float[4,8] x, float[4,8] v, float[4,8] u) => (float[4,8] y) { s = Mul(x, u)  t = Mul(v, u)  y = Add(s, t) }", {}),
    "twice": ("(float[4,8] x, float[4,8] v) => (float[4,8] y) { s = Add(x, v)  t = Sub(s, v)  y = Add(t, v) }", {}),
}


def special_inputs(model, seed):
    random = np.random.default_rng(seed)
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        yield value.name, np.where(random.random(shape) < 0.3, random.choice(SPECIAL, shape),
                                   random.standard_normal(shape)).astype(np.float32)


def are_alike(x, y):
    """Up to the order of a sum, which numpy chooses by shapes."""
    finite = np.isfinite(x)
    scale = max(1, np.abs(x[finite]).max(initial=0))
    return np.array_equal(np.where(finite, 0, x), np.where(np.isfinite(y), 0, y), equal_nan=True) and \
        np.abs(x[finite] - y[finite]).max(initial=0) <= 1e-6 * scale and np.array_equal(np.signbit(x[x == 0]), np.signbit(y[y == 0]))


def optimized(path, *options):
    out, report = path.with_suffix(".out.onnx"), path.with_suffix(".json")
    ran = subprocess.run([OPT, path, "-o", out, "--device", "fake", "--no-check", "--budget", "100", "--json", report, *options],
                         capture_output=True, text=True, check=False)
    expect(ran.returncode == 0, f"{path.stem}: {ran.stderr}")
    return onnx.load(out), json.loads(report.read_text(encoding="utf-8"))


def agree(path, model):
    sides = ReferenceEvaluator(str(path)), ReferenceEvaluator(model)
    for seed in range(20):
        inputs = dict(special_inputs(onnx.load(path), seed))
        with np.errstate(all="ignore"):
            x, y = (side.run(None, inputs) for side in sides)
        if not all(map(are_alike, x, y)):
            return False
    return True


def nodes_of(model):
    return [node.op_type for node in model.graph.node]


with tempfile.TemporaryDirectory() as name:
    folder, differs, rewritten = pathlib.Path(name), 0, 0
    for kind, (text, given) in (KEPT | OTHERS).items():
        path = small_model(folder / f"{kind}.onnx", text, **given)
        usual, _ = optimized(path)
        strict, _ = optimized(path, "--strict-nan")
        print(kind, nodes_of(onnx.load(path)), nodes_of(usual), nodes_of(strict))
        expect(agree(path, strict), f"{kind}: other bits with --strict-nan")
        differs += not agree(path, usual)
        rewritten += nodes_of(strict) != nodes_of(onnx.load(path))
    expect(differs > 0, "all agree without --strict-nan, too: the inputs tell nothing")
    expect(rewritten > 0, "nothing is rewritten with --strict-nan")
sys.exit(1 if failures else 0)
