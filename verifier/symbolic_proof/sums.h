// Values as sums of products in normal form: each term is a number times a sum, over all indices that meet its guards,
// of a product of factors. Immutable, in an arena.
//
//     coefficient * sum(indices: guards >= 0) factor * factor * ...
//
// A factor is an entry of a tensor at polynomials; an unknown function of sums; a size or an index as a number; or a
// *bag*: a maximum, minimum or product over the terms of a formal sum of elements, which is one as soon as its elements
// are those of another, however the sum is cut.
#pragma once
#include "core/numbers/rational.h"
#include "expressions/definition.h"
#include "verifier/inequalities/z3_entails.h"

enum factor_kind { FACTOR_READ, FACTOR_FUNCTION, FACTOR_BAG, FACTOR_ELEMENT, FACTOR_ATOM, FACTOR_REAL };
struct sum;
struct factor {
    enum factor_kind kind;
    uint32_t name;   // READ: the tensor variable; FUNCTION, BAG: the function; ATOM: the atom
    double real;     // REAL
    uint32_t n_places, n_operands;
    const poly *places;
    const struct sum *const *operands;
};
struct product {
    struct rational coefficient;   // of small integers
    uint32_t n_indices, n_guards, n_factors;
    const atom *indices;
    const poly *guards;
    const struct factor *factors;
};
struct sum {
    uint32_t n;
    const struct product *terms;
};
struct sums {
    struct arena *arena;
    struct polys *polys;
    struct entails *entails;
    bool bags_have_elements;   // each maximum and minimum has one, wherever it is well-typed
    const char *why;           // something was not understood, or too large: all results are void
};
extern const struct sum SUM_ZERO;

bool sums_fail(struct sums *s, const char *why);   // false
bool sums_have_room(struct sums *s);               // else they fail: trying many renamings takes memory
const struct sum *sum_of_real(struct sums *s, double value);
const struct sum *sum_of_rational(struct sums *s, struct rational value);
const struct sum *sum_of_poly(struct sums *s, poly a);
const struct sum *sum_of_factor(struct sums *s, const struct factor *f);
const struct sum *sum_of_products(struct sums *s, uint32_t n, const struct product *terms);   // copied
const struct sum *sum_add(struct sums *s, const struct sum *a, const struct sum *b);
const struct sum *sum_multiply(struct sums *s, const struct sum *a, const struct sum *b);
const struct sum *sum_scale(struct sums *s, const struct sum *a, int by);
const struct sum *sum_guarded(struct sums *s, const struct sum *a, uint32_t n_guards, const poly *guards);
// Summed over `index` from 0 where all guards hold.
const struct sum *sum_over(struct sums *s, const struct sum *a, atom index, uint32_t n_guards, const poly *guards);
struct product product_substitute(struct sums *s, const struct product *t, const poly *map, size_t n_map);
struct product product_with_fresh_indices(struct sums *s, const struct product *t);
// An index that a guard lets have a few places only, and the product at one of these. False: there is none; a guard
// does not hold there.
bool product_find_short_index(const struct sums *s, const struct product *t, atom *ret_index, int64_t *ret_places);
bool product_at_place(struct sums *s, const struct product *t, atom index, int64_t place, struct product *ret_product);
