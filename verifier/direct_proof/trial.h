// Trials: instances of an equation at random attributes and at sizes beyond those that a proof looks at, run in
// ordinary numbers. What is claimed of all shapes is tried here without any of the argument that it was claimed by.
#pragma once
#include "verifier/direct_proof/counterexample.h"
#include "verifier/instances/enumerate.h"
#include "verifier/limits.h"

struct instance;

struct trials {
    struct typing *typing;
    uint64_t seed;
    int largest;           // size of an axis of the variables, up to LARGEST_TRIED
    uint32_t wanted;       // instances to run
    uint32_t attempts;     // at most as many choices of attributes and sizes are searched for them
    uint64_t step_limit;   // of each such search
    bool is_far;           // ranks up to 6, attributes that double from small ones to 33, one long axis, six parts
    void (*visit)(void *context,
                  const struct instance *in);   // is shown instances instead of running them; may be NULL
    void *context;
    // results
    uint32_t instances;   // that were run
    uint32_t overflows;   // of these told nothing of entries that are numbers on one side alone
};
// The choices depend on the seed and the equation's name alone. False: the sides differ at an instance, which is
// printed.
bool trials_run(struct trials *t, const struct equation *eq, struct counterexample *ret_counterexample);
// Random instances that a verdict asks for, near and far ones or, `is_far`, these alone. Adds to their number.
bool trials_run_usual(struct typing *typing, const struct equation *eq, bool is_far, uint32_t *instances,
                      struct counterexample *ret_counterexample);
