// Each run of consecutive parts is a tensor, which every cut of every longer run makes.
#include "compare/nested_splits.h"

#include "egraph/intern.h"

#define MOST_PARTS 8

struct nesting {
    struct egraph *e;
    const struct operator* op;
    int axis_at, sizes_at;   // attributes
    int axis;
    int64_t offsets[MOST_PARTS + 1];
    enode_id runs[MOST_PARTS][MOST_PARTS + 1];   // [first][end]; NO_ENODE: not made yet
};

static enode_id split_in_two(struct nesting *s, int first, int middle, int end)
{
    enode_id whole = s->runs[first][end];
    int64_t axis = s->axis;
    int64_t sizes[2] = {s->offsets[middle] - s->offsets[first], s->offsets[end] - s->offsets[middle]};
    struct attribute_value attributes[2];
    struct type types[2] = {*egraph_type(s->e, whole), *egraph_type(s->e, whole)};
    attributes[s->axis_at] = (struct attribute_value){.count = 1, .ints = &axis};
    attributes[s->sizes_at] = (struct attribute_value){.count = 2, .ints = sizes};
    types[0].dim[axis] = sizes[0];
    types[1].dim[axis] = sizes[1];
    return egraph_add(s->e, s->op, egraph_intern_attributes(s->e, s->op, attributes),
                      egraph_intern_type(s->e, 2, types), 1, &whole);
}

static void note_run(struct nesting *s, int first, int end, enode_id made)
{
    enode_id *known = &s->runs[first][end];
    if (*known == NO_ENODE)
        *known = made;
    else
        egraph_union(s->e, *known, made, REASON_GIVEN);
}

static void cut_run(struct nesting *s, int first, int end)
{
    for (int middle = first + 1; middle < end; middle++) {
        enode_id cut = split_in_two(s, first, middle, end);
        note_run(s, first, middle, egraph_add_output(s->e, cut, 0));
        note_run(s, middle, end, egraph_add_output(s->e, cut, 1));
    }
}

static void nest(struct nesting *s, enode_id split)
{
    const struct attribute_value *attributes = egraph_attributes(s->e, split);
    int n = (int)attributes[s->sizes_at].count;
    s->axis = (int)attributes[s->axis_at].ints[0];
    s->offsets[0] = 0;
    for (int i = 0; i < n; i++) {
        s->offsets[i + 1] = s->offsets[i] + attributes[s->sizes_at].ints[i];
        for (int end = i + 1; end <= n; end++)
            s->runs[i][end] = NO_ENODE;
    }
    s->runs[0][n] = egraph_edges(s->e, split)[0].child;
    for (int i = 0; i < n; i++)
        s->runs[i][i + 1] = egraph_add_output(s->e, split, (uint32_t)i);
    for (int length = n; length > 1; length--)
        for (int first = 0; first + length <= n; first++)
            cut_run(s, first, first + length);
}

void egraph_add_nested_splits(struct egraph *e)
{
    struct nesting s = {.e = e, .op = operators[OP_SPLIT]};
    s.axis_at = operator_find_role(s.op, ROLE_AXIS);
    s.sizes_at = operator_find_role(s.op, ROLE_PART_SIZES);
    size_t n_nodes = e->nodes.count;
    for (enode_id n = 0; n < n_nodes; n++) {
        uint32_t n_parts = e->nodes.items[n].op == OP_SPLIT ? egraph_attributes(e, n)[s.sizes_at].count : 0;
        if (n_parts > 2 && n_parts <= MOST_PARTS)
            nest(&s, n);
    }
}
