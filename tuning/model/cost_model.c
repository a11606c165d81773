// Rows of all steps, and each step's sums, of which its means are.
#include "tuning/model/cost_model.h"

#include "core/memory/vec.h"
#include "tuning/limits.def"
#include "tuning/model/ridge.h"
#include "tuning/model/trees.h"
#include <math.h>
#include <string.h>

_Static_assert(OBSERVATION_FEATURES == 2 * COST_MODEL_FEATURES, "features and their squares");

struct logarithms {
    double of_features[OBSERVATION_FEATURES], of_seconds;   // features, then their squares
};
struct row {
    size_t step;
    struct logarithms logs;
};
struct step_sums {
    struct logarithms sum;
    double n;
};
struct cost_model {
    VEC(struct row) rows;
    VEC(struct step_sums) steps;
    struct ridge ridge;
    struct trees trees;
    bool has_trees, is_ridge_fitted, are_trees_fitted;
    double n_in_trees;   // rows that they were fitted to
};

struct cost_model *cost_model_new(bool has_trees)
{
    struct cost_model *m = mem_alloc_zero(sizeof *m);
    m->has_trees = has_trees;
    return m;
}

void cost_model_free(struct cost_model *m)
{
    vecs_free(m, rows, steps);
    mem_free(m, sizeof *m);
}

size_t cost_model_add_step(struct cost_model *m)
{
    vec_push(&m->steps, ((struct step_sums){.n = 0}));
    return m->steps.count - 1;
}

static void take_logarithms(const double *features, struct logarithms *ret_logs)
{
    for (int i = 0; i < COST_MODEL_FEATURES; i++) {
        double x = log(fmax(features[i], LEAST_FEATURE));
        ret_logs->of_features[i] = x;
        ret_logs->of_features[COST_MODEL_FEATURES + i] = x * x;
    }
}

void cost_model_add(struct cost_model *m, size_t step, const double features[COST_MODEL_FEATURES], double seconds)
{
    struct row row = {.step = step};
    struct step_sums *s = &m->steps.items[step];
    take_logarithms(features, &row.logs);
    row.logs.of_seconds = log(seconds);
    for (int i = 0; i < OBSERVATION_FEATURES; i++)
        s->sum.of_features[i] += row.logs.of_features[i];
    s->sum.of_seconds += row.logs.of_seconds;
    s->n++;
    vec_push(&m->rows, row);
}

// Features of a step of which nothing was measured are taken from zero: that orders its schedules as well.
static void center(const struct step_sums *s, const struct logarithms *logs, double ret_features[OBSERVATION_FEATURES])
{
    for (int i = 0; i < OBSERVATION_FEATURES; i++)
        ret_features[i] = logs->of_features[i] - (s->n > 0 ? s->sum.of_features[i] / s->n : 0);
}

// Trees have what features are in the place of their squares.
static void list_for_trees(const struct logarithms *logs, double features[OBSERVATION_FEATURES])
{
    memcpy(features + COST_MODEL_FEATURES, logs->of_features, COST_MODEL_FEATURES * sizeof *features);
}

static void list_observations(const struct cost_model *m, bool is_for_trees, struct observation *ret_rows)
{
    for (size_t i = 0; i < m->rows.count; i++) {
        const struct row *row = &m->rows.items[i];
        const struct step_sums *s = &m->steps.items[row->step];
        center(s, &row->logs, ret_rows[i].features);
        if (is_for_trees)
            list_for_trees(&row->logs, ret_rows[i].features);
        ret_rows[i].value = row->logs.of_seconds - s->sum.of_seconds / s->n;
    }
}

void cost_model_fit(struct cost_model *m)
{
    size_t n = m->rows.count;
    LOCAL_ARRAY(struct observation, rows, n + 1);
    list_observations(m, false, rows);
    m->is_ridge_fitted = ridge_fit(&m->ridge, rows, n, OBSERVATION_FEATURES, PENALTY);
    if (m->has_trees && (double)n >= GROWTH_BETWEEN_TREES * m->n_in_trees) {
        list_observations(m, true, rows);
        m->are_trees_fitted = trees_fit(&m->trees, rows, n, OBSERVATION_FEATURES);
        m->n_in_trees = (double)n;
    }
}

static bool asks_trees(const struct cost_model *m)
{
    return m->are_trees_fitted && (!m->is_ridge_fitted || m->trees.r > m->ridge.r);
}

double cost_model_r(const struct cost_model *m)
{
    return asks_trees(m) ? m->trees.r : m->is_ridge_fitted ? m->ridge.r : 0;
}

bool cost_model_predict(const struct cost_model *m, size_t step, const double features[COST_MODEL_FEATURES],
                        double *ret_value)
{
    struct logarithms logs;
    double centered[OBSERVATION_FEATURES];
    if (!(cost_model_r(m) >= LEAST_R))
        return false;
    take_logarithms(features, &logs);
    center(&m->steps.items[step], &logs, centered);
    if (asks_trees(m))
        list_for_trees(&logs, centered);
    *ret_value = asks_trees(m) ? trees_predict(&m->trees, centered) : ridge_predict(&m->ridge, centered);
    return true;
}
