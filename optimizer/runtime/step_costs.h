// What graphs cost in the user's runtime: the sum of what their groups of nodes (step_groups.h) were measured to take
// there, each as a small model. Costs are kept by the group's text in a cost database, under the runtime's version and
// provider.
#pragma once
#include "backends/contract/coster.h"
#include "optimizer/runtime/worker.h"
#include <stdbool.h>

struct error;
struct log;
struct weight_source;

struct step_costs_options {
    const char *device;      // beside the runtime: processor and threads
    const char *cost_file;   // as of backend_options
    int64_t opset;           // of the models that are measured
    size_t weight_bytes;     // of the whole model: large ones push each other out of the caches
    const struct log *log;
};
// `w` has greeted and outlives it. Estimates are of graphs without opaque nodes; several threads may ask at the same
// time where nothing may be measured.
struct coster *step_costs_open(struct worker *w, const struct step_costs_options *options, struct error *error);
// While `price` estimates what a model costs at its sizes, with the model's own leaves for weights: its constants keep
// their values as its parts are measured, and a part at which the runtime fails is guessed from then on, so that the
// rest of the model can be rewritten. How many such parts there are.
size_t step_costs_price_original(struct coster *costs, const struct weight_source *weights,
                                 double (*price)(void *context), void *context);
// The database is written now, or as it is closed, with a warning where that fails. NULL is allowed.
bool step_costs_save_last(struct coster *costs, struct error *error);
void step_costs_close(struct coster *costs);
