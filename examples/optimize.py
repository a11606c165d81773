#!/usr/bin/env python3
"""Makes a model faster and runs the result on random numbers: `optimize.py model.onnx fast.onnx`."""
import sys

import numpy
import taso


def main(source, target):
    _, report = taso.optimize(source, target, threads=1)
    print(report["text"], end="")
    random = numpy.random.default_rng(0)
    with taso.Session(target, threads=1) as session:
        inputs = {name: random.standard_normal(shape).astype(dtype) for name, dtype, shape in session.inputs}
        for name, values in session.run(inputs).items():
            print(f"output {name}: {values.dtype}{list(values.shape)}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} MODEL.onnx FAST.onnx")
    main(*sys.argv[1:])
