// Post-operations, and the addresses of their operands, of an operator's own activation and a plan's epilogue.
#include "backends/cpu/epilogue.h"

#include "backends/cpu/ways.h"
#include "backends/planning/plan_blocks.h"

#include <string.h>

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
