// Ridge regression: weights of standardized features that minimize the squared errors and `penalty` times their own
// squares.
#pragma once
#include "tuning/model/observation.h"
#include <stdbool.h>

struct ridge {
    int n_features;
    double mean[OBSERVATION_FEATURES], scale[OBSERVATION_FEATURES], weights[OBSERVATION_FEATURES], intercept;
    double r;   // cross-validated
};
// False: there are too few rows, or all values are equal.
bool ridge_fit(struct ridge *ret_ridge, const struct observation *rows, size_t n, int n_features, double penalty);
double ridge_predict(const struct ridge *m, const double *features);
