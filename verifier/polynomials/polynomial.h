// Exact polynomials in normal form: what an entry of a tensor is as a function of the input entries.
//
//   polynomial   sorted sum of (monomial, coefficient), coefficients exact fractions      3/2 x0 y1 - relu(...)
//   monomial     sorted product of atoms                                                  x0 x0 y1
//   atom         an input entry, or a function outside of the ring applied to polynomials
//
// Everything is hash-consed in one pool, so that two polynomials are equal exactly when their numbers are. The laws
// used hold over the reals: the ring's; division by a constant; a / b = a * (1 / b), with 1 / (b c) = 1 / b * 1 / c and
// nothing cancelled; MAX as a set (associative, commutative, idempotent), with relu x = max(x, 0),
// min(x, y) = -max(-x, -y), |x| = max(x, -x) and max(2 x, 2 y) = 2 max(x, y) of products; increasing functions pass
// through MAX; odd functions pass a minus on, even ones forget it; a choice between what is the same is that. All other
// functions are uninterpreted: equal arguments give equal values and nothing more is used. So equal numbers prove
// equality; different numbers refute it only for ring expressions, and a difference is confirmed by numbers before it
// is called so.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"
#include "expressions/definition.h"
#include "verifier/polynomials/monomial.h"

typedef uint32_t polynomial;   // its number in the pool

enum { POLYNOMIAL_ZERO, POLYNOMIAL_ONE, POLYNOMIAL_LOWEST, POLYNOMIAL_HIGHEST };

struct polynomial_term {
    monomial monomial;
    int64_t numerator, denominator;
};
struct pool_range {
    uint32_t first, count;
};
enum atom_kind { ATOM_VARIABLE, ATOM_FUNCTION, ATOM_MAXIMUM, ATOM_REAL, ATOM_LIMIT };
struct polynomial_atom {
    uint8_t kind, fn;   // kind: enum atom_kind
    uint32_t a, b, c;   // operands, or the range of a set, or the number of a variable
    double real;
};
struct polynomial_pool {
    VEC(struct polynomial_term) terms;
    VEC(struct pool_range) polynomials;
    struct monomial_pool monomials;
    VEC(struct polynomial_atom) atoms;
    VEC(polynomial) of_atoms;    // what is one atom
    VEC(polynomial) variables;   // those made so far, by number
    VEC(polynomial) sets;        // the sorted members of all MAX atoms
    struct table by_terms, by_atom;
    VEC(struct polynomial_term) open;     // of sums that have been begun, one behind the other
    VEC(struct polynomial_term) sorted;   // scratch
    bool has_overflowed;                  // a coefficient did not fit: whatever was computed since is worthless
    uint64_t work, work_limit;   // terms handled since polynomial_pool_init; beyond the limit everything overflows
    bool needs_reals;            // a law was used that integers do not have (fractions, division)
    bool relu_is_any_function;   // of no law, so that what is equal stays so with every function in its place
};

void polynomial_pool_init(struct polynomial_pool *p);    // without a limit
void polynomial_pool_clear(struct polynomial_pool *p);   // forgets all polynomials and both flags, keeps the memory
void polynomial_pool_free(struct polynomial_pool *p);

polynomial polynomial_from_real(struct polynomial_pool *p, double value);
polynomial polynomial_variable(struct polynomial_pool *p, uint32_t number);
polynomial polynomial_apply(struct polynomial_pool *p, enum scalar_function fn, polynomial a, polynomial b,
                            polynomial c);   // operands beyond the function's arity are ignored
polynomial polynomial_scale(struct polynomial_pool *p, polynomial a, int64_t numerator, int64_t denominator);
// Is it fn of something, and nothing else? Of a function of several operands *ret_operand is the first.
bool polynomial_is_application(const struct polynomial_pool *p, polynomial a, enum scalar_function fn,
                               polynomial *ret_operand);
polynomial polynomial_maximum(struct polynomial_pool *p, const polynomial *items, size_t count);
// A sum term by term, which makes no polynomials on the way. What was begun last is ended first.
size_t polynomial_sum_begin(const struct polynomial_pool *p);
void polynomial_sum_add(struct polynomial_pool *p, polynomial a);
void polynomial_sum_add_product(struct polynomial_pool *p, polynomial a, polynomial b);
polynomial polynomial_sum_end(struct polynomial_pool *p, size_t begin);   // takes what `begin` gave

struct text;
// `print_variable` writes an input entry's name.
void polynomial_print(struct text *out, const struct polynomial_pool *p, polynomial a,
                      void (*print_variable)(struct text *out, const void *context, uint32_t number),
                      const void *context);
