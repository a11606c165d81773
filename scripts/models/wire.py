"""Protobuf's wire format: a message is a series of fields, a field is a tag (number << 3 | type) and its value."""

VARINT, FIXED64, BYTES, GROUP_START, GROUP_END, FIXED32 = range(6)


def varint(value):
    """Seven bits a byte, the lowest first; negative numbers as 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def tag(number, kind):
    return varint(number << 3 | kind)


def integer(number, value):
    return tag(number, VARINT) + varint(value)


def data(number, content):
    return tag(number, BYTES) + varint(len(content)) + content


def data_of_claimed_length(number, length, content):
    return tag(number, BYTES) + varint(length) + content


def nested(layers, innermost):
    """Messages within one another, the first layer outermost. Each layer is a list of (field number, bytes before) from
    the outside to the inside: in linear time, for any depth."""
    heads, length = [], len(innermost)
    for layer in reversed(layers):
        for number, before in reversed(layer):
            head = before + tag(number, BYTES) + varint(length)
            heads.append(head)
            length += len(head)
    return b"".join(reversed(heads)) + innermost
