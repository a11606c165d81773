// Protobuf's wire format over a byte range, reading and writing. Nothing is copied while reading: fields are views.
//   record = key varint (field number << 3 | wire type), then a varint, 8 bytes, a length and its bytes, or 4 bytes.
// Groups (wire types 3 and 4) are refused: no version of ONNX has used them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_range {
    const uint8_t *at, *end;
};
struct wire_record {
    uint32_t number;   // field number, from 1
    enum wire_type type;
    uint64_t value;            // VARINT, FIXED64, FIXED32
    struct wire_range bytes;   // BYTES: the payload
    struct wire_range whole;   // key and payload, as they stand in the file
};

// Both give NULL and move `r` on, or give the reason (a constant text) and leave `r` where it was.
const char *wire_read_varint(struct wire_range *r, uint64_t *ret_value);
const char *wire_read_record(struct wire_range *r, struct wire_record *ret_record);

// The number of varints in a packed field; false if the last one is cut short or one is longer than ten bytes.
bool wire_count_varints(struct wire_range r, size_t *ret_count);

uint32_t wire_load32(const uint8_t *bytes);

// A sink takes encoded bytes: a file being written, or memory.
struct wire_sink {
    void (*put)(void *target, const void *bytes, size_t size);
    void *target;
};

#define WIRE_MAX_VARINT 10
size_t wire_size_varint(uint64_t value);
void wire_put_varint(const struct wire_sink *sink, uint64_t value);
void wire_put_key(const struct wire_sink *sink, uint32_t number, enum wire_type type);
void wire_put_fixed32(const struct wire_sink *sink, uint32_t value);
void wire_put_bytes(const struct wire_sink *sink, const void *bytes, size_t size);
