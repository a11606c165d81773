"""Compiled models: `compiled.py TASO-OPT TASO-RUN [TEST...]`.

What is compiled gives the outputs of the original, also on a processor whose kernels want their weights otherwise; what
is damaged, of another version or cannot be compiled is refused in one line, before anything is searched.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

from small_models import small_model

OPT, RUN = sys.argv[1:3]
QUICK = ["--quiet", "--no-calibrate", "--finalists", "1", "--budget", "3", "--layout", "standard", "--measure-seconds", "0.1"]
QUOTED = rb'"(?:[^"\\]|\\.)*"'
CHOICE = rb"\n  \(" + QUOTED + b" " + QUOTED   # of a step: its text, and the kernel that packs what it reads itself


def network(path):
    """Convolutions, one of two groups, a row by a matrix, a product, and a table that is read and multiplied by."""
    small_model(path, """(float[1,3,9,9] x, int64[4] words) => (float[1,130] row, float[4,50] scores)
        { c0 = Conv<pads = [1, 1, 1, 1]>(x, k0, b0)  r0 = Relu(c0)  c1 = Conv<group = 2>(r0, k1)
          p = GlobalAveragePool(c1)  f = Flatten(p)  row = Gemm<transB = 1>(f, w0, b1)
          e = Gather(table, words)  m = MatMul(e, w1)  a = Add(m, b2)  t = Transpose(table)  scores = MatMul(a, t) }""",
        k0=(32, 3, 3, 3), b0=(32,), k1=(16, 16, 1, 1), w0=(130, 16), b1=(130,), table=(50, 24), w1=(24, 24), b2=(24,))


class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.source, cls.compiled = cls.folder / "m.onnx", cls.folder / "m.taso"
        network(cls.source)
        done = cls.program(OPT, cls.source, "-o", cls.compiled, *QUICK)
        assert done.returncode == 0, done.stderr
        cls.bytes = cls.compiled.read_bytes()

    @classmethod
    def program(cls, *command, **environment):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(cls.folder), **environment})

    def assert_agrees(self, path, *options, **environment):
        done = self.program(RUN, self.source, path, "-n", 1, "--warmup", 0, *options, **environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the outputs agree", done.stdout)

    def assert_refused(self, code, text, *command):
        done = self.program(*command)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), done.stderr)
        self.assertIn(text, done.stderr)

    def variant(self, content):
        path = self.folder / "variant.taso"
        path.write_bytes(content)
        return path

    def test_gives_the_same_outputs(self):
        self.assertGreaterEqual(self.bytes.count(b"(packing") + len(re.findall(CHOICE, self.bytes)), 4)
        self.assert_agrees(self.compiled)
        self.assert_agrees(self.compiled, "--layout", "plain")

    def test_packs_again_for_another_processor(self):
        self.assert_agrees(self.compiled, ONEDNN_MAX_CPU_ISA="SSE41", DNNL_MAX_CPU_ISA="SSE41")
        for threads in (1, 3):
            self.assert_agrees(self.compiled, "--threads", threads)

    # Which kernels are faster is the machine's affair; what the report and the file say of them is not.
    def test_choices_are_kept_and_can_be_left_out(self):
        source, compiled, report = self.folder / "c.onnx", self.folder / "c.taso", self.folder / "c.json"
        small_model(source, "(float[1,64,56,56] x) => (float[1,64,56,56] y) { c = Conv<pads = [1, 1, 1, 1]>(x, k0)"
                            " r = Relu(c) y = Conv<pads = [1, 1, 1, 1]>(r, k1) }", k0=(64, 64, 3, 3), k1=(64, 64, 3, 3))
        loud = [o for o in QUICK if o not in ("--layout", "standard")]
        for exact in (False, True):
            done = self.program(OPT, source, "-o", compiled, "--json", report, *loud, *["--exact"] * exact)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(report.read_text())
            budget = told["error_budget"]
            written = budget["after" if told["optimized"] else "before"]
            n = len(re.findall(CHOICE + rb" [0-9.e-]+\)", compiled.read_bytes()))   # with what they lose
            self.assertAlmostEqual(budget["allowed"], 0 if exact else 8e-6, delta=1e-9)
            self.assertLessEqual(written["error"], budget["allowed"])
            self.assertEqual(n > 0, written["kernels"] > 0)
            self.assertFalse(exact and n)
            for options in ([], ["--exact"], ["--threads", "2"]):
                done = self.program(RUN, compiled, "-n", 1, *options)
                self.assertEqual("kernel" in done.stdout, n > 0 and not options[:1] == ["--exact"], done.stdout)
            self.assertEqual(self.program(RUN, source, compiled, "-n", 1).returncode, 0)
            self.assertEqual(self.program(RUN, source, compiled, "-n", 1, ONEDNN_MAX_CPU_ISA="SSE41",
                                          DNNL_MAX_CPU_ISA="SSE41").returncode, 0)

    def test_kernels_go_to_machines_without_a_compiler(self):
        source, kernels = self.folder / "k.onnx", self.folder / "k.so"
        compiled, other = self.folder / "k.taso", self.folder / "other.so"
        small_model(source, "(float[1,64,56,56] x) => (float[1,64,56,56] y) { y = Conv<pads = [1, 1, 1, 1]>(x, k) }",
                    k=(64, 64, 3, 3))
        done = self.program(OPT, source, "-o", compiled, *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        caches = [self.folder / name for name in ("first", "second")]
        for cache in caches:
            cache.mkdir(mode=0o700)
        written = self.program(RUN, compiled, "-n", 1, "--write-kernels", kernels, XDG_CACHE_HOME=str(caches[0]))
        is_generated = bool(list(caches[0].glob("taso/programs/*")))   # or the library was faster
        self.assertEqual(written.returncode, 0 if is_generated else 4, written.stderr)
        self.assertEqual(kernels.exists(), is_generated)
        if not is_generated:
            return
        self.assertEqual(self.program(RUN, compiled, "-n", 1, "--kernels", kernels, XDG_CACHE_HOME=str(caches[1])).returncode, 0)
        self.assertFalse(list(caches[1].glob("taso/programs/*")))   # nothing was compiled
        other.write_bytes(kernels.read_bytes()[:-100])
        self.assert_refused(4, "other.so: is no file of kernels", RUN, compiled, "-n", 1, "--kernels", other)

    def test_damage_is_found_wherever_it_is(self):
        rng = random.Random(1)
        for at in [0, 9, 17, 40, 50, len(self.bytes) - 1, *(rng.randrange(len(self.bytes)) for _ in range(20))]:
            changed = bytearray(self.bytes)
            changed[at] ^= 1 << rng.randrange(8)
            done = self.program(RUN, self.variant(changed))
            self.assertIn(done.returncode, (3, 4), at)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("variant.taso", done.stderr)
        for size in (0, 7, 8, 47, 100, len(self.bytes) // 2, len(self.bytes) - 1):
            self.assert_refused(3, "variant.taso", RUN, self.variant(self.bytes[:size]))
        self.assert_refused(3, "cut short, or grew", RUN, self.variant(self.bytes + b"\0"))

    def test_other_versions_and_byte_orders_are_refused(self):
        for at, text in ((12, "has version 2 of compiled models"), (8, "another byte order")):
            changed = bytearray(self.bytes)
            changed[at] = 2
            self.assert_refused(4, text, RUN, self.variant(changed))

    def test_shapes_are_settled(self):
        self.assert_refused(2, "compiled for its shapes", RUN, self.compiled, "--shape", "x=1,3,9,9")
        self.assert_agrees(self.compiled, "--shape", "x=1,3,9,9")

    def test_is_no_model_to_optimize(self):
        self.assert_refused(3, "is a compiled model", OPT, self.compiled, "-o", self.folder / "again.onnx")

    def test_what_cannot_be_compiled_is_refused_first(self):
        free, opaque = self.folder / "free.onnx", self.folder / "opaque.onnx"
        small_model(free, "(float[n,3] x) => (float[n,3] y) { y = Relu(x) }")
        small_model(opaque, "(float[3,3] x) => (float y) { y = Det(x) }")
        target = self.folder / "refused.taso"
        self.assert_refused(4, "input x has a size that is not known; --shape gives it", OPT, free, "-o", target, "-q")
        self.assert_refused(4, "operator Det", OPT, opaque, "-o", target, "-q")
        self.assert_refused(2, "runs in no other runtime", OPT, self.source, "-o", target, "--runtime", "onnxruntime")
        self.assert_refused(2, "--device fake", OPT, self.source, "-o", target, "--device", "fake")
        self.assertFalse(target.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
