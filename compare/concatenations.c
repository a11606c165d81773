// Compares slices of weights byte by byte.
#include "compare/concatenations.h"

#include "operators/traits.h"
#include <string.h>

// --- finding ---------------------------------------------------------------------------------------------------------

bool type_is_part(const struct type *whole, const struct type *part, int axis, int64_t left)
{
    return part->rank == whole->rank && part->dtype == whole->dtype && part->dim[axis] >= 1 &&
           part->dim[axis] <= left && ALL(int, i, whole->rank, i == axis || part->dim[i] == whole->dim[i]);
}

static bool is_slice(const struct tensor_value *whole, const struct tensor_value *part, int axis, int64_t offset)
{
    size_t rows = 1, inner = dtype_size(whole->type.dtype);
    for (int i = 0; i < whole->type.rank; i++) {
        rows *= i < axis ? (size_t)whole->type.dim[i] : 1;
        inner *= i > axis ? (size_t)whole->type.dim[i] : 1;
    }
    size_t step = inner * (size_t)whole->type.dim[axis], size = inner * (size_t)part->type.dim[axis];
    return ALL(size_t, row, rows,
               memcmp((const char *)whole->data + row * step + (size_t)offset * inner,
                      (const char *)part->data + row * size, size) == 0);
}

struct concatenation {
    const struct constants *k;
    enode_id whole, parts[MOST_PARTS];
    int n, axis;
};

static const struct tensor_value *value_of(const struct constants *k, enode_id n)
{
    return &k->of_nodes.items[n].value;
}

// A repeated tensor is no part, as it is concatenated before.
static bool is_part(const struct constants *k, enode_id n)
{
    const struct operator* op = egraph_operator(k->e, n);
    return !op || !operator_repeats(op);
}

// A value that is one number everywhere is cut in any way.
static bool is_uniform(const struct tensor_value *v)
{
    size_t size = dtype_size(v->type.dtype), bytes = type_bytes(&v->type);
    return bytes <= size || memcmp(v->data, (const char *)v->data + size, bytes - size) == 0;
}

static enode_id find_part(const struct concatenation *x, int64_t offset)
{
    const struct constants *k = x->k;
    const struct tensor_value *whole = value_of(k, x->whole);
    int64_t left = whole->type.dim[x->axis] - offset, most = 0;
    enode_id found = NO_ENODE;
    for (size_t i = 0; i < k->known.count; i++) {
        enode_id n = k->known.items[i];
        const struct tensor_value *part = value_of(k, n);
        if (!is_part(k, n) || egraph_find(k->e, n) == egraph_find(k->e, x->whole) ||
            !type_is_part(&whole->type, &part->type, x->axis, left) || part->type.dim[x->axis] <= most ||
            !is_slice(whole, part, x->axis, offset))
            continue;
        most = part->type.dim[x->axis];
        found = n;
    }
    return found;
}

static bool find_parts(struct concatenation *x)
{
    int64_t offset = 0, size = value_of(x->k, x->whole)->type.dim[x->axis];
    while (offset < size && x->n < MOST_PARTS) {
        enode_id part = find_part(x, offset);
        if (part == NO_ENODE)
            return false;
        x->parts[x->n++] = part;
        offset += value_of(x->k, part)->type.dim[x->axis];
    }
    return offset == size && x->n > 1;
}

// --- what parts are read as ------------------------------------------------------------------------------------------
// Biases are not concatenated as they stand, but repeated and in other shapes, and a rule that makes one of
// concatenated ones needs the concatenation to be there.

static bool is_read_so(const struct egraph *e, enode_id reader)
{
    const struct operator* op = egraph_operator(e, reader);
    return op && operator_most_inputs(op) == 1 && operator_has_role(op, ROLE_SHAPE);
}

// The one axis in which types differ; -1: they differ elsewhere, too.
static int axis_between(const struct type *a, const struct type *b)
{
    int found = -1;
    if (a->rank != b->rank || a->dtype != b->dtype)
        return -1;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i] && found >= 0)
            return -1;
        found = a->dim[i] != b->dim[i] ? i : found;
    }
    return found;
}

// The axis on which a part of so many entries stands, where it is one only; -1.
static int axis_of_size(const struct type *t, int64_t size)
{
    int found = -1;
    for (int i = t->rank; i-- > 0;)
        found = t->dim[i] == size && found < 0 ? i : found;
    return found;
}

// A reader of the part that makes the same as `first` does, but for the axis; NO_ENODE.
static enode_id find_reader(const struct egraph *e, enode_id part, int64_t size, enode_id first, int axis)
{
    for (uint32_t k = e->classes.items[egraph_find(e, part)].first_parent; k != NO_EDGE; k = e->edges.items[k].next) {
        enode_id reader = e->edges.items[k].owner;
        const struct type *t = egraph_type(e, reader);
        int between = axis_between(t, egraph_type(e, first));
        if (e->nodes.items[reader].op == e->nodes.items[first].op && t->rank > axis && t->dim[axis] == size &&
            (between == axis || (between < 0 && type_equal(t, egraph_type(e, first)))))
            return reader;
    }
    return NO_ENODE;
}

static void add_readers(struct egraph *e, int axis, int n, const enode_id *parts);

static void add_readers_like(struct egraph *e, int axis, int n, const enode_id *parts, enode_id first)
{
    enode_id readers[MOST_PARTS] = {first};
    int64_t size = egraph_type(e, parts[0])->dim[axis];
    int made_axis = axis_of_size(egraph_type(e, first), size);
    for (int i = 1; i < n && made_axis >= 0; i++) {
        readers[i] = find_reader(e, parts[i], egraph_type(e, parts[i])->dim[axis], first, made_axis);
        made_axis = readers[i] == NO_ENODE ? -1 : made_axis;
    }
    if (made_axis < 0)
        return;
    egraph_add_nestings(e, made_axis, n, readers);
    add_readers(e, made_axis, n, readers);
}

static void add_readers(struct egraph *e, int axis, int n, const enode_id *parts)
{
    for (uint32_t k = e->classes.items[egraph_find(e, parts[0])].first_parent; k != NO_EDGE; k = e->edges.items[k].next)
        if (is_read_so(e, e->edges.items[k].owner))
            add_readers_like(e, axis, n, parts, e->edges.items[k].owner);
}

static bool is_concatenation(const struct egraph *e, eclass_id c)
{
    for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n))
        if (e->nodes.items[n].op == OP_CONCAT)
            return true;
    return false;
}

static bool join_whole(const struct constants *k, enode_id whole)
{
    bool is_found = false;
    for (int axis = 0; !is_found && axis < value_of(k, whole)->type.rank; axis++) {
        struct concatenation x = {.k = k, .whole = whole, .axis = axis};
        is_found = find_parts(&x);
        if (!is_found)
            continue;
        egraph_union(k->e, whole, egraph_add_nestings(k->e, axis, x.n, x.parts), REASON_GIVEN);
        add_readers(k->e, axis, x.n, x.parts);
    }
    return is_found;
}

bool concatenations_join(const struct constants *k, const struct shared_classes *shared)
{
    const struct graph *g = &k->c->graph;
    bool is_any_new = false;
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        enode_id whole = graph_producer(g, t)->op->id == OP_WEIGHT ? k->ids[t] : NO_ENODE;
        if (whole == NO_ENODE || shared->is_shared[t] || !value_of(k, whole)->data || is_uniform(value_of(k, whole)) ||
            is_concatenation(k->e, egraph_find(k->e, whole)) || !join_whole(k, whole))
            continue;
        is_any_new = true;
        egraph_rebuild(k->e);
    }
    return is_any_new;
}
