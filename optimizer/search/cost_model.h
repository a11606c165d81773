// What the search asks of a device: the time that the live part of a graph takes, as the sum of what the backend's
// steps for it were measured to take. Work on weights alone costs nothing: it is done once, before the graph runs.
#ifndef OPTIMIZER_SEARCH_COST_MODEL_H
#define OPTIMIZER_SEARCH_COST_MODEL_H

struct graph;

struct cost_model {
    double (*graph_seconds)(void *context, const struct graph *g);   // infinity: the device cannot run it
    void *context;
};
#endif
