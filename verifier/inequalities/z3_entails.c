// Inequalities that are obvious are seen from signs alone; of the others Z3 is asked, for which a product of atoms is a
// number of its own, no less than each of its factors: linear arithmetic is decided, and fast.
#include "verifier/inequalities/z3_entails.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_LIMIT 300000   // of Z3, for one question

void entails_init(struct entails *e, struct polys *polys, struct z3_session *session)
{
    *e = (struct entails){.polys = polys, .session = session};
    points_init(&e->points, polys);
}

void entails_free(struct entails *e)
{
    if (e->z3)
        Z3_solver_pop(e->z3, e->solver, 1);
    vecs_free(e, assumed, terms, facts, question, products, answers);
    points_free(&e->points);
    key_set_free(&e->known);
}

poly poly_negated(struct polys *p, poly a)
{
    return poly_sub(p, poly_const(p, -1), a);
}

// --- without Z3 ------------------------------------------------------------------------------------------------------

static bool is_obvious(const struct polys *p, const poly *assumed, uint32_t n, poly asked)
{
    return ANY(uint32_t, i, n, assumed[i] == asked || poly_is_never_less(p, asked, assumed[i]));
}

// --- Z3 --------------------------------------------------------------------------------------------------------------

static Z3_ast number(struct entails *e, int64_t value)
{
    return Z3_mk_int64(e->z3, value, Z3_mk_int_sort(e->z3));
}

static Z3_ast term_of(struct entails *e, poly a);

// A quotient is what its definition says where the divisor is positive, and not negative where the dividend is not.
static void state_quotient(struct entails *e, atom x)
{
    const struct atom_value v = e->polys->atoms.items[x];
    poly below = poly_mul(e->polys, v.divisor, poly_of_atom(e->polys, x));
    poly rest = poly_sub(e->polys, v.dividend, below);
    Z3_ast left = term_of(e, rest), b = term_of(e, v.divisor);
    Z3_ast zero = number(e, 0), is_not_negative = Z3_mk_ge(e->z3, term_of(e, v.dividend), zero);
    Z3_ast all[3] = {Z3_mk_ge(e->z3, left, zero), Z3_mk_lt(e->z3, left, b),
                     Z3_mk_eq(e->z3, is_not_negative, Z3_mk_ge(e->z3, e->terms.items[x], zero))};
    vec_push(&e->facts, Z3_mk_implies(e->z3, Z3_mk_ge(e->z3, b, number(e, 1)), Z3_mk_and(e->z3, 3, all)));
}

static Z3_ast term_of_atom(struct entails *e, atom x)
{
    char name[32];
    while (e->terms.count <= x)
        vec_push(&e->terms, NULL);
    if (e->terms.items[x])
        return e->terms.items[x];
    const struct atom_value v = e->polys->atoms.items[x];
    snprintf(name, sizeof name, "a%u", x);
    Z3_ast term = Z3_mk_const(e->z3, Z3_mk_string_symbol(e->z3, name), Z3_mk_int_sort(e->z3));
    e->terms.items[x] = term;
    if (v.least >= 0)
        vec_push(&e->facts, Z3_mk_ge(e->z3, term, number(e, v.least)));
    if (v.kind == ATOM_QUOTIENT)
        state_quotient(e, x);
    return term;
}

// Is the product no less than this factor: are all others at least 1, and it not negative?
static bool is_no_less(const struct polys *p, const struct monomial *m, uint32_t factor)
{
    return !ANY(uint32_t, i, m->n, p->atoms.items[m->atoms[i]].least < (i != factor));
}

static Z3_ast term_of_product(struct entails *e, const struct monomial *m)
{
    char name[32];
    struct monomial product = *m;
    product.factor = 1;
    for (size_t i = 0; i < e->products.count; i++)
        if (memcmp(&e->products.items[i].product, &product, sizeof product) == 0)
            return e->products.items[i].term;
    snprintf(name, sizeof name, "m%zu", e->products.count);
    Z3_ast term = Z3_mk_const(e->z3, Z3_mk_string_symbol(e->z3, name), Z3_mk_int_sort(e->z3));
    vec_push(&e->products, ((struct entails_product){product, term}));
    bool is_known = true;
    for (uint32_t i = 0; i < m->n; i++) {
        is_known = is_known && e->polys->atoms.items[m->atoms[i]].least >= 0;
        if (!is_no_less(e->polys, m, i))
            continue;
        Z3_ast factor = term_of_atom(e, m->atoms[i]);   // before the push: it states facts, too
        vec_push(&e->facts, Z3_mk_ge(e->z3, term, factor));
    }
    if (is_known)
        vec_push(&e->facts, Z3_mk_ge(e->z3, term, number(e, 0)));
    return term;
}

static Z3_ast term_of(struct entails *e, poly a)
{
    Z3_ast terms[65];
    const struct poly_value v = e->polys->polys.items[a];
    unsigned n = 0;
    terms[n++] = number(e, 0);
    for (uint32_t i = 0; i < v.n && n < 65; i++) {
        const struct monomial *m = &v.monomials[i];
        Z3_ast factors[2] = {number(e, m->factor), NULL};
        if (m->n)
            factors[1] = m->n == 1 ? term_of_atom(e, m->atoms[0]) : term_of_product(e, m);
        terms[n++] = m->n ? Z3_mk_mul(e->z3, 2, factors) : factors[0];
    }
    return Z3_mk_add(e->z3, n, terms);
}

static Z3_ast is_not_negative(struct entails *e, poly a)
{
    return Z3_mk_ge(e->z3, term_of(e, a), number(e, 0));
}

// An inequality of an index holds times a number that is not negative: of those numbers that are factors of an index in
// what is asked.
static void add_multiples(struct entails *e, const poly *assumed, uint32_t n, poly asked)
{
    struct polys *p = e->polys;
    const struct poly_value v = p->polys.items[asked];
    for (uint32_t i = 0; i < v.n; i++)
        for (uint32_t j = 0; v.monomials[i].n == 2 && j < 2; j++) {
            atom factor = v.monomials[i].atoms[j], index = v.monomials[i].atoms[1 - j];
            if (p->atoms.items[factor].least < 0 || p->atoms.items[factor].kind == ATOM_INDEX)
                continue;
            for (uint32_t k = 0; k < n; k++)
                if (poly_mentions(p, assumed[k], index))
                    vec_push(&e->question, is_not_negative(e, poly_mul(p, assumed[k], poly_of_atom(p, factor))));
        }
}

// Assumptions for all questions are stated once, below the level of single ones.
static void begin(struct entails *e)
{
    e->solver = z3_session_solver(e->session, STEP_LIMIT);
    e->z3 = e->session->z3;
    Z3_solver_push(e->z3, e->solver);
    for (size_t i = 0; i < e->assumed.count; i++)
        Z3_solver_assert(e->z3, e->solver, is_not_negative(e, e->assumed.items[i]));
}

static void state_facts(struct entails *e)
{
    for (; e->n_stated < e->facts.count; e->n_stated++)
        Z3_solver_assert(e->z3, e->solver, e->facts.items[e->n_stated]);
}

static bool ask(struct entails *e, const poly *assumed, uint32_t n, poly asked)
{
    if (!e->z3)
        begin(e);
    e->questions++;
    vec_clear(&e->question);
    vec_push(&e->question, Z3_mk_not(e->z3, is_not_negative(e, asked)));
    for (uint32_t i = 0; i < n; i++)
        vec_push(&e->question, is_not_negative(e, assumed[i]));
    add_multiples(e, assumed, n, asked);
    state_facts(e);
    Z3_solver_push(e->z3, e->solver);
    for (size_t i = 0; i < e->question.count; i++)
        Z3_solver_assert(e->z3, e->solver, e->question.items[i]);
    Z3_lbool answer = Z3_solver_check(e->z3, e->solver);
    Z3_solver_pop(e->z3, e->solver, 1);
    return answer == Z3_L_FALSE;
}

// --- answers ---------------------------------------------------------------------------------------------------------

static bool ask_once(struct entails *e, const poly *assumed, uint32_t n, poly asked)
{
    struct arena_mark mark = arena_mark(&e->polys->arena);
    poly *key = arena_array(&e->polys->arena, poly, n + 1);
    for (uint32_t i = 0; i < n; i++)
        key[i] = assumed[i];
    key[n] = asked;
    uint32_t found = key_set_find(&e->known, key, (n + 1) * sizeof *key);
    if (found != KEY_NONE) {
        arena_release(&e->polys->arena, mark);
        return e->answers.items[found];
    }
    bool follows = ask(e, assumed, n, asked);
    key_set_add(&e->known, NULL, key, (n + 1) * sizeof *key);
    vec_push(&e->answers, follows);
    return follows;
}

bool entails(struct entails *e, const poly *assumed, uint32_t n, poly asked)
{
    int64_t value;
    if (poly_is_const(e->polys, asked, &value) && value >= 0)
        return true;
    return poly_is_never_less(e->polys, asked, POLY_ZERO) || is_obvious(e->polys, assumed, n, asked) ||
           is_obvious(e->polys, e->assumed.items, (uint32_t)e->assumed.count, asked) ||
           (!points_refute(&e->points, assumed, n, asked) && ask_once(e, assumed, n, asked));
}

bool entails_nothing(struct entails *e, const poly *assumed, uint32_t n)
{
    return ANY(uint32_t, i, n, is_obvious(e->polys, assumed, n, poly_negated(e->polys, assumed[i]))) ||
           entails(e, assumed, n, poly_const(e->polys, -1));
}

bool entails_equal(struct entails *e, const poly *assumed, uint32_t n, poly a, poly b)
{
    return a == b ||
           (entails(e, assumed, n, poly_sub(e->polys, a, b)) && entails(e, assumed, n, poly_sub(e->polys, b, a)));
}
