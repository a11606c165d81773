"""What grown_models.py adds besides single nodes: subgraphs in subgraphs that read tensors of all graphs around them,
functions of the model, sequences, and operators that have a type and no meaning, or not even a type."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper

REFERENCES = {"alpha": AttributeProto.FLOAT, "axis": AttributeProto.INT, "flag": AttributeProto.INT}


def refer(node, name, attribute):
    """The node's attribute is what the call of the function says."""
    node.attribute.append(AttributeProto(name=name, ref_attr_name=attribute, type=REFERENCES[attribute]))
    return node


def untyped(names):
    return [helper.make_empty_tensor_value_info(name) for name in names]


class Structures:
    def nest(self, prefix, names, depth):
        """Nodes, their constants, and the tensor that they make; `names` can be read there, and the first is what is
        looped over."""
        kind = self.choose(["body", "If", "If", "Loop", "Scan"]) if depth else "body"
        if kind == "body" or (kind == "Scan" and names[0] not in self.values):   # Scan wants ranks, which others do not tell
            return self.body(prefix, names)
        return [self.node_with_bodies(kind, prefix, names, depth)], [], f"{prefix}_r"

    def node_with_bodies(self, kind, prefix, names, depth):
        info = helper.make_tensor_value_info

        def graph(part, more=(), inputs=(), first=(), outputs=()):
            nodes, constants, last = self.nest(f"{prefix}_{part}", [*more, *names], depth - 1)
            return helper.make_graph([*first, *nodes], part, list(inputs), [*outputs, *untyped([last])], constants)
        made, read = [f"{prefix}_r"], [names[0]]
        if kind == "If":
            parts = self.choose([("then", "else"), ("branch", "branch")])   # names in both may be the same
            bodies = dict(zip(("then_branch", "else_branch"), map(graph, parts)))
            return helper.make_node("If", [self.weight(np.array(self.chance(0.5)))], made, **bodies)
        element = helper.np_dtype_to_tensor_dtype(self.values[names[-1]].dtype)
        if kind == "Scan":
            entry = info(f"{prefix}_e", element, self.values[names[0]].shape[1:])
            return helper.make_node("Scan", read, made, num_scan_inputs=1, body=graph("scan", [f"{prefix}_e"], [entry]))
        go, on = f"{prefix}_go", f"{prefix}_on"
        inputs = [info(f"{prefix}_i", TensorProto.INT64, []), info(go, TensorProto.BOOL, []), info(f"{prefix}_s", element, None)]
        body = graph("loop", [f"{prefix}_s"], inputs, [helper.make_node("Identity", [go], [on])], [info(on, TensorProto.BOOL, [])])
        return helper.make_node("Loop", [self.weight(np.array(self.choose([0, 1, 2]), np.int64)), "", *read], made, body=body)

    def nested(self):
        x = self.tensor(lambda v: v.dtype.kind in "fi" and v.ndim > 0 and 0 < v.size < 200)
        if x is None:
            return False
        name, read, first = f"nest{len(self.nodes)}", [x, self.other(x), self.other(x)], len(self.weights)
        node = self.node_with_bodies(self.choose(["If", "Loop", "Scan"]), name, read, self.choose([1, 2, 3]))
        return self.add_nodes([node], list(dict.fromkeys(read + [w.name for w in self.weights[first:]])), [f"{name}_r"])

    # --- functions ---

    def new_function(self):
        """Of two tensors and a bound that may be left out, with attributes of which one has a standard value."""
        number, nodes, names = len(self.functions), [], ["a", "b"]
        for i in range(int(self.random.integers(1, 5))):
            x, made = self.choose(names[-2:]), f"v{i}"
            kind = self.choose(["slope", "softmax", "number", "bound", "sum", "sum", "sum", "branch", "call"])
            if kind == "slope":
                nodes.append(refer(helper.make_node("LeakyRelu", [x], [made]), "alpha", "alpha"))
            elif kind == "softmax":
                nodes.append(refer(helper.make_node("Softmax", [x], [made]), "axis", "axis"))
            elif kind == "number":
                nodes += [refer(helper.make_node("Constant", [], [f"{made}c"]), "value_float", "alpha"),
                          helper.make_node("CastLike", [f"{made}c", x], [f"{made}d"]),
                          helper.make_node("Mul", [x, f"{made}d"], [made])]
            elif kind == "bound":
                nodes.append(helper.make_node("Clip", [x, "low"], [made]))
            elif kind == "branch":
                inner = refer(helper.make_node("Elu", [x], [f"{made}t"]), "alpha", "alpha")
                bodies = [helper.make_graph([inner], "t", [], untyped([f"{made}t"])),
                          helper.make_graph([helper.make_node("Sub", [x, "b"], [f"{made}e"])], "e", [], untyped([f"{made}e"]))]
                flag = refer(helper.make_node("Constant", [], [f"{made}f"]), "value_int", "flag")
                nodes += [flag, helper.make_node("Cast", [f"{made}f"], [f"{made}g"], to=TensorProto.BOOL),
                          helper.make_node("If", [f"{made}g"], [made], then_branch=bodies[0], else_branch=bodies[1])]
            elif kind == "call" and self.functions:
                inner = helper.make_node(self.choose(self.functions).name, [x, self.choose(names)], [made], domain="own")
                nodes.append(refer(refer(inner, "alpha", "alpha"), "axis", "axis"))
            else:
                nodes.append(helper.make_node(self.choose(["Add", "Sub"]), [x, self.choose(names)], [made]))
            names.append(made)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("own", 1)]
        standard = [helper.make_attribute("flag", self.choose([0, 1]))]
        return helper.make_function("own", f"F{number}", ["a", "b", "low"], [names[-1]], nodes, opsets, ["alpha", "axis"], standard)

    def call(self):
        x = self.float(1, 4)
        if x is None or self.ir_version < 8 or self.opset < 15:
            return False
        if not self.functions or self.chance(0.4):
            self.functions.append(self.new_function())
        low = [self.weight(np.array(-0.5, self.values[x].dtype))] if self.chance(0.4) else []
        node = helper.make_node(self.choose(self.functions).name, [x, self.other(x), *low], [f"t{len(self.values)}"], domain="own",
                                alpha=float(self.random.uniform(0.1, 1)), axis=self.axis(self.values[x]),
                                **({"flag": self.choose([0, 1])} if self.chance(0.5) else {}))
        return self.add_nodes([node], list(node.input), list(node.output))

    # --- without a meaning ---

    def sequence(self):
        x = self.tensor(lambda v: v.ndim > 0)
        if x is None:
            return False
        n, made = len(self.nodes), f"t{len(self.values)}"
        y = self.tensor(lambda v: v.dtype == self.values[x].dtype and v.shape == self.values[x].shape)
        if self.chance(0.3):
            first = helper.make_node("SplitToSequence", [x], [f"sequence{n}"], axis=0)
        else:
            first = helper.make_node("SequenceConstruct", [x, y], [f"sequence{n}"])
        at, reads = self.weight(np.array(self.choose([0, -1]), np.int64)), [x, y]
        if self.chance(0.5):
            last = helper.make_node("ConcatFromSequence", [f"sequence{n}"], [made], axis=0)
        else:
            last, reads = helper.make_node("SequenceAt", [f"sequence{n}", at], [made]), [*reads, at]
        return self.add_nodes([first, last], list(dict.fromkeys(reads)), [made])

    def data_dependent(self):
        x = self.tensor(lambda v: v.ndim > 0 and v.size > 0)
        if x is None:
            return False
        kind = self.choose(["NonZero", "Compress", "Unique"])
        if kind == "Compress":
            axis = self.axis(self.values[x])
            return self.add("Compress", [x, self.weight(self.entries(bool, (self.values[x].shape[axis],)))], axis=axis)
        return self.add("NonZero", [x]) if kind == "NonZero" else self.add("Unique", [x], self.choose([1, 2, 4]))

    def resize(self):
        x = self.float(1)
        if x is None or self.opset < 11:
            return False
        shape = [self.choose([n, n, 2 * n, n + 1]) for n in self.values[x].shape]
        mode = dict(mode=self.choose(["nearest", "nearest", "linear"]), coordinate_transformation_mode=self.choose(
            ["half_pixel", "asymmetric", "align_corners"]))
        if self.chance(0.5):
            return self.add("Resize", [x, "", "", self.integers(shape)], **mode)
        scales = np.array([a / b if b else 1 for a, b in zip(shape, self.values[x].shape)], np.float32)
        return self.add("Resize", [x, "" if self.opset > 12 else self.weight(np.zeros(0, np.float32)), self.weight(scales)], **mode)

    def signal(self):
        """Of types that are known by rule."""
        x = self.tensor(lambda v: v.dtype == np.float32 and v.ndim > 1 and v.size > 0)
        if x is None:
            return False
        value = self.values[x]
        kind = self.choose(["DFT", "Det", "LpPool", "GlobalLpPool", "CenterCropPad", "STFT", "Col2Im", "loss", "MeanVarianceNormalization"])
        n = value.ndim - 2
        if kind == "DFT":
            length = ["", self.weight(np.array(self.size() or 1, np.int64))][:self.choose([1, 2])]
            return self.add("DFT", [x, *length[1:]], onesided=int(self.chance(0.5)),
                            axis=self.choose(range(value.ndim - 1)) if self.opset < 20 else None)
        if kind == "LpPool":
            return self.add("LpPool", [x], kernel_shape=[self.choose([1, 2]) for _ in range(n)],
                            strides=[self.choose([1, 2]) for _ in range(n)], pads=[self.choose([0, 1]) for _ in range(2 * n)])
        if kind == "CenterCropPad":
            return self.add("CenterCropPad", [x, self.integers([self.size() for _ in value.shape])])
        if kind == "STFT":
            return self.add("STFT", [x, self.weight(np.array(self.choose([1, 2]), np.int64)), "",
                                     self.weight(np.array(self.choose([1, 2, 3]), np.int64))], onesided=int(self.chance(0.6)))
        if kind == "Col2Im":
            return self.add("Col2Im", [x, self.integers([2, 2]), self.integers([self.choose([1, 2]), 1])])
        if kind == "loss":
            target = self.weight(self.random.integers(0, value.shape[1], (value.shape[0], *value.shape[2:])))
            return self.add("SoftmaxCrossEntropyLoss", [x, target], self.choose([1, 2]), reduction=self.choose(["none", "sum", "mean"]))
        return self.add(kind, [x])
