"""Neural networks made faster by proved rewrites of their graphs.

    import taso
    model, report = taso.optimize("model.onnx", "fast.onnx")
    outputs = taso.Session("fast.onnx").run({"x": x})
    verdicts = taso.verify("(rule twice (source (relu (relu ?x))) (target (relu ?x)))")

The worker that measures models in ONNX Runtime for taso-opt is taso.worker.
"""
from .api import Error, Report, Session, Verdict, optimize, verify, version
from .provider import register

__all__ = ["Error", "Report", "Session", "Verdict", "optimize", "register", "verify", "version"]


def __getattr__(name):
    if name == "__version__":
        return version()
    raise AttributeError(f"module taso has no attribute {name}")
