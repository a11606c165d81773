"""Derivation at the products and convolutions of a model: `derived.py TASO-OPT TASO-RUN`.

Discoveries enter the search as rules: the fake device, whose costs are computed, takes one for a transposed convolution;
what is written for our own executor computes what the model does, and ONNX has no form for it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from small_models import small_model

OPT, RUN = sys.argv[1:3]
QUICK = ["--quiet", "--derive", "--threads", "1", "--no-calibrate", "--finalists", "1", "--measure-seconds", "0.1"]
MODELS = {
    "transposed": ("""(float[2,96,4,4] x) => (float[2,32,8,8] y)
                      { t = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k) y = Relu(t) }""", (96, 32, 4, 4)),
    "dilated": ("""(float[1,64,12,12] x) => (float[1,64,12,12] y)
                   { c = Conv<pads = [2, 2, 2, 2], dilations = [2, 2]>(x, k) y = Relu(c) }""", (64, 64, 3, 3)),
    "plain": ("(float[1,64,6,6] x) => (float[1,64,6,6] y) { y = Conv<pads = [1, 1, 1, 1]>(x, k) }", (64, 64, 3, 3)),
}


class Derived(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for name, (text, weights) in MODELS.items():
            small_model(cls.folder / f"{name}.onnx", text, k=weights)

    def program(self, *command):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})

    def optimize(self, name, *options):
        report = self.folder / f"{name}.json"
        done = self.program(OPT, self.folder / f"{name}.onnx", "--json", report, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text(encoding="utf-8"))

    def test_is_searched_like_other_rules(self):
        rules = self.optimize("transposed", "--quiet", "--derive", "--device", "fake")["rules_applied"]
        self.assertTrue(any(rule.startswith("derived-conv-transposed-") for rule in rules), rules)
        rules = self.optimize("transposed", "--quiet", "--device", "fake")["rules_applied"]
        self.assertFalse(any(rule.startswith("derived-") for rule in rules), rules)

    def test_computes_what_the_model_does(self):
        for name in MODELS:
            compiled = self.folder / f"{name}.taso"
            self.optimize(name, "-o", compiled, *QUICK)
            done = self.program(RUN, self.folder / f"{name}.onnx", compiled, "-n", 1, "--warmup", 0, "--threads", 1)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("the outputs agree", done.stdout)

    def test_is_none_of_onnx(self):
        for options in (["-o", self.folder / "y.onnx"], ["--runtime", "onnxruntime"]):
            done = self.program(OPT, self.folder / "plain.onnx", "--quiet", "--derive", *options)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn("write FILE.taso", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
