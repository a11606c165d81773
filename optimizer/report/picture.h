// Where the nodes of a graph stand in a picture of it, from the inputs at the top to the outputs at the bottom, and
// which of them another graph has not. Work on weights alone is left out, as it is done once.
#pragma once
#include "graph/graph.h"
#include "optimizer/report/graph_steps.h"

#define PICTURE_BOX_WIDTH 132
#define PICTURE_BOX_HEIGHT 36

struct picture_node {
    node_id node;
    bool is_changed;   // the other graph has no such node
    uint32_t layer;    // one below the lowest of what it reads
    double x, y;       // of the box's upper left corner
    double seconds;    // of the step that it is the first node of; 0: it costs nothing by itself
};
struct picture_edge {
    uint32_t from, to;   // in `nodes`
};
struct picture {
    const struct graph *graph;
    VEC(struct picture_node) nodes;
    VEC(struct picture_edge) edges;
    double width, height;
    double most_seconds;   // of any node
    size_t n_changed;
};
// `steps` may be NULL: no costs are known.
void picture_make(struct picture *ret_picture, const struct graph *g, const struct graph *other,
                  const struct graph_steps *steps);
void picture_free(struct picture *p);
