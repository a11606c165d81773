// Observations that models of costs learn from: features of something, and its value; and how well a model predicts,
// which is the correlation R between observed values and those that are predicted by a model that was fitted
// without them (cross-validation by VALIDATION_FOLDS parts of equal size, taken by turns).
#pragma once
#include <stddef.h>

#define OBSERVATION_FEATURES 24
#define VALIDATION_FOLDS 5
struct observation {
    double features[OBSERVATION_FEATURES], value;
};
struct correlation {
    double n, x, y, xx, yy, xy;
};
void correlation_add(struct correlation *c, double x, double y);
double correlation_r(const struct correlation *c);   // 0: x or y are all equal
