#!/usr/bin/env python3
"""Searches and `scripts/cuda-report` on the null GPU: `check_report.py ROOT BUILD TASO_OPT NULL_PLUGIN`.

Where there is a toolkit, the report has its NVRTC and cuDNN; searches have names for engines. The report measures graphs
in every type, kernels beside the libraries, and keeps costs; two searches of one model find the same, with far less
work than trying each engine for each step.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx

ROOT, BUILD, TASO_OPT, PLUGIN = map(pathlib.Path, sys.argv[1:5])
sys.path.insert(0, str(ROOT / "tests/support"))
from cost_files import costs_but_runs  # noqa: E402
from text_models import model_of  # noqa: E402

GRAPH = """(graph (let x (input 0) (f32 1 32 28 28)) (let w (weight 0) (f32 64 32 3 3)) (let v (weight 1) (f32 784 40))
  (let c (conv :pad 1 1 1 1 x w)) (let r (relu c)) (let f (reshape :shape 64 784 r)) (let m (matmul f v))
  (let z (softmax 1 m)) (output z))
"""
LAYERS = 8
TRIED = 6   # engines for a convolution in the mean, of twenty that are ranked


def the_report_is_whole(folder):
    graph, out = folder / "one.graph", folder / "report"
    graph.write_text(GRAPH)
    command = [ROOT / "scripts/cuda-report", "run", out, graph, "--build", BUILD, "--dry", "--kernels", "--seconds", "2000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout, done.stderr)
    lines = [json.loads(line) for line in (out / "graphs.jsonl").read_text().splitlines()]
    assert [line["way"] for line in lines] == ["f32", "tf32", "f16"], lines
    assert all(line["device"].startswith("null GPU, sm_90") and line["guessed"] == 0 for line in lines), lines
    assert all(abs(line["seconds"] / line["sum_of_costs"] - 1) < 0.1 for line in lines), lines
    kernels = [json.loads(line) for line in (out / "kernels.jsonl").read_text().splitlines()]
    assert {step["kernel"] for step in kernels} == {"conv", "product"}, kernels
    assert any(step["as"].startswith("tile ") for step in kernels), kernels
    assert all(step["seconds"] > 0 and step["by"] in ("library", "kernel") for step in kernels), kernels
    assert "| one.graph | conv | 1 |" in done.stdout and "## Beside others" not in done.stdout, done.stdout
    costs = (out / "cuda.costs").read_text()
    assert costs.count("(costs 4 ") == 2 and '"conv conv ' in costs and ', tf32")' in costs, costs


def what_takes_too_long_keeps_what_it_has(folder):
    loader = importlib.machinery.SourceFileLoader("cuda_report", str(ROOT / "scripts/cuda-report"))
    report = importlib.util.module_from_spec(importlib.util.spec_from_loader("cuda_report", loader))
    loader.exec_module(report)
    waiting = "trap 'echo kept; exit' TERM; echo begun; while :; do sleep 0.1; done"
    for seconds in (2, 20, 200):   # it may not even have begun
        code, said = report.run(["sh", "-c", waiting], seconds)
        if "begun" in said:
            break
    assert (code, said) == (124, "begun\nkept\nout of time\n"), (code, said)
    assert report.run(["sh", "-c", "echo done; exit 3"], 600) == (3, "done\n")
    assert report.run(["true"], 0)[0] == 124


def chain_of_convolutions(path):
    """Each layer has its own size, so that none has a cost when it is met."""
    weights, lines, channels = {}, [], 16
    for i in range(LAYERS):
        weights[f"w{i}"] = (channels + 8, channels, 3, 3)
        channels += 8
        lines.append(f"c{i} = Conv<pads=[1,1,1,1]>({f'r{i - 1}' if i else 'x'}, w{i})  r{i} = Relu(c{i})")
    onnx.save(model_of(f"(float[1,16,28,28] x) => (float[1,{channels},28,28] r{LAYERS - 1}) {{ {'  '.join(lines)} }}",
                       **weights), path)


def searches_measure_little(folder):
    model, counts = folder / "chain.onnx", []
    chain_of_convolutions(model)
    for run in range(2):
        path = folder / f"counts{run}"
        environment = dict(os.environ, TASO_CUDA_PLUGIN=str(PLUGIN), TASO_NULL_COUNTS=str(path), TASO_NULL_TOOLKIT="",
                           XDG_CACHE_HOME=str(folder / f"cache{run}"))
        command = [TASO_OPT, model, "-o", folder / "fast.onnx", "--device", "cuda", "--costs", folder / f"costs{run}",
                   "--no-check", "--measure-seconds", "0.1"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, (done.stdout, done.stderr)
        counts.append(json.loads(path.read_text()))
    assert costs_but_runs(folder / "costs0") == costs_but_runs(folder / "costs1"), "the clock is the same each time"
    measured = (folder / "costs0").read_text().count('"conv conv ')
    assert measured >= LAYERS and counts[0]["plans"] < measured * TRIED, (measured, counts)
    print(f"{measured} convolutions measured, {counts[0]['plans']} plans of engines", counts[0])


def main():
    with tempfile.TemporaryDirectory() as name:
        for test in [the_report_is_whole, what_takes_too_long_keeps_what_it_has, searches_measure_little]:
            test(pathlib.Path(name))
            print("passed:", test.__name__, flush=True)


main()
