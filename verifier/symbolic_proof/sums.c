// The arithmetic of normal forms.
#include "verifier/symbolic_proof/sums.h"

#include <math.h>
#include <string.h>

#define MOST_TERMS 64
#define MOST_PLACES 6                  // of an index that is written out
#define MOST_BYTES ((size_t)1 << 29)   // of one family
const struct sum SUM_ZERO;

bool sums_fail(struct sums *s, const char *why)
{
    s->why = s->why ? s->why : why;
    return false;
}

bool sums_have_room(struct sums *s)
{
    return arena_used(s->arena) <= MOST_BYTES || sums_fail(s, "sums that take much memory");
}

// --- making ----------------------------------------------------------------------------------------------------------

const struct sum *sum_of_products(struct sums *s, uint32_t n, const struct product *terms)
{
    struct sum *sum = arena_new(s->arena, struct sum);
    if (n > MOST_TERMS)
        sums_fail(s, "a sum of many terms");
    for (uint32_t i = 0; i < n; i++)
        if (!rational_is_small(terms[i].coefficient))
            sums_fail(s, "a coefficient of large integers");
    *sum = (struct sum){s->why ? 0 : n, n && !s->why ? arena_copy_array(s->arena, terms, n) : NULL};
    return sum;
}

const struct sum *sum_of_factor(struct sums *s, const struct factor *f)
{
    struct product p = {.coefficient = {1, 1}, .n_factors = 1, .factors = arena_copy_array(s->arena, f, 1)};
    return sum_of_products(s, 1, &p);
}

const struct sum *sum_of_rational(struct sums *s, struct rational value)
{
    struct product p = {.coefficient = value};
    return value.n == 0 ? &SUM_ZERO : sum_of_products(s, 1, &p);
}

const struct sum *sum_of_real(struct sums *s, double value)
{
    double scaled = value * 0x1p20;
    if (!isfinite(value))
        sums_fail(s, "a number that is not finite");
    if (fabs(value) <= 0x1p20 && scaled == floor(scaled))
        return sum_of_rational(s, rational((int64_t)scaled, 1 << 20));
    return sum_of_factor(s, &(struct factor){.kind = FACTOR_REAL, .real = value});
}

const struct sum *sum_of_poly(struct sums *s, poly a)
{
    const struct poly_value v = s->polys->polys.items[a];
    struct product *terms = arena_array(s->arena, struct product, v.n + 1);
    for (uint32_t i = 0; i < v.n; i++) {
        const struct monomial *m = &v.monomials[i];
        struct factor *factors = arena_array(s->arena, struct factor, m->n + 1);
        for (uint32_t j = 0; j < m->n; j++)
            factors[j] = (struct factor){.kind = FACTOR_ATOM, .name = m->atoms[j]};
        terms[i] = (struct product){.coefficient = rational(m->factor, 1), .n_factors = m->n, .factors = factors};
    }
    return sum_of_products(s, v.n, terms);
}

// --- substitution ----------------------------------------------------------------------------------------------------

static const struct sum *substitute(struct sums *s, const struct sum *a, const poly *map, size_t n_map)
{
    struct sum *sum = arena_new(s->arena, struct sum);
    struct product *terms = arena_array(s->arena, struct product, a->n + 1);
    for (uint32_t i = 0; i < a->n; i++)
        terms[i] = product_substitute(s, &a->terms[i], map, n_map);
    *sum = (struct sum){a->n, terms};
    return sum;
}

static const poly *substitute_all(struct sums *s, uint32_t n, const poly *items, const poly *map, size_t n_map)
{
    poly *result = arena_array(s->arena, poly, n + 1);
    for (uint32_t i = 0; i < n; i++)
        result[i] = poly_substitute(s->polys, items[i], map, n_map);
    return result;
}

// An atom that has become a polynomial is a sum of factors, which only a product of one monomial can take.
static struct factor substitute_factor(struct sums *s, const struct factor *f, const poly *map, size_t n_map)
{
    struct factor result = *f;
    const struct sum **operands = arena_array(s->arena, const struct sum *, f->n_operands + 1);
    atom x;
    for (uint32_t i = 0; i < f->n_operands; i++)
        operands[i] = substitute(s, f->operands[i], map, n_map);
    result.operands = operands;
    result.places = substitute_all(s, f->n_places, f->places, map, n_map);
    if (f->kind == FACTOR_ATOM) {
        poly value = poly_substitute(s->polys, poly_of_atom(s->polys, f->name), map, n_map);
        if (poly_is_atom(s->polys, value, &x))
            result.name = x;
        else
            sums_fail(s, "an index as a number is replaced");
    }
    return result;
}

struct product product_substitute(struct sums *s, const struct product *t, const poly *map, size_t n_map)
{
    struct product result = *t;
    struct factor *factors = arena_array(s->arena, struct factor, t->n_factors + 1);
    atom *indices = arena_array(s->arena, atom, t->n_indices + 1);
    result.n_indices = 0;
    for (uint32_t i = 0; i < t->n_indices; i++)   // those that are not replaced stay
        if (t->indices[i] >= n_map || map[t->indices[i]] == NO_POLY)
            indices[result.n_indices++] = t->indices[i];
    for (uint32_t i = 0; i < t->n_factors; i++)
        factors[i] = substitute_factor(s, &t->factors[i], map, n_map);
    result.indices = indices;
    result.factors = factors;
    result.guards = substitute_all(s, t->n_guards, t->guards, map, n_map);
    return result;
}

struct product product_with_fresh_indices(struct sums *s, const struct product *t)
{
    size_t n_map = s->polys->atoms.count;
    poly *map = arena_array(s->arena, poly, n_map + 1);
    atom *indices = arena_array(s->arena, atom, t->n_indices + 1);
    for (size_t i = 0; i < n_map; i++)
        map[i] = NO_POLY;
    for (uint32_t i = 0; i < t->n_indices; i++) {
        indices[i] = atom_index(s->polys, s->polys->atoms.items[t->indices[i]].level);
        map[t->indices[i]] = poly_of_atom(s->polys, indices[i]);
    }
    struct product result = product_substitute(s, t, map, n_map);
    result.n_indices = t->n_indices;
    result.indices = indices;
    return result;
}

// --- sums and products -----------------------------------------------------------------------------------------------

const struct sum *sum_add(struct sums *s, const struct sum *a, const struct sum *b)
{
    if (a->n == 0 || b->n == 0)
        return a->n == 0 ? b : a;
    struct product *terms = arena_array(s->arena, struct product, a->n + b->n);
    memcpy(terms, a->terms, a->n * sizeof *terms);
    memcpy(terms + a->n, b->terms, b->n * sizeof *terms);
    return sum_of_products(s, a->n + b->n, terms);
}

const struct sum *sum_scale(struct sums *s, const struct sum *a, int by)
{
    struct product *terms = arena_array(s->arena, struct product, a->n + 1);
    for (uint32_t i = 0; i < a->n; i++) {
        terms[i] = a->terms[i];
        terms[i].coefficient.n *= by;
    }
    return by == 0 ? &SUM_ZERO : sum_of_products(s, a->n, terms);
}

static const void *joined(struct sums *s, const void *a, uint32_t n, const void *b, uint32_t m, size_t size)
{
    char *both = arena_alloc(s->arena, (n + m + 1) * size, _Alignof(max_align_t));
    if (n)
        memcpy(both, a, n * size);
    if (m)
        memcpy(both + n * size, b, m * size);
    return both;
}

#define JOIN(s, a, b, n, items) joined(s, (a)->items, (a)->n, (b)->items, (b)->n, sizeof *(a)->items)
static struct product multiply(struct sums *s, const struct product *a, const struct product *b)
{
    struct product fresh = b->n_indices ? product_with_fresh_indices(s, b) : *b;
    b = &fresh;
    return (struct product){.coefficient = rational_product(a->coefficient, b->coefficient),
                            .n_indices = a->n_indices + b->n_indices,
                            .n_guards = a->n_guards + b->n_guards,
                            .n_factors = a->n_factors + b->n_factors,
                            .indices = JOIN(s, a, b, n_indices, indices),
                            .guards = JOIN(s, a, b, n_guards, guards),
                            .factors = JOIN(s, a, b, n_factors, factors)};
}

const struct sum *sum_multiply(struct sums *s, const struct sum *a, const struct sum *b)
{
    struct product *terms = arena_array(s->arena, struct product, (size_t)a->n * b->n + 1);
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j < b->n; j++)
            terms[i * b->n + j] = multiply(s, &a->terms[i], &b->terms[j]);
    return sum_of_products(s, a->n * b->n, terms);
}

const struct sum *sum_guarded(struct sums *s, const struct sum *a, uint32_t n_guards, const poly *guards)
{
    struct product *terms = arena_array(s->arena, struct product, a->n + 1);
    struct product more = {.n_guards = n_guards, .guards = guards};
    for (uint32_t i = 0; i < a->n; i++) {
        terms[i] = a->terms[i];
        terms[i].guards = JOIN(s, &a->terms[i], &more, n_guards, guards);
        terms[i].n_guards += n_guards;
    }
    return sum_of_products(s, a->n, terms);
}

// --- over an index ---------------------------------------------------------------------------------------------------

// Two guards say that the index is one polynomial: index - a >= 0 and a - index >= 0. False: none do.
static bool find_value(struct sums *s, const struct product *t, atom index, poly *ret_value)
{
    poly x = poly_of_atom(s->polys, index);
    for (uint32_t i = 0; i < t->n_guards; i++) {
        poly value = poly_sub(s->polys, x, t->guards[i]), opposite = poly_scale(s->polys, t->guards[i], -1);
        if (poly_mentions(s->polys, value, index))
            continue;
        for (uint32_t j = 0; j < t->n_guards; j++)
            if (t->guards[j] == opposite) {
                *ret_value = value;
                return true;
            }
    }
    return false;
}

static bool factor_mentions(const struct sums *s, const struct factor *f, atom x)
{
    bool mentions = f->kind == FACTOR_ATOM && poly_mentions(s->polys, poly_of_atom(s->polys, f->name), x);
    mentions = mentions || ANY(uint32_t, i, f->n_places, poly_mentions(s->polys, f->places[i], x));
    for (uint32_t i = 0; i < f->n_operands; i++)
        for (uint32_t j = 0; j < f->operands[i]->n; j++) {
            const struct product *t = &f->operands[i]->terms[j];
            mentions = mentions || ANY(uint32_t, k, t->n_guards, poly_mentions(s->polys, t->guards[k], x));
            mentions = mentions || ANY(uint32_t, k, t->n_factors, factor_mentions(s, &t->factors[k], x));
        }
    return mentions;
}

// The number of places of an index that no factor mentions: only its range does. NO_POLY: something else does.
static poly count_places(struct sums *s, const struct product *t, atom index)
{
    poly x = poly_of_atom(s->polys, index), size = NO_POLY;
    for (uint32_t i = 0; i < t->n_factors; i++)
        if (factor_mentions(s, &t->factors[i], index))
            return NO_POLY;
    for (uint32_t i = 0; i < t->n_guards; i++) {
        poly beyond = poly_add(s->polys, poly_add(s->polys, t->guards[i], x), poly_const(s->polys, 1));
        if (t->guards[i] == x || !poly_mentions(s->polys, t->guards[i], index))
            continue;
        if (size != NO_POLY || poly_mentions(s->polys, beyond, index))
            return NO_POLY;
        size = beyond;
    }
    return size != NO_POLY && entails(s->entails, NULL, 0, size) ? size : NO_POLY;
}

static void replace_index(struct sums *s, struct product *t, atom index, poly by)
{
    size_t n_map = s->polys->atoms.count;
    poly *map = arena_array(s->arena, poly, n_map + 1);
    for (size_t i = 0; i < n_map; i++)
        map[i] = i == index ? by : NO_POLY;
    *t = product_substitute(s, t, map, n_map);
}

// Guards that mention the index are left out, and so is the index.
static void drop_index(struct sums *s, struct product *t, atom index)
{
    poly *guards = arena_array(s->arena, poly, t->n_guards + 1);
    atom *indices = arena_array(s->arena, atom, t->n_indices + 1);
    uint32_t n_guards = 0, n_indices = 0;
    for (uint32_t i = 0; i < t->n_guards; i++)
        if (!poly_mentions(s->polys, t->guards[i], index))
            guards[n_guards++] = t->guards[i];
    for (uint32_t i = 0; i < t->n_indices; i++)
        if (t->indices[i] != index)
            indices[n_indices++] = t->indices[i];
    t->guards = guards;
    t->n_guards = n_guards;
    t->indices = indices;
    t->n_indices = n_indices;
}

static struct product sum_term_over(struct sums *s, const struct product *t, atom index, uint32_t n_guards,
                                    const poly *guards)
{
    struct product result = *t, range = {.n_indices = 1, .indices = &index, .n_guards = n_guards, .guards = guards};
    result.indices = JOIN(s, t, &range, n_indices, indices);
    result.n_indices++;
    result.guards = JOIN(s, t, &range, n_guards, guards);
    result.n_guards += n_guards;
    for (bool goes_on = true; goes_on;) {   // what is found for one index may show the value of another
        goes_on = false;
        for (uint32_t i = 0; !goes_on && i < result.n_indices; i++) {
            atom x = result.indices[i];
            poly value;
            goes_on = find_value(s, &result, x, &value);
            if (goes_on)
                replace_index(s, &result, x, value);
        }
    }
    return result;
}

// Formal elements are not counted, but their terms are: an element is not a number.
static bool is_formal(const struct product *t)
{
    return t->n_factors == 1 && t->factors[0].kind == FACTOR_ELEMENT;
}

static const struct sum *count_free_indices(struct sums *s, const struct product *t)
{
    struct product left = *t;
    const struct sum *places = NULL;
    for (uint32_t i = 0; i < left.n_indices; i++) {
        atom x = left.indices[i];
        poly size = is_formal(&left) ? NO_POLY : count_places(s, &left, x);
        if (size == NO_POLY)
            continue;
        drop_index(s, &left, x);
        places = places ? sum_multiply(s, places, sum_of_poly(s, size)) : sum_of_poly(s, size);
        i = UINT32_MAX;   // from the first one again
    }
    const struct sum *sum = sum_of_products(s, 1, &left);
    return places ? sum_multiply(s, sum, places) : sum;
}

bool product_find_short_index(const struct sums *s, const struct product *t, atom *ret_index, int64_t *ret_places)
{
    for (uint32_t i = 0; i < t->n_indices; i++)
        for (uint32_t j = 0; j < t->n_guards; j++) {
            poly last = poly_add(s->polys, t->guards[j], poly_of_atom(s->polys, t->indices[i]));
            if (poly_is_const(s->polys, last, ret_places) && ++*ret_places <= MOST_PLACES) {
                *ret_index = t->indices[i];
                return true;
            }
        }
    return false;
}

bool product_at_place(struct sums *s, const struct product *t, atom index, int64_t place, struct product *ret_product)
{
    *ret_product = *t;
    replace_index(s, ret_product, index, poly_const(s->polys, place));
    int64_t number;
    return !ANY(uint32_t, i, ret_product->n_guards,
                poly_is_const(s->polys, ret_product->guards[i], &number) && number < 0);
}

const struct sum *sum_over(struct sums *s, const struct sum *a, atom index, uint32_t n_guards, const poly *guards)
{
    const struct sum *result = &SUM_ZERO;
    for (uint32_t i = 0; i < a->n && !s->why; i++) {
        struct product t = sum_term_over(s, &a->terms[i], index, n_guards, guards);
        result = sum_add(s, result, count_free_indices(s, &t));
    }
    return result;
}
