// Ridge regression: weights of standardized features that minimize the squared errors and `penalty` times their own
// squares; and how well it predicts, which is the correlation R between observed values and those that are predicted by
// weights that were found without them (cross-validation by VALIDATION_FOLDS parts of equal size, taken by turns).
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define OBSERVATION_FEATURES 24
#define VALIDATION_FOLDS 5
#define FEWEST_OBSERVATIONS 12   // below which nothing is fitted
struct observation {
    double features[OBSERVATION_FEATURES], value;
};
struct ridge {
    int n_features;
    double mean[OBSERVATION_FEATURES], scale[OBSERVATION_FEATURES], weights[OBSERVATION_FEATURES], intercept;
    double r;   // cross-validated
};
// False: there are too few rows, or all values are equal.
bool ridge_fit(struct ridge *ret_ridge, const struct observation *rows, size_t n, int n_features, double penalty);
double ridge_predict(const struct ridge *m, const double *features);
