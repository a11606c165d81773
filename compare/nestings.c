// Each run of consecutive parts is a tensor: what every concatenation of two shorter runs makes, and every split of a
// longer one.
#include "compare/nestings.h"

#include "egraph/intern.h"

typedef enode_id runs[MOST_PARTS][MOST_PARTS + 1];   // [first][end]; NO_ENODE: not made yet

static void note_run(struct egraph *e, enode_id *run, enode_id made)
{
    if (*run == NO_ENODE)
        *run = made;
    else
        egraph_union(e, *run, made, REASON_GIVEN);
}

static void init_runs(runs of)
{
    for (int first = 0; first < MOST_PARTS; first++)
        for (int end = 0; end <= MOST_PARTS; end++)
            of[first][end] = NO_ENODE;
}

// --- concatenations --------------------------------------------------------------------------------------------------

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
    runs of;
    init_runs(of);
    for (int i = 0; i < n; i++)
        of[i][i + 1] = parts[i];
    for (int length = 2; length <= n; length++)
        for (int first = 0; first + length <= n; first++)
            for (int middle = first + 1, end = first + length; middle < end; middle++)
                note_run(e, &of[first][end], concatenate(e, axis, of[first][middle], of[middle][end]));
    return of[0][n];
}

static void nest_concat(struct egraph *e, enode_id concat)
{
    int axis_at = operator_find_role(operators[OP_CONCAT], ROLE_AXIS);
    int axis = (int)egraph_attributes(e, concat)[axis_at].ints[0], n = (int)e->nodes.items[concat].n_children;
    enode_id parts[MOST_PARTS];
    for (int i = 0; i < n; i++)
        parts[i] = egraph_edges(e, concat)[i].child;
    egraph_union(e, concat, egraph_add_nestings(e, axis, n, parts), REASON_GIVEN);
}

// --- splits ----------------------------------------------------------------------------------------------------------

static enode_id split_in_two(struct egraph *e, int64_t axis, enode_id whole, const int64_t sizes[2])
{
    const struct operator* op = operators[OP_SPLIT];
    struct attribute_value attributes[2];
    struct type types[2] = {*egraph_type(e, whole), *egraph_type(e, whole)};
    attributes[operator_find_role(op, ROLE_AXIS)] = (struct attribute_value){.count = 1, .ints = &axis};
    attributes[operator_find_role(op, ROLE_PART_SIZES)] = (struct attribute_value){.count = 2, .ints = sizes};
    types[0].dim[axis] = sizes[0];
    types[1].dim[axis] = sizes[1];
    return egraph_add(e, op, egraph_intern_attributes(e, op, attributes), egraph_intern_type(e, 2, types), 1, &whole);
}

static void nest_split(struct egraph *e, enode_id split, const struct attribute_value *sizes)
{
    int n = (int)sizes->count;
    int64_t axis = egraph_attributes(e, split)[operator_find_role(operators[OP_SPLIT], ROLE_AXIS)].ints[0];
    int64_t offsets[MOST_PARTS + 1] = {0};
    runs of;
    init_runs(of);
    of[0][n] = egraph_edges(e, split)[0].child;
    for (int i = 0; i < n; i++) {
        offsets[i + 1] = offsets[i] + sizes->ints[i];
        of[i][i + 1] = egraph_add_output(e, split, (uint32_t)i);
    }
    for (int length = n; length > 1; length--)
        for (int first = 0; first + length <= n; first++)
            for (int middle = first + 1, end = first + length; middle < end; middle++) {
                const int64_t of_parts[] = {offsets[middle] - offsets[first], offsets[end] - offsets[middle]};
                enode_id cut = split_in_two(e, axis, of[first][end], of_parts);
                note_run(e, &of[first][middle], egraph_add_output(e, cut, 0));
                note_run(e, &of[middle][end], egraph_add_output(e, cut, 1));
            }
}

void egraph_nest_concats_and_splits(struct egraph *e)
{
    size_t n_nodes = e->nodes.count;
    int sizes_at = operator_find_role(operators[OP_SPLIT], ROLE_PART_SIZES);
    for (enode_id n = 0; n < n_nodes; n++) {
        uint32_t op = e->nodes.items[n].op;
        const struct attribute_value *sizes = op == OP_SPLIT ? &egraph_attributes(e, n)[sizes_at] : NULL;
        uint32_t n_parts = sizes ? sizes->count : op == OP_CONCAT ? e->nodes.items[n].n_children : 0;
        if (n_parts <= 2 || n_parts > MOST_PARTS)
            continue;
        if (sizes)
            nest_split(e, n, sizes);
        else
            nest_concat(e, n);
    }
}
