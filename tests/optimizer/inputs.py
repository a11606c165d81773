"""Inputs that taso-opt makes no values for do not keep it from what it can do: `inputs.py TASO-OPT TASO-RUN`.

Beside two products that a rule joins stands a part that reads an input of some element type, or of unknown size. The
products are joined and compared, and the report says what was not.
"""
import json
import os
import resource
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto

from expectations import run_tests, tests_of
from made_up import price_too_high
from small_models import small_model

OPT, RUN = sys.argv[1:]
COMPUTED = {"FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL", *(f"{u}INT{n}" for u in ("", "U") for n in (8, 16, 32, 64))}


SHARE = """(rule share (source (ewadd (matmul ?x ?y) (matmul ?x ?z))) (target (matmul ?x (ewadd ?y ?z)))
             (proof (symbols (families 1))))"""


def optimize(model, folder, *options):
    """Exit code, what went to stderr, and the report."""
    out, report = folder / "out.onnx", folder / "report.json"
    for path in (out, report):
        path.unlink(missing_ok=True)
    (folder / "share.rules").write_text(SHARE)
    running = [] if "fake" in options else ["--costs", folder / "costs", "--threads", "1", "--no-measure", "--no-calibrate",
                                                "--rules", folder / "share.rules"]
    done = subprocess.run([OPT, model, "-o", out, "--json", report, "--quiet", *running, *options], capture_output=True, text=True,
                          env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")), check=False)
    return done.returncode, done.stderr, json.loads(report.read_text()) if report.exists() else None


def save(path, beside, read, made, opset):
    """y = x a + x b, and the nodes `beside` it."""
    random = np.random.default_rng(0)
    given = {name: random.standard_normal((256, 256)).astype(np.float32) for name in "ab"}
    small_model(path, f"""(float[64,256] x, {read}) => (float[64,256] y, {made})
                      {{ p = MatMul(x, a)  q = MatMul(x, b)  y = Add(p, q)  {beside} }}""", opset=opset, ir_version=10, **given)


def agrees(before, after):
    """Of y alone, which is all that every runtime can compute."""
    x = np.random.default_rng(1).standard_normal((64, 256)).astype(np.float32)
    values = []
    for path in (before, after):
        model = onnx.load(path)
        alone = onnx.utils.Extractor(model).extract_model(["x"], ["y"])
        values.append(onnxruntime.InferenceSession(alone.SerializeToString()).run(None, {"x": x})[0])
    return np.abs(values[0] - values[1]).max() < 1e-4 * np.abs(values[0]).max()


def price_products(folder):
    """Joining them pays in every other model with them, too, however busy this machine is."""
    path = folder / "priced.onnx"
    save(path, "z = Identity(s)", "float[3] s", "float[3] z", 21)
    optimize(path, folder, "--budget", "0")
    price_too_high(folder / "costs")


def check_model(path, folder, is_compared):
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
    price_products(folder)
    for kind in kinds:
        path, of = folder / f"{kind}.onnx", kind.lower()
        save(path, "t = Identity(s)  z = Concat<axis = 0>(t, t)", f"{of}[3] s", f"{of}[6] z", 21)
        check_model(path, folder, kind in COMPUTED)
        save(path, "z = Identity(s)", f"{of}[3] s", f"{of}[3] z", 21)
        check_model(path, folder, kind in COMPUTED)


def test_unknown_sizes(folder):
    price_products(folder)
    for name, of in (("symbol", "float[N,64]"), ("symbol", "float[?,64]"), ("no rank", "float[]")):
        path = folder / f"{name}.onnx"
        save(path, "z = Relu(s)", f"{of} s", f"{of} z", 17)
        check_model(path, folder, name == "symbol")


def test_large_inputs(folder):
    """What there is no memory for is refused before anything is made of it, and optimized where nothing is run."""
    path, ones = folder / "large.onnx", np.ones((16, 16), np.float32)
    small_model(path, f"""(float[{1 << 28},16] x) => (float[{1 << 28},16] y)
                      {{ p = MatMul(x, a)  q = MatMul(x, b)  y = Add(p, q) }}""", a=ones, b=ones)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    starts = subprocess.run([OPT, "--version"], capture_output=True, preexec_fn=limit, check=False).returncode == 0
    for command in ([OPT, path, "-o", folder / "large-out.onnx"], [RUN, path]) if starts else ():   # with sanitizers nothing does
        done = subprocess.run([*command, "--threads", "1", "--costs", folder / "costs"], capture_output=True, text=True,
                              preexec_fn=limit, check=False)
        assert done.returncode == 4 and "MiB" in done.stderr, f"{command[0]}: {done.returncode} {done.stderr}"
        assert len(done.stderr.splitlines()) == 1 and not (folder / "large-out.onnx").exists(), done.stderr
    for options in ["--no-check"], ["--device", "fake"]:
        code, said, told = optimize(path, folder, "--layout", "standard", "--budget", "10", *options)
        assert code == 0 and told["rewrites"], f"not run: {code} {said}"
        assert told["peak_memory_bytes"] < 1 << 30, f"filled what nobody reads: {told['peak_memory_bytes']} bytes"


run_tests(tests_of(globals()))
