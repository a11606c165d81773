// Examples of a rule: its source and its target as graphs at a few shapes, as generic ones as are found, for each
// combination of ranks and axes that the rule may be applied at.
#pragma once
#include "graph/graph.h"
#include "instances/enumerate.h"

struct example {
    struct graph source, target;   // leaf number v is the rule's variable v
};
struct examples {
    struct arena arena;   // of the graphs
    VEC(struct example) items;
};
// All leaves are inputs.
void examples_make(struct examples *ret_examples, const struct rule *r, struct typing *typing);
// Adds up to `n` at random attributes and sizes, of ranks up to 4.
void examples_add_random(struct examples *e, const struct rule *r, uint32_t n);
void examples_set_weights(struct examples *e, uint32_t weights);   // these leaves become weights
void examples_free(struct examples *e);
// Are the first and the last entry of each output equal over the prime field, as far as they are cheap? Cases of signs
// are a proof over the reals, and no law of the stand-ins that functions have there.
bool example_holds_over_field(const struct example *e);
// The same graph with nothing known of how it came about: what is structurally equal then compares as equal. False: a
// node is not typed as before, because split trees of its inputs have changed.
bool graph_forget_history(struct graph *ret_graph, const struct graph *g, struct arena *arena);
// The variables that a rule wants to be weights, one bit each.
uint32_t rule_weights(const struct rule *r);
