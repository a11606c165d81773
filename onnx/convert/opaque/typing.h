// Types of what opaque nodes make, a row for each operator whose results' types are easily said. A row's function may
// rely on nothing: inputs may be missing or of unknown type, and lists that set sizes may not be constant; then it
// leaves the types unknown. Private to this folder.
#pragma once
#include "onnx/convert/conversion.h"

enum typing_domain { STANDARD, MICROSOFT };
struct typing {
    const char *name;
    void (*infer)(struct conversion *c, struct type *types);   // one type for each output
    enum typing_domain domain;
};
// Each ends with {0}.
extern const struct typing typings_of_inputs[], typings_of_signals[], typings_of_sizes[], typings_of_subgraphs[],
    typings_of_windows[];

const struct type *known_input(const struct conversion *c, uint32_t input);   // NULL: missing, or not known
struct type without_splits(const struct type *t);
void set_type(const struct conversion *c, struct type *types, uint32_t output, struct type type);
// Of an input that is constant; none is negative or beyond MAX_ELEMENTS.
bool constant_sizes(struct conversion *c, uint32_t input, const int64_t **ret_sizes, uint32_t *ret_count);
bool constant_size(struct conversion *c, uint32_t input, int64_t *ret_size);   // -1: there is not just one
