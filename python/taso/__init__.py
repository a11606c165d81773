"""Neural networks made faster by proved rewrites of their graphs.

    import taso
    model, report = taso.optimize("model.onnx", "fast.onnx")
    outputs = taso.Session("fast.onnx").run({"x": x})

The worker that measures models in ONNX Runtime for taso-opt is taso.worker.
"""
from .api import Error, Session, optimize, version

__all__ = ["Error", "Session", "optimize", "version"]
