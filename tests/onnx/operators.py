"""Random nodes of every kind (operator_cases.py), read as ONNX Runtime reads them.

`operators.py PATH/onnx_expect PATH/onnx_pass [FIRST LAST]`: each node that ONNX Runtime runs must give the same by the
definitions and on the processor, or be kept as it is (opaque); and what is written for it, node by node, must give ONNX
Runtime the same as the original. FIRST and LAST are seeds.
"""
import pathlib
import sys
import tempfile

import judged
import operator_cases

STANDARD_SEEDS = (0, 2000)
WRITTEN = 400       # of them are written and read again
LEAST_EQUAL = 0.7   # of what runs; the others are opaque


def make_cases(folder, first, last):
    cases = {}
    for seed in range(first, last):
        made = operator_cases.make(seed)
        if made:
            node, opset = made[0].graph.node[0], made[0].opset_import[0]
            judged.add_case(cases, folder / str(seed), f"seed {seed}: {node.op_type}, operator set {opset.version}", *made)
    return cases


def main():
    tools, seeds = sys.argv[1:3], tuple(map(int, sys.argv[3:5])) or STANDARD_SEEDS
    with tempfile.TemporaryDirectory() as temporary:
        cases = make_cases(pathlib.Path(temporary), *seeds)
        failures = judged.judge(tools[0], cases, lambda verdicts: verdicts["equal"] >= LEAST_EQUAL * len(cases))
        failures += judged.write(tools[1], dict(list(cases.items())[:WRITTEN]))
    judged.conclude(failures, cases)


main()
