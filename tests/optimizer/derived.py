"""Derivation at the products and convolutions of a model: `derived.py TASO-OPT TASO-RUN [TEST...]`.

Discoveries enter the search as rules: the fake device, whose costs are computed, takes one for a transposed convolution;
what is written for our own executor computes what the model does, and so does what is written as ONNX, of ONNX's own
operators. Two convolutions of one image become products of one view of it.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from small_models import session_of, small_model

OPT, RUN = sys.argv[1:3]
QUICK = ["--quiet", "--derive", "--threads", "1", "--no-calibrate", "--finalists", "1", "--measure-seconds", "0.1"]
MODELS = {
    "transposed": ("""(float[2,96,4,4] x) => (float[2,32,8,8] y)
                      { t = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k) y = Relu(t) }""", (96, 32, 4, 4)),
    "dilated": ("""(float[1,64,12,12] x) => (float[1,64,12,12] y)
                   { c = Conv<pads = [2, 2, 2, 2], dilations = [2, 2]>(x, k) y = Relu(c) }""", (64, 64, 3, 3)),
    "plain": ("(float[1,64,6,6] x) => (float[1,64,6,6] y) { y = Conv<pads = [1, 1, 1, 1]>(x, k) }", (64, 64, 3, 3)),
}
LARGE = {
    "grown": ("""(float[16,448,2,2] x) => (float[16,256,4,4] y)
                 { t = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k) y = Relu(t) }""", (448, 256, 4, 4)),
    "wide": ("""(float[1,512,14,14] x) => (float[1,512,14,14] y)
                { c = Conv<pads = [2, 2, 2, 2], dilations = [2, 2]>(x, k) y = Relu(c) }""", (512, 512, 3, 3)),
}


# A block of Longformer's attention: of 16 rows of products each has every second column from its own on.
BAND = """(float[4,16,8] q, float[4,8,40] k) => (float[4,16,13] y)
{ wide = Constant<value_ints = [4, 640]>() ends = Constant<value_ints = [0, 0, 0, 16]>()
  shifted = Constant<value_ints = [4, 16, 41]>() from = Constant<value_ints = [0]>() to = Constant<value_ints = [25]>()
  axis = Constant<value_ints = [2]>() step = Constant<value_ints = [2]>()
  all = MatMul(q, k) flat = Reshape(all, wide) longer = Pad(flat, ends) rows = Reshape(longer, shifted)
  y = Slice(rows, from, to, axis, step) }"""
# The other way round, behind its softmax: what is not in the band is zeros.
ROWS = """(float[4,16,13] p, float[4,40,5] v) => (float[4,16,5] y)
{ apart = Constant<value_ints = [4, 16, 13, 1]>() zero = Constant<value_ints = [0, 0, 0, 0, 0, 0, 0, 1]>()
  spread = Constant<value_ints = [4, 16, 26]>() ends = Constant<value_ints = [0, 0, 0, 0, 0, 15]>()
  flat = Constant<value_ints = [4, 656]>() from = Constant<value_ints = [0]>() to = Constant<value_ints = [640]>()
  axis = Constant<value_ints = [1]>() wide = Constant<value_ints = [4, 16, 40]>()
  alone = Reshape(p, apart) zeros = Pad(alone, zero) columns = Reshape(zeros, spread) longer = Pad(columns, ends)
  all = Reshape(longer, flat) shifted = Slice(all, from, to, axis) rows = Reshape(shifted, wide) y = MatMul(rows, v) }"""


class Derived(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for name, (text, weights) in (MODELS | LARGE).items():
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
        rules = self.optimize("grown", "--quiet", "--derive", "--device", "fake")["rules_applied"]
        self.assertTrue(any(rule.startswith("derived-") for rule in rules), rules)
        rules = self.optimize("grown", "--quiet", "--device", "fake")["rules_applied"]
        self.assertFalse(any(rule.startswith("derived-") for rule in rules), rules)

    def test_is_priced_before_other_rules(self):
        small_model(self.folder / "both.onnx", """(float[1,64,16,16] x, float[64,64] u) => (float[1,32,32,32] y, float[64,64] z)
            { y = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k) p = MatMul(u, a) q = MatMul(u, b) z = Add(p, q) }""",
                    k=(64, 32, 4, 4), a=(64, 64), b=(64, 64))
        first, *others = self.optimize("both", "--quiet", "--derive", "--device", "fake")["rules_applied"]
        self.assertTrue(first.startswith("derived-") and others, (first, others))

    def test_derives_beside_no_rules(self):
        (self.folder / "no.rules").write_text("; none\n", encoding="utf-8")
        rules = self.optimize("transposed", "--quiet", "--device", "fake", "--rules", self.folder / "no.rules", "--derive")
        self.assertTrue(any(rule.startswith("derived-") for rule in rules["rules_applied"]), rules)

    def test_leaves_tensors_without_entries(self):
        for x, k in (([0, 4, 8, 8], (4, 4, 3, 3)), ([1, 4, 8, 8], (0, 4, 3, 3))):
            text = f"(float{x} x) => (float[{x[0]},{k[0]},8,8] y) {{ y = Conv<pads = [1, 1, 1, 1]>(x, k) }}"
            small_model(self.folder / "empty.onnx", text, k=k)
            self.optimize("empty", "--quiet", "--derive", "--device", "fake")

    def parts_derived(self, name, ending, *options):
        done = self.program(OPT, self.folder / f"{name}.onnx", "-o", self.folder / f"parts.{ending}", "-v", "--threads", "1",
                            "--runtime", "taso", "--time", "0.1", "--no-measure", "--no-check", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = re.search(r"derived from (\d+) products and convolutions", done.stdout + done.stderr)
        return int(told[1]) if told else None

    def test_is_done_unasked_where_entries_are_left_out(self):
        for name, n in ("transposed", 1), ("dilated", 1), ("plain", 0):
            self.assertEqual(self.parts_derived(name, "taso"), n, name)
            self.assertEqual(self.parts_derived(name, "taso", "--derive"), 1, name)
            self.assertEqual(self.parts_derived(name, "onnx", "--derive"), 1, name)
            self.assertIsNone(self.parts_derived(name, "taso", "--no-derive"), name)
            self.assertIsNone(self.parts_derived(name, "onnx"), name)

    def derived_for(self, text):
        small_model(self.folder / "band.onnx", text)
        done = self.program(OPT, self.folder / "band.onnx", "-o", self.folder / "band.taso", "-v", "--derive", "--threads", "1",
                            "--time", "0.1", "--no-measure", "--no-check")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def test_cuts_a_dilated_band_from_undilated_products(self):
        self.assertRegex(self.derived_for(BAND),
                         r"\(source \(slice .*\n.*\(matmul \(expression :shape 8 8 8 .*\(expression :shape 8 8 20 ")

    def test_multiplies_a_dilated_band_without_its_zeros(self):
        """As it lies: the other way round costs as much, and turns it."""
        self.assertRegex(self.derived_for(ROWS),
                         r"\(source \(matmul \(reshape .*\n.*\(matmul \(expression :shape 8 8 20 .*\(expression :shape 8 20 5 ")

    def test_finds_windows_with_the_layouts_that_they_gain_by(self):
        """Row by row products of these sizes cost less, and no rule leads from them to windows."""
        small_model(self.folder / "phases.onnx", """(float[1,64,16,16] x) => (float[1,32,32,32] y)
            { t = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k) y = Relu(t) }""", k=(64, 32, 4, 4))
        ways = [self.optimize("phases", "--quiet", "--derive", "--device", "fake", "--layout", way) for way in ("standard", "joint")]
        self.assertEqual(*(way["rules_applied"] for way in ways))
        self.assertAlmostEqual(*(way["estimated_seconds_after"] for way in ways))

    def test_multiplies_one_view_for_two_convolutions(self):
        """Of 3x3 and 1x1 of one image: products of the same tensor, which rules merge where that pays."""
        small_model(self.folder / "beside.onnx", """(float[1,512,7,7] x) => (float[1,512,7,7] y, float[1,512,7,7] z)
            { y = Conv<pads = [1, 1, 1, 1]>(x, k) z = Conv(x, l) }""", k=(512, 512, 3, 3), l=(512, 512, 1, 1))
        self.optimize("beside", "-o", self.folder / "beside-fast.onnx", "--quiet", "--derive", "--device", "fake", "--no-measure",
                      "--without", "conv-winograd-4-3-1")   # whose products cost less there
        nodes = onnx.load(self.folder / "beside-fast.onnx").graph.node
        products = [node for node in nodes if node.op_type == "MatMul"]
        self.assertFalse(any(node.op_type == "Conv" for node in nodes))
        self.assertEqual((len(products), len({node.input[1] for node in products})), (2, 1))

    def test_merges_a_convolution_of_1x1_into_the_product_of_3x3(self):
        """EinNet's Figure 3a: derivation makes one product and an offset-reduce of 3x3 and a product of 1x1, by which TASO's own
        rule for products of one tensor applies: 9 * 8 and 8 rows become one product of 80."""
        model, fast = self.folder / "merged.onnx", self.folder / "merged-fast.onnx"
        small_model(model, """(float[1,512,7,7] x) => (float[1,8,7,7] y, float[1,8,7,7] z)
            { y = Conv<pads = [1, 1, 1, 1]>(x, k) z = Conv(x, l) }""", k=(8, 512, 3, 3), l=(8, 512, 1, 1))
        rules = self.optimize("merged", "-o", fast, "--quiet", "--derive", "--device", "fake", "--no-measure")["rules_applied"]
        self.assertEqual(sorted(rule.rsplit("-", 1)[0] for rule in rules), ["derived-conv-0", "derived-conv-1", "matmul-split"])
        graph = onnx.load(fast).graph
        products = [node for node in graph.node if node.op_type in ("MatMul", "Conv")]
        shapes = {weight.name: list(weight.dims) for weight in graph.initializer}
        self.assertEqual([(node.op_type, shapes[node.input[0]]) for node in products], [("MatMul", [80, 512])])
        self.assert_equal_in_onnxruntime(model, fast)

    def assert_equal_in_onnxruntime(self, model, fast):
        x = numpy.random.default_rng(3).standard_normal(session_of(model).get_inputs()[0].shape, numpy.float32)
        for a, b in zip(*(session_of(path).run(None, {"x": x}) for path in (model, fast))):
            self.assertLess(numpy.abs(a - b).max(), 1e-4 * numpy.abs(a).max(), model)

    def test_computes_what_the_model_does(self):
        for name in MODELS:
            compiled = self.folder / f"{name}.taso"
            self.optimize(name, "-o", compiled, *QUICK)
            done = self.program(RUN, self.folder / f"{name}.onnx", compiled, "-n", 1, "--warmup", 0, "--threads", 1)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("the outputs agree", done.stdout)

    def test_is_written_as_onnx(self):
        for name in LARGE:
            model, fast = self.folder / f"{name}.onnx", self.folder / f"{name}-fast.onnx"
            report = self.optimize(name, "-o", fast, "--quiet", "--derive", "--device", "fake", "--no-measure")
            self.assertTrue(any(rule.startswith("derived-") for rule in report["rules_applied"]), (name, report["rules_applied"]))
            self.assert_equal_in_onnxruntime(model, fast)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
