"""Model files that are broken in every way that we could think of; see `tests/fuzz/malformed-models --help`.

    case.py       what a case is, and the models that cases break
    files.py      files cut, flipped, empty, random, or against the wire format
    graphs.py     graphs that are cyclic, nested ten thousand deep, or inconsistent
    tensors.py    tensors whose sizes lie, and external data that leads astray
"""
