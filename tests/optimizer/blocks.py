"""Blocks of models that searches of every kind have to make smaller: `blocks.py TASO-OPT [--few]`. What comes out is run by ONNX
Runtime, and has to agree with the original."""
import subprocess
import sys

import numpy as np
import onnx

from expectations import expect, run_tests
from small_models import session_of, small_model

OPT = sys.argv[1]
SEARCHES = [[], ["--search", "saturation"], ["--layout", "sequential"]]


def of_several_windows(path, sizes, channels=8):
    """A sum of convolutions with biases of one image by windows of these sizes, as RepVGG and its kin are trained."""
    given, convolutions = {}, ""
    for i, size in enumerate(sizes):
        given |= {f"k{i}": (channels, channels, *size), f"b{i}": (channels,)}
        convolutions += f"c{i} = Conv<pads = {[n // 2 for n in size] * 2}>(x, k{i}, b{i})  "
    image, parts = f"float[3,{channels},9,11]", ", ".join(f"c{i}" for i in range(len(sizes)))
    return small_model(path, f"({image} x) => ({image} y) {{ {convolutions} s = Sum({parts})  y = Relu(s) }}", **given)


def outputs_of(path):
    return session_of(path).run(None, {"x": np.random.default_rng(1).standard_normal((3, 8, 9, 11)).astype(np.float32)})[0]


def test_several_windows(folder):
    cases = ((3, 3), (1, 1)), ((1, 3), (3, 3), (1, 1)), ((1, 1), (3, 3)), ((5, 5), (3, 3))
    for sizes in cases[: 1 if "--few" in sys.argv else None]:
        model, out = of_several_windows(folder / "windows.onnx", sizes), folder / "one.onnx"
        for search in SEARCHES:
            done = subprocess.run([OPT, model, "-o", out, "--device", "fake", "--quiet", *search], capture_output=True,
                                  text=True, check=False)
            told = f"windows of {sizes}, {search}: {done.stderr}"
            expect(done.returncode == 0, told)
            kinds = [node.op_type for node in onnx.load(out).graph.node]
            expect(kinds.count("Conv") == 1 and len(kinds) <= 3, f"{told} {kinds}")
            expect(np.allclose(outputs_of(model), outputs_of(out), rtol=1e-4, atol=1e-5), f"{told} other values")


run_tests([test_several_windows])
