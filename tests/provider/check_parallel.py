#!/usr/bin/env python3
"""Sessions at work beside each other, also under a sanitizer: `check_parallel.py LIBRARY SANITIZERS`, the latter as -Db_sanitize has
them (none, address, thread), with which LIBRARY was built.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
# These are not instrumented: nobody sees how they order accesses, and what they keep.
OTHERS = ["libonnxruntime.so", "libdnnl.so", "libgomp.so"]
# Memory of threads that have ended is taken for libraries and threads to come, and nobody sees the loader map it: what
# take_from reads of a kernel's library it reads under a lock.
SUPPRESSED = {"thread": "race:dl_deallocate_tls\nrace:__tsan_tls_initialization\nrace:take_from\n" +
                        "".join(f"called_from_lib:{name}\n" for name in OTHERS),
              "leak": "".join(f"leak:{name}\n" for name in OTHERS)}


def make_model():
    """Products, a convolution, what becomes loops, and a chain, of x[16,64]."""
    drawn = np.random.default_rng(1)
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[16,64] x) => (float[16,64] z) {
        image = Constant<value = int64[4] {1, 16, 8, 8}>()  rows = Constant<value = int64[2] {16, 64}>()
        a = MatMul(x, u)  b = Tanh(a)  c = Reshape(b, image)  d = Conv<pads = [1,1,1,1]>(c, k)  e = Sigmoid(d)
        f = Mul(d, e)  g = Reshape(f, rows)  h = Transpose<perm = [1,0]>(g)  i = MatMul(g, h)  j = Softmax<axis = -1>(i)
        l = MatMul(j, g)  z = Add(l, x) }""")
    for name, shape in ("u", (64, 64)), ("k", (16, 16, 3, 3)):
        model.graph.initializer.append(numpy_helper.from_array((drawn.standard_normal(shape) / 8).astype(np.float32), name))
    return model


def build(folder, sanitizers):
    libraries = sorted((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))
    (folder / "libonnxruntime.so.1").symlink_to(libraries[-1])
    more = [] if sanitizers == "none" else [f"-fsanitize={sanitizers}", "-g"]
    subprocess.run(["cc", "-Wall", "-Werror", *more, "-isystem", os.environ["TASO_ONNXRUNTIME_HEADERS"], HERE / "parallel.c",
                    libraries[-1], f"-Wl,-rpath,{folder}", "-lm", "-lpthread", "-o", folder / "parallel"], check=True)


def main():
    library, sanitizers = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, sanitizers)
        onnx.save(make_model(), folder / "model.onnx")
        for kind, lines in SUPPRESSED.items():
            (folder / kind).write_text(lines, encoding="utf-8")
        environment = {**os.environ, "TSAN_OPTIONS": f"halt_on_error=1:report_mutex_bugs=0:suppressions={folder}/thread",
                       "LSAN_OPTIONS": f"suppressions={folder}/leak"}
        for threads in "1", "2":
            leaks = f"detect_leaks={int(threads == '1')}"   # LeakSanitizer falls over OpenMP's threads
            environment["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), leaks]))
            done = subprocess.run([folder / "parallel", library, folder / "model.onnx", threads], env=environment,
                                  capture_output=True, text=True, check=False)
            if (done.returncode, done.stdout) != (0, "done\n"):
                print(f"{threads} threads: {done.returncode}\n{done.stderr}")
                return 1
    return 0


if __name__ == "__main__":
    if not os.environ.get("TASO_ONNXRUNTIME_HEADERS") or not hasattr(onnxruntime, "register_execution_provider_library"):
        sys.exit(77)
    sys.exit(main())
