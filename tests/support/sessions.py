"""Sessions of ONNX Runtime as tests want them: quiet, and on one thread of this processor."""
import onnxruntime


def session_of(model, is_optimizing=True):
    """`model` is one, its bytes or its path. With is_optimizing=False its nodes are run as they stand."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if not is_optimizing:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    return onnxruntime.InferenceSession(model if isinstance(model, bytes) else str(model), options,
                                        providers=["CPUExecutionProvider"])
