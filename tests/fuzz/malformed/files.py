"""Files broken as bytes: cut, flipped, overwritten, and against the rules of the wire format."""

import random

from malformed.case import REJECT, SURVIVE, Case, convolutional_model, serialized
from models.wire import FIXED32, GROUP_END, GROUP_START, data, data_of_claimed_length, integer, nested, tag, varint

GRAPH_OF_MODEL, NODE_OF_GRAPH, INITIALIZER_OF_GRAPH, RAW_DATA_OF_TENSOR = 7, 1, 5, 9
TRUNCATIONS, FLIPS = 120, 240


def cut(good, graph):
    """Cut within the graph, a length always overruns; behind it, what is missing may be optional."""
    start = good.index(graph)
    for i in range(TRUNCATIONS):
        offset = i * len(good) // TRUNCATIONS
        inside = offset < start + len(graph)
        yield Case(f"cut-at-{offset}", REJECT if inside else SURVIVE, good[:offset])


def flipped(good, seed):
    """One to eight bits flipped; every eighth of the cases in the first hundred bytes."""
    chance = random.Random(seed)
    for i in range(FLIPS):
        content = bytearray(good)
        for _ in range(1 << i % 4):
            at = chance.randrange(100 if i % 8 == 0 else len(content))
            content[at] ^= 1 << chance.randrange(8)
        yield Case(f"flipped-{i}", SURVIVE, bytes(content))


def overwritten(good, seed):
    """A run of bytes set to one value, removed, or doubled."""
    chance = random.Random(seed)
    for i in range(60):
        start, length = chance.randrange(len(good)), chance.randrange(1, 40)
        middle = (bytes([0xFF]) * length, b"\0" * length, b"", good[start : start + length] * 2)[i % 4]
        yield Case(f"overwritten-{i}", SURVIVE, good[:start] + middle + good[start + length :])


def not_models(seed):
    chance = random.Random(seed)
    yield Case("empty", REJECT, b"")
    yield Case("one-byte", REJECT, b"\x08")
    yield Case("text", REJECT, b"This is not a model.\n")
    yield Case("zeros", REJECT, b"\0" * 4096)
    yield Case("ones", REJECT, b"\xff" * 4096)
    for i in range(20):
        yield Case(f"random-{i}", SURVIVE, chance.randbytes(1 << i % 12))


def against_the_wire_format(graph):
    version = integer(1, 7)
    opset = data(8, data(1, b"") + integer(2, 13))
    whole = version + opset + data(GRAPH_OF_MODEL, graph)
    graphless = version + opset
    yield Case("no-graph", REJECT, graphless)
    yield Case("graph-is-a-number", REJECT, graphless + integer(GRAPH_OF_MODEL, 5))
    yield Case("field-number-zero", REJECT, whole + b"\x00\x00")
    for kind in (6, 7):
        yield Case(f"wire-type-{kind}", REJECT, whole + tag(100, kind) + b"\0\0\0\0")
    yield Case("endless-varint", REJECT, whole + tag(100, 0) + b"\x80" * 64)
    yield Case("varint-of-eleven-bytes", REJECT, whole + tag(100, 0) + b"\x80" * 10 + b"\x01")
    yield Case("cut-fixed32", REJECT, whole + tag(100, FIXED32) + b"\0\0")
    yield Case("group-never-ended", REJECT, whole + tag(100, GROUP_START))
    yield Case("group-never-started", REJECT, whole + tag(100, GROUP_END))
    yield Case("groups-10000-deep", REJECT, whole + tag(100, GROUP_START) * 10000)
    for bits in (31, 32, 62, 63, 64):
        claimed = data_of_claimed_length(100, (1 << bits) - 1, b"abc")
        yield Case(f"length-of-{bits}-bits", REJECT, whole + claimed)
    for excess in (1, 2, 1 << 20, (1 << 63) - 1):
        content = data_of_claimed_length(GRAPH_OF_MODEL, len(graph) + excess, graph)
        yield Case(f"graph-longer-by-{excess}", REJECT, version + opset + content)
    overrun = data_of_claimed_length(RAW_DATA_OF_TENSOR, 1000, b"\0" * 90)
    overrun = data_of_claimed_length(INITIALIZER_OF_GRAPH, 100, overrun)
    yield Case("inner-longer-than-outer", REJECT, graphless + data(GRAPH_OF_MODEL, graph + overrun))
    yield Case("ir-version-huge", SURVIVE, integer(1, 1 << 40) + opset + data(GRAPH_OF_MODEL, graph))
    yield Case("ir-version-negative", SURVIVE, integer(1, -1) + opset + data(GRAPH_OF_MODEL, graph))
    yield Case("no-opset", SURVIVE, version + data(GRAPH_OF_MODEL, graph))
    huge = data(8, data(1, b"") + integer(2, (1 << 63) - 1))
    yield Case("opset-huge", SURVIVE, version + huge + data(GRAPH_OF_MODEL, graph))
    yield Case("unknown-fields-kept", SURVIVE, whole + data(100, b"unknown") + nested([[(101, b"")]] * 20, varint(1)))


def cases(seed):
    model = convolutional_model()
    good, graph = serialized(model), serialized(model.graph)
    yield from cut(good, graph)
    yield from flipped(good, seed)
    yield from overwritten(good, seed)
    yield from not_models(seed)
    yield from against_the_wire_format(graph)
