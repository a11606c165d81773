// The rows of all ONNX messages, of their table.
#include "onnx/format/schema.h"

#include "onnx/format/model.h"

#define ROW(of, number, kind, member, message, is_text)                                                                \
    {number, ONNX_FIELD_##kind, offsetof(struct onnx_##of, member), message, is_text},
#define ONNX_FIELD(of, number, kind, member) ROW(of, number, kind, member, NULL, false)
#define ONNX_TEXT(of, number, member) ROW(of, number, STRING, member, NULL, true)
#define ONNX_PART(of, number, kind, member, label) ROW(of, number, kind, member, &onnx_##label##_descriptor, false)
#define ONNX_OTHER(type, member)
#define ONNX_MESSAGE(label, proto, bits, ...)                                                                          \
    static const struct onnx_field label##_rows[] = {__VA_ARGS__};                                                     \
    const struct onnx_descriptor onnx_##label##_descriptor = {proto, sizeof(struct onnx_##label), label##_rows,        \
                                                              sizeof label##_rows / sizeof *label##_rows, (bits)};
#include "onnx/format/messages.def"

const struct onnx_field *onnx_find_field(const struct onnx_descriptor *d, uint32_t number)
{
    return FIND(d->fields, d->field_count, field, field->number == number);
}
