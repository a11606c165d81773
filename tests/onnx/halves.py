"""What halves do not hold although the model's results are halves: `halves.py PATH/onnx_expect PATH/onnx_pass`.

Each model is run by ONNX Runtime, by the definitions and on the processor, which must agree, and what is written for it
must have the operators that stand beside it: constants are multiplied into one only where that one is a half.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import judged

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from text_models import model_of  # noqa: E402

rng = np.random.default_rng(3)


def numbers(values):
    return np.asarray(values, np.float16)


def case(nodes, x, shape=None, **given):
    """From x to y, with numbers of 16 bits unless they are others."""
    sizes = [",".join(map(str, s)) for s in (x.shape, shape or x.shape)]
    given = {name: value if isinstance(value, np.ndarray) else numbers(value) for name, value in given.items()}
    return model_of(f"(float16[{sizes[0]}] x) => (float16[{sizes[1]}] y) {{ {nodes} }}", **given), x


def normalized_conv(kernel, scale, variance=1.0, bias=0.0, of_conv=None):
    x = numbers(rng.standard_normal((1, 2, 3, 3)) * 1e-3)
    more, read = ({}, "x, k") if of_conv is None else ({"c": [of_conv, 0]}, "x, k, c")
    return case(f"a = Conv({read})  y = BatchNormalization(a, s, b, m, v)", x, k=numbers(np.full((2, 2, 1, 1), kernel)),
                s=[scale, 1], b=[bias, 0], m=[0, 0], v=[variance, 1], **more)


def scaled_product(matrix, factor, bias=None):
    x = numbers(rng.standard_normal((3, 2)) * 1e-3)
    more, rest = ({}, "y = Mul(a, s)") if bias is None else ({"b": [bias, 1]}, "a2 = Add(a, b)  y = Mul(a2, s)")
    return case(f"a = MatMul(x, w)  {rest}", x, w=numbers(np.full((2, 2), matrix)), s=[factor, 1], **more)


def shifted_conv(bias, offset):
    x = numbers(rng.standard_normal((1, 2, 3, 3)) - 300)
    return case("a = Conv(x, k, c)  y = Add(a, t)", x, k=numbers(np.full((2, 2, 1, 1), 100)), c=[bias, 0],
                t=[[[offset]], [[1]]])


def statistics_in_f32():
    """A variance of a million is no half."""
    x = numbers(rng.standard_normal((1, 2, 3, 3)) * 1000)
    return case("y = BatchNormalization(x, s, b, m, v)", x, s=[1, 1], b=[0, 0], m=np.float32([0, 9]), v=np.float32([1e6, 1e7]))


def gemm(alpha, beta, entry, bias):
    x = numbers(rng.random((3, 2)) + 1)
    return case(f"y = Gemm<alpha = {alpha}, beta = {beta}>(x, w, c)", x, w=numbers(np.full((2, 2), entry)), c=[bias, 1])


def large(node, shape):
    return case(f"y = {node}(x)", numbers([[[[300, -250], [200, 280]], [[-30, 20], [4, 700]]]]), shape)


def mean_of_three():
    return case("y = Mean(x, x, x)", numbers([[60000, -3e4]]))


CONV, BOTH, PRODUCT = ["Conv"], ["BatchNormalization", "Conv"], ["MatMul"]
CASES = {
    "weights of 4": (normalized_conv(2, 2), CONV),
    "weights of 120000": (normalized_conv(40, 3000), BOTH),
    "weights of a millionth": (normalized_conv(1e-3, 1e-3), BOTH),
    "a factor of 100000": (normalized_conv(0.1, 1000, 0), BOTH),
    "a bias of 120000": (normalized_conv(1, 10, 1, 60000, 6000), BOTH),
    "columns of 4": (scaled_product(2, 2), PRODUCT),
    "columns of 120000": (scaled_product(40, 3000), ["MatMul", "Mul"]),
    "columns of a millionth": (scaled_product(1e-3, 1e-3), ["MatMul", "Mul"]),
    "a bias of 30 columns": (scaled_product(1, 2, 15), ["Add", "MatMul"]),
    "a bias of 80000": (scaled_product(1, 2, 40000), ["Add", "MatMul", "Mul"]),
    "channels with 2 and 3": (shifted_conv(2, 3), CONV),
    "channels with 100000": (shifted_conv(50000, 50000), ["Add", "Conv"]),
    "statistics in f32": (statistics_in_f32(), ["BatchNormalization"]),
    "a product of 120000 by a hundredth": (gemm(0.01, 1.0, 30000, 1), ["Gemm"]),
    "a bias of 80000 beside a product": (gemm(-1.0, 2.0, 10000, 40000), ["Gemm"]),
    "a norm of squares beyond halves": (large("ReduceL2<axes = [2]>", (1, 2, 1, 2)), ["ReduceL2"]),
    "a vector of such a norm": (large("LpNormalization<axis = 1>", (1, 2, 2, 2)), ["LpNormalization"]),
    "such a variance": (large("MeanVarianceNormalization", (1, 2, 2, 2)), ["MeanVarianceNormalization"]),
    "a mean of large numbers": (mean_of_three(), ["Mean"]),
}


def operators_of(tool, folder):
    target = f"{folder}/written.onnx"
    subprocess.run([tool, f"{folder}/model.onnx", target], check=True, capture_output=True)
    return sorted(node.op_type for node in onnx.load(target).graph.node)


def main():
    tools, cases, failures = sys.argv[1:3], {}, []
    with tempfile.TemporaryDirectory() as temporary:
        for name, ((model, x), operators) in CASES.items():
            folder = pathlib.Path(temporary) / name.replace(" ", "-")
            if not judged.add_case(cases, folder, name, model, {"x": x}):
                failures.append(f"{name}: ONNX Runtime does not run it")
                continue
            found = operators_of(tools[1], folder)
            if found != operators:
                failures.append(f"{name}: {found} instead of {operators}")
        failures += judged.judge(tools[0], cases, lambda verdicts: verdicts["equal"] == len(cases))
    judged.conclude(failures, cases)


main()
