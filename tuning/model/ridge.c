// Sums of products are kept for each fold, so that leaving one out is a subtraction; systems are solved by Cholesky's
// decomposition.
#include "tuning/model/ridge.h"
#include "tuning/limits.def"

#include <math.h>
#include <string.h>

struct sums {
    double of_products[OBSERVATION_FEATURES][OBSERVATION_FEATURES], with_value[OBSERVATION_FEATURES],
        features[OBSERVATION_FEATURES];
    double value, n;
};

static void standardize(const struct ridge *m, const double *features, double ret_standard[OBSERVATION_FEATURES])
{
    for (int i = 0; i < m->n_features; i++)
        ret_standard[i] = (features[i] - m->mean[i]) * m->scale[i];
}

// A feature that is the same everywhere gets no weight.
static void find_scales(struct ridge *m, const struct observation *rows, size_t n)
{
    for (int i = 0; i < m->n_features; i++) {
        double sum = 0, squares = 0;
        for (size_t k = 0; k < n; k++)
            sum += rows[k].features[i];
        m->mean[i] = sum / (double)n;
        for (size_t k = 0; k < n; k++)
            squares += (rows[k].features[i] - m->mean[i]) * (rows[k].features[i] - m->mean[i]);
        double deviation = sqrt(squares / (double)n);
        m->scale[i] = deviation > 1e-12 * fabs(m->mean[i]) ? 1 / deviation : 0;
    }
}

static void add_row(struct sums *s, const struct ridge *m, const struct observation *row)
{
    double x[OBSERVATION_FEATURES];
    standardize(m, row->features, x);
    for (int i = 0; i < m->n_features; i++) {
        for (int j = 0; j <= i; j++)
            s->of_products[i][j] += x[i] * x[j];
        s->with_value[i] += x[i] * row->value;
        s->features[i] += x[i];
    }
    s->value += row->value;
    s->n++;
}

static void add_sums(struct sums *to, const struct sums *s, double factor)
{
    double *into = (double *)to;
    const double *from = (const double *)s;
    for (size_t i = 0; i < sizeof *s / sizeof *from; i++)
        into[i] += factor * from[i];
}

// L of A = L L', in place, then both triangular systems. A is positive: the penalty is on its diagonal.
static void solve(int n, double a[OBSERVATION_FEATURES][OBSERVATION_FEATURES], double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

// Sums are fitted around the means of these rows, so that the intercept bears no penalty.
static void fit_sums(struct ridge *m, const struct sums *s, double penalty)
{
    double a[OBSERVATION_FEATURES][OBSERVATION_FEATURES];
    for (int i = 0; i < m->n_features; i++) {
        for (int j = 0; j <= i; j++)
            a[i][j] = s->of_products[i][j] - s->features[i] * s->features[j] / s->n;
        a[i][i] += penalty;
        m->weights[i] = s->with_value[i] - s->features[i] * s->value / s->n;
    }
    solve(m->n_features, a, m->weights);
    m->intercept = s->value / s->n;
    for (int i = 0; i < m->n_features; i++)
        m->intercept -= m->weights[i] * s->features[i] / s->n;
}

double ridge_predict(const struct ridge *m, const double *features)
{
    double x[OBSERVATION_FEATURES], sum = m->intercept;
    standardize(m, features, x);
    for (int i = 0; i < m->n_features; i++)
        sum += m->weights[i] * x[i];
    return sum;
}

static void correlate_fold(struct correlation *c, const struct ridge *m, const struct observation *rows, size_t n,
                           size_t fold)
{
    for (size_t k = fold; k < n; k += VALIDATION_FOLDS)
        correlation_add(c, ridge_predict(m, rows[k].features), rows[k].value);
}

bool ridge_fit(struct ridge *ret_ridge, const struct observation *rows, size_t n, int n_features, double penalty)
{
    struct ridge m = {.n_features = n_features};
    struct sums folds[VALIDATION_FOLDS], all = {.n = 0};
    struct correlation c = {0};
    if (n < FEWEST_OBSERVATIONS)
        return false;
    memset(folds, 0, sizeof folds);
    find_scales(&m, rows, n);
    for (size_t k = 0; k < n; k++)
        add_row(&folds[k % VALIDATION_FOLDS], &m, &rows[k]);
    for (size_t f = 0; f < VALIDATION_FOLDS; f++)
        add_sums(&all, &folds[f], 1);
    for (size_t f = 0; f < VALIDATION_FOLDS; f++) {
        struct sums others = all;
        add_sums(&others, &folds[f], -1);
        fit_sums(&m, &others, penalty);
        correlate_fold(&c, &m, rows, n, f);
    }
    m.r = correlation_r(&c);
    fit_sums(&m, &all, penalty);
    *ret_ridge = m;
    return c.yy - c.y * c.y / c.n > 0;
}
