// An equation tested from the operators' definitions at small instances: all ranks and sizes up to
// a bound and the attributes of domain.h, in one order, up to a number of instances (verifier/limits.h). Nothing is
// proved by that.
#pragma once
#include "instances/enumerate.h"
#include "verifier/testing/comparison.h"
#include "verifier/testing/counterexample.h"

enum verdict {
    VERDICT_AGREES,        // at all instances that were tried
    VERDICT_REFUTED,       // with a counterexample
    VERDICT_NOT_COVERED,   // no instance is among those that are tried
};

struct judgement {
    enum verdict verdict;
    uint64_t instances;
    int largest_rank, largest_size;
    bool was_cut_short;                     // there are more up to this rank and size
    struct counterexample counterexample;   // REFUTED; owned
};
void judgement_free(struct judgement *result);

// Kept by one thread and reused, equation after equation.
struct judge {
    struct typing typing;
    struct arena scratch;
    uint64_t step_limit;       // types tried per equation
    uint64_t instance_limit;   // instances compared per equation
    int largest_size;          // sizes are tried up to this one; 0: up to the first that has instances
    bool adds_conditions;      // to rules that are not proved as they stand
};
void judge_init(struct judge *j);
void judge_free(struct judge *j);

// Stops at the first failing instance.
void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result);

// All instances, with their outcomes, for who wants to find conditions. False: stop.
typedef bool judge_visit_fn(void *context, struct instance *in, enum comparison outcome);
void judge_each_instance(struct judge *j, const struct equation *eq, judge_visit_fn *visit, void *context);
// Do the sides differ at an instance that judge_equation would try? Nothing is told of it, and so it is not made small.
bool judge_finds_difference(struct judge *j, const struct equation *eq);
