// Prints which element types the exporter takes an operator to have: a line for each operator that it writes and each
// operator set, with the types' ONNX codes.
#include "onnx/convert/export/making.h"

#include <inttypes.h>
#include <stdio.h>

#define LAST_OPSET 26

static const struct {
    const char *name;
    int64_t first_opset;
} rows[] = {
#define ONNX_OPERATOR(name, first, last, inputs, import, op, export) {name, first},
#include "onnx/convert/operators/operators.def"
    {"Gemm", 7},
    {"GlobalAveragePool", 7},
    {"GlobalMaxPool", 7},
};

static void print_types(const char *name, int64_t opset)
{
    printf("%s %" PRId64, name, opset);
    for (int dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++)
        if (onnx_has_element_type(name, (enum dtype)dtype, opset))
            printf(" %d", dtype_to_onnx((enum dtype)dtype));
    putchar('\n');
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int64_t opset = rows[i].first_opset < 7 ? 7 : rows[i].first_opset; opset <= LAST_OPSET; opset++)
            print_types(rows[i].name, opset);
    return 0;
}
