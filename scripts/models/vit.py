"""The Vision Transformer, with patches of 16 and the LayerNormalization operator: patches by a convolution, a class
token, one product for query, key and value, taken apart by Transpose and Gather."""

import numpy as np

from models.layers import conv, gelu, gemm, layer_norm, linear, reshape, transpose


def attention(g, x, heads):
    _, length, width = x.shape
    qkv = reshape(g, linear(g, x, 3 * width, name="qkv"), 1, length, 3, heads, width // heads)
    qkv = transpose(g, qkv, 2, 0, 3, 1, 4)
    q, k, v = (g.node("Gather", qkv, g.constant(i, np.int64), axis=0) for i in range(3))
    q = g.node("Mul", q, g.constant((width / heads) ** -0.5))
    weights = g.node("Softmax", g.node("MatMul", q, transpose(g, k, 0, 1, 3, 2)), axis=-1)
    mixed = transpose(g, g.node("MatMul", weights, v), 0, 2, 1, 3)
    return linear(g, reshape(g, mixed, 1, length, width), width, name="proj")


def block(g, x, heads, feed_forward):
    with g.scope("attn"):
        x = g.node("Add", x, attention(g, layer_norm(g, x, 1e-6), heads))
    with g.scope("mlp"):
        y = gelu(g, linear(g, layer_norm(g, x, 1e-6), feed_forward, name="fc1"))
        return g.node("Add", x, linear(g, y, x.shape[-1], name="fc2"))


def patches(g, image, patch, width):
    """The embedded patches as a sequence, after the class token."""
    x = conv(g, g.input("input", (1, 3, image, image)), width, patch, patch, (0, 0, 0, 0), name="patch_embed")
    x = transpose(g, reshape(g, x, 1, width, -1), 0, 2, 1)
    x = g.node("Concat", g.weight("cls_token", g.uniform((1, 1, width))), x, axis=1)
    return g.node("Add", x, g.weight("pos_embed", g.uniform(x.shape, -0.5, 0.5)))


def vit(g, image, patch, layers, width, heads, feed_forward, classes):
    x = patches(g, image, patch, width)
    for i in range(layers):
        with g.scope(f"blocks.{i}"):
            x = block(g, x, heads, feed_forward)
    x = g.node("Gather", layer_norm(g, x, 1e-6), g.constant(0, np.int64), axis=1)
    g.output(gemm(g, x, classes, name="head"))
