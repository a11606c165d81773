// Import's side of the table of ONNX operators, and the functions convert_... that it names; which file has which
// follows from the operator's kind; with what all of these need. Private to onnx/convert.
#pragma once
#include "onnx/convert/build.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/read_node.h"

// Some operators are understood and yet kept as opaque nodes, since runtimes have kernels for them that nothing else
// reaches: what they compute serves to type them, to fold them, and to run them ourselves (import_options.expands).
enum keeping {
    CONVERTED,
    KEPT_UNLESS_CONSTANT,
    KEPT,          // of constants, too: runtimes look for it behind quantized weights
    KEPT_UNREAD,   // of constants, too: what it computes is long, and opaque/ types it
};
#define ALL_INPUTS UINT32_MAX   // one at least
// The parameter of sums; OP_COUNT: nothing is done to the entries, or to the sum.
#define SUM_OF(before, after) ((before) + (OP_COUNT + 1) * (after))

// A row of the table of ONNX operators (operators.def), as import sees it.
struct converter {
    const char *name;
    int64_t first_opset, last_opset;   // of the versions whose meaning the function knows
    uint32_t n_inputs;                 // that must be there, of known types; ALL_INPUTS; 0: the function asks itself
    bool (*convert)(struct conversion *c);
    int parameter;   // handed to it as c->parameter
    enum keeping keeping;
    const char *reason;   // why it is kept
};
const struct converter *converter_find(const char *name);

#define ONNX_OPERATOR(name, first, last, inputs, import, op, export) bool convert_##import(struct conversion *c);
#define IMPORTED_OPERATOR(name, first, last, inputs, import, parameter) bool convert_##import(struct conversion *c);
#define KEPT_OPERATOR(name, first, last, inputs, import, keeping, reason) bool convert_##import(struct conversion *c);
#include "onnx/convert/operators/operators.def"
