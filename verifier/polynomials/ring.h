// What polynomials are made of, for the files that make and print them (polynomial.c, functions.c, polynomial_print.c).
#pragma once
#include "verifier/polynomials/polynomial.h"

__extension__ typedef __int128 wide;

struct term_list {
    const struct polynomial_term *items;
    uint32_t count;
};
static inline struct term_list polynomial_terms(const struct polynomial_pool *p, polynomial a)
{
    struct pool_range r = p->polynomials.items[a];
    return (struct term_list){p->terms.items + r.first, r.count};
}

struct atom_key {
    struct polynomial_atom atom;
    const polynomial *members;   // of a MAXIMUM, whose range is not in the pool yet
};
polynomial polynomial_of_atom(struct polynomial_pool *p, struct atom_key key);   // that is this atom

bool polynomial_has_work_left(struct polynomial_pool *p);
polynomial polynomial_add(struct polynomial_pool *p, polynomial a, polynomial b);
polynomial polynomial_multiply(struct polynomial_pool *p, polynomial a, polynomial b);
polynomial polynomial_negate(struct polynomial_pool *p, polynomial a);
polynomial polynomial_constant(struct polynomial_pool *p, wide numerator, wide denominator);
