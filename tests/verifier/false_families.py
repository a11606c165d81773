"""False rules that hold at everything small, by the number behind which they fail.

Each family knows one place where an argument of the verifier ends (docs/theory/soundness.md), puts a number just behind
it, and says where the rule is false: texts that are put in the place of others, and conditions. That its rules are false
is no claim of the family's: the test has the program find a difference there.
"""
import random


class Rule:
    """`at` lists pairs of texts, and `there` conditions: the rule with these is false without any look at large numbers."""

    def __init__(self, source, target, where="", at=(), there=""):
        self.sides, self.where, self.at, self.there = (source, target), where, at, there

    def text(self, name):
        return self._text(name, self.sides, self.where)

    def text_there(self, name):
        sides, where = [*self.sides], self.where
        for old, new in self.at:
            sides, where = [side.replace(old, new) for side in sides], where.replace(old, new)
        return self._text(name, sides, f"{where} {self.there}".strip())

    @staticmethod
    def _text(name, sides, where):
        condition = f" (where {where})" if where else ""
        return f"(rule {name} (source {sides[0]}) (target {sides[1]}){condition})"


def times(n, before, term):
    """`before` in front of the term, n times."""
    return f"({before} " * n + term + ")" * n


def entrywise(rng, term="?x"):
    """A function of the term that tells its entries apart."""
    return rng.choice(["{0}", "(ewadd {0} {0})", "(tanh {0})", "(exp {0})", "(neg {0})", "(sigmoid {0})", "(sinh {0})",
                       "(ewmul {0} (ewmul {0} {0}))"]).format(term)


def both(rng, left, right):
    """The same around both sides; it keeps values that differ apart."""
    around = rng.choice(["{}", "{}", "(neg {})", "(ewadd {} {})", "(tanh {})", "(exp {})"])
    return around.format(left, left), around.format(right, right)


def plain_number(size):
    return f"(reducesum :axes 0 :keepdims 0 (iewmul :shape {size}))"


def number(rng, size):
    """A scalar that says how large the size is."""
    text = rng.choice([plain_number("{0}"), "(reducesum :axes 0 1 :keepdims 0 (iewmul :shape 1 {0}))",
                       "(reducesum :axes 0 1 :keepdims 0 (matmul (iewmul :shape 1 {0}) (iewmul :shape {0} 1)))"])
    return text.format(size)


# --- operators and attributes ----------------------------------------------------------------------------------------

def casts(rng):
    """Numbers of fewer values are others."""
    around, inside = rng.choice(["{}", "(neg {})", "(tanh {})"]), entrywise(rng)
    narrow = f"(cast :to f32 (cast :to {rng.choice(['i32', 'i64', 'u8', 'i8', 'bool'])} {inside}))"
    return Rule(around.format(narrow), around.format(inside))


def places(rng):
    """A slice of n places is all there is until there are more."""
    n, image, one_axis = rng.randint(3, 30), entrywise(rng), "(= (rank ?x) 1)"
    reduce = rng.choice(["reducemax", "reducemin", "reducesum"])
    return rng.choice([
        Rule(f"({reduce} :axes 0 (slice :start 0 :size {n} :step 1 {image}))", f"({reduce} :axes 0 {image})", one_axis,
             there=f"(= (dim ?x 0) {n + 1})"),
        Rule(f"(trilu :k {n} ?x)", f"(trilu :k {n + 1} ?x)", there=f"(= (rank ?x) 2) (= (dim ?x 1) {n + 1})"),
        Rule(f"(relu (sub (cumsum 0 (iewmul :shape (dim ?x 0))) (broadcast :shape (dim ?x 0) {number(rng, n)})))",
             "(relu (relu (sub ?x ?x)))", one_axis, there=f"(= (dim ?x 0) {n + 1})")])


def reals(rng):
    """Real attributes have no end."""
    n, large = rng.randint(3, 90), f"(smul (smul ?x {plain_number(10)}) {plain_number(10)})"
    return rng.choice([
        Rule(f"(clip :max {n} (clip :max $a ?x))", "(clip :max $a ?x)", at=[("$a", f"{n + 1}"), ("?x", large)]),
        Rule(f"(clip :min -{n} (clip :min $a ?x))", "(clip :min $a ?x)", at=[("$a", f"-{n + 1}"), ("?x", large)]),
        Rule(f"(clip :max {n} (relu (clip :max $a ?x)))", "(relu (clip :max $a ?x))",
             at=[("$a", f"{n + 1}"), ("?x", large)])])


def repetitions(rng):
    """An axis that is as long as the number already is not repeated."""
    n = rng.randint(32, 90)
    return Rule(f"(reducesum :axes 0 (broadcast :shape {n} (dim ?x 1) ?x))", f"(smul (reducesum :axes 0 ?x) {number(rng, n)})",
                "(= (rank ?x) 2)", at=[("(dim ?x 1)", "3"), ("(= (rank ?x) 2)", "(= (dim ?y 0) 1)"),
                                       ("?x", f"(broadcast :shape {n} 3 ?y)")])


def quotients(rng):
    """A share of a size is 0 until there is a whole."""
    n, image = rng.randint(4, 24), entrywise(rng)
    pads = rng.sample([f"(/ (dim ?k 2) {n}) 0 0 0", f"0 0 (/ (dim ?k 2) {n}) 0"], 2)
    step = rng.choice(["", ":stride 2 2 ", ":stride $s "])
    return Rule(*(f"(conv {step}:pad {p} {image} ?k)" for p in pads), at=[(f"(/ (dim ?k 2) {n})", "1"), ("$s", "1 1")],
                there=f"(= (dim ?k 2) {n})")


# --- conditions ------------------------------------------------------------------------------------------------------

def reductions(rng, n=2):
    return rng.sample(["reducesum", "reducemax", "reducemin", "reducemean"], n)


def divisors(rng):
    """Of the divisors of a prime number 1 alone is tried."""
    prime, axis = rng.choice([7, 11, 13, 17, 19, 23, 29]), rng.choice([0, 1])
    image = entrywise(rng)
    return Rule(*(f"({reduce} :axes {axis} {image})" for reduce in reductions(rng)), f"(divides (dim ?x {axis}) {prime})",
                there=f"(= (dim ?x {axis}) {prime})")


def remainders(rng):
    """Sizes that differ by a multiple of n differ by 0 where they are small."""
    n, left, right = rng.randint(5, 24), entrywise(rng, "?x"), entrywise(rng, "?v")
    condition = f"(divides {n} (- (dim ?y 1) (dim ?z 0)))"
    return Rule(f"(matmul (concat 1 ?y {left}) (concat 0 ?z {right}))", f"(matmul (concat 1 {left} ?y) (concat 0 {right} ?z))",
                f"(= (rank ?x) 2) {condition}", at=[(condition, "")],
                there=f"(= (dim ?y 1) {n + 1}) (= (dim ?z 0) 1) (= (dim ?x 1) 1)")


# --- ranks, axes, kinds ----------------------------------------------------------------------------------------------

def ranks(rng):
    """One axis is the first and the last; the next rank that is left has five."""
    left_out = rng.choice(["(divides (rank ?x) 5)", "(divides (rank ?x) 25)", "(divides 4 (- (rank ?x) 1))",
                           "(!= (rank ?x) 2) (!= (rank ?x) 3) (!= (rank ?x) 4)"])
    image = entrywise(rng)
    operator = rng.choice(["softmax {0}", "reducesum :axes {0}", "reducemax :axes {0}", "reducemean :axes {0}", "cumsum {0}"])
    sides = [f"({operator.format(axis)} {image})" for axis in ("0", "(- (rank ?x) 1)")]
    return Rule(*both(rng, *sides), left_out, at=[(left_out, "(= (rank ?x) 5)"), ("(- (rank ?x) 1)", "4")])


def sets(rng):
    """A set of axes that is dropped five times is empty at ranks up to four."""
    n, image = rng.choice([5, 6]), entrywise(rng)
    first, second = reductions(rng)
    k = rng.randint(1, n - 1)
    sides = rng.choice([
        [times(n, f"{reduce} :axes $a :keepdims 0", image) for reduce in (first, second)],
        [times(k, f"{first} :axes $a :keepdims 0", times(n - k, f"{second} :axes $a :keepdims 0", image)),
         times(n - k, f"{second} :axes $a :keepdims 0", times(k, f"{first} :axes $a :keepdims 0", f"(neg {image})"))]])
    return Rule(*sides, at=[("$a", "0")], there=f"(= (rank ?x) {n})")


def permutations(rng):
    """Orders of permutations of up to four axes divide 12; at rank 5 there are others."""
    period, more = rng.choice([(12, 0), (12, 1), (24, 0), (12, 5), (24, 1), (12, 7)])
    image = entrywise(rng)
    sides = times(period + more, "transpose :perm $p", image), times(more, "transpose :perm $p", image)
    return Rule(*both(rng, *sides), at=[("$p", "4 3 0 2 1")])


def kinds(rng):
    """Parts lie on another axis only where the first one has a place for each of the others."""
    m, n, image = rng.choice([2, 3]), rng.randint(3, 8), entrywise(rng, "?a")
    joined = f"({rng.choice(['ewadd', 'ewmul', 'max', 'sub'])} (concat $i{f' {image}' * m}) (concat 0{' ?d' * n}))"
    operator = rng.choice(["softmax {0}", "reducesum :axes {0}", "reducemax :axes {0}", "cumsum {0}"])
    return Rule(*(f"({operator.format(axis)} {joined})" for axis in ("$i", "0")), at=[("$i", "1")],
                there="(= (rank ?a) 2)")


def ranks_of_windows(rng):
    """With two axes of windows the named ones are all there are."""
    reduce, image = rng.choice(["reducemax", "reducemin"]), entrywise(rng)
    axes = rng.choice(["2 3", "0 2 3", "1 2 3", "0 1 2 3"])
    pool = f"(poolmax :kernel $k :pad $p{rng.choice(['', ' :stride $s'])} {image})"
    turned = f"(neg (poolmax :kernel $k :pad $p (neg {image})))"
    sides = (pool, image) if reduce == "reducemax" else (turned, image)
    return Rule(*(f"({reduce} :axes {axes} {side})" for side in sides), "(= (product $s) 1)" if "$s" in sides[0] else "",
                at=[("$k", "1 1 2"), ("$p", "0 0 0 0 0 0"), ("(= (product $s) 1)", ""), ("$s", "1 1 1")])


# --- parts -----------------------------------------------------------------------------------------------------------

def parts(rng):
    """A list of parts may be longer than what is concatenated again."""
    n, axis = rng.randint(3, 5), rng.choice(["0", "1", "$i"])
    image = entrywise(rng)
    whole = f"(split{n - 1} {axis} :sizes $z {image})"
    for i in range(n - 2, -1, -1):
        whole = f"(concat {axis} (split{i} {axis} :sizes $z {image}) {whole})"
    reduce = "reducesum" if axis == "$i" else rng.choice(["reducesum", "reducemax"])
    return Rule(f"({reduce} :axes {axis} {whole})", f"({reduce} :axes {axis} {image})",
                at=[("$z", " ".join(["1"] * (n + 1))), ("$i", "0")])


def parts_of_any_list(rng):
    """Two parts are all there are of a list of two."""
    axis, image = rng.choice([0, 1]), entrywise(rng)
    reduce, join = rng.choice([("reducesum", "ewadd"), ("reducemax", "max"), ("reducemin", "min")])
    part = [f"({reduce} :axes {axis} (split{i} {axis} :sizes $z {image}))" for i in range(2)]
    return Rule(*both(rng, f"({join} {part[0]} {part[1]})", f"({reduce} :axes {axis} {image})"), at=[("$z", "1 1 1")])


def lengths(rng):
    """Of the lengths that are left one is tried."""
    n, axis, image = rng.choice([5, 7]), rng.choice([0, 1]), entrywise(rng)
    reduce = reductions(rng, 1)[0]
    condition = rng.choice([f"(divides (length $z) {n})", f"(divides {n - 1} (- (length $z) 1))"])
    sides = (f"({reduce} :axes {axis} {inside})" for inside in (f"(split0 {axis} :sizes $z {image})", image))
    return Rule(*both(rng, *sides), condition, at=[(condition, ""), ("$z", " ".join(["1"] * n))])


# --- numbers of sizes, groups ----------------------------------------------------------------------------------------

def numbers_of_sizes(rng):
    """A difference of sizes has one sign until the size is n."""
    n, axis, rank = rng.randint(6, 29), rng.choice([0, 1]), rng.choice([2, 2, 3])
    bound, size = number(rng, n), number(rng, f"(dim ?x {axis})")
    below, there = f"(sub {bound} {size})", f"(= (rank ?x) {rank}) (= (dim ?x {axis}) {n + 1})"
    left, right = rng.choice([
        (f"(relu {below})", below), (f"(abs {below})", below), (f"(max {bound} {size})", bound),
        (f"(min {bound} {size})", size), (f"(relu (neg {below}))", f"(sub {size} {size})"),
        (f"(sqrt (ewmul {below} {below}))", below), (f"(max {below} (neg {below}))", below)])
    where = rng.choice(["", f"(= (rank ?x) {rank})"])
    if rng.random() < 0.4:   # as a coefficient
        return Rule(f"(relu (smul (relu ?x) {below}))", f"(smul (relu ?x) {below})", where, there=there)
    if rng.random() < 0.3:
        return Rule(f"(reducemax :axes {1 - axis} (smul ?x {below}))", f"(smul (reducemax :axes {1 - axis} ?x) {below})", where,
                    there=there)
    return Rule(*both(rng, f"(smul ?x {left})", f"(smul ?x {right})"), where, there=there)


def degrees(rng):
    """A polynomial of a size has all sizes up to its degree for roots."""
    n, axis, image = rng.randint(2, 6), rng.choice([0, 1]), entrywise(rng)
    size = number(rng, f"(dim ?x {axis})")
    zero = f"(sub {size} {size})"
    product = f"(sub {size} {number(rng, n)})"
    for root in range(1, n):
        product = f"(ewmul (sub {size} {number(rng, root)}) {product})"
    return Rule(*both(rng, f"(smul {image} {product})", f"(smul {image} {zero})"), there=f"(= (dim ?x {axis}) {n + 1})")


def groups(rng):
    """As many groups as are tried hold two places each, or have one filter."""
    c = rng.choice([2, 3])
    g, kernel = c * rng.randint(1, 2), entrywise(rng, "?k")
    more = [("$g", f"{g + c}"), ("$h", f"{g}")]
    return rng.choice([
        Rule(f"(merge $g {c} {kernel})", f"(merge {g} {c} {kernel})", at=more),
        Rule(f"(conv ?x (merge $g {c} {kernel}))", f"(conv ?x (merge {g} {c} {kernel}))", at=more),
        Rule(f"(ewadd (merge $g {c} {kernel}) (merge $h {c} ?k))", f"(ewadd (merge {g} {c} {kernel}) (merge $h {c} ?k))",
             at=more)])


def numbers_of_groups(rng):
    """Halves of one group's channels may be exchanged, and those of five groups not."""
    n, of_image, of_kernel = rng.choice([5, 7]), entrywise(rng, "?x"), entrywise(rng, "?k")
    halves = [("?x", f"(relu {of_image})"), ("?k", f"(relu {of_kernel})")]
    sides = (f"(conv :group $g {' '.join(f'(concat 1 {a} {b})' for a, b in order)})"
             for order in (halves, [half[::-1] for half in halves]))
    condition = rng.choice([f"(divides $g {n})", f"(divides {n - 1} (- $g 1))"])
    return Rule(*sides, condition, at=[(condition, ""), ("$g", f"{n}")])


# --- windows ---------------------------------------------------------------------------------------------------------

def unions_of_windows(rng):
    """Windows that meet leave no gap until the dilation, or the stride, is larger than they are."""
    m, image = rng.randint(2, 6), entrywise(rng)
    act, inner, gap = rng.choice(["", ":act relu "]), f"(poolmax :kernel {m} {m} {image})", f"{m + 1}"
    at = [(f"(+ $d {m})", f"{2 * m + 1} {2 * m + 1}"), ("(= (sum $p) 0)", ""), ("$d", f"{gap} {gap}"), ("$p", "0 0 0 0"),
          ("$s", f"{gap} {gap}")]
    return rng.choice([
        Rule(f"(poolmax :kernel 2 2 :dilation $d {act}{inner})", f"(poolmax :kernel (+ $d {m}) {act}{image})", at=at),
        Rule(f"(reducemax :axes 2 3 (poolmax :kernel {m} {m} :stride $s :pad 0 0 {m - 1} {m - 1} (relu {image})))",
             f"(reducemax :axes 2 3 (relu {image}))", at=at, there=f"(= (dim ?x 2) {m + 1})"),
        Rule(f"(poolmax :kernel 2 2 :dilation $d :pad $p {inner})", f"(poolmax :kernel (+ $d {m}) :pad $p {image})",
             "(= (sum $p) 0)", at=at)])


def reaches(rng):
    """A window that begins earlier, and ends where it ended, sees more of all images but the smallest."""
    size, earlier, step = rng.randint(2, 4), rng.randint(1, 2), rng.choice(["1 1", "1 1", "2 2", "$s"])
    before, after, image = rng.randint(0, size - 1), rng.randint(0, size - 1), entrywise(rng)
    window = rng.choice(["(poolmax :kernel 1 {0} :stride {1} :pad 0 {2} 0 {3} {4})",
                         "(poolmax :kernel {0} 1 :stride {1} :pad {2} 0 {3} 0 {4})",
                         "(conv :stride {1} :pad 0 {2} 0 {3} {4} (iewmul :shape 1 1 1 {0}))"])
    sides = [window.format(size + more, step, before + more, after, image) for more in (0, earlier)]
    return Rule(*both(rng, *rng.choice([sides, sides[::-1]])), at=[("$s", "1 1")], there="(= (dim ?x 2) 6) (= (dim ?x 3) 6)")


def steps(rng):
    """Steps as long as the image lead nowhere."""
    n, image = rng.randint(3, 29), entrywise(rng)
    window = rng.choice(["(poolmax :kernel 1 1 :stride {0} {0} {1})", "(poolmax :kernel 1 1 :stride {0} 1 {1})",
                         "(conv :stride {0} {0} {1} (iconv :shape (dim ?x 1) (dim ?x 1) 1 1))",
                         "(poolavg :kernel 1 1 :stride {0} 2 {1})"])
    return Rule(*both(rng, *(window.format(step, image) for step in (n, n + 1))), there=f"(= (dim ?x 2) {n + 1})")


def dilations(rng):
    """Of a kernel whose entries are far apart small images meet the middle alone."""
    n, image = rng.randint(2, 14), entrywise(rng)
    window, where = rng.choice([
        ("(conv :dilation {0} {0} :pad {0} {0} {0} {0} {1} ?k)", "(= (dim ?k 2) 3) (= (dim ?k 3) 3)"),
        ("(conv :dilation {0} 1 :pad {0} 0 {0} 0 {1} ?k)", "(= (dim ?k 2) 3) (= (dim ?k 3) 1)"),
        ("(poolmax :kernel 3 3 :dilation {0} {0} :pad {0} {0} {0} {0} {1})", ""),
        ("(poolmax :kernel 1 3 :dilation 1 {0} :pad 0 {0} 0 {0} {1})", "")])
    sides = [window.format(apart, image) for apart in (n, n + rng.randint(1, 2))]
    return Rule(*both(rng, *sides), where, there=f"(= (dim ?x 2) {n + 2}) (= (dim ?x 3) {n + 2})")


# --- functions and types ---------------------------------------------------------------------------------------------

def signs(rng):
    """2 n - 3 is a sign until n is 3."""
    axis, image = rng.choice([0, 1]), entrywise(rng)
    size = number(rng, f"(dim ?x {axis})")
    odd = rng.choice(["tanh", "erf", "sin", "atan", "sinh", "asinh", "round"])
    even = rng.choice(["(cos {0})", "(cosh {0})", "(abs {0})", f"(ewmul ({odd} {{0}}) ({odd} {{0}}))"])
    turned = f"(smul {image} (sub (ewadd {size} {size}) {number(rng, 3)}))"
    return Rule(*both(rng, even.format(turned), even.format(image)), there=f"(= (dim ?x {axis}) 3)")


def zero_of(rng, term):
    return rng.choice(["(sub {0} {0})", "(sub (ewmul {0} ?y) (ewmul ?y {0}))", "(ewadd {0} (neg {0}))",
                       "(ewmul {0} (sub ?y ?y))", "(sub (ewadd ?y {0}) (ewadd {0} ?y))"]).format(term)


def domains(rng):
    """A function that is undefined somewhere is taken away."""
    undefined = rng.choice(["(log ?x)", "(sqrt ?x)", "(acos ?x)", "(asin ?x)", "(acosh ?x)", "(atanh ?x)", "(fmod ?y ?x)",
                            "(log (sub ?x (exp ?y)))", "(sqrt (sub ?x ?y))", "(acos (ewadd ?x ?y))"])
    return Rule(f"(ewadd {zero_of(rng, undefined)} (ewadd ?x ?y))", "(ewadd ?x ?y)")


def zeros(rng):
    """A constant has a type of its own."""
    image, ones = entrywise(rng), "(iewmul :shape (dims ?x))"
    zero = rng.choice(["(sub {0} {0})", "(ewadd {0} (neg {0}))", "(sub (ewadd {0} {0}) (ewadd {0} {0}))"]).format(image)
    return Rule(*both(rng, zero, f"(sub {ones} {ones})"),
                at=[("(dims ?x)", "2 3"), ("?x", "(cast :to f64 (broadcast :shape 2 3 ?y))")])


FAMILIES = [casts, places, reals, repetitions, quotients, divisors, remainders, ranks, sets, permutations, kinds,
            ranks_of_windows, parts, parts_of_any_list, lengths, numbers_of_sizes, degrees, groups, numbers_of_groups,
            unions_of_windows, reaches, steps, dilations, signs, domains, zeros]
MOST_DRAWS = 40   # in a row of rules that were made before, after which a family has no more


def make(count, seed):
    """`count` rules by name, no two alike, of all families by turns."""
    rng, rules, left, drawn = random.Random(seed), {}, list(FAMILIES), set()
    while len(rules) < count and left:
        for family in list(left):
            for _ in range(MOST_DRAWS):
                rule = family(rng)
                text = rule.text("")
                if text not in drawn and rule.sides[0] != rule.sides[1]:
                    break
            else:
                left.remove(family)
                continue
            drawn.add(text)
            rules[f"{family.__name__.replace('_', '-')}-{len(rules)}"] = rule
    return dict(list(rules.items())[:count])
