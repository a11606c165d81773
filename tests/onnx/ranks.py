"""Operands whose ranks are lower than the result's: `ranks.py PATH/onnx_pass`.

Every element-wise operator reads two, or three, expansions of vectors. What is written anew must be of the declared rank and
give ONNX Runtime the same values: of the expansions one at least has to stay, and PRelu broadcasts its second operand alone.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from sessions import session_of  # noqa: E402
from text_models import model_of  # noqa: E402

BINARY = {"Add": "float", "Sub": "float", "Mul": "float", "Div": "float", "Max": "float", "Min": "float", "Pow": "float",
          "PRelu": "float", "Less": "bool", "LessOrEqual": "bool", "Equal": "bool", "Greater": "bool"}
SHAPES = {"1,3": "3", "1,1,3": "3", "2,1,3": "1,3", "1,4,3": "4,3", "1,1": "1", "1,1,1": ""}
IR_VERSION = 8


def models():
    """A name, a model, and its inputs."""
    for shape, part in SHAPES.items():
        sizes = [int(s) for s in shape.split(",")]
        x = np.linspace(0.5, 2, int(np.prod([int(s) for s in part.split(",") if s]))).astype(np.float32)
        x = x.reshape([int(s) for s in part.split(",") if s])
        part = f"[{part}]" if part else ""
        for name, of in BINARY.items():
            text = f"""(float{part} x, float{part} w) => ({of}[{shape}] y)
                       {{ a = Expand(x, s)  b = Expand(w, s)  y = {name}(a, b) }}"""
            yield f"{name} {shape}", model_of(text, s=np.array(sizes)), {"x": x, "w": x[::-1] if x.ndim else x}
        yield f"PRelu of one {shape}", model_of(
            f"(float{part} x, float[{shape}] w) => (float[{shape}] y) {{ a = Expand(x, s)  y = PRelu(a, w) }}",
            s=np.array(sizes)), {"x": np.asarray(-x), "w": np.full(sizes, 2, np.float32)}
        yield f"Where {shape}", model_of(
            f"""(float{part} x, float{part} w) => (float[{shape}] y)
                {{ a = Expand(x, s)  b = Expand(w, s)  c = Less(x, w)  d = Expand(c, s)  y = Where(d, a, b) }}""",
            s=np.array(sizes)), {"x": x, "w": np.asarray(x + 1)}
        for name in ("Relu", "Exp", "Neg", "Floor", "Sigmoid"):
            yield f"{name} {shape}", model_of(
                f"(float{part} x) => (float[{shape}] y) {{ a = Expand(x, s)  y = {name}(a) }}", s=np.array(sizes)), {"x": x}
        yield f"halves {shape}", model_of(
            f"(float16{part} x) => (float16[{shape}] y) {{ a = Expand(x, s)  y = Add(x, a) }}", s=np.array(sizes)), {
                "x": x.astype(np.float16)}
        yield f"integers {shape}", model_of(
            f"(int64{part} x) => (int64[{shape}] y) {{ a = Expand(x, s)  y = Mul(a, a) }}", s=np.array(sizes)), {
                "x": x.astype(np.int64)}


def run(model, values):
    return session_of(model, is_optimizing=False).run(None, values)[0]


def complaint_about(tool, folder, model, values):
    source, target = folder / "in.onnx", folder / "out.onnx"
    target.unlink(missing_ok=True)
    onnx.save(model, source)
    done = subprocess.run([tool, "--anew", source, target], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr}"
    onnx.checker.check_model(onnx.load(target), full_check=True)
    expected, found = run(source, values), run(target, values)
    is_same = expected.shape == found.shape and np.allclose(expected, found, rtol=1e-6)
    return None if is_same else f"{found.shape} instead of {expected.shape}, or other values"


def main():
    failures = count = 0
    with tempfile.TemporaryDirectory() as name:
        for what, model, values in models():
            count += 1
            try:
                complaint = complaint_about(sys.argv[1], pathlib.Path(name), model, values)
            except Exception as error:
                complaint = str(error)
            failures += complaint is not None
            if complaint:
                print(f"{what}: {complaint}")
    print(f"{failures} of {count} models failed")
    sys.exit(1 if failures else 0)


main()
