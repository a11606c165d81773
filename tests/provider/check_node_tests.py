#!/usr/bin/env python3
"""ONNX's node tests through the plugin, beside ONNX Runtime's own provider: `check_node_tests.py LIBRARY [--few | NAME...]`.

Inputs are the tests' own. Whatever the own provider runs, the plugin runs to the same results.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnx.backend.test
import onnxruntime
from onnx import numpy_helper

NAME = "TasoExecutionProvider"
DATA = pathlib.Path(onnx.backend.test.__file__).parent / "data"


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


def run(folder, devices):
    """None where the own provider cannot run it either; else what differs, or an empty text."""
    model = str(folder / "model.onnx")
    try:
        session = onnxruntime.InferenceSession(model, options_of(None), providers=["CPUExecutionProvider"])
        feed = inputs_of(folder, session)
        expected = session.run(None, feed) if feed is not None else None
    except Exception:   # pylint: disable=broad-except # of any kind, as its operators are
        return None
    if expected is None or not all(isinstance(value, np.ndarray) for value in expected):
        return None
    try:
        ours = onnxruntime.InferenceSession(model, options_of(devices), enable_fallback=False)
        ours.disable_fallback()
        ours = ours.run(None, feed)
    except Exception as error:   # pylint: disable=broad-except
        return str(error)
    for right, got in zip(expected, ours, strict=True):
        if (right.dtype, right.shape) != (got.dtype, got.shape):
            return f"{got.dtype}{list(got.shape)} instead of {right.dtype}{list(right.shape)}"
        if right.dtype.kind in "fiub" and not np.allclose(got, right, rtol=1e-3, atol=1e-5, equal_nan=True):
            return f"off by {np.abs(got.astype(float) - right.astype(float)).max()}"
    return ""


def main():
    onnxruntime.register_execution_provider_library("taso", str(pathlib.Path(sys.argv[1]).resolve()))
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    names = sorted(path.parent.name for path in DATA.glob("*/*/model.onnx"))
    names = names[::8] if sys.argv[2:] == ["--few"] else sys.argv[2:] or names
    n_equal = n_failed = n_left = 0
    for name in names:
        folder = next(DATA.glob(f"*/{name}"))
        if name.startswith(("test_training_dropout", "test_bernoulli", "test_random")):   # drawn anew by each run
            continue
        difference = run(folder, devices)
        n_left += difference is None
        n_equal += difference == ""
        n_failed += bool(difference)
        if difference:
            print(f"{name}: {difference}")
    print(f"{n_equal} equal, {n_failed} not, {n_left} that ONNX Runtime does not run")
    return n_failed > 0 or n_equal == 0


if __name__ == "__main__":
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        sys.exit(77)
    sys.exit(main())
