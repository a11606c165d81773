// Exploration: all rules on all of an e-graph, round after round (equality saturation). Each round searches with the
// e-graph as it is, on threads; applies what was found, in a fixed order; and rebuilds once. The result is the same for
// any number of threads.
//
// Limits: e-nodes, rounds, memory, time; rules with several outputs take part in the first `k_multi` rounds only
// (Tensat, Section 4); a rule that matches too often is banned for some rounds, longer each time (egg's back-off).
#pragma once
#include "egraph/cycles.h"
#include "egraph/ematch.h"
#include "egraph/instance.h"

enum cycle_filtering {
    CYCLES_KEPT,        // of extractions that see to it themselves, and where nothing is extracted
    CYCLES_VANILLA,     // each application is checked on the e-graph as it is
    CYCLES_EFFICIENT,   // each is checked by what was known when the round began, and the rest is resolved after it
};

enum exploration_end {
    EXPLORATION_SATURATED,   // nothing new follows
    EXPLORATION_ROUNDS,
    EXPLORATION_NODES,
    EXPLORATION_MEMORY,
    EXPLORATION_TIME,
    EXPLORATION_INTERRUPTED,
};
struct exploration_options {
    size_t most_nodes, most_memory;   // memory in bytes; 0: no limit
    uint32_t rounds, k_multi;
    double seconds;               // 0: no limit
    uint32_t most_matches, ban;   // of a rule in a round before it is banned, and for how many; both double each time
    uint32_t threads;             // 0: all cores
    enum cycle_filtering filtering;
    // Rules begin to match at the e-nodes for which this holds, as that of their first source term. NULL: anywhere.
    bool (*is_root)(void *context, enode_id n);
    bool (*is_used)(void *context, const struct rule *r);   // NULL: all rules are
    bool may_share;                                         // as in ematch.h
    void *context;
};
extern const struct exploration_options exploration_standard_options;   // 50,000 nodes, 15 rounds, k_multi 1

struct exploration_round {
    uint32_t n_nodes, n_classes, n_matches, n_unions, n_filtered;
    double seconds;
};
struct exploration_rule {
    uint32_t matches, unions, bans;
    uint32_t banned_until, since;
    bool is_refuted;
};
// An application that made two classes one: in `words` the e-node of each term of the rule's pattern, and of each node.
struct eapplication {
    uint32_t rule, first_word;
};
struct exploration_statistics {
    double seconds, seconds_searching, seconds_cycles;
    size_t n_prevented, n_resolved;   // cycles: applications left out, and nodes filtered
};
struct exploration {
    struct egraph *e;
    const struct rule_set *rules;
    struct exploration_options options;
    struct ematcher matcher;
    struct instances instances;
    struct ecycles cycles;
    struct thread_pool *team;
    VEC(struct exploration_rule) of_rules;
    VEC(struct exploration_round) rounds;
    VEC(struct eapplication) applications;
    VEC(uint32_t) words;
    uint32_t round;   // of all runs
    struct exploration_statistics statistics;
    enum exploration_end end;
};
void exploration_init(struct exploration *x, struct egraph *e, const struct rule_set *rules,
                      const struct exploration_options *options);
void exploration_free(struct exploration *x);
// The e-graph must be clean; it may have grown since the last run.
void exploration_run(struct exploration *x);
// Is an application right, by the values of source and target at its shapes?
bool exploration_validate(struct exploration *x, uint32_t application, instance_validation *is_right, void *context);
extern const char *const exploration_end_names[];

static inline uint32_t exploration_term(const struct exploration *x, const struct eapplication *a, term_id term)
{
    return x->words.items[a->first_word + term];
}
static inline uint32_t exploration_node(const struct exploration *x, const struct eapplication *a, uint32_t node)
{
    return x->words.items[a->first_word + x->rules->rules.items[a->rule]->pattern.terms.count + node];
}
