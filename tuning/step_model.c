// Each step is learned once, by its words.
#include "tuning/step_model.h"

#include "backends/costs/step_cost.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "core/text/error.h"
#include "graph/graph_whole.h"
#include "tuning/limits.def"
#include "tuning/model/ridge.h"
#include <math.h>

#define N_FEATURES 10
#define STEPS_BETWEEN_FITS 16

struct step_model {
    struct arena arena;
    struct key_set steps;
    struct words words;
    VEC(struct observation) rows;
    struct ridge ridge;
    size_t n_fitted;   // rows
    bool is_believed;
};

struct step_model *step_model_new(void)
{
    struct step_model *m = mem_alloc_zero(sizeof *m);
    arena_init(&m->arena);
    return m;
}

void step_model_free(struct step_model *m)
{
    vec_free(&m->rows);
    vec_free(&m->words.list);
    key_set_free(&m->steps);
    arena_free(&m->arena);
    mem_free(m, sizeof *m);
}

static double places_of_loops(const struct step *step, double *ret_operations)
{
    double places = 0;
    *ret_operations = 0;
    for (int i = 0; i < step->n_loops; i++) {
        places += loop_places(&step->loops[i]);
        *ret_operations += loop_places(&step->loops[i]) * step->loops[i].n_instructions;
    }
    return places;
}

static void list_features(const struct plan *plan, const struct step *step, double ret[N_FEATURES])
{
    bool has_kernel = step->node != NO_NODE && step->n_operands > 0;
    double operations, places = places_of_loops(step, &operations);
    double flops = has_kernel ? graph_node_flops(plan->graph, step->node) : 0;
    double bytes = step_distinct_bytes(step, has_kernel);
    const struct view *result = step->n_results ? &step->results[0] : NULL;
    const double all[N_FEATURES] = {log(1 + flops),
                                    log(1 + operations),
                                    log(1 + bytes),
                                    log(1 + places),
                                    log(1 + flops + operations) - log(1 + bytes),
                                    has_kernel,
                                    step->copied != NO_TENSOR,
                                    step->n_loops,
                                    step->n_parts,
                                    result ? view_has_layout(result, LAYOUT_CHANNELS_LAST) + 2.0 * (result->block > 0)
                                           : 0};
    for (int i = 0; i < N_FEATURES; i++)
        ret[i] = all[i];
}

static void learn(struct step_model *m, const struct plan *plan, const struct step *step, double seconds)
{
    struct observation row = {.value = log(seconds)};
    size_t n = m->steps.keys.count, bytes;
    step_spell(plan, step, &m->words);
    bytes = m->words.list.count * sizeof *m->words.list.items;
    if (key_set_add(&m->steps, &m->arena, m->words.list.items, bytes) < n)
        return;
    list_features(plan, step, row.features);
    vec_push(&m->rows, row);
    if (m->rows.count < m->n_fitted + STEPS_BETWEEN_FITS)
        return;
    m->is_believed = ridge_fit(&m->ridge, m->rows.items, m->rows.count, N_FEATURES, PENALTY) && m->ridge.r >= LEAST_R;
    m->n_fitted = m->rows.count;
}

static double guess(const struct step_model *m, const struct plan *plan, const struct step *step)
{
    double features[OBSERVATION_FEATURES] = {0};
    list_features(plan, step, features);
    return m->is_believed ? exp(ridge_predict(&m->ridge, features)) : 0;
}

double step_model_seconds(struct step_model *m, struct backend *b, const struct plan *plan, const struct step *step)
{
    struct step_cost cost;
    struct error ignored;
    bool only_recalls = b->measuring.only_recalls;
    b->measuring.only_recalls = true;
    bool is_known = backend_step_cost(b, plan, step, &cost, &ignored);
    b->measuring.only_recalls = only_recalls;
    if (!is_known || cost.is_guessed)
        return guess(m, plan, step);
    learn(m, plan, step, cost.seconds);
    return cost.seconds;
}
