// Tuning a graph that is not prepared to run: the plan with its layouts by a policy, by what is known of costs.
#pragma once
#include "tuning/tune_plan.h"

struct graph;

// As tune_plan. False: it cannot be planned, and the report is empty.
bool tune_graph(struct backend *b, const struct graph *g, enum layout_policy policy,
                const struct tuning_options *options, struct tuning_report *ret_report);
