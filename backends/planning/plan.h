// A plan: a graph as an ordered list of steps, each one launch of one kernel over memory that the plan lays out.
//
//   graph      conv ─ add(broadcast bias) ─ relu ─ concat ─ transpose ─ matmul ...
//   plan       step 0  conv  + epilogue (add, relu)        memory 3 (channels last)
//              step 1  loops (copies into the concatenation)
//              step 2  matmul, reading memory 4 transposed
//
// How operators become steps:
//   - what only rearranges entries (transpose, slice, split, broadcast, reshape) becomes a view and costs nothing until
//     a kernel needs its operand dense: then a copy is a step, shared by all who need it;
//   - operators whose definitions are affine become loops (code.h); element-wise neighbours of one shape are one loop;
//   - anchors (convolution, matrix product, ...), claimed by the backend, take element-wise epilogues that it accepts;
//   - all other operators run by their definitions (the evaluate kernel), so that everything runs;
//   - what is concatenated is written where it belongs by who makes it, if the backend can (planner_parts.c);
//   - what depends on weights alone is marked constant: done once, before the first run, at no cost.
#pragma once
#include "backends/instructions/code.h"
#include "backends/instructions/words.h"
#include "backends/planning/view.h"
#include "graph/graph.h"

struct plan;
struct planner;
struct step;

// --- loops -----------------------------------------------------------------------------------------------------------

#define LOOP_MAX_RANK (2 * MAX_RANK)
struct loop_access {   // of a tensor, by the loop's variables
    memory_id memory;
    enum dtype dtype;
    int64_t offset, stride[LOOP_MAX_RANK];
    int block, block_variable;   // as of views; no access has blocks in the loops of a finished plan's loops kernel
};
struct loop_result {
    uint16_t value;
    struct loop_access to;
};
// for each place of dim[0 .. rank): values from operands by instructions (code.h, values numbered the same way), over
// dim[rank .. rank + n_reduced) for those before the reduction; then the results are stored.
struct loop {
    int rank, n_reduced;
    int64_t dim[LOOP_MAX_RANK];
    int n_operands, n_instructions, n_results;
    int operand_capacity, instruction_capacity, result_capacity;
    struct loop_access *operands;
    struct instruction *instructions;
    struct loop_result *results;
};

// --- plans -----------------------------------------------------------------------------------------------------------

enum memory_place {
    MEMORY_ARENA,      // at `offset` of the plan's arena while a run lasts
    MEMORY_CONSTANT,   // computed once, kept
    MEMORY_WEIGHT,     // the value of weight `index`
    MEMORY_INPUT,      // the value of input `index`
    MEMORY_OUTPUT,     // where the caller wants output number `index`
};
struct plan_memory {
    enum memory_place place;
    enum dtype dtype;
    int64_t elements, index;
    size_t offset;
    uint32_t writer;                  // while planning: the step that makes it
    uint32_t first_step, last_step;   // of plan->steps: when the entries must exist (ARENA)
    tensor_id chooser;                // the choice (below) that its arrangement depends on, or NO_TENSOR
    bool has_parts;                   // several steps may write it, each its part: a concatenation (planner_parts.c)
};
struct kernel {
    const char *name;
    // May the epilogue (an element-wise loop over the step's result, which is its operand 0) be part of this step?
    // NULL: never. Operands of the full shape will be given in the layout of the result. Asked again when the result of
    // the epilogue can be written within that of a concatenation: then such operands have their own strides, and the
    // answer must not depend on layouts.
    bool (*accepts_epilogue)(const struct planner *p, const struct step *step, const struct loop *epilogue);
};
// The part of the graph that a step is of.
struct step_origin {
    node_id first_node;         // all nodes that the step computes: this, then plan->next_node[...]; NO_NODE: a copy
    node_id last_node;          // of these
    tensor_id copied;           // of which the step is a copy in another layout, for all who want it; or NO_TENSOR
    enum layout copied_to;      // the first of those alike; LAYOUT_ANY: a copy for an output of the graph
    uint32_t piece, n_pieces;   // of an operator that takes several steps: the number of this one
};
// The planner's notes about a step.
struct step_notes {
    node_id owner;        // the operator that was being planned when the step was opened; NO_NODE: an output
    uint32_t order;       // of the steps as they run
    uint32_t needed_at;   // the order of the first step that runs each time and needs it, or its own
    bool is_apart;        // its result is (PLAN_APART)
    bool is_pinned;       // some other step reads a result, so the step must stay where it is
};
struct step_way {
    const char *choice;   // how the device runs it (contract/choice.h); NULL: not chosen yet
    double error;         // of that choice; 0: it is exact
};
struct step {
    const struct kernel *kernel;
    node_id node;   // the operator that the kernel serves; NO_NODE: loops of any origin
    struct step_origin origin;
    int n_operands, n_results, n_loops;
    struct view *operands, *results;
    struct loop *loops;         // the loops kernel: run one after the other; others: at most one, the epilogue
    int n_shared;               // loops kernel: leading axes that all its loops share
    const struct step *parts;   // of several that run as one (plan_chains.h)
    int n_parts;
    bool is_constant;
    struct step_way way;
    struct step_notes notes;
};

// --- layouts ---------------------------------------------------------------------------------------------------------
//
// Some steps can write their result in several layouts: each such tensor is a choice. What a step is depends on the
// choices of the memories that it touches, and which copies are made of a tensor depends on its own choice and on those
// of the tensors for which copies were requested. Nothing else in a plan depends on choices (choose_layouts.h).

struct layout_choice {
    tensor_id tensor;
    unsigned mask;   // LAYOUT_BIT of each that the step can write
    enum layout layout;
};
struct layout_request {   // of somebody who reads a tensor, and may have it copied
    tensor_id tensor;
    tensor_id requester;   // whose choice decides which layout is wanted; it need not be a choice
    node_id node;          // that wants it; NO_NODE: the graph, as an output
    bool needs_copy;
    enum layout copy;     // which: the first of those alike; LAYOUT_ANY: one for an output of the graph
    enum layout wanted;   // LAYOUT_ANY: it takes the tensor as it stands, if it can
    bool takes_parts;     // and as a part of a tensor in that layout
    struct view view;     // how it stands
};

// Every memory that a step touches, as often as it does: operands and results of its own, then those of each loop.
//     for (struct touched_memory t = {0}; step_next_memory(step, &t);) ... t.memory ...
struct touched_memory {
    memory_id memory;
    bool is_written;
    int loop, place;   // 0 is the step itself, 1 its first loop; among operands, then results, from 1
};

struct step_work {
    double operations, bytes_read, bytes_written;   // of the definitions; a multiply-add counts as two
};

struct plan {
    const struct graph *graph;
    struct arena *arena;      // of everything below
    VEC(struct step) steps;   // in order of execution; constant ones right before the first step that needs them
    VEC(struct plan_memory) memory;
    node_id *next_node;   // of every node: the next one of the same step, or NO_NODE
    size_t arena_bytes;
    VEC(struct layout_choice) choices;
    VEC(struct layout_request) requests;
};

// In which layouts (LAYOUT_BIT) a device can write results; LAYOUT_ROWS need not be said. An operator that lists
// channels last is one on images, one that lists columns is one on matrices.
struct layout_support {
    unsigned of_operator[OP_COUNT];   // of what it claims
    unsigned of_loops_on_images;      // loops and other claims, for tensors between operators on images
    unsigned of_loops_on_matrices;    // loops, for what operators on matrices read
    // A step costs at least this share of what it costs in the layouts that suit it best of those tried; 0: nothing is
    // known, all are tried that may matter.
    double least_share;
};

// A backend's description of itself for the planner.
struct plan_target {
    const struct kernel *loops, *evaluate;
    // Makes the node a step of its own (with planner_* below), or gives false to leave it to its definition.
    bool (*claim)(void *context, struct planner *p, node_id node);
    // Can the step made for the node write its result there, within the result of a concatenation? Asked of all
    // operators but leaves, views and concatenations; the memory is not known yet. NULL: concatenations copy.
    bool (*writes_part)(void *context, const struct planner *p, node_id node, const struct view *part);
    void *context;
    const struct layout_support *layouts;   // NULL: no choices
    // Runs steps as one, the second of which alone reads the result of the first. NULL: there is no such kernel.
    const struct kernel *chain;
    bool (*may_chain)(const struct plan *plan, const struct step *first, const struct step *second);
    bool (*is_chain)(const struct step *joined);   // of neighbours that may be: is it whole?
};
struct code_cache;

// Added to the layout of a tensor: what reads it does not run in one kernel with what makes it (no epilogue, loop or
// chain goes on from there, and no concatenation has it written in its place). Else neighbours are fused where they
// can.
#define PLAN_APART 0x80

// The request for a plan. `layouts` has one enum layout for each tensor, and PLAN_APART: that of the plan if there
// is a choice and it is among those possible; LAYOUT_ANY, or NULL for all, leaves it to the standard: channels last
// between operators on images, row-major elsewhere.
struct plan_request {
    const struct graph *graph;
    const struct plan_target *target;
    struct code_cache *codes;
    const uint8_t *layouts;
    struct arena *arena;   // of what the plan has; its vectors are owned (plan_free)
    bool is_traced;        // plan->requests is filled: only who chooses layouts wants to know
};

#define PLANNER_MOST_CONCATENATED 64
