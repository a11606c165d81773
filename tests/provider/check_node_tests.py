#!/usr/bin/env python3
"""ONNX's node tests through the plugin, beside ONNX Runtime's own provider: `check_node_tests.py LIBRARY [--few | NAME...]`.

Inputs are the tests' own. Whatever the own provider runs, the plugin runs to the same results. How many of them run in the
plugin from beginning to end is told, by the session's profile, and which operators did not. TASO_NODE_TESTS names the folder
of tests where the package onnx has not all.
"""
import collections
import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnx.backend.test
import onnxruntime
from onnx import numpy_helper

NAME = "TasoExecutionProvider"
DATA = pathlib.Path(os.environ.get("TASO_NODE_TESTS", pathlib.Path(onnx.backend.test.__file__).parent / "data"))


def options_of(devices):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if devices:
        options.add_provider_for_devices(devices, {"threads": "1", "measure": "false", "costs": "", "budget": "0"})
    return options


def inputs_of(folder, session):
    files = sorted((folder / "test_data_set_0").glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    if len(files) != len(session.get_inputs()):
        return None
    return {value.name: numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
            for value, path in zip(session.get_inputs(), files)}


def operators_left(profile):
    """Those of other providers; None: not even these ran."""
    with open(profile, encoding="utf-8") as file:
        kernels = [event["args"] for event in json.load(file) if event["name"].endswith("_kernel_time")]
    pathlib.Path(profile).unlink()
    return [kernel["op_name"] for kernel in kernels if kernel.get("provider") != NAME] if kernels else None


def run(folder, devices, prefix):
    """None where the own provider cannot run it either; else what differs, or an empty text, and which operators are not
    ours."""
    model = str(folder / "model.onnx")
    try:
        session = onnxruntime.InferenceSession(model, options_of(None), providers=["CPUExecutionProvider"])
        feed = inputs_of(folder, session)
        expected = session.run(None, feed) if feed is not None else None
    except Exception:   # pylint: disable=broad-except # of any kind, as its operators are
        return None
    if expected is None or not all(isinstance(value, np.ndarray) for value in expected):
        return None
    options = options_of(devices)
    options.enable_profiling, options.profile_file_prefix = True, prefix
    try:
        session = onnxruntime.InferenceSession(model, options, enable_fallback=False)
        session.disable_fallback()
        ours = session.run(None, feed)
    except Exception as error:   # pylint: disable=broad-except
        return str(error), None
    left = operators_left(session.end_profiling())
    for right, got in zip(expected, ours, strict=True):
        if (right.dtype, right.shape) != (got.dtype, got.shape):
            return f"{got.dtype}{list(got.shape)} instead of {right.dtype}{list(right.shape)}", left
        if right.dtype.kind in "fiub" and not np.allclose(got, right, rtol=1e-3, atol=1e-5, equal_nan=True):
            return f"off by {np.abs(got.astype(float) - right.astype(float)).max()}", left
    return "", left


def main():
    onnxruntime.register_execution_provider_library("taso", str(pathlib.Path(sys.argv[1]).resolve()))
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    names = sorted(path.parent.name for path in DATA.glob("*/*/model.onnx"))
    names = names[::8] if sys.argv[2:] == ["--few"] else sys.argv[2:] or names
    n_equal = n_failed = n_unknown = n_ours = 0
    all_left = collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            if name.startswith(("test_training_dropout", "test_bernoulli", "test_random")):   # drawn anew by each run
                continue
            told = run(next(DATA.glob(f"*/{name}")), devices, f"{place}/profile")
            if not told:
                n_unknown += 1
                continue
            difference, left = told
            n_equal, n_failed, n_ours = n_equal + (difference == ""), n_failed + bool(difference), n_ours + (left == [])
            all_left.update(set(left or []))
            if difference:
                print(f"{name}: {difference}")
    print("not in the plugin, in so many tests:", *(f"{name} {count}," for name, count in all_left.most_common()))
    print(f"{n_equal} equal, {n_failed} not, {n_unknown} that ONNX Runtime does not run; {n_ours} wholly in the plugin")
    return n_failed > 0 or n_equal == 0 or n_ours == 0


if __name__ == "__main__":
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        sys.exit(77)
    sys.exit(main())
