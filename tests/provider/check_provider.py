#!/usr/bin/env python3
"""The plugin in ONNX Runtime, beside its own provider: `check_provider.py LIBRARY [TEST...]`.

Nothing is timed here: with `measure=false` all regions that are understood are taken.
"""
import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

import numpy as np
import onnx.parser
import onnxruntime

NAME = "TasoExecutionProvider"
LIBRARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
CPU = ["CPUExecutionProvider"]


def parse(text):
    return onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> ' + text).SerializeToString()


def devices():
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]


def with_provider(options, **provider_options):
    options.log_severity_level = 3
    options.add_provider_for_devices(devices(), {"threads": "1", "measure": "false", "costs": "", **provider_options})
    return options


def open_session(model, options=None, **provider_options):
    options = options or onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, with_provider(options, **provider_options))


def log_of(model, runs="", **provider_options):
    """What the plugin tells in the log when a session opens, makes these runs, and closes."""
    script = f"""
import sys, numpy, onnxruntime
onnxruntime.register_execution_provider_library("taso", {LIBRARY!r})
options = onnxruntime.SessionOptions()
options.log_severity_level = 1
chosen = [d for d in onnxruntime.get_ep_devices() if d.ep_name == {NAME!r}]
options.add_provider_for_devices(chosen, {dict({"threads": "1", "costs": ""}, **provider_options)!r})
session = onnxruntime.InferenceSession(bytes.fromhex(sys.argv[1]), options)
{runs}
"""
    done = subprocess.run([sys.executable, "-c", script, model.hex()], capture_output=True, text=True, check=True)
    return re.findall(r"taso: (.*)", done.stderr)


def feeds(model, seed, sizes):
    """Random inputs; `sizes` of symbols."""
    drawn, found = np.random.default_rng(seed), {}
    for value in onnx.load_from_string(model).graph.input:
        shape = [d.dim_value if d.HasField("dim_value") else sizes[d.dim_param] for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        numbers = drawn.standard_normal(shape)
        found[value.name] = (numbers if dtype.kind == "f" else np.abs(numbers) * 3).astype(dtype)
    return found


class Provider(unittest.TestCase):
    def agree(self, ours, model, feed):
        expected = onnxruntime.InferenceSession(model, providers=CPU).run(None, feed)
        for right, got in zip(expected, ours.run(None, feed), strict=True):
            self.assertEqual((right.dtype, right.shape), (got.dtype, got.shape))
            np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)

    def nodes_of(self, model, feed, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
        """Which nodes run where, from the session's profile."""
        with tempfile.TemporaryDirectory() as folder:
            options = onnxruntime.SessionOptions()
            options.enable_profiling, options.graph_optimization_level = True, level
            options.profile_file_prefix = str(pathlib.Path(folder) / "profile")
            session = open_session(model, options)
            session.run(None, feed)
            events = json.loads(pathlib.Path(session.end_profiling()).read_text(encoding="utf-8"))
        ran = [event["args"] for event in events if event["name"].endswith("_kernel_time")]
        return [args["op_name"] for args in ran if args["provider"] == NAME], \
            sorted(args["op_name"] for args in ran if args["provider"] != NAME)

    def test_fixed_sizes(self):
        model = parse("""g (float[2,3,8,8] x) => (float[2,4,8,8] z)
            <float[4,3,3,3] w = {%s}> { a = Conv<pads = [1,1,1,1]>(x, w)  z = LeakyRelu<alpha = 0.5>(a) }"""
                      % ",".join(str(i % 7 - 3) for i in range(108)))
        self.agree(open_session(model), model, feeds(model, 1, {}))
        ours, others = self.nodes_of(model, feeds(model, 1, {}))
        self.assertEqual((len(ours), others), (1, []))

    def test_threads_of_sessions(self):
        """Kernels run on the threads of their session, also where two sessions and several runs of each are at work."""
        model = parse("""g (float[1,16,20,20] x) => (float[1,400,400] z) <float[16,16,3,3] w = {%s}> {
            a = Conv<pads = [1,1,1,1]>(x, w)  b = Sigmoid(a)  c = Mul(a, b)
            rows = Constant<value = int64[3] {1, 16, 400}>()  d = Reshape(c, rows)
            e = Transpose<perm = [0,2,1]>(d)  f = MatMul(e, d)  z = Softmax<axis = -1>(f) }"""
                      % ",".join(str((i % 7 - 3) / 20) for i in range(16 * 16 * 9)))
        sessions = []
        for _ in range(2):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 2
            sessions.append(onnxruntime.InferenceSession(model, with_provider(options, threads="2")))
        failures = []

        def run_often(session, seed):
            try:
                for run in range(5):
                    self.agree(session, model, feeds(model, 10 * seed + run, {}))
            except AssertionError as e:
                failures.append(e)

        runs = [threading.Thread(target=run_often, args=(sessions[seed % 2], seed)) for seed in range(4)]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        self.assertEqual(failures, [])

    def test_symbols(self):
        """Sizes that were not seen are run by the other session first; up to seven become ours beside the likely one."""
        model = parse("g (float[n,8] x, float[8,m] w) => (float[n,m] z) { a = MatMul(x, w) z = Tanh(a) }")
        session = open_session(model)
        for n in range(1, 11):
            for again in range(2):
                self.agree(session, model, feeds(model, n, {"n": n, "m": 3}))
                time.sleep(0.1 if again == 0 else 0)

    def test_sizes_that_are_given_up(self):
        """The other session runs them for good."""
        model = parse("""g (float[n] x) => (float[4] z, float[n] y) <float[30,4] table = {%s}> {
            a = Abs(x)  s = ReduceSum<keepdims = 0>(a)  i = Cast<to = 7>(s)  z = Gather(table, i)  y = Neg(x) }"""
                      % ",".join(str(i % 7) for i in range(120)))   # random numbers add up to a place beyond the table
        session, runs = open_session(model), []
        for seed in range(6):
            x = feeds(model, seed, {"n": 5000})["x"] / 1000
            runs.append((x, session.run(None, {"x": x})))
            self.agree(session, model, {"x": x})
            time.sleep(0.1)
        for x, (_, y) in runs:   # nothing is written later
            np.testing.assert_array_equal(y, -x)
        often = "import time\nfor _ in range(9): session.run(None, {'x': numpy.zeros(5000, 'float32')}); time.sleep(0.1)\ndel session"
        told = log_of(model, often, measure="false")
        self.assertIn("new sizes are left to ONNX Runtime: it fails on random inputs", told)

    def test_two_regions_around_what_is_not_understood(self):
        model = parse("""g (float[4,8] x, float[8,8] w) => (float[4,8] z, int64[r,k] places) {
            a = MatMul(x, w)  b = Relu(a)  places = NonZero(b)  one = Shape(places)
            c = ConstantOfShape<value = float[1] {2.5}>(one)  total = ReduceSum<keepdims = 0>(c)
            d = Mul(b, total)  e = MatMul(d, w)  z = Add(e, b) }""")
        feed = feeds(model, 2, {})
        self.agree(open_session(model), model, feed)
        ours, others = self.nodes_of(model, feed)
        self.assertGreaterEqual(len(ours), 1)
        self.assertIn("NonZero", others)
        self.assertTrue(any(re.search("[0-9] nodes are not understood, the first of them .*NonZero", line) for line in log_of(model)))

    def test_short_texts(self):
        """A table of places that has no place for texts of the likely length: a shorter one is as likely."""
        model = parse("""g (int64[batch,length] ids) => (float[batch,length,4] z)
            <float[20,4] table = {%s}, int64 zero = {0}, int64 one = {1}, int64[1] last = {2}> {
            sizes = Shape(ids)  n = Gather(sizes, one)  places = Range(zero, n, one)  rows = Gather(table, places)
            a = Cast<to = 1>(ids)  b = Unsqueeze(a, last)  z = Add(b, rows) }""" % ",".join(str(i % 7) for i in range(80)))
        ours, others = self.nodes_of(model, feeds(model, 1, {"batch": 1, "length": 16}))
        self.assertEqual((len(ours), others), (1, []))
        self.agree(open_session(model), model, feeds(model, 2, {"batch": 2, "length": 9}))

    def test_unoptimized(self):
        """Nodes that ONNX Runtime would fold, were it to optimize the graph, are part of a region that has their inputs."""
        model = parse("""g (float[4,8] x, float[2,16] t) => (float[2,16] z) {
            s = Shape(t)  a = Exp(x)  b = Neg(a)  z = Reshape(b, s) }""")
        ours, others = self.nodes_of(model, feeds(model, 3, {}), onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        self.assertEqual((len(ours), others), (1, []))

    def test_a_way_out_of_a_region_and_back(self):
        """Relu and Add may not be one region: NonZero's result lies between them."""
        model = parse("""g (float[6] x) => (float[k] z) {
            a = Relu(x)  i = NonZero(a)  j = Squeeze(i)  b = Gather(a, j)  c = Neg(b)  z = Add(b, c) }""")
        self.agree(open_session(model), model, feeds(model, 3, {}))

    def test_element_types(self):
        model = parse("""g (float[3,5] x, int64[3] i, bool[3,5] b) => (int64[3,5] p, bool[3,5] q, float[3,5] r) {
            axis = Constant<value = int64[1] {1}>()
            s = Unsqueeze(i, axis)  t = Cast<to = 7>(x)  p = Add(s, t)  q = Not(b)  r = Where(q, x, x) }""")
        self.agree(open_session(model), model, feeds(model, 4, {}))

    def test_at_once(self):
        model = parse("g (float[16,64] x, float[64,64] w) => (float[16,64] z) { a = MatMul(x, w) z = Softmax(a) }")
        session, failures = open_session(model), []

        def run(seed):
            try:
                for k in range(30):
                    self.agree(session, model, feeds(model, seed * 100 + k, {}))
            except AssertionError as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_asynchronous_runs(self):
        """By ONNX Runtime's own threads, beside each other."""
        model = parse("g (float[16,64] x, float[64,64] w) => (float[16,64] z) { a = MatMul(x, w) z = Softmax(a) }")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 3   # run_async needs some of its own
        session = onnxruntime.InferenceSession(model, with_provider(options))
        own = onnxruntime.InferenceSession(model, providers=CPU)
        done, results = threading.Semaphore(0), {}

        def keep(outputs, seed, failure):
            results[seed] = (outputs, failure)
            done.release()

        for seed in range(20):
            session.run_async(None, feeds(model, seed, {}), keep, seed)
        for seed in range(20):
            self.assertTrue(done.acquire(timeout=600))
        for seed in range(20):
            outputs, failure = results[seed]
            self.assertFalse(failure)
            np.testing.assert_allclose(outputs[0], own.run(None, feeds(model, seed, {}))[0], rtol=1e-5, atol=1e-6)

    def test_bound_tensors(self):
        """Inputs and outputs are the caller's own, run after run."""
        model = parse("g (float[16,64] x, float[64,64] w) => (float[16,64] z) { a = MatMul(x, w) z = Softmax(a) }")
        session, binding = open_session(model), None
        own = onnxruntime.InferenceSession(model, providers=CPU)
        z = onnxruntime.OrtValue.ortvalue_from_numpy(np.full((16, 64), np.nan, np.float32))
        binding = session.io_binding()
        binding.bind_ortvalue_output("z", z)
        for seed in range(3):
            feed = feeds(model, seed, {})
            for name, value in feed.items():
                binding.bind_cpu_input(name, value)
            session.run_with_iobinding(binding)
            np.testing.assert_allclose(z.numpy(), own.run(None, feed)[0], rtol=1e-5, atol=1e-6)

    def test_registered_again(self):
        """Sessions and the library come and go in one process, and nothing of an earlier one is left."""
        script = f"""
import gc, sys, numpy as np, onnxruntime
model, library = bytes.fromhex(sys.argv[1]), {LIBRARY!r}
x = np.ones((4, 4), np.float32)
for again in range(4):
    onnxruntime.register_execution_provider_library("taso", library)
    options = onnxruntime.SessionOptions()
    chosen = [d for d in onnxruntime.get_ep_devices() if d.ep_name == {NAME!r}]
    options.add_provider_for_devices(chosen, {{"threads": "1", "measure": "false", "costs": ""}})
    session = onnxruntime.InferenceSession(model, options)
    assert np.allclose(session.run(None, {{"x": x}})[0], 1 / (1 + np.exp(-np.e)))
    del session, options, chosen
    gc.collect()
    onnxruntime.unregister_execution_provider_library("taso")
"""
        model = parse("g (float[4,4] x) => (float[4,4] z) { a = Exp(x) z = Sigmoid(a) }")
        done = subprocess.run([sys.executable, "-c", script, model.hex()], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_exact(self):
        """No kernel that loses digits: the option is taso-opt's."""
        model = parse("""g (float[1,16,14,14] x) => (float[1,16,14,14] z)
            <float[16,16,3,3] w = {%s}> { z = Conv<pads = [1,1,1,1]>(x, w) }""" % ",".join(str(i % 5 - 2) for i in range(2304)))
        self.agree(open_session(model, exact="true"), model, feeds(model, 7, {}))

    def test_compatibility(self):
        """What is compiled says for what; a form of another version is known before the session opens."""
        model = parse("g (float[4] x) => (float[4] z) { a = Exp(x) z = Sigmoid(a) }")
        with tempfile.TemporaryDirectory() as name:
            written, _ = self.write_contexts(pathlib.Path(name), model, True)
            compiled = onnx.load(str(written))
            (entry,) = [entry for entry in compiled.metadata_props
                        if entry.key.startswith("ep_compatibility_info.") and NAME in entry.key]
            text = entry.value
            self.assertRegex(text, r"^taso [0-9.]+, form \d+, .")
        told = self.run_c("tests/provider/compatibility.c", text, text + " of another kind", text.replace("form ", "form 9"), "other")
        self.assertEqual(told.split(), ["1", "2", "3", "0"])   # as it is, better anew, not at all, somebody else's

    def run_c(self, source, *arguments):
        """What a program prints that is linked with the library that Python's package has."""
        headers = os.environ.get("TASO_ONNXRUNTIME_HEADERS")
        libraries = sorted((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))
        if not headers or not libraries:
            self.skipTest("no headers, or no library, of ONNX Runtime")
        with tempfile.TemporaryDirectory() as name:
            folder, source = pathlib.Path(name), pathlib.Path(__file__).parents[2] / source
            (folder / "libonnxruntime.so.1").symlink_to(libraries[-1])
            subprocess.run(["cc", "-Wall", "-Werror", "-isystem", headers, source, libraries[-1], f"-Wl,-rpath,{folder}",
                            "-o", folder / "program"], check=True)
            done = subprocess.run([folder / "program", LIBRARY, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_example_in_c(self):
        with tempfile.TemporaryDirectory() as name:
            model = pathlib.Path(name, "model.onnx")
            model.write_bytes(parse("g (float[4] x) => (float[4] z) { a = Exp(x) z = Sigmoid(a) }"))
            self.assertEqual(self.run_c("examples/onnxruntime.c", model), "output z: 16 bytes\n")

    def write_contexts(self, folder, model, embedded):
        """Gives the model with EPContext nodes, and the files beside it."""
        original, written = folder / "model.onnx", folder / "compiled.onnx"
        original.write_bytes(model)
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("ep.context_enable", "1")
        options.add_session_config_entry("ep.context_embed_mode", str(int(embedded)))
        options.add_session_config_entry("ep.context_file_path", str(written))
        open_session(str(original), options)
        return written, sorted(folder.glob("*.bin"))

    def test_contexts(self):
        """A session of the compiled model has its regions without the original's nodes."""
        model = parse("""g (float[4,8] x, float[8,8] w) => (float[4,8] z, int64[r,k] places) {
            a = MatMul(x, w)  b = Relu(a)  places = NonZero(b)  c = MatMul(b, w)  z = Sigmoid(c) }""")
        for embedded in False, True:
            with self.subTest(embedded=embedded), tempfile.TemporaryDirectory() as name:
                written, files = self.write_contexts(pathlib.Path(name), model, embedded)
                types = [node.op_type for node in onnx.load(str(written)).graph.node]
                self.assertIn("EPContext", types)
                self.assertNotIn("MatMul", types)
                self.assertEqual(len(files), 0 if embedded else types.count("EPContext"))
                self.agree(open_session(str(written)), model, feeds(model, 6, {}))

    def test_context_behind_a_link(self):
        """Caches keep files under other names; a session that is open needs neither."""
        model = parse("g (float[4] x) => (float[4] z) { a = Exp(x) z = Sigmoid(a) }")
        with tempfile.TemporaryDirectory() as name:
            written, (file,) = self.write_contexts(pathlib.Path(name), model, False)
            kept = file.rename(file.with_name("blob"))
            file.symlink_to(kept.name)
            session = open_session(str(written))
            file.unlink()
            kept.unlink()
            runs = [threading.Thread(target=self.agree, args=(session, model, feeds(model, seed, {}))) for seed in range(4)]
            for run in runs:
                run.start()
            for run in runs:
                run.join()
            self.agree(session, model, feeds(model, 8, {}))

    def refuse_contexts(self, model, reason):
        with self.assertRaisesRegex(Exception, reason):
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.add_provider_for_devices(devices(), {})
            session = onnxruntime.capi._pybind_state.InferenceSession(options, str(model), True, False)
            session.initialize_session([], [], set())

    def test_damaged_contexts(self):
        model = parse("g (float[4] x) => (float[4] z) { a = Exp(x) z = Sigmoid(a) }")
        with tempfile.TemporaryDirectory() as name:
            written, (file,) = self.write_contexts(pathlib.Path(name), model, False)
            whole = file.read_bytes()
            for damaged in whole[:-9], whole[:100] + b"?" + whole[101:], b"", b"nonsense":
                file.write_bytes(damaged)
                self.refuse_contexts(written, "taso: ")
            named = onnx.load(str(written))
            for attribute in named.graph.node[0].attribute:
                if attribute.name == "ep_cache_context":
                    attribute.s = b"../" + file.name.encode()
            onnx.save(named, str(written))
            self.refuse_contexts(written, "names no file beside its model")

    def test_contexts_of_other_types(self):
        """A graph may say other element types of an EPContext node's tensors than what was compiled has: nothing is read or
        written beyond them."""
        model = parse("g (float[64] x) => (float[64] z) { a = Exp(x) z = Sigmoid(a) }")
        with tempfile.TemporaryDirectory() as name:
            written, _ = self.write_contexts(pathlib.Path(name), model, True)
            for values, x in ("input", np.zeros(64, np.int8)), ("output", np.zeros(64, np.float32)):
                with self.subTest(values):
                    other = onnx.load(str(written))
                    for value in getattr(other.graph, values):
                        value.type.tensor_type.elem_type = onnx.TensorProto.INT8
                    session = open_session(other.SerializeToString())
                    session.disable_fallback()
                    with self.assertRaisesRegex(Exception, "another type than what was compiled"):
                        session.run(None, {"x": x})

    def test_wheel(self):
        """The packages are for every Python 3, with their libraries and rules in them, and find each other."""
        build, script = pathlib.Path(LIBRARY).parents[1], pathlib.Path(__file__).parents[2] / "scripts/build-wheels"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, script, build, folder], capture_output=True, text=True, check=True)
            wheels, place = done.stdout.split(), pathlib.Path(folder) / "installed"
            self.assertTrue(all("-py3-none-manylinux_" in wheel for wheel in wheels))
            pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", place]
            subprocess.run([*pip, *wheels], check=True)
            environment = {**os.environ, "PYTHONPATH": str(place)}
            environment.pop("TASO_PROVIDER", None)
            command = ("import onnxruntime_ep_taso as p; from taso import library, provider\n"
                       "print(p.get_library_path(), provider.library_path(), library.load()._name, *p.get_ep_names())")
            told = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, cwd=folder,
                                  env=environment)
            plugin = place / "onnxruntime_ep_taso" / pathlib.Path(LIBRARY).name
            self.assertEqual(told.stdout.split(), [str(plugin), str(plugin), str(place / "taso/libtaso.so.1"), NAME])
            self.assertEqual(plugin.read_bytes(), pathlib.Path(LIBRARY).read_bytes())
            for binary in plugin, place / "taso/libtaso.so.1", place / "taso/taso-opt":
                needed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
                self.assertIn(f" => {binary.parent}/libdnnl.so", needed)
                self.assertTrue((binary.parent / "share/taso/taso.rules").is_file())
            subprocess.run([place / "bin/taso-opt", "--version"], check=True, env=environment, stdout=subprocess.DEVNULL)

    def test_options(self):
        model = parse("g (float[2] x) => (float[2] z) { z = Relu(x) }")
        for name, value, reason in ("nonsense", "1", "nonsense"), ("threads", "many", "threads"), ("quiet", "true", "quiet"):
            with self.subTest(name), self.assertRaisesRegex(Exception, reason):
                options = onnxruntime.SessionOptions()
                options.log_severity_level = 4
                options.add_provider_for_devices(devices(), {name: value})
                onnxruntime.capi._pybind_state.InferenceSession(options, model, False, False).initialize_session(
                    [], [], set())

    def test_documented_options(self):
        """Each of the manual's table is taken, and says what it does."""
        model = parse("""g (float[16,64] x) => (float[16,64] z) <float[64,64] w = {%s}> {
            a = MatMul(x, w)  b = Relu(a)  c = MatMul(b, w)  z = Softmax<axis = -1>(c) }"""
                      % ",".join(str((i % 7 - 3) / 20) for i in range(64 * 64)))
        manual = (pathlib.Path(__file__).parents[2] / "docs/manual/provider.md").read_text(encoding="utf-8")
        table = manual[manual.index("| option |"):].split("\n\n")[0]
        documented = {name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", line.split("|")[1])}
        with tempfile.TemporaryDirectory() as folder:
            costs, few = pathlib.Path(folder, "costs"), pathlib.Path(folder, "few.rules")
            few.write_text("(rule twice (source (relu (relu ?x))) (target (relu ?x)))\n", encoding="utf-8")
            values = {"threads": "2", "time": "5", "measure": "false", "tolerance": "1e-3", "exact": "true", "budget": "3",
                      "search": "both", "rules": str(few), "without": "twice", "costs": str(costs)}
            self.assertEqual(set(values), documented)
            for name, value in values.items():
                with self.subTest(name):
                    self.agree(open_session(model, **{name: value}), model, feeds(model, 9, {}))
            self.assertTrue(costs.is_file())
        self.assertIn("4 nodes are run 1.00 times faster", log_of(model, measure="false"))
        self.assertRegex(log_of(model, measure="false")[-1], r"^4 of 4 nodes are understood; opening has taken [\d.]+ s of 10.0")
        self.assertIn("4 nodes are left to ONNX Runtime: the time is over", log_of(model, measure="false", time="1e-9"))
        self.assertRegex(log_of(model, measure="false", rules="/nowhere")[0], "left to ONNX Runtime: .*nowhere")

    def test_no_limit(self):
        """The option `time` is 0: sizes that come later have as long as it takes, too."""
        model = parse("g (float[n,64] x) => (float[n,64] z) { a = Exp(x)  b = Neg(a)  c = Exp(b)  z = Neg(c) }")
        with tempfile.TemporaryDirectory() as folder:
            costs = pathlib.Path(folder, "costs")
            log_of(model, "session.run(None, {'x': numpy.zeros((9, 64), 'float32')})\ndel session", measure="false", time="0",
                   budget="3", costs=str(costs))
            self.assertIn("[9x64]", costs.read_text(encoding="utf-8"))   # time over at once, nothing is measured

    def test_tolerance(self):
        """A region whose outputs are not within it is left."""
        model = parse("""g (float[16,64] x, float[64,64] w) => (float[16,64] z) { a = MatMul(x, w)  t = Tanh(a)
            b = Exp(t)  c = ReduceSum<keepdims = 1>(b)  z = Div(b, c) }""")
        self.assertRegex(" ".join(log_of(model, measure="false", tolerance="1e-12")), "output z is not ONNX Runtime's")

    def test_outputs_that_say_nothing(self):
        """All zeros would agree with nearly anything: other inputs are tried, and where none helps, no kernel loses digits."""
        text = """g (float[16,256] x) => (float[16,4] z) <float[256,4] w = {%s}, float least = {%s}> {
            a = MatMul(x, w)  b = Exp(a)  c = Sub(b, least)  z = Relu(c) }"""
        weights = ",".join(f"{(10 + i * i % 97 / 16) / 1000:.6f}" for i in range(1024))
        told = log_of(parse(text % (weights, "3.4")), measure="false", tolerance="1e-12")   # not zero where all of x is positive
        self.assertIn("4 nodes are left to ONNX Runtime: output z is not ONNX Runtime's", told)
        told = log_of(parse(text % (weights, "1e9")), measure="false")
        self.assertIn("its outputs say nothing on random inputs; it is compiled once more, without kernels that lose digits", told)
        self.assertIn("4 nodes are run 1.00 times faster", told)

    def test_kernels_that_lose_too_many_digits(self):
        """Where Winograd's kernels are farther off than costs say, a region is compiled once more, without them."""
        model = parse("""g (float[1,32,28,28] x) => (float[1,32,28,28] z)
            <float[32,32,3,3] w = {%s}> { z = Conv<pads = [1,1,1,1]>(x, w) }""" % ",".join(str(i * i % 7 - 3) for i in range(9216)))
        with tempfile.TemporaryDirectory() as folder:
            costs = pathlib.Path(folder, "costs")
            log_of(model, measure="false", time="0", costs=str(costs))
            cheap, n = re.subn(r'^(\(".* inexact") \S+ \S+ ("generated \(winograd[^"]*").*$', r"\1 1e-9 0.0 \2 (error 1e-09))",
                               costs.read_text(encoding="utf-8"), flags=re.M)
            if n == 0:
                self.skipTest("no kernel that loses digits was measured, as there is no compiler")
            costs.write_text(cheap, encoding="utf-8")
            told = log_of(model, measure="false", time="0", tolerance="1e-6", costs=str(costs))
        self.assertIn("output z is not ONNX Runtime's; it is compiled once more, without kernels that lose digits", told)
        self.assertIn("1 nodes are run 1.00 times faster", told)

    def test_inputs_that_fail(self):
        """Other inputs at which ONNX Runtime itself fails, here places beyond a table, are no reason to leave a region."""
        model = parse("""g (float[64] x) => (float[4] z) <float[30,4] table = {%s}, float least = {1e9}> {
            s = ReduceSum<keepdims = 0>(x)  i = Cast<to = 7>(s)  r = Gather(table, i)  c = Sub(r, least)  z = Relu(c) }"""
                      % ",".join(str(i % 7) for i in range(120)))
        self.assertIn("5 nodes are run 1.00 times faster", log_of(model, measure="false"))

    def test_outputs_of_what_is_not_compiled(self):
        """What the own session made to be compared with is given back where nothing comes of it."""
        model = parse("g (float[2048,1] x, float[1,2048] y) => (float[2048,2048] z) { s = Add(x, y)  z = Relu(s) }")
        def opened():
            open_session(model, rules="/no/such.rules")
            return int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        before = opened()
        self.assertLess(max(opened() for _ in range(8)) - before, 10 * 2048 * 2048 * 4)

    def test_contest(self):
        """Whoever wins it, the results are right."""
        model = parse("g (float[2] x) => (float[2] z) { z = Identity(x) }")
        self.agree(open_session(model, measure="true"), model, feeds(model, 5, {}))

    def test_contest_that_begins_late(self):
        """What has taken the time for it, here who has locked the costs, would take it in the next session, too."""
        model = parse("g (float[64,64] x) => (float[64,64] z) { a = Exp(x)  b = Neg(a)  c = Exp(b)  z = Neg(c) }")
        for seconds in 5, 30:   # a slow machine may not have come to it by then
            with tempfile.TemporaryDirectory() as folder:
                costs = pathlib.Path(folder, "costs")
                costs.touch()
                with costs.open("rb") as locked:
                    fcntl.flock(locked, fcntl.LOCK_EX)
                    release = threading.Timer(seconds, lambda locked=locked: fcntl.flock(locked, fcntl.LOCK_UN))
                    release.start()
                    told = " ".join(log_of(model, time="1", costs=str(costs)))
                    release.join()
            if "times as fast in a session" in told:
                break
        self.assertRegex(told, r"times as fast in a session, in \d+ rounds")

    def test_what_does_not_fit_any_more(self):
        """What would be packed and timed until long after the end is not begun: runs take half a second at least."""
        model = parse("g (float[4096,4096] x) => (float[4096,4096] z) { y = MatMul(x, x)  z = MatMul(y, x) }")
        told = " ".join(log_of(model, time="0.3"))
        self.assertRegex(told, "left to ONNX Runtime: (packing and timing it would take|the time is over)")
        self.assertNotIn("searching and packing", told)

    def test_again(self):
        model = parse("g (float[n,4] x) => (float[n,4] z) { a = Exp(x) z = Sigmoid(a) }")
        for seed in range(5):
            session = open_session(model)
            self.agree(session, model, feeds(model, seed, {"n": 3}))
            del session


if __name__ == "__main__":
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        print("ONNX Runtime is older than plugins")
        sys.exit(77)
    onnxruntime.register_execution_provider_library("taso", LIBRARY)
    unittest.main(verbosity=2)
