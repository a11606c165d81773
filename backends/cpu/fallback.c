// What a library kernel does when the library refuses: the operator's definition, then the epilogue as a loop.
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/loops_internal.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "graph/evaluate.h"
#include <string.h>

struct cpu_fallback {
    const struct node *node;
    const struct step *step;
    struct compiled_loops *epilogue;   // or NULL
};

struct cpu_fallback *cpu_fallback_prepare(const struct step_request *r)
{
    struct cpu_fallback *f = arena_new(r->arena, struct cpu_fallback);
    f->node = &r->plan->graph->nodes.items[r->step->node];
    f->step = r->step;
    f->epilogue = cpu_compile_epilogue(r, 0);
    return f;
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

bool cpu_fallback_run(const struct cpu_fallback *f, char *const *memory)
{
    struct arena arena;
    struct error error;
    arena_init(&arena);
    int n = f->step->n_operands;
    struct type *types = arena_array(&arena, struct type, n + 1);
    struct tensor_value *inputs = arena_array(&arena, struct tensor_value, n + 1), output;
    for (int i = 0; i < n; i++) {
        const struct view *v = &f->step->operands[i];
        types[i] = inputs[i].type = type_make(v->dtype, v->rank, v->dim);
        inputs[i].data = value_allocate(&arena, &types[i]);
        copy_view(v, address_of_view(memory, v), inputs[i].data, true);
    }
    struct operator_call call = {f->node->op, n, types, f->node->attributes};
    bool is_done = graph_evaluate_call(&call, inputs, 1, &output, &arena, &error);
    const struct view *result = &f->step->results[0];
    if (is_done)
        copy_view(result, address_of_view(memory, result), output.data, false);
    if (is_done && f->epilogue)
        loops_run(f->epilogue, memory);
    arena_free(&arena);
    return is_done;
}
