// Constants that say the same many times: an expanded vector, or what is computed of one, entry by entry. They are kept
// as what is said once, to be broadcast.
#include "onnx/convert/repetition.h"

#include "core/memory/hash.h"
#include "core/memory/table.h"
#include "operators/traits.h"

#include <string.h>

// --- by what a constant is computed of -------------------------------------------------------------------------------

static bool is_seen(const void *owner, uint32_t id, const void *key)
{
    return id == *(const node_id *)key;
}

// The node and all that it is computed of are looked at once each.
struct ancestry {
    const struct graph *g;
    struct table seen;
    VEC(node_id) open;
    int64_t n_weight_elements;
    bool is_moved;
};

static void look_at(struct ancestry *a, node_id n)
{
    const struct node *node = &a->g->nodes.items[n];
    uint64_t hash = hash_mix(n, 0);
    if (table_find(&a->seen, hash, is_seen, NULL, &n) != TABLE_NONE)
        return;
    table_insert(&a->seen, hash, n);
    vec_push(&a->open, n);
    if (node->op->id == OP_WEIGHT)
        a->n_weight_elements += type_elements(graph_type(a->g, node->first_output));
    else
        a->is_moved = a->is_moved && operator_moves_entries(node->op);
}

bool constant_grows(const struct graph *g, tensor_id tensor, bool *ret_is_moved)
{
    struct ancestry a = {.g = g, .is_moved = true};
    int64_t n_elements = type_elements(graph_type(g, tensor));
    look_at(&a, g->tensors.items[tensor].producer);
    while (a.open.count > 0) {
        node_id n = vec_pop(&a.open);
        for (uint32_t i = 0; i < g->nodes.items[n].n_inputs; i++)
            look_at(&a, g->tensors.items[graph_inputs(g, n)[i]].producer);
    }
    table_free(&a.seen);
    vec_free(&a.open);
    *ret_is_moved = a.is_moved;
    return n_elements > a.n_weight_elements;
}

// --- by its elements -------------------------------------------------------------------------------------------------

// Along one axis: blocks of as many bytes as behind one entry, `n` of them in a row that are the same.
static bool repeats_along(const char *data, size_t n_rows, size_t n, size_t bytes)
{
    for (size_t row = 0; row < n_rows; row++)
        if (memcmp(data + row * n * bytes, data + row * n * bytes + bytes, (n - 1) * bytes) != 0)
            return false;
    return true;
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
