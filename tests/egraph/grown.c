// E-graphs that tests grow.
#include "tests/egraph/grown.h"

#include "egraph/intern.h"

uint32_t grown_attributes(struct egraph *e, enum operator_id op, int64_t value)
{
    struct attribute_value values[MAX_ATTRIBUTES];
    for (int i = 0; i < MAX_ATTRIBUTES; i++)
        values[i] = (struct attribute_value){1, &value};
    return egraph_intern_attributes(e, operators[op], values);
}

void grown_init(struct grown *g)
{
    struct type t[2] = {type_make(DTYPE_F32, 2, (const int64_t[]){2, 3}),
                        type_make(DTYPE_F32, 2, (const int64_t[]){2, 3})};
    *g = (struct grown){0};
    egraph_init(&g->e);
    g->tensor = egraph_intern_type(&g->e, 1, t);
    g->tuple = egraph_intern_type(&g->e, 2, t);
    for (int64_t i = 0; i < 4; i++)
        vec_push(&g->tensors,
                 egraph_add(&g->e, operators[OP_INPUT], grown_attributes(&g->e, OP_INPUT, i), g->tensor, 0, NULL));
}

void grown_free(struct grown *g)
{
    vec_free(&g->tensors);
    egraph_free(&g->e);
}

void grown_add(struct grown *g, uint32_t op, enode_id x, enode_id y, int64_t attribute)
{
    static const enum operator_id ops[GROWN_OPERATORS] = {OP_RELU, OP_EWADD, OP_SUB, OP_SPLIT};
    bool is_split = ops[op] == OP_SPLIT;
    uint32_t type = is_split ? g->tuple : g->tensor, n_children = is_split || ops[op] == OP_RELU ? 1 : 2;
    enode_id n = egraph_add(&g->e, operators[ops[op]], grown_attributes(&g->e, ops[op], attribute), type, n_children,
                            (const enode_id[]){x, y});
    for (uint32_t i = 0; i < g->e.interned.types.items[type].count; i++)
        vec_push(&g->tensors, egraph_add_output(&g->e, n, i));
}
