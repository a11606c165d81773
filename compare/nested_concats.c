// Each run of consecutive parts is a tensor, which every cut of it makes.
#include "compare/nested_concats.h"

#include "egraph/intern.h"

static enode_id concatenate(struct egraph *e, int axis, enode_id a, enode_id b)
{
    int64_t value = axis;
    const struct attribute_value attribute = {.count = 1, .ints = &value};
    struct type type = *egraph_type(e, a);
    enode_id children[] = {a, b};
    type.dim[axis] += egraph_type(e, b)->dim[axis];
    return egraph_add(e, operators[OP_CONCAT], egraph_intern_attributes(e, operators[OP_CONCAT], &attribute),
                      egraph_intern_type(e, 1, &type), 2, children);
}

enode_id egraph_add_nestings(struct egraph *e, int axis, int n, const enode_id *parts)
{
    enode_id runs[MOST_PARTS][MOST_PARTS + 1];   // [first][end]
    for (int i = 0; i < n; i++)
        runs[i][i + 1] = parts[i];
    for (int length = 2; length <= n; length++)
        for (int first = 0; first + length <= n; first++)
            for (int middle = first + 1, end = first + length; middle < end; middle++) {
                enode_id made = concatenate(e, axis, runs[first][middle], runs[middle][end]);
                if (middle == first + 1)
                    runs[first][end] = made;
                else
                    egraph_union(e, runs[first][end], made, REASON_GIVEN);
            }
    return runs[0][n];
}

static void nest(struct egraph *e, enode_id concat)
{
    int axis_at = operator_find_role(operators[OP_CONCAT], ROLE_AXIS);
    int axis = (int)egraph_attributes(e, concat)[axis_at].ints[0], n = (int)e->nodes.items[concat].n_children;
    enode_id parts[MOST_PARTS];
    for (int i = 0; i < n; i++)
        parts[i] = egraph_edges(e, concat)[i].child;
    egraph_union(e, concat, egraph_add_nestings(e, axis, n, parts), REASON_GIVEN);
}

void egraph_add_nested_concats(struct egraph *e)
{
    size_t n_nodes = e->nodes.count;
    for (enode_id n = 0; n < n_nodes; n++) {
        uint32_t n_parts = e->nodes.items[n].op == OP_CONCAT ? e->nodes.items[n].n_children : 0;
        if (n_parts > 2 && n_parts <= MOST_PARTS)
            nest(e, n);
    }
}
