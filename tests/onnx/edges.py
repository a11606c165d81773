"""Single nodes at the edges of what the standard says, read as ONNX Runtime reads them.

`edges.py PATH/onnx_expect PATH/onnx_pass`: each node, as it is and of constants, must give what ONNX Runtime gives, or be
kept where the table says so; and what is written for it anew must give ONNX Runtime the same.
"""
import collections
import pathlib
import sys
import tempfile

import numpy as np

import judged
import operator_cases
from case import Case

INFINITE = np.array([np.inf, -np.inf, 1.5, np.nan], np.float32)
LARGEST = np.finfo(np.float32).max
IMAGE = np.linspace(-1, 2, 20).astype(np.float32).reshape(1, 1, 20)
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)

# Operator, operator set, inputs (None: omitted; Fixed: an initializer), attributes, more about it: `n_outputs`, `kept`.
Fixed = collections.namedtuple("Fixed", "value")
Edge = collections.namedtuple("Edge", "op opset inputs attributes more")


def edge(op, opset, *inputs, n_outputs=1, kept=False, **attributes):
    return Edge(op, opset, inputs, attributes, (n_outputs, kept))


def fixed(value, dtype=np.float32):
    return Fixed(np.array(value, dtype))


def clips():
    """Infinities meet bounds that are there, and the largest number where one is not."""
    yield edge("Clip", 6, INFINITE)
    yield edge("Clip", 6, INFINITE, min=0.0)
    yield edge("Clip", 6, INFINITE, max=float("inf"))
    for dtype in (np.float32, np.float16):
        x = INFINITE.astype(dtype)
        for low, high in ((None, None), (0, None), (None, 6), (np.inf, None), (-np.inf, np.inf), (3, 2)):
            bounds = [None if bound is None else fixed(bound, dtype) for bound in (low, high)]
            yield edge("Clip", 13, x, *bounds)
    yield edge("Clip", 13, INFINITE, fixed(-LARGEST), fixed(LARGEST))
    yield edge("Clip", 13, INFINITE, np.float32(0))
    yield edge("Clip", 13, np.float32(5), np.array([1], np.float32), np.array([2], np.float32))


def remainders():
    """A remainder plus the divisor is larger than the type."""
    for dtype in (np.int32, np.int64, np.uint32):
        most = np.iinfo(dtype).max
        yield edge("Mod", 13, np.array([most - 1, most - 2, 5, 0], dtype), np.array([most, most - 1, most, 7], dtype))
    yield edge("Mod", 13, np.array([-7, 7, -6, 2 - 2**31, 2**31 - 2, 0], np.int32),
               np.array([3, -3, -3, 2**31 - 1, -2**31, -5], np.int32))


def powers():
    """An exponent that is odd, and even in single precision."""
    for dtype in (np.int64, np.float64):
        yield edge("Pow", 13, np.array([-1, 1], np.float32), fixed(2**24 + 1, dtype), kept=True)
        yield edge("Pow", 13, np.array([-2, 1.5], np.float32), fixed([3, 2], dtype))
    yield edge("Pow", 13, np.array([-1, 1], np.float32), np.array(2**24 + 1), kept=True)


def resized():
    """A scaled size is a whole number in single precision, and less than that in double."""
    for size, scale in ((10, 0.7), (20, 0.35), (6, 1.1666666)):
        for mode in ("nearest", "linear"):
            yield edge("Resize", 13, IMAGE[:, :, :size], None, fixed([1, 1, scale]), mode=mode, kept=True,
                       coordinate_transformation_mode="asymmetric")
    yield edge("Resize", 13, IMAGE, None, fixed([1, 1, 0.5]), mode="linear")


def padded():
    """Where entries are cut and repeated on one axis ONNX Runtime cuts first."""
    for pads in ([-1, 0, 1, 0], [0, -2, 0, 2], [0, 2, 0, -1]):
        yield edge("Pad", 19, MATRIX, fixed(pads, np.int64), mode="wrap", kept=True)
    for mode in ("wrap", "reflect", "edge"):
        yield edge("Pad", 19, MATRIX, fixed([-1, 1, 0, 2], np.int64), mode=mode)


def normalized():
    """Before operator set 14 outputs for statistics make it training, which writes to its inputs, too."""
    image = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for n_outputs in (1, 5):
        channels = [np.array(v, np.float32) for v in ([1, 2, 3], [0, 1, -1], [0.5, 0, 1], [1, 2, 0.5])]
        yield edge("BatchNormalization", 9, image, *channels, n_outputs=n_outputs, kept=n_outputs > 1)


def infinite():
    """Before operator set 11 Equal does not compare real numbers."""
    for positive, negative in ((1, 1), (1, 0), (0, 1)):
        for opset in (10, 13):
            yield edge("IsInf", opset, INFINITE, detect_positive=positive, detect_negative=negative)


def quotients():
    """Of constants: what divides by zero is not computed; where the divisor is an input, it is no zero here."""
    for op in ("Div", "Mod"):
        yield edge(op, 14, np.array([7, -7], np.int32), fixed([2, -3], np.int32))
        yield edge(op, 14, np.array([7, -7], np.int64), np.array([2, -3]))


def means():
    """Of integers that are no doubles."""
    yield edge("ReduceMean", 13, np.array([[2**53 + 1, 0, 0]]), axes=[1], kept=True)
    yield edge("ReduceMean", 13, np.array([[-7, 2, -3], [2**30, 2**30, -5]], np.int32), axes=[1])


EDGES = [quotients, means, clips, remainders, powers, resized, padded, normalized, infinite]


def case_of(e):
    c = Case(0, e.opset)
    c.op, c.attributes, c.n_outputs = e.op, e.attributes, e.more[0]
    for k, value in enumerate(e.inputs):
        c.inputs.append(value.value if isinstance(value, Fixed) else value)
        c.fixed |= {k} if isinstance(value, Fixed) else set()
    return c


def make_cases(folder):
    """What onnx_expect and onnx_pass read of each; and which of them are to be kept."""
    cases, kept = {}, set()
    for group in EDGES:
        for k, e in enumerate(group()):
            for all_constant in (False, True):
                model, feeds = operator_cases.model_of(case_of(e), all_constant)
                del model.graph.output[1:]
                path = folder / f"{group.__name__}{k}{'constant' if all_constant else ''}"
                if not judged.add_case(cases, path, path.name, model, feeds):
                    sys.exit(f"ONNX Runtime does not run {group.__name__} {k}")
                kept |= {str(path)} if e.more[1] else set()
    return cases, kept


def main():
    failures = []
    with tempfile.TemporaryDirectory() as temporary:
        cases, kept = make_cases(pathlib.Path(temporary))
        for chosen, verdict in ((kept, "opaque"), (set(cases) - kept, "equal")):
            failures += judged.judge(sys.argv[1], {name: cases[name] for name in sorted(chosen)},
                                     lambda verdicts, wanted=verdict: set(verdicts) == {wanted})
        failures += judged.write(sys.argv[2], cases)
    judged.conclude(failures, cases)


main()
