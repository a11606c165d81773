"""Coverage-guided fuzzing of the readers: `.venv/bin/python run.py BUILD [--seconds N] [NAME...]`.

BUILD was configured by `CC=clang meson setup BUILD -Dfuzz=enabled`; the harnesses are built first. Each runs N seconds on
one core, begins with what the tests and the repository have of its kind, and keeps its corpus in BUILD/fuzz/NAME/corpus.
An input that crashes, hangs, leaks or takes too much memory is left in BUILD/fuzz/NAME/findings, and the exit code is 1:
when it is mended, it goes to tests/fuzz/regressions/NAME, which `meson test --suite fuzz` replays.
"""
import argparse
import collections
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEGABYTES, SECONDS_OF_ONE = 2048, 20
LONGEST = {"onnx": 65536, "symbolic": 65536, "checkpoint": 16384}   # bytes of an input; else 4096


def pieces(path, head):
    """The top-level expressions `(head ...)` of a file, each as a seed."""
    text = path.read_text(encoding="utf-8")
    return [piece.encode() for piece in re.split(rf"(?m)^(?=\({head})", text) if piece.startswith(f"({head}")]


def seeds_of(name):
    if name in ("rules", "sexp", "graph"):
        rules = [rule for file in ("wanted", "written") for rule in pieces(ROOT / f"substitutions/{file}.rules", "rule")]
        for path in sorted((ROOT / "tests/verifier").glob("*.rules")):
            rules += pieces(path, "rule")
        if name != "graph":
            yield from rules
    if name == "properties":
        for path in sorted((ROOT / "properties").glob("*.properties")):
            yield from pieces(path, "property")
    if name == "space":
        yield from (path.read_bytes() for path in (ROOT / "generator").glob("*.space"))
        yield from pieces(ROOT / "generator/default.space", "family")
    if name == "graph":
        for path in (ROOT / "tests").rglob("*.c"):
            for found in re.findall(r'"(\(let \(?t?\w+[^"]*)"', path.read_text(encoding="utf-8")):
                yield f"(graph {found} (output t0))".encode()
        yield b"(graph (let t0 (input 0) (f32 1 64)) (let t1 (weight 0) (f32 64 32)) (let t2 (matmul :act relu t0 t1)) "\
              b"(let (t3 t4) (split 1 :sizes 16 16 t2)) (let (t5) (opaque 3 t3) (? ...)) (output t4 t5))"
        for line in (ROOT / "tests/operators/examples.calls").read_text(encoding="utf-8").splitlines():
            yield line.encode()
    if name == "definition":
        text = (ROOT / "tests/operators/test_definition_text.c").read_text(encoding="utf-8")
        for found in re.findall(r'"((?:x0|z\[|t0)[^"]*)"', text):
            yield found.encode().decode("unicode_escape").encode()
    if name == "costs":
        yield b'(costs 1 "device")\n("step" 0.000123 0.01)\n("product matmul" 4.5e-05 0.01 "engine")\n(costs 1 "other")\n'
    if name == "options":
        yield b"--quiet\n--no-fold\n-b\n12\n--size=3M\n--alpha\n1.5\n-ofile\n--device=cuda\n--shape\nx=1\n--\n-x"
    if name == "egraph":
        yield from egraphs()
    if name == "onnx":
        yield from onnx_models()
    if name == "external":
        yield from external_models()
    if name == "bindings":
        yield from bound_models()
    if name == "symbolic":
        yield from symbolic_models()
    if name in ("checkpoint", "compiled", "npy"):
        yield from (path.read_bytes() for path in (ROOT / "tests/fuzz/regressions" / name).glob("*"))


def egraphs(count=60):
    """Random ones of up to twelve classes, whose nodes read any of them: cycles and sharing."""
    drawn = random.Random(1)
    for _ in range(count):
        classes = drawn.randint(1, 12)
        members = {c: drawn.randint(1, 3) for c in range(classes)}
        nodes = {}
        for c, member in ((c, member) for c in members for member in range(members[c])):
            read = [drawn.randrange(classes) for _ in range(drawn.choice((0, 0, 1, 2, 3)))]
            nodes[f"{c}_{member}"] = {"op": "f", "eclass": str(c), "cost": drawn.choice((0, 1, 2.5, 1e-3, 100)),
                                      "children": [f"{r}_{drawn.randrange(members[r])}" for r in read]}
        yield json.dumps({"nodes": nodes, "root_eclasses": [str(c) for c in {0, drawn.randrange(classes)}]}).encode()


def onnx_models(cases=1500, grown=100):
    """Those of the package, random ones of an operator, many of whose inputs are constants, and grown graphs."""
    import onnx
    for path in sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data").rglob("model.onnx")):
        if path.stat().st_size <= 8192:
            yield path.read_bytes()
    sys.path.insert(0, str(ROOT / "tests/onnx"))
    import grown_models
    import operator_cases
    for made in map(operator_cases.make, range(cases)):
        if made and made[0].ByteSize() <= 4096:
            yield made[0].SerializeToString()
    for model, _ in map(grown_models.make, range(grown)):
        yield model.SerializeToString()


def external_models():
    """One weight in another file: names in the folder and out of it, places in the file and behind its end."""
    from onnx import TensorProto, helper
    for location in ("data", "./data", "a/../data", "../data", "/etc/passwd", "empty", "link", "none", ".", "", "d\0ata"):
        for offset, length in ((None, None), ("0", "24"), ("4072", "24"), ("4073", "24"), ("-1", "1"), (str(2**64 - 1), "9")):
            tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL)
            for key, text in (("location", location), ("offset", offset), ("length", length)):
                if text is not None:
                    tensor.external_data.add(key=key, value=text)
            value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
            result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
            graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [value], [result], [tensor])
            yield helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def bound_models():
    """Small models with symbols behind sizes for their inputs, for the symbols, and for what is not there."""
    import onnx
    models = [data for data in symbolic_models() if len(data) < 600]
    for i, data in enumerate(models[:300]):
        values = onnx.load_from_string(data).graph.input
        sizes = [[dimension.dim_param[1:] or "1" for dimension in value.type.tensor_type.shape.dim] for value in values]
        shapes = [f"{value.name}={','.join(of_one)}" for value, of_one in zip(values, sizes)]
        symbols = [f"n{size}={size}" for size in sorted({size for of_one in sizes for size in of_one})]
        yield "\n".join((shapes, symbols, ["x=1,2", "n=4"])[i % 3]).encode() + b"\0" + data


def symbolic_models():
    """The same with a symbol for each size of an input, and a small export."""
    import onnx
    sys.path.insert(0, str(ROOT / "tests/onnx"))
    import dynamic_models
    for data in onnx_models(cases=300):
        model = onnx.load_from_string(data)
        for value in model.graph.input:
            for dimension in value.type.tensor_type.shape.dim:
                dimension.dim_param = f"n{dimension.dim_value}"
        yield model.SerializeToString()
    for make in dynamic_models.SMALL:
        yield make().SerializeToString()


def write_dictionary(path, seeds, most=600):
    """The words that seeds have most often."""
    words = collections.Counter(word for seed in seeds for word in set(re.findall(rb"[A-Za-z_$:?][\w.:-]{1,23}", seed)))
    path.write_text("".join(f'"{word.decode()}"\n' for word, _ in words.most_common(most)))


def fuzz(build, name, seconds):
    folder = build / "fuzz" / name
    corpus, seeds, findings = (folder / part for part in ("corpus", "seeds", "findings"))
    for part in (corpus, seeds, findings):
        part.mkdir(parents=True, exist_ok=True)
    begun_with = list(seeds_of(name))
    for i, seed in enumerate(begun_with):
        (seeds / f"{i:05}").write_bytes(seed)
    write_dictionary(folder / "dictionary", begun_with)
    before = set(findings.iterdir())
    command = [build / f"tests/fuzz/fuzz_{name}", corpus, seeds, f"-max_total_time={seconds}", f"-timeout={SECONDS_OF_ONE}",
               f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={findings}/", f"-max_len={LONGEST.get(name, 4096)}",
               "-print_final_stats=1"]
    if (folder / "dictionary").stat().st_size:   # libFuzzer refuses an empty one
        command.append(f"-dict={folder}/dictionary")
    environment = dict(os.environ, OMP_NUM_THREADS="1", ASAN_OPTIONS="allocator_may_return_null=1")
    with open(folder / "log", "wb") as log:
        code = subprocess.run(["nice", *map(str, command)], stdout=log, stderr=log, env=environment, check=False,
                              cwd=folder).returncode
    log = (folder / "log").read_text(encoding="utf-8", errors="replace")
    runs = re.findall(r"number_of_executed_units: (\d+)", log)
    covered = re.findall(r"cov: (\d+)", log)
    print(f"{name}: {runs[-1] if runs else '?'} inputs, {covered[-1] if covered else '?'} edges, exit code {code}",
          flush=True)
    for finding in sorted(set(findings.iterdir()) - before):
        print(f"  {finding}")
    if code:
        said = re.findall(r"(?m)^(.*(?:ERROR|runtime error|SUMMARY).*)$", log)
        print("".join(f"  {line}\n" for line in said[:3]), end="", flush=True)
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=60, help="for each (default: %(default)s)")
    options = parser.parse_intermixed_args()
    build = options.build.resolve()
    known = sorted(path.stem[5:] for path in (ROOT / "tests/fuzz").glob("fuzz_*.c"))
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no such harness: {', '.join(sorted(unknown))} (there are {', '.join(known)})")
    names = options.names or known
    if {"bindings", "external", "onnx", "symbolic"} & set(names) and not importlib.util.find_spec("onnx"):
        parser.error("bindings, external, onnx and symbolic begin with models of the Python package onnx: run this by .venv/bin/python")
    built = subprocess.run(["ninja", "-C", build, "--quiet", *(f"tests/fuzz/fuzz_{name}" for name in names)], check=False)
    if built.returncode:
        return 3
    return 0 if all([fuzz(build, name, options.seconds) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
