"""The layer of Longformer that EinNet (Zheng et al., OSDI 2023) was evaluated on: each position attends to those of a band,
`reach` on either side of it in steps of `dilation`. ONNX has no product of a matrix and a band, so that it is written with
products of blocks, as exporters do: a block of queries is multiplied with all keys that its bands reach over, rows are
shifted by padding and reshaping, and every dilation-th column is taken."""

import numpy as np

from models.evaluation import softmax
from models.layers import linear, relu, reshape, transpose


def integers(g, *values):
    return g.constant(values, np.int64)


def shaped(*shape):
    """A value of this shape that takes no memory, for what is not calibrated by."""
    return [np.broadcast_to(np.zeros(1), shape)]


class Band:
    """`length` positions in blocks of `block`; `side` columns on either side of the middle one."""

    def __init__(self, length, block, side, dilation):
        self.length, self.block, self.side, self.dilation = length, block, side, dilation
        self.reach = side * dilation
        self.blocks, self.columns, self.wide = length // block, 2 * side + 1, block + 2 * self.reach


def windows(g, x, band):
    """What each block reaches over, [heads, length, d] to [heads, blocks, wide, d]."""
    heads, _, d = x.shape
    pads = integers(g, 0, band.reach, 0, 0, band.reach, 0)
    x = g.node("Pad", x, pads, values=shaped(heads, band.length + 2 * band.reach, d))
    starts = [block * band.block for block in range(band.blocks)]
    parts = [g.node("Slice", x, integers(g, s), integers(g, s + band.wide), integers(g, 1),
                    values=shaped(heads, band.wide, d)) for s in starts]
    x = g.node("Concat", *parts, axis=1, values=shaped(heads, band.blocks * band.wide, d)) if len(parts) > 1 else x
    return reshape(g, x, heads, band.blocks, band.wide, d)


def reshaped(g, x, *shape):
    return g.node("Reshape", x, integers(g, *shape), values=shaped(*shape))


def padded_behind(g, x, count):
    rank = len(x.shape)
    pads = integers(g, *[0] * (2 * rank - 1), count)
    return g.node("Pad", x, pads, values=shaped(*x.shape[:-1], x.shape[-1] + count))


def columns(g, x, end, step=1):
    count = -(-end // step)
    return g.node("Slice", x, integers(g, 0), integers(g, end), integers(g, -1), integers(g, step),
                  values=shaped(*x.shape[:-1], count))


def band_of_products(g, x, band):
    """Row m of a block from column m on, in steps: [.., block, wide] to [.., block, columns]."""
    outer = x.shape[:2]
    flat = padded_behind(g, reshaped(g, x, *outer, band.block * band.wide), band.block)
    return columns(g, reshaped(g, flat, *outer, band.block, band.wide + 1), 2 * band.reach + 1, band.dilation)


def products_of_band(g, x, band):
    """The other way round, zeros between."""
    outer = x.shape[:2]
    if band.dilation > 1:
        x = padded_behind(g, reshaped(g, x, *outer, band.block, band.columns, 1), band.dilation - 1)
        x = reshaped(g, x, *outer, band.block, band.columns * band.dilation)
    x = padded_behind(g, x, band.wide + 1 - x.shape[-1])
    flat = columns(g, reshaped(g, x, *outer, band.block * (band.wide + 1)), band.block * band.wide)
    return reshaped(g, flat, *outer, band.block, band.wide)


def mixed_by_blocks(q, k, v, band):
    """What the attention gives, a block at a time."""
    pads = [(0, 0), (band.reach, band.reach), (0, 0)]
    k, v = np.pad(k, pads), np.pad(v, pads)
    y = np.empty(q.shape)
    for head in range(len(q)):
        for start in range(0, band.length, band.block):
            rows, seen = slice(start, start + band.block), slice(start, start + band.wide)
            places = np.arange(band.block)[:, None] + band.dilation * np.arange(band.columns)
            scores = np.take_along_axis(q[head, rows] @ k[head, seen].T, places, 1)
            weights = np.zeros((band.block, band.wide))
            np.put_along_axis(weights, places, softmax(scores), 1)
            y[head, rows] = weights @ v[head, seen]
    return y


def attention(g, x, heads, band):
    _, length, width = x.shape
    q, k, v = (linear(g, x, width, bias=False, name=name) for name in ("query", "key", "value"))
    q = g.node("Div", q, g.constant((width // heads) ** 0.5))
    q, k, v = (transpose(g, reshape(g, part, 1, length, heads, width // heads), 0, 2, 1, 3) for part in (q, k, v))
    q, k, v = (reshape(g, part, heads, length, width // heads) for part in (q, k, v))
    blocks = reshape(g, q, heads, band.blocks, band.block, width // heads)
    keys = g.node("Transpose", windows(g, k, band), perm=[0, 1, 3, 2], values=shaped(heads, band.blocks, width // heads, band.wide))
    scores = g.node("MatMul", blocks, keys, values=shaped(heads, band.blocks, band.block, band.wide))
    scores = band_of_products(g, scores, band)
    weights = g.node("Softmax", scores, axis=-1, values=shaped(*scores.shape))
    mixed = mixed_by_blocks(q.value, k.value, v.value, band).reshape(blocks.shape)
    mixed = g.node("MatMul", products_of_band(g, weights, band), windows(g, v, band), values=[mixed])
    mixed = transpose(g, reshape(g, mixed, 1, heads, length, width // heads), 0, 2, 1, 3)
    return reshape(g, mixed, 1, length, width)


def longformer(g, length, width, heads, block, side, dilation):
    x = g.input("positions", (1, length, width))
    with g.scope("attention"):
        mixed = attention(g, x, heads, Band(length, block, side, dilation))
    with g.scope("feed_forward"):
        y = relu(g, linear(g, mixed, width, name="first"))
        y = relu(g, linear(g, y, width, name="second"))
    g.output(g.node("Add", y, x))
