// What graphs cost in the user's runtime: the sum of what their groups of nodes (step_groups.h) were measured to take
// there, each as a small model. Costs are kept by the group's text in a cost database, under the runtime's version and
// provider.
#ifndef OPTIMIZER_RUNTIME_STEP_COSTS_H
#define OPTIMIZER_RUNTIME_STEP_COSTS_H
#include "graph/graph.h"
#include "optimizer/runtime/worker.h"
#include <stdbool.h>

struct error;
struct log;
struct step_costs;

struct step_costs_options {
    const char *device;      // beside the runtime: processor and threads
    const char *cost_file;   // as of backend_options
    int64_t opset;           // of the models that are measured
    size_t weight_bytes;     // of the whole model: large ones push each other out of the caches
    const struct log *log;
};
// `w` has greeted and outlives it.
struct step_costs *step_costs_open(struct worker *w, const struct step_costs_options *options, struct error *error);
// Of a graph without opaque nodes. Infinity: the runtime fails at a group. NaN, only where nothing may be measured: one
// is not known; several threads may ask so at the same time.
double step_costs_estimate(struct step_costs *c, const struct graph *g, bool only_recalls);
// Adds how many groups were measured, and how long that took.
void step_costs_report(const struct step_costs *c, uint64_t *n_measured, double *seconds);
void step_costs_close(struct step_costs *c);   // writes the database; NULL is allowed
#endif
