// A graph on a device, in words for a report: the steps of its plan with costs, and which nodes each computes.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"

struct step_summary {
    const char *kind;      // the operators that it computes, as ONNX has them: "Conv + Add + Relu"; "copy" for none
    const char *layouts;   // what the kernel reads and makes: "last, rows -> last"; "" for loops
    const char *text;      // by which its cost is known
    double seconds;
    size_t first_value, n_values;
};
struct graph_steps {
    struct arena arena;
    VEC(struct step_summary) steps;
    VEC(uint64_t) values;   // of each step: the value keys of the first outputs of the nodes that it computes
};
void graph_steps_free(struct graph_steps *s);
// Adds the steps that run each time, in order. The graph has no opaque nodes.
bool graph_steps_collect(struct graph_steps *s, struct backend *b, const struct graph *g, struct error *error);
