// Runs applications by their definitions, in doubles or 64-bit integers.
#include "graph/evaluate.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "expressions/evaluation/evaluate.h"

static bool is_whole(enum dtype dtype)
{
    return dtype_is_integer(dtype) || dtype == DTYPE_BOOL;
}

static bool is_of_whole_numbers(const struct definition *d)
{
    return ALL(int, i, d->n_inputs, is_whole(d->inputs[i].dtype)) &&
           ALL(int, i, d->n_stages, is_whole(d->stages[i].type.dtype));
}

static bool check_numbers(const struct definition *d, const struct operator* op, struct error *error)
{
    for (int i = 0; i < d->n_inputs; i++)
        if (!dtype_has_numbers(d->inputs[i].dtype))
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s of %s has no numeric meaning", op->name,
                                  dtype_name(d->inputs[i].dtype));
    for (int i = 0; i < d->n_stages; i++)
        if (!dtype_has_numbers(d->stages[i].type.dtype))
            return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s to %s has no numeric meaning", op->name,
                                  dtype_name(d->stages[i].type.dtype));
    return true;
}

// One body for both domains: load the inputs, evaluate, store the outputs.
#define DEFINE_RUN(name, SCALAR, domain, suffix)                                                                       \
    static bool name(const struct definition *d, const struct tensor_value *inputs, struct tensor_value *outputs,      \
                     struct arena *scratch)                                                                            \
    {                                                                                                                  \
        const SCALAR **in = arena_array(scratch, const SCALAR *, d->n_inputs + 1);                                     \
        SCALAR **out = arena_array(scratch, SCALAR *, d->n_outputs + 1);                                               \
        for (int i = 0; i < d->n_inputs; i++) {                                                                        \
            int64_t count = type_elements(&inputs[i].type);                                                            \
            SCALAR *loaded = arena_alloc(scratch, mem_product((size_t)count, sizeof *loaded), 64);                     \
            elements_to_##suffix(inputs[i].type.dtype, inputs[i].data, (size_t)count, loaded);                         \
            in[i] = loaded;                                                                                            \
        }                                                                                                              \
        for (int i = 0; i < d->n_outputs; i++)                                                                         \
            out[i] = arena_array(scratch, SCALAR, type_elements(&outputs[i].type));                                    \
        if (!evaluate_##domain##_or_stop(d, in, out, scratch))                                                         \
            return false;                                                                                              \
        for (int i = 0; i < d->n_outputs; i++)                                                                         \
            elements_from_##suffix(outputs[i].type.dtype, out[i], (size_t)type_elements(&outputs[i].type),             \
                                   outputs[i].data);                                                                   \
        return true;                                                                                                   \
    }
DEFINE_RUN(run_in_doubles, double, f64, reals)
DEFINE_RUN(run_in_integers, int64_t, i64, integers)

static bool run_definition(const struct definition *d, const struct operator* op, const struct tensor_value *inputs,
                           struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    if (!check_numbers(d, op, error))
        return false;
    for (int i = 0; i < d->n_outputs; i++) {
        ret_outputs[i].type = *definition_output(d, i);
        ret_outputs[i].data = value_allocate(arena, &ret_outputs[i].type);
    }
    ARENA(scratch);
    bool is_run = (is_of_whole_numbers(d) ? run_in_integers : run_in_doubles)(d, inputs, ret_outputs, &scratch);
    return is_run || error_set_code(error, EXIT_UNSUPPORTED, NULL, "interrupted");
}

bool graph_evaluate_call(const struct operator_call *call, const struct tensor_value *inputs, int max_outputs,
                         struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    struct definition d FREED_BY(definition_free) = {0};
    definition_init(&d, arena, call->n_inputs, call->inputs);
    bool is_done = operator_define(&d, call);
    if (!is_done)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", d.reason);
    else if (d.n_outputs > max_outputs)
        is_done = error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s has %d outputs", call->op->name, d.n_outputs);
    else
        is_done = run_definition(&d, call->op, inputs, ret_outputs, arena, error);
    return is_done;
}

bool graph_evaluate_node(const struct graph *g, node_id node, const struct tensor_value *inputs,
                         struct tensor_value *ret_outputs, struct arena *arena, struct error *error)
{
    const struct node *n = &g->nodes.items[node];
    struct type *types = arena_array(arena, struct type, n->n_inputs + 1);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        types[i] = *graph_type(g, graph_inputs(g, node)[i]);
    struct operator_call call = {n->op, (int)n->n_inputs, types, n->attributes};
    return graph_evaluate_call(&call, inputs, (int)n->n_outputs, ret_outputs, arena, error);
}
