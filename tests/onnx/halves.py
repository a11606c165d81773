"""What halves do not hold although the model's results are halves: `halves.py PATH/onnx_expect PATH/onnx_pass`.

Each model is run by ONNX Runtime, by the definitions and on the processor, which must agree, and what is written for it
must have the operators that stand beside it: constants are multiplied into one only where that one is a half.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    import judged
except ImportError:
    sys.exit(77)

HALF = TensorProto.FLOAT16
rng = np.random.default_rng(3)


def numbers(values, dtype=np.float16):
    return np.asarray(values, dtype)


def model_of(nodes, x, weights, shape):
    """From x to y, by nodes of (operator, inputs, output, attributes)."""
    initializers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph([helper.make_node(op, i.split(","), [o], **a) for op, i, o, a in nodes], "g",
                              [helper.make_tensor_value_info("x", HALF, x.shape)],
                              [helper.make_tensor_value_info("y", HALF, shape)], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def normalized_conv(kernel, scale, variance=1.0, bias=0.0, of_conv=None):
    x = numbers(rng.standard_normal((1, 2, 3, 3)) * 1e-3)
    weights = {"k": numbers(np.full((2, 2, 1, 1), kernel)), "s": numbers([scale, 1]), "b": numbers([bias, 0]),
               "m": numbers([0, 0]), "v": numbers([variance, 1])}
    if of_conv is not None:
        weights["c"] = numbers([of_conv, 0])
    nodes = [("Conv", "x,k" if of_conv is None else "x,k,c", "a", {}), ("BatchNormalization", "a,s,b,m,v", "y", {})]
    return model_of(nodes, x, weights, (1, 2, 3, 3)), x


def scaled_product(matrix, factor, bias=None):
    x = numbers(rng.standard_normal((3, 2)) * 1e-3)
    weights = {"w": numbers(np.full((2, 2), matrix)), "s": numbers([factor, 1])}
    nodes = [("MatMul", "x,w", "a", {}), ("Mul", "a,s", "y", {})]
    if bias is not None:
        weights["b"] = numbers([bias, 1])
        nodes = [nodes[0], ("Add", "a,b", "a2", {}), ("Mul", "a2,s", "y", {})]
    return model_of(nodes, x, weights, (3, 2)), x


def shifted_conv(bias, offset):
    x = numbers(rng.standard_normal((1, 2, 3, 3)) - 300)
    weights = {"k": numbers(np.full((2, 2, 1, 1), 100)), "c": numbers([bias, 0]), "t": numbers([[[offset]], [[1]]])}
    return model_of([("Conv", "x,k,c", "a", {}), ("Add", "a,t", "y", {})], x, weights, (1, 2, 3, 3)), x


def statistics_in_f32():
    """A variance of a million is no half."""
    x = numbers(rng.standard_normal((1, 2, 3, 3)) * 1000)
    weights = {"s": numbers([1, 1]), "b": numbers([0, 0]), "m": numbers([0, 9], np.float32), "v": numbers([1e6, 1e7], np.float32)}
    return model_of([("BatchNormalization", "x,s,b,m,v", "y", {})], x, weights, (1, 2, 3, 3)), x


def gemm(alpha, beta, entry, bias):
    x = numbers(rng.random((3, 2)) + 1)
    weights = {"w": numbers(np.full((2, 2), entry)), "c": numbers([bias, 1])}
    return model_of([("Gemm", "x,w,c", "y", {"alpha": alpha, "beta": beta})], x, weights, (3, 2)), x


def large(op, shape, **attributes):
    x = numbers([[[[300, -250], [200, 280]], [[-30, 20], [4, 700]]]])
    return model_of([(op, "x", "y", attributes)], x, {}, shape), x


def mean_of_three():
    x = numbers([[60000, -3e4]])
    return model_of([("Mean", "x,x,x", "y", {})], x, {}, (1, 2)), x


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
    "a norm of squares beyond halves": (large("ReduceL2", (1, 2, 1, 2), axes=[2]), ["ReduceL2"]),
    "a vector of such a norm": (large("LpNormalization", (1, 2, 2, 2), axis=1), ["LpNormalization"]),
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
