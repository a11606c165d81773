// The question that the search asks of a device: the time that the live part of a graph takes, as the sum of what the
// backend's steps for it were measured to take. Work on weights alone costs nothing: it is done once, before the graph
// runs.
#pragma once
#include <stddef.h>

struct graph;

struct cost_model {
    double (*graph_seconds)(void *context, const struct graph *g);   // infinity: the device cannot run it
    void *context;
    // Contexts for more threads, one each, to be used at the same time. With these, NaN says that something would have
    // to be measured; then the first context is asked, while nobody else works. Costs do not depend on who is asked.
    size_t n_workers;
    void *const *workers;
    // The same as graph_seconds, but NaN where something would have to be measured. NULL: nothing ever has to be.
    double (*known_seconds)(void *context, const struct graph *g);
    // Says that graph_seconds will be asked for it soon, in the same context; NaN, always. NULL: nobody wants to know.
    double (*expected_seconds)(void *context, const struct graph *g);
};
