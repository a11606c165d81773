"""Inputs that taso-opt makes no values for do not keep it from what it can do: `inputs.py TASO-OPT TASO-RUN`.

Beside two products that a rule joins stands a part that reads an input of some element type, or of unknown size. The
products are joined and compared, and the report says what was not.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPT, RUN = sys.argv[1:]
COMPUTED = {"FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL", *(f"{u}INT{n}" for u in ("", "U") for n in (8, 16, 32, 64))}


def optimize(model, folder, *options):
    """Exit code, what went to stderr, and the report."""
    out, report = folder / "out.onnx", folder / "report.json"
    for path in (out, report):
        path.unlink(missing_ok=True)
    done = subprocess.run([OPT, model, "-o", out, "--json", report, "--costs", folder / "costs", "--threads", "1",
                           "--no-measure", "--quiet", *options], capture_output=True, text=True,
                          env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")), check=False)
    return done.returncode, done.stderr, json.loads(report.read_text()) if report.exists() else None


def save(path, beside, inputs, outputs, opset):
    """y = x a + x b, and the nodes `beside` it."""
    random = np.random.default_rng(0)
    factors = [numpy_helper.from_array(random.standard_normal((256, 256)).astype(np.float32), name) for name in "ab"]
    nodes = [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("MatMul", ["x", "b"], ["q"]),
             helper.make_node("Add", ["p", "q"], ["y"])]
    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 256]) for name in "xy"]
    graph = helper.make_graph(nodes + beside, "graph", [shape[0], *inputs], [shape[1], *outputs], factors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)


def agrees(before, after):
    """Of y alone, which is all that every runtime can compute."""
    x = np.random.default_rng(1).standard_normal((64, 256)).astype(np.float32)
    values = []
    for path in (before, after):
        model = onnx.load(path)
        alone = onnx.utils.Extractor(model).extract_model(["x"], ["y"])
        values.append(onnxruntime.InferenceSession(alone.SerializeToString()).run(None, {"x": x})[0])
    return np.abs(values[0] - values[1]).max() < 1e-4 * np.abs(values[0]).max()


def test_model(path, folder, is_compared):
    code, said, told = optimize(path, folder)
    assert code == 0, f"{path.name}: {code} {said}"
    assert told["rewrites"] and told["check"] in ("passed", "untrustworthy"), f"{path.name}: {told['check']}"
    assert told["outputs"][0]["name"] == "y" and told["outputs"][0]["equal"], f"{path.name}: {told['outputs']}"
    assert told["outputs_not_compared"] == ([] if is_compared else ["z"]), f"{path.name}: {told['outputs_not_compared']}"
    assert len(onnx.load(folder / "out.onnx").graph.node) < len(onnx.load(path).graph.node), f"{path.name}: as it was"
    assert agrees(path, folder / "out.onnx"), f"{path.name}: another y"


def test_element_types(folder):
    kinds = [kind for kind in TensorProto.DataType.keys() if kind != "UNDEFINED"]
    assert len(kinds) > 20
    for kind in kinds:
        s, z = (helper.make_tensor_value_info(n, TensorProto.DataType.Value(kind), [k]) for n, k in (("s", 3), ("z", 6)))
        path = folder / f"{kind}.onnx"
        save(path, [helper.make_node("Identity", ["s"], ["t"]), helper.make_node("Concat", ["t", "t"], ["z"], axis=0)],
             [s], [z], 21)
        test_model(path, folder, kind in COMPUTED)
        save(path, [helper.make_node("Identity", ["s"], ["z"])], [s], [helper.make_tensor_value_info(
            "z", TensorProto.DataType.Value(kind), [3])], 21)
        test_model(path, folder, kind in COMPUTED)


def test_unknown_sizes(folder):
    for name, shape in (("symbol", ["N", 64]), ("symbol", [None, 64]), ("no rank", None)):
        path = folder / f"{name}.onnx"
        save(path, [helper.make_node("Relu", ["s"], ["z"])], [helper.make_tensor_value_info("s", 1, shape)],
             [helper.make_tensor_value_info("z", 1, shape)], 17)
        test_model(path, folder, name == "symbol")


def test_large_inputs(folder):
    """What there is no memory for is refused before anything is made of it, and optimized where nothing is run."""
    path, shape = folder / "large.onnx", [1 << 28, 16]
    factors = [numpy_helper.from_array(np.ones((16, 16), np.float32), name) for name in "ab"]
    nodes = [helper.make_node("MatMul", ["x", "a"], ["p"]), helper.make_node("MatMul", ["x", "b"], ["q"]),
             helper.make_node("Add", ["p", "q"], ["y"])]
    infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name in "xy"]
    graph = helper.make_graph(nodes, "graph", *infos, factors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    starts = subprocess.run([OPT, "--version"], capture_output=True, preexec_fn=limit, check=False).returncode == 0
    for command in ([OPT, path, "-o", folder / "large-out.onnx"], [RUN, path]) if starts else ():   # with sanitizers nothing does
        done = subprocess.run([*command, "--threads", "1", "--costs", folder / "costs"], capture_output=True, text=True,
                              preexec_fn=limit, check=False)
        assert done.returncode == 4 and "MiB" in done.stderr, f"{command[0]}: {done.returncode} {done.stderr}"
        assert len(done.stderr.splitlines()) == 1 and not (folder / "large-out.onnx").exists(), done.stderr
    code, said, told = optimize(path, folder, "--no-check", "--layout", "standard", "--budget", "10")
    assert code == 0 and told["rewrites"], f"not run: {code} {said}"


with tempfile.TemporaryDirectory() as temporary:
    test_element_types(pathlib.Path(temporary))
    test_unknown_sizes(pathlib.Path(temporary))
    test_large_inputs(pathlib.Path(temporary))
