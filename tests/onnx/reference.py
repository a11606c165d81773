"""Random nodes of every kind (operator_cases.py) against ONNX's reference implementation.

`reference.py PATH/onnx_expect [FIRST LAST]`: what the definitions and the processor give for a node must be what
onnx.reference gives, whether ONNX Runtime has a kernel for it or not. Where it has one that gives something else the two
disagree over what ONNX says: these are counted by operator, and operators.py holds them to ONNX Runtime.
"""
import collections
import pathlib
import sys
import tempfile

import numpy as np
from onnx.reference import ReferenceEvaluator

import judged
import operator_cases

STANDARD_SEEDS = (100000, 106000)
WRONG = {"LRN"}   # the reference goes over as many channels as there are images: what no runtime confirms tells nothing
LEAST_CASES, LEAST_EQUAL = 0.5, 0.7   # of the seeds, and of what runs: the others are opaque


def run_reference(model, feeds):
    """The outputs, or None."""
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(value) for value in ReferenceEvaluator(model).run(None, feeds)]
    except Exception:
        return None


def has_types_of(model, outputs):
    """The reference computes some types as others."""
    inferred = judged.onnx.shape_inference.infer_shapes(model).graph.output
    return [judged.numpy_helper.from_array(o).data_type for o in outputs] == [o.type.tensor_type.elem_type for o in inferred]


def are_agreed(model, feeds, outputs):
    of_runtime = judged.run(model, feeds)
    if of_runtime is None:
        return model.graph.node[0].op_type not in WRONG
    return all(map(judged.is_equal, of_runtime, outputs))


def make_cases(folder, first, last):
    cases, disputed = {}, collections.Counter()
    for seed in range(first, last):
        model, feeds = operator_cases.make(seed) or (None, None)
        outputs = model and run_reference(model, feeds)
        if not outputs or any(o.dtype == object for o in outputs) or not has_types_of(model, outputs):
            continue
        op = model.graph.node[0].op_type
        if are_agreed(model, feeds, outputs):
            judged.write_case(folder / str(seed), model, feeds, outputs)
            cases[str(folder / str(seed))] = f"seed {seed}: {op}", model, feeds, outputs
        else:
            disputed[op] += 1
    return cases, disputed


def main():
    first, last = tuple(map(int, sys.argv[2:4])) or STANDARD_SEEDS
    with tempfile.TemporaryDirectory() as temporary:
        cases, disputed = make_cases(pathlib.Path(temporary), first, last)
        failures = judged.judge(sys.argv[1], cases, lambda verdicts: verdicts["equal"] >= LEAST_EQUAL * len(cases))
    if len(cases) < LEAST_CASES * (last - first):
        failures.append(f"only {len(cases)} cases of {last - first} seeds")
    print("Not agreed with the reference:", dict(disputed.most_common()))
    judged.conclude(failures, cases)


main()
