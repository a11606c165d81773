#!/usr/bin/env python3
"""Random models through the plugin, beside ONNX Runtime's own provider: `check_random_models.py LIBRARY RANDOM FIRST COUNT`.

RANDOM is the folder of random_models.py, FIRST the first seed.
"""
import pathlib
import sys

import numpy as np
import onnxruntime

NAME, CPU = "TasoExecutionProvider", ["CPUExecutionProvider"]


def options_of(devices):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_provider_for_devices(devices, {"threads": "1", "measure": "false", "costs": "", "time": "1"})
    return options


def differs(model, seed, devices):
    own = onnxruntime.InferenceSession(model, providers=CPU)
    drawn = np.random.default_rng(seed)
    feed = {value.name: drawn.standard_normal(value.shape).astype(np.float32) for value in own.get_inputs()}
    ours = onnxruntime.InferenceSession(model, options_of(devices))
    ours.disable_fallback()
    for right, got in zip(own.run(None, feed), ours.run(None, feed), strict=True):
        largest = np.abs(right).max(initial=1e-30)
        if right.shape != got.shape or not np.allclose(got, right, rtol=0, atol=1e-5 * largest, equal_nan=True):
            return True
    return False


def main():
    library, folder, first, count = sys.argv[1:]
    sys.path.insert(0, folder)
    import random_models
    onnxruntime.register_execution_provider_library("taso", str(pathlib.Path(library).resolve()))
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    seeds = range(int(first), int(first) + int(count))
    failed = [seed for seed in seeds if differs(random_models.make(seed).SerializeToString(), seed, devices)]
    print(f"{count} models, {len(failed)} differ: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        sys.exit(77)
    sys.exit(main())
