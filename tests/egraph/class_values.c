// The values of a node's outputs stand one behind the other; a projection's are those of its place in the tuple's.
#include "tests/egraph/class_values.h"

#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include <string.h>

#define KEY 0x7461736f
#define OPERATIONS_PER_ENTRY 64   // of the largest tensor that is allowed: what one node may take

struct evalues {
    struct arena arena, scratch;
    uint64_t **of_nodes;     // NULL: unknown
    enode_id *first_known;   // of each class: a node with a value; NO_ENODE
    int64_t most_entries;
};

// Of floating-point tensors; an operator that counts with others has its meaning only at small integers. 0: too many.
static int64_t entries_of(const struct evalues *v, const struct etype *t)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (!type_is_known(&t->types[i]) || !dtype_is_float(t->types[i].dtype))
            return 0;
        sum += type_elements(&t->types[i]);
    }
    return sum <= v->most_entries ? sum : 0;
}

static void fill_leaf(const struct egraph *e, enode_id n, uint64_t *ret_entries, int64_t count)
{
    uint64_t key = hash_mix(KEY + (uint64_t)egraph_operator(e, n)->id, (uint64_t)egraph_attributes(e, n)[0].ints[0]);
    for (int64_t i = 0; i < count; i++)
        ret_entries[i] = field_reduce(random_keyed(key, (uint64_t)i));
}

// The value that the first node of the child's class has of which one is known; NULL: none has.
static const uint64_t *value_of_child(const struct evalues *v, const struct egraph *e, enode_id child)
{
    enode_id first = v->first_known[egraph_find(e, child)];
    return first == NO_ENODE ? NULL : v->of_nodes[first];
}

static uint64_t *project(struct evalues *v, const struct egraph *e, enode_id n, uint64_t *ret_entries)
{
    enode_id tuple = egraph_edges(e, n)[0].child;
    const struct etype *t = &e->interned.types.items[e->nodes.items[tuple].type];
    const uint64_t *all = value_of_child(v, e, tuple);
    for (uint32_t i = 0; all && i < e->nodes.items[n].attributes; i++)
        all += type_elements(&t->types[i]);
    if (!all)
        return NULL;
    memcpy(ret_entries, all, (size_t)type_elements(egraph_type(e, n)) * sizeof *ret_entries);
    return ret_entries;
}

static bool evaluate(struct evalues *v, const struct egraph *e, enode_id n, uint64_t *ret_entries)
{
    const struct enode *node = &e->nodes.items[n];
    const struct etype *made = &e->interned.types.items[node->type];
    struct type *types = arena_array(&v->scratch, struct type, node->n_children + 1);
    const uint64_t **inputs = arena_array(&v->scratch, const uint64_t *, node->n_children + 1);
    uint64_t **outputs = arena_array(&v->scratch, uint64_t *, made->count + 1);
    for (uint32_t i = 0; i < node->n_children; i++) {
        types[i] = *egraph_type(e, egraph_edges(e, n)[i].child);
        inputs[i] = value_of_child(v, e, egraph_edges(e, n)[i].child);
        if (!inputs[i])
            return false;
    }
    for (uint32_t i = 0; i < made->count; i++) {
        outputs[i] = ret_entries;
        ret_entries += type_elements(&made->types[i]);
    }
    struct operator_call call = {egraph_operator(e, n), (int)node->n_children, types, egraph_attributes(e, n)};
    struct definition d FREED_BY(definition_free);
    definition_init(&d, &v->scratch, call.n_inputs, types);
    bool is_done = operator_define(&d, &call) && !d.is_data_dependent &&
                   definition_flops(&d) <= (double)OPERATIONS_PER_ENTRY * (double)v->most_entries;
    if (is_done)
        evaluate_field(&d, KEY, inputs, outputs, &v->scratch);
    return is_done;
}

static uint64_t *value_of(struct evalues *v, const struct egraph *e, enode_id n, int64_t count)
{
    const struct operator* op = egraph_operator(e, n);
    uint64_t *entries = count ? arena_alloc(&v->arena, (size_t)count * sizeof *entries, _Alignof(uint64_t)) : NULL;
    if (!entries)
        return NULL;
    if (!op)
        return project(v, e, n, entries);
    if (op->flags & OPERATOR_IS_LEAF)
        fill_leaf(e, n, entries, count);
    else if (!op->define || !evaluate(v, e, n, entries))
        return NULL;
    return entries;
}

static void evaluate_node(struct evalues *v, const struct egraph *e, enode_id n, int64_t count)
{
    struct arena_mark before = arena_mark(&v->arena), scratch = arena_mark(&v->scratch);
    v->of_nodes[n] = value_of(v, e, n, count);
    arena_release(&v->scratch, scratch);
    if (!v->of_nodes[n])
        arena_release(&v->arena, before);
}

// Is the node's value that of its class, where both are known?
static bool agrees_with_class(struct evalues *v, const struct egraph *e, enode_id n, int64_t count)
{
    const uint64_t *known = value_of_child(v, e, n);
    if (!known && v->of_nodes[n])
        v->first_known[egraph_find(e, n)] = n;
    return !known || !v->of_nodes[n] || memcmp(known, v->of_nodes[n], (size_t)count * sizeof *known) == 0;
}

bool classes_have_one_value(const struct egraph *e, int64_t most_entries, enode_id *ret_a, enode_id *ret_b)
{
    struct evalues v = {.most_entries = most_entries};
    bool have_one = true;
    v.of_nodes = arena_array(&v.arena, uint64_t *, e->nodes.count + 1);
    v.first_known = arena_array(&v.arena, enode_id, e->nodes.count + 1);
    memset(v.first_known, 0xff, e->nodes.count * sizeof *v.first_known);
    for (enode_id n = 0; have_one && n < e->nodes.count; n++) {
        int64_t count = entries_of(&v, &e->interned.types.items[e->nodes.items[n].type]);
        evaluate_node(&v, e, n, count);
        have_one = agrees_with_class(&v, e, n, count);
        *ret_a = n;
        *ret_b = v.first_known[egraph_find(e, n)];
    }
    arena_free(&v.arena);
    arena_free(&v.scratch);
    return have_one;
}
