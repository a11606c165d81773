// Models whose symbols stay: at which bindings they are imported in lockstep, and which nodes are kept for their sizes.
#include "core/text/error.h"
#include "onnx/convert/lockstep.h"

#include <string.h>

// --- bindings --------------------------------------------------------------------------------------------------------
// What a model allows is not known. Most go with sizes of all kinds, some with a few hundred (positions are learned for
// so many), some with less. One of the bindings is larger than what models compare sizes with, where that is allowed.

#define N_RANGES 3
#define SMALL_PROBE 2   // the least sizes; that of the first symbol has many divisors
#define MOST_SHIFTS 12

static const int64_t ranges[N_RANGES][N_PROBES] = {
    {211, 150, 96, 331, 5003}, {101, 70, 32, 83, 397}, {13, 10, 8, 11, 29}};

static bool is_prime(int64_t n)
{
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return true;
}

// At the first probe symbols are different primes, later ones where others are not told apart from the model's numbers.
static void choose_probes(struct sizes *s, size_t n_symbols, int range, int shift)
{
    int64_t prime = ranges[range][0];
    for (int skipped = 0; skipped < shift; skipped++)
        do
            prime++;
        while (!is_prime(prime));
    for (size_t i = 0; i < n_symbols; i++) {
        int64_t at[N_PROBES] = {prime};
        for (int k = 1; k < N_PROBES; k++)
            at[k] = ranges[range][k] + (int64_t)i * (k + (k == 2));
        sizes_add_symbol(s, at);
        do
            prime++;
        while (!is_prime(prime));
    }
}

// --- the model -------------------------------------------------------------------------------------------------------

static void free_all(struct lockstep *l, struct imported_model *models, int first)
{
    for (int k = 0; k < N_PROBES; k++) {
        importer_free(&l->importers[k]);
        if (k >= first)
            imported_model_free(&models[k]);
    }
}

// At one range of sizes: the model of the first probe. Its symbols are given.
static bool import_at(struct imported_model *ret_model, const struct imported_model *named, int range, int shift,
                      struct onnx_file *file, const struct import_options *options, size_t *ret_opaque,
                      struct error *error)
{
    struct lockstep l = {0};
    struct imported_model others[N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        l.models[k] = k == 0 ? ret_model : &others[k];
        importer_init(&l.importers[k], l.models[k], file, options, error);
        l.importers[k].peers = l.importers;
        l.importers[k].named = ret_model;
        l.importers[k].probe = k;
    }
    for (size_t i = 0; i < named->symbols.count; i++) {
        struct imported_symbol symbol = named->symbols.items[i];
        symbol.name = arena_string(&ret_model->arena, symbol.name);
        vec_push(&ret_model->symbols, symbol);
    }
    l.sizes = &ret_model->sizes;
    choose_probes(l.sizes, named->symbols.count, range, shift);
    bool is_imported = import_everywhere(&l);
    others[0] = *ret_model;
    free_all(&l, others, is_imported ? 1 : 0);
    *ret_opaque = l.n_opaque;
    return is_imported;
}

// Numbers of the model that a symbol's prime divides would be taken for it. False: no sizes are told apart, or inputs
// would be larger than any memory.
static bool import_told_apart(struct imported_model *ret_model, const struct imported_model *named, int range,
                              struct onnx_file *file, const struct import_options *options, size_t *ret_opaque)
{
    struct error ignored = {0};
    for (int shift = 0; shift < MOST_SHIFTS; shift++) {
        if (!import_at(ret_model, named, range, shift, file, options, ret_opaque, &ignored))
            return false;
        if (sizes_are_told_apart(&ret_model->sizes))
            return true;
        imported_model_free(ret_model);
    }
    return false;
}

// Nodes that would be no opaque ones if the symbols had sizes, but for arithmetic of shapes: all symbols the same one,
// which many numbers divide, so that what fits together for some sizes does.
static bool find_kept_for_sizes(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                                struct error *error)
{
    struct imported_model bound, named = *m;
    struct importer im;
    for (uint32_t j = 0; j < m->sizes.n_symbols; j++)
        named.sizes.probes[0][j] = m->sizes.probes[SMALL_PROBE][0];
    importer_init(&im, &bound, file, options, error);
    im.named = &named;
    bool is_imported = import_graph(&im);
    importer_free(&im);
    bool *is_opaque = arena_array(&bound.arena, bool, file->model->graph->nodes.count + 1);
    for (size_t i = 0; i < bound.opaques.count; i++)
        is_opaque[bound.opaques.items[i].node] = true;
    for (size_t i = 0; i < m->opaques.count; i++)
        m->opaques.items[i].is_kept_for_sizes &= !is_opaque[m->opaques.items[i].node];
    imported_model_free(&bound);
    return is_imported;
}

// At the range of sizes at which the least is kept. False: there is none.
static bool import_best(struct imported_model *ret_model, const struct imported_model *named, struct onnx_file *file,
                        const struct import_options *options)
{
    size_t n_opaque = SIZE_MAX, n_next;
    for (int range = 0; range < N_RANGES && n_opaque > 0; range++) {
        struct imported_model next;
        if (!import_told_apart(&next, named, range, file, options, &n_next))
            continue;
        struct imported_model *worse = n_next >= n_opaque ? &next : n_opaque < SIZE_MAX ? ret_model : NULL;
        if (worse)
            imported_model_free(worse);
        if (worse == &next)
            continue;
        *ret_model = next;
        ret_model->graph.arena = &ret_model->arena;
        n_opaque = n_next;
    }
    return n_opaque < SIZE_MAX;
}

// The symbols of a model, in one that holds nothing else.
static bool name_symbols(struct imported_model *ret_named, struct onnx_file *file, const struct import_options *options,
                         bool *ret_has_some, struct error *error)
{
    struct importer im;
    importer_init(&im, ret_named, file, options, error);
    struct type *types = arena_array(&im.scratch, struct type, im.source->inputs.count + 1);
    bool is_bound = bind_shapes(&im, types);
    *ret_has_some = is_bound && find_symbols(&im, types, ret_named) && ret_named->symbols.count > 0;
    importer_free(&im);
    return is_bound;
}

bool import_symbolic(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                     struct error *error)
{
    struct imported_model named;
    bool has_symbols;
    if (!onnx_model_check(file->model, file->path, error))
        return false;
    bool is_done = name_symbols(&named, file, options, &has_symbols, error);
    bool has_kept = is_done && has_symbols && import_best(m, &named, file, options);
    imported_model_free(&named);
    if (!is_done || !has_kept)
        return is_done && import_model(m, file, options, error);
    if (find_kept_for_sizes(m, file, options, error))
        return true;
    imported_model_free(m);
    return false;
}
