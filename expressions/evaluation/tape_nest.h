// Reductions of reads over nested loops whose indices are linear in all variables, as those of convolutions, products
// of matrices and pooling are. One iteration of all loops is a *step*: what it adds to an index is the same at every
// entry of the result, so that it is worked out once.
#pragma once
#include "expressions/definition.h"

enum { MAX_NEST_LOOPS = 8, MAX_NEST_READS = 2, MAX_NEST_STEPS = 1 << 12 };

struct nest_axis {
    expr index;
    int64_t size, stride, origin;   // origin: the index where all variables are 0
    int64_t *of_step, low, high;    // what each step adds to the index, and the least and the greatest of it
};
struct nest_read {
    const struct expr_node *node;
    struct nest_axis axes[MAX_RANK];
    int64_t *of_step;   // what each step adds to the place in the tensor
};
struct nest {
    bool is_linear;   // false: something else is reduced, and only this is known
    int n_loops, n_reads;
    int64_t loops[MAX_NEST_LOOPS], n_steps;
    struct nest_read reads[MAX_NEST_READS];   // two where their product is summed
};

// A read at one entry of the result: its place at the first step, and the axes on which some step is outside.
struct nest_place {
    const struct nest_read *read;
    int64_t offset;
    int n_bounds;
    struct nest_bound {
        uint64_t index, size;
        const int64_t *of_step;
    } bounds[MAX_RANK];
};

// Whether what a reduction by `fn` reduces is a product that is summed.
bool is_product_in_sum(const struct expr_node *n, enum scalar_function fn);

// The nest of loops at `e`, all by `fn`. It lives in `arena`.
const struct nest *nest_make(const struct definition *d, expr e, enum scalar_function fn, struct arena *arena);

// The places of all reads of a linear nest at the entry that `variables` are set to. Sets its loops' variables to 0.
void nest_find_places(const struct definition *d, const struct nest *nest, int64_t *variables,
                      struct nest_place *ret_places);

static inline bool is_inside_at_step(const struct nest_place *p, int64_t step)
{
    for (int i = 0; i < p->n_bounds; i++)
        if (p->bounds[i].index + (uint64_t)p->bounds[i].of_step[step] >= p->bounds[i].size)
            return false;
    return true;
}
