#!/usr/bin/env python3
"""Verdicts on rules and properties in files: `check_rules.py TASO-VERIFY CHECK [ARGUMENT...]`, a function check_CHECK each."""
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import false_families
from verifying import file_of, proved, run, texts_in, texts_of

PROGRAM = sys.argv[1]
SUBSTITUTIONS = pathlib.Path(__file__).resolve().parents[2] / "substitutions"


# --- proofs ------------------------------------------------------------------------------------------------------------

def check_true(rules, *every):
    """Every rule is true and proved, but for those behind the line "; not proved", for which an argument is wanted. With --all
    these are asked, too, which takes nearly all of the time: one that comes out as proved has found one and moves up."""
    expected, others = map(texts_in, pathlib.Path(rules).read_text(encoding="utf-8").split("; not proved\n"))
    assert len(expected) + len(others) > 60 and not expected.keys() & others.keys()
    found, _ = proved(PROGRAM, [*expected.values(), *(others.values() if every else ())], "--no-conditions", "--quiet")
    assert not expected.keys() - found.keys(), f"true, and not proved: {expected.keys() - found.keys()}"
    assert not found.keys() - expected.keys(), f"proved by now: {found.keys() - expected.keys()}"


def check_false(rules, each="1"):
    """Of each so many rules none comes out as proved as it stands, and those that are proved under conditions are run at random instances that meet
    these, near and far, of which none differs."""
    texts = texts_of(rules)
    assert len(texts) > 60
    written, said = proved(PROGRAM, list(texts.values())[::int(each)])
    as_they_stand = re.findall(r"^(\S+): proved(?! under conditions)", said, re.MULTILINE)
    assert not as_they_stand, f"false, and proved: {as_they_stand}"
    for options in [], ["--far", "--largest", "30"]:
        tried = try_texts(written.values(), "--instances", "20", "--attempts", "100", "-q", *options)
        assert tried.n_different == 0, f"false, and proved under conditions: {tried.said}"


def verdicts_by_symbols(path):
    ran = run(PROGRAM, "symbolic", path, "-j", "1")
    verdicts = dict(re.findall(r"^(\S+): (proved|unknown)\b", ran.stdout, re.MULTILINE))
    assert len(verdicts) == len(texts_of(path))
    assert ran.returncode == ("unknown" in verdicts.values()), "the exit code says something else"
    return verdicts


def check_symbolic(true, false, sizes, *few):
    """Proofs with sizes that have no values: every rule of the first file has one, and none of the second, or of each fifth of
    it with --few, and of the third; nor any that false_families.py makes, of which there are fewer, too."""
    unknown = [name for name, verdict in verdicts_by_symbols(true).items() if verdict != "proved"]
    assert not unknown, f"true, and not proved: {unknown}"
    texts = list(texts_of(false).values())[::5 if few else 1] + list(texts_of(sizes).values())
    texts += [f"{rule.text(name)}\n" for name, rule in false_families.make(40 if few else 200, 1).items()]
    with file_of(texts) as path:
        found = [name for name, verdict in verdicts_by_symbols(path).items() if verdict == "proved"]
    assert not found, f"false, and proved: {found}"


def check_shipped(file, *every):
    """What taso-opt applies is what the verifier says now, with all rules of written.rules among it. A share of the rules, those
    whose text has a certain hash, or all with --all (minutes), are judged again: each comes out as it stands in the file, with the
    same conditions and the same verdict."""
    def read(texts):
        """What each states, and what it rests on: a proof by an argument, or checks."""
        certified = re.compile(r"(.*?)\n  \((proof|checked) \((\w+)[ )]", re.DOTALL)
        return {name: (" ".join(found[1].split()), found[2], found[3]) for name, text in texts.items()
                if (found := certified.match(text))}

    texts = texts_of(file)
    shipped, written = read(texts), texts_of(SUBSTITUTIONS / "written.rules")
    assert shipped and texts.keys() == shipped.keys(), f"no certificate: {texts.keys() - shipped.keys()}"
    assert written and texts.keys() >= written.keys(), f"written, and not shipped: {written.keys() - texts.keys()}"
    asked = [name for name, (said, *_) in shipped.items() if every or hashlib.sha256(said.encode()).digest()[0] % 16 == 0]
    assert asked, "no rule is asked"
    found = read(proved(PROGRAM, [texts[name] for name in asked], "--quiet", "--checked", "--no-conditions")[0])
    for name in asked:
        assert found.get(name) == shipped[name], f"{name}: {found.get(name)} and not {shipped[name]}"


def check_second_prover(rules):
    """Obligations of the rules, written as SMT-LIB 2: cvc5 answers unsat for at least 25, and contradicts none."""
    if not shutil.which("cvc5"):
        print("cvc5 is not installed")
        return 77
    with file_of([]) as path:
        run(PROGRAM, "rules", "-q", "--emit-smt2", path.parent, rules)
        answers = {smt2.name: run("cvc5", "--tlimit=20000", smt2, codes=range(-9, 256)) for smt2 in path.parent.glob("*.smt2")}
    verdicts = {name: (ran.stdout.split() or [ran.stderr])[0] for name, ran in answers.items()}
    assert list(verdicts.values()).count("unsat") >= 25 and "sat" not in verdicts.values(), verdicts


def check_thresholds(count, seed="1"):
    """COUNT rules by false_families.py hold at everything small and fail just beyond a number that proofs try: they may be refuted,
    or only checked. That each is false is shown by the program, too: it finds a difference in the rule, or in the rule where its
    family says that it is false."""
    rules = false_families.make(int(count), int(seed))
    limits = ["--no-conditions", "--quiet", "--steps", "100000", "--instances", "2000"]
    far = ["--quiet", "--far", "--largest", "30", "--instances", "200", "--attempts", "1000"]

    def reasons_of(texts):
        with file_of(texts) as path:
            out = path.with_name("proved.rules")
            run(PROGRAM, "rules", path, "-o", out, *limits)
            rejected = pathlib.Path(f"{out}.rejected").read_text(encoding="utf-8")
            assert not texts_of(out), f"proved, and false: {out.read_text(encoding='utf-8')}"
        reasons = {name: reason for reason, name in re.findall(r"^; ([^;\n]*)\n(?:;.*\n)*\(rule (\S+)", rejected, re.MULTILINE)}
        assert len(reasons) == len(texts)
        return reasons

    def without_refuted(left, text):
        reasons = reasons_of([text(rule, name) + "\n" for name, rule in left.items()])
        return {name: rule for name, rule in left.items() if not reasons[name].startswith("refuted")}

    left = without_refuted(rules, false_families.Rule.text)
    print(f"{count} false rules; {int(count) - len(left)} are refuted")
    left = without_refuted(left, false_families.Rule.text_there)
    for text in (false_families.Rule.text_there, false_families.Rule.text):
        tried = try_texts([text(rule, name) + "\n" for name, rule in left.items()], *far)
        left = {name: rule for name, rule in left.items() if name not in tried.different}
    assert not left, f"no difference was found: {sorted(left)}"


# --- XLA's rules -------------------------------------------------------------------------------------------------------

STATED, PROVED = 140, 120


def check_xla(results, rules, mutants, page, *few):
    """XLA's rules are judged as docs/results/xla.md says: the summary of the page is what scripts/results xla prints, what is said
    to be aimed at is reached, and of the false rules that look like these none is proved. With --few the rules that the page
    says are proved are, and the others are not asked, which takes most of the time."""
    page = pathlib.Path(page).read_text(encoding="utf-8")
    counts = [int(n) for n in re.findall(r"\d+", next(line for line in page.splitlines() if line.startswith("| all |")))]
    n_all, n_proved, *others, not_stated = counts
    assert n_all == 175 == n_proved + sum(others) + not_stated, counts
    assert n_all - not_stated >= STATED and n_proved >= PROVED, counts
    if few:
        names = re.findall(r"^\| `(\S+)` \|[^|]*\|[^|]*\| proved \|", page, re.MULTILINE)
        texts = texts_of(rules)
        found, _ = proved(PROGRAM, [texts[name] for name in names], "--no-conditions", "--quiet")
        assert len(found) == len(names) == n_proved, f"true, and not proved: {set(names) - found.keys()}"
    else:
        environment = dict(os.environ, TASO_PYTHON=sys.executable)
        printed = run(results, "xla", PROGRAM, rules, codes=(0,), env=environment).stdout.splitlines()
        assert set(printed) - {""} <= set(page.splitlines()), f"the page lacks {set(printed) - set(page.splitlines())}"
    texts = texts_of(mutants)
    found, _ = proved(PROGRAM, texts.values(), "--no-conditions", "--quiet")
    assert len(texts) > 50 and not found, f"false, and proved: {found.keys()}"


# --- trying ------------------------------------------------------------------------------------------------------------

# False, but only where types, sizes or numbers of a kind meet that are seldom tried: ranks of 5, pads on one end alone,
# the sums of powers of four numbers, division by 0, strides of 7 and of 31, sizes of 200; or of inputs that have cuts
# (cut-rows-of-product), which rules are not for; pads below 0; thresholds in the thousands; or not known to be false. An
# entry that is no number on one side alone tells nothing where a sum overflows; integers are small ones; what differs in the 58th bit.
TOO_RARE = set("""
    all-pads-of-sum-one at-of-strides axes-behind-an-identity axes-of-a-mean axes-of-a-mean-joined
    axes-of-an-identity axis-divides-three axis-divisor-of-ten axis-equal-to-one-of-another-rank
    axis-equal-to-one-of-another-rank-joined axis-looked-up axis-of-a-written-size-of-five below-cast-doubled
    below-cast-halved below-cast-of-unsigned below-gather-doubled below-gather-doubled-and-turned
    below-onehot-negative beside-image-far blocks-with-pads clip-far clip-large-constants
    coefficient-of-differences-until-20 coefficient-until-20-pool coefficient-until-20-prelu
    coefficient-until-20-sum coefficient-until-20-where condition-of-sum cut-rows-of-product
    dilation-before-the-image end-of-five-places end-of-four-places groups-by-rows-of-part infinite-limits-cancelled
    integer-beside-subterms integer-by-a-cast integer-by-an-open-cast integer-by-comparison
    integer-by-places-of-maxima integer-by-places-that-are-read integer-chosen-difference integer-constant-above
    integer-constant-beside-subterms integer-difference-above integer-double integer-greatest-double
    integer-greatest-negative integer-greatest-of-sums integer-in-a-law integer-least integer-place-of-greatest
    integer-without-sign kernel-of-more-than-four kind-of-a-batch-summed kind-of-a-batch-that-is-said
    kind-of-a-shape-that-is-said kind-of-a-shape-with-a-sum kind-of-batches-joined kind-of-eightfold-batches
    kind-of-greatest-on-two-axes kind-of-sevenfold-parts length-in-condition length-of-pads
    maxima-of-zeros-around-a-kernel maxima-of-zeros-beside-either-axis merge-group-cubic middle-far-beside-the-image
    middles-moved-apart number-above-zero number-plus-and-minus number-times-zero number-until-20-greatest
    pads-beside-a-kernel-of-four parts-not-three parts-not-three-subtracted parts-one-or-five
    parts-up-to-three-summed permutation-twelve-times-of-one-factor permutation-with-tail-turned
    places-third-difference places-third-difference-of-maxima pool-avg-kernel-below-literals pool-kernel-quartic
    pool-max-kernels-exchanged pool-pads-of-another-size-reach-the-stride pool-pads-reach-the-stride
    pool-pads-reach-the-stride-summed rank-in-a-list rank-none-of-those-tried rank-of-one-or-seven
    rank-of-two-or-seven repeated-33-times-or-not repeated-40-times-or-not repeated-five-times-or-not
    repeated-for-five-beside reshape-in-sevenths set-dropped-five-times-largest set-dropped-thrice-and-twice
    set-kept-or-dropped-five-times set-of-four-then-any-reducesum set-of-four-then-softmax-neg
    shape-of-a-factor-below-a-window shape-of-eight-max-is-min shape-of-five-beside size-at-an-axis-of-another-rank
    size-counted-by-another-rank size-counted-by-another-rank-last slice-step-cubic slopes-multiplied
    split-sizes-cubic steps-beside-a-window-on-another-axis steps-of-three-beside-another-axis
    steps-reach-the-pad-in-a-hundred steps-tie-images steps-tie-images-behind-windows steps-tie-images-by-kernel
    steps-tie-means steps-tie-one-axis tied-pads tied-strides-of-maxima undefined-sum-of-quotients
    undefined-times-an-identity undefined-times-merged-zeros undefined-times-zeros-of-an-enlargement unequal-pads
    zeros-of-a-choice zeros-of-another-type zeros-of-one-type
""".split())
TOTALS = re.compile(r"^(\d+) equations? at (\d+) instances?: (\d+) differ, (\d+) have no instance$", re.MULTILINE)


class Tried:
    """What `taso-verify try` says of files."""

    def __init__(self, *arguments):
        ran = run(PROGRAM, "try", *arguments)
        self.said, totals = ran.stdout, TOTALS.search(ran.stdout)
        assert totals, ran.stdout
        self.n, self.n_instances, self.n_different, self.n_untried = map(int, totals.groups())
        assert ran.returncode == (self.n_different > 0), "the exit code says something else"
        self.different = set(re.findall(r"^(\S+): the sides", ran.stdout, re.MULTILINE))
        self.counts = {name: int(n) for name, n in re.findall(r"^(\S+): (\d+) instances?$", ran.stdout, re.MULTILINE)}


def try_texts(texts, *options):
    with file_of(texts) as path:
        return Tried(path, *options)


def check_tried_false(file, each="1"):
    """What is false is found in each so many rules, the same with any number of threads (of a twentieth of them)."""
    texts = [text for name, text in texts_of(file).items() if name not in TOO_RARE][::int(each)]
    tried = try_texts(texts, "--instances", "100", "--steps", "30000", "-j", "1")
    assert tried.n_different == tried.n, tried.counts
    first, *others = (try_texts(texts[::20], *of).said for of in (["-j", "1"], ["-j", "3"], ["-j", "1", "--seed", "2"]))
    assert first == others[0], "threads change what is found"
    assert first != others[1], "the seed does nothing"


def check_tried_rare(file):
    """Of the others nothing is found."""
    texts = texts_of(file)
    tried = try_texts([texts[name] for name in sorted(TOO_RARE)], "--instances", "100", "--steps", "30000", "-j", "1")
    assert tried.n_different == 0, f"found by now: {TOO_RARE - tried.counts.keys()}"


def check_tried_true(instances, *files):
    """Nothing is found in what is true."""
    tried = Tried("--instances", instances, "--attempts", "60", "-q", *files)
    assert tried.n_different == 0, tried.said
    assert tried.n_untried <= tried.n // 20 and tried.n_instances >= tried.n, "hardly anything was tried"


FAR = """(rule twelve-times (source {}) (target ?x))
(rule dilation-of-three (source (poolmax :kernel 2 2 :dilation $d (poolmax :kernel 2 2 ?x)))
  (target (poolmax :kernel (+ $d 2) ?x)))
(rule three-axes-of-windows (source (reducemax :axes 2 3 (poolmax :kernel $k :pad $p ?x)))
  (target (reducemax :axes 2 3 ?x)))
(rule four-parts-of-five (source (reducesum :axes 0 (concat 0 (split0 0 :sizes $z ?x) (split1 0 :sizes $z ?x)
    (split2 0 :sizes $z ?x) (split3 0 :sizes $z ?x))))
  (target (reducesum :axes 0 ?x)))
""".format("(transpose :perm $p " * 12 + "?x" + ")" * 12)


def check_tried_far(instances, *files):
    """At high ranks, long axes and large attributes nothing is found in what is true, and what is false there is found."""
    far = ["--far", "--largest", "30", "--attempts", "40", "--steps", "30000", "-q"]
    tried = Tried(*far, "--instances", instances, *files)
    assert tried.n_different == 0 and tried.n_instances >= tried.n // 2, f"hardly anything was tried: {tried.said}"
    tried = try_texts([FAR], *far, "--attempts", "400", "--instances", "100")
    assert tried.n_different == tried.n == 4, tried.said


# --- derivation --------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<=[ (])-?\d+(?=[ )])")


def statement_of(rule):
    return re.sub(r"\n  \((proof|checked) .*", ")", rule.strip())


def false_trace(rng, name, rule, number):
    """The rule with a number of its target changed by one; targets speak of no axis that is not there."""
    start, end = rule.index("(target"), rule.index("\n  (where")
    places = [m for m in NUMBER.finditer(rule, start, end) if not re.search(r"\(dim \?\w $", rule[:m.start()])]
    at = rng.choice(places)
    changed = str(int(at[0]) + rng.choice((-1, 1)))
    return rule[:at.start()].replace(f"(rule {name}", f"(rule {name}-{number}", 1) + changed + rule[at.end():] + "\n"


def check_families(shipped, families, count):
    """What is derived of families for all sizes is refused when it is false: a number in the target of a rule of SHIPPED is another
    one, and COUNT such false traces are tried at random sizes beside the rules themselves. And one family, derived again, gives
    what ships."""
    rules, count, rng = {name: statement_of(rule) for name, rule in texts_of(shipped).items()}, int(count), random.Random(44)
    tried = try_texts([rule + "\n" for rule in rules.values()], "--instances", "6", "--attempts", "2000")
    assert tried.n_different == 0, tried.said
    traces = [false_trace(rng, name, rules[name], number) for number, name in enumerate(rng.choices(sorted(rules), k=count))]
    tried = try_texts(traces, "--instances", "10", "--attempts", "2000")
    left = count - tried.n_different - tried.n_untried
    print(f"{count} traces: {tried.n_different} differ, {tried.n_untried} have no instance, {left} agree")
    assert left <= 2 + count // 20, "hardly a trace is told: few numbers say nothing"   # some are equalities, by chance
    with file_of([texts_of(families)["derived-conv-1x7"]]) as path:
        again = texts_in(subprocess.run([SUBSTITUTIONS.parent / "scripts/family-rules", path], check=True, text=True,
                                        stdout=subprocess.PIPE, env=dict(os.environ, TASO_VERIFY=PROGRAM)).stdout)
    assert again and all(statement_of(text) == rules[name] for name, text in again.items()), again


def derived(rules, others, *options):
    """Of each rule the number of examples, and of those that are derived."""
    ran = run(PROGRAM, "derive", rules, "--from", others, "--generated", *options)
    return {name: (int(n), int(n_derived)) for name, n, n_derived, *_ in map(str.split, ran.stdout.splitlines())}


def check_wanted(examples):
    """Generated rules do what is wanted, and nobody writes what they do: those of taso.rules, and those of egraph.rules, derive every
    rule of wanted.rules, at so many random examples of each, and those of taso.rules none of written.rules."""
    for shipped in ("taso.rules", "egraph.rules"):
        wanted = derived(SUBSTITUTIONS / "wanted.rules", SUBSTITUTIONS / shipped, "--random", examples)
        assert len(wanted) > 20 and all(n == n_derived > 0 for n, n_derived in wanted.values()), f"{shipped}: {wanted}"
    for name, (n, n_derived) in derived(SUBSTITUTIONS / "written.rules", SUBSTITUTIONS / "taso.rules").items():
        assert n > n_derived, f"{name} is written, and generated rules do it: it belongs into wanted.rules"


if __name__ == "__main__":
    sys.exit(globals()["check_" + sys.argv[2].replace("-", "_")](*sys.argv[3:]))
