"""ONNX models with weights, built from their published descriptions; see `scripts/build-models --help`.

    builder.py    a graph under construction, every tensor of which carries its value on a calibration input
    evaluation.py those values, in numpy
    layers.py     layers whose random weights are scaled so that their outputs are of order one
    catalog.py    the table of models: name, builder, dimensions, and the dimensions of the small variant
    MODEL.py      one family of models each
"""
