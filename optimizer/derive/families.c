// Sizes are drawn until the family's conditions hold and its source is well-typed. They are large enough that no axis
// or sum vanishes, and as many different ones that what is equal at all of them is hardly so by chance.
#include "optimizer/derive/families.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "core/text/text.h"
#include "optimizer/derive/part_rules.h"
#include "optimizer/derive/size_terms.h"
#include "substitutions/pattern.h"
#include <string.h>

enum { INSTANCES = 12, FEWEST_ALIKE = 9, ATTEMPTS = 2000000, MOST_RULES = 24, MOST_KEPT = 3 };
enum { LOWEST_SIZE = 7, HIGHEST_SIZE = 48 };

struct instance_of {
    struct term_bindings bindings;
    struct rule_set rules;   // for its sizes
};
struct deriving_family {
    struct rule_set *to;
    struct arena *arena;
    const struct rule *family;
    const struct iterator_tables *tables;
    struct random random;
    size_t first;   // rule of `to` that is this family's
    size_t n;
    struct instance_of instances[INSTANCES];
};

// --- instances -------------------------------------------------------------------------------------------------------

static int64_t between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(r, (uint64_t)(high - low + 1));
}

// The number that a condition says that the term of this kind is; -1: none does.
static int64_t number_said(const struct rule *r, enum attribute_term_kind kind, uint32_t variable, int64_t axis)
{
    for (uint32_t i = 0; i < r->n_conditions; i++) {
        const struct condition *c = &r->conditions[i];
        if (c->kind == CONDITION_EQUAL && c->a->kind == kind && c->a->value == variable && c->b->kind == TERM_INTEGER &&
            (kind != TERM_DIM || attribute_term_is_number(c->a->operands[0], axis)))
            return c->b->value;
    }
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

static bool derive_at(struct deriving_family *f, const struct term_bindings *b, struct arena *scratch)
{
    struct part part FREED_BY(part_free);
    part_init(&part, scratch);
    bool is_typed = make_part(f->family, b, &part, scratch);
    if (is_typed) {
        graph_add_output(&part.graph, part.result);
        struct instance_of *instance = &f->instances[f->n++];
        instance->bindings = *b;
        rule_set_init(&instance->rules, f->arena);
        part_rules_add(&instance->rules, &part, f->tables, f->family->name, MOST_RULES);
    }
    return is_typed;
}

static void derive_instances(struct deriving_family *f)
{
    ARENA(scratch);
    for (int i = 0; i < ATTEMPTS && f->n < INSTANCES; i++) {
        struct arena_mark kept = arena_mark(f->arena), mark = arena_mark(&scratch);
        struct term_bindings b = draw(f, f->arena);
        if (!conditions_hold(f->family, &b, &scratch) || !derive_at(f, &b, &scratch))
            arena_release(f->arena, kept);
        arena_release(&scratch, mark);
    }
}

// --- one rule --------------------------------------------------------------------------------------------------------

// The same but for the integers in the attributes of their targets.
static bool are_alike(const struct rule *x, const struct rule *y)
{
    const struct pattern *p = &x->pattern, *q = &y->pattern;
    bool are_equal = p->nodes.count == q->nodes.count && p->terms.count == q->terms.count &&
                     x->n_source_nodes == y->n_source_nodes && x->targets[0] == y->targets[0];
    for (size_t i = x->n_source_nodes; i < p->nodes.count && are_equal; i++) {
        const struct pattern_node *n = &p->nodes.items[i], *m = &q->nodes.items[i];
        are_equal = n->op == m->op && n->n_inputs == m->n_inputs &&
                    memcmp(n->inputs, m->inputs, n->n_inputs * sizeof *n->inputs) == 0;
        for (int a = 0; a < operator_n_attributes(n->op) && are_equal; a++)
            are_equal = n->attributes[a].count == m->attributes[a].count;
    }
    return are_equal;
}

struct joining {
    struct deriving_family *f;
    struct rule *rule;   // what is made
    size_t n;
    const struct rule *rules[INSTANCES];   // that it is made of
    struct term_bindings examples[INSTANCES];
    struct size_terms terms;
    term_id *moved;   // from terms of these to those of what is made
};

static void gather_alike(struct joining *j, const struct rule *model)
{
    for (size_t i = 0; i < j->f->n; i++)
        for (size_t k = 0; k < j->f->instances[i].rules.rules.count; k++)
            if (are_alike(model, j->f->instances[i].rules.rules.items[k])) {
                j->examples[j->n] = j->f->instances[i].bindings;
                j->rules[j->n++] = j->f->instances[i].rules.rules.items[k];
                break;
            }
}

static bool join_attribute(struct joining *j, size_t node, int attribute, struct attribute_pattern *ret_pattern)
{
    const struct attribute_pattern *first = &j->rules[0]->pattern.nodes.items[node].attributes[attribute];
    const struct attribute_term **terms = arena_array(j->f->arena, const struct attribute_term *, first->count + 1);
    int64_t wanted[INSTANCES];
    for (uint32_t k = 0; k < first->count; k++) {
        for (size_t i = 0; i < j->n; i++)
            wanted[i] = j->rules[i]->pattern.nodes.items[node].attributes[attribute].terms[k]->value;
        terms[k] = size_terms_find(&j->terms, wanted);
        if (!terms[k])
            return false;
    }
    *ret_pattern = (struct attribute_pattern){first->count, terms};
    return true;
}

static bool join_node(struct joining *j, size_t node, term_id *ret_term)
{
    const struct pattern_node *n = &j->rules[0]->pattern.nodes.items[node];
    struct arena *a = j->f->arena;
    int n_attributes = operator_n_attributes(n->op);
    struct attribute_pattern *attributes = arena_array(a, struct attribute_pattern, n_attributes + 1);
    term_id *inputs = arena_array(a, term_id, n->n_inputs + 1);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = j->moved[n->inputs[i]];
    for (int i = 0; i < n_attributes; i++)
        if (!join_attribute(j, node, i, &attributes[i]))
            return false;
    *ret_term = pattern_add_application(&j->rule->pattern, n->op, attributes, n->n_inputs, inputs);
    return true;
}

// The family's source and conditions.
static void start_rule(struct joining *j)
{
    const struct rule *family = j->f->family;
    struct rule *r = j->rule = arena_new(j->f->arena, struct rule);
    *r = *family;
    memset(&r->pattern.nodes, 0, sizeof r->pattern.nodes);
    memset(&r->pattern.terms, 0, sizeof r->pattern.terms);
    memset(&r->pattern.names, 0, sizeof r->pattern.names);
    for (size_t i = 0; i < family->pattern.nodes.count; i++)
        vec_push(&r->pattern.nodes, family->pattern.nodes.items[i]);
    for (size_t i = 0; i < family->pattern.terms.count; i++)
        vec_push(&r->pattern.terms, family->pattern.terms.items[i]);
}

// Variables and source nodes have the same numbers in the family and at its sizes.
static term_id moved_term(const struct joining *j, const struct term *t)
{
    const struct term *terms = j->rule->pattern.terms.items;
    term_id i = 0;
    while (terms[i].is_variable != t->is_variable || terms[i].index != t->index)
        i++;
    return i;
}

static bool join_target(struct joining *j)
{
    const struct rule *first = j->rules[0];
    for (size_t i = 0; i < first->pattern.terms.count; i++) {
        const struct term *t = &first->pattern.terms.items[i];
        if (t->is_variable || t->index < first->n_source_nodes)
            j->moved[i] = moved_term(j, t);
        else if (!join_node(j, t->index, &j->moved[i]))
            return false;
    }
    j->rule->targets[0] = j->moved[first->targets[0]];
    return j->rule->targets[0] != j->rule->sources[0];
}

static bool is_known(const struct deriving_family *f, const struct rule *r)
{
    TEXT(own);
    pattern_print_term(&own, &r->pattern, r->targets[0]);
    for (size_t i = f->first; i < f->to->rules.count; i++) {
        TEXT(other);
        pattern_print_term(&other, &f->to->rules.items[i]->pattern, f->to->rules.items[i]->targets[0]);
        if (strcmp(own.chars, other.chars) == 0)
            return true;
    }
    return false;
}

static void join(struct deriving_family *f, const struct rule *model)
{
    struct joining j = {.f = f};
    gather_alike(&j, model);
    if (j.n < FEWEST_ALIKE)
        return;
    start_rule(&j);
    j.moved = arena_array(f->arena, term_id, model->pattern.terms.count);
    size_terms_init(&j.terms, f->arena, j.examples, j.n, f->family->pattern.n_variables);
    bool is_kept = join_target(&j) && !is_known(f, j.rule);
    if (is_kept) {
        j.rule->name = arena_printf(f->arena, "%s-%zu", f->family->name, f->to->rules.count - f->first);
        vec_push(&f->to->rules, j.rule);
    } else
        rule_free(j.rule);
    size_terms_free(&j.terms);
}

size_t family_derive(struct rule_set *set, const struct rule *family, const struct iterator_tables *tables)
{
    struct deriving_family f = {.to = set, .arena = set->arena, .family = family, .tables = tables};
    f.first = set->rules.count;
    f.random = random_seed(hash_string(family->name));
    if (family->sources[0] == family->targets[0] && family->pattern.n_variables <= MOST_LEAVES &&
        family->pattern.n_attribute_variables == 0)
        derive_instances(&f);
    for (size_t i = 0; f.n > 0 && i < f.instances[0].rules.rules.count && set->rules.count < f.first + MOST_KEPT; i++)
        join(&f, f.instances[0].rules.rules.items[i]);
    for (size_t i = 0; i < f.n; i++)
        rule_set_free(&f.instances[i].rules);
    return f.n;
}
