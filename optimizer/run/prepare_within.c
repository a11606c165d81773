// Everything is a list of choices: all, the exact ones, and the exact ones with one other.
#include "optimizer/run/prepare_within.h"

#include "backends/backend.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/memory.h"
#include "core/system/interrupt.h"
#include "graph/graph.h"
#include "optimizer/run/reference.h"
#include <math.h>

struct suspect {
    struct step_choice choice;
    double difference;   // that it makes alone; before it was tried, its share of what all make, by its error
    bool is_tried, is_chosen, is_back;
};
struct judging {
    const struct within_request *request;
    struct arena arena;
    step_choices exact;
    VEC(struct suspect) suspects;   // the inexact ones
    size_t n_back;
    struct reference *standard, own;
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

// Records standard choices alone.
static bool record_standard(struct judging *j)
{
    const struct within_request *r = j->request;
    step_choices none = {0};
    struct model *m = prepare(j, &none);
    bool is_done = m && reference_record(j->standard, m, r->graph, j->error);
    model_free(m);
    return is_done;
}

static bool compare(struct judging *j, struct model *m, double *ret_difference)
{
    LOCAL_LIST(output_comparisons, outputs);
    bool is_done = reference_compare(j->standard, m, j->request->graph, 0, &outputs, j->error);
    *ret_difference = 0;
    for (size_t i = 0; i < outputs.count; i++)
        *ret_difference = fmax(*ret_difference, relative_difference(&outputs.items[i]));
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

// The model by exact choices, and that suspect; NULL: all that were not taken back.
static struct model *prepare_with(const struct judging *j, const struct suspect *only)
{
    LOCAL_LIST(step_choices, list);
    for (size_t i = 0; i < j->exact.count; i++)
        vec_push(&list, j->exact.items[i]);
    for (size_t i = 0; i < j->suspects.count; i++)
        if (only ? only == &j->suspects.items[i] : !j->suspects.items[i].is_back)
            vec_push(&list, j->suspects.items[i].choice);
    return prepare(j, &list);
}

// The hash of choices in whatever order.
static uint64_t hash_of(const struct judging *j)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < j->suspects.count; i++) {
        const struct step_choice *c = &j->suspects.items[i].choice;
        hash += j->suspects.items[i].is_back ? 0 : hash_mix(hash_string(c->step), hash_string(c->choice));
    }
    return hash;
}

// --- taking back -----------------------------------------------------------------------------------------------------

static double squared(double x)
{
    return x * x;
}

// The square of the difference that the rest make together, if each errs in its own way.
static double expected_square(const struct judging *j)
{
    return SUM_ALL(double, size_t, i, j->suspects.count,
                   j->suspects.items[i].is_chosen ? 0 : squared(j->suspects.items[i].difference));
}

// All together differ by so much: what those that were tried do not explain is shared out by errors.
static void share_out(struct judging *j, double difference)
{
    double rest = squared(difference), errors = 0;
    vec_each(&j->suspects, s) {
        rest -= s->is_tried && !s->is_back ? squared(s->difference) : 0;
        errors += s->is_tried || s->is_back ? 0 : squared(s->choice.error);
    }
    for (size_t i = 0; i < j->suspects.count; i++)
        if (!j->suspects.items[i].is_tried)
            j->suspects.items[i].difference = j->suspects.items[i].choice.error * sqrt(fmax(0, rest) / errors);
}

// A suspect that suffices goes first, of several the one that gains least; else the largest error for what it gains.
static bool goes_before(const struct suspect *a, const struct suspect *b, double excess)
{
    double x = squared(a->difference), y = squared(b->difference);
    if ((x >= excess) != (y >= excess))
        return x >= excess;
    return x >= excess ? a->choice.gain < b->choice.gain : x * b->choice.gain > y * a->choice.gain;
}

// NULL: none is left.
static struct suspect *find_worst(struct judging *j, double excess)
{
    struct suspect *worst = NULL;
    vec_each(&j->suspects, s)
        if (!s->is_chosen && (!worst || goes_before(s, worst, excess)))
            worst = s;
    return worst;
}

static bool is_late(const struct judging *j)
{
    return interrupt_requested() || backend_is_late(j->request->backend);
}

// Chooses as many as it takes until the rest may hope to stay within, and one at least; all where hope was in vain and
// there is no time.
static void choose_worst(struct judging *j)
{
    double allowed = squared(j->request->backend->options.error_budget), excess;
    bool is_last = j->n_back > 0 && is_late(j);
    for (size_t i = 0; i < j->suspects.count; i++)
        j->suspects.items[i].is_chosen = j->suspects.items[i].is_back;
    do {
        struct suspect *worst = find_worst(j, expected_square(j) - allowed);
        if (!worst)
            return;
        worst->is_chosen = true;
        excess = expected_square(j) - allowed;
    } while (excess > 0 || is_last);
}

static struct suspect *find_untried(struct judging *j)
{
    return vec_find(&j->suspects, x, x->is_chosen && !x->is_tried && !x->is_back);
}

// Suspects that are to go are tried, while there is time, until each of them is known.
static bool choose_by_trials(struct judging *j, double difference)
{
    for (;;) {
        share_out(j, difference);
        choose_worst(j);
        struct suspect *s = find_untried(j);
        if (!s || is_late(j))
            return true;
        struct model *m = prepare_with(j, s);
        s->is_tried = m && compare(j, m, &s->difference);
        model_free(m);
        if (!s->is_tried)
            return false;
    }
}

static void take_back_chosen(struct judging *j)
{
    vec_each(&j->suspects, s) {
        if (!s->is_chosen || s->is_back)
            continue;
        backend_take_back(j->request->backend, s->choice.step);
        s->is_back = true;
        j->n_back++;
    }
}

// Steps that were taken back have their best exact choices now.
static bool list_exact_anew(struct judging *j)
{
    const struct within_request *r = j->request;
    LOCAL_LIST(step_choices, all);
    bool is_done = backend_list_choices(r->backend, r->graph, r->layouts, &j->arena, &all, j->error);
    vec_clear(&j->exact);
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].error == 0)
            vec_push(&j->exact, all.items[i]);
    return is_done;
}

static struct model *prepare_and_compare(struct judging *j, double *ret_difference)
{
    struct model *m = prepare_with(j, NULL);
    *ret_difference = 0;
    if (!m || j->n_back == j->suspects.count || compare(j, m, ret_difference))
        return m;
    model_free(m);
    return NULL;
}

// NULL: it differs by more than is allowed, which rewrites may be the reason of, or the device failed.
static struct model *prepare_within_reference(struct judging *j, double *ret_difference)
{
    struct model *m = prepare_and_compare(j, ret_difference);
    if (m && *ret_difference <= j->request->backend->options.error_budget)
        return m;
    model_free(m);
    return NULL;
}

static struct model *judge(struct judging *j, struct within_error *within)
{
    struct reference *given = j->request->reference;
    bool is_there = given && given->is_there;
    j->standard = given ? given : &j->own;
    struct model *m = is_there ? prepare_within_reference(j, &within->difference) : NULL;
    if (m)
        return m;
    j->standard = is_there ? &j->own : j->standard;
    m = record_standard(j) ? prepare_and_compare(j, &within->difference) : NULL;
    while (m && within->difference > j->request->backend->options.error_budget) {
        model_free(m);
        if (!choose_by_trials(j, within->difference))
            return NULL;
        take_back_chosen(j);
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
    j.own = (struct reference){.n_inputs = n_inputs(r->graph), .seed = r->seed, .rounds = 1};
    LOCAL_LIST(step_choices, all);
    struct model *m = NULL;
    if (r->backend->options.error_budget == 0)
        return backend_prepare_from(r->backend, r->graph, r->layouts, NULL, r->weights, error);
    if (backend_list_choices(r->backend, r->graph, r->layouts, &j.arena, &all, error)) {
        add_choices(&j, &all);
        bool is_known = !j.suspects.count || within->passed == hash_of(&j);
        bool is_done_with = is_known && r->is_only_judged;
        m = is_done_with ? NULL : is_known ? prepare_with(&j, NULL) : judge(&j, within);
        within->passed = m || is_done_with ? hash_of(&j) : 0;
    }
    reference_free(&j.own);
    vecs_free(&j, exact, suspects);
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
