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
//   - what depends on weights alone is marked constant: done once, before the first run, at no cost.
#ifndef BACKENDS_PLAN_H
#define BACKENDS_PLAN_H
#include "backends/code.h"
#include "backends/view.h"
#include "graph/graph.h"

struct arena;
struct planner;
struct step;
struct text;
struct words {
    VEC(int64_t) list;
};

// --- loops -----------------------------------------------------------------------------------------------------------

#define LOOP_MAX_RANK (2 * MAX_RANK)
struct loop_access {   // of a tensor, by the loop's variables
    memory_id memory;
    enum dtype dtype;
    int64_t offset, stride[LOOP_MAX_RANK];
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
    uint32_t first_step, last_step;   // of plan->steps: when the entries must exist (ARENA)
};
struct kernel {
    const char *name;
    // May the epilogue (an element-wise loop over the step's result, which is its operand 0) be part of this step?
    // NULL: never. Operands of the full shape will be given in the layout of the result.
    bool (*accepts_epilogue)(const struct planner *p, const struct step *step, const struct loop *epilogue);
};
struct step {
    const struct kernel *kernel;
    node_id node;         // the operator that the kernel serves; NO_NODE: loops of any origin
    node_id first_node;   // all nodes that the step computes: this, then plan->next_node[...]; NO_NODE: a copy
    int n_operands, n_results, n_loops;
    struct view *operands, *results;
    struct loop *loops;   // the loops kernel: run one after the other; others: at most one, the epilogue
    int n_shared;         // loops kernel: leading axes that all its loops share
    uint32_t order;
    bool is_constant;
    bool is_pinned;   // while planning: some other step reads a result, so the step must stay where it is
};
struct plan {
    const struct graph *graph;
    struct arena *arena;      // of everything below
    VEC(struct step) steps;   // in order of execution; constant ones may stand anywhere before their readers
    VEC(struct plan_memory) memory;
    node_id *next_node;   // of every node: the next one of the same step, or NO_NODE
    size_t arena_bytes;
};

// What a backend says about itself to the planner.
struct plan_target {
    const struct kernel *loops, *evaluate;
    // Makes the node a step of its own (with planner_* below), or gives false to leave it to its definition.
    bool (*claim)(void *context, struct planner *p, node_id node);
    void *context;
};
struct code_cache;

// Plans the live part of a graph. The plan's vectors are owned (plan_free), the rest is in `arena`. False: an opaque
// node or unknown type stands in the way; `ret_reason` (may be NULL, 200 characters) says which.
bool plan_make(struct plan *ret_plan, const struct graph *g, const struct plan_target *target, struct code_cache *codes,
               struct arena *arena, char *ret_reason);
void plan_free(struct plan *plan);
// Offsets of all ARENA memories, such that none overlaps another that lives at the same time; only for running.
void plan_lay_out_memory(struct plan *plan);
// What a step costs depends on: kernel, operator and attributes, dimensions, element types, strides, what is constant,
// the code of its loops. Equal words, equal text, equal work; the text is for databases, the words for speed.
void step_spell(const struct plan *plan, const struct step *step, struct words *ret_words);
void step_print(struct text *out, const struct plan *plan, const struct step *step);
void plan_print(struct text *out, const struct plan *plan);   // for people: one line per step

// Codes of applications, found by operator, attributes and input types; shared by many plans.
struct code_cache *code_cache_new(void);
void code_cache_free(struct code_cache *cache);
const struct code *code_cache_find(struct code_cache *cache, const struct graph *g, node_id node);   // never NULL

// --- for claims ------------------------------------------------------------------------------------------------------

const struct graph *planner_graph(const struct planner *p);
bool planner_is_constant(const struct planner *p, tensor_id t);
// The tensor as it stands (stored now if it was only a value inside of a loop, in `layout` if that may be chosen).
struct view planner_view(struct planner *p, tensor_id t, enum layout layout);
// Without any effect; false when the tensor is not stored yet.
bool planner_peek(const struct planner *p, tensor_id t, struct view *ret_view);
// The tensor with exactly these strides, copied when it stands otherwise.
struct view planner_dense(struct planner *p, tensor_id t, enum layout layout);
struct view planner_copy(struct planner *p, const struct view *source, enum dtype dtype, enum layout layout);
// Fresh memory for a result of a step, dense.
struct view planner_allocate(struct planner *p, const struct type *type, enum layout layout);
// A step for `node`; operands and results are copied. Outputs of the node are bound to results in order, converted back
// when a result has another element type than the output.
struct step *planner_add_step(struct planner *p, const struct kernel *kernel, node_id node, int n_operands,
                              const struct view *operands, int n_results, const struct view *results);
// A step of the loops kernel that computes the only output of `node`; the caller adds loops with planner_add_loop.
struct step *planner_add_loops_step(struct planner *p, node_id node, const struct view *result);
struct loop *planner_add_loop(struct planner *p, struct step *step, int rank, int n_reduced, const int64_t *dim);
uint16_t loop_add_operand(struct planner *p, struct loop *loop, const struct loop_access *access);
uint16_t loop_add_instruction(struct planner *p, struct loop *loop, struct instruction instruction);
void loop_add_result(struct planner *p, struct loop *loop, uint16_t value, const struct loop_access *to);
struct loop_access access_of_view(const struct view *v);   // variable i runs over axis i
#endif
