#!/usr/bin/env python3
"""`taso-verify try` as a user runs it.

check_try.py TASO-VERIFY --differ FALSE.rules   finds what is false, the same with any number of threads (of each tenth rule)
check_try.py TASO-VERIFY --agree N FILE...      finds nothing in what is true, at N instances of each
check_try.py TASO-VERIFY --far N FILE...        the same at high ranks, long axes and large attributes; finds what is false there
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# False, but only where types, sizes or numbers of a kind meet that are seldom tried: ranks of 5, pads on one end alone,
# the sums of powers of four numbers, division by 0, strides of 7 and of 31, sizes of 200; or of inputs that have cuts
# (cut-rows-of-product), which rules are not for; pads below 0; thresholds in the thousands; or not known to be false. An
# entry that is no number on one side alone tells nothing where a sum overflows; integers are small ones; what differs in the 58th bit.
TOO_RARE = {
    "all-pads-of-sum-one",
    "at-of-strides",
    "axes-behind-an-identity",
    "axes-of-a-mean",
    "axes-of-a-mean-joined",
    "axes-of-an-identity",
    "axis-divides-three",
    "axis-divisor-of-ten",
    "axis-equal-to-one-of-another-rank",
    "axis-equal-to-one-of-another-rank-joined",
    "axis-looked-up",
    "axis-of-a-written-size-of-five",
    "below-cast-doubled",
    "below-cast-halved",
    "below-cast-of-unsigned",
    "below-gather-doubled",
    "below-gather-doubled-and-turned",
    "below-onehot-negative",
    "beside-image-far",
    "blocks-with-pads",
    "clip-far",
    "clip-large-constants",
    "coefficient-of-differences-until-20",
    "coefficient-until-20-pool",
    "coefficient-until-20-prelu",
    "coefficient-until-20-sum",
    "coefficient-until-20-where",
    "condition-of-sum",
    "cut-rows-of-product",
    "dilation-before-the-image",
    "end-of-five-places",
    "end-of-four-places",
    "groups-by-rows-of-part",
    "infinite-limits-cancelled",
    "integer-beside-subterms",
    "integer-by-a-cast",
    "integer-by-an-open-cast",
    "integer-by-comparison",
    "integer-by-places-of-maxima",
    "integer-by-places-that-are-read",
    "integer-chosen-difference",
    "integer-constant-above",
    "integer-constant-beside-subterms",
    "integer-difference-above",
    "integer-double",
    "integer-greatest-double",
    "integer-greatest-negative",
    "integer-greatest-of-sums",
    "integer-in-a-law",
    "integer-least",
    "integer-place-of-greatest",
    "integer-without-sign",
    "kernel-of-more-than-four",
    "kind-of-a-batch-summed",
    "kind-of-a-batch-that-is-said",
    "kind-of-a-shape-that-is-said",
    "kind-of-a-shape-with-a-sum",
    "kind-of-eightfold-batches",
    "kind-of-greatest-on-two-axes",
    "kind-of-sevenfold-parts",
    "length-in-condition",
    "length-of-pads",
    "maxima-of-zeros-around-a-kernel",
    "maxima-of-zeros-beside-either-axis",
    "merge-group-cubic",
    "middle-far-beside-the-image",
    "middles-moved-apart",
    "number-above-zero",
    "number-plus-and-minus",
    "number-times-zero",
    "number-until-20-greatest",
    "pads-beside-a-kernel-of-four",
    "parts-not-three",
    "parts-not-three-subtracted",
    "parts-one-or-five",
    "parts-up-to-three-summed",
    "permutation-twelve-times-of-one-factor",
    "permutation-with-tail-turned",
    "places-third-difference",
    "places-third-difference-of-maxima",
    "pool-avg-kernel-below-literals",
    "pool-kernel-quartic",
    "pool-max-kernels-exchanged",
    "pool-pads-of-another-size-reach-the-stride",
    "pool-pads-reach-the-stride",
    "pool-pads-reach-the-stride-summed",
    "rank-in-a-list",
    "rank-none-of-those-tried",
    "rank-of-one-or-seven",
    "rank-of-two-or-seven",
    "repeated-33-times-or-not",
    "repeated-40-times-or-not",
    "repeated-five-times-or-not",
    "repeated-for-five-beside",
    "reshape-in-sevenths",
    "set-dropped-five-times-largest",
    "set-dropped-thrice-and-twice",
    "set-kept-or-dropped-five-times",
    "set-of-four-then-any-reducesum",
    "set-of-four-then-softmax-neg",
    "shape-of-a-factor-below-a-window",
    "shape-of-eight-max-is-min",
    "shape-of-five-beside",
    "size-at-an-axis-of-another-rank",
    "size-counted-by-another-rank",
    "size-counted-by-another-rank-last",
    "slice-step-cubic",
    "slopes-multiplied",
    "split-sizes-cubic",
    "steps-beside-a-window-on-another-axis",
    "steps-of-three-beside-another-axis",
    "steps-reach-the-pad-in-a-hundred",
    "steps-tie-images",
    "steps-tie-images-behind-windows",
    "steps-tie-images-by-kernel",
    "steps-tie-means",
    "steps-tie-one-axis",
    "tied-pads",
    "tied-strides-of-maxima",
    "undefined-sum-of-quotients",
    "undefined-times-an-identity",
    "undefined-times-merged-zeros",
    "undefined-times-zeros-of-an-enlargement",
    "unequal-pads",
    "zeros-of-a-choice",
    "zeros-of-another-type",
    "zeros-of-one-type",
}
TOTALS = re.compile(r"^(\d+) equations? at (\d+) instances?: (\d+) differ, (\d+) have no instance$", re.MULTILINE)


def run(program, *arguments):
    ran = subprocess.run([program, "try", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    totals = TOTALS.search(ran.stdout)
    assert totals, ran.stdout
    assert ran.returncode == (totals[3] != "0"), "the exit code says something else"
    return ran.stdout, [int(n) for n in totals.groups()]


def check_false(program, file):
    out, (n, _, n_different, _) = run(program, file, "--instances", "100", "-j", "1")
    agreeing = set(re.findall(r"^(\S+): \d+ instances?$", out, re.MULTILINE))
    assert agreeing == TOO_RARE, f"agree: {agreeing - TOO_RARE}, differ: {TOO_RARE - agreeing}"
    assert n_different == n - len(TOO_RARE)
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as few:
        few.write("".join(re.split(r"^(?=\(rule )", pathlib.Path(file).read_text(encoding="utf-8"), flags=re.MULTILINE)[::10]))
        few.flush()
        out, *others = (run(program, few.name, *of)[0] for of in (["-j", "1"], ["-j", "3"], ["-j", "1", "--seed", "2"]))
    assert out == others[0], "threads change what is found"
    assert out != others[1], "the seed does nothing"


def check_true(program, instances, *files):
    out, (n, n_instances, n_different, n_untried) = run(program, "--instances", instances, "--attempts", "60", "-q", *files)
    print(out)
    assert n_different == 0, "something differs"
    assert n_untried <= n // 20 and n_instances >= n, "hardly anything was tried"


FAR = """(rule twelve-times (source {}) (target ?x))
(rule dilation-of-three (source (poolmax :kernel 2 2 :dilation $d (poolmax :kernel 2 2 ?x)))
  (target (poolmax :kernel (+ $d 2) ?x)))
(rule three-axes-of-windows (source (reducemax :axes 2 3 (poolmax :kernel $k :pad $p ?x)))
  (target (reducemax :axes 2 3 ?x)))
(rule four-parts-of-five (source (reducesum :axes 0 (concat 0 (split0 0 :sizes $z ?x) (split1 0 :sizes $z ?x)
    (split2 0 :sizes $z ?x) (split3 0 :sizes $z ?x))))
  (target (reducesum :axes 0 ?x)))
""".format("(transpose :perm $p " * 12 + "?x" + ")" * 12)


def check_far(program, instances, *files):
    far = ["--far", "--largest", "30", "--attempts", "40", "--steps", "30000", "-q"]
    out, (n, n_instances, n_different, _) = run(program, *far, "--instances", instances, *files)
    print(out)
    assert n_different == 0 and n_instances >= n // 2, "something differs, or hardly anything was tried"
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
        file.write(FAR)
        file.flush()
        out, (n, _, n_different, _) = run(program, *far, "--attempts", "400", "--instances", "100", file.name)
        assert n_different == n == 4, out


if __name__ == "__main__":
    checks = {"--differ": check_false, "--agree": check_true, "--far": check_far}
    checks[sys.argv[2]](sys.argv[1], *sys.argv[3:])
