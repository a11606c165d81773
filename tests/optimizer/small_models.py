"""Models of a few nodes, as files."""
import pathlib
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from sessions import session_of  # noqa: E402, F401
from text_models import model_of  # noqa: E402


def small_model(path, text, **given):
    onnx.save(model_of(text, **given), path)
    return path


def products(path, more_nodes="", more_outputs="", batch=1, more_inputs="", **more_weights):
    """x . a, x . b and x . c: always worth merging."""
    inputs = ", ".join(filter(None, [f"float[{batch},64] x", more_inputs]))
    outputs = ", ".join([*(f"float[{batch},32] x{w}" for w in "abc"), *filter(None, [more_outputs])])
    nodes = " ".join(f"[product_{w}] x{w} = MatMul(x, {w})" for w in "abc")
    return small_model(path, f"({inputs}) => ({outputs}) {{ {nodes} {more_nodes} }}", **dict.fromkeys("abc", (64, 32)),
                       **more_weights)


def convolutions(path, n=32):
    """That run by generated kernels in whatever layout, with so many channels."""
    return small_model(path, f"(float[1,16,20,20] x) => (float[1,{n},20,20] z) {{ a = Conv <pads = [1,1,1,1]> (x, u) b = Relu(a) "
                       "c = Conv <pads = [1,1,1,1]> (b, v) d = Add(c, a) z = Sigmoid(d) }", u=(n, 16, 3, 3), v=(n, n, 3, 3))


def many_products(path, count):
    """All of other sizes, each of which has to be measured, and an identity that simplifying takes away."""
    text, weights = ["[same] y0 = Identity(x)"], {}
    for i in range(count):
        text.append(f"[a{i}] a{i} = MatMul(y{i}, u{i}) [b{i}] b{i} = MatMul(y{i}, v{i}) [c{i}] c{i} = Mul(a{i}, b{i}) "
                    f"[y{i}] y{i + 1} = MatMul(c{i}, w{i})")
        weights |= {f"u{i}": (64 + i, 500 + i), f"v{i}": (64 + i, 500 + i), f"w{i}": (500 + i, 65 + i)}
    return small_model(path, f"(float[32,64] x) => (float[32,{64 + count}] y{count}) {{ {' '.join(text)} }}", **weights)
