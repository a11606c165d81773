#!/usr/bin/env python3
"""Makes a model faster and runs the result on random numbers: `optimize.py model.onnx fast.onnx [SYMBOL=SIZE...]`.

Symbolic dimensions stay symbolic; it is run at these sizes, or at those that it was optimized for."""
import sys

import numpy
import taso


def random_array(random, dtype, shape):
    return random.integers(0, 2, shape).astype(dtype) if dtype.kind in "iub" else random.standard_normal(shape).astype(dtype)


def main(source, target, *sizes):
    given = {name: int(size) for name, size in (text.split("=") for text in sizes)}
    _, report = taso.optimize(source, target, threads=1, profile=given)
    print(report, end="")
    random = numpy.random.default_rng(0)
    shape = report["symbols"]["profiles"][0] if "symbols" in report else {}
    with taso.Session(target, threads=1, shape=shape) as session:
        inputs = {name: random_array(random, dtype, shape) for name, dtype, shape in session.inputs}
        for name, values in session.run(inputs).items():
            print(f"output {name}: {values.dtype}{list(values.shape)}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} MODEL.onnx FAST.onnx [SYMBOL=SIZE...]")
    main(*sys.argv[1:])
