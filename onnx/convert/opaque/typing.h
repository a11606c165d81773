// Types of what opaque nodes make, as far as they are easily said: rows of operators. A row's function may
// rely on nothing: inputs may be missing or of unknown type, and lists that set sizes may not be constant; then it
// leaves the types unknown. Private to this folder.
#pragma once
#include "onnx/convert/conversion.h"

enum typing_domain { STANDARD, MICROSOFT };
struct typing {
    const char *names;                                         // of operators, with a space between them
    void (*infer)(struct conversion *c, struct type *types);   // one type for each output
    enum typing_domain domain;
};
// Each ends with {0}.
extern const struct typing typings_of_inputs[], typings_of_sizes[], typings_of_subgraphs[];
