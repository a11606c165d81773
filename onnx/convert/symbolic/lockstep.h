// Import of a model at several bindings of its symbols at once, the probes, and the node at hand. Private to onnx.
#pragma once
#include "core/text/error.h"
#include "onnx/convert/importer.h"

struct lockstep {
    struct importer importers[N_PROBES];
    struct imported_model *models[N_PROBES];
    struct conversion c[N_PROBES];   // of the node at hand
    struct sizes *sizes;
    // Before the node was converted; the same in all.
    struct graph_mark mark;
    size_t n_weights;
    uint32_t n_values;   // weights that stand for known values, the first ones that were added
    bool is_typed;       // what an attempt made of the node's outputs says their types
    struct type *types[N_PROBES];
    const void *values[N_PROBES];   // of the node's only output, where an attempt made it known; NULL: it did not
    const bool *is_denied;          // by node: it is kept, and nothing is known of what it makes
};

static inline const struct graph *graph_of(const struct lockstep *l, int k)
{
    return &l->models[k]->graph;
}

// The values that the model computes from sizes for a tensor at a probe; NULL: that is not known.
static inline const void *known_at(const struct lockstep *l, int k, tensor_id t)
{
    const struct importer *im = &l->importers[k];
    return t != NO_TENSOR && t < im->known.count ? im->known.items[t] : NULL;
}

// An expression of k at each probe: `EACH_PROBE(int64_t, at, k, types[k]->dim[axis]);`
#define EACH_PROBE(T, name, k, ...)                                                                                    \
    T name[N_PROBES];                                                                                                  \
    for (int k = 0; k < N_PROBES; k++)                                                                                 \
    name[k] = (__VA_ARGS__)

static inline bool varies(const int64_t *at)   // a number at all probes
{
    return ANY(int, k, N_PROBES, at[k] != at[0]);
}

bool import_everywhere(struct lockstep *l);   // into all models
