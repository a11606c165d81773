#!/usr/bin/env python3
"""The models after Tensat have the structure of what it publishes: `test_tensat_models.py ROOT`.

Numbers of nodes and digests were made from models that were read from Tensat's own files: of every node its operator, its
attributes, and what makes its inputs; of weights only shapes.
"""
import hashlib
import pathlib
import sys

from onnx import helper, numpy_helper

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
from models.catalog import MODELS  # noqa: E402

PUBLISHED = {
    "inception-v3-tensat": (232, "1efed74a3ae9de9b"),
    "mobilenetv2-tensat": (155, "c1c35c4516c2b920"),
    "squeezenet-tensat": (66, "3efdb1a410ec4dbb"),
    "vgg19-tensat": (50, "50183288c0341f8a"),
}


def digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def structure(graph):
    made_by = {i.name: ("input", tuple(d.dim_value for d in i.type.tensor_type.shape.dim)) for i in graph.input}
    made_by |= {w.name: ("weight", tuple(w.dims)) for w in graph.initializer}
    nodes = []
    for node in graph.node:
        if node.op_type == "Constant":
            made_by[node.output[0]] = ("const", tuple(numpy_helper.to_array(node.attribute[0].t).flatten().tolist()))
            continue
        attributes = tuple(sorted((a.name, str(helper.get_attribute_value(a))) for a in node.attribute))
        nodes.append(digest((node.op_type, attributes, [made_by[name] for name in node.input])))
        made_by |= {name: (nodes[-1], i) for i, name in enumerate(node.output)}
    return len(nodes), digest((sorted(nodes), [made_by[output.name] for output in graph.output]))


def main():
    built = {name: structure(MODELS[name].build().graph) for name in PUBLISHED}
    assert built == PUBLISHED, built


if __name__ == "__main__":
    main()
