"""GPT-2 (the body, without the language head) with a symbolic batch and sequence: shapes are computed in the graph by
Shape, Gather, Concat and Reshape as exporters write them; linear layers are Gemm between two Reshape, and the causal
mask is cut by Slice from a constant triangle."""

import numpy as np

from models.layers import gelu_tanh, layer_norm_decomposed as norm, scale_to_spread

LARGEST_NEGATIVE = np.finfo(np.float32).min


def integers(g, *values):
    return g.constant(values, np.int64)


def dimension(g, x, axis):
    """One dimension as a tensor of rank zero."""
    return g.node("Gather", g.node("Shape", x), g.constant(axis, np.int64), axis=0)


def reshape_by(g, x, *sizes):
    """Reshape to sizes of which each is a number or a tensor of rank zero."""
    parts = [integers(g, s) if isinstance(s, int) else g.node("Unsqueeze", s, integers(g, 0)) for s in sizes]
    return g.node("Reshape", x, g.node("Concat", *parts, axis=0))


def linear(g, x, features, name, spread=1.0):
    """GPT-2's Conv1D: all positions of all batches are the rows of one Gemm."""
    rows = g.node("Reshape", x, integers(g, -1, x.shape[-1]))
    weights = g.uniform((x.shape[-1], features))
    values = scale_to_spread(weights, g.evaluate("Gemm", rows.value, weights), spread)
    with g.scope(name):
        bias = g.uniform(features, -0.1 * spread, 0.1 * spread)
        inputs = [rows, g.weight("weight", weights), g.weight("bias", bias)]
        rows = g.node("Gemm", *inputs, values=[values + bias], alpha=1.0, beta=1.0)
    return reshape_by(g, rows, dimension(g, x, 0), dimension(g, x, 1), features)


def masked(g, scores, triangle):
    """Scores where the triangle, cut to their size, is true."""
    rows, columns = (g.node("Unsqueeze", dimension(g, scores, axis), integers(g, 0)) for axis in (2, 3))
    mask = triangle
    for axis, size in ((2, rows), (3, columns)):
        mask = g.node("Slice", mask, integers(g, 0), size, integers(g, axis), integers(g, 1))
    return g.node("Where", mask, scores, g.constant(LARGEST_NEGATIVE))


def attention(g, x, heads, triangle):
    width = x.shape[-1]
    batch, length = dimension(g, x, 0), dimension(g, x, 1)
    qkv = g.node("Split", linear(g, x, 3 * width, "c_attn"), integers(g, width, width, width), outputs=3, axis=2)
    q, k, v = (reshape_by(g, part, batch, length, heads, width // heads) for part in qkv)
    q, v = (g.node("Transpose", part, perm=[0, 2, 1, 3]) for part in (q, v))
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 2, 3, 1]))
    scores = g.node("Div", scores, g.constant((width / heads) ** 0.5))
    weights = g.node("Softmax", masked(g, scores, triangle), axis=-1)
    mixed = g.node("Transpose", g.node("MatMul", weights, v), perm=[0, 2, 1, 3])
    return linear(g, reshape_by(g, mixed, batch, length, width), width, "c_proj")


def block(g, x, heads, triangle):
    with g.scope("attn"):
        x = g.node("Add", attention(g, norm(g, x), heads, triangle), x)
    with g.scope("mlp"):
        y = gelu_tanh(g, linear(g, norm(g, x), 4 * x.shape[-1], "c_fc"))
        return g.node("Add", x, linear(g, y, x.shape[-1], "c_proj"))


def embed(g, ids, vocabulary, positions, width):
    tokens = g.node("Gather", g.weight("wte.weight", g.uniform((vocabulary, width))), ids, axis=0)
    order = g.node("Range", g.constant(0, np.int64), dimension(g, ids, 1), g.constant(1, np.int64))
    order = g.node("Unsqueeze", order, integers(g, 0))
    places = g.node("Gather", g.weight("wpe.weight", g.uniform((positions, width), -0.5, 0.5)), order, axis=0)
    return g.node("Add", tokens, places)


def gpt2(g, layers, length, width, heads, vocabulary, positions):
    ids = g.input("input_ids", (1, length), below=vocabulary, symbols=("batch", "sequence"))
    x = embed(g, ids, vocabulary, positions, width)
    triangle = g.weight("bias", np.tril(np.ones((1, 1, positions, positions), bool)))
    for i in range(layers):
        with g.scope(f"h.{i}"):
            x = block(g, x, heads, triangle)
    g.output(norm(g, x), "last_hidden_state", symbols=("batch", "sequence", width))
