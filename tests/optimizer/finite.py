"""What is finite stays so: `finite.py ROOT TASO-OPT TASO-RUN [--all]`.

Numbers that a simplification or a rewrite would multiply, add or divide first are infinite, or no numbers, though their
factors and what the original makes are finite. Whatever is written has finite weights and the original's outputs. With
--all in all ways for each element type, else saturated for one.
"""
import itertools
import sys

import numpy as np
import onnx
from onnx import numpy_helper

from commands import FOLDER, ON_PAPER, OPT, UNTIMED, relative_difference, session_of, succeed
from expectations import expect, run_tests, tests_of
from small_models import small_model

LARGE = {"float": (np.float32, 1e36), "double": (np.float64, 1e306), "float16": (np.float16, 6e4)}
WAYS = {"on paper": ON_PAPER, "here, unchecked": [*UNTIMED, "--no-check"],
        "on paper, saturated": [*ON_PAPER, "--search", "saturation"]}
TINY_VARIANCE = dict(g=[1, 1], b=[0, 0], m=[0, 0], v=[0, 1])
NORMALIZED = "y = BatchNormalization <epsilon = 1e-12> (c, g, b, m, v)"


def scalings(of, dtype, large):
    """Name, nodes behind a product or a convolution c of x, and their constants: the factors make W infinite."""
    column = np.array([1e6, 1], dtype) if large > 1e5 else np.array([100, 1], dtype)
    image = column.reshape(2, 1, 1)
    norm = {name: np.array(value, dtype) for name, value in TINY_VARIANCE.items()}
    yield "normalized", NORMALIZED, "1,2,3,3", norm
    yield "times", "y = Mul(c, s)", "1,2,3,3", {"s": image}
    yield "times, from the left", "y = Mul(s, c)", "1,2,3,3", {"s": image}
    yield "times twice", "t = Mul(c, s)  y = Mul(t, s)", "1,2,3,3", {"s": np.sqrt(image)}
    yield "times and plus", "t = Mul(c, s)  y = Add(t, d)", "1,2,3,3", {
        "s": image, "d": np.full((2, 1, 1), large, dtype)}
    yield "columns", "y = Mul(c, s)", "4,2", {"s": column}


def models(of, dtype, large):
    """Convolutions and products with weights that are large, of inputs that are small."""
    for name, nodes, shape, more in scalings(of, dtype, large):
        is_image = shape != "4,2"
        w = np.full((2, 2, 1, 1) if is_image else (2, 2), large, dtype)
        op = "Conv" if is_image else "MatMul"
        yield name, f"({of}[{shape}] x) => ({of}[{shape}] y) {{ c = {op}(x, w)  {nodes} }}", dict(more, w=w)
        if is_image:
            text = f"({of}[{shape}] x) => ({of}[{shape}] y) {{ c = Conv(x, w, e)  {nodes} }}"
            yield f"{name}, with a bias", text, dict(more, w=np.ones((2, 2, 1, 1), dtype), e=np.full(2, large, dtype))
    a = np.full(3, large, dtype)
    for name, nodes in {"products": "t = Mul(x, a)  y = Mul(t, a)", "sums": "t = Add(x, a)  y = Add(t, a)",
                        "differences": "t = Sub(x, a)  u = Sub(t, a)  v = Add(u, a)  y = Add(v, a)",
                        "quotients": "t = Div(x, a)  y = Div(t, a)", "constants": "t = Mul(a, a)  y = Mul(x, t)",
                        "logarithms": "t = Log(z)  u = Exp(t)  y = Add(x, u)",
                        "of nothing": "t = Div(a, z)  u = Div(a, t)  y = Add(x, u)"}.items():
        yield name, f"({of}[2,3] x) => ({of}[2,3] y) {{ {nodes} }}", {"a": a, "z": np.zeros(3, dtype)}
    for name, nodes in {"small quotients": "t = Div(x, a)  y = Div(t, a)",
                        "quotient of a product": "t = Mul(a, a)  u = Add(t, a)  y = Div(x, u)"}.items():
        yield name, f"({of}[2,3] x) => ({of}[2,3] y) {{ {nodes} }}", {"a": (1 / a).astype(dtype)}


def outputs(path, of):
    model = onnx.load(path)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.zeros(shape, LARGE[of][0])
    x.flat[-1] = 1e-3
    return session_of(path).run(None, {"x": x})[0]


def is_run(path, of):
    try:
        return outputs(path, of) is not None
    except Exception:
        return False


def test_finite(folder):
    for (of, (dtype, large)), (way, options) in itertools.product(LARGE.items(), WAYS.items()):
        if "saturation" in options and of != "float" and "--all" not in sys.argv:
            continue
        for name, text, given in models(of, dtype, large):
            model, out = small_model(folder / "large.onnx", text, **given), folder / "large.fast.onnx"
            out.unlink(missing_ok=True)
            succeed(name, OPT, model, "-o", out, *options)
            what = f"{name} of {of}, {way}"
            weights = [numpy_helper.to_array(w) for w in onnx.load(out).graph.initializer]
            expect(all(np.isfinite(w.astype(np.float64)).all() for w in weights), f"{what}: infinite weights")
            if is_run(model, of):
                before, after = outputs(model, of), outputs(out, of)
                finite = np.isfinite(before)
                expect(np.isfinite(after[finite]).all() and relative_difference(before[finite], after[finite]) < 1e-2,
                       f"{what}: {after} instead of {before}")


def test_still_folded(folder):
    """Numbers of the usual size are folded as before, and an infinite part is no reason not to fold others."""
    norm = {name: np.array(value, np.float32) for name, value in dict(TINY_VARIANCE, v=[1, 1]).items()}
    text = f"(float[1,2,3,3] x) => (float[1,2,3,3] y) {{ c = Conv(x, w)  {NORMALIZED} }}"
    model = small_model(folder / "usual.onnx", text, w=(2, 2, 1, 1), **norm)
    succeed("usual", OPT, model, "-o", folder / "usual.fast.onnx", *ON_PAPER)
    expect(len(onnx.load(folder / "usual.fast.onnx").graph.node) == 1, "a normalization is folded")
    model = small_model(folder / "mask.onnx", "(float[2,3] x) => (float[2,3] y) { t = Add(a, a)  y = Add(x, t) }",
                        a=np.array([0, -np.inf, 0], np.float32))
    succeed("mask", OPT, model, "-o", folder / "mask.fast.onnx", *ON_PAPER)
    expect(len(onnx.load(folder / "mask.fast.onnx").graph.node) == 1, "an infinite mask is folded")


run_tests(tests_of(globals()), FOLDER)
