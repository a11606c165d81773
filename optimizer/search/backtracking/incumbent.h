// The whole graph while it is being improved: the best one so far, every match in it with an estimated change in
// cost, and the making of a better one by many edits at once.
//
// After an adoption only what is near the change is matched and priced anew; all other matches move along.
#pragma once
#include "core/system/progress.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/backtracking/local_cost.h"
#include "optimizer/search/backtracking/parallel_cost.h"
#include "optimizer/search/backtracking/patience.h"
#include "optimizer/search/backtracking/region.h"
#include "optimizer/search/translation_validation.h"
#include "substitutions/rule_index.h"

#define NOT_TRIED UINT32_MAX

struct proposal {
    struct match match;
    double change;     // estimated, in seconds; infinity: not to be applied
    double least;      // gain that counts, in seconds
    int64_t rank;      // the change, rounded: sums of the same costs in another order are equal
    uint64_t number;   // order of arrival
    uint32_t tried;    // the site of the region in which a chain was begun with it, or NOT_TRIED
    bool is_sure;      // the change is that of the whole graph, of a match that looks the same
    bool is_stale;     // something near has changed since it was priced
};
// A change of the whole graph: a match, or what a region has become.
struct edit {
    const struct match *match;           // NULL: the region
    const struct rewritten *rewritten;   // at this site
    const struct site *site;
    double change;   // estimated
    double least;    // gain that counts, of the whole graph as of the neighbourhood
    size_t n_steps;
    const struct search_step *steps;   // with `seconds_after` being each step's estimated change
};
// The graph in seconds, and the work that was done to price it.
struct whole_price {
    double seconds;            // of the graph, priced as a whole
    double refused;            // change of the whole graph by the edits that were last tried
    double grain;              // of ranks, in seconds
    uint64_t most_work;        // that may be done
    uint64_t n_nodes_priced;   // of whole graphs
};
struct proposals {
    VEC(struct proposal) list;
    uint64_t arrived;
    const bool *touched;   // while matching: only matches with such a node
};
// The end of the search, and how far it has come.
struct whole_pace {
    struct patience patience;
    struct progress *progress;
    const size_t *n_queued;   // of chains, for the progress
};
struct rules_in_use {
    const struct rule_set *rules;
    struct rule_index index;
    bool *is_disabled;   // of every rule
};
struct whole {
    const struct search_options *options;
    const struct cost_model *cost;
    struct search_result *result;
    struct pricer pricer;
    struct batch batch;
    struct validator *validator, own_validator;
    struct arena scratch;
    struct rules_in_use in_use;
    struct graph graph, working;
    struct match_index index;
    struct whole_price price;
    struct proposals proposals;
    struct whole_pace pace;
};
// The fate of the graph before: where its tensors and nodes are now, if they still are what they were (NO_TENSOR,
// NO_NODE: gone or replaced), and which nodes are new or read something new.
struct movement {
    tensor_id *tensors;
    node_id *nodes;
    bool *is_changed;
    size_t n_tensors, n_nodes, n_nodes_now;
};

void whole_init(struct whole *w, const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                const struct search_options *options, struct search_result *result);
void whole_free(struct whole *w);

// --- proposals -------------------------------------------------------------------------------------------------------

// --- edits -----------------------------------------------------------------------------------------------------------
// Applies as many of the edits as make the graph cheaper: all, or else about the first half of them, and so on; of
// edits that look the same all or none, as far as that goes. They must not touch the same nodes. Gives the number
// applied; when it is not 0, `ret_movement` is to be freed.
size_t whole_apply(struct whole *w, const struct edit *edits, size_t n, struct movement *ret_movement);
bool whole_apply_all(struct whole *w, const struct edit *edits, size_t n, struct movement *ret_movement);   // or none
// Is what was estimated, and n rewrites have to gain, a gain of the whole graph, too?
bool whole_is_gain(double before, double after, double estimated_change, double least, size_t n);
bool whole_would_gain(struct whole *w, const struct edit *e);   // alone
void movement_free(struct movement *m);

// --- descent ---------------------------------------------------------------------------------------------------------
