// The direct proof: an equation tested from the operators' definitions, as exact polynomials, at every instance within
// bounds that make the test a proof, or say that it is none.
#pragma once
#include "verifier/direct_proof/comparison.h"
#include "verifier/direct_proof/judgement.h"
#include "verifier/instances/enumerate.h"
#include "verifier/kinds/kinds.h"

// What the search for small instances of an equation found out.
struct explored {
    bool is_known;
    struct box box;   // one with instances, of sizes up to
    int size;         // 0: none was found
    struct bounds bounds;
    bool saw_all_kinds;
};

// As many times the steps, where the search for small instances was cut short and that is all that a proof may lack.
#define LONGER_SEARCH 4

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
    uint64_t search_times;     // as many steps, for the search of small instances alone: 1, or LONGER_SEARCH
    bool adds_conditions;      // to rules that are not proved as they stand
    struct explored explored;
    struct met_kinds kinds;         // of the instances that were explored
    struct learned_forms learned;   // of operators
    bool keeps_explored;            // until judge_begin is called again, all that is judged is one equation
    int fixed_bound;                // every size up to this instead of the argued bounds; 0: argued bounds
    uint32_t part, n_parts;         // with a fixed bound: which assignments of attributes are tested; 0 of 1: all
    // Told of every instance without split trees that judge_equation compares, before that, and of those of
    // its search for small ones if asked to be. NULL: nobody.
    void (*listener)(void *context, struct instance *in);
    void *listening;
    bool listens_to_search;
    void (*search_has_ended)(void *context);   // told to the listener, too, if not NULL
};
void judge_init(struct judge *j);
void judge_free(struct judge *j);
// What is judged from now on is another equation; the same one again and again, if `keeps_explored`: its small
// instances are then searched only once, unless that was cut short. The listener does not hear of them again.
void judge_begin(struct judge *j, bool keeps_explored);

// Stops at the first failing instance.
void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result);
// Into how many parts the work for a fixed bound is worth to be divided, of which each may be judged by another thread.
uint32_t judge_count_parts(struct judge *j, const struct equation *eq);

// Every instance within the bounds, with its outcome, for who wants to find conditions. False: stop.
typedef bool judge_visit_fn(void *context, struct instance *in, enum comparison outcome);
void judge_each_instance(struct judge *j, const struct equation *eq, judge_visit_fn *visit, void *context);
// The instances without split trees that judge_equation would compare if none of them failed. False: stop.
void judge_visit_instances(struct judge *j, const struct equation *eq,
                           bool (*visit)(void *context, struct instance *in), void *context);
