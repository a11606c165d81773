// The families of an equation, one after the other, and the proof for each.
#include "verifier/symbolic_proof/symbolic.h"

#include "operators/traits.h"
#include "verifier/symbolic_proof/build_family.h"
#include "verifier/symbolic_proof/domains.h"
#include "verifier/symbolic_proof/entries.h"
#include "verifier/symbolic_proof/execute.h"
#include "verifier/symbolic_proof/lanes.h"
#include "verifier/symbolic_proof/symbols.h"
#include "verifier/symbolic_proof/typing_facts.h"

#define MOST_FAMILIES 3000
#define MOST_ROWS 200000   // of choices

void symbolic_prover_init(struct symbolic_prover *prover)
{
    *prover = (struct symbolic_prover){.lanes = lanes_make()};
    typing_init(&prover->typing);
}

void symbolic_prover_free(struct symbolic_prover *prover)
{
    typing_free(&prover->typing);
    arena_free(&prover->arena);
    lanes_free(prover->lanes);
}

// --- one family ------------------------------------------------------------------------------------------------------

static void assume_family(struct entails *e, const struct family *f)
{
    for (size_t i = 0; i < f->symbols.not_negative.count; i++)
        vec_push(&e->assumed, f->symbols.not_negative.items[i]);
    for (uint32_t i = 0; i < f->symbols.n; i++) {
        int64_t least = f->polys->atoms.items[i].least;
        if (f->symbols.items[i].is_one && f->symbols.values[i] != NO_POLY && least >= 0)
            vec_push(&e->assumed, poly_sub(f->polys, f->symbols.values[i], poly_const(f->polys, least)));
    }
}

static void assume_equations(struct entails *e, struct family *f)
{
    for (size_t i = 0; i < f->symbols.equal_zero.count; i++) {
        poly zero = family_resolved(f, f->symbols.equal_zero.items[i]);
        if (zero == POLY_ZERO)
            continue;
        vec_push(&e->assumed, zero);
        vec_push(&e->assumed, poly_scale(f->polys, zero, -1));
    }
}

// Does what typing says contradict itself, although no sizes were found by which to see it?
static bool is_contradictory(struct family *f, struct z3_session *z3)
{
    struct entails e FREED_BY(entails_free);
    entails_init(&e, f->polys, z3);
    assume_family(&e, f);
    assume_equations(&e, f);
    return entails_nothing(&e, NULL, 0) && !f->polys->has_failed;
}

// Sizes that were tried are points at which little follows.
static void add_lanes(struct entails *e, const struct family *f)
{
    for (int l = 0; l < LANES; l++)
        points_give(&e->points, f->lanes[l].values, f->symbols.n, e->assumed.items, (uint32_t)e->assumed.count);
}

static bool pairs_are_equal(struct family *f, struct z3_session *z3, struct symbolic_proof *proof)
{
    const struct equation *eq = f->equation;
    struct entails e FREED_BY(entails_free);
    entails_init(&e, f->polys, z3);
    assume_family(&e, f);
    add_lanes(&e, f);
    struct sums sums = {
        .arena = f->arena, .polys = f->polys, .entails = &e, .bags_have_elements = !family_has_empty_windows(f)};
    struct execution ex = {.family = f, .sums = &sums};
    bool are_equal = ALL(uint32_t, i, eq->n_pairs, execute_and_compare(&ex, eq->left[i], eq->right[i]));
    if (f->polys->has_failed)
        are_equal = sums_fail(&sums, "polynomials too large");
    if (!are_equal)
        family_fails(f, "%s", sums.why);
    proof->questions += e.questions;
    vecs_free(&ex, frames, answers);
    return are_equal;
}

static void print_family(struct text *out, const struct family *f)
{
    const struct pattern *p = f->equation->pattern;
    text_add(out, " (at");
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (f->outline.types[v])
            text_printf(out, " ?%s %s rank %d", p->variables[v], dtype_name(f->outline.types[v]->dtype),
                        f->outline.types[v]->rank);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        int64_t number;
        text_printf(out, " $%s", p->attribute_variables[v]);
        for (uint32_t i = 0; f->outline.is_chosen >> v & 1 && i < f->meanings.attributes[v].n; i++)
            if (poly_is_const(f->polys, f->meanings.attributes[v].items[i], &number))
                text_printf(out, " %lld", (long long)number);
            else
                text_add(out, " _");
    }
    text_add(out, ")");
}

static bool all_follow(struct entails *e, struct family *f)
{
    const poly *known = f->symbols.not_negative.items;
    uint32_t n_known = (uint32_t)f->symbols.not_negative.count;
    bool follow =
        ALL(size_t, i, f->asked.zero.count, entails_equal(e, known, n_known, f->asked.zero.items[i], POLY_ZERO)) &&
        ALL(size_t, i, f->asked.not_negative.count, entails(e, known, n_known, f->asked.not_negative.items[i]));
    return (follow && !f->polys->has_failed) || family_fails(f, "one side alone may be well-typed");
}

// Are the nodes that are not assumed to be well-typed so wherever the others are?
static bool others_are_typed(struct family *f, struct z3_session *z3)
{
    struct entails e;
    if (f->asked.is_one_sided)
        return family_fails(f, "one side alone is well-typed");
    if (!family_ask_typing(f) || !lanes_remember_alike(f))
        return false;
    entails_init(&e, f->polys, z3);
    assume_family(&e, f);
    assume_equations(&e, f);
    add_lanes(&e, f);
    bool are_typed = all_follow(&e, f);
    entails_free(&e);
    return are_typed;
}

// A question asked of each family: are both sides equal, or are all nodes well-typed where the assumed ones are?
struct question {
    const struct equation *equation;
    node_set assumed;
    bool is_of_typing;
};

static bool answer_is_yes(const struct question *q, struct family *f, struct z3_session *z3,
                          struct symbolic_proof *proof)
{
    if (q->is_of_typing)
        return others_are_typed(f, z3);
    return (family_keeps_domains(f) && pairs_are_equal(f, z3, proof)) || entries_are_equal(f, z3);
}

// False: it is unknown.
static bool prove_with_lanes(struct symbolic_prover *prover, const struct question *q, struct choices *choices,
                             uint64_t seed, struct z3_session *z3, struct symbolic_proof *proof, bool *ret_are_alike)
{
    ARENA_MARK(mark, &prover->arena);
    struct polys polys;
    struct family f;
    polys_init(&polys);
    bool is_built = family_build(&f, q->equation, q->assumed, choices, seed, &prover->typing, &polys, prover->lanes,
                                 &prover->arena);
    bool is_empty = f.is_impossible || (!is_built && f.lacks_lanes && is_contradictory(&f, z3));
    bool is_proved = is_empty || (is_built && answer_is_yes(q, &f, z3, proof));
    proof->families += is_proved && !is_empty && !q->is_of_typing;
    if (!is_proved) {
        text_add(&proof->why, f.why ? f.why : "the pool is full");
        print_family(&proof->why, &f);
    }
    *ret_are_alike = f.symbols.are_alike;
    family_free(&f);
    polys_free(&polys);
    return is_proved;
}

// --- all of them -----------------------------------------------------------------------------------------------------

// Which questions there are may depend on lanes, so that all rows of answers are of one draw.
static bool prove_families_of_draw(struct symbolic_prover *prover, const struct question *q, uint64_t seed,
                                   struct z3_session *z3, struct symbolic_proof *proof, bool *ret_are_alike)
{
    struct choices choices = {0};
    bool goes_on = true;
    for (uint32_t rows = 0; goes_on; rows++) {
        *ret_are_alike = false;
        if (rows == MOST_ROWS || proof->families > MOST_FAMILIES || choices.are_too_many) {
            text_add(&proof->why, "too many families");
            return false;
        }
        if (!prove_with_lanes(prover, q, &choices, seed, z3, proof, ret_are_alike))
            return false;
        goes_on = choices_go_on(&choices);
    }
    if (proof->families == 0 && !q->is_of_typing)
        text_add(&proof->why, "no instance is well-typed");
    return (proof->families > 0 || q->is_of_typing) && !choices.are_too_many;
}

#define MOST_DRAWS 3
// Lanes are drawn again where they do not tell sizes apart.
static bool prove_families(struct symbolic_prover *prover, const struct question *q, struct z3_session *z3,
                           struct symbolic_proof *proof)
{
    const uint32_t n_before = proof->families;
    bool are_proved = false, are_alike = true;
    for (uint64_t seed = 1; seed <= MOST_DRAWS && are_alike && !are_proved; seed++) {
        text_clear(&proof->why);
        proof->families = n_before;
        are_proved = prove_families_of_draw(prover, q, seed, z3, proof, &are_alike);
    }
    return are_proved;
}

static uint32_t attribute_variables_of_nodes(const struct equation *eq, node_set nodes)
{
    return UNION_ALL(uint32_t, uint32_t, n, eq->pattern->nodes.count,
                     nodes >> n & 1 ? attribute_variables_of_node(&eq->pattern->nodes.items[n]) : 0);
}

// An attribute that is asked for in nothing that is assumed may have any value.
static bool is_typed_where(struct symbolic_prover *prover, const struct equation *eq, enum wanted_sides side,
                           struct z3_session *z3, struct symbolic_proof *proof)
{
    struct question q = {.equation = eq, .assumed = equation_required_nodes(eq, side), .is_of_typing = true};
    if (q.assumed == equation_nodes(eq) && side == WANTED_RIGHT)   // what both remember the left side has told
        return true;
    if (attribute_variables_of_nodes(eq, equation_nodes(eq)) & ~attribute_variables_of_nodes(eq, q.assumed)) {
        text_add(&proof->why, "an attribute stands on one side alone");
        return false;
    }
    return prove_families(prover, &q, z3, proof);
}

static bool are_typed_together(struct symbolic_prover *prover, const struct equation *eq, struct z3_session *z3,
                               struct symbolic_proof *proof)
{
    return !eq->is_strong ||
           (is_typed_where(prover, eq, WANTED_LEFT, z3, proof) && is_typed_where(prover, eq, WANTED_RIGHT, z3, proof));
}

// The assumption on definitions (A1) is not so of an operator that was seen to be another function elsewhere.
static bool are_forms_lasting(const struct equation *eq, struct text *ret_why)
{
    const struct pattern_node *node = vec_find(&eq->pattern->nodes, n, operator_has(n->op, TRAIT_CHANGES_FORM));
    if (node)
        text_printf(ret_why, "%s has not one form at all ranks and sizes", node->op->name);
    return !node;
}

// --- polynomials that a rule says ------------------------------------------------------------------------------------

static bool is_constant(const struct attribute_term *t)
{
    return t->kind != TERM_VARIABLE && t->kind != TERM_DIM && t->kind != TERM_DIMS && t->kind != TERM_RANK &&
           ALL(uint32_t, i, t->count, is_constant(t->operands[i]));
}

// All entries of one attribute are numbers of their own.
static bool is_product(const struct attribute_term *t)
{
    return t->kind == TERM_PRODUCT
               ? t->operands[0]->kind != TERM_VARIABLE && !is_constant(t)
               : t->kind == TERM_MUL && !is_constant(t->operands[0]) && !is_constant(t->operands[1]);
}

// Is each product of numbers that are not given there the one that was found?
static bool is_product_alone(const struct attribute_term *t, const struct attribute_term **found)
{
    bool is_alone = true;
    if (is_product(t)) {
        is_alone = t->kind == TERM_MUL && (!*found || attribute_term_equal(*found, t));
        *found = t;
    }
    return is_alone && ALL(uint32_t, i, t->count, is_product_alone(t->operands[i], found));
}

static bool are_products_alone(const struct pattern_node *node, const struct attribute_term **found)
{
    return ALL(int, i, operator_n_attributes(node->op),
               ALL(uint32_t, j, node->attributes[i].count, is_product_alone(node->attributes[i].terms[j], found)));
}

// Steps and windows have few values in lanes, at which a polynomial that is not 0 may be 0: one product of numbers that
// are not given makes a square at most, which is 0 at two of them.
static bool are_polynomials_squares(const struct equation *eq, struct text *ret_why)
{
    const struct attribute_term *found = NULL;
    bool are_squares =
        ALL(size_t, n, eq->pattern->nodes.count, are_products_alone(&eq->pattern->nodes.items[n], &found));
    for (uint32_t i = 0; i < eq->n_conditions && are_squares; i++)
        are_squares = (!eq->conditions[i].a || is_product_alone(eq->conditions[i].a, &found)) &&
                      (!eq->conditions[i].b || is_product_alone(eq->conditions[i].b, &found));
    if (!are_squares)
        text_add(ret_why, "it says several products of numbers that are not given");
    return are_squares;
}

void symbolic_prove(struct symbolic_prover *prover, const struct equation *eq, struct symbolic_proof *ret_proof)
{
    struct z3_session z3 FREED_BY(z3_session_end) = {0};
    struct question q = {.equation = eq, .assumed = equation_nodes(eq)};
    *ret_proof = (struct symbolic_proof){0};
    typing_trim(&prover->typing);
    ret_proof->is_proved = are_forms_lasting(eq, &ret_proof->why) && are_polynomials_squares(eq, &ret_proof->why) &&
                           prove_families(prover, &q, &z3, ret_proof) && are_typed_together(prover, eq, &z3, ret_proof);
}

void symbolic_prove_typing(struct symbolic_prover *prover, const struct equation *eq, struct symbolic_proof *ret_proof)
{
    struct z3_session z3 FREED_BY(z3_session_end) = {0};
    *ret_proof = (struct symbolic_proof){0};
    typing_trim(&prover->typing);
    ret_proof->is_proved = are_forms_lasting(eq, &ret_proof->why) && are_polynomials_squares(eq, &ret_proof->why) &&
                           are_typed_together(prover, eq, &z3, ret_proof);
}
