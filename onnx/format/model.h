// An ONNX model in memory: every message of onnx.proto (IR 3 to 11 and what later versions share) as a plain struct.
// Structs, names and small values live in the file's arena; payloads of tensors and byte attributes are views into
// memory maps and are never copied. A singular field is absent as schema.h says (NULL text or pointer, or its bit in
// `m.has` unset: ONNX_HAS(tensor, 14)). Members, with their numbers, are those of messages.def.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "core/system/file.h"

#include <stdbool.h>

#include "onnx/format/schema.h"

struct error;

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

enum onnx_attribute_type {   // those that are written
    ONNX_ATTRIBUTE_FLOAT = 1,
    ONNX_ATTRIBUTE_INT = 2,
    ONNX_ATTRIBUTE_STRING = 3,
    ONNX_ATTRIBUTE_TENSOR = 4,
    ONNX_ATTRIBUTE_FLOATS = 6,
    ONNX_ATTRIBUTE_INTS = 7,
};
struct onnx_external {
    const char *location;   // as the model spells it
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
