// Instances of rules: a rule at given types of its variables and attributes of its source nodes. Whether it applies,
// and which nodes its target has, depends on nothing else, so each instance is looked at once, on a small graph of its
// own: by the very code that the backtracking search uses (substitutions/match.h).
#pragma once
#include "egraph/egraph.h"
#include "substitutions/match.h"

enum instance_state {
    INSTANCE_NO_MATCH,    // attributes or conditions
    INSTANCE_ILL_TYPED,   // the target
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
struct instances {
    struct egraph *e;
    const struct rule_set *rules;
    struct arena arena, scratch, graphs;
    struct table by_key;
    VEC(struct rule_instance) items;
    VEC(uint32_t) keys, first_key;   // words; where those of each instance begin (and one more)
    VEC(uint32_t) asked;
};
void instances_init(struct instances *x, struct egraph *e, const struct rule_set *rules);
void instances_free(struct instances *x);
// The instance of rule number `rule` at these classes for its variables and these e-nodes for the nodes of its source.
const struct rule_instance *instances_find(struct instances *x, uint32_t rule, const eclass_id *variables,
                                           const enode_id *nodes);
// Is the application right at these shapes? `g` holds the source graph alone.
typedef bool instance_validation(void *context, const struct match *m, const struct graph *g);
// Asks that of an instance that applies.
bool instances_validate(struct instances *x, uint32_t rule, const eclass_id *variables, const enode_id *nodes,
                        instance_validation *is_right, void *context);
