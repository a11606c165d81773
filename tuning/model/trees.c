// Rows are sorted by each feature once. A level of a tree is one walk along each order, with sums for each node of the
// level on the left of the row where the walk stands.
#include "tuning/model/trees.h"

#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "tuning/limits.def"
#include <math.h>
#include <stdlib.h>

#define EVERY_FOLD ((size_t)-1)
#define MOST_NODES (TREE_LEAVES / 2)   // of a level with questions

struct place {
    double feature;
    size_t row;
};
struct fitting {
    const struct observation *rows;
    size_t n, left_out;   // a fold, or EVERY_FOLD: none
    int n_features;
    struct place *order;   // n_features times n
    double *rest;          // of each row's value
    int *at;               // node of each row
};
struct sums {
    double rest, n;
};
struct split {
    double gain, threshold;
    int feature;
};

COMPARISON(compare_places, struct place, ORDER(x->feature, y->feature) ?: ORDER(x->row, y->row))

static void begin(struct fitting *f, const struct observation *rows, size_t n, int n_features, struct arena *arena)
{
    *f = (struct fitting){.rows = rows, .n = n, .n_features = n_features};
    f->order = arena_array(arena, struct place, n * (size_t)n_features);
    f->rest = arena_array(arena, double, n);
    f->at = arena_array(arena, int, n);
    for (int i = 0; i < n_features; i++) {
        struct place *order = f->order + n * (size_t)i;
        for (size_t k = 0; k < n; k++)
            order[k] = (struct place){rows[k].features[i], k};
        qsort(order, n, sizeof *order, compare_places);
    }
}

static bool is_taken(const struct fitting *f, size_t row)
{
    return row % VALIDATION_FOLDS != f->left_out;
}

// Squared errors that a leaf with these rows takes off.
static double worth(const struct sums *s)
{
    return s->rest * s->rest / (s->n + SHRINKAGE);
}

static void split_by(const struct fitting *f, int feature, int first, const struct sums *all, struct split *best)
{
    const struct place *order = f->order + f->n * (size_t)feature;
    struct sums left[MOST_NODES] = {{0, 0}};
    double last[MOST_NODES];
    for (size_t i = 0; i < f->n; i++) {
        if (!is_taken(f, order[i].row))
            continue;
        int node = f->at[order[i].row] - first;
        struct sums *l = &left[node], right = {all[node].rest - l->rest, all[node].n - l->n};
        double gain = worth(l) + worth(&right) - worth(&all[node]);
        if (l->n >= FEWEST_ROWS && right.n >= FEWEST_ROWS && order[i].feature > last[node] && gain > best[node].gain)
            best[node] = (struct split){gain, (last[node] + order[i].feature) / 2, feature};
        l->rest += f->rest[order[i].row];
        l->n++;
        last[node] = order[i].feature;
    }
}

// A node that nothing splits sends all to the left.
static void grow_level(struct fitting *f, struct tree *t, int first, int n_nodes)
{
    struct sums all[MOST_NODES] = {{0, 0}};
    struct split best[MOST_NODES];
    for (int i = 0; i < n_nodes; i++)
        best[i] = (struct split){1e-12, INFINITY, 0};
    for (size_t k = 0; k < f->n; k++)
        if (is_taken(f, k)) {
            all[f->at[k] - first].rest += f->rest[k];
            all[f->at[k] - first].n++;
        }
    for (int i = 0; i < f->n_features; i++)
        split_by(f, i, first, all, best);
    for (int i = 0; i < n_nodes; i++) {
        t->feature[first + i] = best[i].feature;
        t->threshold[first + i] = best[i].threshold;
    }
    for (size_t k = 0; k < f->n; k++) {
        int node = f->at[k];
        f->at[k] = 2 * node + (f->rows[k].features[t->feature[node]] <= t->threshold[node] ? 1 : 2);
    }
}

static void fill_leaves(struct fitting *f, struct tree *t)
{
    struct sums sums[TREE_LEAVES] = {{0, 0}};
    int first = TREE_LEAVES - 1;
    for (size_t k = 0; k < f->n; k++)
        if (is_taken(f, k)) {
            sums[f->at[k] - first].rest += f->rest[k];
            sums[f->at[k] - first].n++;
        }
    for (int i = 0; i < TREE_LEAVES; i++)
        t->leaves[i] = RATE * sums[i].rest / (sums[i].n + SHRINKAGE);
    for (size_t k = 0; k < f->n; k++)
        f->rest[k] -= t->leaves[f->at[k] - first];
}

static void fit(struct fitting *f, struct trees *t, size_t left_out)
{
    double sum = 0, n = 0;
    f->left_out = left_out;
    for (size_t k = 0; k < f->n; k++)
        if (is_taken(f, k)) {
            sum += f->rows[k].value;
            n++;
        }
    t->mean = sum / n;
    for (size_t k = 0; k < f->n; k++)
        f->rest[k] = f->rows[k].value - t->mean;
    for (int i = 0; i < TREES; i++) {
        for (size_t k = 0; k < f->n; k++)
            f->at[k] = 0;
        for (int level = 0; level < TREE_DEPTH; level++)
            grow_level(f, &t->all[i], (1 << level) - 1, 1 << level);
        fill_leaves(f, &t->all[i]);
    }
}

double trees_predict(const struct trees *t, const double *features)
{
    double sum = t->mean;
    for (int i = 0; i < TREES; i++) {
        int node = 0;
        while (node < TREE_LEAVES - 1)
            node = 2 * node + (features[t->all[i].feature[node]] <= t->all[i].threshold[node] ? 1 : 2);
        sum += t->all[i].leaves[node - (TREE_LEAVES - 1)];
    }
    return sum;
}

bool trees_fit(struct trees *ret_trees, const struct observation *rows, size_t n, int n_features)
{
    ARENA(arena);
    struct fitting f;
    struct correlation c = {0};
    if (n < FEWEST_OBSERVATIONS)
        return false;
    begin(&f, rows, n, n_features, &arena);
    for (size_t fold = 0; fold < VALIDATION_FOLDS; fold++) {
        fit(&f, ret_trees, fold);
        for (size_t k = fold; k < n; k += VALIDATION_FOLDS)
            correlation_add(&c, rows[k].value - f.rest[k], rows[k].value);
    }
    ret_trees->r = correlation_r(&c);
    fit(&f, ret_trees, EVERY_FOLD);
    return c.yy - c.y * c.y / c.n > 0;
}
