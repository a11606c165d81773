// Trials: instances of an equation at random attributes and at sizes beyond those that a proof looks at, run in
// ordinary numbers. What is claimed of all shapes is tried here without any of the argument that it was claimed by.
#pragma once
#include "instances/random_instances.h"
#include "verifier/testing/counterexample.h"

struct trials {
    struct random_search search;   // but for its visit
    uint32_t overflows;            // instances that told nothing of entries that are numbers on one side alone
    struct counterexample *counterexample;
};
// False: the sides differ at an instance, which is printed.
bool trials_run(struct trials *t, const struct equation *eq, struct counterexample *ret_counterexample);
// A proved rule is tried at a few far instances, a property at near ones as well; a rule that nothing proves rests on
// its instances alone, and far ones at which it differs are hard to meet.
enum trial_effort { TRIALS_OF_PROVED, TRIALS_OF_PROPERTY, TRIALS_OF_UNPROVED };
// Random instances that a verdict asks for. Adds to their number.
bool trials_run_usual(const struct equation *eq, enum trial_effort effort, uint32_t *instances,
                      struct counterexample *ret_counterexample);
