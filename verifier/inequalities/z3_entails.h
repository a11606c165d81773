// Does one inequality of polynomials follow from others? Asked of Z3 within a number of steps, where it is not obvious;
// "no" means that nothing is known.
#pragma once
#include "core/memory/key_set.h"
#include "verifier/inequalities/points.h"
#include "verifier/inequalities/z3_session.h"

struct entails_product {
    struct monomial product;   // of factor 1
    Z3_ast term;
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
    struct points points;   // at which all of `assumed` hold: most questions have a counterexample there
    uint64_t questions;     // that Z3 was asked
};
void entails_init(struct entails *e, struct polys *polys, struct z3_session *session);
void entails_free(struct entails *e);
// Is `asked` >= 0 wherever all of `assumed` (`n` polynomials) are?
bool entails(struct entails *e, const poly *assumed, uint32_t n, poly asked);
bool entails_nothing(struct entails *e, const poly *assumed, uint32_t n);   // they never hold together
bool entails_equal(struct entails *e, const poly *assumed, uint32_t n, poly a, poly b);
poly poly_negated(struct polys *p, poly a);   // -a - 1: at least 0 where a is not
