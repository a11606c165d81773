"""Odd names, and very many of them: `names.py TASO-OPT [--few|--all]`.

Two products are joined in a model whose inputs, outputs, weights, nodes, symbols or attributes have odd names. Whatever
is written, ONNX Runtime reads, and it computes the same; a name with a zero byte is refused, as runtimes cut it there.
Each place gets half of the names, and each name half of the places; many names are half as many. With --few it is a fifth,
with --all none is left out.
"""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from expectations import run_tests, tests_of
from small_models import session_of

OPT, STEP = sys.argv[1], 5 if "--few" in sys.argv else 1 if "--all" in sys.argv else 2
PLACES = ["input", "other input", "output", "other output", "weight", "value", "node", "symbol", "attribute", "domain"]
STAND_IN = "stand-in-for-a-name"


def optimize(path, out):
    out.unlink(missing_ok=True)
    return subprocess.run([OPT, path, "-o", out, "--device", "fake", "--quiet"], capture_output=True, text=True,
                          env=dict(os.environ, XDG_CACHE_HOME=str(out.parent / "cache")), check=False)


def model_with(place, name):
    """y = x a + x b beside z, an Einsum of k with a symbolic size, which is kept as it is."""
    def named(p):
        return name if p == place else p
    random = np.random.default_rng(0)
    factors = [numpy_helper.from_array(random.standard_normal((64, 64)).astype(np.float32), n) for n in (named("weight"), "b")]
    has_odd = place in ("attribute", "domain")
    nodes = [helper.make_node("MatMul", [named("input"), named("weight")], [named("value")], name=named("node")),
             helper.make_node("MatMul", [named("input"), "b"], ["q"]),
             helper.make_node("Add", [named("value"), "q"], [named("output")]),
             helper.make_node("Einsum", [named("other input")], [named("other output")], equation="ij->ji")]
    if has_odd:
        nodes.append(helper.make_node("Odd", [named("input")], ["odd"], domain=name if place == "domain" else "odd",
                                      **{name if place == "attribute" else "one": 1}))
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "graph", [tensor(named("input"), TensorProto.FLOAT, [8, 64]),
                         tensor(named("other input"), TensorProto.FLOAT, [named("symbol"), 4])],
        [tensor(named("output"), TensorProto.FLOAT, [8, 64]),
         tensor(named("other output"), TensorProto.FLOAT, [4, named("symbol")]),
         *([tensor("odd", TensorProto.FLOAT, [8, 64])] if has_odd else [])], factors)
    domains = [name if place == "domain" else "odd"] if has_odd else []
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def run(path):
    """What ONNX Runtime makes of a model whose inputs it numbers itself: their names may be none that Python has."""
    session = session_of(path)
    names = [value.name for value in session.get_inputs()]
    values = [np.random.default_rng(i).standard_normal((8, 64) if i == 0 else (3, 4)).astype(np.float32) for i in range(2)]
    return session.run(None, dict(zip(names, values)))


def is_same(before, after):
    return all(a.shape == b.shape and np.abs(a - b).max() < 1e-4 * np.abs(a).max() for a, b in zip(run(before), run(after)))


def check_place(folder, place, text):
    """The name is put in place of another one of as many bytes, as Python may not be able to write it."""
    path, out = folder / "model.onnx", folder / "out.onnx"
    stand_in = (STAND_IN * len(text))[:len(text)].encode()
    path.write_bytes(model_with(place, stand_in.decode()).SerializeToString().replace(stand_in, text))
    done, what = optimize(path, out), f"{place} {text[:40]!r}"
    if b"\0" in text:
        assert done.returncode == 3 and not out.exists(), f"{what}: {done.returncode}"
        assert len(done.stderr.splitlines()) == 1 and "zero byte" in done.stderr, f"{what}: {done.stderr}"
        return
    assert done.returncode == 0 and not done.stderr, f"{what}: {done.returncode} {done.stderr}"
    written = out.read_bytes()
    assert written.count(record(4, b"MatMul")) == 1, f"{what}: nothing was rewritten"
    assert place in ("value", "node", "weight") or text in written, f"{what}: the name is gone"
    if place not in ("attribute", "domain") and is_text(text):
        assert is_same(path, out), f"{what}: another result"


def is_text(name):
    try:
        return bool(name.decode())
    except UnicodeDecodeError:
        return False


def test_places(folder):
    names = [b"zero\0byte", b"\0zero-first-of-all", b"zero-at-the-very-end\0", b"line\nbreak\rand\ttab", b"\x1b[31mescape",
             "\u202ebidi\u2066".encode(), "\u009b31m-control".encode(), "\u00e4\u6f22\U0001f600-wide".encode(),
             b"no-utf-8-\xff\xfe\xc0", b"cut-utf-8-\xe6\xbc", b"'quotes\" and \\", b"%s%n%999999d-format",
             b"../../etc/passwd", b"<script>&amp;", b"x" * 5000]
    for i, place in enumerate(PLACES):
        for name in names[i % STEP::STEP]:
            check_place(folder, place, name)


def test_names_that_are_made(folder):
    """New names are none that the model has, wherever it has them."""
    for i, place in enumerate(PLACES[:6]):
        for name in ("ewadd_0", "constant_0", "matmul_0", "input_0", "opaque_0")[i % STEP::STEP]:
            path, out = folder / "model.onnx", folder / "out.onnx"
            onnx.save(model_with(place, name), path)
            assert optimize(path, out).returncode == 0 and is_same(path, out), f"{place} {name}"


def test_duplicates(folder):
    for places in (["input", "other input"], ["output", "other output"], ["weight", "value"], ["value", "input"]):
        path = folder / "model.onnx"
        path.write_bytes(renamed(model_with(places[0], STAND_IN), places[1]).SerializeToString())
        done = optimize(path, folder / "out.onnx")
        assert done.returncode == 3 and len(done.stderr.splitlines()) == 1, f"{places}: {done.returncode} {done.stderr}"


def renamed(model, name):
    for values in (model.graph.input, model.graph.output, model.graph.initializer):
        for value in values:
            value.name = name if value.name == STAND_IN else value.name
    for node in model.graph.node:
        for names in (node.input, node.output):
            for i, old in enumerate(names):
                names[i] = name if old == STAND_IN else old
    return model


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def record(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def test_many(folder):
    """Of 300,000 names each is looked up, not compared with all others: that would take minutes."""
    path, out, n = folder / "many.onnx", folder / "out.onnx", 300000 // STEP
    model = model_with("input", "x").SerializeToString()
    path.write_bytes(model + b"".join(record(8, record(1, b"%x" % i)) for i in range(n)))
    assert optimize(path, out).returncode == 0, "operator sets"
    path.write_bytes(model + record(8, record(1, b"d") + b"\x10\1") + record(8, record(1, b"d") + b"\x10\2"))
    assert "two versions" in optimize(path, out).stderr, "operator sets of two versions"
    whole = model_with("attribute", STAND_IN)
    one = record(5, record(1, STAND_IN.encode()) + b"\x18\1\xa0\1\2")
    assert one in whole.SerializeToString()
    node = whole.graph.node[-1].SerializeToString()
    graph = whole.graph.SerializeToString()
    for i, content in enumerate([b"".join(record(5, record(1, b"%x" % i)) for i in range(n)), one]):
        many = graph.replace(record(1, node), record(1, node + content))
        path.write_bytes(whole.SerializeToString().replace(record(7, graph), record(7, many)))
        done = optimize(path, out)
        assert done.returncode == (3 if i else 0), f"attributes: {done.returncode} {done.stderr}"
    assert "two attributes" in done.stderr, done.stderr


run_tests(tests_of(globals()))
