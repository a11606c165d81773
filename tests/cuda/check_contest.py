#!/usr/bin/env python3
"""Graphs in other frameworks, and contests: `check_contest.py ROOT BUILD ONNX_GRAPH RUN_GRAPHS PLUGIN [--few]`.

The interpreter of graphs gives what ONNX Runtime gives for the models that they were made of; on the emulated GPU
(PLUGIN), numpy and ONNX Runtime give what our device gives, for one sample and several; a wrong result, a missing
framework and one that takes too long are seen and said. With --few, of two models, in one contest.
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

ROOT, BUILD, ONNX_GRAPH, RUN_GRAPHS, PLUGIN = map(pathlib.Path, sys.argv[1:6])
HAS_FEW = "--few" in sys.argv
sys.path.insert(0, str(ROOT / "scripts"))
from graphs import contest  # noqa: E402
from graphs.contest import hold_contest, worker_command, worker_environment  # noqa: E402
from graphs.frameworks import Numpy  # noqa: E402
from graphs.operators import OPERATORS, check_operators, run_graph  # noqa: E402
from graphs.text import Unreadable, read_graph  # noqa: E402

MODELS = ["bert", "efficientnet-b0", "squeezenet", "resnext50", "inception-v3", "mobilenetv2", "nasrnn", "vit", "llama"]
MODELS = MODELS[:2] if HAS_FEW else MODELS
TOLERANCE = 5e-5
# Every kind of operator that the models lack, and what is special about windows, slices and scalars. (ONNX Runtime
# takes what pads a kernel for what pads an image, so no convolution reads the enlarged one.)
GRAPH = """(graph
  (let x (input 0) (f32 1 16 12 12)) (let w (weight 0) (f32 16 16 3 3)) (let v (weight 1) (f32 32 16 1 1))
  (let b (weight 2) (f32 16 1 1)) (let d (weight 3) (f32 48 1 3 3)) (let s (weight 4) (f32)) (let i (weight 5) (i64 3))
  (let m (weight 6) (f32 16)) (let y (weight 7) (f32 32 4 1 1))
  (let c (conv :pad 1 1 1 1 x w)) (let bb (broadcast :shape 1 16 12 12 b)) (let a (ewadd c bb)) (let r (relu a))
  (let l (enlarge :kernel 3 3 v)) (let e (conv :act relu x v)) (let z (concat 1 r e))
  (let p (poolmax :kernel 3 2 :stride 2 1 :pad 1 0 1 1 x)) (let q (poolavg :kernel 3 3 :pad 0 0 2 2 x))
  (let o (poolavg :kernel 3 3 :pad 1 1 1 1 :padding counted x))
  (let g (conv :group 48 :stride 2 2 :pad 0 0 1 1 z d)) (let h (clip :min 0.0 :max 6.0 g))
  (let k (merge 4 2 y)) (let f (conv :group 2 x k)) (let t (silu f)) (let u (gelu t))
  (let n (reducemean :axes 2 3 :keepdims 0 h)) (let (n1 n2) (split 1 :sizes 32 16 n)) (let ss (broadcast :shape 1 32 s))
  (let o1 (ewmul n1 ss)) (let o2 (softmax 1 o1)) (let o3 (slice :start 0 15 :size 1 8 :step 1 -2 n2))
  (let o4 (layernorm 1 n2 m m)) (let o5 (rmsnorm 1 n2 m)) (let o6 (gather :axis 1 n2 i))
  (let o7 (pad :pads 0 1 0 2 :value 0.5 n2))
  (let o8 (reducemax :axes 1 n2)) (let o9 (gelu :approximate tanh n2)) (let oa (transpose :perm 0 2 3 1 q))
  (output o2 o3 o4 o5 o6 o7 o8 o9 p oa o u l))
"""


def environment_of(folder):
    return dict(os.environ, TASO_CUDA_PLUGIN=str(PLUGIN), OMP_WAIT_POLICY="passive")


def graph_of(model, folder, most):
    values = folder / f"{model.stem}.values"
    done = subprocess.run([ONNX_GRAPH, "--values", values, "--most", str(most), model], capture_output=True, text=True)
    assert done.returncode == 0 and "(opaque" not in done.stdout, (model, done.stderr)
    return done.stdout, values


def models_give_what_onnx_runtime_gives(folder):
    subprocess.run(
        [ROOT / "scripts/build-models", "--small", "--out", folder / "models", *MODELS], check=True, capture_output=True
    )
    for name in MODELS:
        model = folder / f"models/{name}-small.onnx"
        text, values = graph_of(model, folder, 10**9)
        graph, random, leaves = read_graph(text), np.random.default_rng(1), {}
        entries = {int(line.split()[0]): line.split()[1:] for line in values.read_text().splitlines()}
        check_operators(graph)
        for number, (leaf, kind, shape) in graph.leaves("weight").items():
            leaves[leaf] = np.array(entries[number], np.float64).astype({"f32": "f4", "i64": "i8"}[kind]).reshape(shape)
        inputs = {n: random.normal(size=shape).astype("f4") for n, (_, _, shape) in graph.leaves("input").items()}
        leaves.update({leaf: inputs[number] for number, (leaf, _, _) in graph.leaves("input").items()})
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        wanted = session.run(None, {value.name: inputs[i] for i, value in enumerate(session.get_inputs())})
        found = run_graph(Numpy("f32", False), graph, leaves)
        assert len(found) == len(wanted) > 0
        for a, b in zip(found, wanted):
            difference = np.abs(a.reshape(b.shape).astype("f8") - b).max() / np.abs(b).max()
            assert difference <= TOLERANCE, f"{name}: off by {difference}"


def run_ours(graph, folder, *options):
    folder.mkdir(exist_ok=True)
    return [
        RUN_GRAPHS,
        "--costs",
        folder.parent / "costs",
        "--repeats",
        "1",
        "--save",
        folder,
        "--serve",
        *options,
        graph,
    ]


def devices_agree(folder):
    assert (
        all(f"({name} " in GRAPH for name in ("enlarge", "merge", "silu", "gather", "pad", "rmsnorm"))
        and "relu" in OPERATORS
    )
    graph = folder / "operators.graph"
    graph.write_text(GRAPH)
    (folder / "operators.values").write_text("5 3 0 15\n")
    model = folder / "models/bert-small.onnx"
    bert = folder / "bert.graph"
    bert.write_text(graph_of(model, folder, 16)[0])
    (folder / "bert-small.values").rename(folder / "bert.values")
    for path, batch, kind, tolerance in [
        (graph, 1, "f32", TOLERANCE),
        (graph, 3, "f16", 1e-2),
        (bert, 2, "f32", TOLERANCE),
    ][: 1 if HAS_FEW else None]:
        saved = folder / f"{path.stem}{batch}{kind}"
        commands = [
            ("ours", run_ours(path, saved, "--batch", str(batch), "--type", kind)),
            *(
                (name, worker_command(name, saved, kind, "cpu"))
                for name in ("numpy", "onnxruntime", "torch", "torch-compiled", "jax")
            ),
        ]
        results = hold_contest(commands, 2400, subprocess.DEVNULL, worker_environment(environment_of(folder)))
        for result in results:
            is_optional = result.who not in ("ours", "numpy", "onnxruntime")
            if is_optional and result.reason.endswith(("not installed", "no torch.compile")):
                continue
            assert not result.reason and len(result.seconds) >= 5, (path.name, result)
            assert result.who != "ours" or result.said["largest_output"] > 0, (path.name, "no numbers", result)
            assert result.who == "ours" or result.said["difference"] <= tolerance, (path.name, batch, kind, result)


def what_goes_wrong_is_said(folder):
    saved = folder / "operators1f32"
    output = np.fromfile(saved / "output3", "f4")
    output[1] += 0.5
    output.tofile(saved / "output3")
    commands = [
        ("numpy", worker_command("numpy", saved, "f32")),
        ("dead", ["false"]),
        ("talker", ["echo", "hello"]),
        ("none", worker_command("numpy", folder / "nowhere", "f32")),
    ]
    numpy, dead, talker, none = hold_contest(commands, 600, subprocess.DEVNULL, worker_environment())
    assert numpy.said["difference"] > 1e-2 and numpy.seconds, numpy
    assert "exit code 1" in dead.reason and "hello" in talker.reason and "FileNotFoundError" in none.reason
    ready = ["sh", "-c", "echo {}; while read runs; do echo 1; done"]
    ready, late = hold_contest([("ready", ready), ("late", ["sleep", "600"])], 6, subprocess.DEVNULL, worker_environment())
    assert late.reason.startswith("not ready within") and not late.seconds, late
    assert ready.seconds and not ready.reason, ready
    (saved / "graph").write_text("(graph (let x (input 0) (f32 2)) (let y (onehot x x)) (output y))")
    (unknown,) = hold_contest(
        [("numpy", worker_command("numpy", saved, "f32"))], 600, subprocess.DEVNULL, worker_environment()
    )
    assert unknown.reason == "not known: onehot", unknown
    for text in ("(graph", "(graph (let x (relu y)))", "(graph (what))", "(tree)"):
        try:
            read_graph(text)
        except (Unreadable, ValueError):
            continue
        raise AssertionError(f"{text} was read")


def samples_that_are_not_apart_are_refused(folder):
    for body in [
        "(let x (input 0) (f32 4 8)) (let y (relu x)) (output y)",
        "(let x (input 0) (f32 1 8)) (let y (softmax 0 x)) (output y)",
        "(let x (input 0) (f32 1 8)) (let y (transpose :perm 1 0 x)) (output y)",
        "(let x (input 0) (f32 1 8)) (let y (reshape :shape 8 x)) (output y)",
        "(let x (input 0) (f32 1 8)) (let y (reducesum :axes 0 :keepdims 1 x)) (output y)",
        "(let x (input 0) (f32 1 8)) (let w (weight 0) (f32 8 1)) (let y (matmul w x)) (output y)",
    ]:
        graph = folder / "refused.graph"
        graph.write_text(f"(graph {body})\n")
        done = subprocess.run(
            run_ours(graph, folder / "refused", "--batch", "2"),
            input="",
            capture_output=True,
            text=True,
            env=environment_of(folder),
        )
        assert done.returncode == 1 and "no batches" in done.stderr, (body, done.stdout, done.stderr)


def the_report_has_contests(folder):
    loader = importlib.machinery.SourceFileLoader("cuda_report", str(ROOT / "scripts/cuda-report"))
    report = importlib.util.module_from_spec(importlib.util.spec_from_loader("cuda_report", loader))
    loader.exec_module(report)
    report.BUILD, report.FRAMEWORKS = BUILD, ["numpy", "onnxruntime"]
    out = folder / "report"
    out.mkdir()
    shutil.copy(folder / "costs", out / "cuda.costs")
    shutil.copy(folder / "operators.graph", folder / "operators.optimized.graph")
    graphs = [folder / "operators.graph", folder / "operators.optimized.graph"]
    environment = environment_of(folder)

    def hold(graphs, batch, seconds):
        return report.hold_contests(out, graphs, [batch], ["f32"], environment, report.Budget(seconds), sys.executable)

    rows, reasons, failures = hold(graphs, 1, 2000)
    assert len(rows) == 3 and not failures, (rows, failures)
    assert all(row.count("|") == 8 for row in rows) and "ours, optimized" in rows[1], rows
    assert (
        len(reasons) == 1 and "onnxruntime is left out" in reasons[0] and reasons[0].endswith("no CUDA provider here")
    ), reasons
    assert len([json.loads(line) for line in (out / "contests.jsonl").read_text().splitlines()]) == 3
    report.TOLERANCES = {"f32": 0}
    failures = hold(graphs[:1], 1, 2000)[2]
    assert failures and all("is off by" in failure for failure in failures), failures
    rows, reasons, failures = hold(graphs, 1, 1)
    assert not rows and reasons == ["left out: operators.graph, batch 1, f32 (no time)"], reasons
    (folder / "rows.graph").write_text("(graph (let x (input 0) (f32 4 8)) (let y (relu x)) (output y))")
    report.LEAST_CONTEST_SECONDS = 1
    rows, reasons, failures = hold([folder / "rows.graph"], 2, 600)
    assert (
        not rows and not failures and reasons[0].startswith("left out: rows.graph, batch 2, f32 (no batches: ")
    ), reasons


def main():
    contest.MOST_TURNS = 3
    with tempfile.TemporaryDirectory() as name:
        for test in [
            models_give_what_onnx_runtime_gives,
            devices_agree,
            what_goes_wrong_is_said,
            samples_that_are_not_apart_are_refused,
            the_report_has_contests,
        ]:
            test(pathlib.Path(name))
            print("passed:", test.__name__, flush=True)


main()
