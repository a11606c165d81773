// The families of an equation, one after the other, and the proof for each.
#include "verifier/symbolic_proof/symbolic.h"

#include "verifier/symbolic_proof/execute.h"

#define MOST_FAMILIES 3000
#define MOST_ROWS 200000   // of choices

void symbolic_prover_init(struct symbolic_prover *prover)
{
    prover->lanes = lanes_make();
    arena_init(&prover->arena);
    applications_init(&prover->applications);
}

void symbolic_prover_free(struct symbolic_prover *prover)
{
    applications_free(&prover->applications);
    arena_free(&prover->arena);
    lanes_free(prover->lanes);
}

// --- one family ------------------------------------------------------------------------------------------------------

static void assume_family(struct entails *e, const struct family *f)
{
    for (size_t i = 0; i < f->not_negative.count; i++)
        vec_push(&e->assumed, f->not_negative.items[i]);
    for (uint32_t i = 0; i < f->n_symbols; i++) {
        int64_t least = f->polys->atoms.items[i].least;
        if (f->symbols[i].is_one && f->values[i] != NO_POLY && least >= 0)
            vec_push(&e->assumed, poly_sub(f->polys, f->values[i], poly_const(f->polys, least)));
    }
}

// Does what typing says contradict itself, although no sizes were found by which to see it?
static bool is_contradictory(struct family *f, struct z3_session *z3)
{
    struct entails e;
    entails_init(&e, f->polys, z3);
    assume_family(&e, f);
    for (size_t i = 0; i < f->equal_zero.count; i++) {
        poly zero = family_resolved(f, f->equal_zero.items[i]);
        vec_push(&e.assumed, zero);
        vec_push(&e.assumed, poly_scale(f->polys, zero, -1));
    }
    bool is_contradictory = entails_nothing(&e, NULL, 0) && !f->polys->has_failed;
    entails_free(&e);
    return is_contradictory;
}

// Sizes that were tried are points at which little follows.
static void add_lanes(struct entails *e, const struct family *f)
{
    static const int64_t indices[] = {60, 20, 7, 3, 1, 0};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        for (int l = 0; l < 3; l++)
            entails_add_point(e, f->lanes[l].values, f->n_symbols, indices[i]);
}

static bool pairs_are_equal(struct family *f, struct z3_session *z3, struct symbolic_proof *proof)
{
    const struct equation *eq = f->equation;
    struct entails e;
    bool are_equal = true;
    entails_init(&e, f->polys, z3);
    assume_family(&e, f);
    add_lanes(&e, f);
    struct sums sums = {.arena = f->arena, .polys = f->polys, .entails = &e};
    struct execution ex = {.family = f, .sums = &sums};
    for (uint32_t i = 0; are_equal && i < eq->n_pairs; i++)
        are_equal = execute_and_compare(&ex, eq->left[i], eq->right[i]);
    if (f->polys->has_failed)
        are_equal = sums_fail(&sums, "polynomials too large");
    if (!are_equal)
        family_fails(f, "%s", sums.why);
    proof->questions += e.questions;
    vec_free(&ex.frames);
    vec_free(&ex.answers);
    entails_free(&e);
    return are_equal;
}

static void print_family(struct text *out, const struct family *f)
{
    const struct pattern *p = f->equation->pattern;
    text_add(out, " (at");
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (f->types[v])
            text_printf(out, " ?%s %s rank %d", p->variables[v], dtype_name(f->types[v]->dtype), f->types[v]->rank);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        int64_t number;
        text_printf(out, " $%s", p->attribute_variables[v]);
        for (uint32_t i = 0; f->is_chosen >> v & 1 && i < f->attributes[v].n; i++)
            if (poly_is_const(f->polys, f->attributes[v].items[i], &number))
                text_printf(out, " %lld", (long long)number);
            else
                text_add(out, " _");
    }
    text_add(out, ")");
}

// False: it is unknown.
static bool prove_family(struct symbolic_prover *prover, const struct equation *eq, struct choices *choices,
                         struct z3_session *z3, struct symbolic_proof *proof)
{
    struct arena_mark mark = arena_mark(&prover->arena);
    struct polys polys;
    struct family f;
    polys_init(&polys);
    bool is_built = family_build(&f, eq, choices, &prover->applications, &polys, prover->lanes, &prover->arena);
    bool is_empty = f.is_impossible || (!is_built && f.lacks_lanes && is_contradictory(&f, z3));
    bool is_proved = is_empty || (is_built && pairs_are_equal(&f, z3, proof));
    proof->families += is_proved && !is_empty;
    if (!is_proved) {
        text_add(&proof->why, f.why ? f.why : "the pool is full");
        print_family(&proof->why, &f);
    }
    family_free(&f);
    polys_free(&polys);
    arena_release(&prover->arena, mark);
    return is_proved;
}

// --- all of them -----------------------------------------------------------------------------------------------------

static bool prove_families(struct symbolic_prover *prover, const struct equation *eq, struct z3_session *z3,
                           struct symbolic_proof *proof)
{
    struct choices choices = {0};
    bool goes_on = true;
    for (uint32_t rows = 0; goes_on; rows++) {
        if (rows == MOST_ROWS || proof->families == MOST_FAMILIES || choices.are_too_many) {
            text_add(&proof->why, "too many families");
            return false;
        }
        if (!prove_family(prover, eq, &choices, z3, proof))
            return false;
        goes_on = choices_go_on(&choices);
    }
    if (proof->families == 0)
        text_add(&proof->why, "no instance is well-typed");
    return proof->families > 0 && !choices.are_too_many;
}

void symbolic_prove(struct symbolic_prover *prover, const struct equation *eq, struct symbolic_proof *ret_proof)
{
    struct z3_session z3 = {0};
    *ret_proof = (struct symbolic_proof){0};
    ret_proof->is_proved = prove_families(prover, eq, &z3, ret_proof);
    z3_session_end(&z3);
}
