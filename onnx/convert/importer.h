// The importer's state. Private to onnx.
#pragma once
#include "core/memory/key_set.h"
#include "onnx/convert/conversion.h"

#define LONGEST_AXIS 1000000000   // for the end of any axis exporters write this, INT32_MAX or INT64_MAX

struct named_value {
    const struct onnx_string *name;
    tensor_id tensor;                   // NO_TENSOR until it is known
    uint32_t uses;                      // by nodes, also inside of subgraphs, and as an output of the model
    uint32_t uses_of_sizes;             // those of them that read its shape alone, for sizes
    bool is_a_tensor;                   // to whom reads it, and not numbers that say how large another is
    bool is_needed;                     // by the model's outputs
    const struct onnx_type *declared;   // what the model says of its type; NULL: nothing
};
struct bound_symbol {
    const char *name;
    int64_t size;
};
// Constants that were computed.
struct import_folding {
    VEC(bool) is_constant;   // of the nodes asked about so far: depends on weights only
    int64_t elements;        // computed so far
    double operations;       // that this took
    bool is_forbidden;       // for the time being
};
// A part of a model with symbols, which is imported at several bindings in lockstep (lockstep.h).
struct lockstep_part {
    const struct importer *peers;         // all of them, N_PROBES, this one among them; NULL: none
    const struct imported_model *named;   // that has the symbols; NULL: they stay unbound
    const int64_t *binding;               // their sizes
    const bool *is_exact;                 // nodes that are kept for exact_places.h; NULL: none are
};
struct importer {
    struct imported_model *model;
    const struct onnx_graph *source;
    // Subgraphs are imported as the model is: a graph whose inputs and outer values have names already. What it
    // declares is not read. import_begin sets it.
    void (*import_subgraph)(struct importer *im);
    const struct import_options *options;
    struct error *error;
    struct key_set names;
    VEC(struct named_value) values;     // by the number of the name
    VEC(struct bound_symbol) symbols;   // symbolic dimensions that are known
    struct import_folding folding;
    struct table kept;      // nodes that are kept and understood, by what they do: indices of opaques
    VEC(uint32_t) unfit;    // nodes whose operands have shapes that do not go together: they fail
    struct arena scratch;   // of one node's conversion
    struct lockstep_part part;
    int depth;                 // of subgraphs: what is within is thrown away
    VEC(const void *) known;   // by tensor: what an opaque node makes at this binding; NULL: not known
};

// A node of the graph that is imported.
static inline const struct onnx_node *node_at(const struct conversion *c, uint32_t index)
{
    return c->importer->source->nodes.items[index];
}

void importer_init(struct importer *im, struct imported_model *m, struct onnx_file *file,
                   const struct import_options *options, struct error *error);
void importer_free(struct importer *im);

// ---- types that ONNX states, as types of the graph ----

// The type that ONNX states: bound symbols have their sizes, unknown parts are unknown.
struct type type_from_onnx(const struct importer *im, const struct onnx_type *t);
struct type type_of_tensor(const struct onnx_tensor *t);
struct type type_within_limits(struct type t);   // of unknown rank when it has more than MAX_ELEMENTS

// ---- names of values: who they are, how often they are used, and which of them subgraphs reach out for ----

typedef VEC(const struct onnx_string *) name_list;
// Adds the names that nodes inside of a message read, and then those that graphs inside of it give, but no empty ones.
void names_add_read(const struct onnx_descriptor *d, const void *message, name_list *names);
struct named_value *name_find(const struct importer *im, const struct onnx_string *name);   // NULL: unknown
struct named_value *name_enter(struct importer *im, const struct onnx_string *name);        // finds or adds
// A flag for every node of the model's graph: does an output of the model depend on it? In the importer's scratch.
const bool *names_find_live(struct importer *im);
void names_count_uses(struct importer *im, const bool *is_live);   // of live nodes
// The outer values that subgraphs of `n` use, in order of first use, each once; allocated in the model's arena.
const char **names_captured_by(struct importer *im, const struct onnx_node *n, uint32_t *ret_count);
