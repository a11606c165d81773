// Examples over the prime field, entry by entry, as the optimizer checks each application of a rule.
#include "core/memory/arena.h"
#include "graph/field_entries.h"
#include "selection/example.h"

#define KEY 0x7461736f
#define MOST_OPERATIONS 1e6   // for one entry; dearer ones are not looked at

// The first entry, and the last one.
static bool have_equal_entries(struct field_entries *source, tensor_id x, struct field_entries *target, tensor_id y)
{
    const struct type *type = graph_type(source->g, x);
    int64_t first[MAX_RANK] = {0}, last[MAX_RANK] = {0};
    for (int i = 0; i < type->rank; i++)
        last[i] = type->dim[i] - 1;
    return field_entry(source, x, first) == field_entry(target, y, first) &&
           field_entry(source, x, last) == field_entry(target, y, last);
}

bool example_holds_over_field(const struct example *e)
{
    struct arena a;
    struct field_entries source, target;
    bool is_equal = true;
    arena_init(&a);
    field_entries_init(&source, &e->source, KEY, &a);
    field_entries_init(&target, &e->target, KEY, &a);
    for (size_t i = 0; i < e->source.outputs.count && is_equal; i++) {
        tensor_id x = e->source.outputs.items[i], y = e->target.outputs.items[i];
        bool is_cheap = field_entry_cost(&source, x) + field_entry_cost(&target, y) <= MOST_OPERATIONS;
        is_equal = !is_cheap || have_equal_entries(&source, x, &target, y);
    }
    field_entries_free(&source);
    field_entries_free(&target);
    arena_free(&a);
    return is_equal;
}
