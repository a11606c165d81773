// Definitions as kernels: of what no other kernel computes, and of what the library refuses.
//
// A kernel is generated from a definition that is a sum of products, where there is a compiler (stage_kernel.h);
// else the interpreter evaluates it, which is slow, and right.
#include "backends/cpu/fallback.h"

#include "backends/cpu/epilogue.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/loops/copy.h"
#include "backends/generated/stage_kernel.h"
#include "backends/limits.def"
#include "backends/planning/planner.h"
#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/evaluate.h"

// --- a kernel --------------------------------------------------------------------------------------------------------

struct cpu_fallback {
    const struct node *node;
    const struct step *step;
    generated_run_fn *run;         // or NULL: the interpreter
    bool is_in_place;              // `run` reads and writes tensors as they stand; else dense copies
    int threads;                   // of `run`
    struct cpu_behind *epilogue;   // or NULL
};

static const int64_t *const *strides_of_step(const struct step_request *r)
{
    const struct step *step = r->step;
    const int64_t **strides = arena_array(r->arena, const int64_t *, step->n_operands + 1);
    for (int i = 0; i < step->n_operands; i++)
        strides[i] = step->operands[i].stride;
    strides[step->n_operands] = step->results[0].stride;
    return strides;
}

static struct type type_of(const struct view *v)
{
    return type_make(v->dtype, v->rank, v->dim);
}

static struct operator_call call_of(const struct cpu_fallback *f, struct arena *arena)
{
    struct type *types = arena_array(arena, struct type, f->step->n_operands + 1);
    for (int i = 0; i < f->step->n_operands; i++)
        types[i] = type_of(&f->step->operands[i]);
    return (struct operator_call){f->node->op, f->step->n_operands, types, f->node->attributes};
}

// Made with a kernel where there is one, of a sum over tensors that stand so (stage_kernel_print).
static struct cpu_fallback *make(const struct step_request *r, const int64_t *const *strides)
{
    struct cpu_fallback *f = arena_new(r->arena, struct cpu_fallback);
    TEXT(text);
    struct definition d FREED_BY(definition_free);
    *f = (struct cpu_fallback){.node = &r->plan->graph->nodes.items[r->step->node],
                               .step = r->step,
                               .is_in_place = strides != NULL,
                               .epilogue = cpu_prepare_behind(r)};
    struct operator_call call = call_of(f, r->arena);
    definition_init(&d, r->arena, call.n_inputs, call.inputs);
    if (operator_define(&d, &call) && stage_kernel_print(&text, &d, strides, r->arena)) {
        cpu_find_kernel(r, text.chars, &f->run);
        f->threads = definition_flops(&d) > FLOPS_WORTH_THREADS ? r->backend->threads : 1;
    }
    return f;
}

struct cpu_fallback *cpu_fallback_prepare(const struct step_request *r)
{
    return make(r, NULL);
}

bool cpu_fallback_is_generated(const struct cpu_fallback *f)
{
    return f->run != NULL;
}

static void run_kernel(const struct cpu_fallback *f, const struct execution *e, const struct tensor_value *inputs,
                       void *y)
{
    const float *x[MAX_OUTPUTS];
    for (int i = 0; i < f->step->n_operands; i++)
        x[i] = inputs[i].data;
    cpu_run_generated(e, f->threads, f->run, (const void *[]){x, y}, 0);
}

// --- running ---------------------------------------------------------------------------------------------------------

// Copies between a view and a dense tensor of its shape, whichever way.
static void copy_view(const struct view *plain, char *strided, char *dense, bool is_to_dense)
{
    struct view split;
    view_split_blocks(plain, &split);
    const struct view *v = &split;
    int64_t size = (int64_t)dtype_size(v->dtype), there[MAX_RANK] = {size}, here[MAX_RANK] = {size},
            dim[MAX_RANK] = {1};
    int64_t stride = size;
    for (int i = v->rank - 1; i >= 0; i--) {
        dim[i] = v->dim[i];
        there[i] = v->stride[i] * size;
        here[i] = stride;
        stride *= v->dim[i];
    }
    int rank = v->rank ? v->rank : 1;
    if (is_to_dense)
        copy_box(dense, strided, rank, dim, here, there, size);
    else
        copy_box(strided, dense, rank, dim, there, here, size);
}

static struct tensor_value dense_input(const struct view *v, const struct execution *e, struct arena *arena)
{
    struct tensor_value value = {type_of(v), address_of_view(e->memory, v)};
    if (view_has_layout(v, LAYOUT_ROWS))
        return value;
    value.data = value_allocate(arena, &value.type);
    copy_view(v, address_of_view(e->memory, v), value.data, true);
    return value;
}

static bool compute(const struct cpu_fallback *f, const struct execution *e, const struct tensor_value *inputs,
                    struct tensor_value *ret_outputs, struct arena *arena)
{
    struct operator_call call = call_of(f, arena);
    struct error error;
    if (!f->run)
        return graph_evaluate_call(&call, inputs, f->step->n_results, ret_outputs, arena, &error);
    *ret_outputs = (struct tensor_value){.type = type_of(&f->step->results[0])};
    ret_outputs->data = value_allocate(arena, &ret_outputs->type);
    run_kernel(f, e, inputs, ret_outputs->data);
    return true;
}

static bool run_on_copies(const struct cpu_fallback *f, const struct execution *e)
{
    ARENA(arena);
    struct tensor_value *inputs = arena_array(&arena, struct tensor_value, f->step->n_operands + 1);
    struct tensor_value *outputs = arena_array(&arena, struct tensor_value, f->step->n_results + 1);
    for (int i = 0; i < f->step->n_operands; i++)
        inputs[i] = dense_input(&f->step->operands[i], e, &arena);
    bool is_done = compute(f, e, inputs, outputs, &arena);
    for (int i = 0; is_done && i < f->step->n_results; i++)
        copy_view(&f->step->results[i], address_of_view(e->memory, &f->step->results[i]), outputs[i].data, false);
    return is_done;
}

static void run_in_place(const struct cpu_fallback *f, const struct execution *e)
{
    struct tensor_value inputs[MAX_OUTPUTS];
    for (int i = 0; i < f->step->n_operands; i++)
        inputs[i].data = address_of_view(e->memory, &f->step->operands[i]);
    run_kernel(f, e, inputs, address_of_view(e->memory, &f->step->results[0]));
}

bool cpu_fallback_run(const struct cpu_fallback *f, const struct execution *e)
{
    bool is_in_place = f->run && f->is_in_place, is_done = is_in_place || run_on_copies(f, e);
    if (is_in_place)
        run_in_place(f, e);
    if (is_done)
        cpu_run_behind(f->epilogue, e);
    return is_done;
}

// --- as a kernel of its own ------------------------------------------------------------------------------------------

static bool has_blocks(const struct step *step)
{
    return step->results[0].block != 0 || ANY(int, i, step->n_operands, step->operands[i].block);
}

static void *prepare_evaluation(const struct step_request *r)
{
    return make(r, has_blocks(r->step) ? NULL : strides_of_step(r));
}

static bool run_evaluation(void *state, const struct execution *e)
{
    return cpu_fallback_run(state, e);
}

const struct cpu_kernel cpu_kernel_evaluate = {
    .base = {.name = "evaluate"}, .prepare = prepare_evaluation, .run = run_evaluation};

// Loops are faster where they can do it, and views take nothing.
bool cpu_claim_expression(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const struct type *type = graph_type(g, n->first_output);
    struct view operands[MAX_OUTPUTS], result;
    if (type->dtype != DTYPE_F32 || type->rank != 4 || n->n_inputs > MAX_OUTPUTS ||
        code_cache_find(p->codes, g, node)->kind != CODE_NONE)
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        operands[i] = planner_view(p, graph_inputs(g, node)[i], LAYOUT_ANY);
        if (operands[i].block)
            operands[i] = planner_dense_instead(p, graph_inputs(g, node)[i], LAYOUT_CHANNELS_LAST);
    }
    unsigned layouts = planner_layouts(p, node) & LAYOUT_BIT(LAYOUT_CHANNELS_LAST);
    enum layout layout = planner_choose(p, n->first_output, layouts, planner_layout_like_inputs(p, node));
    result = planner_allocate_chosen(p, n->first_output, type, layout);
    planner_add_step(p, &cpu_kernel_evaluate.base, node, (int)n->n_inputs, operands, 1, &result);
    return true;
}
