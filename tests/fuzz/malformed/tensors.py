"""Tensors whose sizes lie, and external data that is not where, or not as much as, the model says."""

from onnx import TensorProto

from malformed.case import ACCEPT, OUTSIDE, REJECT, SURVIVE, Case, Fifo, Link
from malformed.case import good_weight, model_with_weight, serialized, weight_values

HUGE = (1 << 63) - 1


def with_fields(**fields):
    """The good weight with these fields in place of its own."""
    weight = good_weight()
    for name, value in fields.items():
        weight.ClearField(name)
        if isinstance(value, (list, tuple)):
            getattr(weight, name).extend(value)
        elif value is not None:
            setattr(weight, name, value)
    return weight


def lying():
    raw = weight_values().tobytes()
    weights = {
        "raw-too-short": with_fields(raw_data=raw[:-4]),
        "raw-too-long": with_fields(raw_data=raw + b"\0" * 4),
        "raw-of-three-bytes": with_fields(raw_data=raw[:3]),
        "raw-absent": with_fields(raw_data=None),
        "floats-too-few": with_fields(raw_data=None, float_data=[1.0] * 15),
        "floats-too-many": with_fields(raw_data=None, float_data=[1.0] * 17),
        "floats-in-the-wrong-field": with_fields(raw_data=None, int64_data=[1] * 16),
        "dimension-negative": with_fields(dims=(-4, -4)),
        "dimension-minimal": with_fields(dims=(-HUGE - 1,)),
        "dimension-huge": with_fields(dims=(HUGE,)),
        "product-overflows-to-zero": with_fields(dims=(1 << 32, 1 << 32)),
        "product-overflows-to-sixteen": with_fields(dims=(1 << 61, 8, 4, 4)),
        "bytes-overflow-to-64": with_fields(dims=((1 << 62) + 16,)),
        "dimensions-10000": with_fields(dims=(1,) * 9999 + (17,)),
        "element-type-absent": with_fields(data_type=0),
        "element-type-text-in-raw": with_fields(data_type=TensorProto.STRING),
    }
    for name, weight in weights.items():
        yield Case(name, REJECT, serialized(model_with_weight(weight)))
    survivable = {
        "dimension-zero": with_fields(dims=(0, 4), raw_data=b""),
        "rank-zero": with_fields(dims=(), raw_data=raw[:4]),
        "strangers-to-the-matmul": with_fields(dims=(16, 1)),
        "element-type-unknown": with_fields(data_type=99),
        "not-a-number": with_fields(raw_data=b"\xff" * 64),
    }
    for name, weight in survivable.items():
        yield Case(name, SURVIVE, serialized(model_with_weight(weight)))


def external(entries):
    """The good weight with external data: pairs of keys and values."""
    weight = with_fields(raw_data=None, data_location=TensorProto.EXTERNAL)
    for key, value in entries:
        entry = weight.external_data.add()
        entry.key, entry.value = key, str(value)
    return serialized(model_with_weight(weight))


def entries_of(location="weights.bin", **more):
    return [("location", location), *more.items()]


def astray(root):
    """Locations outside the folder of the model, though the file there is as it should be."""
    outside = str(root / OUTSIDE)
    locations = {
        "parents": f"../../{OUTSIDE}",
        "parents-of-a-child": f"child/../../../{OUTSIDE}",
        "absolute": outside,
        "absolute-with-slashes": "//" + outside,
        "system-file": "/etc/passwd",
        "device": "/dev/zero",
        "back-and-forth": f"../../reject/external-back-and-forth/../../{OUTSIDE}",
        "empty-location": "",
        "dot": ".",
        "dot-dot": "..",
        "nul-byte": "weights.bin\0.txt",
        "missing": "nothing.bin",
        "very-long": "a" * 100000,
        "url": "https://example.com/weights.bin",
    }
    others = {"weights.bin": weight_values().tobytes()}
    for name, location in locations.items():
        yield Case(f"external-{name}", REJECT, external(entries_of(location)), dict(others))
    links = {"link": Link(f"../../{OUTSIDE}"), "absolute-link": Link(outside), "link-to-device": Link("/dev/zero"),
             "link-to-itself": Link("weights.bin"), "link-to-nothing": Link("nothing"), "pipe": Fifo}
    for name, content in links.items():
        yield Case(f"external-{name}", REJECT, external(entries_of()), {"weights.bin": content})
    yield Case("external-linked-folder", REJECT, external(entries_of(f"folder/{OUTSIDE}")), {"folder": Link("../..")})


def lying_externals():
    """Offsets and lengths that do not fit the file, which has exactly the bytes of the weight."""
    entries = {
        "offset-beyond": entries_of(offset=64, length=64),
        "offset-within": entries_of(offset=4, length=64),
        "offset-huge": entries_of(offset=HUGE),
        "offset-negative": entries_of(offset=-4),
        "offset-of-20-digits": entries_of(offset="9" * 20),
        "offset-text": entries_of(offset="four"),
        "offset-with-a-tail": entries_of(offset="0x0"),
        "length-beyond": entries_of(length=68),
        "length-too-short": entries_of(length=60),
        "length-zero": entries_of(offset=0, length=0),
        "length-huge": entries_of(length=HUGE),
        "length-negative": entries_of(length=-64),
        "length-of-1000-digits": entries_of(length="9" * 1000),
        "sum-overflows": entries_of(offset=HUGE - 3, length=64),
        "no-location": [("offset", 0), ("length", 64)],
        "no-entries": [],
        "two-locations": [*entries_of(), ("location", "weights.bin")],
        "two-offsets": [*entries_of(offset=0), ("offset", 0)],
        "two-lengths": [*entries_of(length=64), ("length", 64)],
    }
    for name, pairs in entries.items():
        yield Case(f"external-{name}", REJECT, external(pairs), {"weights.bin": weight_values().tobytes()})
    yield Case("external-file-empty", REJECT, external(entries_of()), {"weights.bin": b""})
    yield Case("external-file-short", REJECT, external(entries_of()), {"weights.bin": b"\0" * 63})
    raw = {"weights.bin": weight_values().tobytes()}
    yield Case("external-unknown-key", SURVIVE, external(entries_of(colour="blue")), raw)
    yield Case("external-colour-twice", ACCEPT, external([*entries_of(), ("colour", "blue"), ("colour", "red")]), raw)


def good_externals():
    raw = weight_values().tobytes()
    yield Case("external", ACCEPT, external(entries_of()), {"weights.bin": raw})
    part = external(entries_of(offset=4096, length=64))
    yield Case("external-part", ACCEPT, part, {"weights.bin": b"\0" * 4096 + raw})


def cases_in(root):
    yield from lying()
    yield from astray(root)
    yield from lying_externals()
    yield from good_externals()
