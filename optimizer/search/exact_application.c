// Both sides are composed in one pool, where equal expressions are one scope.
#include "optimizer/search/exact_application.h"

#include "core/memory/arena.h"
#include "graph/compose.h"

static struct type type_of_variable(const struct match *m, const struct graph *instance, uint32_t variable)
{
    bool is_read = m->variables[variable] != NO_TENSOR;
    return is_read ? *graph_type(instance, m->variables[variable]) : (struct type){.dtype = DTYPE_F32};
}

static bool are_one_scope(struct composition *c, const int *tensors, uint32_t n, const tensor_id *old,
                          const tensor_id *new)
{
    return ALL(uint32_t, i, n, composition_scope_of(c, tensors[old[i]]) == composition_scope_of(c, tensors[new[i]]));
}

bool keeps_every_bit(const struct match *m, struct graph *instance, const tensor_id *old, const tensor_id *new,
                     struct arena *scratch)
{
    struct type types[MAX_RULE_VARIABLES];
    struct composition c FREED_BY(composition_free);
    int *tensors = arena_array(scratch, int, instance->tensors.count + 1);
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        types[v] = type_of_variable(m, instance, v);
    for (uint32_t i = 0; i < m->rule->n_outputs; i++) {
        vec_push(&instance->outputs, old[i]);
        vec_push(&instance->outputs, new[i]);
    }
    composition_init(&c, scratch, (int)m->rule->pattern.n_variables, types);
    return graph_compose(instance, &c, tensors) && are_one_scope(&c, tensors, m->rule->n_outputs, old, new);
}
