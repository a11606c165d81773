"""What import and export must keep of a model, on models made for it.

`keep.py PATH/onnx_pass PATH/onnx_rewrite`: each case is a model and what must hold of the one that comes back; both are
run by ONNX Runtime and must agree, as they are and with --anew.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, parser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from text_models import model_of  # noqa: E402

rng = np.random.default_rng(1)
UNCHANGED = None


def positive(*shape):
    return np.asarray(rng.random(shape) + 0.5, np.float32)


def names_of(r):
    return sorted(t.name for t in r.graph.initializer)


def operators(r):
    return " ".join(sorted(n.op_type for n in r.graph.node))


def require(condition, text="does not hold"):
    if not condition:
        raise AssertionError(text)


# --- models that the text form cannot say -----------------------------------------------------------------------------


def described(m):
    m.opset_import[1].version = 3
    m.producer_name, m.doc_string, m.model_version = "someone", "text", 12
    m.graph.doc_string, m.graph.node[0].doc_string = "graph", "strange"
    m.metadata_props.add(key="k", value="v")
    text = '<domain: "my.domain", opset_import: ["" : 17]> Odd (a, b, c) => (d) { d = Add(a, c) }'
    m.functions.append(parser.parse_function(text))


def trained(m):
    training = m.training_info.add()
    training.algorithm.CopyFrom(parser.parse_graph("step () => (float[3] changed) { changed = Add(c, c) }"))
    training.update_binding.add(key="c", value="changed")


ODD_FUNCTIONS = (
    "Turn <order: ints = [1, 0]> (a) => (r) { r = Transpose<perm: ints = @order>(a) }",
    "Twice (a) => (r) { b = odd.Turn(a)  r = odd.Turn<order = [0, 1]>(b) }",
    "Twice (a) => (r) { r = Neg(a) }")


def with_functions(m):
    """The third one is another Twice."""
    for domain, text in (*(("odd", text) for text in ODD_FUNCTIONS), ("com.microsoft", "Relu (a) => (r) { r = Neg(a) }")):
        m.functions.append(parser.parse_function(f'<domain: "{domain}", opset_import: ["" : 17, "odd" : 1]> {text}'))
    m.functions[2].overload = next(n for n in m.graph.node if n.output[0] == "c4").overload = "other"


# --- what must hold ---------------------------------------------------------------------------------------------------


def keeps_outer_values(r):
    return {"b", "c"} <= {o for n in r.graph.node for o in n.output} and names_of(r) == ["w"]


def declares_initializers(r):
    declared = [i.name for i in r.graph.input]
    return operators(r) == "Conv" and declared[0] == "x" and sorted(declared[1:]) == names_of(r)


def are_gemms(r):
    found = {n.output[0]: {a.name: a.i for a in n.attribute} for n in r.graph.node if n.op_type == "Gemm"}
    return found == {"p": {"transB": 1}, "y": {"transA": 1}}


def begins_by_itself(r):
    return (operators(r) == "Add LSTM LSTM" and [list(n.input) for n in r.graph.node if n.op_type == "LSTM"] ==
            [["x", "w", "r", "", "", "", ""], ["x", "w", "r", "", "", "", "c"]])


def keeps_quantized_weights(r):
    kinds = {t.name: t.data_type for t in r.graph.initializer}
    return (operators(r) == f"Conv {5 * 'DequantizeLinear '}MatMul QuantizeLinear QuantizeLinear Relu Reshape" and
            kinds["k"] == TensorProto.INT8 and kinds["wq"] == TensorProto.UINT8)


def merges_equal_quantizations(r):
    """Not random numbers."""
    counts = {"DequantizeLinear": 3, "QuantizeLinear": 3, "RandomNormalLike": 2}
    return all(sum(n.op_type == op for n in r.graph.node) == count for op, count in counts.items())


def is_for_inference(r):
    return not r.training_info and names_of(r) == ["d"]


# --- cases ------------------------------------------------------------------------------------------------------------


def case(text, expected, change=None, **given):
    """Expected are the operators in order, and behind | the initializers; or that nothing changes; or what a function says."""
    return text, expected, change, given


def branch_of_many(p):
    identities = "  ".join(f"{p}{i} = Identity(x)" for i in range(40))
    return f"""branch () => (float[1,1,2,1] {p}r) {{ {identities}
        {p}qa = QuantizeLinear(x, s, z)  {p}qb = QuantizeLinear(x, s, z)
        {p}da = DequantizeLinear({p}qa, s, z)  {p}db = DequantizeLinear({p}qb, s, z)
        {p}e = Add({p}da, {p}db)  {p}c = Conv({p}e, k)  {p}n = BatchNormalization({p}c, one, one, one, one)
        {p}p = MatMul({p}n, m)  {p}r = Mul({p}p, one) }}"""


CASES = {
    # A sum with zeros goes where the type is known. A function's is not, and one may have the name of an operator of a runtime.
    "functions": case(
        """(float[2,3] x) => (float[3,2] y1, float[2,3] y2, float[2,3] y3, float[2,3] y4)
           { c1 = odd.Turn(x)  c3 = odd.Twice(x)  c4 = odd.Twice(x)  c8 = com.microsoft.Relu(x)
             y1 = Add(c1, zero)  y2 = Add(c3, zero)  y3 = Add(c4, zero)  y4 = Add(c8, zero) }""",
        "Add Add Add Add Relu Turn Twice Twice", with_functions, zero=np.zeros((1, 1), np.float32)),
    "normalizations of a runtime": case(
        """(float[1,2,3] x) => (float[1,2,3] y, float[1,2,3] z)
           { a, "", "", b = com.microsoft.SkipLayerNormalization(x, x, one)  y = Add(a, zero)  z = Add(b, zero) }""",
        "SkipLayerNormalization", one=positive(3), zero=np.zeros((1, 1, 3), np.float32)),
    "attention and deformed windows": case(
        """(float[1,4,2,6] q, float[1,2,3,6] k, float[1,2,3,5] v, float[1,3,12] f, float[1,7,4] g, float[1,2,5,5] x,
            float[1,8,4,4] o) => (float[1,4,2,5] y1, float[1,3,6] y2, float[1,3,4,4] y3)
           { a = Attention(q, k, v)  b = Attention<q_num_heads = 6, kv_num_heads = 2>(f, g, h)  c = DeformConv(x, w, o)
             y1 = Add(a, zero)  y2 = Add(b, zero)  y3 = Add(c, zero) }""",
        "Attention Attention DeformConv", opset=23, ir_version=10, zero=np.zeros((1, 1), np.float32), h=(1, 7, 2), w=(3, 2, 2, 2)),
    "output that is an alias": case("(float[2,3] x) => (float[2,3] y) { a = Relu(x)  y = Identity(a) }", "Relu"),
    "outputs that are equal": case(
        "(float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Relu(x)  z = Relu(x) }", "Identity Relu"),
    "outputs that are an input and a weight": case(
        "(float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Identity(x)  z = Identity(w) }",
        "Identity Identity", w=(2, 3)),
    "flags that are neither yes nor no": case(
        """(float[3,3] x) => (float[?,?] a, float[3,3] c, float[3,3] d, int64[?] e, int64[?] f, float[?,?] g)
           { a = ReduceMax<axes = [1], keepdims = 2>(x)  c = Trilu<upper = 2>(x)  d = Gemm<transB = 3>(x, w)
             r = ReduceL1<keepdims = -2>(w)  e = Shape(r)
             s = Hardmax(x)  t = ArgMax<keepdims = 5>(s)  f = Shape(t)  g = Add(a, zero) }""",
        UNCHANGED, w=(3, 3), zero=np.zeros((1, 1), np.float32)),
    "constant output": case(
        "(float[2,3] x) => (float[2,3] y, float[2,3] z) { z = Add(v, w)  y = Relu(x) }",
        "Relu | z", w=(2, 3), v=(2, 3)),
    "outer values of subgraphs": case(
        """(float[2,3] x, bool flag) => (float[2,3] y) { a = Relu(x)  b = Relu(x)  c = Identity(a)
           r = If<else_branch = else () => (float[2,3] e) { e = Mul(b, c) }, then_branch = then () => (float[2,3] t)
           { t = Add(b, w) }>(flag)  y = Add(r, a) }""", keeps_outer_values, w=(2, 3)),
    "outer value of a subgraph that is an output": case(
        """(bool flag) => (float[2,3] a, float[2,3] y) { a = Identity(w)  y = If<else_branch = else ()
           => (float[2,3] e) { e = Mul(a, w) }, then_branch = then () => (float[2,3] t) { t = Add(a, w) }>(flag) }""",
        "Identity If", w=(2, 3)),
    "loop whose state keeps its type": case(
        """(float[2,3] x) => (float[?,3] y) <int64[1] three = {3}, float[1,3] zeros = {0, 0, 0}>
           { l = Loop<body = body (int64 round, bool going, float[?,3] state) => (bool goes, float[2,3] next)
           { next = Neg(state)  goes = Identity(going) }>(three, , x)  s = Add(l, zeros)  y = Relu(s) }""",
        "Loop Relu"),
    "loop whose state grows unlike another": case(
        """(float[2,3] x) => (float[2,3] y, float[?,3] z) <int64[1] three = {3}, float[1,3] zeros = {0, 0, 0}>
           { l, m = Loop<body = body (int64 round, bool going, float[2,3] state, float[2,3] grown)
           => (bool goes, float[2,3] next, float[?,3] more) { goes = Identity(going)  next = Neg(state)
           more = Concat<axis = 0>(grown, state) }>(three, , x, x)  a = Add(l, zeros)  b = Add(m, zeros)  y = Relu(a)
           z = Relu(b) }""", "Add Loop Relu Relu"),
    # Nothing is declared; a sum with zeros goes where the type is known.
    "branches of known types": case(
        """(float[2,3] x, bool flag) => (float[?,?] y) <float[1,1] column = {0}>
           { i = If<else_branch = else () => (float[?,?] e) { e = MatMul(v, w) },
           then_branch = then () => (float[?,?] t) { t = Transpose<perm = [1, 0]>(x) }>(flag)  y = Add(i, column) }""",
        "If", v=(3, 2), w=(2, 2)),
    "loop whose state grows": case(
        """(float[2,3] x) => (float[?,3] y) <int64[1] three = {3}, float[1,3] zeros = {0, 0, 0}>
           { l = Loop<body = body (int64 round, bool going, float[?,3] state) => (bool goes, float[?,3] next)
           { next = Concat<axis = 0>(state, x)  goes = Identity(going) }>(three, , x)  s = Add(l, zeros)  y = Relu(s) }""",
        "Add Loop Relu"),
    "everything around the graph": case(
        "(float[2,3] x) => (float[2,3] y) <float[2,3] o> { [odd] o = my.domain.Odd(x, , w)  [last] y = Relu(o) }",
        UNCHANGED, described, w=(2, 3)),
    "initializers that are inputs": case(
        """(float[1,3,5,5] x, float[4,3,1,1] k, float[4] scale, float[4] bias, float[4] mean, float[4] variance)
           => (float[1,4,5,5] y) { a = Conv(x, k)  y = BatchNormalization(a, scale, bias, mean, variance) }""",
        declares_initializers, k=(4, 3, 1, 1), scale=positive(4), bias=positive(4),
        mean=positive(4), variance=positive(4), ir_version=3, opset=9),
    "normalization of a shared convolution": case(
        """(float[1,3,5,5] x) => (float[1,4,5,5] y) { a = Conv(x, k)  n = BatchNormalization(a, s, b, m, v)
           y = Add(a, n) }""",
        UNCHANGED, k=(4, 3, 1, 1), s=positive(4), b=positive(4), m=positive(4), v=positive(4)),
    "convolution with bias and normalization": case(
        """(float[1,3,5,5] x) => (float[1,4,5,5] y) { a = Conv<auto_pad = "SAME_LOWER", kernel_shape = [2, 2]>(x, k, c)
           y = BatchNormalization<epsilon = 0.01>(a, s, b, m, v) }""",
        lambda r: operators(r) == "Conv" and len(r.graph.node[0].input) == 3,
        k=(4, 3, 2, 2), c=(4,), s=positive(4), b=positive(4), m=positive(4), v=positive(4)),
    # By a number for each channel, to which another is added; not by numbers for columns, nor where a convolution
    # has another reader.
    "convolutions whose channels are scaled": case(
        """(float[1,3,5,5] x) => (float[1,4,5,5] y) { a = Conv(x, k)  b = Mul(a, s)  c = Add(b, t)  d = Conv(c, l, t1)
           e = Mul(s3, d)  e1 = Conv(e, l, t1)  e2 = Add(t, e1)  f = Conv(e2, l)  g = Mul(f, w)  h = Conv(g, l)
           i = Mul(h, s3)  y = Add(h, i) }""",
        "Add Conv Conv Conv Conv Conv Mul Mul", k=(4, 3, 1, 1), l=(4, 4, 1, 1), s=(1, 4, 1, 1), s3=(4, 1, 1),
        t=(1, 4, 1, 1), t1=(4,), w=(1, 1, 1, 5)),
    # By a number for each column, with a bias or without; not where the product or the sum has another reader.
    "products whose columns are scaled": case(
        """(float[2,5,3] x) => (float[2,5,4] y) { a = MatMul(x, k)  c = Add(b, a)  d = Mul(c, s)  e = MatMul(d, l)
           f = Mul(t, e)  g = MatMul(f, l)  h = Add(g, b)  i = Mul(h, s)  j = Add(g, i)  m = MatMul(j, l)
           n = Mul(m, s)  y = Sub(m, n) }""",
        "Add Add Add MatMul MatMul MatMul MatMul Mul Mul Sub", k=(3, 4), l=(4, 4), b=(4,), s=(4,), t=(1, 1, 4)),
    # Channels by 2, which the weights do; columns by 3000: the weights, 40, would be infinite, where 40 x and
    # 120000 x are numbers.
    "halves whose channels are scaled": case(
        """(float[1,2,3,3] x) => (float[1,2,3,3] y, float[1,2,3,3] z) <float tiny = {0.001}> { v = Mul(x, tiny)
           h = Cast<to = 10>(v)  a = Conv(h, k)  b = Mul(a, s)  y = Cast<to = 1>(b)  c = MatMul(h, l)  d = Mul(c, t)
           z = Cast<to = 1>(d) }""",
        "Cast Cast Cast Conv MatMul Mul Mul", k=np.full((2, 2, 1, 1), 40, np.float16), s=np.float16([[[2]], [[1]]]),
        l=np.full((3, 3), 40, np.float16), t=np.float16([3000, 1, 1])),
    "unused outputs": case(
        """(float[2,6] x) => (float[2,1] y) <int64[3] sizes = {2, 1, 3}> { a, b, c = Split<axis = 1>(x, sizes)
           y = Relu(b) }""", UNCHANGED),
    "names that are taken": case(
        "(float[2,3] constant_0) => (float[2,3] y) { relu_0 = Relu(constant_0)  neg_0 = Neg(relu_0)  y = Tanh(neg_0) }",
        UNCHANGED),
    "shapes that are computed": case(
        """(float[2,3,4] x) => (float[2,12] y) <int64 zero = {0}, int64[1] axes = {0}, int64[1] rest = {-1}>
           { s = Shape(x)  n = Gather(s, zero)  n1 = Unsqueeze(n, axes)  t = Concat<axis = 0>(n1, rest)
           y = Reshape(x, t) }""", "Reshape | t"),
    "gemm and scalars": case(
        """(float[2,3] x) => (float[2,5] y) <float[1] four = {4}>
           { a = Gemm<alpha = 0.5, beta = 2.0, transB = 1>(x, w, c)  b = Mul(a, two)  d = Div(b, four)
           y = Clip(d, , high) }""", UNCHANGED, w=(5, 3), c=(5,), two=positive(), high=positive()),
    # Of matrices they are Gemm; with more axes, or where the product is read again, they stay.
    "products with bias": case(
        """(float[2,3] x, float[4,2,3] u) => (float[2,5] y, float[4,2,5] e) { p = MatMul(x, w)  a = Add(p, b)
           q = MatMul(x, v)  c = Add(q, a)  r = MatMul(x, w)  d = Add(one, r)  s = MatMul(u, w)  e = Add(s, b)
           y = Mul(c, d) }""", "Add Add Add Gemm MatMul MatMul Mul", w=(3, 5), v=(3, 5), b=(5,), one=(1, 1)),
    # A transposition for one product of matrices is Gemm's, also above the limit of constants; for two it stays.
    "products of transposed": case(
        """(float[2,1000] x, float[3,1000] u) => (float[1100,3] y, float[2,3] s, float[2,3] t, int32[2,2] z)
           { wt = Transpose(w)  p = MatMul(x, wt)  pt = Transpose(p)  q = MatMul(pt, v)  y = Add(q, b)
           ut = Transpose(u)  s = MatMul(x, ut)  xr = Relu(x)  t = MatMul(xr, ut)  i = Cast<to = 6>(s)
           it = Transpose(i)  z = MatMul(i, it) }""", are_gemms, w=(1100, 1000), v=(2, 3), b=(3,)),
    # What a runtime makes of them is not computed; what it makes of numbers is.
    "quantized infinities": case(
        """(float[3] x) => (float[3] y, uint8[3] e) <float s = {0.5}, float none = {0}, int8 zero = {-3}>
           { qodds = QuantizeLinear(odd, s, zero)  qevens = QuantizeLinear(even, s, zero)
           qevennone = QuantizeLinear(even, none, zero)  d, dscale, dzero = DynamicQuantizeLinear(odd)
           r0 = DequantizeLinear(qodds, s, zero)  r1 = DequantizeLinear(qevens, s, zero)
           r2 = DequantizeLinear(qevennone, s, zero)  u = Add(x, r0)  v = Add(u, r1)  y = Add(v, r2)  e = Identity(d) }""",
        "Add Add Add DequantizeLinear DequantizeLinear DequantizeLinear DynamicQuantizeLinear QuantizeLinear QuantizeLinear",
        odd=np.float32([1, np.nan, np.inf]), even=(3,)),
    # A recurrence begins with them by itself.
    "states of zeros": case(
        """(float[5,2,3] x) => (float[5,1,2,4] y) <int64[3] to = {2, 2, 4}, int64[1] from = {0}, int64[1] one = {1}>
           { h = Expand(zero, to)  first = Slice(h, from, one)  a = LSTM<hidden_size = 4>(x, w, r, , , first, first)
           b = LSTM<hidden_size = 4>(x, w, r, , , first, c)  y = Add(a, b) }""",
        begins_by_itself, zero=np.zeros((1, 1, 1), np.float32), w=(1, 16, 3), r=(1, 16, 4), c=(1, 2,
        4)),
    # They stay as they stand, what is expressed and what is not.
    "products by named axes": case(
        """(float[2,3,4,4] x) => (float[2,3,4] y) { a = Einsum<equation = "bhwc,cd->bhwd">(x, w)
           b = Einsum<equation = "bhid, bhjd -> bhij">(a, x)  c = Einsum<equation = "...ij->...ji">(b)
           d = Einsum<equation = "bhii->bhi">(c)  y = Relu(d) }""", UNCHANGED, w=(4, 4)),
    # As exporters assign to parts of a constant: the data are an expanded number above what is always computed.
    "masks that are scattered": case(
        """(float[80,60] x) => (float[80,60] z, float[80,60] w) <float zero = {0}, int64[2] shape = {80, 60},
           int64[2,1] places = {3, -1}, int64[1] last = {-1}, int64[2,1] twice = {7, 7}>
           { a = Expand(zero, shape)  b = ScatterND(a, places, rows)
           d = GatherND(b, last)  e = Add(x, b)  y = Add(e, d)  z = ScatterND(y, places, rows)
           w = ScatterND(b, twice, rows) }""", "Add Add ScatterND ScatterND", rows=(2, 60)),
    "constant nodes": case(
        "(float[2,3] x) => (float[2,3] y) { c = Constant<value = float[3] {1, 2, 3}>()  y = Add(x, c) }",
        lambda r: operators(r) == "Add" and names_of(r) == ["c"] and list(r.graph.node[0].input) == ["x", "c"]),
    # Nothing of a node that no output needs is left, nor does it keep what it reads from being merged.
    "dead nodes": case(
        """(float[1,3,4,4] x) => (float[1,2,4,4] y) <int64[5] huge = {100000, 2, 3, 1, 1}> { c = Conv(x, w)
           y = BatchNormalization(c, s, s, s, s)  dead = Relu(c)  grown = Expand(w, huge)  unused = ReduceSum(grown) }""",
        "Conv", w=(2, 3, 1, 1), s=positive(2)),
    # Stays where it is, constants included, but for what is quantized of weights; what stands around it is typed
    # by it, and so simplified.
    "quantization": case(
        """(float[1,3,2,2] x) => (float[1,5] y) <float s = {0.1}, uint8 z = {128}, float[4] ks = {0.1, 0.2, 0.1, 0.3},
           int8[4] kz = {0, 0, 0, 0}, int32[4] b = {0, 1, 2, 3}, int64[1] rest = {-1}, int64[1] axes = {0},
           int64 zero = {0}> { q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)
           kd = DequantizeLinear<axis = 0>(k, ks, kz)  bd = DequantizeLinear<axis = 0>(b, ks)  c = Conv(d, kd, bd)
           i = Identity(c)  r = Relu(i)  rq = QuantizeLinear(r, s, z)  rd = DequantizeLinear(rq, s, z)  n = Shape(rd)
           n0 = Gather(n, zero)  n1 = Unsqueeze(n0, axes)  n2 = Concat<axis = 0>(n1, rest)  f = Reshape(rd, n2)
           wq = QuantizeLinear(w, s, z)  wd = DequantizeLinear(wq, s, z)  y = MatMul(f, wd) }""",
        keeps_quantized_weights, k=rng.integers(-99, 99, (4, 3, 1, 1)).astype(np.int8), w=(16, 5)),
    # Each stays one node, and has a type, so that what follows from its sizes is gone.
    "products of integers and recurrences": case(
        """(float[3,1,4] x) => (float[3,1,1,2] y) <float s = {0.1}, uint8 z = {128}>
           { q, qs, qz = DynamicQuantizeLinear(x)  i = MatMulInteger(q, w, qz, z)  f = Cast<to = 1>(i)  g = Mul(f, qs)
           p = QLinearMatMul(q, s, z, w, s, z, s, z)  h = DequantizeLinear(p, s, z)  a = Add(g, h)
           l, "", c = LSTM<hidden_size = 2>(a, wi, wr)  "", k = GRU<hidden_size = 2>(a, gi, gr)  n = Shape(l)
           m = Reshape(l, n)  o = Add(m, k)  y = Add(o, c) }""",
        "Add Add Add Cast DequantizeLinear DynamicQuantizeLinear GRU LSTM MatMulInteger Mul QLinearMatMul",
        w=rng.integers(0, 255, (4, 5)).astype(np.uint8), wi=(1, 8, 5), wr=(1, 8, 2), gi=(1, 6, 5), gr=(1, 6, 2)),
    # Of ONNX Runtime's own domain those that quantized models have are typed.
    "quantized operators of a runtime": case(
        """(float[1,3,4,4] x) => (float[1,3] y) <float s = {0.1}, uint8 z = {128}, int64[1] zero = {0},
           int64[1] two = {2}> { q = QuantizeLinear(x, s, z)  a = com.microsoft.QLinearAdd(q, s, z, q, s, z, s, z)
           p = com.microsoft.QLinearGlobalAveragePool<channels_last = 0>(a, s, z, s, z)  d = DequantizeLinear(p, s, z)
           n = Shape(d)  m = Slice(n, zero, two)  y = Reshape(d, m) }""",
        "DequantizeLinear QLinearAdd QLinearGlobalAveragePool QuantizeLinear Reshape"),
    # Of constants alone all of this is computed.
    "weights that are multiplied as integers": case(
        """(float[2,2] x) => (float[2,2] y) <uint8[2,2] v = {131, 48, 70, 219}, uint8[2,2] w = {213, 113, 132, 63},
           uint8 z = {3}> { i = MatMulInteger(v, w, z)  f = Cast<to = 1>(i)  y = Add(x, f) }""", "Add"),
    # What is written is for inference: the weight that training changes is folded, and what would change it is
    # gone.
    "weights that are trained": case(
        "(float[3] x) => (float[3] y) { d = Mul(c, c)  y = Add(x, d) }", is_for_inference, trained, c=(3,)),
    # Are one; a transposition that moves axes of size 1 alone is one, too.
    "reshapes in a row": case(
        """(float[2,1,6] x) => (float[3,4] y, float[1,6,2] z) <int64[1] flat = {-1}, int64[2] axes = {0, 1},
           int64[2] cut = {3, 4}> { a = Reshape(x, flat)  b = Unsqueeze(a, axes)  c = Transpose<perm = [0, 2, 1]>(b)
           y = Reshape(c, cut)  z = Transpose<perm = [1, 2, 0]>(x) }""", "Reshape Transpose"),
    "slices of slices": case(
        """(float[9,5] x) => (float[2,4] y) <int64[1] one = {1}, int64[1] two = {2}, int64[1] end = {100},
           int64[1] axis0 = {0}, int64[1] axis1 = {1}, int64[1] last = {-1}, int64[1] first = {0},
           int64[1] back = {-1}> { a = Slice(x, one, end, axis0, two)  b = Slice(a, last, first, axis1, back)
           y = Slice(b, one, end, axis0, two) }""", "Slice"),
    # Zeros that are added, ones that are multiplied, pads of nothing; not where they give another shape.
    "numbers that change nothing": case(
        """(float[2,3] x, float[300,300] u) => (float[4,2,3] y, float[300,300] z) <float[3] zeros = {0, 0, 0},
           float[3] ones = {1, 1, 1}, int64[4] pads = {0, 0, 0, 0}> { a = Add(zeros, x)  b = Mul(a, ones)
           c = Sub(b, zeros)  d = Pad(c, pads)  e = Sub(zeros, d)  y = Add(e, wide)  v = Relu(u)  z = Add(v, many) }""",
        "Add Relu Sub", wide=np.zeros((4, 1, 1), np.float32), many=np.zeros((300, 300), np.float32)),
    # A table that is computed from two vectors is a constant; a number that is only repeated stays one.
    "constants that grow": case(
        """(float[100,100] x) => (float[100,100] y) <int64[2] sizes = {100, 100}, float[1] number = {9}>
           { columns = Transpose<perm = [1, 0]>(rows)  d = Sub(columns, rows)  e = Expand(rows, sizes)  t = Mul(d, e)
           z = Mul(x, t)  n = Expand(number, sizes)  y = Min(z, n) }""", "Expand Min Mul",
        rows=np.arange(100, dtype=np.float32).reshape(100, 1)),
    # What is quantized is a function of what it reads: of equal nodes one stays, also where equal constants have
    # two names. Other scales, other attributes, more outputs and random numbers are not equal.
    "equal quantizations": case(
        """(float[2,3] x) => (float[2,3] y, float[2,3] z1) <float s = {0.1}, float t = {0.1}, float u = {0.2},
           int8 z = {3}, int8 w = {3}> { a = QuantizeLinear(x, s, z)  b = QuantizeLinear(x, t, w)
           c = QuantizeLinear(x, u, w)  d = DequantizeLinear(a, s, z)  e = DequantizeLinear(b, t, w)
           f = DequantizeLinear(c, u, w)  g = QuantizeLinear<axis = 0>(x, s, z)  h = DequantizeLinear(g, s, z)
           i = Mul(d, e)  j = Mul(f, h)  y = Add(i, j)  r1 = RandomNormalLike(x)  r2 = RandomNormalLike(x)
           r = Sub(r1, r2)  s1 = Abs(r)  z1 = Sign(s1) }""", merges_equal_quantizations),
    # How many places are not zero nobody knows; what is computed of them is yet computed once. Dropout is no
    # function.
    "equal nodes of unknown types": case(
        """(float[2,3] x) => (float[2] y, float[2,n] z) <float half = {0}, bool train = {1}> { n = NonZero(x)
           c0 = Cast<to = 1>(n)  c1 = Cast<to = 1>(n)  s0 = ReduceSum<axes = [1], keepdims = 0>(c0)
           s1 = ReduceSum<axes = [1], keepdims = 0>(c1)  y = Add(s0, s1)  d0 = Dropout<seed = 1>(c0, half, train)
           d1 = Dropout<seed = 1>(c0, half, train)  z = Sub(d0, d1) }""",
        "Add Cast Dropout Dropout NonZero ReduceSum Sub", opset=12),
    # A node of a branch is one of the branch, which has more of them than the model: the equal ones were looked for in the
    # model, and so was what a normalization and a product stand behind.
    "equal nodes of branches": case(
        f"""(float[1,1,2,3] x, bool flag) => (float[1,1,2,1] y) <float s = {{0.1}}, int8 z = {{3}}>
            {{ y = If(flag)<then_branch = {branch_of_many('t')}, else_branch = {branch_of_many('e')}> }}""",
        "If", k=(1, 1, 1, 1), one=positive(1), m=(3, 1)),
    # No number is what becomes of infinity as an integer; what is computed behind the cast is yet known by its
    # type.
    "casts that are undefined": case(
        """(float[2,3] x) => (float[2,3] y) <float[3] big = {9, 9, 9}, float[3] zeros = {0, 0, 0}>
           { i = Cast<to = 7>(w)  f = Cast<to = 1>(i)  g = Min(f, big)  h = Mul(x, g)  j = Add(h, zeros)
           y = Identity(j) }""", "Cast Cast Min Mul", w=np.float32([1, 2, -np.inf])),
}


def outputs_of(m):
    session = ort.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = np.random.default_rng(2)
    values = {}
    for i in session.get_inputs():
        values[i.name] = np.array(True) if "bool" in i.type else inputs.standard_normal(i.shape).astype(np.float32)
    return session.run(None, values)


def passes(tool, folder, m, *options):
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(m.SerializeToString())
    done = subprocess.run([tool, *options, before, after], capture_output=True, text=True)
    require(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    return onnx.load(str(after))


def check(m, result, expected):
    if expected is UNCHANGED:
        require(result == m, "the model changed")
    elif callable(expected):
        require(expected(result), f"{operators(result)}: {names_of(result)}")
    else:
        wanted, _, names = expected.partition(" | ")
        require(operators(result) == wanted and (not names or names_of(result) == names.split()),
                f"{operators(result)} | {names_of(result)}")


def test_case(tool, folder, text, expected, change, given):
    m = model_of(text, **given)
    if change:
        change(m)
    onnx.checker.check_model(m)
    values = outputs_of(m)
    for options in ([], ["--anew"]):
        result = passes(tool, folder, m, *options)
        onnx.checker.check_model(result)
        require([o.name for o in result.graph.output] == [o.name for o in m.graph.output], "other outputs")
        if not options:
            check(m, result, expected)
        for a, b in zip(values, outputs_of(result)):
            require(a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-6), f"other values with {options}")


PARTS = """(float[2,8] x) => (float[2,2] g, float[2,8] j) {{ a, b = Split<axis = 1{}>(x{})  c, d = Split<axis = 1{}>(a{})
           e, f = Split<axis = 1{}>(b{})  g = Relu(b)  h = Concat<axis = 1>(d, e)  i = Concat<axis = 1>(c, h)
           j = Concat<axis = 1>(i, f) }}"""


def test_parts(tool, folder):
    """Splits of parts and concatenations of concatenations are written as one node, unless something else reads the parts."""
    sizes = {"p": [6, 2], "q": [3, 3], "r": [1, 1]}
    by_attribute = PARTS.format(*(text for s in sizes.values() for text in (f", split = {s}", "")))
    by_input = PARTS.format(*(text for name in sizes for text in ("", f", {name}")))
    for m in (model_of(by_attribute, opset=11), model_of(by_input, **{n: np.array(s) for n, s in sizes.items()})):
        for options in ([], ["--anew"]):
            result = passes(tool, folder, m, *options)
            onnx.checker.check_model(result)
            require(operators(result) == "Concat Relu Split Split", operators(result))
            require(sorted(len(n.output) for n in result.graph.node if n.op_type == "Split") == [2, 3], "parts of the splits")
            for a, b in zip(outputs_of(m), outputs_of(result)):
                require(np.array_equal(a, b), "other values")


def test_cubes(tool, folder):
    """A power that import made products of is one again where it is written anew, as runtimes know gelu by it."""
    m = model_of("""(float[4,6] x) => (float[4,6] y, float[4,6] z) <float n = {3}>
                    { p = Pow(x, n)  a = Add(x, p)  b = Tanh(a)  y = Mul(b, x)  s = Mul(b, b)  c = Mul(s, b)  z = Sub(c, s) }""")
    result = passes(tool, folder, m, "--anew")
    require(operators(result) == "Add Mul Mul Mul Pow Sub Tanh", operators(result))
    for a, b in zip(outputs_of(m), outputs_of(result)):
        require(np.allclose(a, b, rtol=1e-6, atol=1e-6), "other values")


def test_what_fails(tool, folder):
    """Integers divided by zero and indices beyond an axis are left to runtimes, which fail there."""
    m = model_of("""(int64[2] x) => (int64[2] y) <int64[2] a = {5, 6}, int64[2] z = {1, 0}, int64[2] three = {0, 3}>
                    { q = Div(a, z)  r = Mod(a, z)  g = Gather(a, three)  e = GatherElements(a, three)
                      s = Add(q, r)  t = Add(s, g)  u = Add(t, e)  y = Add(u, x) }""")
    require(operators(passes(tool, folder, m)) == operators(m))


def test_shapes(tool, folder):
    m = model_of("(float[batch,3] x) => (float[batch,5] y) { a = Relu(x)  y = MatMul(a, w) }", w=(3, 5))
    require(passes(tool, folder, m) == m, "the model changed")
    for shape in ("x=4,3", "batch=4"):
        dims = passes(tool, folder, m, "--shape", shape).graph.input[0].type.tensor_type.shape.dim
        require([d.dim_value for d in dims] == [4, 3], f"{shape} does not bind")
    for shape in ("x=4,2", "x=4", "z=1", "x=", "x=a,3", "batch=-1", "batch"):
        done = subprocess.run([tool, "--shape", shape, folder / "before.onnx", folder / "no.onnx"],
                              capture_output=True, text=True)
        require(done.returncode == 2 and done.stderr.count("\n") == 1, f"{shape}: {done.returncode}: {done.stderr}")
        require(not (folder / "no.onnx").exists(), f"{shape}: something was written")


FACTOR_OUT = "(rule factor-out (source (ewadd (matmul ?x ?z) (matmul ?y ?z))) (target (matmul (ewadd ?x ?y) ?z)))"


def test_order(tool, folder):
    """Inputs of a sum stand by what makes them: a rewrite of the one puts it behind the other, and the sum stays."""
    m = model_of("""(float[1,2,3] x, float[1,2,3] y, float[1,2,3] z) => (float[1,2,3] e)
                    { a = MatMul(x, w)  b = MatMul(y, w)  c = Add(a, b)  d = LeakyRelu(z)  [last] e = Add(c, d) }""", w=(3, 3))
    rules = folder / "order.rules"
    rules.write_text(FACTOR_OUT)
    result = passes(tool, folder, m, rules, "1", "1")
    require(operators(result) == "Add Add LeakyRelu MatMul", operators(result))
    require([list(n.input)[1] for n in result.graph.node if n.name == "last"] == ["d"], "the sum was written anew")
    for a, b in zip(outputs_of(m), outputs_of(result)):
        require(np.allclose(a, b, rtol=1e-5, atol=1e-6), "other values")


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    failures = 0
    ort.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, of in CASES.items():
            try:
                test_case(tool, folder, *of)
            except Exception as e:
                failures += 1
                print(f"{name}: {e}")
        test_what_fails(tool, folder)
        test_shapes(tool, folder)
        test_parts(tool, folder)
        test_cubes(tool, folder)
        test_order(pathlib.Path(sys.argv[2]).resolve(), folder)
    print(f"{len(CASES) - failures} of {len(CASES)} cases hold")
    sys.exit(1 if failures else 0)


main()
