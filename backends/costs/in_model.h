// Costs of steps as they are inside of running models, where operands and weights lie where the steps before have left
// them: what a search believes is corrected by them, and they stay in the database.
#pragma once
#include "backends/contract/backend.h"

// A cost that differed from what was believed by more than both scatter.
struct cost_correction {
    const char *step;       // by what the database knows it; as long as the backend is open
    double before, after;   // seconds
    uint32_t n_noted;       // times that it was met
};
typedef VEC(struct cost_correction) cost_corrections;

struct in_model_notes *in_model_notes_new(void);
void in_model_notes_free(struct in_model_notes *notes);

// Notes what one step of a plan took in a run; `spread` as of costs.
void backend_note_in_model(struct backend *b, const struct plan *plan, const struct step *step, double seconds,
                           double spread, bool is_doubtful);
// Costs become the mean of what was noted, and are forgotten as notes; everything that was derived from costs is, too.
// Adds to `corrections` what differed, in the order in which steps were noted first. Not while others estimate.
void backend_adopt_in_model(struct backend *b, cost_corrections *corrections);
// The costs adopted last are what they were before, and known from running models: these cost about what they take, so
// none is run again for that.
void backend_keep_former_costs(struct backend *b);
