// Types of what opaque nodes make: the graph behind an operator that we do not execute can still be optimized. A table
// has a row for each operator, found by its name and domain.
#pragma once
#include "onnx/convert/opaque/typing.h"

// Types of outputs that the operator's definition determines; others are left as they are.
void infer_opaque_types(struct conversion *c, struct type *ret_types);

// ---- what the rows' functions have in common ----

const struct type *known_input(const struct conversion *c, uint32_t input);   // NULL: missing, or not known
struct type without_splits(const struct type *t);
void set_type(const struct conversion *c, struct type *types, uint32_t output, struct type type);
// Numbers of an input that is constant; none is negative or beyond MAX_ELEMENTS.
bool constant_sizes(struct conversion *c, uint32_t input, const int64_t **ret_sizes, uint32_t *ret_count);
bool constant_size(struct conversion *c, uint32_t input, int64_t *ret_size);   // -1: there is not just one
