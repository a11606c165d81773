// Protobuf records by hand: what is read, what is refused and why, and that writing gives the same bytes.
#include "core/formats/wire.h"
#include "onnx/format/model_read.h"
#include "onnx/format/model_write.h"
#include "tests/support/check.h"

struct varint_case {
    const char *bytes;
    size_t size;
    uint64_t value;
    bool is_fine;
};
#define BYTES(text) text, sizeof(text) - 1

static const struct varint_case varints[] = {
    {BYTES("\x00"), 0, true},
    {BYTES("\x7f"), 127, true},
    {BYTES("\x80\x01"), 128, true},
    {BYTES("\xac\x02"), 300, true},
    {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX, true},
    {BYTES("\x80\x80\x00"), 0, true},
    {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), 0, false},
    {BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), 0, false},
    {BYTES("\x80"), 0, false},
    {BYTES(""), 0, false},
};

static struct wire_range range_of(const char *bytes, size_t size)
{
    return (struct wire_range){(const uint8_t *)bytes, (const uint8_t *)bytes + size};
}

TEST_OF_EACH(varints_are_read, row, varints)
{
    struct wire_range r = range_of(row->bytes, row->size);
    uint64_t value = 0;
    const char *reason = wire_read_varint(&r, &value);
    assert_int_equal(reason == NULL, row->is_fine);
    if (row->is_fine) {
        assert_int_equal(value, row->value);
        assert_ptr_equal(r.at, r.end);
    } else {
        assert_ptr_equal(r.at, row->bytes);
    }
}

struct record_case {
    const char *bytes;
    size_t size;
    const char *reason;   // NULL: it is read
    uint32_t number;
    uint64_t value;
};
static const struct record_case records[] = {
    {BYTES("\x08\x96\x01"), NULL, 1, 150},
    {BYTES("\x12\x02hi"), NULL, 2, 0},
    {BYTES("\x12\x00"), NULL, 2, 0},
    {BYTES("\x1d\x01\x00\x00\x00"), NULL, 3, 1},
    {BYTES("\x19\x00\x00\x00\x00\x00\x00\x00\x80"), NULL, 3, UINT64_C(1) << 63},
    {BYTES("\x12\x03hi"), "a length exceeds what is left", 0, 0},
    {BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "a length exceeds what is left", 0, 0},
    {BYTES("\x1d\x01\x00\x00"), "a length exceeds what is left", 0, 0},
    {BYTES("\x00\x01"), "a field number is out of range", 0, 0},
    {BYTES("\x0b\x0c"), "a field has an unknown wire type", 0, 0},
    {BYTES("\x0f"), "a field has an unknown wire type", 0, 0},
    {BYTES("\x08"), "a number is cut short", 0, 0},
};

TEST_OF_EACH(records_are_read, row, records)
{
    struct wire_range r = range_of(row->bytes, row->size);
    struct wire_record record;
    const char *reason = wire_read_record(&r, &record);
    if (row->reason) {
        assert_string_equal(reason, row->reason);
        return;
    }
    assert_null(reason);
    assert_int_equal(record.number, row->number);
    assert_int_equal(record.value, row->value);
    assert_int_equal(record.whole.end - record.whole.at, row->size);
}

// Nodes as bytes; what comes back, when not the same.
struct node_case {
    const char *bytes;
    size_t size;
    const char *written;
    size_t written_size;
    const char *reason;
};
static const struct node_case nodes[] = {
    {BYTES(""), BYTES(""), NULL},
    {BYTES("\x0a\x01x\x0a\x00\x12\x01y\x22\x04Relu"), BYTES("\x0a\x01x\x0a\x00\x12\x01y\x22\x04Relu"), NULL},
    // fields out of order are put in order, the last of several values counts
    {BYTES("\x22\x04Relu\x0a\x01x\x22\x03"
           "Abs"),
     BYTES("\x0a\x01x\x22\x03"
           "Abs"),
     NULL},
    // an empty string that is present stays present
    {BYTES("\x1a\x00"), BYTES("\x1a\x00"), NULL},
    // unknown fields and known fields of another wire type come last, as they are
    {BYTES("\x18\x05\x22\x01R\xf8\x3f\x01"), BYTES("\x22\x01R\x18\x05\xf8\x3f\x01"), NULL},
    {BYTES("\x2a\x05\x0a\x01k\x18\x07"), BYTES("\x2a\x05\x0a\x01k\x18\x07"), NULL},
    {BYTES("\x2a\x05\x0a\x01k\x18"), BYTES(""), "byte 0, in NodeProto: a length exceeds what is left"},
    {BYTES("\x2a\x04\x0a\x07k\x18"), BYTES(""), "byte 2, in AttributeProto: a length exceeds what is left"},
    {BYTES("\x2a\x04\x2a\x00\x2a\x00"), BYTES(""),
     "byte 4, in AttributeProto: a message that may stand once occurs twice"},
    {BYTES("\x2a\x03\x42\x01\x80"), BYTES(""), "byte 2, in AttributeProto: a packed list of numbers is cut short"},
};

TEST_OF_EACH(messages_come_back, row, nodes)
{
    ARENA(arena);
    struct error error = {0};
    void *message;
    bool is_fine = onnx_message_parse(&arena, &onnx_node_descriptor, "f", (const uint8_t *)row->bytes, row->size,
                                      &message, &error);
    assert_int_equal(is_fine, row->reason == NULL);
    if (is_fine) {
        struct onnx_bytes out = onnx_message_encode(&arena, &onnx_node_descriptor, message);
        assert_int_equal(out.size, row->written_size);
        assert_memory_equal(out.at, row->written, out.size);
    } else {
        assert_string_equal(error.message, row->reason);
    }
}

// A oneof keeps the last member read, as protobuf does.
TEST(last_alternative_counts)
{
    static const char bytes[] = "\x22\x02\x0a\x00\x0a\x02\x08\x01";
    ARENA(arena);
    void *message;
    assert_true(onnx_message_parse(&arena, &onnx_type_descriptor, "f", (const uint8_t *)bytes, sizeof bytes - 1,
                                   &message, &(struct error){0}));
    const struct onnx_type *type = message;
    assert_null(type->sequence);
    assert_int_equal(type->tensor->elem_type, 1);
}
