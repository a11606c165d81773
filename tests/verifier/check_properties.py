#!/usr/bin/env python3
"""`taso-verify properties` as a user runs it: `check_properties.py TASO-VERIFY [--few]`.

False properties, contradictory pairs and redundant properties are found in files in which they were planted; with --few,
without those of LONG each second one.
"""
import pathlib
import subprocess
import sys
import tempfile

COMMUTES = "(property commutes (equal (ewadd ?x ?y) (ewadd ?y ?x)))\n"
ASSOCIATES = "(property associates (equal (ewadd ?x (ewadd ?y ?z)) (ewadd (ewadd ?x ?y) ?z)))\n"
ROTATES = "(property rotates (equal (ewadd (ewadd ?x ?y) ?z) (ewadd (ewadd ?z ?x) ?y)))\n"
FIRST = "(property first (equal (ewadd ?x ?y) ?x) (where (defined (ewadd ?x ?y))))\n"
SQUARE = "(property square (equal (ewmul ?x ?x) ?x))\n"
REAL = "(property real (equal (thresholdedrelu :alpha $a ?x) ?x))\n"
ODD = "(property odd (equal (tanh (sub ?x ?y)) (neg (tanh (sub ?y ?x)))))\n"
NEWTON = """(property newton
  (equal (reducesum :axes 0 :keepdims 0 ?x) (reducesum :axes 0 :keepdims 0 (relu ?x))))\n"""
# A rotation, without the definedness that the other asks for: of its sums one is well-typed, or there is nothing to show.
GUARDED = "(property guarded (equal (ewadd ?x ?y) (ewadd ?y ?x)) (where (defined (ewadd ?x ?y))))\n"
TURNS = "(property turns (equal (ewadd (ewadd ?x ?y) ?z) (ewadd ?z (ewadd ?y ?x))))\n"
COPIES = "".join(f"(property {name} (equal (ewadd ?x ?y) (ewadd ?y ?x)))\n" for name in ("one", "two", "three"))
# False where $s has one entry, which the other says nothing of.
ONE = "(property one (equal (poolmax :kernel 1 1 ?x) ?x) (where (= (rank ?x) 4) (plain ?x)))\n"
STRIDE = """(property stride
  (equal (poolmax :kernel 1 1 :stride $s ?x) ?x) (where (= (product $s) 1) (= (rank ?x) 4) (plain ?x)))\n"""
# These contradict one another where an axis has one entry, and one is false of more.
SAME = "(property same (equal (softmax 0 ?x) ?x) (where (= (dim ?x 0) 1)))\n"
ALIKE = "(property alike (equal (softmax 0 ?x) (softmax 0 ?y)) (where (= (dims ?x) (dims ?y))))\n"
# The condition is of truth values, and nothing else has to be of other than floating-point numbers.
CHOICE = "(property choice (equal (where (not ?c) ?x ?y) (where ?c ?y ?x)))\n"
HALF = "(property half (equal (relu (where ?c ?x ?y)) (where ?c (relu ?x) ?y)))\n"
# Ranks that the text says are tried up to 6, but of windows up to 4.
RANKS = """(property five (equal (relu (relu ?x)) (relu ?x)) (where (= (rank ?x) 5)))
(property last (equal (softmax 4 ?x) (softmax (- (rank ?x) 1) ?x)) (where (= (rank ?x) 5)))
(property six (equal (transpose :perm 0 2 1 3 4 5 (transpose :perm 0 2 1 3 4 5 ?x)) ?x) (where (plain ?x)
  (defined (transpose :perm 0 2 1 3 4 5 ?x))))
(property turned (equal (transpose :perm 0 2 1 3 4 5 ?x) ?x) (where (= (rank ?x) 6) (plain ?x)))
(property volume (equal (poolmax :kernel $k (relu ?x)) (relu (poolmax :kernel $k ?x))) (where (= (rank ?x) 5)))
"""
# Sizes that conditions name are tried, beyond those that are tried otherwise.
SIZES = """(property seven (equal (softmax 0 (concat 0 ?x ?x)) (concat 0 (softmax 0 ?x) (softmax 0 ?x)))
  (where (= (dim ?x 0) 7)))
(property nine (equal (poolmax :kernel 1 3 :stride 1 2 ?x) (poolmax :kernel 1 3 :stride 1 1 ?x)) (where (= (dim ?x 3) 9)))
(property twelve (equal (softmax 0 (ewadd ?x ?y)) (softmax 0 (ewadd ?y ?x))) (where (= (dim ?x 0) 12)))
(property one (equal (reducesum :axes 0 ?x) ?x) (where (= (dim ?x 0) 1) (plain ?x)))
"""
# Types differ first at a width of 4, and values first at a sum of three entries (a symmetric function of degree 3).
STEPS = """(property steps
  (equal (poolmax :kernel 1 3 :stride 1 2 :pad 0 0 0 0 ?x) (poolmax :kernel 1 3 :stride 1 1 :pad 0 0 0 0 ?x)))\n"""
SUM, SQUARES, CUBES = (
    f"(reducesum :axes 0 :keepdims 0 {term})" for term in ("?x", "(ewmul ?x ?x)", "(ewmul ?x (ewmul ?x ?x))")
)
CUBIC = f"""(property cubic (equal
  (ewadd (ewmul {SUM} (ewmul {SUM} {SUM})) (ewadd {CUBES} {CUBES}))
  (ewadd (ewmul {SUM} {SQUARES}) (ewadd (ewmul {SUM} {SQUARES}) (ewmul {SUM} {SQUARES})))))\n"""
POOLS = """(property pools
  (equal (poolmax :kernel $k :stride $s :pad $p :act relu ?x) (relu (poolmax :kernel $k :stride $s :pad $p ?x))))\n"""
# The first pieces are equally long, the tensors need not be: 1|1 and 1|2.
PIECES = """(property pieces (equal (split0 $i (ewadd ?x ?y)) (ewadd (split0 $i ?x) (split0 $i ?y)))
  (where (defined (split0 $i ?x)) (defined (split0 $i ?y))))\n"""

# There are cuts at rank 4, too, where a piece may be cut again, and on two axes at once.
FOUR = """(property four (equal (split0 0 (concat 0 ?x ?y)) ?x) (where (= (rank ?x) 4) (defined (concat 0 ?x ?y))))\n"""
AGAIN = """(property again (equal (sub (ewadd ?x ?y) ?y) ?x)
  (where (= (rank ?x) 1) (defined (ewadd ?x ?y)) (defined (ewadd (split0 0 ?x) (split0 0 ?y)))))\n"""
NESTED = """(property nested (equal (split0 $i (split1 $j ?x)) (split1 $j (split0 $i ?x))))\n"""
# With three cuts of a tensor none is tried, which these would need.
THREE = """(property pieces (equal (sub (ewadd ?x ?y) ?y) ?x)
  (where (= (rank ?x) 1) (defined (ewadd ?x ?y)) (defined (split0 0 (split1 0 (ewadd ?x ?y))))))
(property axes (equal (sub (ewadd ?x ?y) ?y) ?x)
  (where (= (rank ?x) 2) (defined (ewadd ?x ?y)) (defined (split0 0 (ewadd ?x ?y))) (defined (split0 1 (ewadd ?x ?y)))))\n"""
FILTERS = """(property filters (equal
  (conv :stride $s (conv :pad $p :dilation $d ?x ?k) (iconv :shape (dim ?w 0) (dim ?w 0) 1 1))
  (conv :stride $s :pad $p :dilation $d ?x ?k))
  (where (= (rank ?w) 4)
         (defined (conv :stride $s (conv :pad $p :dilation $d ?x ?k) (iconv :shape (dim ?w 0) (dim ?w 0) 1 1)))))\n"""

# Batches are carried along: nothing but the concatenation asks for equal ones.
BATCHES = """(property batches
  (equal (split0 1 (concat 1 (conv :pad 0 0 0 0 ?x ?k) (conv :pad 0 0 0 0 ?y ?k))) (conv :pad 0 0 0 0 ?x ?k))
  (where (defined (conv :pad 0 0 0 0 ?y ?k)) (= (dim ?x 2) (dim ?y 2)) (= (dim ?x 3) (dim ?y 3))
         (plain ?k) (plain ?x) (plain ?y)))\n"""
TREES = """(property trees
  (equal (conv :stride $s :pad $p :group (dim ?x 1) ?u (cpool :shape (dim ?x 1) 1 3 3))
         (poolavg :kernel 3 3 :stride $s :pad $p :padding counted ?u))
  (where (= (rank ?x) 4) (= (dim ?x 1) (dim ?u 1))))\n"""


def groups(name, first, second, where):
    """Four groups as two convolutions of two, which take halves of the image."""
    return f"""(property {name}
  (equal (conv :stride $s :group 4 (concat 1 ?x ?z) (concat 0 ?y ?w))
         (concat 1 (conv :stride $s :group 2 {first} ?y) (conv :stride $s :group 2 {second} ?w)))
  (where (defined (conv :stride $s :group 2 ?x ?y)) (defined (concat 1 ?x ?z)) (defined (concat 0 ?y ?w)) {where}))\n"""


EVEN = "(= (dim ?y 0) (dim ?w 0)) (= (dim ?x 1) (dim ?z 1))"


def size_of(term):
    """0, where the image is well-typed."""
    return f"(reducesum :axes 0 1 2 3 :keepdims 0 (sub {term} {term}))"


def planted(name, left, right, where):
    return f"(property {name} (equal {left} {right}) (where {where}))\n"


def means(name, kernel, attributes, where=""):
    """A convolution by equal entries is a mean, unless windows miss the image: a pooling is refused there."""
    groups = ":group (dim ?x 1) ?u (smul (cpool :shape (dim ?x 1) 1"
    left = f"(conv {attributes} {groups} {kernel}) ?w))"
    mean = f"(poolavg :kernel {kernel} {attributes} :padding counted ?u)"
    return planted(name, left, f"(conv {groups.replace('?u', mean)} 1 1) ?w))", f"(= (rank ?x) 4) {where}")


def as_axiom(text):
    return text.replace("\n", '\n  (axiom "Groups do not know of one another.")\n', 1)


def halves(name, first, last):
    """Each half of the channels is convolved by its part of the kernel."""
    conv = "(conv :stride $s :pad $p :group 2 ?x (concat 0 ?y ?z))"
    return planted(
        name,
        f"(conv :stride $s :pad $p ?x (concat 1 {first} {last}))",
        f"(ewadd (split0 1 {conv}) (split1 1 {conv}))",
        "(defined (concat 0 ?y ?z))",
    )


def chain(name, inner, outer, kernel):
    """Two groups behind two groups, whose first filters are repeated."""
    first = "(conv :stride $s :pad $p :group 2 (conv :stride $t :pad $q :group 2 ?x ?y) ?z)"
    return f"""(property {name}
  (equal {first}
         (conv {outer} :group 2 (conv {inner} :group 2 ?x (concat 0 ?y {kernel})) (merge 2 2 ?z))))\n"""


# One side alone is refused where pads, dilations, strides or kernels are larger than any that are tried.
FAR = {
    "pads of three": means("far-pads", "3 3", ":stride $s :pad $p"),
    "pads of five": means("far-pads-of-five", "5 5", ":pad $p"),
    "a pad of four": means("far-pad", "4 4", ":pad 0 0 $p 0"),
    "dilations of three": means(
        "far-dilations", "2 2", ":pad 1 1 1 1 :dilation $d", "(= (dim ?u 2) 2) (= (dim ?u 3) 2)"
    ),
    "dilations of four": means(
        "far-dilation", "2 2", ":pad 1 1 1 1 :dilation 1 $d", "(= (dim ?u 2) 3) (= (dim ?u 3) 3)"
    ),
    "pads of maxima": planted(
        "far-maxima",
        size_of("(conv :stride $s :pad $p ?x ?k)"),
        size_of("(poolmax :kernel 3 3 :stride $s :pad $p ?x)"),
        "(= (rank ?k) 4) (= (dim ?k 1) (dim ?x 1)) (= (dim ?k 2) 3) (= (dim ?k 3) 3)",
    ),
    "strides of seven": planted(
        "far-strides",
        size_of("(conv (conv :stride $s :pad 0 0 1 1 ?x ?k) ?w)"),
        size_of("(conv :stride $s :pad 0 0 1 1 ?x ?k)"),
        "(= (rank ?x) 4) (= (rank ?w) 4) (= (dim ?x 2) 6) (= (dim ?x 3) 6) (= (dim ?k 2) 1) (= (dim ?k 3) 1) (= (dim ?w 2) 2)"
        " (= (dim ?w 3) 2) (= (dim ?w 1) (dim ?k 0))",
    ),
    "kernels of nine": planted(
        "far-kernels",
        size_of("(conv :pad 3 3 3 3 ?x (enlarge :kernel $k ?w))"),
        size_of("(conv ?x ?w)"),
        "(defined (enlarge :kernel $k ?w)) (= (dim ?x 2) 1) (= (dim ?x 3) 1) (= (dim ?w 2) 1) (= (dim ?w 3) 1)",
    ),
    "kernels within larger ones": planted(
        "far-enlarged",
        "(enlarge :kernel 7 7 (enlarge :kernel $k ?x))",
        "(enlarge :kernel 7 7 ?x)",
        "(defined (enlarge :kernel $k ?x)) (defined (enlarge :kernel 7 7 ?x))",
    ),
    "pads of parts by sizes": planted(
        "far-parts",
        "(split0 3 :sizes 1 1 (conv :stride $s :pad $p :group (dim ?x 1) ?u (smul (cpool :shape (dim ?x 1) 1 3 3) ?w)))",
        "(split0 3 :sizes 1 1 (conv :group (dim ?x 1) (poolavg :kernel 3 3 :stride $s :pad $p :padding counted ?u)"
        " (smul (cpool :shape (dim ?x 1) 1 1 1) ?w)))",
        "(= (rank ?x) 4)",
    ),
    "kernels larger by steps": planted(
        "far-steps",
        size_of("(poolmax :kernel $k :stride 2 2 (poolmax :kernel $k ?x))"),
        size_of("(poolmax :kernel $k (poolmax :kernel $k :stride 2 2 ?x))"),
        "(= (rank ?x) 4) (= (dim ?x 2) 7) (= (dim ?x 3) 7)",
    ),
    "rows that six groups divide only twice over": planted(
        "far-copies",
        f"(ewadd {size_of('(merge 6 6 (concat 0 ?k ?k))')} {size_of('?k')})",
        f"(ewadd {size_of('(merge 6 6 ?k)')} {size_of('?k')})",
        "(= (rank ?k) 4)",
    ),
    "rows that five groups divide only together": planted(
        "far-rows",
        size_of("(merge 5 5 (concat 0 ?k ?l))"),
        f"(ewadd {size_of('(merge 5 5 ?k)')} {size_of('(merge 5 5 (concat 0 ?l ?k))')})",
        "(= (rank ?k) 4)",
    ),
    "filters that eleven groups divide together": planted(
        "far-groups",
        size_of("(conv :group 11 ?x (concat 0 ?k ?l))"),
        f"(ewadd {size_of('(conv :group 11 ?x (concat 0 ?k ?l))')} {size_of('(conv :group 11 ?x ?k)')})",
        "(= (rank ?x) 4)",
    ),
    "pads below none": """(property far-below
  (equal (conv :stride $s :pad $p ?x ?k)
         (conv :stride $s :pad (+ $p (repeat 2 (/ (- $e (drop 2 (dims ?k))) 2))) ?x (enlarge :kernel $e ?k)))
  (where (defined (enlarge :kernel $e ?k))))\n""",
}

def batch(name, left):
    """The right side has a rank of 3 only where the batch is as large as the left one."""
    return f"""(property {name} (equal (matmul {left} (softmax 1 ?y)) (matmul {left} (softmax (- (rank ?y) 1) ?y))))\n"""


# A view keeps what axes remember only where it happens to have the shape of what is seen.
VIEWS = """(property views
  (equal (reshape :shape (dim ?x 1) (dim ?x 0) (reshape :shape (* (dim ?x 0) (dim ?x 1)) ?x)) (reshape :shape (dim ?x 1) (dim ?x 0) ?x))
  (where (= (rank ?x) 2) (< 1 (dim ?x 0)) (< 1 (dim ?x 1))))\n"""
ALL = ["--all", "--theory"]
CASES = [
    # name, properties, exit code, what must be printed, what must not, options (ALL if there are none)
    ("true ones", COMMUTES + ASSOCIATES, 0, ["2 proved", "no contradiction", "all at once: 0"], ["refuted: "]),
    ("a redundant one", COMMUTES + ASSOCIATES + ROTATES, 0, ["rotates follows from: ", "3 proved"], ["commutes follows"]),
    ("one that follows where it is well-typed", GUARDED + TURNS, 0, ["turns follows from: guarded\n"], ["guarded follows"]),
    ("three that say the same", COPIES, 0, ["two follows from: one\n", "three follows from: one\n"], ["one follows"]),
    ("a false one that follows in part", ONE + STRIDE, 1, ["stride: refuted", "all at once: 0"], ["stride follows"]),
    ("one that follows from a false one", SQUARE + ONE, 1, ["square: refuted", "all at once: 0"], ["one follows"]),
    ("contradictory at some sizes", SAME + ALIKE, 1, ["where same speaks", "by: alike same\n"], []),
    ("false and not contradictory", COMMUTES + SQUARE, 1, ["square: refuted", "no contradiction"], []),
    ("a choice between numbers", CHOICE + HALF, 1, ["choice: proved", "half: refuted", "?x = (f32"], ["(i64"]),
    ("ranks of five and six", RANKS, 1, ["five: proved", "last: proved", "six: proved", "turned: refuted",
                                        "volume: not covered"], []),
    ("sizes that are named", SIZES, 1, ["seven: refuted", "nine: refuted", "twelve: proved", "one: refuted",
                                        "axis 0 is the same at all places, and cut anywhere", "axis 0 is not cut"], []),
    ("a contradictory pair", COMMUTES + FIRST, 1, ["first: refuted", "contradiction: ", "commutes", "entry 0 is 3"], []),
    ("a contradictory pair, of tensors without cuts", COMMUTES + FIRST.replace("(where ", "(where (plain ?x) "), 1,
     ["first: refuted", "contradiction: ", "commutes"], []),
    ("a false one", COMMUTES + SQUARE, 1, ["square: refuted", "?x = ", "entry 0 is"], ["commutes: refuted"]),
    ("a false sum", NEWTON, 1, ["newton: refuted", "entry 0 is"], []),
    ("one of cut tensors", PIECES, 1, ["pieces: refuted", "only the left side", "cut on axis 0"], []),
    ("one of cut tensors of rank 4", FOUR, 1, ["four: refuted", "different split trees"], []),
    ("one of pieces that were cut again", AGAIN, 1, ["again: refuted", "different split trees"], []),
    ("one of cuts of two pieces", NESTED, 1, ["nested: refuted", "only the right side"], []),
    ("ones of three cuts", THREE, 1, ["pieces: not covered", "axes: not covered"], []),
    ("one of cut filters", FILTERS, 1, ["filters: only checked"], []),
    ("batches that one side compares", BATCHES, 1, ["batches: refuted", "only the left side"], []),
    ("groups of even parts", groups("even", "?x", "?z", EVEN), 1, ["even: only checked"], []),
    ("groups exchanged", groups("exchanged", "?z", "?x", EVEN), 1, ["exchanged: refuted"], []),
    ("groups of one half", groups("half", "?x", "?x", EVEN), 1, ["half: refuted"], []),
    ("groups of uneven filters", groups("uneven", "?x", "?z", "(= (dim ?x 1) (dim ?z 1))"), 1, ["0 proved"], []),
    ("halves of channels", halves("halves", "?y", "?z"), 1, ["halves: only checked"], []),
    ("halves exchanged", halves("exchanged", "?z", "?y"), 1, ["exchanged: refuted"], []),
    ("a chain of groups", chain("chain", ":stride $t :pad $q", ":stride $s :pad $p", "?y"), 1, ["chain: only checked"], []),
    ("strides exchanged", chain("steps", ":stride $s :pad $q", ":stride $t :pad $p", "?y"), 1, ["steps: refuted"], []),
    ("pads exchanged", chain("pads", ":stride $t :pad $p", ":stride $s :pad $q", "?y"), 1, ["pads: refuted"], []),
    ("another kernel", chain("other", ":stride $t :pad $q", ":stride $s :pad $p", "(neg ?y)"), 1, ["other: refuted"], []),
    ("a batch of four", batch("four", "(concat 0 (concat 0 ?z ?z) (concat 0 ?z ?z))"), 1, ["four: refuted"], ["four follows"]),
    ("a batch of twelve", batch("twelve", "(iewmul :shape 12 1 1)"), 1, ["twelve: only checked"], ["twelve follows"]),
    ("trees that differ where sizes happen to be equal", VIEWS, 1, ["views: refuted", "different split trees"], []),
    ("trees that differ alone", TREES, 1, ["different split trees"], []),
    ("one at its bound", STEPS, 1, ["steps: refuted", "different types"], [], ["--bound", "4"]),
    ("a sum of two", CUBIC, 0, ["cubic: only checked"], ["refuted: "], ["--bound", "2"]),
    ("copies up to a bound", COPIES, 0, ["3 only checked", "all at once: 0"], ["two follows"], ["--bound", "2", "--theory"]),
    ("a sum of three", CUBIC, 1, ["cubic: refuted", "?x = (f32 3"], [], ["--bound", "3"]),
    ("a sum up to four", CUBIC, 1, ["cubic: refuted", "?x = (f32 3"], [], ["--bound", "4"]),
    *((f"{name} that one side alone allows", text, 1, ["0 proved"], []) for name, text in FAR.items()),
    ("dilations of which a convolution and a pooling take the same", means(
        "dilated", "3 3", ":pad 2 2 2 2 :dilation $d", "(= (dim ?u 2) 4) (= (dim ?u 3) 4)"), 0, ["dilated: proved"], []),
    ("an axiom", as_axiom(groups("even", "?x", "?z", EVEN)), 0, ["even: axiom", "1 axiom"], []),
    ("an axiom that is false", as_axiom(groups("exchanged", "?z", "?x", EVEN)), 1, ["exchanged: refuted"], ["1 axiom"]),
    ("truth values on one side alone", "(property twice (equal (neg (neg ?x)) ?x))", 1, ["twice: only checked"], []),
    ("a real number", REAL, 1, ["real: refuted", "$a = 0.5"], []),
    ("an odd function", ODD, 0, ["odd: proved"], []),
    ("true ones up to a bound", COMMUTES + POOLS, 0, ["2 only checked"], [], ["--bound", "3"]),
]


# Half of all the time, in what the others run, too.
LONG = {"one of cut filters", "halves of channels", "pads of maxima that one side alone allows",
        "filters that eleven groups divide together that one side alone allows"}


def complaint(ran, code, wanted, unwanted):
    if ran.returncode != code:
        return f"exit code {ran.returncode}, not {code}"
    missing = [text for text in wanted if text not in ran.stdout]
    present = [text for text in unwanted if text in ran.stdout]
    return f"does not say {missing}, says {present}" if missing or present else None


def check_shipped(program, folder):
    """Those that ship are known by their whole texts; gives what is wrong."""
    path, wrong = folder / "shipped.properties", []
    for body, wanted in ("(relu ?x)", "1 that ship"), ("?x", "1 refuted"):
        path.write_text(f"(property relu-of-relu (equal (relu (relu ?x)) {body}))", encoding="utf-8")
        ran = subprocess.run([program, "properties", path], capture_output=True, text=True, check=False)
        wrong += [] if wanted in ran.stdout else [f"{body} is not {wanted}:\n{ran.stdout}{ran.stderr}"]
    return "\n".join(wrong)


WINDOWS = "(poolmax :kernel 2 2 :dilation $d (poolmax :kernel 2 2 ?x))", "(poolmax :kernel (+ $d 2) ?x)"
SUMS = "(relu (ewadd ?x (neg ?x)))", "(relu (sub ?x ?x))"
CASTS = "(ewadd (cast :to f32 ?x) (cast :to f32 ?y))", "(cast :to f32 (ewadd ?x ?y))"


def check_axioms(program, folder):
    """Rules rest on an author's properties where these are proved, and on no others; gives what is wrong."""
    axioms, rules, proved = folder / "axioms", folder / "axioms.rules", folder / "axioms.proved"
    axioms.mkdir()

    def says(sides, properties, code, wanted):
        (axioms / "own.properties").write_text(properties, encoding="utf-8")
        rules.write_text(f"(rule r (source {sides[0]}) (target {sides[1]}))", encoding="utf-8")
        command = [program, "rules", "--properties", axioms, rules, "-o", proved]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        said = ran.stdout + ran.stderr + proved.read_text(encoding="utf-8")
        return [] if ran.returncode == code and wanted in said else [f"exit code {ran.returncode}, no {wanted}:\n{said}"]

    wrong = says(WINDOWS, f"(property windows (equal {' '.join(WINDOWS)}))", 1, "no proof rests on windows, which is refuted")
    minus = "(property minus (equal (sub ?x ?y) (ewadd ?x (neg ?y))))"
    wrong += says(SUMS, minus, 0, "(properties minus)")
    casts = f'(property casts (axiom "A sum.") (equal {" ".join(CASTS)}))'
    wrong += says(CASTS, casts, 1, "r: checked")
    twelve = "(transpose :perm $p " * 12 + "?x" + ")" * 12
    turns = f"(property turns (equal (relu {twelve}) (relu ?x)) (where (defined {twelve})))"
    return "\n".join(wrong + says((f"(relu {twelve})", "(relu ?x)"), turns, 1, "no proof rests on turns, which is refuted"))


def main():
    program = sys.argv[1]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "planted.properties"
        has_few = "--few" in sys.argv
        for case, text, code, wanted, unwanted, *options in [c for c in CASES if c[0] not in LONG][::4] if has_few else CASES:
            path.write_text(text, encoding="utf-8")
            command = [program, "properties", str(path), *(options[0] if options else ALL)]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            reason = complaint(ran, code, wanted, unwanted)
            failures += reason is not None
            print(f"{case}: {reason or 'ok'}{chr(10) + ran.stdout + ran.stderr if reason else ''}")
        reason = check_shipped(program, pathlib.Path(name))
        failures += reason != ""
        print(f"what ships: {reason or 'ok'}")
        reason = check_axioms(program, pathlib.Path(name))
        failures += reason != ""
        print(f"what proofs rest on: {reason or 'ok'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
