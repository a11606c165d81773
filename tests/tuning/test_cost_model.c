// Ridge regression beside its normal equations, solved plainly and for each fold anew; trees where features matter
// together; and what a model of costs is believed of.
#include "tests/support/check.h"
#include "tuning/limits.def"
#include "tuning/model/cost_model.h"
#include "tuning/model/ridge.h"
#include "tuning/model/trees.h"

#define FEATURES 6
#define ROWS 60
#define PENALTY 0.5

// --- beside normal equations -----------------------------------------------------------------------------------------

// Gauss with the largest pivot; the last unknown is the intercept.
static void solve_plainly(double a[FEATURES + 1][FEATURES + 2], double *ret_x)
{
    int n = FEATURES + 1;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        for (int j = 0; j <= n; j++) {
            double t = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = t;
        }
        for (int i = 0; i < n; i++)
            for (int j = n; i != k && j >= k; j--)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    for (int i = 0; i < n; i++)
        ret_x[i] = a[i][n] / a[i][i];
}

static void scale_of(const struct observation *rows, int i, double *ret_mean, double *ret_deviation)
{
    *ret_mean = *ret_deviation = 0;
    for (int k = 0; k < ROWS; k++)
        *ret_mean += rows[k].features[i] / ROWS;
    for (int k = 0; k < ROWS; k++)
        *ret_deviation += pow(rows[k].features[i] - *ret_mean, 2) / ROWS;
    *ret_deviation = sqrt(*ret_deviation);
}

static double standard(const struct observation *rows, const struct observation *row, int i)
{
    double mean, deviation;
    if (i == FEATURES)
        return 1;
    scale_of(rows, i, &mean, &deviation);
    return deviation > 0 ? (row->features[i] - mean) / deviation : 0;
}

// Without a fold; -1: with all.
static void fit_plainly(const struct observation *rows, int left_out, double *ret_weights)
{
    double a[FEATURES + 1][FEATURES + 2] = {{0}};
    for (int k = 0; k < ROWS; k++)
        for (int i = 0; i <= FEATURES && k % VALIDATION_FOLDS != left_out; i++) {
            for (int j = 0; j <= FEATURES; j++)
                a[i][j] += standard(rows, &rows[k], i) * standard(rows, &rows[k], j);
            a[i][FEATURES + 1] += standard(rows, &rows[k], i) * rows[k].value;
        }
    for (int i = 0; i < FEATURES; i++)
        a[i][i] += PENALTY;
    solve_plainly(a, ret_weights);
}

static double predict_plainly(const struct observation *rows, const double *weights, const struct observation *row)
{
    double sum = 0;
    for (int i = 0; i <= FEATURES; i++)
        sum += weights[i] * standard(rows, row, i);
    return sum;
}

static double validate_plainly(const struct observation *rows)
{
    double x[ROWS], mean_x = 0, mean_y = 0, xy = 0, xx = 0, yy = 0, weights[FEATURES + 1];
    for (int fold = 0; fold < VALIDATION_FOLDS; fold++) {
        fit_plainly(rows, fold, weights);
        for (int k = fold; k < ROWS; k += VALIDATION_FOLDS)
            x[k] = predict_plainly(rows, weights, &rows[k]);
    }
    for (int k = 0; k < ROWS; k++) {
        mean_x += x[k] / ROWS;
        mean_y += rows[k].value / ROWS;
    }
    for (int k = 0; k < ROWS; k++) {
        xy += (x[k] - mean_x) * (rows[k].value - mean_y);
        xx += (x[k] - mean_x) * (x[k] - mean_x);
        yy += (rows[k].value - mean_y) * (rows[k].value - mean_y);
    }
    return xy / sqrt(xx * yy);
}

static void make_rows(struct observation rows[ROWS], uint64_t seed, double noise)
{
    struct random r = random_seed(seed);
    memset(rows, 0, ROWS * sizeof *rows);
    for (int k = 0; k < ROWS; k++) {
        for (int i = 0; i < FEATURES - 1; i++)
            rows[k].features[i] = 10 * i + random_normal(&r) * (i + 1);
        rows[k].features[FEATURES - 1] = 4;                                         // the same everywhere
        rows[k].features[1] = rows[k].features[0] * 2 + 1e-3 * random_normal(&r);   // nearly the same as another
        rows[k].value = 3 + rows[k].features[0] - 0.5 * rows[k].features[2] + noise * random_normal(&r);
    }
}

TEST(ridge_is_what_its_normal_equations_say)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct observation rows[ROWS];
        struct ridge m;
        double weights[FEATURES + 1];
        make_rows(rows, seed, seed % 4);
        assert_true(ridge_fit(&m, rows, ROWS, FEATURES, PENALTY));
        fit_plainly(rows, -1, weights);
        for (int k = 0; k < ROWS; k++)
            assert_true(fabs(ridge_predict(&m, rows[k].features) - predict_plainly(rows, weights, &rows[k])) < 1e-8);
        assert_true(fabs(m.r - validate_plainly(rows)) < 1e-8);
    }
}

TEST(too_little_is_no_model)
{
    struct observation rows[ROWS];
    struct ridge m;
    make_rows(rows, 1, 0);
    assert_false(ridge_fit(&m, rows, FEWEST_OBSERVATIONS - 1, FEATURES, PENALTY));
    for (int k = 0; k < ROWS; k++)
        rows[k].value = 2;
    assert_false(ridge_fit(&m, rows, ROWS, FEATURES, PENALTY));
}

// --- trees -----------------------------------------------------------------------------------------------------------

// A step and what two features do together: no sum of weights says it.
static double steps_and_corners(const double *f)
{
    return (f[0] > 0.3 ? 2 : 0) + (f[1] * f[2] > 0 ? 1 : -1);
}

static void make_corners(struct observation *rows, size_t n, uint64_t seed)
{
    struct random r = random_seed(seed);
    memset(rows, 0, n * sizeof *rows);
    for (size_t k = 0; k < n; k++) {
        for (int i = 0; i < FEATURES; i++)
            rows[k].features[i] = random_normal(&r);
        rows[k].value = steps_and_corners(rows[k].features) + 0.1 * random_normal(&r);
    }
}

TEST(trees_see_steps_and_corners)
{
    struct observation rows[400], others[200];
    struct trees trees = {0}, again = {0};
    struct ridge ridge;
    struct correlation c = {0};
    make_corners(rows, COUNT_OF(rows), 5);
    make_corners(others, COUNT_OF(others), 6);
    assert_true(trees_fit(&trees, rows, COUNT_OF(rows), FEATURES));
    assert_true(ridge_fit(&ridge, rows, COUNT_OF(rows), FEATURES, PENALTY));
    for (size_t k = 0; k < COUNT_OF(others); k++)
        correlation_add(&c, trees_predict(&trees, others[k].features), others[k].value);
    assert_true(trees.r > 0.85 && correlation_r(&c) > 0.85 && ridge.r < 0.75);
    assert_true(fabs(trees.r - correlation_r(&c)) < 0.1);   // what the cross-validation promises is so
    assert_true(trees_fit(&again, rows, COUNT_OF(rows), FEATURES));
    assert_memory_equal(&trees, &again, sizeof trees);
}

// Least squares by a single question, of all there are.
TEST(a_question_is_the_best_of_all)
{
    struct observation rows[40];
    struct trees trees;
    make_corners(rows, COUNT_OF(rows), 7);
    assert_true(trees_fit(&trees, rows, COUNT_OF(rows), FEATURES));
    double best = 0, asked = 0, all = 0;
    for (size_t k = 0; k < COUNT_OF(rows); k++)
        all += rows[k].value - trees.mean;
    assert_true(fabs(all) < 1e-9);
    for (int i = 0; i < FEATURES; i++)
        for (size_t at = 0; at < COUNT_OF(rows); at++) {
            double sum = 0, n = 0;
            for (size_t k = 0; k < COUNT_OF(rows); k++)
                if (rows[k].features[i] <= rows[at].features[i]) {
                    sum += rows[k].value - trees.mean;
                    n++;
                }
            double gain = sum * sum / (n + 1) + sum * sum / (COUNT_OF(rows) - n + 1);
            bool is_asked = trees.all[0].feature[0] == i && rows[at].features[i] <= trees.all[0].threshold[0];
            best = n >= 4 && COUNT_OF(rows) - n >= 4 ? fmax(best, gain) : best;
            asked = is_asked && n > asked ? n : asked;
        }
    double sum = 0;
    for (size_t k = 0; k < COUNT_OF(rows); k++)
        if (rows[k].features[trees.all[0].feature[0]] <= trees.all[0].threshold[0])
            sum += rows[k].value - trees.mean;
    assert_true(fabs(sum * sum / (asked + 1) + sum * sum / (COUNT_OF(rows) - asked + 1) - best) < 1e-9);
}

TEST(too_little_is_no_trees)
{
    struct observation rows[40];
    struct trees trees;
    make_corners(rows, COUNT_OF(rows), 8);
    assert_false(trees_fit(&trees, rows, FEWEST_OBSERVATIONS - 1, FEATURES));
    for (size_t k = 0; k < COUNT_OF(rows); k++)
        rows[k].value = 2;
    assert_false(trees_fit(&trees, rows, COUNT_OF(rows), FEATURES));
}

// --- what is believed ------------------------------------------------------------------------------------------------

static void make_features(struct random *r, double ret[COST_MODEL_FEATURES])
{
    for (int i = 0; i < COST_MODEL_FEATURES; i++)
        ret[i] = exp(random_normal(r));
}

// Steps of very different sizes whose schedules share one law.
static double law(const double *f, size_t step)
{
    return pow(10, (double)step) * 1e-6 * sqrt(f[0]) * exp(pow(log(f[3]), 2)) / f[5];
}

TEST(what_is_learned_of_some_steps_orders_others)
{
    struct random r = random_seed(3);
    struct cost_model *m = cost_model_new(true);
    double features[2][COST_MODEL_FEATURES], values[2];
    size_t n_right = 0;
    for (size_t step = 0; step < 4; step++)
        for (int i = 0, id = (int)cost_model_add_step(m); i < (step < 3 ? 30 : 4); i++) {
            make_features(&r, features[0]);
            cost_model_add(m, (size_t)id, features[0], law(features[0], step) * exp(0.1 * random_normal(&r)));
        }
    assert_false(cost_model_predict(m, 0, features[0], values));   // before a fit
    cost_model_fit(m);
    assert_true(cost_model_r(m) > 0.8);
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 2; k++) {
            make_features(&r, features[k]);
            assert_true(cost_model_predict(m, 3, features[k], &values[k]));
        }
        n_right += (values[0] < values[1]) == (law(features[0], 3) < law(features[1], 3));
    }
    assert_true(n_right > 180);
    assert_int_equal(cost_model_add_step(m), 4);
    assert_true(cost_model_predict(m, 4, features[0], &values[0]));   // of which nothing was measured
    assert_true(cost_model_predict(m, 4, features[1], &values[1]));
    assert_true((values[0] < values[1]) == (law(features[0], 4) < law(features[1], 4)));
    cost_model_free(m);
}

TEST(noise_is_not_believed)
{
    struct random r = random_seed(4);
    struct cost_model *m = cost_model_new(true);
    double features[COST_MODEL_FEATURES], value;
    size_t step = cost_model_add_step(m);
    for (int i = 0; i < 200; i++) {
        make_features(&r, features);
        cost_model_add(m, step, features, exp(random_normal(&r)));
    }
    cost_model_fit(m);
    assert_true(cost_model_r(m) < LEAST_R);
    assert_false(cost_model_predict(m, step, features, &value));
    cost_model_free(m);
}
