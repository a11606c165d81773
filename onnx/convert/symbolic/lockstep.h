// The interface that the files of import in lockstep share. Private to onnx.
#pragma once
#include "core/text/error.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/weights.h"

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
    const void **values[N_PROBES];   // of the node's outputs, where an attempt made them known; NULL: it did not
    const bool *is_denied;           // by node: it is kept, and nothing is known of what it makes
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

static inline bool varies(const int64_t *at)   // a number at all probes
{
    for (int k = 1; k < N_PROBES; k++)
        if (at[k] != at[0])
            return true;
    return false;
}

bool import_everywhere(struct lockstep *l);   // into all models
