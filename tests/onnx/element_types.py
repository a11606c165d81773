"""The exporter's table of element types against ONNX's own definitions.

`element_types.py PATH/onnx_element_types`: of each operator that is written, and each operator set, the numbers and bools
that its first input may be.
"""
import subprocess
import sys

from onnx import TensorProto, defs

NAMES = {"float16": "FLOAT16", "bfloat16": "BFLOAT16", "float": "FLOAT", "double": "DOUBLE", "bool": "BOOL",
         **{f"{u}int{n}": f"{u}int{n}".upper() for u in ("", "u") for n in (8, 16, 32, 64)}}
CODES = {f"tensor({name})": TensorProto.DataType.Value(value) for name, value in NAMES.items()}

HAD_INTEGERS = {"Erf"}   # for a while, which the graph's operator never has


def types_of(operator, opset):
    """Of the first input, by definition."""
    schema = defs.get_schema(operator, opset, "")
    wanted = schema.inputs[0].type_str
    allowed = next((t.allowed_type_strs for t in schema.type_constraints if t.type_param_str == wanted), [wanted])
    return {CODES[name] for name in allowed if name in CODES}


def main():
    lines = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    last, failures = defs.onnx_opset_version(), []
    for operator, opset, *codes in map(str.split, lines):
        if int(opset) > last:
            continue
        found, wanted = set(map(int, codes)) & set(CODES.values()), types_of(operator, int(opset))
        if found != wanted and not (operator in HAD_INTEGERS and found < wanted):
            failures.append(f"{operator}, operator set {opset}: {sorted(found ^ wanted)}")
    print(*failures, f"{len(failures)} failures, {len(lines)} lines", sep="\n")
    sys.exit(bool(failures) or not lines)


main()
