"""Random nodes of windows: convolutions, poolings, resizing. Functions of operator_cases.TABLE."""
import numpy as np


def windows(c, n, image, has_dilations, has_ceil):
    kernel = [c.between(1, 3) for _ in range(n)]
    if c.chance(0.8):
        c.attributes["strides"] = [c.between(1, 3) for _ in range(n)]
    if has_dilations and c.chance(0.4):
        c.attributes["dilations"] = [c.between(1, 2) for _ in range(n)]
    how = c.pick("pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    if how == "pads":
        c.attributes["pads"] = [c.between(0, 2) for _ in range(2 * n)]
    elif how != "none":
        c.attributes["auto_pad"] = how
    if has_ceil and c.chance(0.5):
        c.attributes["ceil_mode"] = c.pick(0, 1)
    return kernel


def image(c, n, channels=None):
    return [c.between(1, 2), channels or c.between(1, 4), *(c.between(3, 8) for _ in range(n))]


def pool(c):
    c.op = c.pick("MaxPool", "AveragePool")
    n = c.pick(1, 2, 2, 2, 3)
    x = c.data(c.reals(image(c, n)) - c.pick(0, 5))
    is_max = c.op == "MaxPool"
    c.attributes["kernel_shape"] = windows(c, n, x.shape, c.opset >= (10 if is_max else 19), c.opset >= 10)
    if not is_max and c.chance(0.6):
        c.attributes["count_include_pad"] = c.pick(0, 1)


def global_pool(c):
    c.op = c.pick("GlobalMaxPool", "GlobalAveragePool")
    c.data(c.reals(image(c, c.between(1, 3))))


def conv(c):
    n, groups = c.pick(1, 2, 2, 2, 3), c.pick(1, 1, 2, 3)
    x = c.data(c.reals(image(c, n, groups * c.between(1, 2))))
    kernel = windows(c, n, x.shape, True, False)
    filters = groups * c.between(1, 2)
    c.data(c.reals([filters, x.shape[1] // groups, *kernel]))
    if c.chance(0.5):
        c.data(c.reals([filters]))
    if groups > 1 or c.chance(0.5):
        c.attributes["group"] = groups
    if c.chance(0.5):
        c.attributes["kernel_shape"] = kernel


def conv_transpose(c):
    n, groups = c.pick(1, 2, 2, 2), c.pick(1, 1, 2)
    x = c.data(c.reals(image(c, n, groups * c.between(1, 2))))
    kernel = windows(c, n, x.shape, True, False)
    if c.chance(0.2):   # each entry becomes a block
        for name in ("dilations", "pads", "auto_pad"):
            c.attributes.pop(name, None)
        c.attributes["strides"] = list(kernel)
    filters = c.between(1, 2)
    c.data(c.reals([x.shape[1], filters, *kernel]))
    if c.chance(0.5):
        c.data(c.reals([filters * groups]))
    if groups > 1:
        c.attributes["group"] = groups
    strides = c.attributes.get("strides", [1] * n)
    if c.chance(0.4):
        c.attributes["output_padding"] = [c.between(0, max(0, s - 1)) for s in strides]
    if c.chance(0.3):
        c.attributes["output_shape"] = [s * k + c.between(-1, 1) for s, k in zip(x.shape[2:], strides)]


def resize(c):
    if c.opset < 11:
        x = c.data(c.reals(image(c, 2)))
        c.size_input([1, 1, c.pick(1, 2, 1.5, 0.6), c.pick(1, 2, 3, 0.5)], np.float32)
        if c.chance(0.8):
            c.attributes["mode"] = c.pick("nearest", "linear")
        return
    x = c.data(c.reals(image(c, c.pick(1, 2, 2)), c.pick(np.float32, np.float32, np.float64)))
    c.omit()
    n, first = x.ndim - 2, [1, 1]
    axes = list(range(2, x.ndim))[::c.pick(1, -1)]
    if c.opset >= 18 and c.chance(0.5):
        c.attributes["axes"], first = [axis - c.pick(0, x.ndim) for axis in axes], []
    if c.chance(0.6):
        c.size_input([*first, *(c.pick(1, 2, 3, 0.5, 0.6, 1.5, 2.3, 1.0 / 3) for _ in range(n))], np.float32)
    else:
        c.omit()
        c.size_input([*(x.shape[:2] if first else []), *(c.between(1, 9) for _ in range(n))])
    if c.chance(0.9):
        c.attributes["mode"] = c.pick("nearest", "linear", "cubic")
    modes = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
             *(["half_pixel_symmetric"] if c.opset >= 19 else [])]
    if c.chance(0.8):
        c.attributes["coordinate_transformation_mode"] = c.pick(*modes)
    if c.chance(0.7):
        c.attributes["nearest_mode"] = c.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if c.chance(0.3):
        c.attributes["exclude_outside"] = c.pick(0, 1)
    if c.chance(0.3):
        c.attributes["cubic_coeff_a"] = c.pick(-0.5, -0.75)


TABLE = [
    (pool, None, 6), (global_pool, None, 1), (conv, "Conv", 3), (conv_transpose, "ConvTranspose", 4),
    (resize, "Resize", 6),
]
