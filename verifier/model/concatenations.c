// Compares slices of weights byte by byte; what is found is kept in numbers of the common graph.
#include "verifier/model/concatenations.h"

#include <string.h>

// --- finding ---------------------------------------------------------------------------------------------------------

static const struct tensor_value *value_of(const struct common_graph *c, tensor_id weight)
{
    return &c->weights.items[graph_producer(&c->graph, weight)->attributes[0].ints[0]].value;
}

static bool fits_along(const struct type *whole, const struct type *part, int axis, int64_t left)
{
    if (part->rank != whole->rank || part->dtype != whole->dtype || part->dim[axis] < 1 || part->dim[axis] > left)
        return false;
    for (int i = 0; i < whole->rank; i++)
        if (i != axis && part->dim[i] != whole->dim[i])
            return false;
    return true;
}

static bool is_slice(const struct tensor_value *whole, const struct tensor_value *part, int axis, int64_t offset)
{
    size_t rows = 1, inner = dtype_size(whole->type.dtype);
    for (int i = 0; i < whole->type.rank; i++) {
        rows *= i < axis ? (size_t)whole->type.dim[i] : 1;
        inner *= i > axis ? (size_t)whole->type.dim[i] : 1;
    }
    size_t step = inner * (size_t)whole->type.dim[axis], size = inner * (size_t)part->type.dim[axis];
    for (size_t row = 0; row < rows; row++)
        if (memcmp((const char *)whole->data + row * step + (size_t)offset * inner,
                   (const char *)part->data + row * size, size) != 0)
            return false;
    return true;
}

typedef VEC(tensor_id) tensors;

static tensor_id find_part(const struct common_graph *c, const tensors *weights, tensor_id whole, int axis,
                           int64_t offset)
{
    const struct tensor_value *w = value_of(c, whole);
    int64_t left = w->type.dim[axis] - offset, most = 0;
    tensor_id found = NO_TENSOR;
    for (size_t i = 0; i < weights->count; i++) {
        const struct tensor_value *part = value_of(c, weights->items[i]);
        if (weights->items[i] == whole || !fits_along(&w->type, &part->type, axis, left) ||
            part->type.dim[axis] <= most || !is_slice(w, part, axis, offset))
            continue;
        most = part->type.dim[axis];
        found = weights->items[i];
    }
    return found;
}

static bool find_parts(const struct common_graph *c, const tensors *weights, struct concatenation *x)
{
    int64_t offset = 0, size = value_of(c, x->whole)->type.dim[x->axis];
    while (offset < size && x->n < MOST_PARTS) {
        tensor_id part = find_part(c, weights, x->whole, x->axis, offset);
        if (part == NO_TENSOR)
            return false;
        x->parts[x->n++] = part;
        offset += value_of(c, part)->type.dim[x->axis];
    }
    return offset == size && x->n > 1;
}

static void collect_weights(const struct common_graph *c, tensors *ret_weights)
{
    for (node_id n = 0; n < c->n_nodes; n++) {
        const struct node *node = &c->graph.nodes.items[n];
        bool is_live = c->sides[0].is_live[n] || c->sides[1].is_live[n];
        if (is_live && node->op->id == OP_WEIGHT && value_of(c, node->first_output)->data)
            vec_push(ret_weights, node->first_output);
    }
}

void concatenations_find(const struct common_graph *c, const struct shared_classes *shared, concatenations *ret)
{
    tensors weights = {0};
    collect_weights(c, &weights);
    for (size_t i = 0; i < weights.count; i++) {
        tensor_id whole = weights.items[i];
        for (int axis = 0; !shared->is_shared[whole] && axis < value_of(c, whole)->type.rank; axis++) {
            struct concatenation x = {.whole = whole, .axis = axis};
            if (find_parts(c, &weights, &x))
                vec_push(ret, x);
        }
    }
    vec_free(&weights);
}

// --- adding ----------------------------------------------------------------------------------------------------------

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

// Each run of consecutive parts is a tensor, which every cut of it makes.
static void add_nestings(const struct concatenation *x, struct egraph *e, const enode_id *ids)
{
    enode_id runs[MOST_PARTS][MOST_PARTS + 1];   // [first][end]
    for (int i = 0; i < x->n; i++)
        runs[i][i + 1] = ids[x->parts[i]];
    for (int length = 2; length <= x->n; length++)
        for (int first = 0; first + length <= x->n; first++)
            for (int middle = first + 1, end = first + length; middle < end; middle++) {
                enode_id made = concatenate(e, x->axis, runs[first][middle], runs[middle][end]);
                if (middle == first + 1)
                    runs[first][end] = made;
                else
                    egraph_union(e, runs[first][end], made, REASON_GIVEN);
            }
    egraph_union(e, ids[x->whole], runs[0][x->n], REASON_GIVEN);
}

void concatenations_add(const concatenations *found, struct egraph *e, const enode_id *ids)
{
    for (size_t i = 0; i < found->count; i++)
        add_nestings(&found->items[i], e, ids);
}
