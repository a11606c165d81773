"""Operators that no other file knows (extra/, and the manual's example) are proved with, generated with and run:
`extra_operators.py SOURCE BUILD MESON [--traits]`.

The program is built with them (meson's option extra_operators) in BUILD. A definition that is changed so that it is not
linear any more loses its traits without another change. Of operators that are another function at large ranks, long
axes, further spatial axes or numbers of their attributes, or refuse ranks or sizes, or have numbers of sizes, no theorem
speaks, and building says so; and it ends where a definition is not what its table says. With --traits only what building
says is asked, for which the program that says it is enough.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD, MESON = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
EXTRA = ["examples/axisscale.c", *(f"tests/operators/extra/{name}.c" for name in (
    "squarepool", "squarerelu", "cell", "switched", "deepneg", "longsum", "mixedpool", "axisshare", "matvec"))]
POOL = "squarepool :kernel $k :stride $s :pad $p :dilation $d"
QUICKLY_BUILT = ["-Ddebug=false", "-Doptimization=1"]
TRUE = {
    "scale-of-sum": ("(axisscale (ewadd ?x ?y) ?w)", "(ewadd (axisscale ?x ?w) (axisscale ?y ?w))", "(= (rank ?x) 3)"),
    "scale-of-product": ("(axisscale (matmul ?x ?y) ?w)", "(matmul ?x (axisscale ?y ?w))",
                         "(= (rank ?x) 2) (= (rank ?y) 2)"),
    "scale-of-concat": ("(axisscale (concat 0 ?x ?y) ?w)", "(concat 0 (axisscale ?x ?w) (axisscale ?y ?w))",
                        "(= (rank ?x) 2)"),
    "pool-of-neg": (f"({POOL} (neg ?x))", f"({POOL} ?x)", "(= (rank ?x) 4)"),
    "pool-of-concat": (f"({POOL} (concat 1 ?x ?y))", f"(concat 1 ({POOL} ?x) ({POOL} ?y))", "(= (rank ?x) 4)"),
    "squarerelu-is-a-square": ("(squarerelu ?x)", "(ewmul (relu ?x) (relu ?x))", ""),
    "squarerelu-of-concat": ("(squarerelu (concat $i ?x ?y))", "(concat $i (squarerelu ?x) (squarerelu ?y))", ""),
}
FALSE = {
    "scale-of-relu": ("(axisscale (relu ?x) ?w)", "(relu (axisscale ?x ?w))", "(= (rank ?x) 2)"),
    "scale-of-transpose": ("(axisscale (transpose :perm 1 0 ?x) ?w)", "(transpose :perm 1 0 (axisscale ?x ?w))", ""),
    "pool-of-sum": (f"({POOL} (ewadd ?x ?y))", f"(ewadd ({POOL} ?x) ({POOL} ?y))", "(= (rank ?x) 4)"),
    "squarerelu-of-sum": ("(squarerelu (ewadd ?x ?y))", "(ewadd (squarerelu ?x) (squarerelu ?y))", ""),
}
# 20 less the rows of x, which is above 0 at all sizes that are tried.
DIFFERENCE = "(sub {} {})".format(*(f"(reducesum :axes 0 :keepdims 0 (iewmul :shape {n}))" for n in ("20", "(dim ?x 0)")))
# Of rank 2 where ?x has four axes, and of more where ?x has more.
ROWS = "(matvec (matvec ?{} ?u) ?v)"
# At sizes and ranks that no proof looks at, or numbers that no trait was found at.
OF_NO_FORM = {
    "deep": ("(deepneg (neg ?x))", "?x", "(plain ?x)"),
    "long": ("(longsum $i (ewadd ?x ?y))", "(ewadd (longsum $i ?x) (longsum $i ?y))", ""),
    "mixed": ("(mixedpool :kernel $k :stride $s (relu ?x))", "(relu (mixedpool :kernel $k :stride $s ?x))", ""),
    "number": (f"(smul ?x (switched :mode 7 {DIFFERENCE}))", f"(smul ?x {DIFFERENCE})", ""),
    "share": ("(axisshare $i ?x)", "?x", "(plain ?x)"),
    "rows": ("(concat 0 (matmul {0} ?w) (matmul {1} ?w))".format(ROWS.format("x"), ROWS.format("y")),
             "(matmul (concat 0 {0} {1}) ?w)".format(ROWS.format("x"), ROWS.format("y")), ""),
}
# Only four tensors or more in a batch have a right side of rank 3.
LARGER = {
    "scale-of-a-batch": ("(matmul (axisscale (concat 0 ?a ?b ?c ?d) ?w) (softmax 1 ?y))",
                         "(matmul (axisscale (concat 0 ?a ?b ?c ?d) ?w) (softmax (- (rank ?y) 1) ?y))", ""),
}
# Operators of which the table says what the definition does not keep: more of the table, functions that it names, what an
# entry of the result is, and what building says of it. `e` is an entry of the first input, `z` the result.
LIARS = {
    "subtracts": (".min_inputs = 2, .max_inputs = 2, .flags = OPERATOR_IS_ELEMENTWISE | OPERATOR_IS_COMMUTATIVE", "",
                  "scalar_sub(d, e, scalar_read_same(d, 1, z))", "it is not commutative"),
    "disagrees": (".min_inputs = 2, .max_inputs = 2, .agreement = size_of_first",
                  "static uint64_t size_of_first(const struct operator_call *call, int input)\n"
                  "{ return call->inputs[input].rank ? (uint64_t)call->inputs[input].dim[0] : 0; }\n",
                  "e", "its agreement differs between inputs that it takes"),
    "refuses": (".min_inputs = 1, .max_inputs = 1, .refuses = refuses_three, .attributes = {{.name = \"n\", .kind = "
                "ATTRIBUTE_INT}}", "static bool refuses_three(const struct attribute_value *a) { return a->ints[0] == 3; }\n",
                "call_int(call, 0) == 3 ? scalar_unary(d, FN_NEG, e) : e", "it refuses attributes that it takes"),
    "resolves": (".min_inputs = 1, .max_inputs = 1, .resolve = to_one, .attributes = {{.name = \"n\", .kind = "
                 "ATTRIBUTE_INTS}}",
                 "static void to_one(struct definition *d, const struct operator_call *c, struct attribute_value *ret)\n"
                 "{ static const int64_t one[] = {1}; (void)d; (void)c; ret[0] = (struct attribute_value){1, one}; }\n",
                 "call->attributes[0].count == 1 ? scalar_unary(d, FN_NEG, e) : e", "what it makes explicit is another call"),
    "chooses": (".min_inputs = 1, .max_inputs = 1, .attributes = {{.name = \"how\", .kind = ATTRIBUTE_CHOICE, .choices = names}}",
                "static const char *const names[] = {\"a\", \"b\", NULL};\n",
                "call_int(call, 0) == 1 && x->rank > 2 ? 0 : e", "its types depend on a choice"),
    "remembers": (".min_inputs = 1, .max_inputs = 1", "", "x->rank && x->split[0] ? scalar_unary(d, FN_NEG, e) : e",
                  "it looks at concatenations"),
    "halves": (".min_inputs = 1, .max_inputs = 1", "", "x->dtype == DTYPE_F16 ? scalar_unary(d, FN_NEG, e) : e",
               "it is another function of other floating-point types"),
}
LIARS["joins"] = (".min_inputs = 1, .max_inputs = VARIADIC, .attributes = {{.name = \"axis\", .kind = ATTRIBUTE_INT, "
                  ".role = ROLE_AXIS}}", "", "e", "it has the roles of concat, and not its types")
LIARS["itself"] = (".min_inputs = 1, .max_inputs = 1", "", "scalar_read_same(d, z, z)",
                   "it reads a tensor before it is added")
# Those of which no proof speaks, and why.
NUMBERS = "has numbers that depend on sizes, and divide no sum over as many places"
OTHERS = {
    "scales": (".min_inputs = 1, .max_inputs = 1", "",
               "x->rank == 2 ? scalar_mul(d, scalar_real(d, (double)x->dim[0] / (double)x->dim[1]), scalar_reduce(d, FN_ADD, "
               "reduce_variable(d, 1), e)) : 0", NUMBERS),
    "counts": (".min_inputs = 1, .max_inputs = 1", "",
               "x->rank == 1 ? scalar_div(d, e, scalar_unary(d, FN_SQRT, scalar_reduce(d, FN_ADD, reduce_variable(d, x->dim[0]), "
               "scalar_real(d, 1)))) : 0", NUMBERS),
    "flat": (".min_inputs = 1, .max_inputs = 1", "", "x->rank > 4 ? 0 : e", "refuses ranks above those that it takes"),
    "briefer": (".min_inputs = 1, .max_inputs = 1", "", "x->rank && x->dim[0] > 256 ? 0 : e",
                "refuses sizes above those that it takes"),
    "last": (".min_inputs = 1, .max_inputs = 1",   # the mean over the places after each one, of which the last has none
             "static expr places_after(struct definition *d, int z, int64_t n)\n"
             "{ expr r = reduce_variable(d, n), after = index_offset(d, index_add(d, r, index_mul(d, stage_index(d, z, 0), -1)), -1);\n"
             "  return scalar_reduce(d, FN_ADD, r, scalar_select(d, after, scalar_real(d, 1), scalar_real(d, 0))); }\n",
             "x->rank == 1 ? scalar_div(d, e, places_after(d, z, x->dim[0])) : 0", "divides by a number of places that is 0"),
}
# Operators that are undefined at some places, whatever entries are there.
PARTIAL = {
    "placed": (".min_inputs = 1, .max_inputs = 1", "",
               "x->rank == 1 ? scalar_div(d, e, scalar_of(d, stage_index(d, z, 0))) : 0"),
    "countless": (".min_inputs = 1, .max_inputs = 1", "",
                  "scalar_div(d, e, scalar_sub(d, scalar_real(d, 1), scalar_real(d, 1)))"),
}
LIAR = """#include "operators/extra_operators.h"

{functions}
static bool define_liar(struct definition *d, const struct operator_call *call)
{{
    const struct type *x = &call->inputs[0];
    bool fits = call->n_inputs < 2 || (call->op->flags ? type_equal(x, &call->inputs[1]) : x->rank == call->inputs[1].rank);
    if (!dtype_is_float(x->dtype) || !fits)
        return refuse(d, "floating-point numbers");
    int z = output_add(d, x->dtype, x->rank, x->dim);
    expr e = scalar_read_same(d, 0, z), entry = {entry};
    stage_set_body(d, z, entry);
    return entry != 0 || e == 0;
}}

const struct operator operator_{name} = {{.id = OP_{enumerator}, .name = "{name}", .summary = "a liar", {table}, .define = define_liar}};
"""
GRAPHS = """
(graph (let x (input 0) (f32 5 70)) (let w (weight 0) (f32 70)) (let a (axisscale x w)) (let z (squarerelu a)) (output z))
(graph (let x (input 0) (f32 30 20)) (let y (weight 0) (f32 20 40)) (let w (input 1) (f32 40))
  (let p (matmul x y)) (let z (axisscale p w)) (output z))
(graph (let x (input 0) (f32 2 8 9 9)) (let p (squarepool :kernel 3 3 :stride 2 2 :pad 1 1 1 1 x)) (let z (relu p)) (output z))
(graph (let x (input 0) (f32 1 4 8 7)) (let k (weight 0) (f32 8 4 3 3)) (let c (conv :pad 1 1 1 1 x k))
  (let s (squarerelu c)) (let z (squarepool :kernel 2 2 s)) (output z))
"""


def run(*command, codes=(0,)):
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert ran.returncode in codes, f"{command}: {ran.returncode}\n{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout


def build(folder, sources, *targets):
    option = "-Dextra_operators=" + ",".join(map(str, sources))
    again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
    run(MESON, "setup", *again, folder, SOURCE, option, "-Dcuda=disabled", *QUICKLY_BUILT)
    run(MESON, "compile", "-C", folder, *targets)


def as_text(kind, laws):
    """Properties say besides that both sides are typed, which rules are where they are applied."""
    parts, typed = {"rule": ("(source {0}) (target {1})", ""),
                    "property": ("(equal {0} {1})", "(defined {0}) (defined {1}) ")}[kind]
    return "".join(f"({kind} {name} {parts} (where {typed}{{2}}))\n".format(*law)
                   for name, law in laws.items()).replace(" (where )", "")


def names(kind, path):
    return set(re.findall(rf"^\({kind} (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)) if path.exists() else set()


def rules_are_judged(folder):
    rules, proved, rejected = folder / "laws.rules", folder / "proved.rules", folder / "rejected.rules"
    rules.write_text(as_text("rule", TRUE | FALSE | LARGER), encoding="utf-8")
    run(BUILD / "programs/taso-verify", "rules", rules, "-o", proved, "--rejected", rejected, "--no-conditions", codes=(1,))
    assert names("rule", proved) and names("rule", proved) <= set(TRUE), names("rule", proved)
    reasons = rejected.read_text(encoding="utf-8")
    for name in names("rule", rejected) & set(TRUE):   # true, and no argument for all sizes
        assert re.search(rf"^; checked: .*\n(?:;.*\n)*\(rule {name}\n", reasons, re.MULTILINE), f"{name} is refuted"


def properties_are_judged(folder):
    for laws, code in (TRUE, 0), (FALSE, 1):
        path = folder / "laws.properties"
        path.write_text(as_text("property", laws), encoding="utf-8")
        said = run(BUILD / "programs/taso-verify", "properties", path, codes=(0, 1))
        judged = dict(re.findall(r"^(\S+): (proved|only checked|refuted)", said, re.MULTILINE))
        assert judged.keys() == set(laws) and set(judged.values()) <= ({"refuted"} if code else {"proved", "only checked"}), said


def properties_of_the_manual_hold(_):
    path = SOURCE / "examples/axisscale.properties"
    said = run(BUILD / "programs/taso-verify", "properties", "--all", "--theory", path)
    assert set(re.findall(r"^(\S+): (?:proved|axiom)", said, re.MULTILINE)) == names("property", path), said
    assert "follow from the others, all at once: 0" in said, said


def rules_of_the_manual_are_proved(folder):
    path, proved = SOURCE / "examples/axisscale.rules", folder / "manual.proved"
    run(BUILD / "programs/taso-verify", "rules", path, "--checked", "-o", proved)
    assert names("rule", proved) == names("rule", path), proved.read_text(encoding="utf-8")


def forms_are_asked_for(folder):
    """Of those of which building says so, and of numbers whose definitions have not what the operator has."""
    path = folder / "forms.properties"
    path.write_text(as_text("property", OF_NO_FORM), encoding="utf-8")
    said = run(BUILD / "programs/taso-verify", "properties", path, codes=(1,))
    judged = dict(re.findall(r"^(\S+): (proved|only checked|refuted)", said, re.MULTILINE))
    assert judged.keys() == OF_NO_FORM.keys() and "proved" not in judged.values(), said
    said = run(BUILD / "programs/taso-verify", "symbolic", path, codes=(0, 1))
    for name, op in ("deep", "deepneg"), ("long", "longsum"), ("mixed", "mixedpool"):
        assert re.search(rf"^{name}: .*{op} has not one form at all ranks and sizes", said, re.MULTILINE), said


def building_says_so(_):
    ran = subprocess.run([BUILD / "operators/derive-traits"], capture_output=True, text=True, check=True)
    assert set(re.findall(r"(\w+) is another function", ran.stderr)) == {"deepneg", "longsum", "mixedpool"}, ran.stderr


def rules_are_generated(folder):
    found = folder / "found.rules"
    run(BUILD / "programs/taso-gen", "--with", "squarerelu,relu,ewmul", "--max-ops", "3", "-q", "-o", found)
    assert "squarerelu" in found.read_text(encoding="utf-8")
    run(BUILD / "programs/taso-verify", "rules", found, "-q", "-o", folder / "found.proved", codes=(0, 1))
    assert any("squarerelu" in line for line in (folder / "found.proved").read_text(encoding="utf-8").splitlines())


def loops_run(folder):
    graphs = folder / "graphs"
    graphs.write_text(GRAPHS, encoding="utf-8")
    run(BUILD / "tests/operators/check_graphs", graphs)


def adding_compiles_little(_):
    """Their own files, the table of operators, the traits, and both sides of the table of ONNX operators."""
    users, compiled = set(), None
    for line in run("ninja", "-C", BUILD, "-t", "deps").splitlines():
        compiled = line.split(":")[0] if line and not line.startswith(" ") else compiled
        if line.strip().endswith("operators/extra_operators.h"):
            users.add(compiled)
    assert len(EXTRA) <= len(users) <= len(EXTRA) + 3, sorted(users)


def traits_in(table, name):
    return int(re.search(rf"\{{(\w+), \w+, .*\}},\s+// {name}$", table, re.MULTILINE)[1], 16)


def traits_of(name):
    table = run(BUILD / "operators/derive-traits")
    return traits_in(table, name)


def trait_goes_with_the_definition(folder):
    """From x * w to max(x, w): neither polynomial any more, nor does it keep what a sum does."""
    polynomial = 1
    assert traits_of("axisscale") & polynomial
    text = (SOURCE / EXTRA[0]).read_text(encoding="utf-8")
    changed = re.sub(r"scalar_mul\(d, (.*)\)\);", r"scalar_apply(d, FN_MAX, \1, 0));", text)
    assert changed != text
    (folder / "axisscale.c").write_text(changed, encoding="utf-8")
    build(BUILD, [folder / "axisscale.c", *EXTRA[1:]], "derive-traits")
    assert not traits_of("axisscale") & polynomial


def promises_are_asked(folder):
    """What the table says beside the definition: building ends where that is not so, or warns."""
    sources = []
    for name, (table, functions, entry, *_) in (LIARS | OTHERS | PARTIAL).items():
        sources.append(folder / f"{name}.c")
        sources[-1].write_text(LIAR.format(name=name, enumerator=name.upper(), table=table, functions=functions, entry=entry),
                               encoding="utf-8")
    build(BUILD, sources, "derive-traits")
    ran = subprocess.run([BUILD / "operators/derive-traits"], capture_output=True, text=True, check=False)
    said = dict(re.findall(r"(\w+) is not what its table says: (.*)", ran.stderr))
    assert ran.returncode == 1 and said == {name: liar[3] for name, liar in LIARS.items()}, (ran.returncode, ran.stderr)
    warned = dict(re.findall(r"(\w+) (.*): no proof speaks of it", ran.stderr))
    assert {name: warned.get(name) for name in OTHERS} == {name: other[3] for name, other in OTHERS.items()}, ran.stderr
    partial = 16384
    assert all(traits_in(ran.stdout, name) & partial for name in ["last", *PARTIAL]), ran.stdout


os.environ.setdefault("XDG_CACHE_HOME", str(BUILD / "cache"))
OF_TRAITS = [building_says_so, trait_goes_with_the_definition, promises_are_asked]
OF_PROGRAMS = [rules_are_judged, properties_are_judged, properties_of_the_manual_hold, rules_of_the_manual_are_proved,
               forms_are_asked_for, rules_are_generated, loops_run, adding_compiles_little]
has_programs = "--traits" not in sys.argv
build(BUILD, EXTRA, "derive-traits", *["taso-verify", "taso-gen", "check_graphs"] * has_programs)
with tempfile.TemporaryDirectory() as scratch:
    for check in OF_PROGRAMS * has_programs + OF_TRAITS:
        check(pathlib.Path(scratch))
        print(check.__name__)
