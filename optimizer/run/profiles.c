// Profiles: from the options, or from where a symbol stands; and random sizes near them.
#include "optimizer/run/profiles.h"

#include "core/numbers/random.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/graph_whole.h"
#include "onnx/convert/symbolic/import_symbolic.h"
#include "optimizer/limits.def"
#include "optimizer/run/runnable.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_IN_FRONT = 1, SIZE_OF_IMAGES = 224, SIZE_ELSEWHERE = 128, LEAST_SPREAD = 8, MOST_TRIES = 50 };

// The sizes of one symbol.
struct choice {
    size_t n;
    int64_t sizes[MOST_PROFILES];
};

// --- options ---------------------------------------------------------------------------------------------------------

static bool bad_profile(struct error *error, const char *text, const char *reason)
{
    return error_set_code(error, EXIT_USAGE, NULL, "--profile %s: %s", text, reason);
}

static bool parse_sizes(struct choice *choice, const char *text, const char *at, const char *end, struct error *error)
{
    while (at < end) {
        char *next;
        errno = 0;
        long long size = strtoll(at, &next, 10);
        if (next == at || next > end || errno || size < 1 || size > MAX_ELEMENTS || (next < end && *next != ','))
            return bad_profile(error, text, "has a size that is no number from 1 on");
        if (choice->n == MOST_PROFILES)
            return bad_profile(error, text, "has too many sizes");
        choice->sizes[choice->n++] = size;
        at = next < end ? next + 1 : next;
    }
    return (choice->n > 0 && at[-1] != ',') || bad_profile(error, text, "has no size at its end");
}

// The model has no result where a symbol is no multiple (onnx/convert/size_multiples.c).
static bool are_sizes_allowed(const struct choice *choice, const struct imported_model *m, size_t symbol,
                              const char *text, struct error *error)
{
    uint32_t s = (uint32_t)symbol;
    for (size_t i = 0; i < choice->n; i++)
        if (sizes_round_up(&m->symbols.sizes, s, choice->sizes[i]) != choice->sizes[i])
            return error_set_code(error, EXIT_USAGE, NULL, "--profile %s: %s=%lld is no multiple of %lld, and fails",
                                  text, m->symbols.list.items[symbol].name, (long long)choice->sizes[i],
                                  (long long)sizes_round_up(&m->symbols.sizes, s, 1));
    return true;
}

static bool parse_word(struct choice *choices, const struct imported_model *m, const char *text, const char *word,
                       const char *end, struct error *error)
{
    const char *equals = word;
    while (equals < end && *equals != '=')
        equals++;
    if (equals == end)
        return bad_profile(error, text, "is not SYMBOL=SIZE,SIZE,...");
    for (size_t i = 0; i < m->symbols.list.count; i++) {
        const char *name = m->symbols.list.items[i].name;
        if (strlen(name) == (size_t)(equals - word) && memcmp(name, word, strlen(name)) == 0)
            return choices[i].n ? bad_profile(error, text, "names a symbol for the second time")
                                : parse_sizes(&choices[i], text, equals + 1, end, error) &&
                                      are_sizes_allowed(&choices[i], m, i, text, error);
    }
    return bad_profile(error, text, "names no symbolic dimension that --shape leaves open");
}

static bool parse_option(struct choice *choices, const struct imported_model *m, const char *text, struct error *error)
{
    for (const char *at = text; *at;) {
        const char *end = at + strcspn(at, " ");
        if (end > at && !parse_word(choices, m, text, at, end, error))
            return false;
        at = end + (*end == ' ');
    }
    return true;
}

// --- standard sizes --------------------------------------------------------------------------------------------------

// No larger than what the model was found to allow.
static int64_t standard_size(const struct imported_model *m, size_t symbol)
{
    const struct imported_symbol *s = &m->symbols.list.items[symbol];
    int rank = graph_type(&m->graph, m->inputs.items[s->input].tensor)->rank;
    int64_t size = s->axis == 0 ? SIZE_IN_FRONT : rank == 4 && s->axis >= 2 ? SIZE_OF_IMAGES : SIZE_ELSEWHERE;
    int64_t most = m->symbols.sizes.probes[N_PROBES - 1][symbol];
    return sizes_round_up(&m->symbols.sizes, (uint32_t)symbol, size < most ? size : most);
}

static bool combine(struct size_bindings *b, const struct choice *choices, size_t n_symbols, struct error *error)
{
    b->n_profiles = 1;
    for (size_t i = 0; i < n_symbols; i++) {
        size_t former = b->n_profiles;
        if (former * choices[i].n > MOST_PROFILES)
            return error_set_code(error, EXIT_USAGE, NULL, "--profile: more than %d combinations", MOST_PROFILES);
        b->n_profiles *= choices[i].n;
        for (size_t p = b->n_profiles; p-- > 0;) {
            memcpy(b->profiles[p], b->profiles[p % former], sizeof b->profiles[p]);
            b->profiles[p][i] = choices[i].sizes[p / former];
        }
    }
    return true;
}

// --- what the model allows -------------------------------------------------------------------------------------------

bool profile_is_typed(const struct imported_model *m, const struct cut_plan *plan, const int64_t *binding)
{
    struct cut_plan at = *plan;
    struct graph runnable FREED_BY(graph_free);
    memcpy(at.binding, binding, sizeof at.binding);
    return graph_cut(&runnable, &m->graph, NULL, &at);
}

// The size of a run: all that it reads and makes, weights apart, and scalar operations.
struct run_size {
    double bytes, operations;
};

// Nobody knows what an opaque node computes; most that compute much, a product or a convolution, read each entry of one
// input for entries of another one.
static double operations_of_opaque(const struct imported_model *m, node_id n, const int64_t *binding)
{
    double largest[2] = {0};
    for (uint32_t i = 0; i < m->graph.nodes.items[n].n_inputs; i++) {
        struct type t = sizes_type_at(&m->symbols.sizes, graph_type(&m->graph, graph_inputs(&m->graph, n)[i]), binding);
        double elements = type_is_known(&t) ? (double)type_elements(&t) : 0;
        largest[1] = fmax(largest[1], fmin(largest[0], elements));
        largest[0] = fmax(largest[0], elements);
    }
    return largest[0] * largest[1];
}

// False: it has no types there.
static bool find_run_size(const struct profile_request *r, const int64_t *binding, struct run_size *ret)
{
    const struct imported_model *m = r->model;
    struct cut_plan at = *r->plan;
    struct graph runnable FREED_BY(graph_free);
    struct run_size size = {0};
    memcpy(at.binding, binding, sizeof at.binding);
    if (!graph_cut(&runnable, &m->graph, NULL, &at))
        return false;
    for (tensor_id t = 0; t < runnable.tensors.count; t++)
        if (graph_producer(&runnable, t)->op->id != OP_WEIGHT && type_is_known(graph_type(&runnable, t)))
            size.bytes += (double)type_bytes(graph_type(&runnable, t));
    for (node_id n = 0; n < runnable.nodes.count; n++)
        size.operations += graph_node_flops(&runnable, n);
    for (node_id n = 0; n < m->graph.nodes.count; n++)
        if (m->graph.nodes.items[n].op->id == OP_OPAQUE)
            size.operations += operations_of_opaque(m, n, binding);
    *ret = size;
    return true;
}

static bool is_within(const struct profile_request *r, const int64_t *binding, struct run_size most)
{
    struct run_size size;
    return find_run_size(r, binding, &size) && size.bytes <= most.bytes && size.operations <= most.operations;
}

// The work at sizes that are chosen here: many symbols in one tensor are more memory, and work, than a small model is
// worth.
static struct run_size moderate_size(const struct imported_model *m)
{
    double bytes =
        SUM_ALL(double, size_t, i, m->weights.count, RUNS_OF_WEIGHTS *(double)type_bytes(&m->weights.items[i].type));
    bytes = fmax(bytes, BYTES_OF_SMALL_MODELS);
    return (struct run_size){bytes, OPERATIONS_OF_BYTE * bytes};
}

static int64_t random_size(const struct imported_model *m, size_t symbol, int64_t profile, struct random *random)
{
    int64_t low = profile > LEAST_SPREAD ? profile / 2 + 1 : 1;
    int64_t high = 2 * profile > LEAST_SPREAD ? 2 * profile : LEAST_SPREAD;
    int64_t most = m->symbols.sizes.probes[N_PROBES - 1][symbol];
    high = high < most || most < low ? high : most;
    return sizes_round_up(&m->symbols.sizes, (uint32_t)symbol,
                          low + (int64_t)random_below(random, (uint64_t)(high - low + 1)));
}

static bool is_there_already(const struct size_bindings *b, const int64_t *binding, size_t n_symbols)
{
    size_t bytes = n_symbols * sizeof *binding;
    return ANY(size_t, i, b->n_profiles, memcmp(b->profiles[i], binding, bytes) == 0) ||
           ANY(size_t, i, b->n_checks, memcmp(b->checks[i], binding, bytes) == 0);
}

// Sizes at which the model has a result, where it has one for the profile.
static void choose_checks(struct size_bindings *b, const struct profile_request *r)
{
    const struct imported_model *m = r->model;
    struct random random = random_seed(r->seed ^ UINT64_C(0x73697a6573));
    struct run_size most = moderate_size(m), own;
    bool runs = import_runs_at(m, r->import, b->profiles[0]);
    if (find_run_size(r, b->profiles[0], &own))
        most = (struct run_size){2 * fmax(own.bytes, most.bytes), 2 * fmax(own.operations, most.operations)};
    for (int tries = 0; tries < MOST_TRIES && b->n_checks < N_CHECKS; tries++) {
        int64_t *binding = b->checks[b->n_checks];
        for (size_t i = 0; i < m->symbols.list.count; i++)
            binding[i] = random_size(m, i, b->profiles[0][i], &random);
        b->n_checks += !is_there_already(b, binding, m->symbols.list.count) && is_within(r, binding, most) &&
                       (!runs || import_runs_at(m, r->import, binding));
    }
}

void bindings_drop_check(struct size_bindings *b, size_t check)
{
    memmove(b->checks[check], b->checks[check + 1], (b->n_checks - check - 1) * sizeof b->checks[check]);
    b->n_checks--;
}

// --- together --------------------------------------------------------------------------------------------------------

void profile_print(struct text *out, const struct imported_model *m, const int64_t *binding)
{
    for (size_t i = 0; i < m->symbols.list.count; i++) {
        text_add(out, i ? ", " : "");
        text_add_shown(out, m->symbols.list.items[i].name);
        text_printf(out, "=%" PRId64, binding[i]);
    }
}

static bool are_typed(const struct size_bindings *b, const struct profile_request *r)
{
    return ALL(size_t, p, b->n_profiles, profile_is_typed(r->model, r->plan, b->profiles[p]));
}

static bool say_untyped(const struct size_bindings *b, const struct imported_model *m, struct error *error)
{
    TEXT(text);
    for (size_t p = 0; p < b->n_profiles; p++) {
        text_add(&text, p ? "; " : "");
        profile_print(&text, m, b->profiles[p]);
    }
    error_set_code(error, EXIT_USAGE, m->file->path, "has no types for all of --profile %s", text.chars);
    return false;
}

#define MOST_ATTEMPTS 3   // at sizes of probes

static int64_t halved(const struct imported_model *m, size_t symbol, int n)
{
    int64_t size = standard_size(m, symbol) >> n;
    return sizes_round_up(&m->symbols.sizes, (uint32_t)symbol, size > 1 ? size : 1);
}

static bool is_moderate(const struct profile_request *r, const int64_t *binding)
{
    return is_within(r, binding, moderate_size(r->model));
}

// Sizes of one fit any others.
static bool is_moderate_and_runs(const struct profile_request *r, const int64_t *binding)
{
    return !ANY(size_t, i, r->model->symbols.list.count, binding[i] == 1 && standard_size(r->model, i) > 1) &&
           is_moderate(r, binding) && import_runs_at(r->model, r->import, binding);
}

// Usual sizes are halved until they are as wanted, but for symbols that an option names; they stay where that does not
// help.
static void halve_until(bool (*is_wanted)(const struct profile_request *r, const int64_t *binding),
                        struct size_bindings *b, const struct profile_request *r, const struct choice *choices)
{
    int64_t binding[MAX_SYMBOLS];
    size_t n_symbols = r->model->symbols.list.count;
    bool is_found = false;
    for (int n = 0; n <= MOST_HALVINGS && !is_found; n++) {
        for (size_t i = 0; i < n_symbols; i++)
            binding[i] = choices[i].n ? b->profiles[0][i] : halved(r->model, i, n);
        is_found = is_wanted(r, binding);
    }
    for (size_t p = 0; is_found && p < b->n_profiles; p++)
        for (size_t i = 0; i < n_symbols; i++)
            b->profiles[p][i] = choices[i].n ? b->profiles[p][i] : binding[i];
}

// The size of a symbol that no option names: at first what is usual, then what the model was imported at.
static int64_t size_for(const struct imported_model *m, size_t symbol, int attempt)
{
    return attempt == 0 ? standard_size(m, symbol) : m->symbols.sizes.probes[MOST_ATTEMPTS - attempt][symbol];
}

static bool choose_profiles(struct size_bindings *b, const struct profile_request *r, const struct choice *choices,
                            struct error *error)
{
    const struct imported_model *m = r->model;
    for (int attempt = 0; attempt <= MOST_ATTEMPTS; attempt++) {
        struct choice all[MAX_SYMBOLS];
        for (size_t i = 0; i < m->symbols.list.count; i++)
            all[i] = choices[i].n ? choices[i] : (struct choice){1, {size_for(m, i, attempt)}};
        if (!combine(b, all, m->symbols.list.count, error))
            return false;
        if (attempt == 0) {
            halve_until(is_moderate, b, r, choices);
            halve_until(is_moderate_and_runs, b, r, choices);
        }
        if (are_typed(b, r))
            return true;
    }
    return say_untyped(b, m, error);
}

// Sizes that no option gives, where the model allows them.
static void take_given(struct choice *choices, const struct imported_model *m, const int64_t *given)
{
    for (size_t i = 0; i < m->symbols.list.count; i++)
        if (choices[i].n == 0 && given[i] > 0 && sizes_round_up(&m->symbols.sizes, (uint32_t)i, given[i]) == given[i])
            choices[i] = (struct choice){1, {given[i]}};
}

bool profiles_choose(struct size_bindings *ret_bindings, const struct profile_request *r, struct error *error)
{
    struct choice choices[MAX_SYMBOLS] = {{0, {0}}};
    *ret_bindings = (struct size_bindings){0};
    for (size_t i = 0; i < r->options->count; i++)
        if (!parse_option(choices, r->model, r->options->items[i], error))
            return false;
    take_given(choices, r->model, r->given);
    if (!choose_profiles(ret_bindings, r, choices, error))
        return false;
    choose_checks(ret_bindings, r);
    return true;
}
