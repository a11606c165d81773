// Compiled models: optimized graphs with their layouts and with their weights as this program's executor reads them, in
// files that are read as they are (docs/manual/compiled.md). Whoever opens one plans its steps again, so that another
// processor, or another release, runs it too: only weights that its kernels want otherwise are packed again.
//
//     0    header     enum of numbers below, little-endian
//     48   manifest   text: names, where weights stand and how they are packed, layouts, choices of steps, the graph
//          weights    each at a multiple of 64 bytes from the end of the manifest, itself rounded up to that
//     -8   checksum   XXH3 of the XXH3s of all pieces of 1 MiB before it
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"
#include "core/system/file.h"
#include "onnx/convert/imported_model.h"

// The version is to be raised when a program that reads this version would misunderstand a file: another meaning of an
// operator, of a field of the manifest, or of the header.
#define COMPILED_VERSION 3

struct stored_weight {   // one form of a weight; there may be several
    size_t index;
    bool is_packed;
    struct packing packing;
    const void *data;
    size_t bytes;
};
typedef VEC(struct imported_value) named_values;
// Stays where it is while it is open.
struct compiled_model {
    struct file_map map;
    struct arena arena;
    struct graph graph;   // input leaves count as `inputs` do
    named_values inputs, outputs;
    const uint8_t *layouts;   // for backend_prepare_from; so are
    step_choices choices;
    VEC(struct stored_weight) stored;
    size_t n_weights;
    struct tensor_value *weights;   // those that stand plain have data
    struct weight_source source;    // of the others
    struct unpacked_weight *unpacked;
};

// Does the file begin as one does? False as well when it cannot be read.
bool compiled_model_is_at(const char *path);
// Nothing in the file is believed: what is damaged, of another version, or no model is an error.
bool compiled_model_open(struct compiled_model *ret_model, const char *path, struct error *error);
// The same of bytes that live as long and have any checksum.
bool compiled_model_read(struct compiled_model *ret_model, const char *path, const void *bytes, size_t size,
                         struct error *error);
void compiled_model_close(struct compiled_model *m);
// Runs with the layouts and by the choices of the file.
struct model *compiled_model_prepare(struct compiled_model *m, struct backend *b, struct error *error);

// The contents of the file: a graph, and the names of its inputs (by the indices of their leaves) and outputs.
struct compile_request {
    const struct graph *graph;
    struct given_weights weights;
    size_t n_inputs, n_outputs;
    const char *const *input_names, *const *output_names;
    const struct type *input_types;
    struct backend *backend;   // its policy gives the layouts
    void *context;             // of what prepares it, as of backend_prepare_from by the best choices:
    struct model *(*prepare)(void *context, const struct graph *g, const uint8_t *layouts,
                             const struct given_weights *weights, struct error *error);
};
