// An ONNX model in memory: every message of onnx.proto (IR 3 to 11 and what later versions share) as a plain struct.
// Structs, names and small values live in the file's arena; payloads of tensors and byte attributes are views into
// memory maps and are never copied. A singular field is absent as its kind says (NULL text or pointer, or its bit in
// `m.has` unset: ONNX_HAS(tensor, 14)). Members, with their numbers, are those of messages.def.
//
// The table's descriptors, one per message, and rows, one per field, are interpreted by the reader, the writer and the
// lists of messages, so that a field is known everywhere once it has a row.
//
// Every message struct begins with a `struct onnx_message`. A field's kind says what stands at its offset:
//   INT       int64_t                 int32, int64 and enum; present when its bit in `has` is set, or it is not 0
//   FLOAT     float                   present when its bit is set
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
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "core/system/file.h"

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

#define ONNX_PROTOBUF_LIMIT INT32_MAX   // a larger message cannot be read by other programs
#define ONNX_MAX_SUBGRAPHS 64           // If, Loop and Scan may nest so deep

// Elements that are computed when their tensor is written: one such tensor is in memory at a time.
struct onnx_deferred {
    const void *(*compute)(void *context, struct arena *arena, struct error *error);   // in the arena; NULL: it fails
    void *context;
};
// Items of a list point to messages of the type that stands in the table. Typed data of tensors are records, decoded by
// onnx_tensor_decode. An empty name is that of an omitted optional input or output.
#define ONNX_MEMBER_INT int64_t
#define ONNX_MEMBER_FLOAT float
#define ONNX_MEMBER_STRING struct onnx_string
#define ONNX_MEMBER_BYTES struct onnx_bytes
#define ONNX_MEMBER_INTS struct onnx_ints
#define ONNX_MEMBER_FLOATS struct onnx_floats
#define ONNX_MEMBER_STRINGS struct onnx_strings
#define ONNX_MEMBER_BLOBS struct onnx_blobs
#define ONNX_MEMBER_RECORDS struct onnx_blobs
#define ONNX_MEMBER_MESSAGE(message) struct onnx_##message *
#define ONNX_MEMBER_MESSAGES(message) struct onnx_list
#define ONNX_FIELD(of, number, kind, member) ONNX_MEMBER_##kind member;
#define ONNX_TEXT(of, number, member) struct onnx_string member;
#define ONNX_PART(of, number, kind, member, message) ONNX_MEMBER_##kind(message) member;
#define ONNX_OTHER(type, member) type member;
#define ONNX_MESSAGE(label, proto, bits, ...)                                                                          \
    struct onnx_##label {                                                                                              \
        struct onnx_message m;                                                                                         \
        __VA_ARGS__                                                                                                    \
    };
#include "onnx/format/messages.def"

// Descriptors, one per message; a new message is a zeroed struct of `size` bytes.
#define ONNX_MESSAGE(label, ...) extern const struct onnx_descriptor onnx_##label##_descriptor;
#include "onnx/format/messages.def"

const struct onnx_field *onnx_find_field(const struct onnx_descriptor *d, uint32_t number);   // NULL when unknown

enum onnx_attribute_type {   // those that are written
    ONNX_ATTRIBUTE_FLOAT = 1,
    ONNX_ATTRIBUTE_INT = 2,
    ONNX_ATTRIBUTE_STRING = 3,
    ONNX_ATTRIBUTE_TENSOR = 4,
    ONNX_ATTRIBUTE_FLOATS = 6,
    ONNX_ATTRIBUTE_INTS = 7,
};
struct onnx_external {
    const char *location;   // as the model has it
    const char *path;       // with every link followed
    struct file_map map;
};

// A model file with everything that the model's views point into.
struct onnx_file {
    const char *path;
    struct arena arena;
    struct file_map map;
    VEC(struct onnx_external) externals;
    struct onnx_model *model;
};

// The same, where what was written is read again before it takes its place, and does so only if it is found right. A
// path that is no regular file gets what was found right in a temporary folder.
struct onnx_reader {
    bool (*is_right)(void *context, struct onnx_file *written, struct error *error);
    void *context;
};

// The first message x of a list, which has type T, of which it is so; NULL: there is none.
#define ONNX_FIND(T, x, list, ...)                                                                                     \
    __extension__({                                                                                                    \
        const T *x = NULL, *x##_found = NULL;                                                                          \
        for (size_t x##_i = 0; x##_i < (list)->count && !x##_found; x##_i++) {                                         \
            x = (list)->items[x##_i];                                                                                  \
            x##_found = (__VA_ARGS__) ? x : NULL;                                                                      \
        }                                                                                                              \
        x##_found;                                                                                                     \
    })

typedef VEC(void *) message_list;
// Adds every message of type `wanted` inside `message`, itself included, in the order of writing.
void onnx_list_messages(const struct onnx_descriptor *d, const void *message, const struct onnx_descriptor *wanted,
                        message_list *list);
bool onnx_string_is(const struct onnx_string *s, const char *text);
bool onnx_string_equal(const struct onnx_string *a, const struct onnx_string *b);
bool onnx_bytes_are(const struct onnx_bytes *b, const char *text);
// The name of a size; empty where it has none. "?" is none: exporters write it for every size that they do not know.
const struct onnx_string *onnx_symbol(const struct onnx_dimension *d);

// Is there an initializer of that name? It may be declared as an input, too: no node makes it, and nobody gives it.
bool onnx_graph_initializes(const struct onnx_graph *g, const struct onnx_string *name);
const char *onnx_domain(const struct onnx_string *domain);                  // "" is "ai.onnx", too
int64_t onnx_version(const struct onnx_list *opsets, const char *domain);   // 0: there is none
const struct onnx_function *onnx_function_called_by(const struct onnx_model *m, const struct onnx_node *n);   // or NULL
const struct onnx_attribute *onnx_node_find(const struct onnx_node *n, const char *name);   // NULL when absent
bool onnx_words_have(const char *words, const char *name);         // words with a space between them
bool onnx_node_has_standard_domain(const struct onnx_node *n);     // "" or "ai.onnx"
bool onnx_node_is(const struct onnx_node *n, const char *names);   // an operator of that domain: one of "LSTM GRU RNN"
