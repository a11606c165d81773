// Definitions are compared stage by stage and node by node, as bytes.
#include "generator/enumerate/same_definition.h"

#include "core/memory/hash.h"
#include "expressions/definition.h"
#include <string.h>

uint64_t same_definition_hash(const struct definition *d)
{
    uint64_t hash = hash_bytes(d->nodes.items, d->nodes.count * sizeof *d->nodes.items, (uint64_t)d->n_stages);
    hash = hash_bytes(d->indices.items, d->indices.count * sizeof *d->indices.items, hash);
    return hash_bytes(d->extents.items, d->extents.count * sizeof *d->extents.items, hash);
}

static bool have_equal_stages(const struct definition *a, const struct definition *b)
{
    if (a->n_inputs != b->n_inputs || a->n_stages != b->n_stages || a->n_outputs != b->n_outputs ||
        ANY(int, i, a->n_inputs, !type_equal(&a->inputs[i], &b->inputs[i])))
        return false;
    return ALL(int, i, a->n_stages,
               type_equal(&a->stages[i].type, &b->stages[i].type) && a->stages[i].body == b->stages[i].body &&
                   a->stages[i].first_variable == b->stages[i].first_variable) &&
           memcmp(a->outputs, b->outputs, (size_t)a->n_outputs * sizeof *a->outputs) == 0;
}

// memcmp may not be given NULL, which an empty array is.
static bool is_equal_memory(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

bool is_same_definition(const struct definition *a, const struct definition *b)
{
    return a->nodes.count == b->nodes.count && a->indices.count == b->indices.count &&
           a->extents.count == b->extents.count && have_equal_stages(a, b) &&
           is_equal_memory(a->nodes.items, b->nodes.items, a->nodes.count * sizeof *a->nodes.items) &&
           is_equal_memory(a->indices.items, b->indices.items, a->indices.count * sizeof *a->indices.items) &&
           is_equal_memory(a->extents.items, b->extents.items, a->extents.count * sizeof *a->extents.items);
}
