// Each run of consecutive parts is a tensor, which every cut of every longer run makes.
#include "compare/nested_splits.h"

#include "egraph/intern.h"
#include "operators/traits.h"

#define MOST_PARTS 8
#define MOST_INPUTS 3   // of elementwise operators

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

// --- parts of what elementwise operators make ------------------------------------------------------------------------

struct equation {
    enode_id part, made;
};
struct equations {
    VEC(struct equation) items;
};

// The same split of another tensor of the same shape.
static enode_id split_alike(struct egraph *e, enode_id split, enode_id whole)
{
    const struct enode node = e->nodes.items[split];
    uint32_t n_parts = e->types.items[node.type].count;
    struct type types[MOST_PARTS];
    for (uint32_t k = 0; k < n_parts; k++) {
        types[k] = e->types.items[node.type].types[k];
        types[k].dtype = egraph_type(e, whole)->dtype;
    }
    return egraph_add(e, operators[OP_SPLIT], node.attributes, egraph_intern_type(e, n_parts, types), 1, &whole);
}

// Each part of what an elementwise application makes is made of the same parts of what it reads.
static void split_application(struct egraph *e, enode_id split, enode_id application, struct equations *equations)
{
    const struct operator* op = egraph_operator(e, application);
    const struct enode node = e->nodes.items[application];
    uint32_t n_parts = e->types.items[e->nodes.items[split].type].count;
    enode_id splits[MOST_INPUTS], parts[MOST_INPUTS];
    if (!op || !(op->flags & OPERATOR_IS_ELEMENTWISE) || node.n_children > MOST_INPUTS || n_parts > MOST_PARTS)
        return;
    for (uint32_t i = 0; i < node.n_children; i++)
        splits[i] = split_alike(e, split, egraph_edges(e, application)[i].child);
    for (uint32_t k = 0; k < n_parts; k++) {
        for (uint32_t i = 0; i < node.n_children; i++)
            parts[i] = egraph_add_output(e, splits[i], k);
        struct equation equation = {.part = egraph_add_output(e, split, k)};
        uint32_t type = e->nodes.items[equation.part].type;
        equation.made = egraph_add(e, op, node.attributes, type, node.n_children, parts);
        vec_push(&equations->items, equation);
    }
}

// What it adds is taken up in turn. Needs a clean e-graph. False: nothing was united.
static bool split_what_is_read(struct egraph *e)
{
    bool is_any_new = false;
    struct equations equations = {0};
    for (enode_id n = 0; n < e->nodes.count; n++) {
        eclass_id whole = e->nodes.items[n].op == OP_SPLIT ? egraph_edges(e, n)[0].child : NO_ENODE;
        enode_id maker = whole == NO_ENODE ? NO_ENODE : egraph_first_node(e, whole);
        for (; maker != NO_ENODE; maker = egraph_next_node(e, whole, maker))
            split_application(e, n, maker, &equations);
    }
    for (size_t i = 0; i < equations.items.count; i++)
        is_any_new |=
            egraph_union(e, equations.items.items[i].part, equations.items.items[i].made, REASON_GIVEN) == UNION_NEW;
    vec_free(&equations.items);
    egraph_rebuild(e);
    return is_any_new;
}

void egraph_add_nested_splits(struct egraph *e)
{
    struct nesting s = {.e = e, .op = operators[OP_SPLIT]};
    s.axis_at = operator_find_role(s.op, ROLE_AXIS);
    s.sizes_at = operator_find_role(s.op, ROLE_PART_SIZES);
    while (split_what_is_read(e))
        continue;
    size_t n_nodes = e->nodes.count;
    for (enode_id n = 0; n < n_nodes; n++) {
        uint32_t n_parts = e->nodes.items[n].op == OP_SPLIT ? egraph_attributes(e, n)[s.sizes_at].count : 0;
        if (n_parts > 2 && n_parts <= MOST_PARTS)
            nest(&s, n);
    }
}
