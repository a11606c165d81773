// Sizes are drawn until the family's conditions hold and its source is well-typed. They are large enough that no axis
// or sum vanishes, and as many different ones that what is equal at all of them is hardly so by chance.
#include "optimizer/derive/families.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "optimizer/derive/part_rules.h"
#include "substitutions/pattern.h"

enum { INSTANCES = 12, ATTEMPTS = 2000000, MOST_RULES = 24 };
enum { LOWEST_SIZE = 7, HIGHEST_SIZE = 48 };

struct deriving_family {
    struct rule_set *to;
    const struct rule *family;
    const struct iterator_tables *tables;
    struct random random;
    size_t n;   // instances
};

// --- instances -------------------------------------------------------------------------------------------------------

static int64_t between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(r, (uint64_t)(high - low + 1));
}

// The number that a condition says that the term of this kind is; -1: none does.
static int64_t number_said(const struct rule *r, enum attribute_term_kind kind, uint32_t variable, int64_t axis)
{
    EACH(r->conditions, r->n_conditions, c)
        if (c->kind == CONDITION_EQUAL && c->a->kind == kind && c->a->value == variable && c->b->kind == TERM_INTEGER &&
            (kind != TERM_DIM || attribute_term_is_number(c->a->operands[0], axis)))
            return c->b->value;
    return -1;
}

static const struct type *draw_type(struct deriving_family *f, uint32_t variable, struct arena *a)
{
    int64_t rank = number_said(f->family, TERM_RANK, variable, 0), dim[MAX_RANK];
    struct type *type = arena_new(a, struct type);
    for (int64_t axis = 0; axis < rank; axis++) {
        int64_t said = number_said(f->family, TERM_DIM, variable, axis);
        dim[axis] = said > 0 ? said : between(&f->random, LOWEST_SIZE, HIGHEST_SIZE);
    }
    *type = type_make(DTYPE_F32, (int)rank, dim);
    return type;
}

static struct term_bindings draw(struct deriving_family *f, struct arena *a)
{
    const struct pattern *p = &f->family->pattern;
    const struct type **tensors = arena_array(a, const struct type *, p->n_variables);
    for (uint32_t v = 0; v < p->n_variables; v++)
        tensors[v] = draw_type(f, v, a);
    return (struct term_bindings){.tensors = tensors};
}

static bool conditions_hold(const struct rule *r, const struct term_bindings *b, struct arena *scratch)
{
    return ALL(uint32_t, i, r->n_conditions,
               r->conditions[i].kind == CONDITION_WEIGHT || condition_holds(&r->conditions[i], b, NULL, scratch));
}

static bool is_weight(const struct rule *r, uint32_t variable)
{
    return ANY(uint32_t, i, r->n_conditions,
               r->conditions[i].kind == CONDITION_WEIGHT && r->conditions[i].variable == variable);
}

// The source at these sizes. False: it is ill-typed.
static bool make_part(const struct rule *r, const struct term_bindings *b, struct part *p, struct arena *a)
{
    const struct pattern *pattern = &r->pattern;
    tensor_id leaves[MOST_LEAVES], outputs[MAX_RULE_NODES], inputs[MAX_RULE_VARIABLES];
    struct attribute_value values[MAX_ATTRIBUTES];
    node_id node = NO_NODE;
    for (uint32_t v = 0; v < pattern->n_variables; v++)
        leaves[v] = part_add_leaf(p, b->tensors[v], is_weight(r, v));
    for (uint32_t n = 0; n < r->n_source_nodes; n++) {
        const struct pattern_node *at = &pattern->nodes.items[n];
        for (uint32_t i = 0; i < at->n_inputs; i++) {
            const struct term *t = &pattern->terms.items[at->inputs[i]];
            inputs[i] = t->is_variable ? leaves[t->index] : outputs[t->index];
        }
        if (!pattern_evaluate_attributes(at, b, a, values) ||
            !graph_add(&p->graph, at->op, values, at->n_inputs, inputs, &node))
            return false;
        outputs[n] = graph_output_of(&p->graph, node, 0);
    }
    p->result = outputs[pattern->terms.items[r->sources[0]].index];
    return p->graph.nodes.count == pattern->n_variables + r->n_source_nodes;
}

static void derive_at(struct deriving_family *f, const struct term_bindings *b, struct arena *scratch)
{
    struct part part FREED_BY(part_free);
    part_init(&part, scratch);
    if (make_part(f->family, b, &part, scratch)) {
        graph_add_output(&part.graph, part.result);
        const char *name = arena_printf(f->to->arena, "%s-%zu", f->family->name, f->n++);
        part_rules_add(f->to, &part, f->tables, name, MOST_RULES);
    }
}

static void derive_instances(struct deriving_family *f)
{
    ARENA(scratch);
    for (int i = 0; i < ATTEMPTS && f->n < INSTANCES; i++) {
        ARENA_MARK(mark, &scratch);
        struct term_bindings b = draw(f, &scratch);
        if (conditions_hold(f->family, &b, &scratch))
            derive_at(f, &b, &scratch);
    }
}

size_t family_derive(struct rule_set *set, const struct rule *family, const struct iterator_tables *tables)
{
    struct deriving_family f = {.to = set, .family = family, .tables = tables};
    f.random = random_seed(hash_string(family->name));
    if (family->sources[0] == family->targets[0] && family->pattern.n_variables <= MOST_LEAVES &&
        family->pattern.n_attribute_variables == 0)
        derive_instances(&f);
    return f.n;
}
