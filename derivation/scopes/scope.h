// Scopes of sums of products, taken apart: what most rules of derivation are about.
//
//     L x  sum y  factor / divisor * [guard >= 0] ... * T[index] ...
//
// x are the axes of a tensor, y iterators of the sum; a guard is an index expression, whose bracket is 1 where it is
// not negative and 0 elsewhere; a read is 0 outside of its tensor, or never there. Over the reals neither the order of
// y, nor that of guards and reads, nor names matter: scope_make gives one tensor for all scopes that differ in no more.
#pragma once
#include "derivation/scopes/substitution.h"

enum { MOST_SUMS = 12, MOST_GUARDS = 16, MOST_READS = 6 };

struct scope {
    struct type type;
    uint32_t first_axis;   // variables of the axes: first_axis .. + rank
    int n_sums, n_guards, n_reads;
    uint32_t sums[MOST_SUMS];   // variables
    expr guards[MOST_GUARDS];
    expr reads[MOST_READS];
    double factor, divisor;
    int n_used;   // working variables that were taken (scope_new_sum)
};

// False: the tensor is an input, or no sum of products.
bool scope_take(struct pool *p, int tensor, struct scope *ret_scope);
// One tensor for all orders of sums and operands. NO_SCOPE: there are too many of something.
int scope_make(struct pool *p, const struct scope *s);
// An empty one over the axes of a type, with factor 1.
void scope_init(struct pool *p, const struct type *type, struct scope *ret_scope);
// A variable that the scope has not, of this extent; the caller adds it to the sums.
uint32_t scope_new_sum(struct pool *p, struct scope *s, int64_t extent);
expr scope_axis(struct pool *p, const struct scope *s, int axis);   // 0 where the axis has one entry
static inline bool scope_has_axis(const struct scope *s, uint32_t variable)
{
    return variable >= s->first_axis && variable < s->first_axis + (uint32_t)s->type.rank;
}
void scope_substitute(struct pool *p, struct scope *s, const struct substitution *by);   // in guards and reads
// A tensor of this type that reads another one at these indices, in variables of its axes, and is 0 outside.
int scope_copy(struct pool *p, const struct type *type, int tensor, const expr *index);
// The tensor that a copy of all of it, entry by entry, reads; any other tensor itself.
int scope_copied_whole(const struct pool *p, int tensor);
bool expr_mentions(const struct pool *p, expr e, uint32_t variable);
bool scope_mentions(const struct pool *p, const struct scope *s, uint32_t variable);
// Is an index of the read outside of its tensor for all values of its variables?
bool read_is_outside(const struct pool *p, expr read);
int64_t variable_extent(const struct pool *p, uint32_t variable);
// The indices of a read, one for each axis of its tensor.
const expr *read_indices(const struct pool *p, expr read);
int read_tensor_of(const struct pool *p, expr read);
