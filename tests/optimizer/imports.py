"""What reading a model comes to: the list of nodes that are kept as they are, constants that are computed up to a limit,
one by one and in all, and those that nothing needs: `imports.py TASO-OPT [--few]`. With --few each second test."""
import html
import json
import re
import subprocess
import sys

import numpy as np
import onnx

from expectations import run_tests, tests_of
from small_models import small_model

OPT = sys.argv[1]


def ones(*shape):
    return np.full(shape, 1, np.float32) / 3


def optimize(folder, text, given, *options):
    """The report, the page, what was printed and said, and the model that was written."""
    model = small_model(folder / "model.onnx", text, **given)
    model.write_bytes(model.read_bytes().replace(b"Odd_b_", b"Odd<b>"))   # no name in the text form
    done = subprocess.run([OPT, folder / "model.onnx", "-o", folder / "out.onnx", "--device", "fake", "--json",
                           folder / "report.json", "--html", folder / "report.html", *options], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}{done.stdout}"
    return (json.loads((folder / "report.json").read_text()), (folder / "report.html").read_text(), done.stdout + done.stderr,
            onnx.load(folder / "out.onnx"))


def test_kept(folder):
    """By operator and reason, the most frequent first, in all three reports; names are shown, never interpreted."""
    told, page, printed, _ = optimize(folder, """(float[3,1,4] x) => (float[1,1,2] y)
        { "", h = LSTM<hidden_size = 2>(x, w, r)  "", "", c = LSTM<hidden_size = 2>(x, w, r)
          o = my.domain.Odd_b_(h, c)  y = Relu(o) }""", {"w": ones(1, 8, 4), "r": ones(1, 8, 2)})
    rows = [("", "LSTM", 2, "a recurrence stays one node"), ("my.domain", "Odd<b>", 1, "it is of the domain my.domain"),
            ("", "Relu", 1, "the type of input 1 is not known")]
    assert told["opaque_nodes"] == 4
    assert told["opaque"] == [dict(zip(("domain", "operator", "nodes", "reason"), row)) for row in rows], told["opaque"]
    line = next(line for line in printed.splitlines() if "not understood" in line)
    assert line.endswith(" 4 nodes, kept as they are: " + ", ".join(f"{n} {operator} ({reason})" for _, operator, n, reason in rows))
    for _, operator, n, reason in rows:
        cells = [html.escape(text) for text in (operator, str(n), reason)]
        assert f"<tr><td>{cells[0]}</td><td class=\"r\">{cells[1]}</td><td>{cells[2]}</td></tr>" in page, operator
    told, page, printed, _ = optimize(folder, "(float[2] x) => (float[2] y) { y = Relu(x) }", {})
    assert told["opaque"] == [] and "understood" not in printed and "kept as they are" not in page


def chain_of_constants(n, is_dead):
    """n exponentials of constants of 100 elements, all of them used by the output, or none."""
    nodes = [f"e{i} = Exp(w{i})" for i in range(n)] + ["a0 = Add(x, e0)"]
    nodes += [f"a{i} = Add(a{i - 1}, e{i})" for i in range(1, n)] + [f"y = Relu({'x' if is_dead else f'a{n - 1}'})"]
    return (f"(float[100] x) => (float[100] y) {{ {' '.join(nodes)} }}",
            {f"w{i}": np.full(100, i / n, np.float32) for i in range(n)})


def test_fold_limit(folder):
    """The limit of one constant, and 64 times as much of all: here 64 constants, and no more."""
    for limit, computed in ((100, 64), (99, 0), (1000, 70)):
        told, _, _, written = optimize(folder, *chain_of_constants(70, False), "--fold-limit", str(limit), "--budget", "0",
                                       "--no-simplify")
        assert told["constants_folded_at_import"] == computed, (limit, told["constants_folded_at_import"])
    assert sum(n.op_type == "Exp" for n in written.graph.node) == 70, "the original was not asked for"


def products(n):
    return "".join(f"w{i + 1} = MatMul(w{i}, w0) " for i in range(n))


def test_fold_work(folder):
    """A product of 100 x 100 constants takes 2,000,000 operations, and 1,000 are done for each element of the limit."""
    told, _, _, _ = optimize(folder, f"(float[100] x) => (float[100,100] y) {{ {products(8)} y = Add(x, w8) }}",
                             {"w0": np.full((100, 100), 0.01, np.float32)}, "--fold-limit", "10000", "--budget", "0",
                             "--no-simplify")
    assert told["constants_folded_at_import"] == 5, told["constants_folded_at_import"]


def operations_of_constants(folder, text, given):
    """At all bindings that the model is imported at."""
    _, _, said, _ = optimize(folder, text, given, "--budget", "0", "--no-check", "--no-measure", "-v")
    return int(re.search(r"constants were computed in (\d+) operations", said)[1])


def test_constants_of_all_bindings(folder):
    """A model with symbols is imported at tens of bindings; what they have in common is computed once: two products of
    27,000,000 multiplications and additions each."""
    for size in (3, "batch"):
        operations = operations_of_constants(
            folder, f"(float[{size},300] x) => (float[{size},300] y) {{ {products(2)} y = MatMul(x, w2) }}",
            {"w0": np.full((300, 300), 0.01, np.float32)})
        assert operations == 108_000_000, f"{operations} of {size}"


def peak_of_exponentials(folder, size):
    """Of a model with 8 chains of three constants of a million elements."""
    nodes = "".join(f"a{i} = Exp(w{i})  b{i} = Exp(a{i})  c{i} = Exp(b{i})  y{i} = MatMul(x, c{i})  " for i in range(8))
    outputs = ", ".join(f"float[{size},1000] y{i}" for i in range(8))
    told, _, _, _ = optimize(folder, f"(float[{size},1000] x) => ({outputs}) {{ {nodes} }}",
                             {f"w{i}": np.full((1000, 1000), -i - 1, np.float32) for i in range(8)}, "--budget", "0",
                             "--no-check", "--no-measure")
    return told["peak_memory_bytes"]


def test_memory_of_constants_of_all_bindings(folder):
    """They are there once, not once for each binding."""
    fixed, symbolic = peak_of_exponentials(folder, 3), peak_of_exponentials(folder, "batch")
    assert symbolic < 1.5 * fixed, f"{symbolic} bytes with a symbol, {fixed} without"


def operations_of_sums(folder, n):
    """Of a model with n running sums of zeros, as many rows of them as x has."""
    sums = "".join(f"s{i + 1} = CumSum(s{i}, axis) " for i in range(n))
    return operations_of_constants(
        folder, f"""(float[batch,16,16] x) => (float[batch,16,16] y) <int64 axis = {{2}}>
                    {{ shape = Shape(x)  s0 = Expand(zeros, shape)  {sums} y = Add(x, s{n}) }}""",
        {"zeros": np.zeros((1, 1, 1), np.float32)})


def test_constants_of_symbolic_types(folder):
    """They are no constants; none is computed, and with it all that it is made of, to see that."""
    assert operations_of_sums(folder, 40) == 4 * operations_of_sums(folder, 10)


def test_chosen_by_constants(folder):
    """GatherND by constant indices is a Gather of axes that are one, whatever it chooses from."""
    indices = {"i": np.array([[[0, 1], [1, -1]], [[1, 0], [0, 0]]]), "j": np.array([[[2]], [[0]]])}
    text = """(float[2,{},4] x) => (float[2,2,4] y, float[2,1,4] z)
              {{ y = GatherND(x, i)  z = GatherND<batch_dims = 1>(x, j) }}""".format
    assert optimize(folder, text(3), indices)[0]["opaque"] == []
    reasons = [(row["operator"], row["reason"]) for row in optimize(folder, text("width"), indices)[0]["opaque"]]
    assert reasons == [("GatherND", "it chooses from an axis of any size")], reasons


def test_dead_constants(folder):
    """What no output depends on is not computed, be it ever so large."""
    told, _, _, written = optimize(folder, *chain_of_constants(70, True))
    assert told["constants_folded_at_import"] == 0
    assert [n.op_type for n in written.graph.node] == ["Relu"] and not written.graph.initializer


run_tests(tests_of(globals())[1::2] if "--few" in sys.argv else tests_of(globals()))
