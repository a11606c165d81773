#!/usr/bin/env python3
"""scripts/taso-rules on files made here: `check_taso.py TASO-VERIFY TASO-RULES`.

What it writes is read and judged as the rules deserve; a file that cannot be read is refused with the rule's number.
"""
import pathlib
import subprocess
import sys
import tempfile


def varint(value):
    """Protobuf's; negative ones as 64 bits."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(encoded + bytes([value]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def operator(kind, inputs, parameters=()):
    """An operator of TASO's format: its number, inputs (operator, output), parameters (key, value)."""
    pairs = [(2, pair) for pair in inputs] + [(3, pair) for pair in parameters]
    return field(1, kind) + b"".join(field(n, field(1, a) + field(2, b)) for n, (a, b) in pairs)


def rule(source, target, outputs=((0, 0, 0, 0),)):
    maps = [b"".join(field(i + 1, value) for i, value in enumerate(output)) for output in outputs]
    return field(1, b"".join([field(1, op) for op in source] + [field(2, op) for op in target] +
                             [field(3, one) for one in maps]))


CONV, RELU, CONCAT, SPLIT, ADD, MATMUL, CONSTANT = 3, 8, 12, 13, 16, 18, 25
X, Y, Z = (-1, 0), (-2, 0), (-3, 0)
ROWS = [(10, 2), (11, 0)]   # two axes, joined on the first
SAME = [(4, 3), (5, 3), (6, 1), (7, 1), (8, 0)]
RULES = [
    rule([operator(CONCAT, [X, Y], ROWS), operator(RELU, [(0, 0)])],
         [operator(RELU, [X]), operator(RELU, [Y]), operator(CONCAT, [(0, 0), (1, 0)], ROWS)], [(1, 2, 0, 0)]),
    rule([operator(MATMUL, [X, Z]), operator(MATMUL, [Y, Z])],
         [operator(CONCAT, [X, Y], ROWS), operator(MATMUL, [(0, 0), Z]), operator(SPLIT, [(1, 0)], [(11, 0)])],
         [(0, 2, 0, 0), (1, 2, 0, 1)]),
    rule([operator(CONV, [X, Z], SAME), operator(CONV, [Y, Z], SAME), operator(ADD, [(0, 0), (1, 0)])],
         [operator(ADD, [X, Y]), operator(CONV, [(0, 0), Z], SAME)], [(2, 1, 0, 0)]),
    rule([operator(ADD, [X, Y])], [operator(MATMUL, [X, Y])]),
]
VERDICTS = ["proved", "proved", "proved", "refuted"]
PLAIN = operator(RELU, [X])
REFUSED = {
    "the protobuf is malformed": b"\xff" * 20,
    "operator 25 has no counterpart": rule([operator(CONSTANT, [])], [PLAIN]),
    "an operator reads one that is not before it": rule([operator(RELU, [(0, 0)])], [PLAIN]),
    "it has no output": rule([PLAIN], [PLAIN], []),
    "what SAME pads depends on sizes": rule([operator(CONV, [X, Y], [(4, 2), (5, 2), (6, 1), (7, 1)])], [PLAIN]),
}


def main():
    program, script = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        published, rules = pathlib.Path(name) / "subst.pb", pathlib.Path(name) / "taso.rules"

        def convert(content):
            published.write_bytes(content)
            return subprocess.run([sys.executable, script, str(published)], capture_output=True, text=True, check=False)

        converted = convert(b"".join(RULES))
        assert converted.returncode == 0, converted.stderr
        rules.write_text(converted.stdout, encoding="utf-8")
        ran = subprocess.run([program, "rules", str(rules)], capture_output=True, text=True, check=False)
        found = [line.split(": ")[1] for line in ran.stdout.splitlines() if line.startswith("taso-")]
        assert len(found) == len(VERDICTS) and all(map(str.startswith, found, VERDICTS)), ran.stdout + ran.stderr
        for reason, content in REFUSED.items():
            refused = convert(RULES[0] + content if content[0] != 255 else content)
            number = 0 if content[0] == 255 else 1
            assert refused.returncode == 1 and f"rule {number}: {reason}" in refused.stderr, refused.stderr


if __name__ == "__main__":
    main()
