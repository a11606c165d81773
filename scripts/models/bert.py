"""BERT's encoder as exporters wrote it before opset 17: layer normalization decomposed, GELU in the erf form, heads
made by Reshape and Transpose. The input is the sum of the embeddings. And the graph that TASO and Tensat measured under
this name: attention without softmax, scale, bias, normalization or feed-forward layers."""

import numpy as np

from models.layers import gelu, gemm, layer_norm_decomposed, linear, reshape, transpose


def attention(g, x, heads):
    _, length, width = x.shape
    query, key, value = (
        reshape(g, linear(g, x, width, name=name), 1, length, heads, width // heads)
        for name in ("query", "key", "value")
    )
    scores = g.node("MatMul", transpose(g, query, 0, 2, 1, 3), transpose(g, key, 0, 2, 3, 1))
    scores = g.node("Div", scores, g.constant((width / heads) ** 0.5))
    mixed = g.node("MatMul", g.node("Softmax", scores, axis=-1), transpose(g, value, 0, 2, 1, 3))
    return linear(g, reshape(g, transpose(g, mixed, 0, 2, 1, 3), 1, length, width), width, name="output")


def layer(g, x, heads, feed_forward):
    with g.scope("attention"):
        x = layer_norm_decomposed(g, g.node("Add", attention(g, x, heads), x), 1e-12)
    y = gelu(g, linear(g, x, feed_forward, name="intermediate"))
    return layer_norm_decomposed(g, g.node("Add", linear(g, y, x.shape[-1], name="output"), x), 1e-12)


def bert(g, layers, length, width, heads, feed_forward):
    x = layer_norm_decomposed(g, g.input("embeddings", (1, length, width)), 1e-12, name="embeddings.norm")
    for i in range(layers):
        with g.scope(f"encoder.layer.{i}"):
            x = layer(g, x, heads, feed_forward)
    g.output(x, "last_hidden_state")
    first = g.node("Gather", x, g.constant(0, np.int64), axis=1)
    g.output(g.node("Tanh", gemm(g, first, width, name="pooler")), "pooler_output")


def taso_attention(g, x, heads, corrected):
    """q.k.v per head, of order one where the weights are this small; the corrected form scales and normalizes q.k'."""
    length, width = x.shape
    size = width // heads
    spreads = (1.0, 1.0, 1.0) if corrected else (size**-0.25, size**-0.25, size**-0.5)
    q, k, v = (
        reshape(g, linear(g, x, width, False, spread, name), length, heads, size)
        for name, spread in zip(("query", "key", "value"), spreads)
    )
    scores = g.node("MatMul", transpose(g, q, 1, 0, 2), transpose(g, k, *((1, 2, 0) if corrected else (1, 0, 2))))
    if corrected:
        scores = g.node("Softmax", g.node("Div", scores, g.constant(size**0.5)), axis=-1)
    mixed = g.node("MatMul", scores, transpose(g, v, 1, 0, 2))
    return reshape(g, transpose(g, mixed, 1, 0, 2), length, width)


def taso_bert(g, layers, width, heads, corrected):
    """As published, each layer projects its *input*, and the attention is a dead end: it is an output of its own here.
    The corrected form projects the attention, and has its scale, its transposed keys and its softmax (without which
    the network is a polynomial of degree 3 to the number of layers)."""
    x = g.input("input", (width // heads, width))
    x = g.node("Relu", x)
    for i in range(layers):
        with g.scope(f"layer{i}"):
            mixed = taso_attention(g, x, heads, corrected)
            x = linear(g, mixed if corrected else x, width, bias=False, name="linear")
        if not corrected:
            g.output(mixed, f"attention{i}")
    g.output(x)
