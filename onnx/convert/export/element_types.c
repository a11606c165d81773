// Which element types ONNX's operators have, and since when: what a rewrite makes of a valid model need not be valid,
// as operators got some of their types later than others.
#include "onnx/convert/export/element_types.h"

#include "onnx/format/visit.h"

#define NEVER INT64_MAX
#define FIRST_OF_BF16 13

enum dtype_set {
#define DTYPE(enumerator, name, bytes, onnx, class) enumerator = 1 << DTYPE_##enumerator,
#include "expressions/dtypes.def"
#undef DTYPE
    REALS = F16 | BF16 | F32 | F64,
    BYTES = I8 | U8,
    NARROW = I8 | U8 | I16 | U16,
    WIDE = I32 | U32 | I64 | U64,
    SIGNED = I8 | I16 | I32 | I64,
    UNSIGNED = U8 | U16 | U32 | U64,
    INTEGERS = SIGNED | UNSIGNED,
};

static const struct restriction {
    int dtypes;
    int64_t first_opset;
    const char *names;
} restrictions[] = {
#define RESTRICTED(dtypes, first_opset, names) {dtypes, first_opset, names},
#include "onnx/convert/export/element_types.def"
};

bool onnx_has_element_type(const char *op_type, enum dtype dtype, int64_t opset)
{
    int64_t first = dtype == DTYPE_BF16 ? FIRST_OF_BF16 : 0;
    for (size_t i = 0; i < sizeof restrictions / sizeof restrictions[0]; i++)
        if (restrictions[i].dtypes & 1 << dtype && restrictions[i].first_opset > first &&
            onnx_words_have(restrictions[i].names, op_type))
            first = restrictions[i].first_opset;
    return opset >= first;
}
