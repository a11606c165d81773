// Equality of two models by structure and rules: rules that were proved add equal terms to the common graph, constants
// are computed, and congruence joins what follows, until the outputs are joined or a budget is spent.
//
// Only what the models do not share is rewritten, and only where it stands on what they share: once a part is found to
// be equal, the next one comes into reach. Rules add equalities and take nothing away, so their order does not matter.
#ifndef VERIFIER_MODEL_SATURATE_H
#define VERIFIER_MODEL_SATURATE_H
#include "substitutions/rule.h"
#include "verifier/model/common.h"
#include "verifier/model/equalities.h"

struct saturation {
    int64_t most_nodes;   // in: that rules may add
    uint32_t rounds;      // out
    size_t matches, constants;
    bool is_exhausted;   // the budget was spent; else nothing more follows, or all is equal
};
// Which tensors both models have, or one of equal value.
struct shared_classes {
    bool *is_shared;   // of every tensor of the common graph, by its class
    size_t n_tensors;
    size_t count;   // of the models' own tensors
};
void shared_classes_init(struct shared_classes *ret_shared, const struct common_graph *c, const struct equalities *e);
void shared_classes_free(struct shared_classes *shared);

bool common_outputs_are_equal(const struct common_graph *c, const struct equalities *e);
void common_graph_saturate(struct common_graph *c, struct equalities *e, const struct rule_set *rules,
                           struct saturation *s);
#endif
