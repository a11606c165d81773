// From an operator's own activation and a plan's epilogue to post-operations, and to the addresses of their operands.
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/ways.h"
#include "backends/planning/plan_blocks.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_views.h"

#include <string.h>

bool cpu_is_computed_in_f32(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

struct view cpu_view_in_f32(struct planner *p, tensor_id t, enum layout layout)
{
    if (graph_type(planner_graph(p), t)->dtype == DTYPE_F32)
        return planner_dense(p, t, layout);
    struct view v = planner_view(p, t, LAYOUT_ANY);
    return planner_copy(p, &v, DTYPE_F32, layout);
}

// A part of an image has the strides of the whole, which for a batch of one differ from dense strides in nothing but
// the batch's. The library's fast kernels compare all strides. An image of one pixel stands both ways: as it was made.
static struct view with_dense_strides(const struct view *v)
{
    struct type type = type_make(v->dtype, v->rank, v->dim);
    struct view rows = view_dense(v->memory, &type, LAYOUT_ROWS);
    struct view last = view_dense(v->memory, &type, LAYOUT_CHANNELS_LAST);
    size_t size = (size_t)v->rank * sizeof *v->stride;
    if (memcmp(v->stride, rows.stride, size) == 0 || memcmp(v->stride, last.stride, size) == 0)
        return *v;
    return view_has_layout(v, LAYOUT_CHANNELS_LAST) ? last : view_has_layout(v, LAYOUT_ROWS) ? rows : *v;
}

struct onednn_tensor cpu_tensor_of_view(const struct view *v)
{
    struct view dense = with_dense_strides(v);
    struct onednn_tensor t = {.rank = v->rank};
    memcpy(t.dim, dense.dim, sizeof dense.dim);
    memcpy(t.stride, dense.stride, sizeof dense.stride);
    return t;
}

// An image of one block stands as if channels were last.
struct onednn_tensor cpu_tensor_of_image(const struct view *v, int block)
{
    struct onednn_tensor t = cpu_tensor_of_view(v);
    if (block && v->dim[1] % block == 0 && view_has_layout(v, block == 16 ? LAYOUT_BLOCKS_OF_16 : LAYOUT_BLOCKS_OF_8))
        t.block = block;
    return t;
}

const struct attribute_value *cpu_attribute(const struct node *n, enum attribute_role role)
{
    return &n->attributes[operator_find_role(n->op, role)];
}

int64_t cpu_attribute_int(const struct node *n, enum attribute_role role)
{
    return cpu_attribute(n, role)->ints[0];
}

struct onednn_window cpu_window_of(const struct node *n, int spatial, const int64_t *kernel)
{
    struct onednn_window w = {{0}};
    for (int i = 0; i < spatial; i++) {
        w.kernel[i] = kernel[i];
        w.stride[i] = attribute_entry_or(cpu_attribute(n, ROLE_STRIDE), i, 1);
        w.dilation[i] = attribute_entry_or(cpu_attribute(n, ROLE_DILATION), i, 1);
        w.pad_begin[i] = attribute_entry_or(cpu_attribute(n, ROLE_WINDOW_PADS), i, 0);
        w.pad_end[i] = attribute_entry_or(cpu_attribute(n, ROLE_WINDOW_PADS), spatial + i, 0);
    }
    return w;
}

double cpu_attribute_real(const struct node *n, const char *name)
{
    return real_from_bits(n->attributes[operator_find_attribute(n->op, name)].ints[0]);
}

bool cpu_has_activation(const struct graph *g, const struct step *step)
{
    const struct node *n = &g->nodes.items[step->node];
    int act = operator_find_role(n->op, ROLE_ACTIVATION);
    return act >= 0 && n->attributes[act].ints[0] != 0;
}

// Appends a curve or an operation. oneDNN 2.6 computes every curve of one algorithm in a chain with the parameters of
// the first: those that differ from it are refused. A factor and a number added to its product are one.
static bool append(struct postops *ops, const struct postop *op)
{
    struct postop *last = ops->n ? &ops->items[ops->n - 1] : NULL;
    struct postop both = *op;
    if (last && last->kind == POSTOP_LINEAR && op->kind == POSTOP_LINEAR && last->beta == 0 && op->alpha == 1) {
        both.alpha = last->alpha;
        ops->n--;
    }
    for (int i = 0; i < ops->n; i++)
        if (both.operand == OPERAND_NONE && ops->items[i].kind == both.kind &&
            (ops->items[i].alpha != both.alpha || ops->items[i].beta != both.beta))
            return false;
    if (ops->n == POSTOPS_MAX)
        return false;
    ops->items[ops->n++] = both;
    return true;
}

bool cpu_read_epilogue(const struct graph *g, const struct step *step, const struct loop *loop, int channel_axis,
                       struct cpu_epilogue *ret_epilogue)
{
    struct cpu_epilogue e = {.bias = -1, .ops = {.channel_axis = channel_axis}};
    struct postops chain = {.n = 0};
    if (loop && !postops_from_epilogue(loop, channel_axis, &chain))
        return false;
    int first = 0;
    if (cpu_has_activation(g, step))
        e.ops.items[e.ops.n++] = (struct postop){.kind = POSTOP_RELU};
    else if (chain.n && chain.items[0].kind == POSTOP_ADD && chain.items[0].operand == OPERAND_CHANNEL)
        e.bias = chain.items[first++].operand_number;
    for (int i = first; i < chain.n; i++) {
        if (!append(&e.ops, &chain.items[i]))
            return false;
        if (chain.items[i].operand != OPERAND_NONE)
            e.operands[e.n_operands++] = chain.items[i].operand_number;
    }
    *ret_epilogue = e;
    return true;
}

static char *address_of_operand(const struct loop *loop, int number, char *const *memory)
{
    const struct loop_access *a = &loop->operands[number];
    return memory[a->memory] + (size_t)a->offset * dtype_size(a->dtype);
}

void cpu_epilogue_arguments(const struct cpu_epilogue *e, const struct loop *loop, char *const *memory,
                            struct onednn_arguments *ret_arguments)
{
    ret_arguments->bias = e->bias >= 0 ? address_of_operand(loop, e->bias, memory) : NULL;
    for (int i = 0; i < e->n_operands; i++)
        ret_arguments->operands[i] = address_of_operand(loop, e->operands[i], memory);
}

// --- behind the kernel -----------------------------------------------------------------------------------------------

struct cpu_behind {
    const struct cpu_kernel *kernel;
    void *state;
};

struct cpu_behind *cpu_prepare_behind(const struct step_request *r)
{
    struct cpu_behind *behind = arena_new(r->arena, struct cpu_behind);
    struct step_request request = *r;
    LOCAL_LIST(choice_list, list);
    if (r->step->n_loops == 0)
        return NULL;
    struct step step = {.kernel = &cpu_kernel_loops.base,
                        .node = NO_NODE,
                        .n_loops = 1,
                        .loops = loop_copy_without_blocks(&r->step->loops[0], r->arena)};
    request.step = &step;
    cpu_way_rows.list(r->backend, r->plan, &step, &list);
    behind->kernel = cpu_way_rows.kernel;
    behind->state = list.count ? behind->kernel->prepare(&request) : NULL;
    if (!behind->state) {
        behind->kernel = &cpu_kernel_loops;
        behind->state = behind->kernel->prepare(&request);
    }
    return behind;
}

void cpu_run_behind(const struct cpu_behind *behind, const struct execution *e)
{
    if (behind)
        behind->kernel->run(behind->state, e);
}
