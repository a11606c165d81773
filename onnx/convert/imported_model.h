// An imported model: a graph of the project's operators, and what export needs to go back (import/import.h,
// export/export.h).
//
// Import builds one canonical form: shapes are known, broadcasts explicit, pads numbers, biases additions, batch
// normalization folded into the convolution before it, constants computed up to a limit, identities gone. Whatever it
// cannot express so is an opaque node, and so is whatever depends on a type that nobody knows.
//
// Nothing is lost by that: import remembers for each tensor of the graph the ONNX value and node that it came from, by
// its value key. Export writes the original node for every part of the graph that still is as it was
// imported, and new nodes only where a rewrite changed something.
#pragma once
#include "expressions/value.h"
#include "graph/sizes.h"
#include "onnx/format/model.h"

struct log;

struct import_options {
    const char *const *shapes;   // "name=1,3,224,224" for an input, or "symbol=8" for a symbolic dimension
    size_t shape_count;
    int64_t fold_limit;      // elements of the largest tensor that is computed at import
    bool expands;            // what is kept for the kernels of runtimes (quantization, recurrences) becomes what it
                             // computes: for graphs that are run here and not written
    bool keeps_rounding;     // nodes that mean rounding, or infinities, are kept as they are: nobody checks the result
    const struct log *log;   // may be NULL
    struct constant_cache *computed;   // of import_symbolic alone, which imports several times
};
#define IMPORT_FOLD_LIMIT (1 << 20)

// An input or output of the model, in the model's order. Inputs that only give initializers their names are not listed.
struct imported_value {
    const char *name;
    tensor_id tensor;
};
// The weight of a `weight` leaf with this index. Elements are in the machine's form, contiguous, see
// imported_weight_data.
struct imported_weight {
    const char *name;   // NULL when computed
    struct type type;
    const struct onnx_tensor *tensor;          // an initializer or a Constant node's value; NULL otherwise
    const struct onnx_sparse_tensor *sparse;   // a sparse initializer; NULL otherwise
    const void *data;                          // NULL until imported_weight_data was called
    const void *borrowed;                      // what is acquired; NULL while it is not
    struct arena copy;                         // of what is acquired and does not stand in the file as it is used
    size_t n_users;                            // acquired so many times more than released
    bool is_of_binding;                        // a value that another binding of symbols changes; nothing reads it
};
// A dimension of inputs that has no number: what the model calls it, or INPUT[AXIS], and where its size can be read.
struct imported_symbol {
    const char *name;
    size_t input;   // in the model's inputs, as imported
    int axis;
};
// The ONNX node of an `opaque` node with this index. Its inputs are the node's inputs that are not omitted, then the
// outer values that its subgraphs use.
struct imported_opaque {
    uint32_t node;            // index in the model's graph
    const char *reason;       // why it is opaque
    bool is_kept_for_sizes;   // that are not known, and else it would not be
    const char *symbols;      // that the sizes of its inputs depend on; NULL or empty: none
    tensor_id first_output;
    uint32_t n_outputs;
    uint32_t n_inputs;   // those that are not omitted
    uint32_t n_captured;
    const char **captured;   // names of the outer values
};
// The place that a tensor of the imported graph came from.
struct imported_origin {
    tensor_id tensor;
    const char *name;   // the first ONNX value that is this tensor
    uint32_t node;      // the ONNX node that produces it as it stands, or NO_ORIGIN
    uint32_t output;
};
#define N_RESULT_BINDINGS 2
// Runs one node on given inputs, as graph_evaluate_node does (graph/evaluate.h).
typedef bool run_node_fn(void *context, const struct graph *g, node_id n, const struct tensor_value *inputs,
                         struct tensor_value *ret_outputs, struct arena *arena, struct error *error);
struct node_runner {
    run_node_fn *run;   // computes constants; NULL: the reference
    void *context;
};
struct imported_origins {
    VEC(struct imported_origin) list;
    struct table by_value;           // value key -> index in these
    const tensor_id **node_inputs;   // tensor of every input of every ONNX node (NO_TENSOR when omitted), and one more:
                                     // of an input that it omits, and was given by what came to be a part of it
};
// The dimensions that have no number.
struct imported_symbols {
    VEC(struct imported_symbol) list;   // of `sizes`
    struct sizes sizes;                 // of import_symbolic: the graph is that of the first probe
    size_t n_unbound;                   // inputs with dimensions that are symbolic and not bound
    int64_t bindings[N_RESULT_BINDINGS]
                    [MAX_SYMBOLS];   // at which it has a result, as far as some were found: the first and
                                     // the last probe, or as many times less as its tables allow
};
// Simplifications that import made.
struct import_counts {
    size_t folded, identities, normalizations;
};
struct imported_model {
    struct onnx_file *file;
    struct node_runner runner;
    struct arena arena;                 // of the graph and everything below
    struct constant_cache *constants;   // of import_symbolic: elements of weights; NULL: there are none
    struct graph graph;
    VEC(struct imported_value) inputs;
    VEC(struct imported_value) outputs;
    VEC(struct imported_weight) weights;
    VEC(struct imported_opaque) opaques;
    struct imported_origins origins;
    const char *const *rule_names;   // by number, of the rules that rewrite the graph; NULL: not to be told
    uint32_t n_rule_names;
    int64_t opset;   // version of the standard operator set
    struct imported_symbols symbols;
    struct import_counts counts;
};

void imported_model_free(struct imported_model *m);
// The origin of a tensor with this value key; NULL when it is none of the model's.
const struct imported_origin *imported_model_find_origin(const struct imported_model *m, uint64_t value);
// An output of a node of the model, or a leaf (NO_ORIGIN), unless the value has an origin already.
void origin_remember(struct imported_model *m, tensor_id tensor, const char *name, uint32_t node, uint32_t output);

// ---- weights: leaves of the graph whose elements are known ----

// All elements of a weight, contiguous, in the form of its element type, aligned: a view into the file where possible.
// False with an error for weights without elements known to us (strings, sparse).
bool imported_weight_data(struct imported_model *m, size_t index, const void **ret_data, struct error *error);
const void *weight_elements(struct imported_model *m, struct imported_weight *w);   // the same; NULL: it has none
// imported_weight_data for as long as it is not released as often: copies are given back then, and pages of the file.
bool imported_weight_acquire(struct imported_model *m, size_t index, const void **ret_data, struct error *error);
void imported_weight_release(struct imported_model *m, size_t index, const void *data);
// The data of a weight that is none of the model's is taken as it is and must live in the model's arena.
tensor_id weight_add(struct imported_model *m, struct imported_weight weight);
// NULL: it is no weight leaf.
static inline struct imported_weight *weight_of(const struct imported_model *m, tensor_id tensor)
{
    const struct node *n = graph_producer(&m->graph, tensor);
    return n->op->id == OP_WEIGHT ? &m->weights.items[n->attributes[0].ints[0]] : NULL;
}
