// Tuning a graph that is not prepared to run: the plan with its layouts by a policy, by what is known of costs.
#pragma once
#include "tuning/tune_plan.h"

struct graph_tuning;
// NULL: it cannot be planned.
struct graph_tuning *graph_tuning_new(struct backend *b, const struct graph *g, enum layout_policy policy,
                                      const struct tuning_options *options);
// Would it be planned the same by now?
bool graph_tuning_holds(const struct graph_tuning *t, struct backend *b, const struct graph *g,
                        enum layout_policy policy);
struct plan_tuning *graph_tuning_of_plan(struct graph_tuning *t);
const struct plan *graph_tuning_plan(const struct graph_tuning *t);
void graph_tuning_free(struct graph_tuning *t);
