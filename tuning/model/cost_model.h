// Costs of schedules of steps, learned from those that were measured, to order others of the same steps: the logarithm
// of seconds beside the mean of the step, by logarithms of features beside theirs. So what is learned of one step
// serves all that have the same features. Ridge regression has squares besides, boosted trees what features are
// themselves; that with the greater R of the cross-validation is asked. It is not believed below LEAST_R.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define COST_MODEL_FEATURES 12

struct cost_model;
struct cost_model *cost_model_new(bool has_trees);   // beside ridge regression
void cost_model_free(struct cost_model *m);
size_t cost_model_add_step(struct cost_model *m);   // gives its number
// Features and seconds are positive.
void cost_model_add(struct cost_model *m, size_t step, const double features[COST_MODEL_FEATURES], double seconds);
void cost_model_fit(struct cost_model *m);         // to what was added
double cost_model_r(const struct cost_model *m);   // as of the last fit; 0: there was too little
// Orders schedules of a step; values of different steps cannot be compared. False: nothing is known, or believed.
bool cost_model_predict(const struct cost_model *m, size_t step, const double features[COST_MODEL_FEATURES],
                        double *ret_value);
