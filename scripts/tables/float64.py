"""How far the outputs of benchmark models are off those in double precision, of max|output|: in our executor with the kernels
that cost databases of FOLDER choose (MODEL-THREADS.costs, as the table of peers leaves them; else they are measured), inexact
ones among them, and in ONNX Runtime. The model is made one of double precision, and ONNX's reference runs it, in which
convolutions and poolings are those of windows here. Inputs are random. Results are kept in FOLDER/float64.json. The exit code
is 1 when an output of ours is off by more than --tolerance."""

import os
import sys

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from tables.common import ALL, ROOT, SHAPES, by_name, find_or_build, make_table, parser_of

SEED = 1


def parse_arguments():
    parser = parser_of(__doc__, ALL)
    parser.set_defaults(threads=1)
    parser.add_argument("--tolerance", type=float, default=1e-5, help="of outputs (default: %(default)s)")
    parser.add_argument("--library", metavar="FILE", default=ROOT / "build/library/libtaso.so.1", help="(default: %(default)s)")
    return parser.parse_args()


# --- double precision ------------------------------------------------------------------------------------------------

def windows_of(x, kernel, strides, pads, dilations, fill):
    """[n, c, rows, columns, kernel rows, kernel columns]"""
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=fill)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    return sliding_window_view(x, spans, (2, 3))[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]


def pads_of(x, kernel, strides, pads, auto_pad):
    if not auto_pad.startswith("SAME"):
        return pads or [0] * 4
    all_of = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in zip(x.shape[2:], kernel, strides)]
    begin = [(n + (auto_pad == "SAME_LOWER")) // 2 for n in all_of]
    return [*begin, *(n - b for n, b in zip(all_of, begin))]


class Conv(OpRun):
    """In two dimensions."""
    op_domain = ""

    def _run(self, x, w, bias=None, auto_pad="NOTSET", dilations=None, group=1, kernel_shape=None, pads=None, strides=None):
        kernel, strides, dilations = w.shape[2:], strides or [1, 1], dilations or [1, 1]
        pads = pads_of(x, [(k - 1) * d + 1 for k, d in zip(kernel, dilations)], strides, pads, auto_pad or "NOTSET")
        windows = windows_of(x, kernel, strides, pads, dilations, 0)
        if group == x.shape[1] == w.shape[0]:
            y = np.einsum("nchwij,cij->nchw", windows, w[:, 0])
        else:
            parts = zip(np.split(windows, group, 1), np.split(w, group))
            y = np.concatenate([np.tensordot(x, w, ([1, 4, 5], [1, 2, 3])) for x, w in parts], -1).transpose(0, 3, 1, 2)
        return (y if bias is None else y + bias.reshape(1, -1, 1, 1),)


class Pool(OpRun):
    op_domain = ""

    def windows(self, x, kernel_shape, strides, pads, ceil_mode, fill):
        strides, pads = strides or [1, 1], list(pads or [0] * 4)
        for i in range(2):
            rest = (x.shape[2 + i] + pads[i] + pads[2 + i] - kernel_shape[i]) % strides[i]
            pads[2 + i] += strides[i] - rest if ceil_mode and rest else 0
        return windows_of(x, kernel_shape, strides, pads, [1, 1], fill)


class MaxPool(Pool):
    def _run(self, x, auto_pad=None, ceil_mode=0, dilations=None, kernel_shape=None, pads=None, storage_order=0, strides=None):
        return (self.windows(x, kernel_shape, strides, pads, ceil_mode, -np.inf).max((4, 5)),)


class AveragePool(Pool):
    def _run(self, x, auto_pad=None, ceil_mode=0, count_include_pad=0, dilations=None, kernel_shape=None, pads=None, strides=None):
        assert not ceil_mode
        sums = self.windows(x, kernel_shape, strides, pads, 0, 0).sum((4, 5))
        counted = np.ones_like(x[:1, :1]) if not count_include_pad else None
        of = np.prod(kernel_shape) if counted is None else self.windows(counted, kernel_shape, strides, pads, 0, 0).sum((4, 5))
        return (sums / of,)


class BatchNormalization(OpRun):
    """As it is where nothing is trained: the reference's, before version 14 of the operator, takes statistics of the batch."""
    op_domain = ""

    def _run(self, x, scale, bias, mean, variance, epsilon=1e-5, momentum=None, spatial=None, training_mode=0):
        factor, shape = scale / np.sqrt(variance + epsilon), (-1, *[1] * (x.ndim - 2))
        return (x * factor.reshape(shape) + (bias - mean * factor).reshape(shape),)


class LayerNormalization(OpRun):
    """The reference's is in single precision."""
    op_domain = ""

    def _run(self, x, scale, bias=0, axis=-1, epsilon=1e-5, stash_type=1):
        axes = tuple(range(axis % x.ndim, x.ndim))
        d = x - x.mean(axes, keepdims=True)
        return (d / np.sqrt((d * d).mean(axes, keepdims=True) + epsilon) * scale + bias,)


def widen(tensor):
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype("f8"), tensor.name)


def in_double_precision(model):
    """All that is f32 as f64, up to the types that operators name."""
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for i, tensor in enumerate(model.graph.initializer):
        if tensor.data_type == TensorProto.FLOAT:
            model.graph.initializer[i].CopyFrom(widen(tensor))
    for attribute in (a for node in model.graph.node for a in node.attribute):
        if attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.DOUBLE
        elif attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type == TensorProto.FLOAT:
            attribute.t.CopyFrom(widen(attribute.t))
    del model.graph.value_info[:]
    return model


# --- what is compared ------------------------------------------------------------------------------------------------

def run_ours(path, inputs, shapes, options):
    os.environ["TASO_LIBRARY"] = str(options.library)
    sys.path.insert(0, str(ROOT / "python"))
    import taso   # which loads the library
    costs = options.folder / f"{path.stem}-{options.threads}.costs"
    with taso.Session(path, threads=options.threads, costs=str(costs), shape=shapes) as session:
        return session.run(inputs)


def error_of(outputs, wanted):
    return max(float(np.abs(outputs[name] - of).max() / np.abs(of).max()) for name, of in wanted.items())


def measure(name, options):
    from models.runtime import parse_shape, random_inputs, session_of
    path = find_or_build(name, options)
    shapes = dict(parse_shape(s) for s in SHAPES.get(name, [])[1::2])
    theirs = session_of(path, options.threads)
    inputs = random_inputs(theirs, SEED, shapes)
    double = ReferenceEvaluator(in_double_precision(onnx.load(path)), new_ops=[Conv, MaxPool, AveragePool, BatchNormalization, LayerNormalization])
    given = {n: a.astype("f8") if a.dtype == np.float32 else a for n, a in inputs.items()}
    wanted = dict(zip(double.output_names, double.run(None, given)))
    outputs = dict(zip(wanted, theirs.run(list(wanted), inputs)))
    return {"ours": error_of(run_ours(path, inputs, shapes, options), wanted), "ONNX Runtime": error_of(outputs, wanted)}


def row(name, told):
    return [name, *(f"{told[of]:.1e}" for of in ("ours", "ONNX Runtime"))]


def main(options):
    return make_table("float64", options, by_name(options.names), measure, ["model", "ours", "ONNX Runtime"], row,
                      "Beside double precision", "The largest difference of an output, as a share of the largest entry.",
                      is_bad=lambda told: not told["ours"] <= options.tolerance)
