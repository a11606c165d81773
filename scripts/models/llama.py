"""Llama's decoder blocks: RMS normalization, rotary positions, fewer key and value heads than query heads, SwiGLU, no
biases. The input is the embedded sequence; the tables of cosines and the causal mask are initializers."""

import numpy as np

from models.builder import rounded
from models.layers import linear, reshape, swish, transpose

ROTARY_BASE = 10000.0


def rms_norm(g, x, epsilon=1e-5, name="norm"):
    square = g.node("Pow", x, g.constant(2.0))
    mean = g.node("ReduceMean", square, g.constant([-1], np.int64), keepdims=1)
    scale = g.node("Div", g.constant(1.0), g.node("Sqrt", g.node("Add", mean, g.constant(epsilon))))
    with g.scope(name):
        return g.node("Mul", g.weight("weight", g.uniform(x.shape[-1], 0.8, 1.2)), g.node("Mul", x, scale))


class Positions:
    """What all blocks share: the rotation of each position, and which positions may be seen."""

    def __init__(self, g, length, size):
        frequencies = ROTARY_BASE ** (-np.arange(0, size, 2) / size)
        angles = np.concatenate([np.outer(np.arange(length), frequencies)] * 2, axis=1)[None, None]
        self.cos = g.weight("rotary.cos", rounded(np.cos(angles)))
        self.sin = g.weight("rotary.sin", rounded(np.sin(angles)))
        hidden = np.triu(np.full((1, 1, length, length), np.finfo(np.float32).min, np.float32), 1)
        self.mask = g.weight("causal_mask", hidden)


def half(g, x, start, stop):
    return g.node("Slice", x, *(g.constant([v], np.int64) for v in (start, stop, 3)))


def rotate(g, x, positions):
    """x . cos + (-second half, first half) . sin"""
    size = x.shape[-1]
    turned = g.node("Concat", g.node("Neg", half(g, x, size // 2, size)), half(g, x, 0, size // 2), axis=-1)
    return g.node("Add", g.node("Mul", x, positions.cos), g.node("Mul", turned, positions.sin))


def split_heads(g, x, heads):
    return transpose(g, reshape(g, x, 1, x.shape[1], heads, x.shape[2] // heads), 0, 2, 1, 3)


def repeat_heads(g, x, times):
    """Each key or value head once per query head that shares it."""
    _, heads, length, size = x.shape
    x = g.node("Unsqueeze", x, g.constant([2], np.int64))
    x = g.node("Expand", x, g.constant([1, heads, times, length, size], np.int64))
    return reshape(g, x, 1, heads * times, length, size)


def attention(g, x, heads, key_heads, positions):
    _, length, width = x.shape
    size, times = width // heads, heads // key_heads
    q = rotate(g, split_heads(g, linear(g, x, width, bias=False, name="q_proj"), heads), positions)
    k = rotate(g, split_heads(g, linear(g, x, size * key_heads, bias=False, name="k_proj"), key_heads), positions)
    v = split_heads(g, linear(g, x, size * key_heads, bias=False, name="v_proj"), key_heads)
    if times > 1:
        k, v = repeat_heads(g, k, times), repeat_heads(g, v, times)
    scores = g.node("MatMul", q, transpose(g, k, 0, 1, 3, 2))
    scores = g.node("Add", g.node("Div", scores, g.constant(size**0.5)), positions.mask)
    mixed = transpose(g, g.node("MatMul", g.node("Softmax", scores, axis=-1), v), 0, 2, 1, 3)
    return linear(g, reshape(g, mixed, 1, length, width), width, bias=False, name="o_proj")


def feed_forward(g, x, inner):
    gated = swish(g, linear(g, x, inner, bias=False, name="gate_proj"))
    both = g.node("Mul", gated, linear(g, x, inner, bias=False, name="up_proj"))
    return linear(g, both, x.shape[-1], bias=False, name="down_proj")


def block(g, x, heads, key_heads, inner, positions):
    with g.scope("self_attn"):
        x = g.node("Add", x, attention(g, rms_norm(g, x), heads, key_heads, positions))
    with g.scope("mlp"):
        return g.node("Add", x, feed_forward(g, rms_norm(g, x), inner))


def llama(g, layers, length, width, heads, key_heads, inner):
    x = g.input("inputs_embeds", (1, length, width))
    positions = Positions(g, length, width // heads)
    for i in range(layers):
        with g.scope(f"model.layers.{i}"):
            x = block(g, x, heads, key_heads, inner, positions)
    g.output(rms_norm(g, x), "last_hidden_state")
