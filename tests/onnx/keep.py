"""What import and export must keep of a model, on models made for it.

`keep.py PATH/onnx_pass PATH/onnx_rewrite`: each case is a model and what must hold of the one that comes back; both are
run by ONNX Runtime and must agree, as they are and with --anew.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: no onnx or onnxruntime package")
    sys.exit(77)

FLOAT = TensorProto.FLOAT
rng = np.random.default_rng(1)


def value(name, shape=(2, 3), kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name, *shape):
    return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)


def positive(name, *shape):
    return numpy_helper.from_array((rng.random(shape) + 0.5).astype(np.float32), name)


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(","), outputs.split(","), **attributes)


def model(nodes, inputs, outputs, initializers=(), ir=8, opset=17, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializer=list(initializers), **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def operators(m):
    return sorted(n.op_type for n in m.graph.node)


def require(condition, text="does not hold"):
    if not condition:
        raise AssertionError(text)


# Each case gives a model and a check of what comes back as it is.


def output_that_is_an_alias():
    m = model([node("Relu", "x", "a"), node("Identity", "a", "y")], [value("x")], [value("y")])
    return m, lambda r: require(operators(r) == ["Relu"])


def outputs_that_are_equal():
    m = model([node("Relu", "x", "y"), node("Relu", "x", "z")], [value("x")], [value("y"), value("z")])
    return m, lambda r: require(operators(r) == ["Identity", "Relu"])


def outputs_that_are_an_input_and_a_weight():
    m = model([node("Identity", "x", "y"), node("Identity", "w", "z")], [value("x")], [value("y"), value("z")],
              [weight("w", 2, 3)])
    return m, lambda r: require(operators(r) == ["Identity", "Identity"])


def constant_output():
    m = model([node("Add", "v,w", "z"), node("Relu", "x", "y")], [value("x")], [value("y"), value("z")],
              [weight("w", 2, 3), weight("v", 2, 3)])
    return m, lambda r: require(operators(r) == ["Relu"] and [t.name for t in r.graph.initializer] == ["z"])


def outer_values_of_subgraphs():
    then = helper.make_graph([node("Add", "b,w", "t")], "then", [], [value("t")])
    other = helper.make_graph([node("Mul", "b,c", "e")], "else", [], [value("e")])
    nodes = [node("Relu", "x", "a"), node("Relu", "x", "b"), node("Identity", "a", "c"),
             helper.make_node("If", ["flag"], ["r"], then_branch=then, else_branch=other), node("Add", "r,a", "y")]
    m = model(nodes, [value("x"), value("flag", (), TensorProto.BOOL)], [value("y")], [weight("w", 2, 3)])

    def check(r):
        names = {o for n in r.graph.node for o in n.output}
        require({"b", "c"} <= names, "names that subgraphs use are gone")
        require("w" in [t.name for t in r.graph.initializer], "a weight that a subgraph uses is gone")

    return m, check


def outer_value_of_a_subgraph_that_is_an_output():
    then = helper.make_graph([node("Add", "a,w", "t")], "then", [], [value("t")])
    other = helper.make_graph([node("Mul", "a,w", "e")], "else", [], [value("e")])
    nodes = [node("Identity", "w", "a"), helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other)]
    m = model(nodes, [value("flag", (), TensorProto.BOOL)], [value("a"), value("y")], [weight("w", 2, 3)])
    return m, lambda r: require(operators(r) == ["Identity", "If"])


def loop_of(step, made):
    """Three rounds of `step` from x on, and behind it a sum with zeros, which goes where the loop's type is known."""
    rounds = [value("round", (), TensorProto.INT64), value("going", (), TensorProto.BOOL), value("state", (None, 3))]
    body = helper.make_graph([step, node("Identity", "going", "goes")], "body", rounds,
                             [value("goes", (), TensorProto.BOOL), made])
    nodes = [helper.make_node("Loop", ["three", "", "x"], ["l"], body=body), node("Add", "l,zeros", "s"),
             node("Relu", "s", "y")]
    return model(nodes, [value("x")], [value("y", (None, 3))],
                 [integers("three", 3), numpy_helper.from_array(np.zeros((1, 3), np.float32), "zeros")])


def loop_whose_state_keeps_its_type():
    return loop_of(node("Neg", "state", "next"), value("next")), lambda r: require(operators(r) == ["Loop", "Relu"])


def loop_whose_state_grows_unlike_another():
    x, going = value("x"), value("going", (), TensorProto.BOOL)
    made = [value("goes", (), TensorProto.BOOL), value("next"), value("more", (None, 3))]
    body = helper.make_graph([node("Identity", "going", "goes"), node("Neg", "state", "next"),
                              node("Concat", "grown,state", "more", axis=0)], "body",
                             [value("round", (), TensorProto.INT64), going, value("state"), value("grown")], made)
    nodes = [helper.make_node("Loop", ["three", "", "x", "x"], ["l", "m"], body=body), node("Add", "l,zeros", "a"),
             node("Add", "m,zeros", "b"), node("Relu", "a", "y"), node("Relu", "b", "z")]
    m = model(nodes, [x], [value("y"), value("z", (None, 3))],
              [integers("three", 3), numpy_helper.from_array(np.zeros((1, 3), np.float32), "zeros")])
    return m, lambda r: require(operators(r) == ["Add", "Loop", "Relu", "Relu"])


def branches_and_scans_of_known_types():
    """Nothing is declared; a sum with zeros goes where the type is known."""
    then = helper.make_graph([node("Transpose", "x", "t", perm=[1, 0])], "then", [], [value("t", (None, None))])
    other = helper.make_graph([node("MatMul", "v,w", "e")], "else", [], [value("e", (None, None))])
    body = helper.make_graph([node("Add", "state,entry", "next"), node("Concat", "entry,entry", "made", axis=0)], "body",
                             [value("state", (None,)), value("entry", (None,))], [value("next", (None,)), value("made", (None,))])
    nodes = [helper.make_node("If", ["flag"], ["i"], then_branch=then, else_branch=other), node("Add", "i,column", "y"),
             helper.make_node("Scan", ["row", "x"], ["s", "c"], body=body, num_scan_inputs=1),
             node("Add", "s,row", "z"), node("Add", "c,column", "u")]
    zeros = [numpy_helper.from_array(np.zeros(shape, np.float32), name) for name, shape in (("row", 3), ("column", (1, 1)))]
    m = model(nodes, [value("x"), value("flag", (), TensorProto.BOOL)], [value("y", (None, None)), value("z", (None,)), value("u", (None, None))],
              [weight("v", 3, 2), weight("w", 2, 2), *zeros])
    return m, lambda r: require(operators(r) == ["If", "Scan"])


def loop_whose_state_grows():
    m = loop_of(node("Concat", "state,x", "next", axis=0), value("next", (None, 3)))
    return m, lambda r: require(operators(r) == ["Add", "Loop", "Relu"])


def everything_around_the_graph():
    custom = helper.make_node("Odd", ["x", "", "w"], ["o"], domain="my.domain", name="odd", doc_string="strange")
    m = model([custom, node("Relu", "o", "y", name="last")], [value("x")], [value("y")], [weight("w", 2, 3)],
              doc_string="graph", value_info=[value("o")])
    m.opset_import.append(helper.make_opsetid("my.domain", 3))
    m.producer_name, m.doc_string, m.model_version = "someone", "text", 12
    m.metadata_props.add(key="k", value="v")
    m.functions.append(helper.make_function("my.domain", "Odd", ["a", "b", "c"], ["d"],
                                            [node("Add", "a,c", "d")], [helper.make_opsetid("", 17)]))
    return m, lambda r: require(r == m, "the model changed")


def initializers_that_are_inputs():
    names = ["k", "scale", "bias", "mean", "variance"]
    shapes = [(4, 3, 1, 1)] + [(4,)] * 4
    tensors = [weight("k", 4, 3, 1, 1), *(positive(n, 4) for n in names[1:])]
    m = model([node("Conv", "x,k", "a"), node("BatchNormalization", "a,scale,bias,mean,variance", "y")],
              [value("x", (1, 3, 5, 5)), *(value(n, s) for n, s in zip(names, shapes))], [value("y", (1, 4, 5, 5))],
              tensors, ir=3, opset=9)

    def check(r):
        require(operators(r) == ["Conv"], "the normalization is still there")
        declared = [i.name for i in r.graph.input]
        require(declared[0] == "x" and set(declared[1:]) == {t.name for t in r.graph.initializer},
                "initializers are not inputs")

    return m, check


def normalization_of_a_shared_convolution():
    m = model([node("Conv", "x,k", "a"), node("BatchNormalization", "a,s,b,m,v", "n"), node("Add", "a,n", "y")],
              [value("x", (1, 3, 5, 5))], [value("y", (1, 4, 5, 5))],
              [weight("k", 4, 3, 1, 1), *(positive(n, 4) for n in "sbmv")])
    return m, lambda r: require(r == m, "the model changed")


def convolution_with_bias_and_normalization():
    m = model([node("Conv", "x,k,c", "a", auto_pad="SAME_LOWER", kernel_shape=[2, 2]),
               node("BatchNormalization", "a,s,b,m,v", "y", epsilon=0.01)],
              [value("x", (1, 3, 5, 5))], [value("y", (1, 4, 5, 5))],
              [weight("k", 4, 3, 2, 2), weight("c", 4), *(positive(n, 4) for n in "sbmv")])
    return m, lambda r: require(operators(r) == ["Conv"] and len(r.graph.node[0].input) == 3)


def convolutions_whose_channels_are_scaled():
    """By a number for each channel, to which another is added; not by numbers for columns, nor where a convolution has another reader."""
    nodes = [node("Conv", "x,k", "a"), node("Mul", "a,s", "b"), node("Add", "b,t", "c"),
             node("Conv", "c,l,t1", "d"), node("Mul", "s3,d", "e"), node("Conv", "e,l,t1", "e1"), node("Add", "t,e1", "e2"), node("Conv", "e2,l", "f"), node("Mul", "f,w", "g"),
             node("Conv", "g,l", "h"), node("Mul", "h,s3", "i"), node("Add", "h,i", "y")]
    m = model(nodes, [value("x", (1, 3, 5, 5))], [value("y", (1, 4, 5, 5))],
              [weight("k", 4, 3, 1, 1), weight("l", 4, 4, 1, 1), weight("s", 1, 4, 1, 1), weight("s3", 4, 1, 1),
               weight("t", 1, 4, 1, 1), weight("t1", 4), weight("w", 1, 1, 1, 5)])
    return m, lambda r: require(operators(r) == ["Add", *["Conv"] * 5, "Mul", "Mul"], f"{operators(r)}")


def products_whose_columns_are_scaled():
    """By a number for each column, with a bias or without; not where the product or the sum has another reader."""
    nodes = [node("MatMul", "x,k", "a"), node("Add", "b,a", "c"), node("Mul", "c,s", "d"),
             node("MatMul", "d,l", "e"), node("Mul", "t,e", "f"),
             node("MatMul", "f,l", "g"), node("Add", "g,b", "h"), node("Mul", "h,s", "i"), node("Add", "g,i", "j"),
             node("MatMul", "j,l", "m"), node("Mul", "m,s", "n"), node("Sub", "m,n", "y")]
    m = model(nodes, [value("x", (2, 5, 3))], [value("y", (2, 5, 4))],
              [weight("k", 3, 4), weight("l", 4, 4), weight("b", 4), weight("s", 4), weight("t", 1, 1, 4)])
    return m, lambda r: require(operators(r) == [*["Add"] * 3, *["MatMul"] * 4, "Mul", "Mul", "Sub"], f"{operators(r)}")


def halves_whose_channels_are_scaled():
    """Channels by 2, which the weights do; columns by 3000: the weights, 40, would be infinite, where 40 x and 120000 x are numbers."""
    def half(name, numbers):
        return numpy_helper.from_array(np.array(numbers, np.float16), name)

    nodes = [node("Mul", "x,tiny", "v"), node("Cast", "v", "h", to=TensorProto.FLOAT16), node("Conv", "h,k", "a"),
             node("Mul", "a,s", "b"), node("Cast", "b", "y", to=FLOAT),
             node("MatMul", "h,l", "c"), node("Mul", "c,t", "d"), node("Cast", "d", "z", to=FLOAT)]
    m = model(nodes, [value("x", (1, 2, 3, 3))], [value("y", (1, 2, 3, 3)), value("z", (1, 2, 3, 3))],
              [half("k", np.full((2, 2, 1, 1), 40)), half("s", [[[2]], [[1]]]),
               half("l", np.full((3, 3), 40)), half("t", [3000, 1, 1]),
               numpy_helper.from_array(np.array(1e-3, np.float32), "tiny")])
    return m, lambda r: require(operators(r) == [*["Cast"] * 3, "Conv", "MatMul", "Mul", "Mul"], f"{operators(r)}")


def unused_outputs():
    m = model([node("Split", "x,sizes", "a,b,c", axis=1), node("Relu", "b", "y")], [value("x", (2, 6))],
              [value("y", (2, 1))], [integers("sizes", 2, 1, 3)])
    return m, lambda r: require(r == m, "the model changed")


def names_that_are_taken():
    m = model([node("Relu", "constant_0", "relu_0"), node("Neg", "relu_0", "neg_0"), node("Neg", "neg_0", "y")],
              [value("constant_0")], [value("y")])
    return m, lambda r: require(r == m, "the model changed")


def shapes_that_are_computed():
    nodes = [node("Shape", "x", "s"), node("Gather", "s,zero", "n"), node("Unsqueeze", "n,axes", "n1"),
             node("Concat", "n1,rest", "t", axis=0), node("Reshape", "x,t", "y")]
    m = model(nodes, [value("x", (2, 3, 4))], [value("y", (2, 12))],
              [numpy_helper.from_array(np.array(0, np.int64), "zero"), integers("axes", 0), integers("rest", -1)])
    return m, lambda r: require(operators(r) == ["Reshape"] and [t.name for t in r.graph.initializer] == ["t"])


def gemm_and_scalars():
    nodes = [node("Gemm", "x,w,c", "a", transB=1, alpha=0.5, beta=2.0), node("Mul", "a,two", "b"),
             node("Div", "b,four", "d"), node("Clip", "d,,high", "y")]
    m = model(nodes, [value("x")], [value("y", (2, 5))],
              [weight("w", 5, 3), weight("c", 5), positive("two"),
               numpy_helper.from_array(np.array([4], np.float32), "four"), positive("high")])
    return m, lambda r: require(r == m, "the model changed")


def products_with_bias():
    """Of matrices they are Gemm; with more axes, or where the product is read again, they stay."""
    nodes = [node("MatMul", "x,w", "p"), node("Add", "p,b", "a"), node("MatMul", "x,v", "q"), node("Add", "q,a", "c"),
             node("MatMul", "x,w", "r"), node("Add", "one,r", "d"), node("MatMul", "u,w", "s"), node("Add", "s,b", "e"),
             node("Mul", "c,d", "y")]
    m = model(nodes, [value("x"), value("u", (4, 2, 3))], [value("y", (2, 5)), value("e", (4, 2, 5))],
              [weight("w", 3, 5), weight("v", 3, 5), weight("b", 5), weight("one", 1, 1)])
    return m, lambda r: require(operators(r) == ["Add"] * 3 + ["Gemm"] + ["MatMul"] * 2 + ["Mul"], operators(r))


def products_of_transposed():
    """A transposition for one product of matrices is Gemm's, also above the limit of constants; for two it stays."""
    nodes = [node("Transpose", "w", "wt"), node("MatMul", "x,wt", "p"), node("Transpose", "p", "pt"), node("MatMul", "pt,v", "q"),
             node("Add", "q,b", "y"), node("Transpose", "u", "ut"), node("MatMul", "x,ut", "s"), node("Relu", "x", "xr"),
             node("MatMul", "xr,ut", "t"), node("Cast", "s", "i", to=TensorProto.INT32), node("Transpose", "i", "it"),
             node("MatMul", "i,it", "z")]
    m = model(nodes, [value("x", (2, 1000)), value("u", (3, 1000))],
              [value("y", (1100, 3)), value("s"), value("t"), value("z", (2, 2), TensorProto.INT32)],
              [weight("w", 1100, 1000), weight("v", 2, 3), weight("b", 3)])
    return m, check_gemms


def check_gemms(r):
    found = {n.output[0]: n for n in r.graph.node if n.op_type == "Gemm"}
    flags = {name: {a.name: a.i for a in n.attribute} for name, n in found.items()}
    require(flags == {"p": {"transB": 1}, "y": {"transA": 1}}, flags)


def quantized_infinities():
    """What a runtime makes of them is not computed; what it makes of numbers is."""
    nodes = [node("QuantizeLinear", f"{x},{s},zero", f"q{x}{s}") for x, s in (("odd", "s"), ("even", "s"), ("even", "none"))]
    nodes += [node("DynamicQuantizeLinear", "odd", "d,dscale,dzero")]
    nodes += [node("DequantizeLinear", f"{q},s,zero", f"r{i}") for i, q in enumerate(("qodds", "qevens", "qevennone"))]
    nodes += [node("Add", "x,r0", "u"), node("Add", "u,r1", "v"), node("Add", "v,r2", "y"), node("Identity", "d", "e")]
    m = model(nodes, [value("x", (3,))], [value("y", (3,)), value("e", (3,), TensorProto.UINT8)],
              [numpy_helper.from_array(np.array([1, np.nan, np.inf], np.float32), "odd"), weight("even", 3),
               numpy_helper.from_array(np.float32(0.5), "s"), numpy_helper.from_array(np.float32(0), "none"),
               numpy_helper.from_array(np.int8(-3), "zero")])
    return m, lambda r: require(operators(r) == ["Add"] * 3 + ["DequantizeLinear"] * 3 + ["DynamicQuantizeLinear"] +
                                ["QuantizeLinear"] * 2, operators(r))


def states_of_zeros():
    """A recurrence begins with them by itself."""
    nodes = [node("Expand", "zero,to", "h"), node("Slice", "h,from,one", "first"),
             node("LSTM", "x,w,r,,,first,first", "a", hidden_size=4), node("LSTM", "x,w,r,,,first,c", "b", hidden_size=4),
             node("Add", "a,b", "y")]
    m = model(nodes, [value("x", (5, 2, 3))], [value("y", (5, 1, 2, 4))],
              [numpy_helper.from_array(np.zeros((1, 1, 1), np.float32), "zero"), integers("to", 2, 2, 4), integers("from", 0),
               integers("one", 1), weight("w", 1, 16, 3), weight("r", 1, 16, 4), weight("c", 1, 2, 4)])
    return m, lambda r: require([list(n.input) for n in r.graph.node if n.op_type == "LSTM"] ==
                                [["x", "w", "r", "", "", "", ""], ["x", "w", "r", "", "", "", "c"]] and
                                operators(r) == ["Add", "LSTM", "LSTM"], r.graph.node)


def products_by_named_axes():
    """They stay as they stand, what is expressed and what is not."""
    nodes = [node("Einsum", "x,w", "a", equation="bhwc,cd->bhwd"),
             node("Einsum", "a,x", "b", equation="bhid, bhjd -> bhij"),
             node("Einsum", "b", "c", equation="...ij->...ji"), node("Einsum", "c", "d", equation="bhii->bhi"),
             node("Relu", "d", "y")]
    m = model(nodes, [value("x", (2, 3, 4, 4))], [value("y", (2, 3, 4))], [weight("w", 4, 4)])
    return m, lambda r: require(r == m, "the model changed")


def masks_that_are_scattered():
    """As exporters assign to parts of a constant: the data are an expanded number above what is always computed."""
    nodes = [node("Expand", "zero,shape", "a"), node("ScatterND", "a,places,rows", "b"),
             node("ScatterElements", "b,entries,ones", "c", axis=1), node("GatherND", "c,last", "d"),
             node("Add", "x,c", "e"), node("Add", "e,d", "y"), node("ScatterND", "y,places,rows", "z"),
             node("ScatterND", "b,twice,rows", "w")]
    m = model(nodes, [value("x", (80, 60))], [value("z", (80, 60)), value("w", (80, 60))],
              [numpy_helper.from_array(np.zeros((), np.float32), "zero"), integers("shape", 80, 60),
               integers("places", [3], [-1]), weight("rows", 2, 60), integers("entries", [5, -60]),
               weight("ones", 1, 2), integers("last", -1), integers("twice", [7], [7])])

    def check(r):
        require(operators(r) == ["Add", "Add", "ScatterND", "ScatterND"], f"{operators(r)}")
    return m, check


def constant_nodes():
    m = model([helper.make_node("Constant", [], ["c"], value=weight("t", 2, 3)), node("Add", "x,c", "y")],
              [value("x")], [value("y")])

    def check(r):
        require([n.op_type for n in r.graph.node] == ["Add"], "a constant is still a node")
        require(r.graph.initializer[0].name == "c" and list(r.graph.node[0].input) == ["x", "c"], "names of a constant")
    return m, check


def dead_nodes():
    """Nothing of a node that no output needs is left, nor does it keep what it reads from being merged."""
    nodes = [node("Conv", "x,w", "c"), node("BatchNormalization", "c,s,s,s,s", "y"), node("Relu", "c", "dead"),
             node("Expand", "w,huge", "grown"), node("ReduceSum", "grown", "unused")]
    huge = numpy_helper.from_array(np.array([10 ** 5, 2, 3, 1, 1], np.int64), "huge")
    m = model(nodes, [value("x", (1, 3, 4, 4))], [value("y", (1, 2, 4, 4))],
              [weight("w", 2, 3, 1, 1), positive("s", 2), huge])
    return m, lambda r: require([n.op_type for n in r.graph.node] == ["Conv"], "dead nodes were kept")


def quantization():
    """Stays where it is, constants included, but for what is quantized of weights; what stands around it is typed by it,
    and so simplified."""
    scale, zero = numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.uint8(128), "z")
    kernel = numpy_helper.from_array(rng.integers(-99, 99, (4, 3, 1, 1)).astype(np.int8), "k")
    scales = numpy_helper.from_array(np.float32([0.1, 0.2, 0.1, 0.3]), "ks")
    zeros = numpy_helper.from_array(np.zeros(4, np.int8), "kz")
    bias = numpy_helper.from_array(np.arange(4, dtype=np.int32), "b")
    nodes = [node("QuantizeLinear", "x,s,z", "q"), node("DequantizeLinear", "q,s,z", "d"),
             node("DequantizeLinear", "k,ks,kz", "kd", axis=0), node("DequantizeLinear", "b,ks", "bd", axis=0),
             node("Conv", "d,kd,bd", "c"), node("Identity", "c", "i"), node("Relu", "i", "r"),
             node("QuantizeLinear", "r,s,z", "rq"), node("DequantizeLinear", "rq,s,z", "rd"),
             node("Shape", "rd", "n"), node("Gather", "n,zero", "n0"), node("Unsqueeze", "n0,axes", "n1"),
             node("Concat", "n1,rest", "n2", axis=0), node("Reshape", "rd,n2", "f"),
             node("QuantizeLinear", "w,s,z", "wq"), node("DequantizeLinear", "wq,s,z", "wd"),
             node("MatMul", "f,wd", "y")]
    m = model(nodes, [value("x", (1, 3, 2, 2))], [value("y", (1, 5))],
              [scale, zero, kernel, scales, zeros, bias, weight("w", 16, 5), integers("rest", -1),
               integers("axes", 0), numpy_helper.from_array(np.int64(0), "zero")])

    def check(r):
        require(operators(r) == ["Conv", *["DequantizeLinear"] * 5, "MatMul", *["QuantizeLinear"] * 2, "Relu",
                                 "Reshape"], f"{operators(r)}")
        kinds = {t.name: t.data_type for t in r.graph.initializer}
        require(kinds["k"] == TensorProto.INT8 and kinds["wq"] == TensorProto.UINT8, "weights are no longer quantized")

    return m, check


def products_of_integers_and_recurrences():
    """Each stays one node, and has a type, so that what follows from its sizes is gone."""
    scale, zero = numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.uint8(128), "z")
    bytes_of = lambda name, *shape: numpy_helper.from_array(rng.integers(0, 255, shape).astype(np.uint8), name)
    nodes = [node("DynamicQuantizeLinear", "x", "q,qs,qz"), node("MatMulInteger", "q,w,qz,z", "i"),
             node("Cast", "i", "f", to=FLOAT), node("Mul", "f,qs", "g"),
             node("QLinearMatMul", "q,s,z,w,s,z,s,z", "p"), node("DequantizeLinear", "p,s,z", "h"),
             node("Add", "g,h", "a"), node("LSTM", "a,wi,wr", "l,,c", hidden_size=2), node("GRU", "a,gi,gr", ",k", hidden_size=2),
             node("Shape", "l", "n"), node("Reshape", "l,n", "m"), node("Add", "m,k", "o"), node("Add", "o,c", "y")]
    m = model(nodes, [value("x", (3, 1, 4))], [value("y", (3, 1, 1, 2))],
              [scale, zero, bytes_of("w", 4, 5), weight("wi", 1, 8, 5), weight("wr", 1, 8, 2), weight("gi", 1, 6, 5),
               weight("gr", 1, 6, 2)])
    return m, lambda r: require(operators(r) == sorted(n.op_type for n in nodes if n.op_type not in ("Shape", "Reshape")),
                                f"{operators(r)}")


def quantized_operators_of_a_runtime():
    """Of ONNX Runtime's own domain those that quantized models have are typed."""
    scale, zero = numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.uint8(128), "z")
    nodes = [node("QuantizeLinear", "x,s,z", "q"),
             node("QLinearAdd", "q,s,z,q,s,z,s,z", "a", domain="com.microsoft"),
             node("QLinearGlobalAveragePool", "a,s,z,s,z", "p", domain="com.microsoft", channels_last=0),
             node("DequantizeLinear", "p,s,z", "d"), node("Shape", "d", "n"), node("Slice", "n,zero,two", "m"),
             node("Reshape", "d,m", "y")]
    m = model(nodes, [value("x", (1, 3, 4, 4))], [value("y", (1, 3))],
              [scale, zero, integers("zero", 0), integers("two", 2)])
    m.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return m, lambda r: require(operators(r) == sorted([n.op_type for n in nodes[:4]] + ["Reshape"]), f"{operators(r)}")


def weights_that_are_multiplied_as_integers():
    """Of constants alone all of this is computed."""
    zero = numpy_helper.from_array(np.uint8(3), "z")
    factor = lambda name: numpy_helper.from_array(rng.integers(0, 255, (2, 2)).astype(np.uint8), name)
    m = model([node("MatMulInteger", "v,w,z", "i"), node("Cast", "i", "f", to=FLOAT), node("Add", "x,f", "y")],
              [value("x", (2, 2))], [value("y", (2, 2))], [factor("v"), factor("w"), zero])
    return m, lambda r: require(operators(r) == ["Add"], f"{operators(r)}")


def weights_that_are_trained():
    """What is written is for inference: the weight that training changes is folded, and what would change it is gone."""
    m = model([node("Mul", "c,c", "d"), node("Add", "x,d", "y")], [value("x", (3,))], [value("y", (3,))], [weight("c", 3)])
    training = m.training_info.add()
    training.algorithm.CopyFrom(helper.make_graph([node("Add", "c,c", "changed")], "step", [], [value("changed", (3,))]))
    training.update_binding.add(key="c", value="changed")
    return m, lambda r: require(not r.training_info and [t.name for t in r.graph.initializer] == ["d"])


def test_what_fails(tool, folder):
    """Integers divided by zero and indices beyond an axis are left to runtimes, which fail there."""
    nodes = [node("Div", "a,z", "q"), node("Mod", "a,z", "r"), node("Gather", "a,three", "g"),
             node("GatherElements", "a,three", "e"), node("Add", "q,r", "s"), node("Add", "s,g", "t"),
             node("Add", "t,e", "u"), node("Add", "u,x", "y")]
    m = model(nodes, [value("x", (2,), TensorProto.INT64)], [value("y", (2,), TensorProto.INT64)],
              [integers("a", 5, 6), integers("z", 1, 0), integers("three", 0, 3)])
    result = passes(tool, folder, m)
    require(operators(result) == sorted(n.op_type for n in nodes), f"{operators(result)}")


def reshapes_in_a_row():
    """Are one; a transposition that moves axes of size 1 alone is one, too."""
    nodes = [node("Reshape", "x,flat", "a"), node("Unsqueeze", "a,axes", "b"), node("Transpose", "b", "c", perm=[0, 2, 1]),
             node("Reshape", "c,cut", "y"), node("Transpose", "x", "z", perm=[1, 2, 0])]
    m = model(nodes, [value("x", (2, 1, 6))], [value("y", (3, 4)), value("z", (1, 6, 2))],
              [integers("flat", -1), integers("axes", 0, 1), integers("cut", 3, 4)])
    return m, lambda r: require(operators(r) == ["Reshape", "Transpose"], f"{operators(r)}")


def slices_of_slices():
    nodes = [node("Slice", "x,one,end,axis0,two", "a"), node("Slice", "a,last,first,axis1,back", "b"),
             node("Slice", "b,one,end,axis0,two", "y")]
    m = model(nodes, [value("x", (9, 5))], [value("y", (2, 4))],
              [integers("one", 1), integers("two", 2), integers("end", 100), integers("axis0", 0), integers("axis1", 1),
               integers("last", -1), integers("first", 0), integers("back", -1)])
    return m, lambda r: require(operators(r) == ["Slice"], f"{operators(r)}")


def numbers_that_change_nothing():
    """Zeros that are added, ones that are multiplied, pads of nothing; not where they give another shape."""
    zeros, ones = (numpy_helper.from_array(np.full(3, v, np.float32), n) for n, v in (("zeros", 0), ("ones", 1)))
    wide = numpy_helper.from_array(np.zeros((4, 1, 1), np.float32), "wide")
    many = numpy_helper.from_array(np.zeros((300, 300), np.float32), "many")
    nodes = [node("Add", "zeros,x", "a"), node("Mul", "a,ones", "b"), node("Sub", "b,zeros", "c"),
             node("Pad", "c,pads", "d"), node("Sub", "zeros,d", "e"), node("Add", "e,wide", "y"),
             node("Relu", "u", "v"), node("Add", "v,many", "z")]
    m = model(nodes, [value("x"), value("u", (300, 300))], [value("y", (4, 2, 3)), value("z", (300, 300))],
              [zeros, ones, wide, many, integers("pads", 0, 0, 0, 0)])
    return m, lambda r: require(operators(r) == ["Add", "Relu", "Sub"], f"{operators(r)}")


def constants_that_grow():
    """A table that is computed from two vectors is a constant; a number that is only repeated stays one."""
    places = numpy_helper.from_array(np.arange(100, dtype=np.float32).reshape(100, 1), "rows")
    nodes = [node("Transpose", "rows", "columns", perm=[1, 0]), node("Sub", "columns,rows", "d"),
             node("Expand", "rows,sizes", "e"), node("Mul", "d,e", "t"), node("Mul", "x,t", "z"),
             node("Expand", "number,sizes", "n"), node("Min", "z,n", "y")]
    m = model(nodes, [value("x", (100, 100))], [value("y", (100, 100))],
              [places, integers("sizes", 100, 100), numpy_helper.from_array(np.float32([9]), "number")])
    return m, lambda r: require(operators(r) == ["Expand", "Min", "Mul"], f"{operators(r)}")


def equal_quantizations():
    """What is quantized is a function of what it reads: of equal nodes one stays, also where equal constants have two
    names. Other scales, other attributes, more outputs and random numbers are not equal."""
    def scale(name, x):
        return numpy_helper.from_array(np.float32(x), name)

    initializers = [scale("s", 0.1), scale("t", 0.1), scale("u", 0.2), numpy_helper.from_array(np.int8(3), "z"),
                    numpy_helper.from_array(np.int8(3), "w")]
    nodes = [node("QuantizeLinear", "x,s,z", "a"), node("QuantizeLinear", "x,t,w", "b"), node("QuantizeLinear", "x,u,w", "c"),
             node("DequantizeLinear", "a,s,z", "d"), node("DequantizeLinear", "b,t,w", "e"),
             node("DequantizeLinear", "c,u,w", "f"), node("QuantizeLinear", "x,s,z", "g", axis=0),
             node("DequantizeLinear", "g,s,z", "h"), node("Mul", "d,e", "i"), node("Mul", "f,h", "j"),
             node("Add", "i,j", "y"), node("RandomNormalLike", "x", "r1"), node("RandomNormalLike", "x", "r2"),
             node("Sub", "r1,r2", "r"), node("Abs", "r", "s1"), node("Sign", "s1", "z1")]

    def check(m):
        counts = {op: operators(m).count(op) for op in set(operators(m))}
        require(counts["QuantizeLinear"] == 3 and counts["DequantizeLinear"] == 3, f"{counts}")
        require(counts["RandomNormalLike"] == 2, "random numbers are not equal")
    return model(nodes, [value("x")], [value("y"), value("z1")], initializers), check


def equal_nodes_of_unknown_types():
    """How many places are not zero nobody knows; what is computed of them is yet computed once. Dropout is no function."""
    nodes = [node("NonZero", "x", "n"), *(node("Cast", "n", f"c{i}", to=FLOAT) for i in range(2)),
             *(node("ReduceSum", f"c{i}", f"s{i}", axes=[1], keepdims=0) for i in range(2)), node("Add", "s0,s1", "y"),
             *(node("Dropout", "c0,half,train", f"d{i}", seed=1) for i in range(2)), node("Sub", "d0,d1", "z")]
    m = model(nodes, [value("x")], [value("y", (2,)), value("z", (2, "n"))],
              [numpy_helper.from_array(np.float32(0), "half"), numpy_helper.from_array(np.array(True), "train")], opset=12)
    expected = ["Add", "Cast", "Dropout", "Dropout", "NonZero", "ReduceSum", "Sub"]
    return m, lambda r: require(operators(r) == expected, f"{operators(r)}")


def equal_nodes_of_branches():
    """A node of a branch is one of the branch, which has more of them than the model: the equal ones were looked for in
    the model, and so was what a normalization and a product stand behind."""
    def branch(p):
        nodes = [*(node("Identity", "x", f"{p}{i}") for i in range(40)), *(node("QuantizeLinear", "x,s,z", f"{p}q{i}") for i in "ab"),
                 *(node("DequantizeLinear", f"{p}q{i},s,z", f"{p}d{i}") for i in "ab"),
                 node("Add", f"{p}da,{p}db", f"{p}e"), node("Conv", f"{p}e,k", f"{p}c"),
                 node("BatchNormalization", f"{p}c,one,one,one,one", f"{p}n"), node("MatMul", f"{p}n,m", f"{p}p"),
                 node("Mul", f"{p}p,one", f"{p}r")]
        return helper.make_graph(nodes, "branch", [], [value(f"{p}r", (1, 1, 2, 1))])

    weights = [numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.int8(3), "z"), weight("k", 1, 1, 1, 1),
               positive("one", 1), weight("m", 3, 1)]
    m = model([node("If", "flag", "y", then_branch=branch("t"), else_branch=branch("e"))],
              [value("x", (1, 1, 2, 3)), value("flag", (), TensorProto.BOOL)], [value("y", (1, 1, 2, 1))], weights)
    return m, lambda r: require(operators(r) == ["If"], f"{operators(r)}")


def casts_that_are_undefined():
    """No number is what becomes of infinity as an integer; what is computed behind the cast is yet known by its type."""
    nodes = [node("Cast", "w", "i", to=TensorProto.INT64), node("Cast", "i", "f", to=FLOAT), node("Min", "f,big", "g"),
             node("Mul", "x,g", "h"), node("Add", "h,zeros", "j"), node("Identity", "j", "y")]
    m = model(nodes, [value("x")], [value("y")], [numpy_helper.from_array(np.float32([1, 2, -np.inf]), "w"),
              *(numpy_helper.from_array(np.full(3, v, np.float32), name) for name, v in (("big", 9), ("zeros", 0)))])
    return m, lambda r: require(operators(r) == ["Cast", "Cast", "Min", "Mul"], f"{operators(r)}")


CASES = [equal_nodes_of_branches, products_whose_columns_are_scaled, halves_whose_channels_are_scaled, casts_that_are_undefined, equal_nodes_of_unknown_types, convolutions_whose_channels_are_scaled, equal_quantizations, weights_that_are_trained, reshapes_in_a_row, slices_of_slices, numbers_that_change_nothing, constants_that_grow, quantization,
         products_of_integers_and_recurrences, weights_that_are_multiplied_as_integers, output_that_is_an_alias,
         outputs_that_are_equal, outputs_that_are_an_input_and_a_weight, constant_output, outer_values_of_subgraphs,
         outer_value_of_a_subgraph_that_is_an_output, everything_around_the_graph, initializers_that_are_inputs,
         normalization_of_a_shared_convolution, convolution_with_bias_and_normalization, unused_outputs,
         names_that_are_taken, shapes_that_are_computed, gemm_and_scalars, products_with_bias,
         products_of_transposed, states_of_zeros, quantized_infinities, products_by_named_axes, masks_that_are_scattered, constant_nodes, dead_nodes, quantized_operators_of_a_runtime,
         loop_whose_state_keeps_its_type, loop_whose_state_grows, loop_whose_state_grows_unlike_another,
         branches_and_scans_of_known_types]


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


def test_case(tool, folder, case):
    m, check = case()
    onnx.checker.check_model(m)
    expected = outputs_of(m)
    for options in ([], ["--anew"]):
        result = passes(tool, folder, m, *options)
        onnx.checker.check_model(result)
        require([o.name for o in result.graph.output] == [o.name for o in m.graph.output], "other outputs")
        if not options:
            check(result)
        for a, b in zip(expected, outputs_of(result)):
            require(a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-6), f"other values with {options}")


def nested_parts(opset):
    """Splits of parts, one of which has another reader, and concatenations of concatenations."""
    sizes = {"a,b": [6, 2], "c,d": [3, 3], "e,f": [1, 1]}
    nodes, initializers = [], []
    for whole, parts in zip("xab", sizes):
        as_input = opset >= 13
        nodes.append(node("Split", f"{whole},{whole}_sizes" if as_input else whole, parts, axis=1,
                          **({} if as_input else {"split": sizes[parts]})))
        initializers += [integers(f"{whole}_sizes", *sizes[parts])] if as_input else []
    nodes += [node("Relu", "b", "g"), node("Concat", "d,e", "h", axis=1), node("Concat", "c,h", "i", axis=1),
              node("Concat", "i,f", "j", axis=1)]
    return model(nodes, [value("x", (2, 8))], [value("g", (2, 2)), value("j", (2, 8))], initializers, opset=opset)


def test_parts(tool, folder):
    """What is nested is written as one node, unless something else reads the parts."""
    for opset in (11, 17):
        m = nested_parts(opset)
        for options in ([], ["--anew"]):
            result = passes(tool, folder, m, *options)
            onnx.checker.check_model(result)
            require(operators(result) == ["Concat", "Relu", "Split", "Split"], f"{operators(result)}")
            require(sorted(len(n.output) for n in result.graph.node if n.op_type == "Split") == [2, 3], "parts of the splits")
            for a, b in zip(outputs_of(m), outputs_of(result)):
                require(np.array_equal(a, b), "other values")


def test_shapes(tool, folder):
    nodes = [node("Relu", "x", "a"), node("MatMul", "a,w", "y")]
    m = model(nodes, [value("x", ("batch", 3))], [value("y", ("batch", 5))], [weight("w", 3, 5)])
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
    nodes = [node("MatMul", "x,w", "a"), node("MatMul", "y,w", "b"), node("Add", "a,b", "c"), node("LeakyRelu", "z", "d"),
             node("Add", "c,d", "e", name="last")]
    m = model(nodes, [value(n, (1, 2, 3)) for n in "xyz"], [value("e", (1, 2, 3))], [weight("w", 3, 3)])
    rules = folder / "order.rules"
    rules.write_text(FACTOR_OUT)
    result = passes(tool, folder, m, rules, "1", "1")
    require(operators(result) == ["Add", "Add", "LeakyRelu", "MatMul"], f"{operators(result)}")
    require([list(n.input)[1] for n in result.graph.node if n.name == "last"] == ["d"], "the sum was written anew")
    for a, b in zip(outputs_of(m), outputs_of(result)):
        require(np.allclose(a, b, rtol=1e-5, atol=1e-6), "other values")


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    failures = 0
    ort.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in CASES:
            try:
                test_case(tool, folder, case)
            except Exception as e:
                failures += 1
                print(f"{case.__name__}: {e}")
        test_what_fails(tool, folder)
        test_shapes(tool, folder)
        test_parts(tool, folder)
        test_order(pathlib.Path(sys.argv[2]).resolve(), folder)
    print(f"{len(CASES) - failures} of {len(CASES)} cases hold")
    sys.exit(1 if failures else 0)


main()
