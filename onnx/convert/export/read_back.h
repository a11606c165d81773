// A written file, read again: does it say what the graph says that it was exported from?
#pragma once
#include "onnx/convert/imported_model.h"

// The tensors that export gave names to, with the types that they have in the exported graph.
struct exported_type {
    const char *name;
    struct type type;
    uint64_t value;   // the key of its value in the graph
};
struct exported_types {
    const struct imported_model *model;   // what the graph was made from
    size_t count;
    struct exported_type *items;
};

// Is the interface (names, element types and sizes of inputs and outputs, symbols among them) that of the original, and
// does what is written make tensors of the exported types, at two bindings of the symbols? The context is a struct
// exported_types (onnx_reader of format/model.h). False: EXIT_UNSUPPORTED, with the first difference.
bool exported_types_are_read_back(void *context, struct onnx_file *written, struct error *error);
