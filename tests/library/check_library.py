"""The library as other programs use it: `check_library.py ROOT TWO_AT_ONCE EXAMPLE LIBRARY [TEST]`.

Two threads at once, in C; the examples of both languages; taso.optimize and taso.Session against ONNX Runtime.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
import onnx

ROOT, TWO_AT_ONCE, EXAMPLE, LIBRARY = sys.argv[1:5]
os.environ["TASO_LIBRARY"] = LIBRARY
os.environ["PYTHONPATH"] = f"{ROOT}/python"
sys.path[:0] = f"{ROOT}/python", f"{ROOT}/tests/support"
from text_models import model_of  # noqa: E402
import taso  # noqa: E402, which loads the library when it is first used
from taso import api  # noqa: E402

FAST = {"runtime": "taso", "measure": False, "budget": 100, "device": "fake", "costs": ""}


def make_model(width, seed):
    """Two products of one input by weights, added: rules make one product of them."""
    random = np.random.default_rng(seed)
    weights = {f"w{i}": random.standard_normal((width, width)).astype("f4") for i in range(4)}
    return model_of(f"""(float[8,{width}] x) => (float[8,{width}] y)
                        {{ p0 = MatMul(x, w0)  p1 = MatMul(x, w1)  p2 = MatMul(x, w2)  p3 = MatMul(x, w3)
                           a = Add(p0, p1)  b = Add(p2, p3)  c = Relu(a)  y = Add(c, b) }}""", **weights)


def make_convolution():
    return model_of("""(float[8,64,128,128] x) => (float[8,64,128,128] y)
                       { y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) }""", w=(64, 64, 3, 3))


def count_threads_that_hold(number):
    """How many threads of this process block a signal."""
    count = 0
    for path in pathlib.Path("/proc/self/task").iterdir():
        try:
            blocked = re.search(r"SigBlk:\s*(\w+)", (path / "status").read_text())
        except OSError:   # it has ended
            continue
        count += int(blocked[1], 16) >> number - 1 & 1
    return count


class Library(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.paths = [self.folder / f"{n}.onnx" for n in "ab"]
        self.models = [make_model(32, 1), make_model(48, 2)]
        for model, path in zip(self.models, self.paths):
            onnx.save(model, path)

    def run_ours(self, *command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_two_threads_at_once(self):
        self.assertEqual(self.run_ours(TWO_AT_ONCE, *self.paths), "equal\n")

    def test_signals_wait_for_the_end_of_a_run(self):
        """The frame of a handler may not be written where kernels let the stack pointer point to."""
        x = np.ones((8, 64, 128, 128), "f4")
        for threads in (1, 2):
            with taso.Session(make_convolution().SerializeToString(), threads=threads) as session:
                is_seen, most = threading.Event(), 0

                def run_until_seen(session=session, is_seen=is_seen):
                    for _ in range(300):
                        session.run({"x": x})
                        if is_seen.is_set():
                            break
                run = threading.Thread(target=run_until_seen)
                run.start()
                while run.is_alive():
                    most = max(most, count_threads_that_hold(signal.SIGINT))
                    if most >= threads:
                        is_seen.set()
                self.assertEqual((most, count_threads_that_hold(signal.SIGINT)), (threads, 0))

    def test_rules_are_judged(self):
        text = """(rule twice (source (relu (relu ?x))) (target (relu ?x)))
                  (rule wrong (source (ewadd ?x ?y)) (target (ewmul ?x ?y)))"""
        good, wrong = taso.verify(text)
        self.assertEqual((good.name, good.verdict, good.is_proved, good.reason), ("twice", "proved", True, ""))
        self.assertIn("(proof (symbols", good.text)
        self.assertEqual((wrong.name, wrong.verdict, wrong.is_proved), ("wrong", "refuted", False))
        self.assertIn("?x", wrong.reason)
        self.assertNotIn("(proof", wrong.text)
        self.assertEqual(taso.verify(text, progress=lambda: False), [])

    def test_properties_are_judged(self):
        good = "(property p (equal (relu (relu ?x)) (relu ?x)))"
        self.assertEqual(taso.verify(good)[0].verdict, "proved")
        self.assertEqual(taso.verify(good.replace("(relu (relu", "(relu (tanh"))[0].is_proved, False)

    def test_texts_that_are_none_are_refused(self):
        for text in ("(rule", "(rule a (source ?x))", "(rule a (source (nothing ?x)) (target ?x))", "(propertY)"):
            with self.assertRaises(taso.Error) as caught:
                taso.verify(text)
            self.assertEqual(caught.exception.status, 3)
            self.assertIn("text", str(caught.exception))

    def test_documented_examples(self):
        import doctest
        from taso import api
        self.assertEqual(doctest.testmod(api).failed, 0)

    def test_examples(self):
        """On models of fixed and of symbolic sizes, which stay symbolic."""
        symbolic = self.folder / "symbolic.onnx"
        model = make_model(32, 1)
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        for value in model.graph.output:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
        onnx.save(model, symbolic)
        python = [sys.executable, f"{ROOT}/examples/optimize.py"]
        for command, source, sizes in (([EXAMPLE], self.paths[0], []), (python, symbolic, []), ([EXAMPLE], symbolic, ["batch=3"]),
                                       (python, symbolic, ["batch=3"])):
            target = self.folder / "fast.onnx"
            self.assertIn("output y", self.run_ours(*command, source, target, *sizes))
            written = onnx.load(target).graph.input[0].type.tensor_type.shape.dim[0]
            self.assertEqual(written.dim_param, "batch" if source == symbolic else "")
            target.unlink()

    def test_optimize_takes_what_people_have(self):
        model = self.models[0]
        as_bytes, report = taso.optimize(model.SerializeToString(), **FAST)
        as_proto, _ = taso.optimize(model, **FAST)
        path, _ = taso.optimize(self.paths[0], self.folder / "fast.onnx", **FAST)
        self.assertEqual(as_proto.SerializeToString(deterministic=True),
                         onnx.load_from_string(as_bytes).SerializeToString(deterministic=True))
        self.assertEqual(path.read_bytes(), as_bytes)
        self.assertLess(len(as_proto.graph.node), len(model.graph.node))
        self.assertIn("text", report)

    def test_session_computes_what_onnxruntime_does(self):
        import onnxruntime
        x = np.random.default_rng(3).standard_normal((8, 32)).astype("f4")
        wanted = onnxruntime.InferenceSession(self.models[0].SerializeToString()).run(None, {"x": x})[0]
        for model in (self.paths[0], self.models[0], taso.optimize(self.models[0], **FAST)[0]):
            with taso.Session(model, threads=1) as session:
                self.assertEqual(session.inputs, [("x", np.dtype("f4"), (8, 32))])
                self.assertIn("(x: float32[8, 32]) -> (", repr(session))
                for given in (x, np.asfortranarray(x)):
                    np.testing.assert_allclose(session.run({"x": given})["y"], wanted, rtol=1e-4, atol=1e-4)

    def test_what_is_wrong_is_said(self):
        for call, text in ((lambda: taso.optimize(b"nothing", **FAST), "^byte 0, in ModelProto.*is this an ONNX model"),
                           (lambda: taso.Session(b"nothing"), "^byte 0, in ModelProto"),
                           (lambda: taso.Session(self.paths[0], shape="q=3"), "q")):
            with self.assertRaisesRegex(taso.Error, text):
                call()
        session = taso.Session(self.paths[0])
        for inputs, text in (({}, "missing"), ({"x": np.zeros((8, 32))}, "float64"),
                             ({"x": np.zeros((8, 32), "f4"), "q": 0}, "no input q")):
            with self.assertRaisesRegex(ValueError, text):
                session.run(inputs)

        session.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            session.run({"x": np.zeros((8, 32), "f4")})

    def test_wrong_arguments_are_named_as_python_does(self):
        path = self.paths[0]
        for call, kind, text in ((lambda: taso.optimize(path, budgt=3), TypeError, "'budgt'; did you mean 'budget'"),
                                 (lambda: taso.optimize(path, quiet=True), TypeError, "there is no argument 'quiet'"),
                                 (lambda: taso.Session(path, bugdet=3), TypeError, "'budget'"),
                                 (lambda: taso.optimize(path, max_rule_ops=-1), ValueError, "argument max_rule_ops "),
                                 (lambda: taso.optimize(path, device="tpu"), ValueError, "argument device"),
                                 (lambda: taso.optimize(self.folder / "none.onnx"), FileNotFoundError, "none.onnx"),
                                 (lambda: taso.Session("none.onnx"), FileNotFoundError, "none.onnx")):
            with self.assertRaisesRegex(kind, text) as caught:
                call()
            self.assertNotIn("--", str(caught.exception))

    def test_help_lists_the_options(self):
        import inspect
        import pydoc
        shown = pydoc.render_doc(taso.optimize, renderer=pydoc.plaintext)
        for text in ("total_time: float", "runtime: Union[str, os.PathLike[str]]",
                     "search: Literal['backtracking', 'saturation', 'both']", "Mapping[str, Union[int, Sequence[int]]]", "measure: bool", "max_rule_ops: use no rule with more than N operators"):
            self.assertIn(text, shown)
        self.assertIn("threads", inspect.signature(taso.Session).parameters)

    def test_reports_are_pages_in_notebooks(self):
        _, report = taso.optimize(self.models[0], **FAST)
        self.assertTrue(report.html.startswith("<!DOCTYPE html>") and report["headline"] in report.text)
        self.assertEqual(str(report), report["text"])
        self.assertRegex(report._repr_html_(), r'^<iframe srcdoc="&lt;!DOCTYPE html&gt;[^"<>]*" style="[^"<>]*"></iframe>$')

    def test_arguments_of_other_kinds_are_refused(self):
        data = self.paths[0].read_bytes()
        for call, kind, text in ((lambda: taso.optimize(np.zeros(3)), TypeError, "a model is a path"),
                                 (lambda: taso.Session(None), TypeError, "a model is a path"),
                                 (lambda: taso.verify(b"(rule)"), TypeError, "are a str, no bytes"),
                                 (lambda: taso.optimize(data, self.folder / "fast.onnx", **FAST), ValueError, "in memory"),
                                 (lambda: taso.optimize(self.paths[0], self.folder / "fast.txt", **FAST), taso.Error,
                                  "fast.txt: ends neither in .onnx nor in .taso")):
            with self.assertRaisesRegex(kind, text):
                call()
        with taso.Session(data, threads=1) as session, self.assertRaisesRegex(TypeError, "a dictionary of arrays"):
            session.run([np.zeros((8, 32), "f4")])

    def test_options_as_people_of_python_write_them(self):
        model = make_model(32, 1)
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        for shape in ({"x": (4, 32)}, {"batch": 4}, ["batch=4"], "batch=4"):
            with taso.Session(model, shape=shape, threads=None) as session:
                self.assertEqual(session.inputs, [("x", np.dtype("f4"), (4, 32))])
        _, report = taso.optimize(model, profile={"batch": [2, 3]}, **FAST)
        self.assertEqual([profile["batch"] for profile in report["symbols"]["profiles"]], [2, 3])

    def test_models_are_timed_in_the_python_that_asks(self):
        path, folder = os.environ.get("PATH"), self.folder / "no-python"
        folder.mkdir()
        try:
            os.environ.pop("TASO_PYTHON", None)
            os.environ["PATH"] = str(folder)
            _, report = taso.optimize(self.paths[0], self.folder / "there.onnx", costs="", budget=5, measure_seconds=0.1,
                                      finalists=1)
        finally:
            os.environ["PATH"] = path
        self.assertRegex(report["runtime"] or "", "^onnxruntime")

    def test_version_is_that_of_the_library(self):
        self.assertEqual(taso.__version__, taso.version())

    def test_only_proved_believes_no_certificate(self):
        rules = self.folder / "forged.rules"
        rules.write_text("(rule drop (source (relu ?x)) (target ?x) (proof (law L1) (tested (ranks 0 4))))\n")
        with self.assertRaisesRegex(taso.Error, "of 1 rule this build knows none as proved"):
            taso.optimize(self.models[0], rules=rules, only_proved=True, **FAST)
        self.assertNotIn("rules left out", taso.optimize(self.models[0], only_proved=True, **FAST)[1]["text"])

    def test_progress_ends_the_search_and_passes_failures_on(self):
        model, _ = taso.optimize(self.models[0], progress=lambda: False, **FAST)
        onnx.checker.check_model(model)

        def fail():
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            taso.optimize(self.models[0], progress=fail, **FAST)

    def test_interrupts_are_heard_while_the_library_works(self):
        """By a call that only ends when it is asked to, as a search that is endless."""
        for progress in (None, lambda: None):
            given, alarm = api._Options({}, progress), threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))

            def work():
                alarm.start()   # no sooner, however busy this machine is
                while not given.callback(None):
                    time.sleep(0.01)
            with self.assertRaises(KeyboardInterrupt):
                given.call(work)
            alarm.join()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
