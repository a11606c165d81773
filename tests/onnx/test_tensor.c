// Sizes and payloads of tensors: a table of (encoded tensor, what it is).
#include "onnx/format/model_read.h"
#include "onnx/format/tensor.h"
#include "tests/support/check.h"

struct tensor_case {
    const char *bytes;
    size_t size;
    const char *elements;   // NULL: refused
    size_t elements_size;
    const char *reason;
};
#define BYTES(text) text, sizeof(text) - 1
#define NOTHING NULL, 0

static const struct tensor_case cases[] = {
    {BYTES("\x08\x02\x10\x03\x4a\x02\x01\x02"), BYTES("\x01\x02"), NULL},                   // raw int8[2]
    {BYTES("\x10\x03\x4a\x01\x07"), BYTES("\x07"), NULL},                                   // a scalar
    {BYTES("\x08\x02\x10\x04\x2a\x04\x01\xff\xff\x03"), BYTES("\x01\x00\xff\xff"), NULL},   // packed uint16[2]
    {BYTES("\x08\x02\x10\x03\x28\x01\x28\x02"), BYTES("\x01\x02"), NULL},                   // int8[2], not packed
    {BYTES("\x08\x01\x10\x01\x22\x04\x00\x00\x80\x3f"), BYTES("\x00\x00\x80\x3f"), NULL},   // packed float[1]
    {BYTES("\x08\x02\x10\x01\x25\x00\x00\x80\x3f\x22\x04\x00\x00\x00\x40"), BYTES("\x00\x00\x80\x3f\x00\x00\x00\x40"),
     NULL},                                                                 // both ways mixed
    {BYTES("\x08\x00\x10\x01"), BYTES(""), NULL},                           // float[0]
    {BYTES("\x08\x03\x10\x16\x4a\x02\x21\x03"), BYTES("\x21\x03"), NULL},   // int4[3]
    {BYTES("\x08\x02\x10\x03\x4a\x03\x01\x02\x03"), NOTHING, "has 3 bytes"},
    {BYTES("\x08\x02\x10\x03\x2a\x01\x01"), NOTHING, "has 1 bytes"},
    {BYTES("\x08\x01\x10\x07\x3a\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), BYTES("\0\0\0\0\0\0\0\x80"),
     NULL},   // int64[1], 2^63
    {BYTES("\x08\x01\x10\x07\x3a\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"), NOTHING, "cut short"},   // 65 bits
    {BYTES("\x08\x01\x10\x01\x22\x03\x00\x00\x80"), NOTHING, "cut short"},
    {BYTES("\x08\x01\x10\x01\x20\x01"), NOTHING, "wrong wire type"},
    {BYTES("\x08\x01\x10\x63\x4a\x01\x01"), NOTHING, "cannot be decoded"},   // an unknown type
    {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x03"), NOTHING, "negative"},
};

TEST_OF_EACH(tensors_are_decoded, row, cases)
{
    ARENA(arena);
    struct error error = {0};
    struct onnx_bytes elements;
    void *t;
    assert_true(
        onnx_message_parse(&arena, &onnx_tensor_descriptor, "f", (const uint8_t *)row->bytes, row->size, &t, &error));
    bool is_fine = onnx_tensor_decode(t, &arena, "f", &elements, &error);
    assert_int_equal(is_fine, row->elements != NULL);
    if (is_fine) {
        assert_int_equal(elements.size, row->elements_size);
        assert_memory_equal(elements.at, row->elements, elements.size);
    } else {
        assert_non_null(strstr(error.message, row->reason));
    }
}

TEST(sizes_do_not_overflow)
{
    static int64_t dims[][3] = {{INT64_MAX, INT64_MAX, 0}, {INT64_MAX, 2, 1}, {INT64_MAX / 8, 1, 1}, {5, 3, 1}};
    static const bool is_count[] = {true, false, true, true}, is_size[] = {true, false, false, true};
    for (size_t i = 0; i < COUNT_OF(dims); i++) {
        struct onnx_tensor t = {.dims = {dims[i], 3, false}, .data_type = ONNX_COMPLEX128};
        size_t n;
        assert_int_equal(onnx_tensor_count(&t, &n), is_count[i]);
        assert_int_equal(onnx_tensor_size(&t, &n), is_size[i]);
    }
}
