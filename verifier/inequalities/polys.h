// Integers that depend on sizes: polynomials over atoms, in one normal form, so that equal numbers are equal
// polynomials.
//
// An atom is a size or an entry of an attribute that has no value (a *symbol*), an index, or the floor of a quotient of
// two polynomials that has no simpler form. Products of more than MOST_ATOMS atoms are refused: the pool has then
// failed, and so has whatever is proved with it.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "core/memory/vec.h"

typedef uint32_t poly;   // a number of the pool; POLY_ZERO is 0
typedef uint32_t atom;
#define POLY_ZERO 0
#define NO_POLY UINT32_MAX
#define MOST_ATOMS 9   // no byte of a monomial is padding: they are compared as bytes

struct monomial {
    int64_t factor;
    uint32_t n;
    atom atoms[MOST_ATOMS];   // ascending
};
struct poly_value {
    uint32_t n;
    const struct monomial *monomials;   // ascending
};

enum poly_atom_kind { ATOM_SYMBOL, ATOM_INDEX, ATOM_QUOTIENT };
struct atom_value {
    enum poly_atom_kind kind;
    int level;                // INDEX: how many sums it stands in; SYMBOL: 0; QUOTIENT: the largest of its atoms
    int64_t least;            // SYMBOL: 0 or 1; INDEX: 0; INT64_MIN: nothing is known
    poly dividend, divisor;   // QUOTIENT
};
struct polys {
    struct arena arena;
    VEC(struct poly_value) polys;
    VEC(struct atom_value) atoms;
    struct table by_value;
    bool has_failed;
};
void polys_init(struct polys *p);
void polys_free(struct polys *p);

atom atom_symbol(struct polys *p, int64_t least);
atom atom_index(struct polys *p, int level);
poly poly_of_atom(struct polys *p, atom a);
poly poly_const(struct polys *p, int64_t value);
bool poly_is_const(const struct polys *p, poly a, int64_t *ret_value);
bool poly_is_atom(const struct polys *p, poly a, atom *ret_atom);
// NO_POLY makes NO_POLY by each of these, and no question of it is answered by yes.
poly poly_add(struct polys *p, poly a, poly b);
poly poly_sub(struct polys *p, poly a, poly b);
poly poly_scale(struct polys *p, poly a, int64_t factor);
poly poly_mul(struct polys *p, poly a, poly b);
bool poly_divide(struct polys *p, poly a, poly b, poly *ret_quotient);   // exactly, by a single monomial
poly poly_floor(struct polys *p, poly a, poly b);                        // of a / b, where b is positive
poly poly_mod(struct polys *p, poly a, poly b);
// The atoms that `map` gives a polynomial for (others: NO_POLY) replaced, those within quotients too.
poly poly_substitute(struct polys *p, poly a, const poly *map, size_t n_map);
bool poly_mentions(const struct polys *p, poly a, atom x);
int poly_level(const struct polys *p, poly a);   // the largest of its atoms; 0: sizes and indices of outputs alone
bool poly_is_never_less(const struct polys *p, poly a, poly b);   // by the least values of atoms alone
// The value at values of all symbols; false: too large, or an index is met.
bool poly_evaluate(const struct polys *p, poly a, const int64_t *symbols, int64_t *ret_value);
