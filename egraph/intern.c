// Types and attribute lists of an e-graph, each kept once: equal ones have one number.
#include "egraph/intern.h"

#include "core/memory/hash.h"
#include <string.h>

static bool is_same_type(const void *owner, uint32_t id, const void *key)
{
    const struct etype *known = &((const struct egraph *)owner)->interned.types.items[id], *asked = key;
    return known->count == asked->count &&
           ALL(uint32_t, i, known->count, type_equal(&known->types[i], &asked->types[i]));
}

uint32_t egraph_intern_type(struct egraph *e, uint32_t n, const struct type *types)
{
    struct etype asked = {n, types};
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) {
        hash = hash_mix(hash, (uint64_t)types[i].dtype << 8 | (uint64_t)(types[i].rank + 1));
        for (int axis = 0; axis < types[i].rank; axis++)
            hash = hash_mix(hash, (uint64_t)types[i].dim[axis]);
    }
    uint32_t found = table_find(&e->interned.type_by_content, hash, is_same_type, e, &asked);
    if (found != TABLE_NONE)
        return found;
    struct type *copy = arena_copy_array(&e->arena, types, n);
    for (uint32_t i = 0; i < n; i++)
        memset(copy[i].split, 0, sizeof copy[i].split);
    table_insert(&e->interned.type_by_content, hash, (uint32_t)e->interned.types.count);
    vec_push(&e->interned.types, ((struct etype){n, copy}));
    return (uint32_t)e->interned.types.count - 1;
}

uint32_t egraph_intern_outputs(struct egraph *e, const struct graph *g, const struct node *n)
{
    LOCAL_ARRAY(struct type, types, n->n_outputs + 1);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        types[i] = *graph_type(g, n->first_output + i);
    return egraph_intern_type(e, n->n_outputs, types);
}

struct attributes_key {
    const struct operator* op;
    const struct attribute_value *values;
};

static bool is_same_attributes(const void *owner, uint32_t id, const void *key)
{
    const struct egraph *e = owner;
    const struct attributes_key *asked = key;
    return e->interned.attribute_owners.items[id] == (uint8_t)asked->op->id &&
           attributes_equal(asked->op, e->interned.attributes.items[id], asked->values);
}

uint32_t egraph_intern_attributes(struct egraph *e, const struct operator* op, const struct attribute_value *values)
{
    struct attributes_key asked = {op, values};
    uint64_t hash = attributes_hash(op, values);
    uint32_t found = table_find(&e->interned.attributes_by_content, hash, is_same_attributes, e, &asked);
    if (found != TABLE_NONE)
        return found;
    table_insert(&e->interned.attributes_by_content, hash, (uint32_t)e->interned.attributes.count);
    vec_push(&e->interned.attributes, attributes_copy(&e->arena, op, values));
    vec_push(&e->interned.attribute_owners, (uint8_t)op->id);
    return (uint32_t)e->interned.attributes.count - 1;
}
