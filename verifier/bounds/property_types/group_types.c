// What groups ask of types in a property: that they divide sums of sizes (bounds.md, 3).
#include "verifier/bounds/property_types/group_types.h"

#include "operators/traits.h"
#include "verifier/instances/domain.h"
#include "verifier/instances/size_ranges.h"

static bool has_groups_of_no_number(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *groups = &p->nodes.items[n].attributes[i];
            if (attribute_counts_groups(&p->nodes.items[n].op->attributes[i]) && groups->count &&
                groups->terms[0]->kind != TERM_INTEGER)
                return true;
        }
    return false;
}

// Variables that the term is made of, one behind the other, and those that are more than once.
static void find_parts(const struct pattern *p, term_id term, uint32_t *parts, uint32_t *repeated)
{
    const struct term *t = &p->terms.items[term];
    if (t->is_variable) {
        *repeated |= *parts & 1u << t->index;
        *parts |= 1u << t->index;
        return;
    }
    const struct pattern_node *n = &p->nodes.items[t->index];
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t of_input = operator_joins(n->op) ? *parts : 0;
        find_parts(p, n->inputs[i], &of_input, repeated);
        *parts |= of_input;
    }
}

static bool joins_more_than_one_of_a_variable(const struct pattern *p)
{
    uint32_t repeated = 0;
    for (size_t n = 0; n < p->nodes.count; n++) {
        uint32_t parts = 0;
        for (uint32_t i = 0; operator_joins(p->nodes.items[n].op) && i < p->nodes.items[n].n_inputs; i++)
            find_parts(p, p->nodes.items[n].inputs[i], &parts, &repeated);
    }
    return repeated != 0;
}

const char *group_types_find_doubt(const struct equation *eq)
{
    if (!eq->is_strong)
        return NULL;
    if (pattern_largest_groups(eq->pattern) > LARGEST_REMAINDERS)
        return "types are not argued for so many groups";
    if (has_groups_of_no_number(eq->pattern) && joins_more_than_one_of_a_variable(eq->pattern))
        return "types are not argued where any number of groups divides several of one size";
    return NULL;
}
