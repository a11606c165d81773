// Models whose symbols stay: at which bindings they are imported in lockstep, and which nodes are kept for their sizes.
#include "core/text/error.h"
#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/constant_cache.h"
#include "onnx/convert/symbolic/lockstep.h"
#include "onnx/convert/symbolic/lockstep_check.h"
#include "onnx/convert/symbolic/size_limits.h"
#include "onnx/convert/symbolic/size_multiples.h"
#include "onnx/format/check.h"

#include <string.h>

// --- bindings --------------------------------------------------------------------------------------------------------
// What a model allows is not known. Most go with sizes of all kinds, some with a few hundred (positions are learned for
// so many), some with less. One of the bindings is larger than what models compare sizes with, where that is allowed.

#define N_RANGES 3
#define SMALL_PROBE 2   // the least sizes; that of the first symbol has many divisors
#define MOST_ATTEMPTS 12

static const int64_t ranges[N_RANGES][N_PROBES] = {
    {211, 150, 96, 331, 5003}, {101, 70, 32, 83, 397}, {13, 10, 8, 11, 29}};

// One attempt: at which sizes, and what came of it.
struct attempt {
    const struct imported_model *named;   // has the symbols
    struct onnx_file *file;
    const struct import_options *options;
    int range;
    int64_t units[MAX_SYMBOLS];
    int64_t first[MAX_SYMBOLS];   // sizes at the first probe
    struct size_limits limits;    // as far as they are known
    bool *is_denied;              // by node; may become more
    size_t n_opaque;
    bool is_told_apart, is_true_elsewhere;
    bool is_limited;      // a table was found to be shorter than the sizes that were tried
    bool has_no_limits;   // they are not to be looked for
};

// Of a symbol that the model's tables limit: parts of the largest size, in another order for each symbol. The last
// probe has all of them.
static int64_t size_within(int64_t most, size_t symbol, int k)
{
    static const int64_t sixteenths[] = {11, 6, 13};
    int64_t size = most * sixteenths[(symbol + (size_t)k) % 3] / 16;
    return k == N_PROBES - 1 ? most : size > 0 ? size : 1;
}

static void choose_probes(struct sizes *s, const struct attempt *a)
{
    const int64_t *sizes = ranges[a->range];
    for (size_t i = 0; i < a->named->symbols.count; i++) {
        int64_t at[N_PROBES] = {a->first[i]}, unit = a->units[i], most = a->limits.most[i];
        for (int k = 1; k < N_PROBES; k++) {
            int64_t size = sizes[k] + (int64_t)i * (k < 3 ? k + (k == 2) : sizes[k] / 13);
            at[k] = (size + unit - 1) / unit * unit;
        }
        for (int k = 1; most < at[N_PROBES - 1] && k < N_PROBES; k++)
            at[k] = (size_within(most, i, k) + unit - 1) / unit * unit;
        sizes_add_symbol(s, unit, at);
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

// After what was seen at sizes which are not told apart, or of the symbols alone.
static bool choose_first(struct attempt *a, const struct sizes *seen, int n_attempts)
{
    const struct size_limits *limits = &a->limits;
    return sizes_find_first_probe(seen, ranges[a->range][0] + n_attempts, limits->found.items, limits->found.count,
                                  a->first);
}

// The model of the first probe.
static bool import_at(struct imported_model *ret_model, struct attempt *a)
{
    struct lockstep l = {.is_denied = a->is_denied, .sizes = &ret_model->sizes};
    struct error ignored = {0};
    struct imported_model others[N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        l.models[k] = k == 0 ? ret_model : &others[k];
        importer_init(&l.importers[k], l.models[k], a->file, a->options, &ignored);
        l.importers[k].peers = l.importers;
        l.importers[k].named = ret_model;
        l.importers[k].probe = k;
    }
    for (size_t i = 0; i < a->named->symbols.count; i++) {
        struct imported_symbol symbol = a->named->symbols.items[i];
        symbol.name = arena_string(&ret_model->arena, symbol.name);
        vec_push(&ret_model->symbols, symbol);
    }
    choose_probes(l.sizes, a);
    bool is_imported = import_everywhere(&l);
    a->is_told_apart = is_imported && sizes_are_told_apart(l.sizes);
    a->is_limited = is_imported && !a->has_no_limits && find_size_limits(&l, a->units, &a->limits);
    a->is_true_elsewhere = a->is_told_apart && !a->is_limited && !find_unknown_elsewhere(&l, a->is_denied);
    a->n_opaque = l.n_opaque;
    others[0] = *ret_model;
    free_all(&l, others, is_imported ? 1 : 0);
    return is_imported;
}

// Numbers of the model that a symbol's prime divides would be taken for it, so that other primes are tried; and what is
// something else elsewhere is denied. False: no sizes are told apart, or inputs would be larger than any memory, or
// tables are shorter than the sizes that were tried (is_limited).
static bool import_within(struct imported_model *ret_model, struct attempt *a)
{
    size_t n_nodes = a->file->model->graph->nodes.count + 1;
    struct sizes symbols = {0};
    choose_probes(&symbols, a);
    a->is_denied = mem_alloc_zero(n_nodes);
    a->is_true_elsewhere = a->is_limited = false;
    bool has_first = choose_first(a, &symbols, 0);
    for (int n = 1; n <= MOST_ATTEMPTS && has_first && !a->is_true_elsewhere; n += !a->is_told_apart) {
        if (!import_at(ret_model, a))
            break;
        if (!a->is_told_apart)
            has_first = choose_first(a, &ret_model->sizes, n);
        if (!a->is_true_elsewhere)
            imported_model_free(ret_model);
        if (a->is_limited)
            break;
    }
    sizes_free(&symbols);
    mem_free(a->is_denied, n_nodes);
    return a->is_true_elsewhere;
}

// Where no sizes within the limits are told apart there are none.
static bool import_at_range(struct imported_model *ret_model, struct attempt *a)
{
    bool is_imported = import_within(ret_model, a), had_limits = a->is_limited;
    for (int n = 0; a->is_limited && n < MOST_ATTEMPTS; n++)
        is_imported = import_within(ret_model, a);
    if (is_imported || !had_limits)
        return is_imported;
    a->has_no_limits = true;
    size_limits_forget(&a->limits);
    return import_within(ret_model, a);
}

static int64_t least_small_size(const struct sizes *s)
{
    int64_t least = s->probes[SMALL_PROBE][0];
    for (uint32_t j = 1; j < s->n_symbols; j++)
        least = s->probes[SMALL_PROBE][j] < least ? s->probes[SMALL_PROBE][j] : least;
    return least;
}

// Nodes that would be no opaque ones if the symbols had sizes, but for arithmetic of shapes: all symbols the same one,
// which many numbers divide, so that what fits together for some sizes does, and which all tables allow.
static bool find_kept_for_sizes(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                                struct error *error)
{
    struct imported_model bound, named = *m;
    struct importer im;
    for (uint32_t j = 0; j < m->sizes.n_symbols; j++)
        named.sizes.probes[0][j] = least_small_size(&m->sizes);
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
    struct attempt a = {.named = named, .file = file, .options = options};
    size_t n_opaque = SIZE_MAX;
    find_units(named, file, options, a.units);
    size_limits_forget(&a.limits);
    for (; a.range < N_RANGES && n_opaque > 0; a.range++) {
        struct imported_model next;
        a.has_no_limits = false;
        if (!import_at_range(&next, &a))
            continue;
        struct imported_model *worse = a.n_opaque >= n_opaque ? &next : n_opaque < SIZE_MAX ? ret_model : NULL;
        if (worse)
            imported_model_free(worse);
        if (worse == &next)
            continue;
        *ret_model = next;
        ret_model->graph.arena = &ret_model->arena;
        n_opaque = a.n_opaque;
    }
    size_limits_forget(&a.limits);
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

static bool import_with_constants(struct imported_model *m, struct onnx_file *file,
                                  const struct import_options *options, struct error *error)
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

bool import_symbolic(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                     struct error *error)
{
    struct import_options own = *options;
    own.computed = constant_cache_new();
    bool is_imported = import_with_constants(m, file, &own, error);
    if (is_imported)
        m->constants = own.computed;
    else
        constant_cache_free(own.computed);
    return is_imported;
}
