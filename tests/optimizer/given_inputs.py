"""Inputs of the user's own: `given_inputs.py TASO-OPT TASO-RUN`, as --inputs of both takes them from .npy files."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

from made_up import price_too_high
from small_models import model_of

OPT, RUN = sys.argv[1:3]


def model():
    """Two products of x by weights, added, which rules make one; and words of a table."""
    return model_of("""(float[4,16] "a/x", int64[3] words) => (float[4,16] y, float[3,16] z)
                       { p = MatMul("a/x", w0)  q = MatMul("a/x", w1)  y = Add(p, q)  z = Gather(w0, words) }""", w0=(16, 16), w1=(16, 16))


class GivenInputs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir()
        self.path = self.folder / "m.onnx"
        self.model = model()
        onnx.save(self.model, self.path)
        self.x = np.random.default_rng(2).standard_normal((4, 16)).astype("f4") * 1000
        self.words = np.array([15, 0, -1])
        np.save(self.inputs / "a_x.npy", self.x)
        np.save(self.inputs / "input_1.npy", self.words)

    def program(self, *command):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})

    def run_it(self, *more):
        return self.program(RUN, self.path, "-n", 1, "--warmup", 0, "--inputs", self.inputs, *more)

    def assert_refused(self, code, text):
        for done in (self.run_it(), self.program(OPT, self.path, "--device", "fake", "-q", "--inputs", self.inputs)):
            self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), done.stderr)
            self.assertIn(text, done.stderr)

    def optimize(self, *more):
        """What is told where joining the products pays, however busy this machine is."""
        report, costs = self.folder / "r.json", self.folder / "costs"
        options = ["-q", "--no-measure", "--no-calibrate", "--inputs", self.inputs, "--costs", costs, "--json", report, *more]
        costs.unlink(missing_ok=True)
        self.assertEqual(self.program(OPT, self.path, "--budget", 0, *options).returncode, 0)
        price_too_high(costs)
        done = self.program(OPT, self.path, "--budget", 20, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text(encoding="utf-8"))

    def test_outputs_are_of_these(self):
        saved = self.folder / "saved"
        saved.mkdir()
        done = self.run_it("--save", saved)
        self.assertEqual(done.returncode, 0, done.stderr)
        w0, w1 = (numpy_helper.to_array(t) for t in self.model.graph.initializer)
        np.testing.assert_allclose(np.load(saved / "output_0.npy"), self.x @ (w0 + w1), rtol=1e-4, atol=1e-2)
        np.testing.assert_array_equal(np.load(saved / "output_1.npy"), w0[self.words])
        self.inputs = saved   # what is saved is taken again
        self.assertEqual(self.run_it().returncode, 0)

    def test_results_are_checked_with_them(self):
        y = next(o for o in self.optimize()["outputs"] if o["name"] == "y")
        self.assertGreater(y["max_magnitude"], 1000)

    def make_first_sizes_symbols(self):
        for info, symbol in zip([*self.model.graph.input, *self.model.graph.output], ("batch", "n", "batch", "n")):
            info.type.tensor_type.shape.dim[0].dim_param = symbol
        onnx.save(self.model, self.path)

    def test_symbols_are_run_at_the_sizes_of_arrays(self):
        self.make_first_sizes_symbols()
        for more in ([], ["--shape", "n=3"]):
            done = self.run_it("--save", self.folder, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(np.load(self.folder / "output_0.npy").shape, (4, 16))
            self.assertEqual(np.load(self.folder / "output_1.npy").shape, (3, 16))
        done = self.run_it("--shape", "batch=2")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertIn("holds f32[4, 16], and input a/x takes f32[2, 16]", done.stderr)
        (self.inputs / "a_x.npy").unlink()
        done = self.run_it()
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("the size of input a/x (batch, 16) is not known", done.stderr)

    def test_symbols_have_the_sizes_of_arrays(self):
        self.make_first_sizes_symbols()
        for more, batch in (([], 4), (["--profile", "batch=4,2"], 4)):
            said = self.optimize(*more)
            self.assertEqual(said["symbols"]["profiles"][0], {"batch": batch, "n": 3})
            self.assertGreater(next(o for o in said["outputs"] if o["name"] == "y")["max_magnitude"], 1000)
        done = self.program(OPT, self.path, "--device", "fake", "-q", "--inputs", self.inputs, "--profile", "batch=2")
        self.assertIn("holds f32[4, 16], and input a/x takes f32[2, 16]", done.stderr)

    def test_what_does_not_fit_is_refused(self):
        np.save(self.inputs / "a_x.npy", self.x[:3])
        self.assert_refused(3, "holds f32[3, 16], and input a/x takes f32[4, 16]")
        np.save(self.inputs / "a_x.npy", self.x.astype("f8"))
        self.assert_refused(3, "holds f64[4, 16], and input a/x takes f32[4, 16]")
        np.save(self.inputs / "a_x.npy", np.asfortranarray(self.x))
        self.assert_refused(3, "Fortran's order")
        (self.inputs / "a_x.npy").write_bytes(b"\x93NUMPY\1\0")
        self.assert_refused(3, "is no .npy file")
        (self.inputs / "a_x.npy").unlink()
        self.assert_refused(3, "has neither a_x.npy nor input_0.npy")
        self.inputs = self.folder / "absent"
        self.assert_refused(3, "there is no such folder of inputs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
