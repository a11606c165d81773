"""Places where numbers are no reals, though rewrites are proved over these: `no_reals.py TASO-OPT`. What is not finite, what
is rounded on purpose, what overflows. Rewrites that fail there are found and done without, and the rest is rewritten."""
import json
import os
import subprocess
import sys

import numpy as np

from expectations import expect, run_tests, tests_of
from made_up import price_too_high
from small_models import session_of, small_model

OPT = sys.argv[1]
MAGIC = np.float32(12582912)   # 1.5 * 2^23: what is added to it is rounded to an integer
FRIENDS = {"a": (8, 8), "b": (8, 8), "c": (8, 8)}
SHARE = "(rule share (source (ewadd (matmul ?x ?y) (matmul ?x ?z))) (target (matmul ?x (ewadd ?y ?z))))\n"
FRIEND_NODES = "p = MatMul(u, a)  q = MatMul(u, b)  r = MatMul(u, c)"   # that are merged in any case


def models(folder):
    """By name: a model, and the output that fails without care."""
    mask = np.where(np.triu(np.ones((4, 4)), 1) > 0, -np.inf, 0).astype(np.float32)
    texts = {
        "root": ("(float[1,4,4,4] x) => (float[1,4,4,4] y) { s = Sqrt(x)  y = Conv<group = 2>(s, w) }", dict(w=(4, 2, 1, 1))),
        "log": ("(float[1,4,4,4] x) => (float[1,4,4,4] y) { s = Log(x)  y = Conv<group = 2>(s, w) }", dict(w=(4, 2, 1, 1))),
        "rounding": ("(float[4,8] x) => (float[4,8] y) { s = Add(x, m)  y = Sub(s, m) }", dict(m=MAGIC)),
        "negated": ("(float[4,8] x) => (float[4,8] y) { s = Add(x, m)  y = Add(s, n) }", dict(m=MAGIC, n=-MAGIC)),
        "fraction": ("(float[4,8] x, float[4,8] z) => (float[4,8] y) { s = Add(x, m)  t = Sub(s, m)  d = Sub(x, t)  y = Mul(d, z) }",
                     dict(m=MAGIC)),
        "convolved": ("(float[1,4,8,8] x) => (float[1,4,8,8] y) { k = Conv(x, w, e)  s = Add(k, m)  y = Sub(s, m) }",
                      dict(w=(4, 4, 1, 1), e=(4,), m=MAGIC)),
        "two-sum": ("(float[64] x, float[64] v) => (float[64] t, float[64] y) { t = Add(x, v)  d = Sub(t, x)  e = Sub(t, d)"
                    "  f = Sub(x, e)  g = Sub(v, d)  y = Add(f, g) }", {}),
        "kahan": ("(float[64] x, float[64] v, float[64] w) => (float[64] t, float[64] y) { y0 = Sub(v, w)  t = Add(x, y0)"
                  "  d = Sub(t, x)  y = Sub(d, y0) }", {}),
        "split": ("(float[64] x) => (float[64] y) { s = Mul(x, k)  d = Sub(s, x)  y = Sub(s, d) }", dict(k=np.float32(4097))),
        "mask": ("(float[4,8] x) => (float[4,4] y) { s = MatMul(x, w)  t = Mul(s, h)  m = Add(t, i)  y = Softmax<axis = 1>(m) }",
                 dict(w=(8, 4), i=mask, h=np.float32(0.5))),
        "masked-product": ("(float[4,4] x) => (float[4,4] y, float[4,4] z) { m = Add(x, i)  y = MatMul(v, m)  z = MatMul(w, m) }",
                           dict(i=mask, v=np.tril(np.ones((4, 4), np.float32)), w=(4, 4))),
    }
    for name, (text, given) in texts.items():
        inputs, rest = text.split(") =>", 1)
        outputs, nodes = rest.split("{", 1)
        text = (f"{inputs}, float[4,8] u) =>{outputs.rstrip().rstrip(')')}, float[4,8] p, float[4,8] q, float[4,8] r) "
                f"{{ {FRIEND_NODES} {nodes}")
        yield name, small_model(folder / f"{name}.onnx", text, **given, **FRIENDS)


def expect_same(name, model, out):
    """Not everywhere finite, and so everywhere where the original is finite."""
    before, after = session_of(model, is_optimizing=False), session_of(out, is_optimizing=False)
    for seed in range(4):
        random = np.random.default_rng(seed)
        feed = {i.name: random.standard_normal(i.shape).astype(np.float32) * (1, 3, 0.1, 30)[seed] for i in before.get_inputs()}
        for output, x, y in zip(before.get_outputs(), before.run(None, feed), after.run(None, feed)):
            finite = np.isfinite(x)
            x, y = x[finite].astype(np.float64), y[finite].astype(np.float64)
            is_same = np.isfinite(y).all() and np.abs(x - y).max(initial=0) <= 1e-5 * np.abs(x).max(initial=0)
            expect(is_same, f"{name}: output {output.name} differs")


def optimize(name, model, *options):
    out, report = model.with_suffix(".out.onnx"), model.with_suffix(".json")
    out.unlink(missing_ok=True)
    quick = [] if {"--no-measure", "fake"} & set(options) else ["--measure-seconds", "0.1"]
    one = [] if "fake" in options else ["--threads", "1"]
    environment = dict(os.environ, XDG_CACHE_HOME=str(model.parent / "cache"), TASO_PYTHON=sys.executable)
    done = subprocess.run([OPT, model, "-o", out, "--json", report, *one, *quick, *options],
                          capture_output=True, text=True, env=environment)
    expect(done.returncode == 0 and out.exists(), f"{name}: exit code {done.returncode}: {done.stderr}")
    if done.returncode == 0:
        expect_same(f"{name} {options}", model, out)
    return done, json.loads(report.read_text()) if done.returncode == 0 else None


def test_checked(folder):
    """The rule and the output are named; what is next to it is rewritten where the machine finds that to be faster."""
    for name, model in models(folder):
        done, told = optimize(name, model, "--runtime", "taso")
        expect(not told or told["check"] != "failed", f"{name}: {told['check']}")
        if told and told["failed_rules"]:
            expect(told["failed_output"] == "y" and f"at output y by a rewrite of {told['failed_rules'][0]}" in done.stderr,
                   f"{name}: {done.stderr}")
    rules = folder / "cancel.rules"
    rules.write_text("(rule cancel (source (sub (ewadd ?x ?y) ?y)) (target ?x))\n")
    # The product goes with what it cancels: that costs less on every machine.
    model = small_model(folder / "cancel.onnx", "(float[64,64] x, float[64,64] v) => (float[64,64] y)"
                        " { p = MatMul(v, w)  s = Add(x, p)  y = Sub(s, p) }", w=np.full((64, 64), MAGIC, np.float32))
    done, told = optimize("cancel", model, "--runtime", "taso", "--rules", rules, "--no-measure")
    expect(told and told["failed_rules"] == ["cancel"] and "cancel: it searches without" in done.stderr, f"cancel: {told}")


def test_unchecked(folder):
    """Nothing that assumes reals is done at such places."""
    for name, model in models(folder):
        if name in ("root", "log"):   # no constant and no sum shows it
            continue
        for options in (["--device", "fake"], ["--device", "fake", "--search", "both"],
                        ["--no-check", "--no-measure", "--runtime", "taso"]):
            _, told = optimize(name, model, *options)
            expect(told and told["opaque_nodes"] > 0, f"{name} {options}: nothing is kept")
    usual = small_model(folder / "usual.onnx", "(float[4,8] x) => (float[4,8] y) { p = Add(x, e)  q = Sub(p, d)  r = Sub(x, q)"
                        "  y = Add(r, x) }", e=np.float32(1), d=np.float32(0.25))
    _, told = optimize("usual", usual, "--device", "fake")
    expect(told and told["opaque_nodes"] == 3, f"usual: x - (x + e - d) takes x away, and nothing else: {told and told['opaque']}")


def test_inputs_are_looked_for(folder):
    """At which the original is finite: at normal numbers each of its outputs is not."""
    rules = folder / "share.rules"
    rules.write_text(SHARE)
    for function in "Sqrt", "Log", "Acosh", "Atanh":
        model = small_model(folder / f"{function}.onnx", f"""(float[256,32] x, float[32,256] u, float[32,256] v) => (float[256,256] y)
                            {{ s = {function}(x)  t = ReduceSum<keepdims = 1>(s)  m = Mul(t, x)
                               p = MatMul(m, u)  q = MatMul(m, v)  y = Add(p, q) }}""")
        for options in ["--runtime", "taso", "--no-measure"], ["--no-measure"]:
            options = [*options, "--rules", rules, "--no-calibrate", "--costs", folder / "priced.costs"]
            options[-1].unlink(missing_ok=True)
            optimize(function, model, *options, "--budget", "0")
            price_too_high(options[-1])   # joining the products pays, however busy this machine is
            _, told = optimize(function, model, *options)
            expect(told and told["rewrites"] and told["check"] == "passed", f"{function}: {told and told['check']}")
            outputs = (told or {}).get("outputs_in_runtime")
            expect(not outputs or all(o["trustworthy"] for o in outputs), f"{function}: {outputs}")


def test_never_finite(folder):
    """An output that is infinite, or no number, at all inputs says nothing: what assumes real numbers is not done to the model,
    and the output is named. What keeps every bit may be."""
    rules = folder / "share.rules"
    rules.write_text(SHARE)
    ways = {"scaled": "g0 = Mul(x, k)  g = Mul(g0, k)", "squared": "g0 = Mul(x, k)  g = Mul(g0, g0)",
            "exponential": "g0 = Mul(x, k)  g1 = Abs(g0)  g = Exp(g1)", "divided": "g0 = Sub(x, x)  g = Div(x, g0)"}
    for name, nodes in ways.items():
        model = small_model(folder / f"{name}.onnx", f"""(float[256,32] x, float[32,256] u, float[32,256] v) => (float[256,256] y, float[256,32] r)
                            {{ {nodes}  p = MatMul(g, u)  q = MatMul(g, v)  y = Add(p, q)  r = Relu(x) }}""", k=np.float32(1e30))
        for options in ["--runtime", "taso", "--no-measure"], ["--no-measure"], ["--no-measure", "--no-validate"]:
            done, told = optimize(name, model, "--rules", rules, *options)
            expect(told and not told["rewrites"] and not told["optimized"], f"{name} {options}: {told and told['rewrites']}")
            expect("output y is not finite at any inputs" in done.stderr, f"{name} {options}: {done.stderr}")
            expect(told and "output y is not finite" in json.dumps(told["summary"]), f"{name} {options}: {told and told['summary']}")


run_tests(tests_of(globals()))
