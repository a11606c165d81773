// The interface that the files of the planner share.
#pragma once
#include "backends/instructions/code_cache.h"
#include "backends/planning/plan.h"

#define NO_STEP UINT32_MAX

enum tensor_standing { TENSOR_ABSENT, TENSOR_STORED, TENSOR_IN_LOOP };
// The result of a concatenation, written by parts.
struct tensor_whole {
    tensor_id tensor;
    bool is_open;   // layout and view are there
    enum layout layout;
    struct view view;
};
struct tensor_part {
    struct tensor_whole *whole;
    int64_t start[MAX_RANK];   // of its corner
};
struct tensor_state {
    enum tensor_standing standing;
    uint32_t step;                           // that makes it (STORED: the step whose memory it views); NO_STEP: a leaf
    uint16_t value;                          // IN_LOOP: of the step's only loop
    bool is_constant, is_image, is_matrix;   // is_image: see planner_layouts.c; is_matrix: a matrix product reads it
    struct view view;
    struct tensor_copy *copies;
    const struct tensor_part *part;   // where it is written; NULL: into memory of its own
    struct tensor_whole *follows;     // whose layout it takes, because all that is made of it is written there; or NULL
};
struct tensor_copy {
    struct view view;
    struct tensor_copy *next;
};
struct planner {
    const struct graph *g;
    const struct plan_target *target;
    struct code_cache *codes;
    struct plan *plan;
    struct arena *arena;
    struct tensor_state *tensors;
    uint32_t *n_uses;         // of every tensor: edges of live nodes, and outputs
    struct graph_uses uses;   // by live nodes
    bool *is_planned;         // of every node: it went into a step ahead of its turn
    uint32_t clock;
    const uint8_t *layouts;   // of tensors, with PLAN_APART, or NULL
    bool is_traced;           // requests are noted
    node_id node;             // being planned
    tensor_id requester;      // whose choice is its own (plan.h, struct layout_request)
};

// Plans the live part of a graph. False: an opaque node or unknown type stands in the way; the error (EXIT_UNSUPPORTED)
// says which.
bool plan_make(struct plan *ret_plan, const struct plan_request *request, struct error *error);
void plan_free(struct plan *plan);
