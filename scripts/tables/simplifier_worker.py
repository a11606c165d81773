"""One tool on one model: `simplifier_worker.py TOOL MODEL OUT`. Runs in the environment of `results simplifiers`."""

import sys


def simplify_by_onnxsim(source, target):
    import onnx
    import onnxsim
    onnx.save(onnxsim.simplify(onnx.load(source))[0], target)


def simplify_to_standard_operators(source, target):
    """By onnxsim, without its pass that makes operators which only ONNX Runtime has."""
    import onnx
    import onnxsim
    onnx.save(onnxsim.simplify(onnx.load(source), skipped_optimizers=["fuse_attention"])[0], target)


def simplify_by_onnxslim(source, target):
    import onnx
    import onnxslim
    onnx.save(onnxslim.slim(onnx.load(source)), target)


def optimize_by_onnxruntime(source, target):
    """Its own optimization, ahead of time: what it fuses for any processor."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = target
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


TOOLS = {"onnxsim": simplify_by_onnxsim, "onnxsim, standard": simplify_to_standard_operators,
         "onnxslim": simplify_by_onnxslim, "ONNX Runtime": optimize_by_onnxruntime}

if __name__ == "__main__":
    TOOLS[sys.argv[1]](*sys.argv[2:4])
