// What schedules of steps take, learned from those that were measured, to order others of the same steps: a ridge
// regression of the logarithm of seconds on logarithms of features and their squares, all beside the mean of the step.
// So what is learned of one step serves all that have the same features. It is not believed below COST_MODEL_LEAST_R.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define COST_MODEL_FEATURES 12
#define COST_MODEL_LEAST_R 0.4   // of the cross-validation

struct cost_model;
struct cost_model *cost_model_new(void);
void cost_model_free(struct cost_model *m);
size_t cost_model_add_step(struct cost_model *m);   // gives its number
// Features and seconds are positive.
void cost_model_add(struct cost_model *m, size_t step, const double features[COST_MODEL_FEATURES], double seconds);
void cost_model_fit(struct cost_model *m);         // to what was added
double cost_model_r(const struct cost_model *m);   // as of the last fit; 0: there was too little
// Orders schedules of a step; values of different steps cannot be compared. False: nothing is known, or believed.
bool cost_model_predict(const struct cost_model *m, size_t step, const double features[COST_MODEL_FEATURES],
                        double *ret_value);
