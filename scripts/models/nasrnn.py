"""NasRNN as TASO measured it: per step eight sums x.W + h.U, combined by a tree of element-wise operators."""

from models.layers import linear


def gate(g, x, h, name):
    """x.W + h.U"""
    products = (linear(g, y, h.shape[1], bias=False, name=f"{name}.{i}") for y, i in ((x, "x"), (h, "h")))
    return g.node("Add", *products)


def step(g, x, h):
    t = [gate(g, x, h, f"gate{i}") for i in range(8)]
    relu, sigmoid, tanh = ((lambda x, kind=kind: g.node(kind, x)) for kind in ("Relu", "Sigmoid", "Tanh"))
    a = g.node("Add", relu(t[0]), sigmoid(t[3]))
    b = g.node("Add", sigmoid(t[1]), tanh(t[2]))
    c = g.node("Mul", sigmoid(t[4]), tanh(t[5]))
    d = g.node("Mul", sigmoid(t[6]), relu(t[7]))
    b_c = g.node("Add", sigmoid(b), tanh(c))
    a_d = g.node("Mul", tanh(a), tanh(d))
    return tanh(g.node("Mul", tanh(b_c), tanh(a_d)))


def nasrnn(g, steps, hidden):
    xs = [g.input(f"x{i}", (1, hidden)) for i in range(steps)]
    h = g.weight("state", g.uniform((1, hidden)))
    for i, x in enumerate(xs):
        with g.scope(f"step{i}"):
            h = step(g, x, h)
    g.output(h)
