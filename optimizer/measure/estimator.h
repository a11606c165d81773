// The cost of a graph for the search: on the device, or in the user's runtime where models are timed there; of what can
// be run of it, at all profiles of a model with symbols; and the same for several threads.
#pragma once
#include "optimizer/job/optimization.h"

// Under which layouts a search with this strategy prices graphs.
enum layout_policy optimizing_policy_of(enum layout_strategy strategy);
// The estimator of the job's strategy.
struct estimator optimizing_estimator(struct optimizing *o);
// False: a device failed, or only recalls costs and lacks some.
bool estimator_estimate(const struct estimator *e, const struct graph *g, struct estimate *ret_estimate);
// The functions of a cost model (search/cost_model.h); the context is an estimator.
double estimator_seconds(void *context, const struct graph *g);
double estimator_known_seconds(void *context, const struct graph *g);
double estimator_expected_seconds(void *context, const struct graph *g);
// Into o->workers, one for each thread of the search.
void optimizing_open_estimators(struct optimizing *o);
void optimizing_close_estimators(struct optimizing *o);
// A share of the time of the original, for each of its operators the same.
double optimizing_seconds_per_operator(struct optimizing *o, double share);
