"""Random nodes that work entry by entry: arithmetic, casts, comparisons. Functions of operator_cases.TABLE."""
import numpy as np
from onnx import helper

from case import FLOATS, INTEGERS, two


def arithmetic(c):
    c.op = c.pick("Add", "Sub", "Mul", "Div", "Max", "Min")
    wide = [np.int32, np.int64] + ([np.uint32, np.uint64] if c.op not in ("Max", "Min") or c.opset >= 12 else [])
    narrow = [np.int8, np.uint8, np.int16, np.uint16] if c.opset >= 14 else []
    dtype = c.pick(*FLOATS, *wide, *narrow)
    if c.op in ("Max", "Min") and c.opset < 12:
        dtype = c.pick(*FLOATS)
    for i, part in enumerate(two(c)):
        if np.issubdtype(dtype, np.integer):
            values = c.whole(part, dtype) if c.chance(0.4) else c.integers(part, dtype, -9, 9)
            if c.op == "Div" and i == 1:
                values = np.where(values == 0, 3, values).astype(dtype)
                values = np.where(values == np.array(-1).astype(dtype), 2, values).astype(dtype)
        else:
            values = c.reals(part, dtype)
            if c.chance(0.3) and values.size:
                values.flat[c.below(values.size)] = c.pick(np.inf, -np.inf, np.nan, 0)
        c.data(values)


def mod(c):
    dtype = c.pick(np.int32, np.int64, np.int8, np.uint8, np.uint32, np.uint64, np.int16, np.float32, np.float64)
    a, b = two(c)
    is_real = np.issubdtype(dtype, np.floating)
    c.data(c.reals(a, dtype, 5) if is_real else c.whole(a, dtype) if c.chance(0.3) else c.integers(a, dtype, -20, 20))
    y = c.reals(b, dtype, 3) if is_real else c.integers(b, dtype, -7, 7)
    c.data(np.where(y == 0, 3, y).astype(dtype))
    if is_real or c.chance(0.4):
        c.attributes["fmod"] = 1


def power(c):
    a, b = two(c)
    dtype = c.pick(np.float32, np.float64, *([np.int32, np.int64] if c.opset >= 12 else []))
    other = c.pick(np.float32, np.float64, np.int32, np.int64) if c.opset >= 12 else dtype
    c.data(c.values(a, dtype) if c.chance(0.5) else np.abs(c.values(a, dtype)))
    c.data(c.integers(b, other, -2, 4) if np.issubdtype(other, np.integer) else
           c.pick(c.reals(b, other), c.integers(b, np.int64, -2, 4).astype(other)))


def clip(c):
    dtype = c.pick(np.float32, np.float64, np.float16, *([np.int32, np.int64, np.int8, np.uint8] if c.opset >= 12 else []))
    if c.opset < 11:
        dtype = np.float32
    x = c.data(c.values(c.shape(0, 3), dtype))
    if np.issubdtype(dtype, np.floating) and c.chance(0.3) and x.size:
        x.flat[0] = np.nan
    low, high = c.between(-3, 3), c.between(-3, 3)
    if np.issubdtype(dtype, np.unsignedinteger):
        low, high = abs(low), abs(high)
    for i, (name, value) in enumerate((("min", low), ("max", high))):
        if c.chance(0.3):
            if c.opset >= 11 and i == 0:
                c.omit()
            continue
        if c.opset < 11:
            c.attributes[name] = float(value)
        else:
            c.inputs.append(np.array(value, dtype))
            if c.chance(0.7):
                c.fixed.add(len(c.inputs) - 1)
    while c.inputs[-1] is None:
        c.inputs.pop()


def cast(c):
    source = c.pick(*FLOATS, *INTEGERS, np.bool_)
    target = c.pick(*FLOATS, *INTEGERS, np.bool_)
    shape = c.shape(0, 3)
    if source == np.bool_:
        c.data(c.values(shape, source))
    elif np.issubdtype(source, np.integer):
        c.data(c.whole(shape, source) if c.chance(0.6) else c.integers(shape, source, -300, 300))
    else:
        x = c.data(c.reals(shape, source, c.pick(3, 100)))
        if np.issubdtype(target, np.integer):
            info = np.iinfo(target)
            x[...] = np.clip(x.astype(np.float64), max(info.min, -6e4), min(info.max, 6e4)).astype(source)
    c.attributes["to"] = helper.np_dtype_to_tensor_dtype(np.dtype(target))


def compare(c):
    c.op = c.pick("Equal", "Less", "Greater", *(["LessOrEqual", "GreaterOrEqual"] if c.opset >= 12 else []))
    dtype = c.pick(np.float32, np.float64, np.int32, np.int64, *([np.bool_] if c.op == "Equal" else []),
                   *([np.uint64, np.uint8] if c.op != "Equal" or c.opset >= 11 else []))
    for part in two(c):
        c.data(c.whole(part, dtype) if np.issubdtype(dtype, np.integer) and c.chance(0.5) else c.values(part, dtype))


def unary(c):
    c.op = c.pick("Abs", "Neg", "Sign", "Relu", "Floor", "Ceil", "Round", "Sqrt", "Exp", "Log", "Reciprocal", "Sigmoid",
                  "Tanh", "Erf", "Softplus", "Softsign", "Not", "IsNaN", "IsInf", "Elu", "Selu", "LeakyRelu",
                  "HardSigmoid", "ThresholdedRelu", "Celu", "HardSwish", "Mish", "Gelu", "Shrink", "Size", "Identity",
                  "Atan", "Asinh", "Cosh", "Sin")
    if c.op == "Not":
        c.data(c.values(c.shape(), np.bool_))
        return
    whole = c.op in ("Abs", "Neg", "Sign", "Relu", "Size", "Identity") and c.chance(0.5) and c.opset >= 14
    dtype = c.pick(np.int32, np.int64, np.int8, *([np.uint8, np.uint64] if c.op in ("Abs", "Sign") else [])) if whole \
        else c.pick(np.float32, np.float32, np.float64, np.float16)
    x = c.data(c.whole(c.shape(), dtype) if whole else c.reals(c.shape(), dtype, c.pick(1, 4, 10)))
    if not whole and x.size and c.chance(0.4):
        x.flat[c.below(x.size)] = c.pick(np.inf, -np.inf, np.nan, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5)
    if c.op in ("Elu", "LeakyRelu", "ThresholdedRelu", "Celu", "HardSigmoid", "Selu") and c.chance(0.6):
        c.attributes["alpha"] = c.pick(0.5, 2.0, 0.1)
    if c.op == "Shrink":
        c.attributes.update(lambd=c.pick(0.5, 1.0, 0.0), bias=c.pick(0.0, 0.5))
    if c.op == "Gelu" and c.chance(0.5):
        c.attributes["approximate"] = c.pick("tanh", "none")
    if c.op == "IsInf":
        c.attributes.update(detect_positive=c.pick(0, 1), detect_negative=c.pick(0, 1))


def complement(c):
    c.data(c.whole(c.shape(), c.pick(*(np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)))))


def where(c):
    shape = c.shape(0, 3)
    parts = [[n if c.chance(0.7) else 1 for n in shape] for _ in range(3)]
    dtype = c.pick(np.float32, np.int64, np.bool_, np.int32, np.uint8)
    c.data(c.values(parts[0], np.bool_))
    c.data(c.values(parts[1], dtype))
    c.data(c.values(parts[2], dtype))


def logic(c):
    c.op = c.pick("And", "Or", "Xor")
    for part in two(c):
        c.data(c.values(part, np.bool_))


def variadic(c):
    c.op = c.pick("Sum", "Max", "Min", "Mean")
    shape, dtype = c.shape(0, 3), c.pick(np.float32, np.float64)
    for _ in range(c.between(1, 4)):
        c.data(c.reals([n if c.chance(0.7) else 1 for n in shape], dtype))


TABLE = [
    (arithmetic, None, 4), (mod, "Mod", 2), (power, "Pow", 2), (clip, "Clip", 3), (cast, "Cast", 4),
    (compare, None, 2), (unary, None, 5), (complement, "BitwiseNot", 1), (where, "Where", 1), (logic, None, 1),
    (variadic, None, 1),
]
