// Distance-guided search (EinNet, Section 6.1): explorative derivation to a depth, converging derivation at every
// program on the way, one state for each fingerprint.
//
// A program's fingerprint is its tensor: the pool gives one number to all programs that differ in names and the order
// of sums and operands. The search is deterministic; it is bounded by depth and by numbers of programs, by no clock.
#pragma once
#include "derivation/matching/match.h"
#include "derivation/programs/derivation.h"
#include "derivation/search/suggestions.h"

struct search_limits {
    int depth;
    size_t most_programs;
    double most_operations;   // of an explored program, as a multiple of the original's
    double most_cost;   // of programs that operators are looked for in, as a multiple of the cheapest; 0: no limit
    bool factorizes;    // bilinear algorithms are tried
    bool forgets;       // for measuring what fingerprints save: programs are explored again
    bool does_not_converge;   // for measuring what that saves: operators are looked for, but never derived toward
};
extern const struct search_limits search_standard_limits;

struct search_state {
    int program, before, depth;   // before: the state that it comes from, or -1
    enum derivation_rule rule;
    int tensor, equal;   // the tensor of the program before that became another one
};
// A program in which operators were found, where that was.
struct derived_program {
    int program, state;
    double cost, turned;   // program_cost
};
struct search_counters {
    size_t n_steps;     // rules applied
    size_t n_known;     // that led to a program that was known
    size_t n_matched;   // scopes for which operators were looked for
    size_t n_by_rule[RULE_COUNT];
};
struct search_matches {
    int tensor;
    struct match_list list;
};
struct search_suggestions {
    int tensor;
    struct suggestions list;
};
struct search {
    struct derivation *dv;
    struct search_limits limits;
    VEC(struct search_state) states;
    VEC(struct derived_program) results;   // each program once, the cheapest first
    VEC(struct search_matches) matches;    // of scopes that were looked at; so are these:
    VEC(struct search_suggestions) suggestions;
    struct table known, found;         // states and results, by programs
    struct table matched, suggested;   // by tensors
    struct search_counters counters;
    double cheapest;   // of the results
};
void search_run(struct search *s, struct derivation *dv, int program, const struct search_limits *limits);
void search_free(struct search *s);
