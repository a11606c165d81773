// The cost of graphs somewhere, in seconds of a run. Two do it: devices of our own plan a graph and add up its steps
// (backends/costs), the user's runtime is asked for groups of nodes (optimizer/runtime/step_costs.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct graph;

struct estimate {
    double seconds;
    uint32_t n_steps, n_guessed;   // steps that run each time; those of them whose cost is guessed (with the best
                                   // layouts: steps with standard layouts, and about how many are guessed)
    double gap;   // with the best layouts: others may cost less by this share of the least that is possible; 0: none
};

// Each implementation's struct begins with this one.
struct coster {
    // False: the graph cannot be run there, or its cost is not known. `only_recalls`: nothing is measured or guessed.
    bool (*estimate)(struct coster *c, const struct graph *g, bool only_recalls, struct estimate *ret_estimate);
    struct {
        uint64_t n_steps;
        double seconds, processor_seconds;   // that it took
    } measured;
};
