// Ridge regression: weights of standardized features that minimize the squared errors and `penalty` times their own
// squares. How well it predicts is the correlation R between what was measured and what is predicted of it by weights
// that were fitted without it (cross-validation by RIDGE_FOLDS parts of equal size, taken by turns).
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define RIDGE_FEATURES 24
#define RIDGE_FOLDS 5
#define RIDGE_FEWEST 12   // rows, below which nothing is fitted

struct ridge_row {
    double features[RIDGE_FEATURES], value;
};
struct ridge {
    int n_features;
    double mean[RIDGE_FEATURES], scale[RIDGE_FEATURES], weights[RIDGE_FEATURES], intercept;
    double r;   // cross-validated
};
// False: there are too few rows, or all values are equal.
bool ridge_fit(struct ridge *ret_ridge, const struct ridge_row *rows, size_t n, int n_features, double penalty);
double ridge_predict(const struct ridge *m, const double *features);
