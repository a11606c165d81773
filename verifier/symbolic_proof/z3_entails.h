// Does one inequality of polynomials follow from others? Asked of Z3 within a number of steps, where it is not obvious;
// "no" means that nothing is known.
#pragma once
#include "core/memory/key_set.h"
#include "verifier/symbolic_proof/polys.h"
#include "verifier/symbolic_proof/z3_session.h"

struct entails_product {
    struct monomial product;   // of factor 1
    Z3_ast term;
};
// Values of all atoms: of the first `n`, and one for indices beyond these. Symbols beyond have their least values.
struct entails_point {
    size_t n;
    const int64_t *values;
    int64_t of_other_indices;
};

struct entails {
    struct polys *polys;
    struct z3_session *session;
    VEC(poly) assumed;   // at least 0, whatever is asked: all is there before the first question
    Z3_context z3;       // NULL until it is needed
    Z3_solver solver;
    VEC(Z3_ast) terms;                      // of atoms; NULL: not made yet
    VEC(struct entails_product) products;   // of several atoms
    VEC(Z3_ast) facts;                      // what is known of these
    size_t n_stated;                        // of the facts: Z3 has them
    VEC(Z3_ast) question;                   // what is assumed of one
    struct key_set known;                   // what was assumed, and then what was asked
    VEC(bool) answers;                      // by the key's number
    VEC(struct entails_point) points;   // at which all of `assumed` hold: most questions have a counterexample there
    uint64_t questions;                 // that Z3 was asked
};
void entails_init(struct entails *e, struct polys *polys, struct z3_session *session);
void entails_free(struct entails *e);
// A point that may meet all of e->assumed, of `n` values, kept by the caller.
void entails_add_point(struct entails *e, const int64_t *values, size_t n, int64_t of_other_indices);
// Is `asked` >= 0 wherever all of `assumed` (`n` polynomials) are?
bool entails(struct entails *e, const poly *assumed, uint32_t n, poly asked);
bool entails_nothing(struct entails *e, const poly *assumed, uint32_t n);   // they never hold together
bool entails_equal(struct entails *e, const poly *assumed, uint32_t n, poly a, poly b);
poly poly_negated(struct polys *p, poly a);   // -a - 1: at least 0 where a is not
