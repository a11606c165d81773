"""What `taso` has in Python: the worker that measures models in ONNX Runtime (taso.worker)."""
