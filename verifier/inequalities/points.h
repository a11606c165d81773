// Points: integers for all symbols and indices. A question whether an inequality follows from others has the answer no
// where a point is found at which these hold and it does not, which takes a small part of the time of asking Z3.
#pragma once
#include "core/numbers/random.h"
#include "verifier/inequalities/polys.h"

// Values of all atoms: of the first `n`, and 0 of indices beyond these. Symbols beyond have their least values.
struct point {
    size_t n;
    const int64_t *values;
};
struct points {
    const struct polys *polys;
    struct random random;
    struct arena arena;
    size_t n_given;   // the first ones, which say the sizes that are tried
    VEC(struct point) items;
};
void points_init(struct points *p, const struct polys *polys);
void points_free(struct points *p);
// Adds one with these values of symbols, kept by the caller, if all of `assumed` are at least 0 there.
void points_give(struct points *p, const int64_t *values, size_t n, const poly *assumed, uint32_t n_assumed);
// Finds one at which all of `assumed` are at least 0, and `asked` is not. All points meet what they were given with.
bool points_refute(struct points *p, const poly *assumed, uint32_t n_assumed, poly asked);
