// The table of converters, found by name.
#include "onnx/convert/operators/converters.h"
#include "onnx/convert/operators/convert.h"

#include <stdlib.h>
#include <string.h>

// Sorted by name, as strcmp sorts.
static const struct converter converters[] = {
#define CONVERTER(name, first, last, function, parameter)                                                              \
    {name, first, last, convert_##function, parameter, CONVERTED, NULL},
#define KEPT_CONVERTER(name, first, last, function, keeping, reason)                                                   \
    {name, first, last, convert_##function, 0, keeping, reason},
#include "onnx/convert/operators/converters.def"
#undef KEPT_CONVERTER
#undef CONVERTER
};

static int compare_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct converter *)row)->name);
}

const struct converter *converter_find(const char *name)
{
    return bsearch(name, converters, sizeof converters / sizeof converters[0], sizeof converters[0], compare_name);
}
