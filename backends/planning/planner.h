// What the files of the planner share.
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
    bool is_constant, is_image, is_matrix;   // is_image: see planner_images.c; is_matrix: a matrix product reads it
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
    const uint8_t *layouts;   // of tensors, or NULL
    bool is_traced;           // requests are noted
    node_id node;             // being planned
    tensor_id requester;      // whose choice is its own (plan.h, struct layout_request)
};

// A new step at the end. Never keep the pointer over another step's making: use its number.
uint32_t planner_open_step(struct planner *p, const struct kernel *kernel, node_id node, bool is_constant);
void planner_attach_node(struct planner *p, uint32_t step, node_id node);
void planner_move_to_end(struct planner *p, uint32_t step);
// Notes who makes what stands in the memory; that of parts has no one writer.
void planner_note_writer(struct planner *p, memory_id memory, uint32_t step);

// Plans the live part of a graph. False: an opaque node or unknown type stands in the way; the error (EXIT_UNSUPPORTED)
// says which.
bool plan_make(struct plan *ret_plan, const struct plan_request *request, struct error *error);
void plan_free(struct plan *plan);
const struct graph *planner_graph(const struct planner *p);
bool planner_is_constant(const struct planner *p, tensor_id t);
// The tensor as it stands (stored now if it was only a value inside of a loop, in `layout` if that may be chosen).
struct view planner_view(struct planner *p, tensor_id t, enum layout layout);
// Without any effect; false when the tensor is not stored yet.
bool planner_peek(const struct planner *p, tensor_id t, struct view *ret_view);
// The tensor with exactly these strides, copied when it stands otherwise.
struct view planner_dense(struct planner *p, tensor_id t, enum layout layout);
// The same for whoever wants this only because the tensor does not stand in a way that would also do: what is done with
// it depends on how the tensor stands.
struct view planner_dense_instead(struct planner *p, tensor_id t, enum layout layout);
// The tensor with these strides, or as it stands when it is a run of channels of a tensor that has them (view_is_part).
struct view planner_dense_or_part(struct planner *p, tensor_id t, enum layout layout);
struct view planner_copy(struct planner *p, const struct view *source, enum dtype dtype, enum layout layout);
// Fresh memory for a result of a step, dense.
struct view planner_allocate(struct planner *p, const struct type *type, enum layout layout);
// A step for `node`; operands and results are copied. Outputs of the node are bound to results in order, converted back
// when a result has another element type than the output.
struct step *planner_add_step(struct planner *p, const struct kernel *kernel, node_id node, int n_operands,
                              const struct view *operands, int n_results, const struct view *results);
// A step of the loops kernel that computes the only output of `node`; the caller adds loops with planner_add_loop.
struct step *planner_add_loops_step(struct planner *p, node_id node, const struct view *result);
// The same in several steps, which cost what they cost each: piece 0 of n_pieces is made by planner_add_loops_step.
struct step *planner_add_piece(struct planner *p, node_id node, const struct view *result, uint32_t piece);
