// How a Reshape says a shape that depends on symbols. Private to onnx.
#pragma once
#include "graph/sizes.h"

#define OPSET_OF_ALLOWED_ZEROS 14   // before it, a size of 0 is always the input's at that place

struct reshape_sizes {
    int64_t list[MAX_RANK];
    bool allows_zero;   // all sizes are said, and those that are nothing at a binding mean it
};
// A reshape of x to `count` sizes. False: there is no form, as a size is 0 everywhere beside others that are not known.
bool reshape_sizes_of(const struct sizes *s, const struct type *x, uint32_t count, const int64_t *sizes,
                      struct reshape_sizes *ret_said);
