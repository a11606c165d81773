#!/usr/bin/env python3
"""No false rule is proved: `check_thresholds.py TASO-VERIFY [COUNT [SEED]]`.

Makes COUNT (80) rules that hold at everything small and fail just beyond a number: a size, a rank, an attribute, a
number of groups, how long a list is. Each family below knows one place where an argument of the verifier ends, and puts
the number behind it. What they say is false, by how they are made; `taso-verify rules` may refute them or only test them.
"""
import pathlib
import random
import re
import subprocess
import sys
import tempfile


def times(n, before, term):
    """`before` in front of the term, n times."""
    return f"({before} " * n + term + ")" * n


def entrywise(rng, *terms):
    """A function of the terms that tells them apart."""
    return rng.choice(["(relu {0})", "(ewadd {0} {0})", "(ewmul {0} {0})", "(tanh {0})", "{0}"]).format(*terms)


def both(rng, left, right):
    """The same around both sides; it keeps values that differ apart."""
    around = rng.choice(["{}", "{}", "(neg {})", "(ewadd {} {})", "(tanh {})", "(exp {})"])
    return around.format(left, left), around.format(right, right)


def number(rng, size):
    """A scalar that says how large the size is."""
    text = rng.choice(["(reducesum :axes 0 :keepdims 0 (iewmul :shape {0}))",
                       "(reducesum :axes 0 1 :keepdims 0 (iewmul :shape 1 {0}))",
                       "(reducesum :axes 0 1 :keepdims 0 (matmul (iewmul :shape 1 {0}) (iewmul :shape {0} 1)))"])
    return text.format(size)


# --- families: (source, target, conditions) ----------------------------------------------------------------------------

def permutations(rng):
    """Orders of permutations of up to four axes divide 12; at rank 5 there are others."""
    period, more = rng.choice([(12, 0), (12, 1), (24, 0), (12, 5)])
    image = entrywise(rng, "?x")
    sides = times(period + more, "transpose :perm $p", image), times(more, "transpose :perm $p", image)
    return (*both(rng, *sides), "")


def unions_of_windows(rng):
    """Windows that meet leave no gap until the dilation, or the stride, is larger than they are."""
    m, act = rng.randint(2, 6), rng.choice(["", ":act relu "])
    inner = f"(poolmax :kernel {m} {m} ?x)"
    return rng.choice([
        (f"(poolmax :kernel 2 2 :dilation $d {act}{inner})", f"(poolmax :kernel (+ $d {m}) {act}?x)", ""),
        (f"(reducemax :axes 2 3 (poolmax :kernel {m} {m} :stride $s :pad 0 0 {m - 1} {m - 1} (relu ?x)))",
         "(reducemax :axes 2 3 (relu ?x))", ""),
        (f"(poolmax :kernel 2 2 :dilation $d :pad $p {inner})",
         f"(poolmax :kernel (+ $d {m}) :pad $p ?x)", "(= (sum $p) 0)"),
        (f"(max ?x (poolmax :kernel {m} {m} :dilation $d :pad $p ?x))",
         f"(poolmax :kernel {m} {m} :dilation $d :pad $p ?x)", "")])


def numbers_of_sizes(rng):
    """A difference of sizes has one sign until the size is n."""
    n, axis, rank = rng.randint(6, 29), rng.choice([0, 1]), rng.choice([2, 2, 3])
    bound, size = number(rng, n), number(rng, f"(dim ?x {axis})")
    below = f"(sub {bound} {size})"
    left, right = rng.choice([
        (f"(relu {below})", below), (f"(abs {below})", below), (f"(max {bound} {size})", bound),
        (f"(min {bound} {size})", size), (f"(relu (neg {below}))", f"(sub {size} {size})"),
        (f"(sqrt (ewmul {below} {below}))", below), (f"(max {below} (neg {below}))", below)])
    where = rng.choice(["", f"(= (rank ?x) {rank})"])
    if rng.random() < 0.4:   # as a coefficient
        return f"(relu (smul (relu ?x) {below}))", f"(smul (relu ?x) {below})", where
    if rng.random() < 0.3:
        return (f"(reducemax :axes {1 - axis} (smul ?x {below}))", f"(smul (reducemax :axes {1 - axis} ?x) {below})",
                where)
    return (*both(rng, f"(smul ?x {left})", f"(smul ?x {right})"), where)


def groups(rng):
    """As many groups as are tried hold two places each, or have one filter."""
    c = rng.choice([2, 3])
    g = c * rng.randint(1, 2)
    return rng.choice([
        (f"(merge $g {c} ?k)", f"(merge {g} {c} ?k)", ""),
        (f"(merge $g {c} (relu ?k))", f"(relu (merge {g} {c} ?k))", ""),
        (f"(conv ?x (merge $g {c} ?k))", f"(conv ?x (merge {g} {c} ?k))", ""),
        (f"(ewadd (merge $g {c} ?k) (merge $h {c} ?k))", f"(ewadd (merge {g} {c} ?k) (merge $h {c} ?k))", "")])


def parts(rng):
    """A list of parts may be longer than what is concatenated again."""
    n, axis = rng.randint(3, 5), rng.choice(["0", "1", "$i"])
    whole = f"(split{n - 1} {axis} :sizes $z ?x)"
    for i in range(n - 2, -1, -1):
        whole = f"(concat {axis} (split{i} {axis} :sizes $z ?x) {whole})"
    reduce = "reducesum" if axis == "$i" else rng.choice(["reducesum", "reducemax"])
    return f"({reduce} :axes {axis} {whole})", f"({reduce} :axes {axis} ?x)", ""


def ranks_of_windows(rng):
    """With two axes of windows the named ones are all there are."""
    reduce = rng.choice(["reducemax", "reducemin"])
    axes = rng.choice(["2 3", "3 2", "0 2 3", "1 2 3"])
    turned = "neg " if reduce == "reducemin" else ""
    image = f"({turned}?x)" if turned else "?x"
    pool = f"(poolmax :kernel $k :pad $p{rng.choice(['', ' :stride $s'])} {image})"
    return (f"({reduce} :axes {axes} {f'(neg {pool})' if turned else pool})", f"({reduce} :axes {axes} ?x)",
            "(= (product $s) 1)" if "$s" in pool else "")


def reals(rng):
    """Real attributes have no end."""
    n = rng.randint(3, 90)
    return rng.choice([(f"(clip :max {n} (clip :max $a ?x))", "(clip :max $a ?x)", ""),
                       (f"(clip :min -{n} (clip :min $a ?x))", "(clip :min $a ?x)", ""),
                       (f"(clip :max {n} (relu (clip :max $a ?x)))", "(relu (clip :max $a ?x))", "")])


def casts(rng):
    """Numbers of fewer digits, or fewer values, are others."""
    narrow = rng.choice(["f16", "bf16", "i32", "i64", "u8"])
    return f"(cast :to f32 (cast :to {narrow} {entrywise(rng, '?x')}))", entrywise(random.Random(0), "?x"), ""


def places(rng):
    """A slice of n places is all there is until there are more."""
    n = rng.randint(3, 30)
    return rng.choice([
        (f"(reducemax :axes 0 (slice :start 0 :size {n} :step 1 (relu ?x)))", "(reducemax :axes 0 (relu ?x))",
         "(= (rank ?x) 1)"),
        (f"(trilu :k {n} ?x)", f"(trilu :k {n + 1} ?x)", ""),
        (f"(relu (sub (cumsum 0 (iewmul :shape (dim ?x 0))) (broadcast :shape (dim ?x 0) {number(rng, n)})))",
         "(relu (relu (sub ?x ?x)))", "(= (rank ?x) 1)"),
        (f"(poolmax :kernel 1 1 :stride {n} {n} ?x)", f"(poolmax :kernel 1 1 :stride {n + 1} {n + 1} ?x)", "")])


def parts_of_any_list(rng):
    """Two parts are all there are of a list of two."""
    axis = rng.choice([0, 1])
    reduce, join = rng.choice([("reducesum", "ewadd"), ("reducemax", "max"), ("reducemin", "min")])
    image = entrywise(rng, "?x")
    part = [f"({reduce} :axes {axis} (split{i} {axis} :sizes $z {image}))" for i in range(2)]
    return (*both(rng, f"({join} {part[0]} {part[1]})", f"({reduce} :axes {axis} {image})"), "")


def repetitions(rng):
    """An axis that is as long as the number already is not repeated."""
    n = rng.randint(32, 90)
    return (f"(reducesum :axes 0 (broadcast :shape {n} (dim ?x 1) ?x))",
            f"(smul (reducesum :axes 0 ?x) {number(rng, n)})", "(= (rank ?x) 2)")


def domains(rng):
    """A function that is undefined somewhere is taken away."""
    undefined = rng.choice(["(log ?x)", "(sqrt ?x)", "(reciprocal ?x)", "(acos ?x)", "(pow ?x ?y)", "(div ?y ?x)",
                            "(log (sub ?x (exp ?y)))", "(fmod ?y ?x)", "(atanh ?x)"])
    zero = rng.choice(["(sub {0} {0})", "(sub (ewmul {0} ?y) (ewmul ?y {0}))", "(ewadd {0} (neg {0}))",
                       "(ewmul {0} (sub ?y ?y))", "(min (ewmul {0} {0}) (sub ?y ?y))"]).format(undefined)
    return f"(ewadd {zero} (ewadd ?x ?y))", "(ewadd ?x ?y)", ""


def integers(rng):
    """What is greater overflows."""
    left, right = rng.choice([
        ("(relu (sub ?x ?y))", "(sub (max ?x ?y) ?y)"), ("(max (ewadd ?x ?y) (ewadd ?x ?x))", "(ewadd ?x (max ?x ?y))"),
        ("(min (neg ?x) (neg ?y))", "(neg (max ?x ?y))"), ("(relu (ewadd ?x ?x))", "(ewadd (relu ?x) (relu ?x))")])
    return left, right, "(dtype ?x i64)"


def reaches(rng):
    """A window that begins earlier, and ends where it ended, sees more of all images but the smallest."""
    size, earlier, step = rng.randint(2, 4), rng.randint(1, 2), rng.choice(["1 1", "1 1", "2 2", "$s"])
    before, after = rng.randint(0, size - 1), rng.randint(0, size - 1)
    window = rng.choice(["(poolmax :kernel 1 {0} :stride {1} :pad 0 {2} 0 {3} ?x)",
                         "(poolmax :kernel {0} 1 :stride {1} :pad {2} 0 {3} 0 ?x)",
                         "(conv :stride {1} :pad 0 {2} 0 {3} ?x (iewmul :shape 1 1 1 {0}))"])
    sides = [window.format(size + more, step, before + more, after) for more in (0, earlier)]
    return (*both(rng, *rng.choice([sides, sides[::-1]])), "")


FAMILIES = [permutations, unions_of_windows, numbers_of_sizes, numbers_of_sizes, groups, parts, ranks_of_windows, reals,
            casts, places, parts_of_any_list, repetitions, domains, integers, reaches]


def rules_of(count, seed):
    rng, rules, seen = random.Random(seed), [], set()
    while len(rules) < count:
        family = FAMILIES[len(seen) % len(FAMILIES)]
        seen.add(len(seen))
        source, target, where = family(rng)
        condition = f" (where {where})" if where else ""
        if source != target:
            name = f"{family.__name__.replace('_', '-')}-{len(rules)}"
            rules.append(f"(rule {name} (source {source}) (target {target}){condition})")
    return rules


def main():
    program, *numbers = sys.argv[1:]
    count, seed = [int(n) for n in numbers] + [80, 1][len(numbers):]
    with tempfile.TemporaryDirectory() as folder:
        source, proved = pathlib.Path(folder) / "false.rules", pathlib.Path(folder) / "proved.rules"
        source.write_text("\n".join(rules_of(count, seed)) + "\n", encoding="utf-8")
        command = [program, "rules", source, "-o", proved, "--no-conditions", "--quiet", "--steps", "100000",
                   "--instances", "20000", "--work", "20000000"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode in (0, 1), ran.stderr
        rejected = pathlib.Path(f"{proved}.rejected").read_text(encoding="utf-8")
        wrong = re.findall(r"^\(rule (?:.*\n)(?:  .*\n)*", proved.read_text(encoding="utf-8"), re.MULTILINE)
    reasons = re.findall(r"^; (only tested|refuted|[a-z ]+):?.*?(\(T\d+\))?$", rejected, re.MULTILINE)
    print(f"{len(wrong)} of {count} false rules are proved; {sum(r[0] == 'refuted' for r in reasons)} are refuted, "
          f"{sum(bool(r[1]) for r in reasons)} are of no form that a theorem speaks of")
    assert not wrong, "proved, and false:\n" + "".join(wrong)
    assert len(re.findall(r"^\(rule ", rejected, re.MULTILINE)) == count
    theorems = {r[1] for r in reasons}
    assert count < 80 or {"(T1)", "(T2)", "(T6)", "(T14)"} <= theorems, f"hardly a requirement is asked: {theorems}"


if __name__ == "__main__":
    main()
