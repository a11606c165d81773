// The cost of graphs in the user's runtime: the sum of what their groups of nodes (step_groups.h) were measured to take
// there, each as a small model, and, once there were some, in sessions of whole models. What they take alone is kept
// by the group's text in a cost database, under the runtime's version and provider; what sessions show is of this model
// and hour, and is not kept.
#pragma once
#include "backends/contract/coster.h"
#include "backends/costs/in_model.h"
#include "optimizer/runtime/worker.h"
#include <stdbool.h>

struct step_costs_options {
    const char *device;      // beside the runtime: processor and threads
    const char *cost_file;   // as of backend_options
    int64_t opset;           // of the models that are measured
    size_t weight_bytes;     // of the whole model: large ones push each other out of the caches
    bool tries_costs;        // that are kept, by measuring some again
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
// A session's view of a graph that was priced: seconds of the kernels of each node, NAN where there
// were none. Costs stay what they are until what was noted is adopted. The original is noted first: what others have of
// it costs what it costs there.
void step_costs_note_session(struct coster *costs, const struct graph *g, const double *seconds, bool is_original);
// A session of the original, which is noted, was run once more, and took so long. Other programs only make it longer:
// if it was shorter than what was noted, that is made shorter. How many times slower it was than what is noted now.
double step_costs_note_original_again(struct coster *costs, const struct graph *original, double seconds);
// Was all of the graph in sessions that were adopted?
bool step_costs_know_session(struct coster *costs, const struct graph *g);
// Groups cost from now on what they took in sessions, on average, and all others what they take alone, times what
// groups of their kind take longer or shorter in sessions. Adds to `corrections` what differs from what was believed.
void step_costs_adopt_sessions(struct coster *costs, cost_corrections *corrections);
// Groups that no session had cost less by this share from now on: measured a few times alone, they scatter by more than
// rewrites gain. A session shows what is found so before it is believed.
void step_costs_hope(struct coster *costs, double share);
// The database is written now, or as it is closed, with a warning where that fails. NULL is allowed.
bool step_costs_save_last(struct coster *costs, struct error *error);
void step_costs_close(struct coster *costs);
