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
