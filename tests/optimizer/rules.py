"""Rules that are false, or true but for rounding, or of another file: `rules.py ROOT TASO-OPT TASO-RUN`."""
import re

import numpy as np

from commands import FOLDER, ON_PAPER, OPT, ROOT, UNTIMED, optimize, priced_too_high, run, succeed
from expectations import expect, run_tests, tests_of
from small_models import small_model


def test_wrong_rule(folder):
    """A rule that is false is refuted before it is applied; without that, the check of the outputs fails."""
    model = small_model(folder / "chain.onnx", "(float[64,64] x) => (float[64,64] y) { p = MatMul(x, a)  y = MatMul(p, b) }",
                        a=(64, 64), b=(64, 64))
    wrong, out = folder / "wrong.rules", folder / "wrong.onnx"
    wrong.write_text("(rule drop (source (matmul (matmul ?x ?y) ?z)) (target (matmul ?x ?y)))\n")
    done = succeed("refuted", OPT, model, "-o", out, "--rules", wrong, *UNTIMED[:-1])
    expect(out.read_bytes() == model.read_bytes(), "refuted, and kept")
    expect("REFUTED" in done.stdout and "drop" in done.stdout, f"the wrong rule is named: {done.stdout}")
    out.unlink()
    done = run(OPT, model, "-o", out, "--rules", wrong, "--no-validate", *UNTIMED[:-1])
    expect(done.returncode == 0 and out.exists(), f"the check fails: {done.returncode} {done.stderr}")
    expect("fails the check, at output y" in done.stdout, f"that the original is written, and why: {done.stdout}")
    expect("at output y by a rewrite of drop" in done.stderr, f"the rule and the output are named: {done.stderr}")


def test_rules_of_egraphs(folder):
    """An e-graph has rules of its own, and where --rules names others, those."""
    model = small_model(folder / "sums.onnx", """(float[64,64] x) => (float[64,64] y)
                        { p = MatMul(x, a)  q = MatMul(x, b)  y = Add(p, q) }""", a=(64, 64), b=(64, 64))
    moves, shares = folder / "moves.rules", folder / "shares.rules"
    moves.write_text("(rule moves (source (ewadd ?x (ewadd ?y ?z))) (target (ewadd (ewadd ?x ?y) ?z)))\n")
    shares.write_text("(rule shares (source (ewadd (matmul ?x ?y) (matmul ?x ?z))) (target (matmul ?x (ewadd ?y ?z))))\n")
    for options, applied in (
        (["--rules", moves, "--egraph-rules", shares, "--search", "saturation"], {"shares": 1}),
        (["--rules", moves, "--egraph-rules", shares, "--search", "both"], {"shares": 1}),
        (["--rules", shares, "--search", "saturation"], {"shares": 1}),
        (["--rules", shares, "--egraph-rules", moves, "--search", "saturation"], {}),
    ):
        _, told = optimize(options, model, *options, *ON_PAPER)
        expect(told["rules_applied"] == applied, f"{options}: {told['rules_applied']}")
    expect(told["search"]["saturation"]["unions"] == {}, "moves where nothing is to be moved")
    _, told = optimize("what ships", model, "--search", "saturation", "--only-proved", *ON_PAPER)
    unions = told["search"]["saturation"]["unions"]
    ours = set(re.findall(r"^\(rule (\S+)", (ROOT / "substitutions/egraph.rules").read_text(), re.MULTILINE))
    expect(unions and {name.removeprefix("egraph-") for name in unions} <= ours, f"other rules than ship: {unions}")
    done = run(OPT, model, "--egraph-rules", shares)
    expect(done.returncode == 2 and "only with --search saturation|both" in done.stderr, f"no e-graph: {done.stderr}")
    done = run(OPT, model, "--search", "both", "--egraph-rules", folder / "nothing.rules", *ON_PAPER)
    expect(done.returncode == 3 and "nothing.rules" in done.stderr, f"no such file: {done.returncode} {done.stderr}")


def test_unwanted(folder):
    """Rules that --without names, and larger ones than --max-rule-ops, are used by neither search."""
    model = small_model(folder / "unwanted.onnx", """(float[64,64] x) => (float[64,64] y)
                        { p = MatMul(x, a)  q = MatMul(x, b)  y = Add(p, q) }""", a=(64, 64), b=(64, 64))
    for search in ("backtracking", "saturation"):
        without, used = [], True
        while used and len(without) < 40:
            _, told = optimize("unwanted", model, "--search", search, *without, *ON_PAPER)
            used = set(told["rules_applied"])
            expect(not used & set(without), f"{search}: {used & set(without)} are used all the same")
            expect(used or without, f"{search}: nothing is used at all")
            without += [word for name in sorted(used) for word in ("--without", name)]
        expect(not used, f"{search}: there is no end of rules: {without}")
        _, told = optimize("large rules", model, "--search", search, "--max-rule-ops", "1", *ON_PAPER)
        expect(not told["rules_applied"], f"{search}: no rule of one operator does anything: {told['rules_applied']}")


def test_only_proved(folder):
    """--only-proved believes what was built in, whatever the file and the name of a rule, and no certificate."""
    model = small_model(folder / "proved.onnx", "(float[64,64] x) => (float[64,64] y) { p = MatMul(x, a)  y = Relu(p) }",
                        a=(64, 64))
    rules, only_proved = folder / "certified.rules", ["--only-proved", *ON_PAPER[:-1], "--budget", "60"]
    shipped = (ROOT / "substitutions/taso.rules").read_text()
    certificate = re.search(r"\(rule relu-matmul-e00efd405cd4\n.*\n.*\n  (\(proof .*\))\)\n", shipped)[1]
    true = "(rule {} (source (relu (matmul :act $act ?x ?y))) (target (matmul :act relu ?x ?y)) {})\n".format
    false = "(rule {} (source (relu (matmul ?x ?y))) (target (matmul ?x ?y)) {})\n".format
    for name, text, n_left_out in (
        ("true, without a certificate", true("mine", ""), 0),
        ("true, though it says less", true("mine", "(checked (tested (ranks 0 4)))"), 0),
        ("one of each", false("drop", certificate) + true("mine", ""), 1),
        ("what ships", shipped, shipped.count("\n  (checked ")),
    ):
        rules.write_text(text)
        _, told = optimize(name, model, "--rules", rules, *only_proved, "--quiet")
        used = {step["rule"] for step in told["rewrites"]}
        expect(used and "drop" not in used, f"{name}: {used}")
        expect(told["rules_left_out"] == n_left_out, f"{name}: {told['rules_left_out']} rules left out")
    for rule in "drop", "relu-matmul-e00efd405cd4":
        rules.write_text(false(rule, certificate))
        done = run(OPT, model, "--rules", rules, *only_proved, "--quiet")
        expect(done.returncode == 2, f"false, with the certificate of a true one: {done.returncode} {done.stderr}")
        expect("of 1 rule this build knows none as proved (claimed: 1" in done.stderr, f"{rule}: {done.stderr}")
    rules.write_text(false("drop", certificate) + true("mine", ""))
    done = run(OPT, model, "--rules", rules, *only_proved)
    expect("though they claim to be proved: 1 of 2 rules" in done.stderr, f"the claim is named: {done.stderr}")
    expect("1 rule not used, as this build does not know it as proved" in done.stdout, f"the report says how many: {done.stdout}")


def test_lost_digits(folder):
    """A rule that is true, but leaves rounding errors of 1e9 where 1 is wanted, is done without."""
    model = small_model(folder / "scales.onnx", """(float[64,64] x) => (float[64,64] y, float[64,64] z)
                        { y = Mul(x, a)  z = Mul(x, b) }""", a=(64, 64), b=np.full((64, 64), 1e9, np.float32))
    rules, out = folder / "differences.rules", folder / "differences.onnx"
    rules.write_text("(rule by-differences (source (ewmul ?x ?y) (ewmul ?x ?z))"
                     " (target (sub (ewmul ?x (ewadd ?y ?z)) (ewmul ?x ?z)) (ewmul ?x ?z)))\n")
    arguments = [OPT, model, "-o", out, "--rules", rules, *priced_too_high(model, folder / "scales.costs"),
                 *UNTIMED[:-1]]
    done = succeed("kept", *arguments)
    expect(out.read_bytes() == model.read_bytes(), f"kept: {done.stderr}")
    expect("by a rewrite of by-differences" in done.stderr, f"that it was searched again is said: {done.stderr}")


def test_products_saved_by_kernels(folder):
    """What our own kernels do, within what they may err by, none of our rules does in operators. A rule that is given does."""
    rules, out = folder / "saves.rules", folder / "saved.onnx"
    model = small_model(folder / "product.onnx", "(float[64,64] x) => (float[64,64] y) { y = MatMul(x, a) }", a=(64, 64))
    rules.write_text("(rule saves (source (matmul ?x ?y))"
                     " (target (sub (matmul ?x (ewadd ?y ?y)) (matmul ?x ?y))))\n")
    for options, is_used in (([], False), (["--exact"], True), (["--device", "fake"], True), (["--rules", rules], True)):
        done = succeed(f"{options}", OPT, model, "-o", out, "--no-measure", "--verbose", "--budget", "5", *options)
        expect(("rules are left to kernels" not in done.stderr) == is_used, f"{options}: {done.stderr}")


def is_kept(model, name, rule):
    """The rule, which is true of real numbers, makes other values."""
    rules, out = model.with_suffix(".rules"), model.with_suffix(".fast.onnx")
    rules.write_text(f"(rule {rule})\n")
    _, told = optimize(name, model, "-o", out, "--rules", rules, *priced_too_high(model, model.with_suffix(".costs")), *UNTIMED)
    expect(out.read_bytes() == model.read_bytes(), f"{name}: kept")
    expect(told["failed_output"] == "y" and told["failed_rules"] == [rule.split()[0]] and
           "fails the check, at output y" in told["kept_reason"], f"{name}: the reason is told: {told}")


def test_rounded(folder):
    """(x + 1e9) - 1e9 has no digits of x, and 60000 x . w differs from (60000 x) . w in what overflows 16 bits."""
    huge = np.full((64, 64), 1e9, np.float32)
    model = small_model(folder / "unstable.onnx", "(float[64,64] x) => (float[64,64] y) { p = Add(x, a)  y = Add(p, b) }",
                        a=huge, b=-huge)
    is_kept(model, "unstable",
                "associate (source (ewadd (ewadd ?x ?y) ?z)) (target (ewadd ?x (ewadd ?y ?z)))")
    model = small_model(folder / "overflow.onnx", "(float16[8,4] x) => (float16[8,1] y) { p = MatMul(x, w)  y = Mul(p, s) }",
                        w=np.linspace(-2, 1, 4, dtype=np.float16)[:, None], s=np.float16(60000))
    is_kept(model, "overflow",
                "first (source (ewmul (matmul ?x ?y) (broadcast :shape $s ?z)))"
                " (target (matmul (ewmul ?x (broadcast :shape (dims ?x) ?z)) ?y)) (where (= (rank ?z) 0))")


run_tests(tests_of(globals()), FOLDER)
