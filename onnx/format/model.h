// An ONNX model in memory: every message of onnx.proto (IR 3 to 11 and what later versions share) as a plain struct.
// Structs, names and small values live in the file's arena; payloads of tensors and byte attributes are views into
// memory maps and are never copied. A singular field is absent as schema.h says (NULL text or pointer, or its bit in
// `m.has` unset: ONNX_HAS(tensor, 14)); numbers are those of onnx.proto and stand beside each member.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "core/system/file.h"

#include <stdbool.h>

#include "onnx/format/schema.h"

struct error;

#define ONNX_PROTOBUF_LIMIT INT32_MAX   // a larger message cannot be read by other programs
#define ONNX_MAX_SUBGRAPHS 64           // If, Loop and Scan may nest so deep

struct onnx_entry {   // StringStringEntryProto
    struct onnx_message m;
    struct onnx_string key, value;   // 1, 2
};
struct onnx_opset {   // OperatorSetIdProto
    struct onnx_message m;
    struct onnx_string domain;   // 1
    int64_t version;             // 2
};
struct onnx_dimension {
    struct onnx_message m;
    int64_t value;                           // 1
    struct onnx_string symbol, denotation;   // 2, 3
};
struct onnx_shape {
    struct onnx_message m;
    struct onnx_list dimensions;   // 1: struct onnx_dimension
};
struct onnx_tensor_type {   // also of sparse tensors
    struct onnx_message m;
    int64_t elem_type;          // 1
    struct onnx_shape *shape;   // 2
};
struct onnx_element_type {   // TypeProto.Sequence and TypeProto.Optional
    struct onnx_message m;
    struct onnx_type *element;   // 1
};
struct onnx_map_type {
    struct onnx_message m;
    int64_t key_type;          // 1
    struct onnx_type *value;   // 2
};
struct onnx_opaque_type {
    struct onnx_message m;
    struct onnx_string domain, name;   // 1, 2
};
struct onnx_type {   // TypeProto: one of the six
    struct onnx_message m;
    struct onnx_tensor_type *tensor;          // 1
    struct onnx_element_type *sequence;       // 4
    struct onnx_map_type *map;                // 5
    struct onnx_string denotation;            // 6
    struct onnx_opaque_type *opaque;          // 7
    struct onnx_tensor_type *sparse_tensor;   // 8
    struct onnx_element_type *optional;       // 9
};
struct onnx_value_info {
    struct onnx_message m;
    struct onnx_string name;         // 1
    struct onnx_type *type;          // 2
    struct onnx_string doc_string;   // 3
    struct onnx_list metadata;       // 4: struct onnx_entry
};
struct onnx_segment {
    struct onnx_message m;
    int64_t begin, end;   // 1, 2
};
// Elements that are computed when their tensor is written: one such tensor is in memory at a time.
struct onnx_deferred {
    const void *(*compute)(void *context, struct arena *arena, struct error *error);   // in the arena; NULL: it fails
    void *context;
};
struct onnx_tensor {
    struct onnx_message m;
    struct onnx_ints dims;            // 1
    int64_t data_type;                // 2: enum onnx_type_id of tensor.h
    struct onnx_segment *segment;     // 3
    struct onnx_blobs float_data;     // 4: records, decoded by onnx_tensor_decode
    struct onnx_blobs int32_data;     // 5
    struct onnx_blobs string_data;    // 6
    struct onnx_blobs int64_data;     // 7
    struct onnx_string name;          // 8
    struct onnx_bytes raw_data;       // 9
    struct onnx_blobs double_data;    // 10
    struct onnx_blobs uint64_data;    // 11
    struct onnx_string doc_string;    // 12
    struct onnx_list external_data;   // 13: struct onnx_entry
    int64_t data_location;            // 14: 1 is external
    struct onnx_list metadata;        // 16: struct onnx_entry
    struct onnx_bytes external;       // not a field: the payload of external data, mapped by onnx_file_open
    // Not a field: what gives raw_data, where its address is no bytes but tells it from others; or NULL.
    const struct onnx_deferred *deferred;
};
struct onnx_sparse_tensor {
    struct onnx_message m;
    struct onnx_tensor *values, *indices;   // 1, 2
    struct onnx_ints dims;                  // 3
};
enum onnx_attribute_type {
    ONNX_ATTRIBUTE_UNDEFINED = 0,
    ONNX_ATTRIBUTE_FLOAT = 1,
    ONNX_ATTRIBUTE_INT = 2,
    ONNX_ATTRIBUTE_STRING = 3,
    ONNX_ATTRIBUTE_TENSOR = 4,
    ONNX_ATTRIBUTE_GRAPH = 5,
    ONNX_ATTRIBUTE_FLOATS = 6,
    ONNX_ATTRIBUTE_INTS = 7,
    ONNX_ATTRIBUTE_STRINGS = 8,
    ONNX_ATTRIBUTE_TENSORS = 9,
    ONNX_ATTRIBUTE_GRAPHS = 10,
    ONNX_ATTRIBUTE_SPARSE_TENSOR = 11,
    ONNX_ATTRIBUTE_SPARSE_TENSORS = 12,
    ONNX_ATTRIBUTE_TYPE = 13,
    ONNX_ATTRIBUTE_TYPES = 14,
};
struct onnx_attribute {
    struct onnx_message m;
    struct onnx_string name;                    // 1
    float f;                                    // 2
    int64_t i;                                  // 3
    struct onnx_bytes s;                        // 4
    struct onnx_tensor *t;                      // 5
    struct onnx_graph *g;                       // 6
    struct onnx_floats floats;                  // 7
    struct onnx_ints ints;                      // 8
    struct onnx_blobs strings;                  // 9
    struct onnx_list tensors, graphs;           // 10: struct onnx_tensor, 11: struct onnx_graph
    struct onnx_string doc_string;              // 13
    struct onnx_type *tp;                       // 14
    struct onnx_list type_protos;               // 15: struct onnx_type
    int64_t type;                               // 20: enum onnx_attribute_type
    struct onnx_string ref_attr_name;           // 21
    struct onnx_sparse_tensor *sparse_tensor;   // 22
    struct onnx_list sparse_tensors;            // 23: struct onnx_sparse_tensor
};
struct onnx_node {
    struct onnx_message m;
    struct onnx_strings inputs, outputs;   // 1, 2: an empty name is an omitted optional one
    struct onnx_string name, op_type;      // 3, 4
    struct onnx_list attributes;           // 5: struct onnx_attribute
    struct onnx_string doc_string;         // 6
    struct onnx_string domain, overload;   // 7, 8
    struct onnx_list metadata;             // 9: struct onnx_entry
};
struct onnx_annotation {   // TensorAnnotation
    struct onnx_message m;
    struct onnx_string tensor_name;   // 1
    struct onnx_list parameters;      // 2: struct onnx_entry
};
struct onnx_graph {
    struct onnx_message m;
    struct onnx_list nodes;                 // 1: struct onnx_node
    struct onnx_string name;                // 2
    struct onnx_list initializers;          // 5: struct onnx_tensor
    struct onnx_string doc_string;          // 10
    struct onnx_list inputs;                // 11: struct onnx_value_info
    struct onnx_list outputs;               // 12: struct onnx_value_info
    struct onnx_list value_infos;           // 13: struct onnx_value_info
    struct onnx_list annotations;           // 14: struct onnx_annotation
    struct onnx_list sparse_initializers;   // 15: struct onnx_sparse_tensor
    struct onnx_list metadata;              // 16: struct onnx_entry
};
struct onnx_training_info {
    struct onnx_message m;
    struct onnx_graph *initialization, *algorithm;               // 1, 2
    struct onnx_list initialization_bindings, update_bindings;   // 3, 4: struct onnx_entry
};
struct onnx_function {
    struct onnx_message m;
    struct onnx_string name;                           // 1
    struct onnx_strings inputs, outputs, attributes;   // 4, 5, 6
    struct onnx_list nodes;                            // 7: struct onnx_node
    struct onnx_string doc_string;                     // 8
    struct onnx_list opsets;                           // 9: struct onnx_opset
    struct onnx_string domain;                         // 10
    struct onnx_list attribute_protos;                 // 11: struct onnx_attribute
    struct onnx_list value_infos;                      // 12: struct onnx_value_info
    struct onnx_string overload;                       // 13
    struct onnx_list metadata;                         // 14: struct onnx_entry
};
struct onnx_model {
    struct onnx_message m;
    int64_t ir_version;                                           // 1
    struct onnx_string producer_name, producer_version, domain;   // 2, 3, 4
    int64_t model_version;                                        // 5
    struct onnx_string doc_string;                                // 6
    struct onnx_graph *graph;                                     // 7
    struct onnx_list opsets;                                      // 8: struct onnx_opset
    struct onnx_list metadata;                                    // 14: struct onnx_entry
    struct onnx_list training_infos;                              // 20: struct onnx_training_info
    struct onnx_list functions;                                   // 25: struct onnx_function
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

// Calls `visit` for every message of type `wanted` inside `message`, itself included, in the order of writing.
// Stops and gives false when `visit` does.
typedef bool onnx_visit_fn(void *context, void *message);
