// Everything is a list of choices: all, the exact ones, and the exact ones with one other.
#include "optimizer/run/prepare_within.h"

#include "backends/backend.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/memory.h"
#include "graph/graph.h"
#include "optimizer/run/comparison.h"
#include <math.h>

struct suspect {
    struct step_choice choice;
    double difference;   // that it makes alone
};
struct judging {
    const struct within_request *request;
    struct arena arena;
    step_choices exact;
    VEC(struct suspect) suspects;   // the inexact ones
    size_t n_back;                  // of them, which come first then
    struct recording standard;
    int attempt;   // of inputs, by which outputs say something
    struct error *error;
};

static struct model *prepare(const struct judging *j, const step_choices *choices)
{
    const struct within_request *r = j->request;
    return backend_prepare_from(r->backend, r->graph, r->layouts, choices, r->weights, j->error);
}

static size_t n_inputs(const struct graph *g)
{
    size_t n = 0;
    for (node_id i = 0; i < g->nodes.count; i++)
        if (g->nodes.items[i].op->id == OP_INPUT && (size_t)g->nodes.items[i].attributes[0].ints[0] >= n)
            n = (size_t)g->nodes.items[i].attributes[0].ints[0] + 1;
    return n;
}

static bool record(struct judging *j, struct model *m, struct arena *arena, struct recording *ret_recording)
{
    const struct within_request *r = j->request;
    return model_record(m, r->graph, n_inputs(r->graph), &(struct model_inputs){0}, r->seed, j->attempt, 1, arena,
                        ret_recording, j->error);
}

// The first inputs by which each output says something, or the last ones.
static bool record_standard(struct judging *j)
{
    step_choices none = {0};
    output_comparisons outputs = {0};
    struct model *m = prepare(j, &none);
    bool is_done = m != NULL, is_enough = false;
    for (j->attempt = 0; is_done && !is_enough && j->attempt < INPUT_ATTEMPTS; j->attempt++) {
        is_done = record(j, m, &j->arena, &j->standard);
        if (is_done)
            recordings_compare(&j->standard, &j->standard, 0, &outputs);
        is_enough = outputs_are_trustworthy(&outputs);
    }
    j->attempt--;
    vec_free(&outputs);
    model_free(m);
    return is_done;
}

static bool compare(struct judging *j, struct model *m, double *ret_difference)
{
    struct arena arena;
    struct recording recording;
    output_comparisons outputs = {0};
    arena_init(&arena);
    bool is_done = record(j, m, &arena, &recording);
    *ret_difference = 0;
    if (is_done)
        recordings_compare(&j->standard, &recording, 0, &outputs);
    for (size_t i = 0; i < outputs.count; i++)
        *ret_difference = fmax(*ret_difference, relative_difference(&outputs.items[i]));
    vec_free(&outputs);
    arena_free(&arena);
    return is_done;
}

// --- choices ---------------------------------------------------------------------------------------------------------

static void add_choices(struct judging *j, const step_choices *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (from->items[i].error > 0)
            vec_push(&j->suspects, ((struct suspect){.choice = from->items[i]}));
        else
            vec_push(&j->exact, from->items[i]);
}

// By the exact ones, and those suspects.
static struct model *prepare_with(const struct judging *j, size_t first, size_t end)
{
    step_choices list = {0};
    for (size_t i = 0; i < j->exact.count; i++)
        vec_push(&list, j->exact.items[i]);
    for (size_t i = first; i < end; i++)
        vec_push(&list, j->suspects.items[i].choice);
    struct model *m = prepare(j, &list);
    vec_free(&list);
    return m;
}

static struct model *prepare_with_all(const struct judging *j)
{
    return prepare_with(j, j->n_back, j->suspects.count);
}

// In whatever order.
static uint64_t hash_of(const struct judging *j)
{
    uint64_t hash = 0;
    for (size_t i = j->n_back; i < j->suspects.count; i++)
        hash +=
            hash_mix(hash_string(j->suspects.items[i].choice.step), hash_string(j->suspects.items[i].choice.choice));
    return hash;
}

// --- taking back -----------------------------------------------------------------------------------------------------

static int compare_suspects(const void *a, const void *b)
{
    double x = ((const struct suspect *)a)->difference, y = ((const struct suspect *)b)->difference;
    return (x < y) - (x > y);
}

// Puts them into the order of what they do.
static bool try_each(struct judging *j)
{
    bool is_done = true;
    for (size_t i = 0; is_done && i < j->suspects.count; i++) {
        struct model *m = prepare_with(j, i, i + 1);
        is_done = m && compare(j, m, &j->suspects.items[i].difference);
        model_free(m);
    }
    vec_sort(&j->suspects, compare_suspects);
    return is_done;
}

// The difference that the rest make together, if each errs in its own way.
static double expected_difference(const struct judging *j)
{
    double squares = 0;
    for (size_t i = j->n_back; i < j->suspects.count; i++)
        squares += j->suspects.items[i].difference * j->suspects.items[i].difference;
    return sqrt(squares);
}

// The worst one, and as many more as it takes until the rest may hope to stay within.
static void take_back_worst(struct judging *j)
{
    do
        backend_take_back(j->request->backend, j->suspects.items[j->n_back++].choice.step);
    while (j->n_back < j->suspects.count && expected_difference(j) > j->request->backend->options.error_budget);
}

// Steps that were taken back have their best exact choices now.
static bool list_exact_anew(struct judging *j)
{
    const struct within_request *r = j->request;
    step_choices all = {0};
    bool is_done = backend_list_choices(r->backend, r->graph, r->layouts, &j->arena, &all, j->error);
    vec_clear(&j->exact);
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].error == 0)
            vec_push(&j->exact, all.items[i]);
    vec_free(&all);
    return is_done;
}

static struct model *prepare_and_compare(struct judging *j, double *ret_difference)
{
    struct model *m = prepare_with_all(j);
    *ret_difference = 0;
    if (!m || j->n_back == j->suspects.count || compare(j, m, ret_difference))
        return m;
    model_free(m);
    return NULL;
}

static struct model *judge(struct judging *j, struct within_error *within)
{
    struct model *m = record_standard(j) ? prepare_and_compare(j, &within->difference) : NULL;
    while (m && within->difference > j->request->backend->options.error_budget) {
        model_free(m);
        if (j->n_back == 0 && !try_each(j))
            return NULL;
        take_back_worst(j);
        if (!list_exact_anew(j))
            return NULL;
        m = prepare_and_compare(j, &within->difference);
    }
    within->n_taken_back += (uint32_t)j->n_back;
    return m;
}

// --- from beginning to end -------------------------------------------------------------------------------------------

struct model *prepare_within(const struct within_request *r, struct within_error *within, struct error *error)
{
    struct judging j = {.request = r, .error = error};
    step_choices all = {0};
    struct model *m = NULL;
    if (r->backend->options.error_budget == 0)
        return backend_prepare_from(r->backend, r->graph, r->layouts, NULL, r->weights, error);
    arena_init(&j.arena);
    if (backend_list_choices(r->backend, r->graph, r->layouts, &j.arena, &all, error)) {
        add_choices(&j, &all);
        bool is_known = !j.suspects.count || within->passed == hash_of(&j);
        m = is_known ? prepare_with_all(&j) : judge(&j, within);
        within->passed = m ? hash_of(&j) : 0;
    }
    vec_free(&all);
    vec_free(&j.exact);
    vec_free(&j.suspects);
    arena_free(&j.arena);
    return m;
}

struct model *prepare_within_by_policy(const struct within_request *r, struct within_error *within, struct error *error)
{
    struct within_request own = *r;
    uint8_t *layouts;
    if (!backend_find_layouts_only(r->backend, r->graph, &layouts, error))
        return NULL;
    own.layouts = layouts;
    struct model *m = prepare_within(&own, within, error);
    mem_free(layouts, layouts ? r->graph->tensors.count + 1 : 0);
    return m;
}
