// A pool of tensor expressions: equal ones are one node, and what is built comes in normal form.
//
// The pool is a definition, so that whoever takes a definition takes it. Its stages are *scopes*: iterators over the
// axes of a tensor and an expression of them; a read of a scope is a read of a tensor in between. Iterators belong to
// places, not to scopes: all scopes of one shape have the same ones, and so have all reductions of one extent inside of
// as many others. So equal scopes have equal expressions, and are one, too.
//
// The normal form keeps every value, to the last bit:
//   indices     integer + sum of factor * atom, the atoms in order and each once; an iterator of one place is 0;
//               multiples of a divisor stand outside of a quotient, and not in a remainder, whose factors are smaller
//               than it; one that its range decides is gone; n * (e / n) + e mod n is e
//   reads       none says what it gives outside of a tensor that it does not leave
//   conditions  those that the range decides, or one outside, are gone; they stand outside of functions and of those
//               reductions over whose variable they are not
//   functions   operands of sums and products in order; no factors 1
#pragma once
#include "core/memory/table.h"
#include "expressions/definition.h"

struct pool_iterator {
    int depth;
    int64_t extent;
    uint32_t variable;
};
struct pool_axes {
    int rank;
    uint32_t first_variable;
};
struct pool {
    struct definition d;
    struct table known;                    // nodes by what they are
    struct table scopes;                   // stages by body and type
    struct table shapes;                   // axes by their extents
    VEC(struct pool_axes) axes;            // of every shape
    VEC(struct pool_iterator) iterators;   // of reductions
    bool keeps_conditions;                 // none is moved
    unsigned n_moved;                      // conditions: after many, which each may double what is inside, no more are
};

// `inputs` must outlive the pool.
void pool_init(struct pool *p, struct arena *arena, int n_inputs, const struct type *inputs);
void pool_free(struct pool *p);

// The first of the iterators over the axes of a tensor, and the iterator of a reduction that stands in `depth` others.
uint32_t pool_axes(struct pool *p, const struct type *type);
uint32_t pool_reduction(struct pool *p, int depth, int64_t extent);
int pool_scope(struct pool *p, const struct type *type, expr body);   // the tensor's number

expr pool_integer(struct pool *p, int64_t value);
expr pool_variable(struct pool *p, uint32_t variable);
expr pool_index_add(struct pool *p, expr a, expr b);
expr pool_index_mul(struct pool *p, expr a, int64_t factor);
expr pool_index_div(struct pool *p, expr a, int64_t divisor);
expr pool_index_mod(struct pool *p, expr a, int64_t divisor);
expr pool_index_of(struct pool *p, expr scalar);

expr pool_real(struct pool *p, double value);
expr pool_scalar_of(struct pool *p, expr index);
expr pool_read(struct pool *p, int tensor, const expr *index, enum outside outside);
expr pool_apply(struct pool *p, enum scalar_function fn, expr a, expr b, expr c);
expr pool_select(struct pool *p, expr index, expr if_not_negative, expr otherwise);
expr pool_within(struct pool *p, expr index, int64_t size, expr inside);   // 0 where the index is beyond the axis
expr pool_reduce(struct pool *p, enum scalar_function fn, uint32_t variable, expr body);
