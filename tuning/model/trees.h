// Boosted regression trees: each is fitted to what those before it leave of the values, and a share of it is added
// (Friedman 2001). They see steps, thresholds and what features do together, which a sum of weights does not.
#pragma once
#include "tuning/model/observation.h"
#include <stdbool.h>

#define TREES 48
#define TREE_DEPTH 3
#define TREE_LEAVES (1 << TREE_DEPTH)
// Question k goes on at 2 k + 1 where the feature is at most the threshold, else at 2 k + 2; leaves stand behind them.
struct tree {
    int feature[TREE_LEAVES - 1];
    double threshold[TREE_LEAVES - 1], leaves[TREE_LEAVES];
};
struct trees {
    struct tree all[TREES];
    double mean, r;   // cross-validated
};
// False: there are too few rows, or all values are equal.
bool trees_fit(struct trees *ret_trees, const struct observation *rows, size_t n, int n_features);
double trees_predict(const struct trees *t, const double *features);
