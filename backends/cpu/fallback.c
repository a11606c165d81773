// By definitions: what no other kernel computes, and what a library kernel does when the library refuses.
//
// Where a definition is a sum of products, and there is a compiler, a kernel is generated from it (generated/sums.h);
// else the interpreter evaluates it, which is slow, and right.
#include "backends/cpu/copy.h"
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/parallel.h"
#include "backends/generated/sums.h"
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
#include <string.h>

// --- a kernel --------------------------------------------------------------------------------------------------------

struct sums_kernel {
    sums_run_fn *run;   // or NULL
    int threads;
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

// The kernel of a sum over tensors that stand so (sums_print).
static struct sums_kernel find_sums_kernel(const struct step_request *r, const int64_t *const *strides)
{
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    struct type *types = arena_array(r->arena, struct type, r->step->n_operands + 1);
    struct operator_call call = {n->op, r->step->n_operands, types, n->attributes};
    struct sums_kernel kernel = {.threads = 1};
    struct text text = {0};
    struct definition d;
    for (int i = 0; i < r->step->n_operands; i++) {
        const struct view *v = &r->step->operands[i];
        types[i] = type_make(v->dtype, v->rank, v->dim);
    }
    definition_init(&d, r->arena, call.n_inputs, types);
    if (operator_define(&d, &call) && sums_print(&text, &d, strides, r->arena)) {
        cpu_find_kernel(r, &text, &kernel.run);
        kernel.threads = definition_flops(&d) > FLOPS_WORTH_THREADS ? r->backend->threads : 1;
    }
    definition_free(&d);
    text_free(&text);
    return kernel;
}

struct sums_run {
    sums_run_fn *run;
    const float **x;
    float *y;
};

static void run_part(void *argument, int part, int parts)
{
    const struct sums_run *r = argument;
    r->run(r->x, r->y, part, parts);
}

static void run_sums(const struct sums_kernel *kernel, const struct execution *e, const float **x, char *y)
{
    parallel_for(e->workers, kernel->threads, run_part, &(struct sums_run){kernel->run, x, (float *)(void *)y});
}

// --- of dense tensors ------------------------------------------------------------------------------------------------

struct prepared_evaluation {
    const struct graph *graph;
    const struct step *step;
    struct tensor_value *inputs, *outputs;
    struct sums_kernel kernel;
};

static void *prepare_evaluation(const struct step_request *r)
{
    struct prepared_evaluation *s = arena_new(r->arena, struct prepared_evaluation);
    s->graph = r->plan->graph;
    s->step = r->step;
    s->inputs = arena_array(r->arena, struct tensor_value, r->step->n_operands + 1);
    s->outputs = arena_array(r->arena, struct tensor_value, r->step->n_results + 1);
    for (int i = 0; i < r->step->n_operands; i++) {
        const struct view *v = &r->step->operands[i];
        s->inputs[i].type = type_make(v->dtype, v->rank, v->dim);
    }
    s->kernel = find_sums_kernel(r, NULL);
    return s;
}

static void run_kernel(const struct sums_kernel *kernel, const struct step *step, const struct execution *e)
{
    const float *x[MAX_OUTPUTS];
    for (int i = 0; i < step->n_operands; i++)
        x[i] = (const float *)(const void *)address_of_view(e->memory, &step->operands[i]);
    run_sums(kernel, e, x, address_of_view(e->memory, &step->results[0]));
}

static bool run_interpreter(const struct prepared_evaluation *s, char *const *memory)
{
    struct arena arena;
    struct error error;
    arena_init(&arena);
    for (int i = 0; i < s->step->n_operands; i++)
        s->inputs[i].data = address_of_view(memory, &s->step->operands[i]);
    bool is_done = graph_evaluate_node(s->graph, s->step->node, s->inputs, s->outputs, &arena, &error);
    for (int i = 0; is_done && i < s->step->n_results; i++)
        memcpy(address_of_view(memory, &s->step->results[i]), s->outputs[i].data, type_bytes(&s->outputs[i].type));
    arena_free(&arena);
    return is_done;
}

static bool run_evaluation(void *state, const struct execution *e)
{
    const struct prepared_evaluation *s = state;
    if (!s->kernel.run)
        return run_interpreter(s, e->memory);
    run_kernel(&s->kernel, s->step, e);
    return true;
}

const struct cpu_kernel cpu_kernel_evaluate = {
    .base = {.name = "evaluate"}, .prepare = prepare_evaluation, .run = run_evaluation};

// --- where the library refuses: the definition, then the epilogue as a loop ------------------------------------------

struct cpu_fallback {
    const struct node *node;
    const struct step *step;
    struct sums_kernel kernel;
    struct cpu_behind *epilogue;   // or NULL
};

struct cpu_fallback *cpu_fallback_prepare(const struct step_request *r)
{
    struct cpu_fallback *f = arena_new(r->arena, struct cpu_fallback);
    f->node = &r->plan->graph->nodes.items[r->step->node];
    f->step = r->step;
    f->kernel = find_sums_kernel(r, NULL);
    f->epilogue = cpu_prepare_behind(r);
    return f;
}

bool cpu_fallback_is_generated(const struct cpu_fallback *f)
{
    return f->kernel.run != NULL;
}

// Between a view and a dense tensor of its shape, whichever way.
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

// Computes a dense output of dense inputs.
static bool compute(const struct cpu_fallback *f, const struct execution *e, const struct type *types,
                    const struct tensor_value *inputs, struct tensor_value *ret_output, struct arena *arena)
{
    const struct view *result = &f->step->results[0];
    struct operator_call call = {f->node->op, f->step->n_operands, types, f->node->attributes};
    const float *x[MAX_OUTPUTS];
    struct error error;
    if (!f->kernel.run)
        return graph_evaluate_call(&call, inputs, 1, ret_output, arena, &error);
    for (int i = 0; i < f->step->n_operands; i++)
        x[i] = inputs[i].data;
    ret_output->type = type_make(result->dtype, result->rank, result->dim);
    ret_output->data = value_allocate(arena, &ret_output->type);
    run_sums(&f->kernel, e, x, ret_output->data);
    return true;
}

bool cpu_fallback_run(const struct cpu_fallback *f, const struct execution *e)
{
    struct arena arena;
    arena_init(&arena);
    int n = f->step->n_operands;
    struct type *types = arena_array(&arena, struct type, n + 1);
    struct tensor_value *inputs = arena_array(&arena, struct tensor_value, n + 1), output;
    for (int i = 0; i < n; i++) {
        const struct view *v = &f->step->operands[i];
        types[i] = inputs[i].type = type_make(v->dtype, v->rank, v->dim);
        inputs[i].data = value_allocate(&arena, &types[i]);
        copy_view(v, address_of_view(e->memory, v), inputs[i].data, true);
    }
    const struct view *result = &f->step->results[0];
    bool is_done = compute(f, e, types, inputs, &output, &arena);
    if (is_done)
        copy_view(result, address_of_view(e->memory, result), output.data, false);
    if (is_done)
        cpu_run_behind(f->epilogue, e);
    arena_free(&arena);
    return is_done;
}

// --- of images, as they stand ----------------------------------------------------------------------------------------

struct prepared_expression {
    const struct step *step;
    struct sums_kernel kernel;
    struct cpu_fallback *fallback;   // where there is none
};

static bool has_blocks(const struct step *step)
{
    bool has_some = step->results[0].block != 0;
    for (int i = 0; i < step->n_operands; i++)
        has_some = has_some || step->operands[i].block;
    return has_some;
}

static void *prepare_expression(const struct step_request *r)
{
    struct prepared_expression *s = arena_new(r->arena, struct prepared_expression);
    s->step = r->step;
    if (!has_blocks(r->step))
        s->kernel = find_sums_kernel(r, strides_of_step(r));
    s->fallback = s->kernel.run ? NULL : cpu_fallback_prepare(r);
    return s;
}

static bool run_expression(void *state, const struct execution *e)
{
    const struct prepared_expression *s = state;
    if (s->fallback)
        return cpu_fallback_run(s->fallback, e);
    run_kernel(&s->kernel, s->step, e);
    return true;
}

static const struct cpu_kernel expression_kernel = {
    .base = {.name = "evaluate"}, .prepare = prepare_expression, .run = run_expression};

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
    planner_add_step(p, &expression_kernel.base, node, (int)n->n_inputs, operands, 1, &result);
    return true;
}
