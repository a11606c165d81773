// Monomials: sorted products of atoms, which are numbers. Equal products have one number, and greater numbers are
// greater in lexicographic order as long as they are small.
//
// Nearly all have few factors, so that a number can be the product itself, in four lanes of 15 bits, the first factor
// in the highest one: (atom + 1), 0 behind the last. Others are kept in a pool.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"

typedef uint64_t monomial;
#define MONOMIAL_ONE ((monomial)0)
#define MOST_FACTORS 64

struct monomial_range {
    uint32_t first, count;
};
struct monomial_pool {
    VEC(uint32_t) atoms;   // the sorted atoms of all monomials that are kept
    VEC(struct monomial_range) ranges;
    struct table by_atoms;
};
void monomial_pool_clear(struct monomial_pool *p);   // keeps the memory
void monomial_pool_free(struct monomial_pool *p);

monomial monomial_of_atom(struct monomial_pool *p, uint32_t atom);
// False: more than MOST_FACTORS.
bool monomial_multiply(struct monomial_pool *p, monomial a, monomial b, monomial *ret_product);
// The factors in ascending order; gives their number.
uint32_t monomial_factors(const struct monomial_pool *p, monomial m, uint32_t ret_atoms[MOST_FACTORS]);
