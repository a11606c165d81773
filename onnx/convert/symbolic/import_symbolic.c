// Models whose symbols stay: at which bindings they are imported in lockstep, and which nodes are kept for their sizes.
#include "onnx/convert/symbolic/import_symbolic.h"

#include "core/numbers/random.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/constant_cache.h"
#include "onnx/convert/import/import.h"
#include "onnx/convert/symbolic/at_binding.h"
#include "onnx/convert/symbolic/lockstep_check.h"
#include "onnx/format/check.h"

#include <string.h>

// --- bindings --------------------------------------------------------------------------------------------------------
// The last one is larger than what models compare sizes with. Where tensors are larger than any memory, smaller ones
// are tried.

#define N_RANGES 3
#define SMALL_PROBE 2   // the least sizes; that of the first symbol has many divisors
#define MOST_ATTEMPTS 12

static const int64_t ranges[N_RANGES][N_PROBES] = {
    {211, 150, 96, 331, 5003}, {101, 70, 32, 83, 397}, {13, 10, 8, 11, 29}};

// An attempt: at which sizes, and what came of it.
struct attempt {
    const struct imported_model *named;   // has the symbols
    struct onnx_file *file;
    const struct import_options *options;
    int range;
    int64_t units[MAX_SYMBOLS];
    int64_t first[MAX_SYMBOLS];   // sizes at the first probe
    bool *is_denied;              // by node; may become more
    bool is_told_apart, is_true_elsewhere;
};

// No symbol is a sum of others at all probes.
static void choose_probes(struct sizes *s, const struct attempt *a)
{
    const int64_t *sizes = ranges[a->range];
    for (size_t i = 0; i < a->named->symbols.list.count; i++) {
        int64_t at[N_PROBES] = {a->first[i]}, n = (int64_t)i, unit = a->units[i];
        for (int k = 1; k < N_PROBES; k++) {
            int64_t size = sizes[k] + n * (k < 3 ? k + (k == 2) : sizes[k] / 13) + n * n * k % N_PROBES;
            at[k] = (size + unit - 1) / unit * unit;
        }
        sizes_add_symbol(s, unit, at);
    }
}

bool import_runs_at(const struct imported_model *m, const struct import_options *options, const int64_t *binding)
{
    struct import_options own = *options;
    own.computed = options->computed ? options->computed : m->constants;
    return at_binding_try(m, m->file, &own, binding) == RUNS;
}

void import_fit_binding(const struct imported_model *m, const struct import_options *options, int64_t *binding)
{
    int64_t smaller[MAX_SYMBOLS] = {0}, largest = LARGEST(int64_t, 1, size_t, i, m->symbols.list.count, binding[i]);
    for (int64_t by = 1; by <= largest; by *= 2) {
        for (size_t i = 0; i < m->symbols.list.count; i++)
            smaller[i] = sizes_round_up(&m->symbols.sizes, (uint32_t)i, binding[i] / by > 1 ? binding[i] / by : 1);
        if (import_runs_at(m, options, smaller)) {
            memcpy(binding, smaller, m->symbols.list.count * sizeof *binding);
            return;
        }
    }
}

// --- multiples -------------------------------------------------------------------------------------------------------
// Symbols whose sizes have to be multiples of a power of two: of a network that halves an image and doubles it, to be
// joined with what it was, no other height has a result. They are found by what fails: the model has nodes whose
// operands do not go together at each size between two multiples that is tried, and none at a multiple. A unit is a
// claim about sizes at which the model fails alone, so what is said of the others holds for every run that has a
// result. One size between two multiples that has a result, alone or beside sizes of other symbols that are no
// multiples either, and there is no unit.

#define MOST_UNIT 64
#define ODD_SIZE 131
#define SMALL_SIZES 96   // all of them: windows make single rows of small images, which go with any number of rows
#define N_MIXTURES 24    // of sizes of all symbols
#define MOST_MIXED 400

// Sizes beyond what models cut tables at.
static const int64_t larger_sizes[] = {5 * MOST_UNIT, 1600 * MOST_UNIT};

struct unit_search {
    struct onnx_file *file;
    const struct import_options *options;
    const struct imported_model *named;
    int64_t binding[MAX_SYMBOLS];
};

static enum outcome try_binding(const struct unit_search *s)
{
    return at_binding_try(s->named, s->file, s->options, s->binding);
}

// All others are multiples of whatever is tried.
static enum outcome try_size(struct unit_search *s, size_t symbol, int64_t size)
{
    for (size_t i = 0; i < s->named->symbols.list.count; i++)
        s->binding[i] = i == symbol ? size : MOST_UNIT * (int64_t)(i + 2);
    return try_binding(s);
}

static bool fails_between(struct unit_search *s, size_t symbol, int64_t unit)
{
    for (int64_t size = 1; size < SMALL_SIZES; size++)
        if (size % unit && try_size(s, symbol, size) != FAILS)
            return false;
    for (size_t i = 0; i < sizeof larger_sizes / sizeof *larger_sizes; i++)
        for (int64_t rest = 1; rest < unit; rest++)
            if (try_size(s, symbol, larger_sizes[i] + rest) != FAILS)
                return false;
    return true;
}

// Sizes of all symbols at once, of which one at least is no multiple.
static bool fails_at_mixtures(struct unit_search *s, const int64_t *units)
{
    struct random random = random_seed(1);
    for (int n = 0; n < N_MIXTURES; n++) {
        bool are_multiples = true;
        for (size_t i = 0; i < s->named->symbols.list.count; i++) {
            s->binding[i] = 1 + (int64_t)random_below(&random, MOST_MIXED);
            are_multiples &= s->binding[i] % units[i] == 0;
        }
        if (!are_multiples && try_binding(s) != FAILS)
            return false;
    }
    return true;
}

static int64_t unit_of(struct unit_search *s, size_t symbol)
{
    for (int64_t unit = 1; unit <= MOST_UNIT; unit *= 2)
        if (try_size(s, symbol, unit * ODD_SIZE) == RUNS)
            return fails_between(s, symbol, unit) ? unit : 1;
    return 1;
}

// A number for each symbol that divides all sizes at which the model has results; mostly one.
static void find_units(const struct imported_model *named, struct onnx_file *file, const struct import_options *options,
                       int64_t *ret_units)
{
    struct unit_search s = {.file = file, .options = options, .named = named};
    for (size_t i = 0; i < named->symbols.list.count; i++) {
        ret_units[i] = 1;
        s.binding[i] = ODD_SIZE + 2 * (int64_t)i;
    }
    if (try_binding(&s) != FAILS || try_size(&s, SIZE_MAX, 0) != RUNS)
        return;
    for (size_t i = 0; i < named->symbols.list.count; i++)
        ret_units[i] = unit_of(&s, i);
    bool are_units = fails_at_mixtures(&s, ret_units);
    for (size_t i = 0; !are_units && i < named->symbols.list.count; i++)
        ret_units[i] = 1;
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

// Chooses by what was seen at sizes which are not told apart, or by the symbols alone.
static bool choose_first(struct attempt *a, const struct sizes *seen, int n_attempts)
{
    return sizes_find_first_probe(seen, ranges[a->range][0] + n_attempts, a->first);
}

// The model of the first probe.
static bool import_at(struct imported_model *ret_model, struct attempt *a)
{
    struct lockstep l = {.is_denied = a->is_denied, .sizes = &ret_model->symbols.sizes};
    struct error ignored = {0};
    struct imported_model others[N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        l.models[k] = k == 0 ? ret_model : &others[k];
        importer_init(&l.importers[k], l.models[k], a->file, a->options, &ignored);
        l.importers[k].part.peers = l.importers;
        l.importers[k].part.named = ret_model;
        l.importers[k].part.binding = ret_model->symbols.sizes.probes[k];
    }
    for (size_t i = 0; i < a->named->symbols.list.count; i++) {
        struct imported_symbol symbol = a->named->symbols.list.items[i];
        symbol.name = arena_string(&ret_model->arena, symbol.name);
        vec_push(&ret_model->symbols.list, symbol);
    }
    choose_probes(l.sizes, a);
    bool is_imported = import_everywhere(&l);
    a->is_told_apart = is_imported && sizes_are_told_apart(l.sizes);
    a->is_true_elsewhere = a->is_told_apart && !find_unknown_elsewhere(&l, a->is_denied);
    others[0] = *ret_model;
    free_all(&l, others, is_imported ? 1 : 0);
    return is_imported;
}

// Numbers of the model that a symbol's prime divides would be taken for it, so that other primes are tried; and what is
// something else elsewhere is denied. False: no sizes are told apart, or inputs would be larger than any memory.
static bool import_at_range(struct imported_model *ret_model, struct attempt *a)
{
    size_t n_nodes = a->file->model->graph->nodes.count + 1;
    struct sizes symbols FREED_BY(sizes_free) = {0};
    choose_probes(&symbols, a);
    a->is_denied = mem_alloc_zero(n_nodes);
    a->is_true_elsewhere = false;
    bool has_first = choose_first(a, &symbols, 0);
    for (int n = 1; n <= MOST_ATTEMPTS && has_first && !a->is_true_elsewhere; n += !a->is_told_apart) {
        if (!import_at(ret_model, a))
            break;
        if (!a->is_told_apart)
            has_first = choose_first(a, &ret_model->symbols.sizes, n);
        if (!a->is_true_elsewhere)
            imported_model_free(ret_model);
    }
    mem_free(a->is_denied, n_nodes);
    return a->is_true_elsewhere;
}

// Nodes that would be no opaque ones if the symbols had sizes, but for arithmetic of shapes: all symbols the same one,
// which many numbers divide, so that what fits together for some sizes does, and at which the model has a result.
static void find_kept_for_sizes(struct imported_model *m, struct onnx_file *file, const struct import_options *options)
{
    struct at_binding there FREED_BY(at_binding_free);
    int64_t binding[MAX_SYMBOLS];
    for (uint32_t j = 0; j < m->symbols.sizes.n_symbols; j++)
        binding[j] = sizes_round_up(&m->symbols.sizes, j, m->symbols.sizes.probes[SMALL_PROBE][0]);
    import_fit_binding(m, options, binding);
    at_binding_import(&there, m, file, options, binding);
    bool *is_opaque = arena_array(&there.model.arena, bool, file->model->graph->nodes.count + 1);
    for (size_t i = 0; i < there.model.opaques.count; i++)
        is_opaque[there.model.opaques.items[i].node] = true;
    for (size_t i = 0; i < m->opaques.count; i++)
        m->opaques.items[i].is_kept_for_sizes &= !is_opaque[m->opaques.items[i].node];
}

static void find_bindings(struct imported_model *m, const struct import_options *options)
{
    for (int i = 0; i < N_RESULT_BINDINGS; i++) {
        memcpy(m->symbols.bindings[i], m->symbols.sizes.probes[i ? N_PROBES - 1 : 0], sizeof m->symbols.bindings[i]);
        import_fit_binding(m, options, m->symbols.bindings[i]);
    }
}

// An import at the largest sizes that fit into memory. False: there are none.
static bool import_somewhere(struct imported_model *m, const struct imported_model *named, struct onnx_file *file,
                             const struct import_options *options)
{
    struct attempt a = {.named = named, .file = file, .options = options};
    bool is_imported = false;
    find_units(named, file, options, a.units);
    for (; a.range < N_RANGES && !is_imported; a.range++)
        is_imported = import_at_range(m, &a);
    return is_imported;
}

// The symbols of a model, in one that holds nothing else.
static bool name_symbols(struct imported_model *ret_named, struct onnx_file *file, const struct import_options *options,
                         bool *ret_has_some, struct error *error)
{
    struct importer im FREED_BY(importer_free);
    importer_init(&im, ret_named, file, options, error);
    struct type *types = arena_array(&im.scratch, struct type, im.source->inputs.count + 1);
    bool is_bound = bind_shapes(&im, types);
    *ret_has_some = is_bound && find_symbols(&im, types, ret_named) && ret_named->symbols.list.count > 0;
    return is_bound;
}

static bool import_with_symbols(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                                struct error *error)
{
    struct imported_model named FREED_BY(imported_model_free) = {0};
    bool has_symbols;
    if (!onnx_model_check(file->model, file->path, error) || !name_symbols(&named, file, options, &has_symbols, error))
        return false;
    if (!has_symbols || !import_somewhere(m, &named, file, options))
        return import_model(m, file, options, error);
    find_kept_for_sizes(m, file, options);
    find_bindings(m, options);
    return true;
}

bool import_symbolic(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                     struct error *error)
{
    struct import_options own = *options;
    own.computed = constant_cache_new();
    bool is_imported = import_with_symbols(m, file, &own, error);
    log_info(own.log, "constants were computed in %.0f operations", constant_cache_operations(own.computed));
    if (is_imported)
        m->constants = own.computed;
    else
        constant_cache_free(own.computed);
    return is_imported;
}
