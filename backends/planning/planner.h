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

// Can the read be made of a tensor that stands in blocks, for results of these dimensions? Else it is to be copied.
bool planner_can_read_blocks(const struct affine_read *read, const struct view *v, const int64_t *dim);
// How the tensor stands for a loop that reads it so.
struct view planner_view_for_read(struct planner *p, tensor_id t, const struct affine_read *read, const int64_t *dim);

// planner_images.c: marks the tensors that stand between operators on images, and those that matrix products read.
void planner_mark_images(struct planner *p, const bool *live);
// planner_concat.c: which tensors are parts; the whole that decides the layout of a tensor, or NULL; where a part
// stands, in a whole that is open; may the step of `maker` that was to write one tensor write there what became of it?
void planner_find_parts(struct planner *p, const bool *live);
struct tensor_whole *planner_whole_of(const struct planner *p, tensor_id t);
tensor_id planner_requester(const struct planner *p, node_id node);   // the tensor whose choice is that of the node
struct view planner_part(const struct planner *p, tensor_id t);
bool planner_may_move_to_part(const struct planner *p, node_id maker, tensor_id to);
// plan_blocks.c: gives a loop that reads or writes blocks one more axis, until none of its accesses has blocks.
void loop_split_blocks(struct loop *l);

// planner_loops.c
struct loop_access planner_access_of_read(const struct affine_read *read, const struct view *v);
// Appends a stage's instructions, its reads being the given values; gives the value of its result.
uint16_t planner_append_code(struct planner *p, struct loop *loop, const struct stage_code *stage,
                             const uint16_t *reads);
bool planner_plan_code(struct planner *p, node_id node, const struct code *code);
void planner_store_value(struct planner *p, tensor_id t, enum layout layout);   // TENSOR_IN_LOOP becomes STORED
// planner_epilogue.c: makes the node, perhaps with some that follow it, the epilogue of what it reads.
bool planner_join_epilogue(struct planner *p, node_id node);
// plan_finish.c: orders the steps and notes when memories live.
void planner_finish(struct planner *p);
