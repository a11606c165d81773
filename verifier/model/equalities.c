// Union-find with congruence closure over the nodes of one graph.
#include "verifier/model/equalities.h"

#include "core/hash.h"

void equalities_init(struct equalities *e, const struct graph *g)
{
    *e = (struct equalities){.graph = g};
    equalities_close(e);
}

void equalities_free(struct equalities *e)
{
    vec_free(&e->class_of);
    vec_free(&e->next_equal);
}

static size_t size_of_class(const struct equalities *e, tensor_id t)
{
    size_t n = 1;
    for (tensor_id x = e->next_equal.items[t]; x != t; x = e->next_equal.items[x])
        n++;
    return n;
}

// The smaller class takes the name of the larger one.
void equalities_join(struct equalities *e, tensor_id a, tensor_id b)
{
    if (equalities_hold(e, a, b) || !type_equal(graph_type(e->graph, a), graph_type(e->graph, b)))
        return;
    if (size_of_class(e, a) < size_of_class(e, b)) {
        tensor_id other = a;
        a = b;
        b = other;
    }
    tensor_id x = b;
    do {
        e->class_of.items[x] = e->class_of.items[a];
        x = e->next_equal.items[x];
    } while (x != b);
    tensor_id after = e->next_equal.items[a];
    e->next_equal.items[a] = e->next_equal.items[b];
    e->next_equal.items[b] = after;
    e->n_joined++;
}

// Rings and classes of those that stay, each class with the name of its first tensor.
void equalities_truncate(struct equalities *e, size_t n_tensors)
{
    size_t n = e->class_of.count;
    tensor_id *first = mem_new_array(tensor_id, n + 1);
    for (size_t t = 0; t < n; t++)
        first[t] = NO_TENSOR;
    for (tensor_id t = 0; t < n_tensors; t++) {
        tensor_id *f = &first[e->class_of.items[t]];
        bool is_first = *f == NO_TENSOR;
        *f = is_first ? t : *f;
        e->class_of.items[t] = *f;
        e->next_equal.items[t] = is_first ? t : e->next_equal.items[*f];
        e->next_equal.items[*f] = t;
    }
    e->class_of.count = e->next_equal.count = n_tensors;
    mem_free_array(first, n + 1);
}

// --- congruence ------------------------------------------------------------------------------------------------------

static tensor_id class_of_input(const struct equalities *e, node_id n, uint32_t i)
{
    return e->class_of.items[graph_inputs(e->graph, n)[i]];
}

// Are the two inputs of a commutative node, by class, in the other order?
static bool is_swapped(const struct equalities *e, node_id n)
{
    const struct node *node = &e->graph->nodes.items[n];
    return (node->op->flags & OPERATOR_IS_COMMUTATIVE) && node->n_inputs == 2 &&
           class_of_input(e, n, 0) > class_of_input(e, n, 1);
}

static tensor_id sorted_input(const struct equalities *e, node_id n, uint32_t i)
{
    return class_of_input(e, n, is_swapped(e, n) ? 1 - i : i);
}

static uint64_t hash_of_node(const struct equalities *e, node_id n)
{
    const struct node *node = &e->graph->nodes.items[n];
    uint64_t h = hash_mix((uint64_t)node->op->id, node->n_inputs);
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        h = hash_bytes(node->attributes[i].ints, node->attributes[i].count * sizeof(int64_t), h);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        h = hash_mix(h, sorted_input(e, n, i));
    return h;
}

static bool is_congruent(const void *owner, uint32_t id, const void *key)
{
    const struct equalities *e = owner;
    node_id other = *(const node_id *)key;
    const struct node *x = &e->graph->nodes.items[id], *y = &e->graph->nodes.items[other];
    if (x->op != y->op || x->n_inputs != y->n_inputs || x->n_outputs != y->n_outputs)
        return false;
    for (int i = 0; i < operator_n_attributes(x->op); i++)
        if (!attribute_value_equal(&x->attributes[i], &y->attributes[i]))
            return false;
    for (uint32_t i = 0; i < x->n_inputs; i++)
        if (sorted_input(e, id, i) != sorted_input(e, other, i))
            return false;
    return true;
}

static void take_up_node(struct equalities *e, struct table *seen, node_id n)
{
    const struct node *node = &e->graph->nodes.items[n];
    uint64_t hash = hash_of_node(e, n);
    uint32_t found = table_find(seen, hash, is_congruent, e, &n);
    if (found == TABLE_NONE) {
        table_insert(seen, hash, n);
        return;
    }
    for (uint32_t i = 0; i < node->n_outputs; i++)
        equalities_join(e, graph_output_of(e->graph, found, i), graph_output_of(e->graph, n, i));
}

void equalities_grow(struct equalities *e)
{
    for (size_t t = e->class_of.count; t < e->graph->tensors.count; t++) {
        vec_push(&e->class_of, (tensor_id)t);
        vec_push(&e->next_equal, (tensor_id)t);
    }
}

// Nodes stand behind what they read, so that one pass carries an equality all the way down; what stands before a
// joined tensor's other readers needs one more.
void equalities_close(struct equalities *e)
{
    size_t before;
    equalities_grow(e);
    do {
        struct table seen = {0};
        before = e->n_joined;
        for (node_id n = 0; n < e->graph->nodes.count; n++)
            take_up_node(e, &seen, n);
        table_free(&seen);
    } while (e->n_joined > before);
}
