// Typed fields are decoded by one table row per element type: which field holds it, and how many bytes each number of
// that field becomes. The numbers are written little-endian, so the result is what raw_data would have been.
#include "onnx/format/tensor.h"

#include "core/formats/wire.h"
#include "core/text/error.h"

#include <string.h>

enum onnx_carrier { CARRIER_NONE, CARRIER_FIXED, CARRIER_VARINT };

struct type_row {
    const char *name;
    unsigned bits;   // of one element
    size_t field;    // offset of the typed field
    enum onnx_carrier carrier;
    unsigned width;   // bytes that one number of the typed field stands for
};
#define TYPED(name, bits, field, carrier, width)                                                                       \
    {                                                                                                                  \
        name, bits, offsetof(struct onnx_tensor, field), CARRIER_##carrier, width                                      \
    }

static const struct type_row types[] = {
    [ONNX_FLOAT] = TYPED("float", 32, float_data, FIXED, 4),
    [ONNX_UINT8] = TYPED("uint8", 8, int32_data, VARINT, 1),
    [ONNX_INT8] = TYPED("int8", 8, int32_data, VARINT, 1),
    [ONNX_UINT16] = TYPED("uint16", 16, int32_data, VARINT, 2),
    [ONNX_INT16] = TYPED("int16", 16, int32_data, VARINT, 2),
    [ONNX_INT32] = TYPED("int32", 32, int32_data, VARINT, 4),
    [ONNX_INT64] = TYPED("int64", 64, int64_data, VARINT, 8),
    [ONNX_STRING] = TYPED("string", 0, string_data, NONE, 0),
    [ONNX_BOOL] = TYPED("bool", 8, int32_data, VARINT, 1),
    [ONNX_FLOAT16] = TYPED("float16", 16, int32_data, VARINT, 2),
    [ONNX_DOUBLE] = TYPED("double", 64, double_data, FIXED, 8),
    [ONNX_UINT32] = TYPED("uint32", 32, uint64_data, VARINT, 4),
    [ONNX_UINT64] = TYPED("uint64", 64, uint64_data, VARINT, 8),
    [ONNX_COMPLEX64] = TYPED("complex64", 64, float_data, FIXED, 4),
    [ONNX_COMPLEX128] = TYPED("complex128", 128, double_data, FIXED, 8),
    [ONNX_BFLOAT16] = TYPED("bfloat16", 16, int32_data, VARINT, 2),
    [17] = TYPED("float8e4m3fn", 8, int32_data, VARINT, 1),
    [18] = TYPED("float8e4m3fnuz", 8, int32_data, VARINT, 1),
    [19] = TYPED("float8e5m2", 8, int32_data, VARINT, 1),
    [20] = TYPED("float8e5m2fnuz", 8, int32_data, VARINT, 1),
    [21] = TYPED("uint4", 4, int32_data, VARINT, 1),
    [22] = TYPED("int4", 4, int32_data, VARINT, 1),
    [23] = TYPED("float4e2m1", 4, int32_data, VARINT, 1),
    [24] = TYPED("float8e8m0", 8, int32_data, VARINT, 1),
    [25] = TYPED("uint2", 2, int32_data, VARINT, 1),
    [26] = TYPED("int2", 2, int32_data, VARINT, 1),
};

static const struct type_row *row_of(int64_t data_type)
{
    size_t n = sizeof types / sizeof types[0];
    bool is_known = data_type > 0 && (uint64_t)data_type < n && types[data_type].name;
    return is_known ? &types[data_type] : NULL;
}

const char *onnx_type_name(int64_t data_type)
{
    const struct type_row *row = row_of(data_type);
    return row ? row->name : "unknown";
}

unsigned onnx_type_bits(int64_t data_type)
{
    const struct type_row *row = row_of(data_type);
    return row ? row->bits : 0;
}

bool onnx_tensor_count(const struct onnx_tensor *t, size_t *ret_count)
{
    size_t count = 1;
    bool is_empty = false, overflows = false;
    for (size_t i = 0; i < t->dims.count; i++) {
        int64_t d = t->dims.items[i];
        if (d < 0)
            return false;
        is_empty |= d == 0;
        overflows |= __builtin_mul_overflow(count, (size_t)d, &count);
    }
    if (overflows && !is_empty)
        return false;
    *ret_count = is_empty ? 0 : count;
    return *ret_count <= PTRDIFF_MAX;
}

bool onnx_tensor_size(const struct onnx_tensor *t, size_t *ret_bytes)
{
    size_t count, bits;
    if (!onnx_tensor_count(t, &count) || __builtin_mul_overflow(count, onnx_type_bits(t->data_type), &bits))
        return false;
    *ret_bytes = bits / 8 + (bits % 8 != 0);
    return true;
}

bool onnx_tensor_is_external(const struct onnx_tensor *t)
{
    return t->data_location == 1;
}

// ---- typed fields ----

static const char *next_record(struct wire_range *rest, const struct type_row *row, struct wire_record *ret_record)
{
    const char *reason = wire_read_record(rest, ret_record);
    enum wire_type plain = row->carrier == CARRIER_VARINT ? WIRE_VARINT : row->width == 4 ? WIRE_FIXED32 : WIRE_FIXED64;
    if (!reason && ret_record->type != plain && ret_record->type != WIRE_BYTES)
        reason = "its data field has a wrong wire type";
    return reason;
}

// Numbers of a typed field, as raw_data would have them; `at` NULL: they are only counted.
struct numbers {
    uint8_t *at;
    size_t left, count;   // bytes for which there is room, numbers
};

#define CHANGED "its data changed while it was read"   // less than was counted may be left where somebody writes to it

static const char *put_number(struct numbers *numbers, uint64_t value, unsigned width)
{
    numbers->count++;
    if (!numbers->at)
        return NULL;
    if (numbers->left < width)
        return CHANGED;
    numbers->left -= width;
    for (unsigned i = 0; i < width; i++)
        *numbers->at++ = (uint8_t)(value >> (8 * i));
    return NULL;
}

static const char *put_fixed(struct numbers *numbers, struct wire_range bytes, unsigned width)
{
    size_t size = (size_t)(bytes.end - bytes.at);
    numbers->count += size / width;
    if (size % width != 0)
        return "its packed data is cut short";
    if (!numbers->at || size == 0)
        return NULL;
    if (numbers->left < size)
        return CHANGED;
    memcpy(numbers->at, bytes.at, size);
    numbers->at += size;
    numbers->left -= size;
    return NULL;
}

static const char *put_varints(struct numbers *numbers, struct wire_range bytes, unsigned width)
{
    size_t n = 0;
    uint64_t value;
    const char *reason = numbers->at || wire_count_varints(bytes, &n) ? NULL : "its packed data is cut short";
    numbers->count += n;
    while (!reason && numbers->at && bytes.at < bytes.end) {
        reason = wire_read_varint(&bytes, &value);
        reason = reason ? reason : put_number(numbers, value, width);
    }
    return reason;
}

// Gives the reason why the field is refused, or NULL.
static const char *read_typed(const struct onnx_tensor *t, const struct type_row *row, struct numbers *numbers)
{
    const struct onnx_blobs *runs = (const struct onnx_blobs *)((const char *)t + row->field);
    const char *reason = NULL;
    for (size_t i = 0; i < runs->count; i++) {
        struct wire_range rest = {runs->items[i].at, runs->items[i].at + runs->items[i].size};
        struct wire_record record;
        while (!reason && rest.at < rest.end) {
            reason = next_record(&rest, row, &record);
            if (!reason)
                reason = record.type != WIRE_BYTES || row->carrier == CARRIER_NONE
                             ? put_number(numbers, record.value, row->width)
                         : row->carrier == CARRIER_FIXED ? put_fixed(numbers, record.bytes, row->width)
                                                         : put_varints(numbers, record.bytes, row->width);
        }
    }
    return reason;
}

// ---- checks ----

const char *onnx_tensor_label(const struct onnx_tensor *t)
{
    return t->name.text && t->name.size ? t->name.text : "(without a name)";
}

static bool tensor_error(const struct onnx_tensor *t, const char *file, struct error *error, const char *reason)
{
    return error_set(error, file, 0, 0, "tensor %s: %s", onnx_tensor_label(t), reason);
}

static bool size_error(const struct onnx_tensor *t, const char *file, struct error *error, size_t has, size_t wants)
{
    return error_set(error, file, 0, 0, "tensor %s: its data has %zu bytes, its dimensions of %s make %zu",
                     onnx_tensor_label(t), has, onnx_type_name(t->data_type), wants);
}

static bool check_typed(const struct onnx_tensor *t, const struct type_row *row, const char *file, size_t elements,
                        size_t bytes, struct error *error)
{
    struct numbers numbers = {0};
    const char *reason = read_typed(t, row, &numbers);
    if (reason)
        return tensor_error(t, file, error, reason);
    if (row->carrier == CARRIER_NONE)
        return numbers.count == elements ||
               tensor_error(t, file, error, "its strings are not as many as its dimensions make");
    return numbers.count == bytes / row->width || size_error(t, file, error, numbers.count * row->width, bytes);
}

bool onnx_tensor_check(const struct onnx_tensor *t, const char *file, struct error *error)
{
    const struct type_row *row = row_of(t->data_type);
    size_t elements, bytes;
    if (!onnx_tensor_count(t, &elements) || !onnx_tensor_size(t, &bytes))
        return tensor_error(t, file, error, "its dimensions are negative or too large");
    if (t->data_type == ONNX_UNDEFINED)
        return tensor_error(t, file, error, "its element type is missing");
    if (!row || t->segment)
        return true;
    if (onnx_tensor_is_external(t))
        return t->external.size == bytes || size_error(t, file, error, t->external.size, bytes);
    if (t->raw_data.at && row->bits)
        return t->raw_data.size == bytes || size_error(t, file, error, t->raw_data.size, bytes);
    if (t->raw_data.at)
        return tensor_error(t, file, error, "strings cannot be raw data");
    return check_typed(t, row, file, elements, bytes, error);
}

// ---- decoding ----

static bool is_aligned_for(const uint8_t *at, unsigned bits)
{
    size_t align = bits >= 64 ? 8 : bits >= 8 ? bits / 8 : 1;
    return (uintptr_t)at % align == 0;
}

static struct onnx_bytes aligned_view(struct onnx_bytes bytes, unsigned bits, struct arena *a)
{
    static const uint64_t nothing[1];
    if (bytes.size == 0)
        bytes.at = (const uint8_t *)nothing;
    else if (!is_aligned_for(bytes.at, bits))
        bytes.at = arena_copy(a, bytes.at, bytes.size, _Alignof(max_align_t));
    return bytes;
}

bool onnx_tensor_decode(const struct onnx_tensor *t, struct arena *a, const char *file, struct onnx_bytes *ret,
                        struct error *error)
{
    const struct type_row *row = row_of(t->data_type);
    struct onnx_bytes bytes = {0};
    if (!row || row->bits == 0 || t->segment)
        return tensor_error(t, file, error, "its elements cannot be decoded");
    if (!onnx_tensor_check(t, file, error) || !onnx_tensor_size(t, &bytes.size))
        return false;
    if (onnx_tensor_is_external(t) || t->raw_data.at) {
        *ret = aligned_view(onnx_tensor_is_external(t) ? t->external : t->raw_data, row->bits, a);
        return true;
    }
    uint8_t *out = arena_alloc(a, bytes.size + 8, _Alignof(max_align_t));
    struct numbers numbers = {.at = out, .left = bytes.size};
    const char *reason = read_typed(t, row, &numbers);
    if (!reason && numbers.left > 0)
        reason = CHANGED;
    if (reason)
        return tensor_error(t, file, error, reason);
    *ret = (struct onnx_bytes){out, bytes.size};
    return true;
}
