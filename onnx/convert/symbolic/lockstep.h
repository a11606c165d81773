// What import in lockstep shares. Private to onnx.
#pragma once
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
    const void **values[N_PROBES];   // of the node's outputs, where an attempt made them known; NULL: it did not
    size_t n_opaque;                 // nodes that are kept though they compute with no shapes
    const bool *is_denied;           // by node: it is kept, and nothing is known of what it makes
};

static inline const struct graph *graph_of(const struct lockstep *l, int k)
{
    return &l->models[k]->graph;
}

// --- lockstep.c ------------------------------------------------------------------------------------------------------
bool import_everywhere(struct lockstep *l);                                   // into all models
const void *lockstep_weight(const struct lockstep *l, int k, size_t index);   // its elements; NULL: there are none

// --- lockstep_check.c ------------------------------------------------------------------------------------------------
// Are there nodes that are something else at other bindings than the probes? They are added to the denied ones.
bool find_unknown_elsewhere(struct lockstep *l, bool *is_denied);

// --- size_limits.c ---------------------------------------------------------------------------------------------------
// Lowers the sizes that symbols, of which all are multiples of these units, may have at most, to what tables allow that
// are cut or gathered from by sizes at the probes. False: all probes are within.
bool find_size_limits(struct lockstep *l, const int64_t *units, int64_t *most);

// --- size_multiples.c ------------------------------------------------------------------------------------------------
// Of each symbol a number that divides all sizes at which the model has results; mostly one.
void find_units(const struct imported_model *named, struct onnx_file *file, const struct import_options *options,
                int64_t *ret_units);

// --- shape_arithmetic.c ----------------------------------------------------------------------------------------------
// Is what the node at hand makes of known values the same function of the symbols at all bindings?
bool is_arithmetic_of_shapes(struct lockstep *l);
bool makes_integers(const struct lockstep *l);   // its first output
// Is this, by its values at the probes, a function of the symbols that is below zero at no sizes?
bool is_never_negative(struct lockstep *l, const int64_t *at);
