"""Graphs in text form (graph/text.h) run by other frameworks, beside our own runs of them: `scripts/cuda-report`.

text         reads them
operators    what each operator is, in terms of what a framework can do
frameworks   numpy, PyTorch, JAX and ONNX Runtime, each as an object that can do that
worker       one framework, one graph, in a process of its own: prepares, then runs as often as it is told
contest      several of them by turns
"""
