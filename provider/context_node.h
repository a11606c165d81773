// EPContext nodes: compiled regions in the model that a session with `ep.context_enable` writes, so that a session of
// that model compiles nothing. What a node has is a compiled model (optimizer/compiled), in an attribute or in a file
// beside the model's; it is data, and nothing in it is believed.
#pragma once
#include "provider/model_bytes.h"

struct context_options {
    bool is_written, is_embedded;
    const char *path;   // of the model that is written; NULL: said by the model's own
};
// Options from a session's entries; texts live as long as the arena.
struct context_options context_options_read(const char *const *keys, const char *const *values, size_t n,
                                            struct arena *arena);

// A node in the place of the region's, with the compiled model at `compiled`; the `number` tells regions of a model
// apart. `model_path` is the original's. NULL: error.
OrtNode *context_node_make(const struct runtime *r, const struct context_options *o, const struct graph_node *fused,
                           const char *compiled, const char *model_path, size_t number, struct error *error);

// A model with the inputs and outputs of `m` and such a node for all else, which has the compiled model in the same
// folder.
bool context_node_write_model(const struct model_bytes *m, const char *compiled, const char *path, struct error *error);

bool context_node_is_ours(const struct runtime *r, const struct graph_node *n);
// Writes the node's compiled model into the file `compiled`. False: error.
bool context_node_unpack(const struct runtime *r, const struct graph_node *n, const char *model_path,
                         const char *compiled, struct error *error);
