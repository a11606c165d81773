// Reductions over some axes of a tensor: what reduce operators, softmax and normalizations share.
// A set of axes is a mask: bit i for axis i.
#pragma once
#include "expressions/definition.h"

struct reduction {
    int stage;                 // the tensor that gets the result
    int n;                     // variables
    expr variable[MAX_RANK];   // one for each reduced axis, in the order of the axes
    expr index[MAX_RANK];      // where to read the tensor that is reduced
    int64_t places;            // number of entries that make one result
};
enum reduced_axes { REDUCED_AXES_DROPPED, REDUCED_AXES_KEPT };   // kept: as axes of size 1

// The axes from `first` to the last of `rank` axes.
uint32_t axes_from(int first, int rank);
// The shape of `x` without the masked axes, or with size 1 there; gives the rank.
int reduced_shape(const struct type *x, uint32_t axes, enum reduced_axes reduced, int64_t *ret_dim);
// Starts the reduction of tensors of the shape of `x` into the stage `stage`, made with reduced_shape.
struct reduction reduction_begin(struct definition *d, int stage, const struct type *x, uint32_t axes,
                                 enum reduced_axes reduced);
// The reduction of `body`, which reads at r->index.
expr reduction_finish(struct definition *d, const struct reduction *r, enum scalar_function fn, expr body);
expr reduction_mean(struct definition *d, const struct reduction *r, expr body);
// Reads, for the entry of stage `z` (of the shape before the reduction), the result that belongs to it.
expr read_reduced(struct definition *d, int tensor, int z, uint32_t axes);
// Reads a tensor that has only the masked axes, at z's indices on these.
expr read_on_axes(struct definition *d, int tensor, int z, uint32_t axes);
