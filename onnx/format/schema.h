// How ONNX messages lie in memory: one descriptor per message, one row per field. The reader, the writer and the
// visitor interpret these tables, so that a field is known everywhere once it has a row in schema.c.
//
// Every message struct begins with a `struct onnx_message`. A field's kind says what stands at its offset:
//   INT       int64_t                 int32, int64 and enum; present when its bit in `has` is set
//   FLOAT     float                   the same
//   STRING    struct onnx_string      a NUL-terminated copy, present when text is not NULL; only text for people has
//                                     a NUL in it: names end at one for much of the world
//   BYTES     struct onnx_bytes       a view into the file; present when at is not NULL
//   MESSAGE   pointer to a message    present when not NULL
//   INTS      struct onnx_ints        repeated; remembers whether it was packed
//   FLOATS    struct onnx_floats      the same
//   STRINGS   struct onnx_strings     repeated STRING
//   BLOBS     struct onnx_blobs       repeated BYTES
//   MESSAGES  struct onnx_list        repeated MESSAGE
//   RECORDS   struct onnx_blobs       all records of this field as they stand in the file, neighbours merged: the typed
//                                     data of tensors, which is decoded on request
// Records that the table does not know are kept in `unknown` and written back last.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct onnx_string {
    const char *text;
    size_t size;
};
struct onnx_bytes {
    const uint8_t *at;
    size_t size;
};
struct onnx_ints {
    int64_t *items;
    size_t count;
    bool is_packed;
};
struct onnx_floats {
    float *items;
    size_t count;
    bool is_packed;
};
struct onnx_strings {
    struct onnx_string *items;
    size_t count;
};
struct onnx_blobs {
    struct onnx_bytes *items;
    size_t count;
};
struct onnx_list {
    void **items;   // pointers to messages of the type that the member's comment names
    size_t count;
};
struct onnx_message {
    uint32_t has;   // bit n: the INT or FLOAT field of number n is present
    struct onnx_blobs unknown;
};
#define ONNX_HAS(message, number) (((message)->m.has >> (number)) & 1u)
#define ONNX_SET(message, number) ((void)((message)->m.has |= UINT32_C(1) << (number)))

enum onnx_field_kind {
    ONNX_FIELD_INT,
    ONNX_FIELD_FLOAT,
    ONNX_FIELD_STRING,
    ONNX_FIELD_BYTES,
    ONNX_FIELD_MESSAGE,
    ONNX_FIELD_INTS,
    ONNX_FIELD_FLOATS,
    ONNX_FIELD_STRINGS,
    ONNX_FIELD_BLOBS,
    ONNX_FIELD_MESSAGES,
    ONNX_FIELD_RECORDS,
};
struct onnx_field {
    uint8_t number;   // below 32
    enum onnx_field_kind kind;
    size_t offset;
    const struct onnx_descriptor *message;   // MESSAGE, MESSAGES
    bool is_text;                            // STRING: no name, but text for people
};
struct onnx_descriptor {
    const char *name;
    size_t size;                       // of the struct
    const struct onnx_field *fields;   // in ascending order of number, which is the order of writing
    size_t field_count;
    uint32_t one_of;   // bits of the fields of which only the last one read counts
};

// Descriptors, one per message; a new message is a zeroed struct of `size` bytes.
#define ONNX_MESSAGE(label, ...) extern const struct onnx_descriptor onnx_##label##_descriptor;
#include "onnx/format/messages.def"

const struct onnx_field *onnx_find_field(const struct onnx_descriptor *d, uint32_t number);   // NULL when unknown
