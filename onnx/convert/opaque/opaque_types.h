// Types of what opaque nodes make: the graph behind an operator that we do not execute can still be optimized. A table
// has a row for each operator, found by its name and domain.
#pragma once
#include "onnx/convert/read_node.h"

enum typing_domain { STANDARD, MICROSOFT };
// A row of operators. Its function may rely on nothing but x: other inputs may be missing or of unknown type, and lists
// that set sizes may not be constant; then it leaves the types unknown.
struct typing {
    const char *names;   // with a space between them
    // x: the first input's type. One type for each output.
    void (*infer)(struct conversion *c, const struct type *x, struct type *types);
    enum typing_domain domain;
    bool needs_no_input;   // x may be NULL: missing, or not known
};
// Each ends with {0}.
extern const struct typing typings_of_subgraphs[];

bool has_subgraphs(const struct onnx_node *n);
// Types of outputs that the operator's definition determines; others are left as they are.
void infer_opaque_types(struct conversion *c, struct type *ret_types);

// ---- what the rows' functions have in common ----

const struct type *known_input(const struct conversion *c, uint32_t input);   // NULL: missing, or not known
struct type without_splits(const struct type *t);
void set_type(const struct conversion *c, struct type *types, uint32_t output, struct type type);
// Numbers of an input that is constant; none is negative or beyond MAX_ELEMENTS.
bool constant_sizes(struct conversion *c, uint32_t input, struct integers *ret_sizes);
bool constant_size(struct conversion *c, uint32_t input, int64_t *ret_size);   // -1: there is not just one
