#!/usr/bin/env python3
"""Random models through the plugin, beside ONNX Runtime's own provider: `check_random_models.py LIBRARY FIRST COUNT [KINDS]`.

FIRST is the first seed; KINDS are those of whole_models.py (idioms, typed, nnsmith), which take turns. Models with symbols run
again when their sizes have been compiled. Where both differ, ONNX's reference says who is right: ONNX Runtime's products of
int32 are saturated, for one. Models that it does not run by itself, as its own optimizations break them, are counted and left.
A model that fails is kept in the folder for temporary files.
"""
import faulthandler
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np
import onnxruntime
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "optimizer"))
import whole_models  # noqa: E402

NAME = "TasoExecutionProvider"
TOLERANCE, OF_HALVES = 2e-5, 0.02   # of the largest entry; a region's is 1e-5
SECONDS_FOR_SIZES = 1.5


def options_of(devices):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_provider_for_devices(
        devices, {"threads": "1", "measure": "false", "costs": "", "time": "1", "budget": "100"})
    return options


def is_symbolic(session):
    return any(isinstance(size, str) for value in session.get_inputs() for size in value.shape)


def is_right(ours, model, feed, tolerance):
    try:
        return whole_models.difference(ReferenceEvaluator(str(model)), ours, feed, tolerance) is None
    except Exception:   # pylint: disable=broad-except # of any kind, where it lacks an operator
        return False


def is_run(model, feed):
    """By ONNX Runtime without us, as it runs models if nothing is said."""
    try:
        whole_models.session_of(model).run(None, feed)
    except Exception:   # pylint: disable=broad-except # the runtime's own
        return False
    return True


def failure_of(model, own, seed, devices):
    feed, has_halves = whole_models.inputs_of(own, np.random.default_rng(seed)), whole_models.has_halves(model)
    tolerance = OF_HALVES if has_halves else TOLERANCE
    try:
        ours = onnxruntime.InferenceSession(str(model), options_of(devices))
        ours.disable_fallback()
        found = whole_models.difference(own, ours, feed, tolerance)
        if not found and is_symbolic(own):
            time.sleep(SECONDS_FOR_SIZES)
            found = whole_models.difference(own, ours, feed, tolerance)
    except Exception as failure:   # pylint: disable=broad-except # of any kind
        return str(failure)
    is_failure = found and not is_right(ours, model, feed, tolerance) and whole_models.is_steady(
        model, own, feed, 1e-3 if has_halves else 1e-6)
    return found if is_failure else None


def main():
    faulthandler.enable()
    library, first, count, *kinds = sys.argv[1:]
    kinds = kinds[0].split(",") if kinds else ["idioms", "typed"]
    onnxruntime.register_execution_provider_library("taso", str(pathlib.Path(library).resolve()))
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    failed, n_left = [], 0
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.onnx"
        for seed in range(int(first), int(first) + int(count)):
            kind = kinds[seed % len(kinds)]
            own = whole_models.make_model(kind, np.random.default_rng(seed), model, seed)
            if not is_run(model, whole_models.inputs_of(own, np.random.default_rng(seed))):
                n_left += 1
                continue
            found = failure_of(model, own, seed, devices)
            if found:
                failed.append(seed)
                kept = shutil.copy(model, pathlib.Path(tempfile.gettempdir()) / f"provider-{kind}-{seed}.onnx")
                print(f"FAILED: {kept}: {found}", flush=True)
    print(f"{int(count) - n_left} models, {len(failed)} differ: {failed}; {n_left} that ONNX Runtime does not run by itself")
    return 1 if failed else 0


if __name__ == "__main__":
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        sys.exit(77)
    sys.exit(main())
