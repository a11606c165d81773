// Places and sizes are copied as the tests have them; types and attributes are read off them.
#include "generator/output/equation_examples.h"

#include "core/memory/arena.h"

struct equation_examples equation_examples_make(struct arena *a, const struct shapes *s)
{
    int32_t *sizes = arena_array(a, int32_t, (s->n_assignments + 1) * s->n);
    int64_t other[MAX_SIZES];
    for (int i = 0; i < s->n; i++)
        sizes[i] = s->places[i].base;
    for (int k = 0; k < s->n_assignments; k++) {
        shapes_sizes(s, k, other);
        for (int i = 0; i < s->n; i++)
            sizes[(k + 1) * s->n + i] = (int32_t)other[i];
    }
    return (struct equation_examples){s->n_assignments + 1, s->n, arena_copy_array(a, s->places, s->n), sizes};
}

struct type equation_examples_type(const struct equation_examples *e, int example, const struct rule_graph *rg,
                                   int variable)
{
    struct type type = rule_graph_type_of_variable(rg, variable);
    for (int i = 0; i < e->n_places; i++)
        if (e->places[i].kind == SIZE_OF_VARIABLE && e->places[i].owner == variable)
            type.dim[e->places[i].entry] = e->sizes[example * e->n_places + i];
    return type;
}

static struct attribute_value value_at(struct arena *a, const struct equation_examples *e, int example, int kind,
                                       int owner, int attribute, const struct attribute_value *base)
{
    int64_t *ints = arena_copy_array(a, base->ints, base->count);
    for (int i = 0; i < e->n_places; i++) {
        const struct size_place *p = &e->places[i];
        if (p->kind == kind && p->owner == owner && p->attribute == attribute)
            ints[p->entry] = e->sizes[example * e->n_places + i];
    }
    return (struct attribute_value){base->count, ints};
}

const struct attribute_value *equation_examples_attributes(struct arena *a, const struct equation_examples *e,
                                                           int example, const struct rule_graph *rg, reference r)
{
    bool is_node = reference_is_node(r);
    int owner = is_node ? reference_node(r) : r - RULE_GRAPH_CONSTANT,
        kind = is_node ? SIZE_OF_ATTRIBUTE : SIZE_OF_CONSTANT;
    const struct instance *in =
        is_node ? &rg->family->instances[rg->nodes[owner].instance] : &rg->family->leaves[owner].constant;
    struct attribute_value *values = arena_array(a, struct attribute_value, operator_n_attributes(in->op));
    for (int i = 0; i < operator_n_attributes(in->op); i++)
        values[i] = value_at(a, e, example, kind, owner, i, &in->attributes[i]);
    return values;
}
