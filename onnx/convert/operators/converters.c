// Import's side of the table of ONNX operators, found by name.
#include "onnx/convert/operators/converters.h"
#include "operators/extra_operators.h"

#include <stdlib.h>
#include <string.h>

static const struct converter converters[] = {
#define ONNX_OPERATOR(name, first, last, inputs, import, op, export)                                                   \
    {name, first, last, inputs, convert_##import, OP_##op, CONVERTED, NULL},
#define IMPORTED_OPERATOR(name, first, last, inputs, import, parameter)                                                \
    {name, first, last, inputs, convert_##import, parameter, CONVERTED, NULL},
#define KEPT_OPERATOR(name, first, last, inputs, import, keeping, reason)                                              \
    {name, first, last, inputs, convert_##import, 0, keeping, reason},
#include "onnx/convert/operators/operators.def"
};

static int compare_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct converter *)row)->name);
}

const struct converter *converter_find(const char *name)
{
    return bsearch(name, converters, sizeof converters / sizeof converters[0], sizeof converters[0], compare_name);
}
