"""Reads and writes models with onnx_copy and compares them with what the onnx package sees.

`roundtrip.py PATH/onnx_copy SUITE`, with SUITE one of
  node      every model of ONNX's own node tests (skipped where the onnx wheel has none)
  made      models made here: every message, every element type, every way to store a tensor
  external  external data: written, kept, shared, moved there when too large; and what must be refused
  hostile   truncated, bit-flipped, nested, cyclic and lying files: one line, exit code 3, nothing written
  large     a model of 2.2 GB within 1.3 times its size of memory (needs 7 GB of disk; not part of the quick tests)
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from each_model import results_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from text_models import model_of  # noqa: E402

BAD_INPUT = 3


class Failure(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


class Runner:
    def __init__(self, tool, folder):
        self.tool = tool
        self.folder = pathlib.Path(folder)

    def copy(self, path, out="out.onnx", *options):
        """Runs the tool; gives (exit code, stdout, stderr, path of the output)."""
        target = self.folder / out
        done = subprocess.run([self.tool, *options, str(path), str(target)], capture_output=True)
        return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace"), target

    def accepts(self, path, out="out.onnx", *options):
        code, text, complaint, target = self.copy(path, out, *options)
        require(code == 0, f"{path}: exit code {code}: {complaint}")
        return target, text, complaint

    def refuses(self, path, pattern):
        target = self.folder / "refused.onnx"
        code, _, complaint, _ = self.copy(path, "refused.onnx")
        require(code == BAD_INPUT, f"{path}: exit code {code}, not {BAD_INPUT}: {complaint}")
        require(complaint.count("\n") == 1, f"{path}: not one line: {complaint}")
        require(re.search(pattern, complaint), f"{path}: {complaint!r} does not match {pattern!r}")
        require(not target.exists(), f"{path}: something was written")
        left = [p for p in self.folder.iterdir() if ".tmp" in p.name]
        require(not left, f"{path}: left behind: {left}")

    def save(self, model, name="in.onnx"):
        path = self.folder / name
        path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        return path


def compare_models(before, after, what):
    """Equal as the onnx package reads them, and byte for byte where it would have written the same."""
    a, b = onnx.ModelProto.FromString(before), onnx.ModelProto.FromString(after)
    require(a == b, f"{what}: the models differ")
    if a.SerializeToString() == before:
        require(before == after, f"{what}: equal, but not byte for byte")


def passes_through(runner, path):
    target, _, _ = runner.accepts(path)
    compare_models(pathlib.Path(path).read_bytes(), target.read_bytes(), path)


# ---- suites ----


def suite_node(runner):
    root = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    models = sorted(root.rglob("*.onnx"))
    if not models:
        sys.exit(77)
    targets = [runner.folder / f"{i}.onnx" for i in range(len(models))]
    for path, target, (code, said) in zip(models, targets, results_of([runner.tool], list(zip(models, targets)))):
        require(code == 0, f"{path}: exit code {code}: {said}")
        compare_models(path.read_bytes(), target.read_bytes(), path)
    print(f"{len(models)} models")


def value(name, dtype=TensorProto.FLOAT, shape=(2, 3)):
    return helper.make_tensor_value_info(name, dtype, shape)


def simple_model(nodes, initializers=(), inputs=("x",), outputs=("y",), **more):
    graph = helper.make_graph(
        nodes, "g", [value(n) for n in inputs], [value(n) for n in outputs], initializer=list(initializers), **more
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def relu():
    return helper.make_node("Relu", ["x"], ["y"])


def typed_tensors():
    """(tensor, its expected elements) for every element type, in typed fields and as raw data."""
    rng = np.random.default_rng(7)
    for name in ("float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        array = (rng.integers(0, 100, (3, 5)) - (50 if "u" not in name else 0)).astype(name)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        yield helper.make_tensor("typed_" + name, kind, array.shape, array.flatten().tolist()), array.tobytes()
        yield numpy_helper.from_array(array, "raw_" + name), array.tobytes()
    half = rng.standard_normal((4, 3)).astype(np.float16)
    yield helper.make_tensor("typed_half", TensorProto.FLOAT16, half.shape, half.flatten()), half.tobytes()
    flags = np.array([True, False, True])
    yield helper.make_tensor("typed_bool", TensorProto.BOOL, (3,), flags), flags.tobytes()
    pair = np.array([1 + 2j, 3 - 4j], np.complex64)
    yield helper.make_tensor("typed_complex", TensorProto.COMPLEX64, (2,), pair), pair.tobytes()
    brain = TensorProto(name="typed_brain", data_type=TensorProto.BFLOAT16, dims=[2], int32_data=[0x3F80, 0xC000])
    yield brain, b"\x80\x3f\x00\xc0"
    nibbles = TensorProto(name="nibbles", data_type=TensorProto.INT4, dims=[3], int32_data=[0x21, 0x0F])
    yield nibbles, b"\x21\x0f"
    empty = TensorProto(name="empty", data_type=TensorProto.FLOAT, dims=[0, 7])
    yield empty, b""


def everything_model():
    tensors = [t for t, _ in typed_tensors()]
    tensors.append(helper.make_tensor("words", TensorProto.STRING, (2,), [b"a", b""]))
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["inner"])], "body", [], [value("inner")])
    types = [
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", 3, None])),
        helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.INT64, None)),
        helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])),
        helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [4, 5]),
    ]
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("sparse", TensorProto.FLOAT, (1,), [2.0]),
        helper.make_tensor("indices", TensorProto.INT64, (1,), [3]),
        [5],
    )
    odd = helper.make_node(
        "Odd", ["x", "", "x"], ["", "z"], domain="my.domain", name="odd", doc_string="doc", overload="o",
        f=1.5, i=-3, s="text", t=tensors[0], g=body, floats=[1.0, 2.0], ints=[1, -1], strings=["a", ""],
        tensors=tensors[:2], graphs=[body, body], tp=types[0], type_protos=types, sparse=sparse, sparses=[sparse],
    )
    odd.attribute.add(name="r", ref_attr_name="outer", type=onnx.AttributeProto.INT)
    odd.metadata_props.add(key="k", value="v")
    model = simple_model([odd, relu()], tensors, sparse_initializer=[sparse], doc_string="graph doc")
    for i, t in enumerate(types):
        model.graph.value_info.append(helper.make_value_info(f"v{i}", t, "info"))
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    model.functions.append(
        helper.make_function("my.domain", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])],
                             [helper.make_opsetid("", 17)], ["alpha"], [helper.make_attribute("beta", 2.0)])
    )
    training = model.training_info.add()
    training.algorithm.CopyFrom(body)
    training.update_binding.add(key="a", value="b")
    model.metadata_props.add(key="author", value="\u00e9")
    model.producer_name, model.producer_version, model.domain = "p", "", "d"
    model.model_version = -7
    return model


def unknown_fields():
    """Records with numbers that no version of ONNX has, of every wire type."""
    return b"\xf8\x3f\x96\x01" + b"\xfa\x3f\x03abc" + b"\xfd\x3f1234" + b"\xf9\x3f12345678"


def suite_made(runner):
    model = everything_model()
    passes_through(runner, runner.save(model))
    passes_through(runner, runner.save(model.SerializeToString() + unknown_fields()))
    packed = simple_model([helper.make_node("Relu", ["x"], ["y"], ints=[5, 300])]).SerializeToString()
    position = packed.index(b"\x40\x05\x40\xac\x02")
    as_packed = packed[:position] + b"\x42\x03\x05\xac\x02" + packed[position + 5 :]
    target, _, _ = runner.accepts(runner.save(as_packed))
    require(target.read_bytes() == as_packed, "packed numbers do not come back packed")
    for tensor, expected in typed_tensors():
        path = runner.save(simple_model([relu()], [tensor]))
        _, text, _ = runner.accepts(path, "out.onnx", "--decode")
        found = text.split("\n")[0].split(" ")[2]
        require(found == expected.hex(), f"{tensor.name}: {found} is not {expected.hex()}")


def weights_model(count=3, size=4096):
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(size).astype(np.float32) for _ in range(count)]
    tensors = [numpy_helper.from_array(a, f"w{i}") for i, a in enumerate(arrays)]
    return simple_model([relu()], tensors)


def save_external(runner, model, name="ext.onnx", location="ext.data"):
    path = runner.folder / name
    (runner.folder / location).unlink(missing_ok=True)
    onnx.save_model(model, str(path), save_as_external_data=True, location=location, size_threshold=100)
    return path


def data_file_of(path):
    """The external file that a model was written with: it is named by its content."""
    found = list(path.parent.glob(path.name + ".????????????????.data"))
    require(len(found) == 1, f"{len(found)} data files beside {path.name}")
    return found[0]


def arrays_of(path):
    return [numpy_helper.to_array(t).tobytes() for t in onnx.load(str(path)).graph.initializer]


def rewrite_external(path, **entries):
    """The model again, with other external_data entries in its first tensor."""
    model = onnx.load(str(path), load_external_data=False)
    tensor = model.graph.initializer[0]
    kept = {e.key: e.value for e in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, text in kept.items():
        if text is not None:
            tensor.external_data.add(key=key, value=text)
    changed = path.with_name("changed.onnx")
    changed.write_bytes(model.SerializeToString())
    return changed


def suite_external(runner):
    model = weights_model()
    expected = [t.raw_data for t in model.graph.initializer]
    path = save_external(runner, onnx.ModelProto.FromString(model.SerializeToString()))
    target, _, _ = runner.accepts(path)
    require(arrays_of(target) == expected, "external data differs")
    first = data_file_of(target)
    target, _, _ = runner.accepts(target, target.name)
    require(data_file_of(target) == first, "the same data has another name")

    target, _, _ = runner.accepts(runner.save(model), "moved.onnx", "--limit", "2000")
    require(arrays_of(target) == expected, "moved data differs")
    require(target.stat().st_size < 2000, "nothing was moved out")
    before = data_file_of(target)
    changed = weights_model()
    changed.graph.initializer[0].raw_data = bytes(len(expected[0]))
    target, _, _ = runner.accepts(runner.save(changed), "moved.onnx", "--limit", "2000")
    require(data_file_of(target) != before, "other data has the same name, or the superseded one is left")
    target, _, _ = runner.accepts(runner.save(model), "moved.onnx")
    require(not list(runner.folder.glob("moved.onnx.*")), "superseded data is left beside a model without any")

    shared = rewrite_external(path, location="ext.data", offset="16384", length="16384")
    target, _, _ = runner.accepts(shared, "shared.onnx")
    require(arrays_of(target) == [expected[1], expected[1], expected[2]], "shared data differs")
    require(data_file_of(target).stat().st_size == 2 * 16384, "shared data was written twice")

    for count in (0, 1):
        empty = numpy_helper.from_array(np.zeros((3, 0), np.float32), "nothing")
        model = weights_model(count)
        model.graph.initializer.extend([empty])
        path = save_external(runner, model, "empty.onnx", "empty.data")
        model = onnx.load(str(path), load_external_data=False)
        (runner.folder / "empty.data").touch()
        last = model.graph.initializer[-1]
        last.ClearField("raw_data")
        last.data_location = TensorProto.EXTERNAL
        for key, text in (("location", "empty.data"), ("offset", "0"), ("length", "0")):
            last.external_data.add(key=key, value=text)
        path.write_bytes(model.SerializeToString())
        target, _, _ = runner.accepts(path, "empty-out.onnx")
        written = onnx.load(str(target), load_external_data=False).graph.initializer[-1]
        require(written.data_location == TensorProto.DEFAULT and not written.external_data, "nothing, in a file")
        require(len(list(runner.folder.glob("empty-out.onnx.*"))) == count, "another number of files")

    below = runner.folder / "below"
    below.mkdir()
    (below / "w.bin").write_bytes(expected[0])
    require(arrays_of(runner.accepts(rewrite_external(path, location="below/../below/w.bin", offset="0"))[0])[0]
            == expected[0], "a folder below is not read")

    outside = runner.folder.parent / (runner.folder.name + ".outside")
    outside.write_bytes(b"\0" * 16384)
    (runner.folder / "link").symlink_to(outside)
    (runner.folder / "up").symlink_to("..")
    try:
        for location in ("../" + outside.name, str(outside), "link", "up/" + outside.name, "below/../../x",
                         "./../" + outside.name):
            runner.refuses(rewrite_external(path, location=location), "outside the model's folder")
    finally:
        outside.unlink()
    runner.refuses(rewrite_external(path, location="absent"), "absent.*No such file")
    runner.refuses(rewrite_external(path, location="below"), "folder")
    runner.refuses(rewrite_external(path, location=""), "valid location")
    runner.refuses(rewrite_external(path, location="ext.data\0x"), "valid location")
    runner.refuses(rewrite_external(path, location=None), "valid location")
    runner.refuses(rewrite_external(path, offset="40000"), "too few")
    runner.refuses(rewrite_external(path, offset="18446744073709551615"), "too few")
    runner.refuses(rewrite_external(path, offset="99999999999999999999999"), "no valid offset")
    runner.refuses(rewrite_external(path, offset="-1"), "no valid offset")
    runner.refuses(rewrite_external(path, length="100"), "100 bytes.*16384")
    runner.refuses(rewrite_external(path, length="16384000"), "too few")


def length_prefixed(number, payload):
    key, size = number << 3 | 2, len(payload)
    out = bytearray()
    for v in (key, size):
        while v > 0x7F:
            out.append(v & 0x7F | 0x80)
            v >>= 7
        out.append(v)
    return bytes(out) + payload


def nested_model(levels):
    """If in If in If...: built inside out, because no library would build it."""
    graph = b""
    for _ in range(levels):
        attribute = length_prefixed(1, b"then_branch") + length_prefixed(6, graph)
        node = length_prefixed(4, b"If") + length_prefixed(5, attribute)
        graph = length_prefixed(1, node)
    return b"\x08\x08" + length_prefixed(7, graph) + length_prefixed(8, b"\x10\x11")


def nested_type(levels):
    kind = b""
    for _ in range(levels):
        kind = length_prefixed(4, length_prefixed(1, kind))
    info = length_prefixed(1, b"v") + length_prefixed(2, kind)
    return b"\x08\x08" + length_prefixed(7, length_prefixed(13, info)) + length_prefixed(8, b"\x10\x11")


def lying_tensors():
    yield TensorProto(name="t", data_type=1, dims=[2, 3], raw_data=b"\0" * 20), "20 bytes.*24"
    yield TensorProto(name="t", data_type=1, dims=[-1], raw_data=b""), "negative or too large"
    yield TensorProto(name="t", data_type=1, dims=[2**62, 4], raw_data=b""), "negative or too large"
    yield TensorProto(name="t", data_type=1, dims=[2**63 - 1, 2**63 - 1, 4]), "negative or too large"
    yield TensorProto(name="t", data_type=1, dims=[3], float_data=[1.0, 2.0]), "8 bytes.*12"
    yield TensorProto(name="t", data_type=7, dims=[1], int64_data=[1, 2]), "16 bytes.*8"
    yield TensorProto(name="t", data_type=8, dims=[3], string_data=[b"a"]), "strings"
    yield TensorProto(name="t", data_type=8, dims=[1], raw_data=b"a"), "raw data"


def broken_graphs():
    def of(nodes, inputs="float x", outputs="float y"):
        return model_of(f"({inputs}) => ({outputs}) {{ {nodes} }}")

    yield of("[first] a = Add(x, b)  [second] b = Neg(a)  y = Neg(b)"), "first uses b before node second produces it"
    yield of("[self] y = Add(x, y)"), "self uses y before node self produces it"
    yield of("[late] y = Neg(a)  [early] a = Neg(x)"), "late uses a before node early"
    yield of("y = Neg(nothing)"), "nothing, which nothing produces"
    yield of("y = Relu(x)  y = Relu(x)"), "produces y, which exists"
    yield of("y = Relu(x)", "float x, float x"), "two inputs"
    yield of("y = Relu(x)", outputs="float z"), "nothing produces the output z"
    yield model_of("(float x) => (float y) <float w = {0}, float w = {1}> { y = Relu(x) }"), "two initializers"
    body = "b () => (float q) { q = Neg(hidden) }"
    choice = f"y = If(x)<then_branch = {body}, else_branch = {body}>"
    yield of(choice), "hidden, which nothing"
    yield of(f"{choice}  [later] hidden = Neg(x)"), "uses hidden before node later produces it"
    yield of(f"[itself] {choice}".replace("hidden", "y")), "uses y before node itself produces it"


def chain_model(length):
    names = ["x"] + [f"v{i}" for i in range(length - 1)] + ["y"]
    nodes = [helper.make_node("Neg", [names[i]], [names[i + 1]]) for i in range(length)]
    nodes[0].input.append(names[-1])
    return simple_model(nodes)


def suite_hostile(runner):
    runner.refuses(runner.save(b""), "empty")
    runner.refuses(runner.save(b"\x08\x08"), "no graph")
    runner.refuses(runner.folder, "folder")
    runner.refuses(runner.folder / "absent.onnx", "No such file")
    runner.refuses(runner.save(nested_model(10000)), "too deeply")
    runner.refuses(runner.save(nested_type(10000)), "too deeply")
    runner.refuses(runner.save(chain_model(20000)), "uses y before node")
    for tensor, pattern in lying_tensors():
        runner.refuses(runner.save(simple_model([relu()], [tensor])), pattern)
        inside = helper.make_node("Constant", [], ["c"], value=tensor)
        runner.refuses(runner.save(simple_model([inside, relu()])), pattern)
    for model, pattern in broken_graphs():
        runner.refuses(runner.save(model), pattern)
    whole = everything_model().SerializeToString()
    rng = random.Random(11)
    damaged = [whole[:cut] for cut in rng.sample(range(1, len(whole)), 60)]
    for _ in range(200):
        flipped = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        damaged.append(bytes(flipped))
    survives_all(runner, damaged)


def survives_all(runner, contents):
    """Each is refused as it should be, or accepted: never a crash."""
    pairs = [(runner.save(content, f"{i}.onnx"), runner.folder / f"{i}.out") for i, content in enumerate(contents)]
    for code, complaint in results_of([runner.tool], pairs):
        require(code in (0, BAD_INPUT), f"exit code {code}: {complaint}")


def suite_large(runner):
    size, count = 220 << 20, 10
    block = np.random.default_rng(1).integers(0, 256, size, np.uint8).tobytes()
    tensors = b""
    for i in range(count):
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[size // 4]).SerializeToString()
        tensors += length_prefixed(5, tensor + length_prefixed(9, block))
    graph = simple_model([relu()]).graph.SerializeToString() + tensors
    path = runner.save(b"\x08\x08" + length_prefixed(7, graph) + length_prefixed(8, b"\x10\x11"))
    del graph, tensors
    total = path.stat().st_size
    for source, out in ((path, "big.onnx"), (runner.folder / "big.onnx", "again.onnx")):
        target, _, complaint = runner.accepts(source, out)
        peak = int(re.search(r"peak (\d+)", complaint)[1])
        print(f"{total} bytes, peak {peak} bytes resident")
        require(peak < 1.3 * total, f"{peak} bytes of memory for a model of {total}")
        require(target.stat().st_size < 1 << 20, "the model is too large for protobuf")
        data = np.memmap(data_file_of(target), np.uint8)
        for tensor in onnx.load(str(target), load_external_data=False).graph.initializer:
            offset = int({e.key: e.value for e in tensor.external_data}["offset"])
            require(data[offset : offset + size].tobytes() == block, f"{tensor.name} differs")


def main():
    tool, suite = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        try:
            globals()["suite_" + suite](Runner(tool, folder))
        except Failure as failure:
            sys.exit(f"failed: {failure}")


main()
