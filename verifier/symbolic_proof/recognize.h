// Which polynomial of known ones is an integer whose value in every lane is given?
//
// Tried are a number, multiples of known polynomials, sums and differences of two and sums of three of these, products,
// halves, and quotients without a rest, each but the products with a number added. Values are so many and so various
// that no other polynomial of these forms has them all.
#pragma once
#include "verifier/symbolic_proof/family.h"

struct known_integers {
    VEC(struct known_integer {
        poly value;
        int64_t lanes[LANES];
    })
    items;
};
// The sizes of its inputs, its attributes, the symbols in these, and the sizes of what windows give.
struct known_integers known_integers_of_node(struct family *f, uint32_t node);
void known_integers_free(struct known_integers *known);
poly recognize(struct polys *p, const struct known_integers *known, const int64_t *lanes);   // NO_POLY: none
