// Instances of rules: a rule at given types of its variables and attributes of its source nodes. Whether it applies, and
// which nodes its target has, depends on nothing else, so each instance is looked at once, on a small graph of its own:
// by the very code that the backtracking search uses (substitutions/match.h).
#ifndef EGRAPH_INSTANCE_H
#define EGRAPH_INSTANCE_H
#include "egraph/egraph.h"
#include "substitutions/match.h"

enum instance_state {
    INSTANCE_NO_MATCH,    // attributes or conditions
    INSTANCE_ILL_TYPED,   // the target
    INSTANCE_REFUTED,     // source and target have different values
    INSTANCE_APPLIES,
};
struct instance_node {
    const struct operator* op;
    uint32_t attributes, type;   // interned in the e-graph
};
struct rule_instance {
    enum instance_state state;
    const struct instance_node *targets;   // APPLIES: one for each node of the pattern that is not of the source
};
// Is the application right at these shapes? `g` holds the source graph alone.
struct instance_validation {
    bool (*is_right)(void *context, const struct match *m, const struct graph *g);   // NULL: believed
    void *context;
};

struct instances {
    struct egraph *e;
    const struct rule_set *rules;
    struct instance_validation validation;
    struct arena arena, scratch, graphs;
    struct table by_key;
    VEC(struct rule_instance) items;
    VEC(uint32_t) keys, first_key;   // words; where those of each instance begin (and one more)
    VEC(uint32_t) asked;
    size_t n_refuted;
};
void instances_init(struct instances *x, struct egraph *e, const struct rule_set *rules,
                    const struct instance_validation *validation);
void instances_free(struct instances *x);
// Of rule number `rule` at these classes for its variables and these e-nodes for the nodes of its source.
const struct rule_instance *instances_find(struct instances *x, uint32_t rule, const eclass_id *variables,
                                           const enode_id *nodes);
#endif
