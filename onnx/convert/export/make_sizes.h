// Sizes that depend on symbols, as values of the written model: what ONNX infers is left to it (0 and -1 of Reshape, 1
// of Expand), and the rest is computed from the shapes of the model's inputs, each function of them once.
#pragma once
#include "onnx/convert/export/making.h"

// The name of a list of sizes, which may depend on symbols: then it is what nodes make. For a reshape of the first
// input, or an expansion of it, sizes that follow from it are left to ONNX.
const char *list_of_sizes(const struct making *m, uint32_t count, const int64_t *sizes);
const char *shape_of_reshape(const struct making *m, uint32_t count, const int64_t *sizes, bool *ret_allows_zero);
const char *shape_of_expansion(const struct making *m, uint32_t count, const int64_t *sizes);
