"""taso-opt and taso-run from the outside: `programs.py ROOT TASO-OPT TASO-RUN PART`. PART is one of

models   each small benchmark model is optimized to a model on which ONNX Runtime agrees with the original (that our own
         executor runs them, too, run/check_run.py asks)
usage    wrong command lines and files: the documented exit code, one line, nothing written
layouts  every way of choosing layouts gives the same values, and the costs are in the order in which they must be
memory   --max-memory is kept to
"""
import os
import re
import sys

import numpy as np
import onnx

from commands import FOLDER, ON_PAPER, OPT, QUICK, ROOT, RUN, optimize, relative_difference, run, session_of, succeed
from expectations import expect, run_tests
from small_models import products, small_model

sys.path.insert(0, str(ROOT / "scripts"))
from models.compare import compare_outputs, exit_code_of  # noqa: E402

TOLERANCE = 1e-5


# --- models -----------------------------------------------------------------------------------------------------------

SHAPES = {"gpt2-small": ["--shape", "batch=1", "--shape", "sequence=16"]}


def check_optimization(model, folder):
    fast = folder / f"fast-{model.name}"
    # The costs of a device on paper: measured ones differ from run to run, and so would what is tested.
    _, told = optimize(model.stem, model, "-o", fast, *ON_PAPER, "--budget", "60", *SHAPES.get(model.stem, []))
    if not told:
        return
    onnx.checker.check_model(str(fast))
    expect(told["check"] == "skipped", f"{model.stem}: check {told['check']}")
    compared = compare_outputs(session_of(model), session_of(fast), {}, TOLERANCE)
    expect(exit_code_of(compared) == 0, f"{model.stem} and what was made of it: {compared}")
    print(f"{model.stem}: {len(told['rewrites'])} rewrites, estimated speed-up "
          f"{told['estimated_seconds_before'] / told['estimated_seconds_after']:.3f}", flush=True)


def test_models(folder):
    succeed("build-models", ROOT / "scripts/build-models", "--small", "--out", folder)
    models = sorted(folder.glob("*.onnx"))
    expect(len(models) >= 12, f"only {len(models)} small models")
    for model in models:
        check_optimization(model, folder)


# --- usage ------------------------------------------------------------------------------------------------------------


def test_standard_output(folder, model):
    """-o - is the model and nothing else; what has a second file cannot go there."""
    as_bytes = {"text": False, "env": dict(os.environ, TMPDIR=str(folder))}
    done = run(OPT, model, "-o", "-", *ON_PAPER[:-1], "--budget", "60", **as_bytes)
    expect(done.returncode == 0 and onnx.load_from_string(done.stdout).graph.node, f"-o -: {done.stderr}")
    expect(re.search(rb"wrote +to standard output", done.stderr) and not list(folder.glob("taso-*")), f"-o -: {done.stderr}, {list(folder.iterdir())}")
    apart = folder / "apart.onnx"
    onnx.save(onnx.load(model), apart, save_as_external_data=True, location="apart.data", size_threshold=0)
    done = run(OPT, apart, "-o", "-", "--layout", "layout-only", *ON_PAPER, **as_bytes)
    expect(done.returncode == 4 and not done.stdout and b"two files" in done.stderr, f"apart: {done.stdout} {done.stderr}")
    expect(not list(folder.glob("taso-*")), f"nothing is left behind: {list(folder.glob('taso-*'))}")


def test_usage(folder):
    model, out = products(folder / "model.onnx"), folder / "out.onnx"
    unbound = small_model(folder / "unbound.onnx", "(float[batch,8] x, float[batch,8] y) => (float[batch,8] z) { z = Add(x, y) }")
    (folder / "bad.rules").write_text("(rule r\n  (source (relux ?x)) (target ?x))\n")
    (folder / "empty.onnx").write_bytes(b"")
    cases = [
        (["--nonsense"], 2), ([model, "-o", out, "--alpha", "0.5"], 2), ([model, model, "-o", out], 2), ([], 2),
        ([model, "-o", out, "--shape", "y=1,2"], 2), ([model, "-o", out, "--without", "no-such-rule"], 2),
        ([folder / "none.onnx", "-o", out], 3), ([folder / "empty.onnx", "-o", out], 3),
        ([model, "-o", out, "--rules", folder / "bad.rules"], 3), ([model, "-o", out, "--rules", folder / "none"], 3),
        ([folder, "-o", out], 3), ([model, "-o", out, "--device", "cuda"], 4),
        ([model, "-o", folder / "no/such/folder.onnx", *QUICK], 3),
        ([model, "--html", folder / "no/such/page.html", *QUICK], 3), ([model, "--max-rule-ops", "-1"], 2),
        ([unbound, "-o", out, "--shape", "batch=2", "--shape", "batch=3"], 2),
        ([unbound, "-o", out, "--shape", "x=2,8", "--shape", "y=3,8"], 2),
        ([unbound, "-o", out, "--shape", "x=2,8", "--shape", "batch=3"], 2),
        ([unbound, "-o", out, "--shape", "batch=99999999999999"], 2),
        (["-", "-o", out], 2), ([model, "--json", "-", *QUICK], 2),
    ]
    for arguments, code in cases:
        done = run(OPT, *arguments)
        expect(done.returncode == code, f"{arguments}: exit code {done.returncode}, not {code}: {done.stderr}")
        lines = done.stderr.strip().splitlines()
        expect(len(lines) == 1 and lines[0].startswith("taso-opt: "), f"{arguments}: stderr {lines}")
        expect(not out.exists(), f"{arguments}: wrote a model")
    (folder / "empty.rules").write_text("; nothing yet\n")
    expect(f"{folder}/empty.rules: has no rules" in run(OPT, model, "--rules", folder / "empty.rules", *QUICK[:-1]).stderr,
           "that a file has no rules")
    expect("bad.rules:2:12: unknown operator relux" in run(OPT, model, "--rules", folder / "bad.rules").stderr,
           "the place in the rules is named")
    test_standard_output(folder, model)
    test_usage_of_runs(folder)
    test_other_files(folder)
    shown = run(OPT, "--help")
    expect(shown.returncode == 0 and all(part in shown.stdout for part in ("Exit codes", "--budget", "\nThe search:\n", "\nExamples:\n")), "--help")
    expect(run(OPT, "--alpha", "3", "--help").stdout == shown.stdout, "--help shows the standard values, not those given")


def test_other_files(folder):
    """Files of other kinds are named, with what to do about them; one that is not there is refused before Python starts."""
    kinds = {"gzip": b"\x1f\x8b\x08\x00", "zip": b"PK\x03\x04", "bzip2": b"BZh91AY", "xz": b"\xfd7zXZ\x00", "GGUF": b"GGUF\x03",
             "safetensors": (16).to_bytes(8, "little") + b'{"a":{"b":"c"}} ', "TensorFlow Lite": b"\x1c\0\0\0TFL3",
             "HDF5": b"\x89HDF\r\n\x1a\n", "Git LFS": b"version https://git-lfs.github.com/spec/v1\n", "HTML": b"<!DOCTYPE html>"}
    for kind, begin in kinds.items():
        (folder / "other.onnx").write_bytes(begin + bytes(300))
        for command in ([OPT, folder / "other.onnx", "-o", folder / "no.onnx"], [RUN, folder / "other.onnx"]):
            done = run(*command)
            expect(done.returncode == 3 and kind in done.stderr and len(done.stderr.splitlines()) == 1, f"{kind}: {done.stderr}")
    started = folder / "started"
    (folder / "python").write_text(f"#!/bin/sh\necho > {started}\n")
    (folder / "python").chmod(0o755)
    done = run(OPT, folder / "none.onnx", "--python", folder / "python", "--rules", folder / "none.rules")
    expect(done.returncode == 3 and "none.onnx" in done.stderr and not started.exists(), f"a model that is not there: {done.stderr}")


def test_usage_of_runs(folder):
    """What cannot be run or compared is named."""
    open_sizes = small_model(folder / "open.onnx", "(float[batch,seq,8] x) => (float[batch,seq,8] y) { y = Relu(x) }")
    done = run(RUN, open_sizes, "--shape", "batch=2")
    expect(done.returncode == 2 and "x (2, seq, 8) is not known" in done.stderr and "--shape seq=" in done.stderr,
           f"open sizes: {done.stderr}")
    opaque = small_model(folder / "opaque.onnx", "(float[2,8] x) => (float[2,8] y) { y = example.org.Wondrous(x) }")
    done = run(RUN, opaque)
    expect(done.returncode == 4 and "operator Wondrous" in done.stderr, f"unknown operator: {done.stderr}")
    models = [small_model(folder / f"of{n}.onnx", f"(float[{n},8] x) => (float[{n},8] y) {{ y = Relu(x) }}") for n in (2, 3)]
    done = run(RUN, *models, "--repeats", "1")
    for name in "input x", "output y":
        expect(f"{name}: (f32 2 8) in the first, (f32 3 8) in the second" in done.stdout, f"{name}: {done.stdout}")
    expect(done.returncode == 1 and "inf" not in done.stdout, f"other types: {done.returncode} {done.stdout}")


# --- layouts ----------------------------------------------------------------------------------------------------------

def images(path):
    """A convolution, then two beside each other that are concatenated and pooled."""
    return small_model(path, """(float[1,3,24,24] x) => (float[1,64,12,12] y)
                       { a = Conv(x, w0)  ra = Relu(a)  b = Conv(ra, w1)  c = Conv<pads = [1, 1, 1, 1]>(ra, w3)
                         d = Concat<axis = 1>(b, c)  y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(d) }""",
                       w0=(32, 3, 1, 1), w1=(32, 32, 1, 1), w3=(32, 32, 3, 3))


def test_memory(folder):
    """Whatever it is given, taso-opt does its work, or ends with one line and without a file."""
    output, size = folder / "bounded.onnx", (1024, 1024)
    model = small_model(folder / "large.onnx", """(float[8,1024] x) => (float[8,1024] xa, float[8,1024] xb, float[8,1024] xc)
                        { xa = MatMul(x, a)  xb = MatMul(x, b)  xc = MatMul(x, c) }""", a=size, b=size, c=size)
    codes = []
    for megabytes in (1, 16, 40, 64, 100, 200, 400):
        output.unlink(missing_ok=True)
        done = run(OPT, model, "-o", output, "--max-memory", f"{megabytes}M", "--finalists", 1, *QUICK)
        errors = [line for line in done.stderr.splitlines() if "memory" in line]
        codes.append(done.returncode)
        expect(output.exists() == (done.returncode == 0), f"{megabytes} MB: {done.returncode}, {output.exists()}")
        if done.returncode != 0:
            expect(done.returncode == 4 and len(errors) == 1, f"{megabytes} MB: {done.returncode}, {done.stderr}")
    expect(codes[0] == 4 and codes[-1] == 0, f"exit codes {codes}")


def test_layouts(folder):
    model, costs = images(folder / "images.onnx"), folder / "costs"
    session, told = session_of(model), {}
    for policy in ("standard", "best", "plain"):
        saved = folder / policy
        saved.mkdir()
        succeed(policy, RUN, model, "--layout", policy, "--costs", costs, "--threads", "1", "-n", "3", "--save", saved)
        wanted = session.run(None, {"x": np.load(saved / "input_0.npy")})[0]
        difference = relative_difference(wanted, np.load(saved / "output_0.npy"))
        expect(difference <= TOLERANCE, f"{policy}: outputs differ by {difference}")
    for strategy in ("layout-only", "graph-only", "sequential", "joint", "standard"):
        _, told[strategy] = optimize(strategy, model, "-o", folder / f"{strategy}.onnx", "--layout", strategy, *ON_PAPER,
                                     *([] if strategy == "layout-only" else ["--budget", "60"]))
        expect(told[strategy]["layout"] == strategy, f"{strategy}: reported as {told[strategy]['layout']}")
    plain = told["graph-only"]["estimated_seconds_before"]
    final = {strategy: of["estimated_seconds_with_layouts"] for strategy, of in told.items()}
    expect(final["layout-only"] <= plain and final["graph-only"] <= plain, f"no worse than {plain}: {final}")
    expect(final["sequential"] <= final["graph-only"], f"layouts chosen afterwards do not cost more: {final}")
    expect(final["joint"] <= final["layout-only"] * (1 + 1e-9), f"rewriting as well does not cost more: {final}")
    expect(not told["layout-only"]["rewrites"], "layout-only rewrites nothing")
    joint_is_never_worse(folder)


def search_only(model, strategy, *options):
    return optimize(f"{model.stem}, {strategy}", model, "--device", "fake", "--layout", strategy, "--quiet", *options)[1]


def joint_is_never_worse(folder):
    """On a device of computed costs, at the standard budget; and on some of the models better."""
    names = ["squeezenet", "nasrnn", "bert-taso-corrected", "resnext50-taso"]
    succeed("build-models", ROOT / "scripts/build-models", "--small", "--out", folder, *names)
    better = []
    for model in sorted(folder.glob("*-small.onnx")):
        told = {strategy: search_only(model, strategy) for strategy in ("sequential", "joint")}
        for strategy, of in told.items():
            n_searches = 2 if strategy == "joint" and of["preference"] == "as estimated" else 1
            expect(len(of["search"]["ends"]) == n_searches, f"{model.stem}, {strategy}: why it ended: {of['search']['ends']}")
        final = {strategy: of["estimated_seconds_with_layouts"] for strategy, of in told.items()}
        expect(final["joint"] <= final["sequential"] * (1 + 1e-12), f"{model.stem}: joint is worse: {final}")
        better += [model.stem] if final["joint"] < 0.999 * final["sequential"] else []
        again = search_only(model, "joint", "--search-threads", "3")
        alike = [(of["rewrites"], of["estimated_seconds_after"], of["search"]["matches"]) for of in (told["joint"], again)]
        expect(alike[0] == alike[1], f"{model.stem}: threads change what is found")
    expect(better, "joint is better than sequential on some")
    second_search_is_less_patient(folder / "squeezenet-small.onnx")


def second_search_is_less_patient(model):
    """The first search of joint is that of sequential. It ends after so many graphs in vain, or four times as many typed
    matches. The second one finds nothing here, and ends after 0.6 times as many graphs; it expands the graph that it
    begins with, too."""
    patience = 20
    first, both = (search_only(model, strategy, "--patience", str(patience))["search"]
                   for strategy in ("sequential", "joint"))
    expect(both["ends"] == ["out_of_patience"] * 2, f"patience of {patience}: {both['ends']}")
    in_vain = first["expanded"] - first["trajectory"][-2]["expanded"]
    expect(in_vain == patience or (in_vain < patience and first["matches"] >= 4 * patience),
           f"{patience} in vain: {first['matches']} matches, {first['trajectory']}")
    expect(both["expanded"] - first["expanded"] == 1 + 0.6 * patience,
           f"less than {patience} in vain: {first['expanded']}, {both['expanded']}")


run_tests([{"models": test_models, "usage": test_usage, "layouts": test_layouts, "memory": test_memory}[sys.argv[4]]], FOLDER)
