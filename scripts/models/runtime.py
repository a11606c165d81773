"""Running a model file in ONNX Runtime on seeded inputs."""

import argparse
import re

import numpy as np
import onnxruntime

DTYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "int64": np.int64, "int32": np.int32,
          "int8": np.int8, "uint8": np.uint8, "bool": np.bool_}
INTEGERS_BELOW = 100
SIZE_OF_UNBOUND, BATCH_NAMES = 16, ("batch", "batch_size", "n", "N")


# TF32 would make another model of one in f32.
PROVIDERS = {"cpu": ("CPUExecutionProvider", {}), "cuda": ("CUDAExecutionProvider", {"use_tf32": "0"})}


def session_of(path, threads=1, optimized=True, by_turns=False, device="cpu"):
    """By turns with other sessions, threads that have nothing to do must not spin while another one runs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    if by_turns:
        options.add_session_config_entry("session.force_spinning_stop", "1")
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
    provider, settings = PROVIDERS[device]
    if provider not in onnxruntime.get_available_providers():
        raise RuntimeError(f"ONNX Runtime {onnxruntime.__version__} is here without its provider for {device}")
    session = onnxruntime.InferenceSession(str(path), options, providers=[(provider, settings)])
    if provider not in session.get_providers():
        raise RuntimeError(f"ONNX Runtime {onnxruntime.__version__} could not start its provider for {device}")
    return session


def bind(dimension):
    """A symbolic dimension that no --shape binds: 1 for a batch, 16 for anything else."""
    if isinstance(dimension, int):
        return dimension
    return 1 if dimension in BATCH_NAMES else SIZE_OF_UNBOUND


def random_inputs(session, seed, shapes=None):
    """Normal floats, integers in 0..99, for each input by name; `shapes` binds the shapes of inputs by name."""
    random = np.random.Generator(np.random.PCG64(seed))
    inputs = {}
    for parameter in session.get_inputs():
        shape = (shapes or {}).get(parameter.name) or [bind(d) for d in parameter.shape]
        dtype = DTYPES[re.fullmatch(r"tensor\((\w+)\)", parameter.type)[1]]
        if np.issubdtype(dtype, np.floating):
            inputs[parameter.name] = random.standard_normal(shape).astype(dtype)
        else:
            inputs[parameter.name] = random.integers(0, 2 if dtype is np.bool_ else INTEGERS_BELOW, shape).astype(dtype)
    return inputs


def parse_shape(text):
    name, _, dimensions = text.rpartition("=")
    try:
        return name, [int(d) for d in dimensions.split(",") if d]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=1,2,3") from None


def run(session, inputs):
    return session.run(None, inputs)


def prepare(session, inputs, device="cpu"):
    """A function that runs the model once and waits until it is done; inputs and outputs stay on the device."""
    if device == "cpu":
        return lambda: run(session, inputs)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array, device, 0))
    for output in session.get_outputs():
        binding.bind_output(output.name, device)

    def run_there():
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()

    return run_there
