// Constants that say the same many times: an expanded vector, or what is computed of one, entry by entry. They are kept
// as what is said once, to be broadcast.
#include "onnx/convert/repetition.h"

#include "graph/graph_whole.h"
#include "operators/traits.h"

#include <string.h>

// --- by what a constant is computed of -------------------------------------------------------------------------------

bool constant_grows(const struct graph *g, tensor_id tensor, bool *ret_is_moved)
{
    LOCAL_LIST(node_list, nodes);
    int64_t n_weight_elements = 0;
    *ret_is_moved = true;
    graph_list_ancestors(g, g->tensors.items[tensor].producer, &nodes);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct node *n = &g->nodes.items[nodes.items[i]];
        if (n->op->id == OP_WEIGHT)
            n_weight_elements += type_elements(graph_type(g, n->first_output));
        else
            *ret_is_moved = *ret_is_moved && operator_moves_entries(n->op);
    }
    return type_elements(graph_type(g, tensor)) > n_weight_elements;
}

// --- by its elements -------------------------------------------------------------------------------------------------

// Along one axis: blocks of as many bytes as behind one entry, `n` of them in a row that are the same.
static bool repeats_along(const char *data, size_t n_rows, size_t n, size_t bytes)
{
    return ALL(size_t, row, n_rows,
               memcmp(data + row * n * bytes, data + row * n * bytes + bytes, (n - 1) * bytes) == 0);
}

static void keep_first(char *data, size_t n_rows, size_t n, size_t bytes)
{
    for (size_t row = 1; row < n_rows; row++)
        memmove(data + row * bytes, data + row * n * bytes, bytes);
}

static void drop_leading_axes(struct type *t)
{
    int n = 0;
    while (n < t->rank && t->dim[n] == 1)
        n++;
    *t = type_make(t->dtype, t->rank - n, t->dim + n);
}

bool elements_without_repetition(const struct type *type, void *data, struct type *ret_type)
{
    struct type small = type_make(type->dtype, type->rank, type->dim);
    size_t n_rows = 1, behind = type_bytes(&small);
    if (behind == 0)
        return false;
    for (int axis = 0; axis < small.rank; axis++) {
        size_t n = (size_t)small.dim[axis];
        behind /= n;
        if (n > 1 && repeats_along(data, n_rows, n, behind)) {
            keep_first(data, n_rows, n, behind);
            small.dim[axis] = 1;
        }
        n_rows *= (size_t)small.dim[axis];
    }
    bool is_smaller = type_elements(&small) < type_elements(type);
    drop_leading_axes(&small);
    *ret_type = small;
    return is_smaller;
}
