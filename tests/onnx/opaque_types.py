"""Results of operators without a meaning have the types that ONNX Runtime, or the reference, gives them.

`opaque_types.py PATH/onnx_graph`: each row of onnx/convert/opaque for ONNX's operators has cases here, but those of subgraphs;
operators that have neither a row there nor in operators.def are listed in UNTYPED, and in docs/manual/onnx.md.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, parser
from onnx.reference import ReferenceEvaluator

from each_model import session_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEWEST = 23   # operator set
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64", "int32": "i32", "uint64": "u64", "uint8": "u8", "bool": "bool",
         "object": "string", "str": "string"}
# The sizes of these depend on the data, what they make is no tensor, or no model was met that computes with it.
UNTYPED = {"Compress", "ImageDecoder", "NonMaxSuppression", "NonZero", "StringNormalizer", "Unique", "Optional",
           "OptionalGetElement", "ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
           "SequenceInsert", "SequenceMap", "SplitToSequence", "AffineGrid", "BlackmanWindow", "CenterCropPad", "Col2Im", "Det",
           "HammingWindow", "HannWindow", "LpPool", "MaxRoiPool", "MaxUnpool", "MelWeightMatrix", "Multinomial",
           "NegativeLogLikelihoodLoss", "OptionalHasElement", "Scan", "SequenceLength", "SoftmaxCrossEntropyLoss", "StringSplit",
           "TfIdfVectorizer"}
IN_SUBGRAPHS = {"If", "Loop"}   # keep.py has them

# Operator set, inputs and constants; the nodes; names of outputs with no type. Some are understood, and have no need of it.
CASES = [
    (23, "float[1,4,2,6] q, float[1,2,3,6] k, float[1,2,3,5] v", "r = Attention(q, k, v)"),
    (15, "float[2,3] x", "r = Bernoulli(x)"),
    (15, "float[2,3] x", "r = Bernoulli<dtype = 11>(x)"),
    (17, "uint8[2,3] x, uint8[3] y", 'r = BitShift<direction = "LEFT">(x, y)'),
    *((18, "int32[2,1] x, int32[3] y", f"r = Bitwise{op}(x, y)") for op in ("And", "Or", "Xor")),
    (18, "int32[2,1] x", "r = BitwiseNot(x)"),
    (17, "float[2,3] x", "r = Cast<to = 8>(x)"),
    (17, "uint64[2,3] x, uint64 low", "r = Clip(x, low)"),
    (17, "float[1,3,4,5] x, float[3,2,3,2] k",
     "r = ConvTranspose<strides = [2, 3], pads = [1, 0, 0, 1], output_padding = [1, 2], dilations = [1, 2]>(x, k)"),
    (17, "float[1,4,4] x, float[4,2,3] k", "r = ConvTranspose<group = 2>(x, k)"),
    (23, "float[1,2,5,5] x, float[3,2,2,2] k, float[1,8,4,4] o", "r = DeformConv(x, k, o)"),
    (17, "float[2,8,3,1] x", "r = DFT(x)"),
    (17, "float[2,8,3,1] x; int64 length = {5}", "r = DFT<axis = 2, onesided = 1>(x, length)"),
    (17, "float[2,8,3,2] x", "r = DFT<axis = -2, inverse = 1>(x)"),
    (20, "float[2,8,3,1] x", "r = DFT<onesided = 1>(x)"),
    (20, "float[2,8,3,2] x; int64 length = {9}, int64 axis = {1}", "r = DFT(x, length, axis)"),
    (20, "double[2,8,1] x; int64 axis = {1}", "r = DFT(x, , axis)"),
    (17, "float[2,5,3,2] x", "r = DFT<onesided = 1, inverse = 1>(x)"),
    (20, "float[2,5,3,2] x; int64 length = {7}", "r = DFT<onesided = 1, inverse = 1>(x, length)"),
    (20, "double[2,9,2] x; int64 axis = {0}", "r = DFT<onesided = 1, inverse = 1>(x, , axis)"),
    (10, "float[2,3] x", "r, m = Dropout(x)", {"m"}),
    (17, "int32[2,3] x", "r = EyeLike<dtype = 1>(x)"),
    (17, "float[5,2,3] x, float[1,12,3] w, float[1,12,4] h", "r, s = GRU<hidden_size = 4>(x, w, h)"),
    (17, "float[5,2,3] x, float[1,16,3] w, float[1,16,4] h", "r, s, t = LSTM<hidden_size = 4>(x, w, h)"),
    (17, "float[5,2,3] x, float[2,4,3] w, float[2,4,4] h", 'r, s = RNN<hidden_size = 4, direction = "bidirectional">(x, w, h)'),
    (17, "string[2,3,4] x, int64[2,5] i", "r = Gather<axis = 1>(x, i)"),
    (17, "float[2,3,4] x, int64[5,2] i", "r = GatherND(x, i)"),
    (17, "float[2,3,4] x, int64[2,5,1] i", "r = GatherND<batch_dims = 1>(x, i)"),
    (17, "float[2,3,4,4,5] x", "r = GlobalLpPool(x)"),
    (17, "float[1,2,4,5] x, float[1,3,7,2] g", "r = GridSample(x, g)"),
    (17, "float[2,3] x", "r = Hardmax(x)"),
    (17, "float[2,3] x", "r = IsInf(x)"),
    (17, "float[2,3] x", "r = LpNormalization(x)"),
    (17, "float[1,2,3,3] x", "r = MeanVarianceNormalization(x)"),
    (17, "int64[2,1] x; int64[3] y = {2, 3, 4}", "r = Mod<fmod = 1>(x, y)"),
    (17, "float[2,3] x; int64[4] pads = {1, 0, 2, 1}", 'r = Pad<mode = "reflect">(x, pads)'),
    (17, "", "r = RandomNormal<shape = [2, 3]>()"),
    (17, "", "r = RandomUniform<shape = [4], dtype = 11>()"),
    (17, "float[2,3] x", "r = RandomNormalLike(x)"),
    (17, "; int64 a = {5}, int64 b = {3000000}, int64 c = {2}", "r = Range(a, b, c)"),
    (17, "; int64 a = {5}, int64 b = {-3000000}, int64 c = {-7}", "r = Range(a, b, c)"),
    (17, "int32[2,3] x", "r = RandomUniformLike<dtype = 1>(x)"),
    (20, "string[2,3] x", 'r = RegexFullMatch<pattern = "a+">(x)'),
    (17, "float[1,2,4,5] x; int64[4] sizes = {1, 2, 7, 3}", 'r = Resize<mode = "cubic">(x, , , sizes)'),
    (17, "float[1,2,4,5] x; float[4] scales = {1, 1, 2.5, 0.5}", 'r = Resize<mode = "cubic">(x, , scales)'),
    (17, "float[4,2,3] x; int64[2] n = {3, 4}", "r = ReverseSequence(x, n)"),
    (17, "float[1,2,8,8] x; float[3,4] regions = {0, 0, 4, 4, 1, 1, 5, 5, 2, 2, 7, 7}, int64[3] which = {0, 0, 0}",
     "r = RoiAlign<output_height = 2, output_width = 3>(x, regions, which)"),
    (23, "float[1,2,3,4] x, float[1,3,2] c, float[1,3,2] s", "r = RotaryEmbedding(x, c, s)"),
    (17, "float[2,16,1] x; int64 step = {3}, int64 length = {8}", "r = STFT(x, step, , length)"),
    (17, "float[2,17,1] x, float[4] w; int64 step = {4}", "r = STFT<onesided = 0>(x, step, w)"),
    (17, "float[2,16,2] x, float[6] w; int64 step = {5}, int64 length = {6}", "r = STFT<onesided = 0>(x, step, w, length)"),
    (10, "float[2,3] x; int64[1,1] i = {0}, float[1,1] u = {1}", "r = Scatter(x, i, u)"),
    (17, "float[2,3] x, float[1,1] u; int64[1,1] i = {0}", "r = ScatterElements(x, i, u)"),
    (17, "float[2,3] x, float[1,3] u; int64[1,1] i = {0}", "r = ScatterND(x, i, u)"),
    (17, "float[2,3] x", "r = Shrink(x)"),
    (20, "string[2,1] x, string[3] y", "r = StringConcat(x, y)"),
    (17, "float[2,9] x; int64[1] k = {4}", "r, i = TopK(x, k)"),
    (17, "float[2,3] x, int64 k", "r = Trilu(x, k)"),
    (9, "float[1,2,4,5] x; float[4] scales = {1, 1, 2, 3}", 'r = Upsample<mode = "linear">(x, scales)'),
    # What is not constant, or no node of the operator set.
    (17, "float[2,8,3,1] x, int64 length", "r = DFT(x, length)", {"r"}),
    (17, "float[2,8,3,1] x", "r = DFT<axis = 3>(x)", {"r"}),
    (17, "float[2,16,1] x, int64 step; int64 length = {8}", "r = STFT(x, step, , length)", {"r"}),
    (17, "float[2,16,1] x; int64 step = {0}, int64 length = {8}", "r = STFT(x, step, , length)", {"r"}),
    (17, "float[2,16,1] x; int64 step = {3}, int64 length = {17}", "r = STFT(x, step, , length)", {"r"}),
    (17, "float[2,1,2] x", "r = DFT<onesided = 1, inverse = 1>(x)", {"r"}),
    (17, "float[2,8,1] x", "r = DFT<onesided = 1, inverse = 1>(x)", {"r"}),
    (17, "", "r = RandomNormal<shape = [2, -3]>()", {"r"}),
]


def model_of_case(opset, values, nodes):
    inputs, _, constants = values.partition(";")
    graph = parser.parse_graph(f"g ({inputs}) => () <{constants}> {{ {nodes} }}")
    graph.output.extend(helper.make_empty_tensor_value_info(name) for n in graph.node for name in n.output)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def feeds_of(model):
    random = np.random.default_rng(1)
    feeds = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        of = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        feeds[value.name] = (np.full(shape, "a b", object) if of == object else random.random(shape).astype(of) if of.kind == "f"
                             else np.zeros(shape, of))
    return feeds


def types_when_run(model):
    """By ONNX Runtime; by ONNX's reference where that has no kernel."""
    feeds, names = feeds_of(model), [value.name for value in model.graph.output]
    try:
        results = session_of(model).run(None, feeds)
    except Exception:
        results = ReferenceEvaluator(model).run(None, feeds)
    arrays = {name: np.asarray(result) for name, result in zip(names, results) if not isinstance(result, list)}
    return {name: (NAMES[re.sub(r"[^a-z].*", "", a.dtype.name) if a.dtype.kind == "U" else a.dtype.name], *map(str, a.shape))
            for name, a in arrays.items()}


def types_in_graph(tool, model, path):
    """Of the outputs of opaque nodes."""
    onnx.save(model, path)
    done = subprocess.run([tool, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{done.returncode}: {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        let = re.fullmatch(r"  \(let \(?([^()]*)\)? \([^()]*\)((?: \([^()]*\))+)\)", line)
        if let:
            types = [tuple(text.split()) for text in re.findall(r"\(([^()]*)\)", let[2])]
            found |= dict(zip(let[1].split(), types))
    outputs = re.search(r"\(output ([^()]*)\)", done.stdout)[1].split()
    return {value.name: found[t] for value, t in zip(model.graph.output, outputs) if t in found}


def check_cases(tool, folder):
    failures = 0
    for opset, values, nodes, *untyped in CASES:
        model, untyped = model_of_case(opset, values, nodes), untyped[0] if untyped else set()
        try:
            found = types_in_graph(tool, model, folder / "model.onnx")
            known = {name: of for name, of in found.items() if "?" not in of}
            if set(found) - set(known) != untyped:
                raise AssertionError(f"types known are {known}")
            run = types_when_run(model) if known else {}
            if any(run[name] != of for name, of in known.items()):
                raise AssertionError(f"{known}, and when it is run {run}")
        except Exception as error:
            failures += 1
            print(f"{opset}: {values}: {nodes}: {type(error).__name__} {error}")
    return failures


def check_list():
    """No operator is forgotten, and no row is without a case."""
    words = [words for path in (ROOT / "onnx/convert/opaque").glob("*.c")
             for words in re.findall(r'\{((?:"[\w ]+"\s*)+),\s*\w+(?:, \.needs_no_input = true)?\}', path.read_text())]
    rows = {name for text in words for name in re.findall(r"\w+", text)}
    read = set(re.findall(r'_OPERATOR\("(\w+)"', (ROOT / "onnx/convert/operators/operators.def").read_text()))
    standard = {s.name for s in onnx.defs.get_all_schemas_with_history() if s.domain == "" and s.since_version <= NEWEST}
    manual = (ROOT / "docs/manual/onnx.md").read_text()
    tested = {node.op_type for opset, values, nodes, *_ in CASES for node in model_of_case(opset, values, nodes).graph.node}
    complaints = {
        "neither typed nor listed": standard - rows - read - UNTYPED,
        "typed and listed": UNTYPED & (rows | read),
        "not in the manual": {name for name in UNTYPED if f"`{name}`" not in manual},
        "without a case": rows & standard - tested - IN_SUBGRAPHS,
    }
    for complaint, names in complaints.items():
        if names:
            print(f"{complaint}: {' '.join(sorted(names))}")
    return sum(map(len, complaints.values()))


def main():
    ort.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as folder:
        failures = check_cases(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder)) + check_list()
    print(f"{len(CASES)} cases, {failures} failures")
    sys.exit(1 if failures else 0)


main()
