// The direct proof: an equation tested from the operators' definitions, as exact polynomials, at every instance within
// bounds that make the test a proof, or say that it is none.
#ifndef VERIFIER_JUDGE_H
#define VERIFIER_JUDGE_H
#include "core/text.h"
#include "verifier/bounds.h"
#include "verifier/enumerate.h"

enum verdict {
    VERDICT_PROVED,      // for all sizes, by the argument of the bounds
    VERDICT_TESTED,      // at all instances within the bounds, which are no proof
    VERDICT_REFUTED,     // with a counterexample
    VERDICT_UNDECIDED,   // normal forms differ and numbers do not, or there are no normal forms
    VERDICT_VACUOUS,     // never well-typed at the sizes tried
    VERDICT_COUNT,
};
const char *verdict_name(enum verdict verdict);

// Kept by one thread and reused, equation after equation.
struct judge {
    struct typing typing;
    struct polynomial_pool pool;
    struct arena scratch;
    uint64_t step_limit;       // types tried per equation
    uint64_t steps;            // those of the equation being judged
    bool met_limits;           // the equation being judged did
    uint64_t instance_limit;   // instances compared per equation
    uint64_t work_limit;       // terms of polynomials handled per equation
    int patience;              // times the steps, for an equation of which they found no instance
    int fixed_bound;           // every size up to this instead of the argued bounds; 0: argued bounds
    uint32_t part, n_parts;    // with a fixed bound: which assignments of attributes are tested; 0 of 1: all
    // Told of every instance without split trees that judge_equation compares, before that, and of those of
    // its search for small ones if asked to be. NULL: nobody.
    void (*listener)(void *context, struct instance *in);
    void *listening;
    bool listens_to_search;
};
void judge_init(struct judge *j);
void judge_free(struct judge *j);
uint64_t judge_steps_left(const struct judge *j);   // of the limit, for the equation being judged

struct judgement {
    enum verdict verdict;
    uint64_t instances, failures;
    int max_rank;
    struct bounds bounds;
    bool needs_reals;             // laws were used that integers do not have
    bool has_cut_inputs;          // REFUTED: the counterexample has inputs with split trees
    bool was_cut_short;           // the step limit was reached
    bool met_limits;              // it, or another limit on the way: with larger ones there might be more to see
    bool saw_all_kinds;           // the search for small instances was not: the listener heard of each kind
    const char *doubt;            // TESTED: why it is no proof
    struct text counterexample;   // REFUTED, UNDECIDED; owned
};
void judgement_free(struct judgement *result);
// Stops at the first failing instance.
void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result);
// Into how many parts the work for a fixed bound is worth to be divided, of which each may be judged by another thread.
uint32_t judge_count_parts(struct judge *j, const struct equation *eq);
// Adds what was judged of another part, which is freed: the first counterexample, in the order of merging, stays.
void judgement_merge(struct judgement *all, struct judgement *part);
// "sizes 1..2, ranks 0..4" and the reason for each axis: lines of text.
void judgement_print_bounds(struct text *out, const struct equation *eq, const struct judgement *result);

// Every instance within the bounds, with its outcome, for who wants to find conditions. False: stop.
typedef bool judge_visit_fn(void *context, struct instance *in, enum comparison outcome);
void judge_each_instance(struct judge *j, const struct equation *eq, judge_visit_fn *visit, void *context);
// The instances without split trees that judge_equation would compare if none of them failed. False: stop.
void judge_visit_instances(struct judge *j, const struct equation *eq,
                           bool (*visit)(void *context, struct instance *in), void *context);
// Well-typed instances of all kinds (ranks, lengths of attributes), at small sizes. False: the search was cut short, and
// when it must not be it was left then.
bool judge_explore(struct judge *j, const struct equation *eq, bool must_be_whole,
                   bool (*visit)(void *context, struct instance *in), void *context);
#endif
