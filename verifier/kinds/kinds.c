// Kinds that were met, and all that there may be (T15 of docs/theory/soundness.md).
#include "verifier/kinds/kinds.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/instances/domain.h"
#include "verifier/instances/rank_classes.h"
#include "verifier/kinds/kind_sizes.h"

// --- those that were met ---------------------------------------------------------------------------------------------

static bool is_any(const void *owner, uint32_t id, const void *key)
{
    (void)owner, (void)id, (void)key;
    return true;
}

static bool has_an_end(const struct attribute *attribute, bool is_whole)
{
    static const enum attribute_role roles[] = {ROLE_AXIS, ROLE_AXES, ROLE_KEEPDIMS, ROLE_PERMUTATION};
    for (size_t i = 0; attribute && i < sizeof roles / sizeof *roles; i++)
        if (attribute->role == roles[i])
            return is_whole || attribute->kind != ATTRIBUTE_INTS;
    return attribute && attribute->kind == ATTRIBUTE_CHOICE;
}

// The attribute variables whose values belong to a kind.
static uint32_t variables_with_an_end(const struct pattern *p)
{
    uint32_t variables = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *a = &p->nodes.items[n].attributes[i];
            if (a->count == 1 && a->terms[0]->kind == TERM_VARIABLE &&
                has_an_end(&p->nodes.items[n].op->attributes[i], true))
                variables |= 1u << a->terms[0]->value;
        }
    return variables;
}

static uint32_t variables_that_are_read(const struct pattern *p)
{
    uint32_t variables = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            variables |= t->is_variable ? 1u << t->index : 0;
        }
    return variables;
}

void kinds_begin(struct met_kinds *k, const struct equation *eq)
{
    table_clear(&k->met);
    table_clear(&k->met_repeats);
    k->last = 0;
    k->repeating = 0;
    k->read = variables_that_are_read(eq->pattern);
    k->with_end = variables_with_an_end(eq->pattern);
}

void kinds_tell_repeats_apart(struct met_kinds *k, const struct equation *eq)
{
    for (size_t n = 0; n < eq->pattern->nodes.count; n++)
        k->repeating |= (node_set)operator_repeats(eq->pattern->nodes.items[n].op) << n;
}

void kinds_free(struct met_kinds *k)
{
    table_free(&k->met);
    table_free(&k->met_repeats);
}

void kinds_copy(struct met_kinds *ret_copy, const struct met_kinds *k)
{
    kinds_free(ret_copy);
    *ret_copy = *k;
    table_copy(&ret_copy->met, &k->met);
    table_copy(&ret_copy->met_repeats, &k->met_repeats);
}

static uint64_t key_of_kind(const struct met_kinds *k, const struct type *const *types,
                            const struct attribute_value *attributes)
{
    uint64_t key = 1;
    for (uint32_t read = k->read; read; read &= read - 1)
        key = hash_step(key, (uint64_t)types[__builtin_ctz(read)]->rank);
    for (uint32_t left = k->with_end; left; left &= left - 1) {
        const struct attribute_value *value = &attributes[__builtin_ctz(left)];
        key = hash_mix(key, hash_bytes(value->ints, value->count * sizeof *value->ints, value->count));
    }
    return key;
}

static uint64_t add_repeats(const struct met_kinds *k, uint64_t key, const uint32_t *repeats)
{
    for (uint32_t n = 0; k->repeating >> n; n++)
        key = k->repeating >> n & 1 ? hash_step(key, repeats[n]) : key;
    return key;
}

static uint32_t repeats_at(const struct instance *in, uint32_t node)
{
    const struct type *x = typing_type(in->typing, in->calls[node]->inputs[0]);
    const struct type *z = typing_type(in->typing, in->calls[node]->outputs[0]);
    uint32_t repeats = 0;
    for (int axis = 0; axis < x->rank; axis++)
        repeats |= (uint32_t)(x->dim[axis] == 1 && z->dim[z->rank - x->rank + axis] != 1) << axis;
    return repeats;
}

static bool is_in(const struct table *met, uint64_t key)
{
    return table_find(met, key, is_any, NULL, NULL) != TABLE_NONE;
}

static void note_repeats(struct met_kinds *k, const struct instance *in, uint64_t key)
{
    uint32_t repeats[MAX_RULE_NODES];
    for (uint32_t n = 0; k->repeating >> n; n++)
        repeats[n] = k->repeating >> n & 1 ? repeats_at(in, n) : 0;
    key = add_repeats(k, key, repeats);
    if (!is_in(&k->met_repeats, key))
        table_insert(&k->met_repeats, key, 0);
}

void kinds_note(struct met_kinds *k, const struct instance *in)
{
    if (!in->equation->is_strong && instance_has_cuts(in))
        return;
    uint64_t key = key_of_kind(k, in->types, in->attributes);
    if (key != k->last && !is_in(&k->met, key))
        table_insert(&k->met, key, 0);
    k->last = key;
    if (k->repeating)
        note_repeats(k, in, key);
}

// --- all of them -----------------------------------------------------------------------------------------------------

// Can it be that every size it names, or that something equal to it names, is 1: a number up to 1, a size, a variable?
static bool goes_with_ones(const struct attribute_term *t)
{
    bool is_list = t->kind == TERM_LIST || t->kind == TERM_TAKE || t->kind == TERM_DROP || t->kind == TERM_AT;
    bool goes = is_list || t->kind == TERM_VARIABLE || t->kind == TERM_DIM || t->kind == TERM_DIMS ||
                (t->kind == TERM_INTEGER && t->value <= 1);
    uint32_t first = t->kind == TERM_TAKE || t->kind == TERM_DROP ? 1 : 0, last = t->kind == TERM_AT ? 1 : t->count;
    for (uint32_t i = first; i < last && is_list && goes; i++)
        goes = goes_with_ones(t->operands[i]);
    return goes;
}

// Those that say axes and steps, or are no integers, say no sizes; others may, whatever they are for.
static bool may_say_sizes(const struct attribute *attribute)
{
    static const enum attribute_role others[] = {ROLE_AXIS,     ROLE_AXES,   ROLE_PERMUTATION, ROLE_KEEPDIMS,
                                                 ROLE_DILATION, ROLE_STRIDE, ROLE_STEP};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (attribute->role == others[i])
            return false;
    return attribute->kind == ATTRIBUTE_INT || attribute->kind == ATTRIBUTE_INTS;
}

static bool adds_or_names_sizes(const struct pattern_node *node)
{
    bool names = operator_joins(node->op) || operator_splits(node->op) || operator_is_view(node->op);
    for (int i = 0; i < operator_n_attributes(node->op) && !names; i++)
        for (uint32_t j = 0; may_say_sizes(&node->op->attributes[i]) && j < node->attributes[i].count; j++)
            names = names || !goes_with_ones(node->attributes[i].terms[j]);
    return names;
}

// Of ranks, axes and the like alone, which kinds have.
static bool is_of_kinds(const struct attribute_term *t, uint32_t with_end)
{
    return !attribute_term_mentions_sizes(t) && (attribute_variables_of_term(t) & ~with_end) == 0;
}

// Where nothing adds sizes or names them all of them may be 1.
static bool may_need_larger_sizes(const struct equation *eq, uint32_t with_end)
{
    bool may_need = false;
    for (size_t n = 0; n < eq->pattern->nodes.count && !may_need; n++)
        may_need = adds_or_names_sizes(&eq->pattern->nodes.items[n]);
    for (uint32_t i = 0; i < eq->n_conditions && !may_need; i++) {
        const struct condition *c = &eq->conditions[i];
        may_need = !condition_is_of_variable(c->kind) &&
                   !(is_of_kinds(c->a, with_end) && is_of_kinds(c->b, with_end)) &&
                   (c->kind != CONDITION_EQUAL || !goes_with_ones(c->a) || !goes_with_ones(c->b));
    }
    return may_need;
}

#define MOST_KINDS 20000
struct all_kinds {
    struct kind *kind;
    const struct met_kinds *met;
    struct rank_classes classes;
    uint32_t n_tried;
    bool are_of_repeats;   // only those that were met, with all axes that they may repeat
    struct domain domains[MAX_RULE_VARIABLES];
};

static bool is_impossible(struct all_kinds *all)
{
    return ++all->n_tried <= MOST_KINDS && !kind_may_have_instances(all->kind);
}

// How many axes the node's input has at most.
static int most_axes(const struct kind *k, uint32_t node)
{
    const struct term *t = &k->eq->pattern->terms.items[k->eq->pattern->nodes.items[node].inputs[0]];
    return t->is_variable ? k->types[t->index].rank : k->max_rank;
}

static bool are_repeats_met(struct all_kinds *all, uint64_t key, uint32_t node)
{
    struct kind *k = all->kind;
    bool are_met = true;
    while (all->met->repeating >> node && !(all->met->repeating >> node & 1))
        node++;
    if (!(all->met->repeating >> node))
        return is_in(&all->met->met_repeats, add_repeats(all->met, key, k->repeats)) || is_impossible(all);
    for (uint32_t repeats = 0; repeats < 1u << most_axes(k, node) && are_met; repeats++) {
        k->repeats[node] = repeats;
        are_met = are_repeats_met(all, key, node + 1);
    }
    return are_met;
}

static bool is_met_or_impossible(struct all_kinds *all)
{
    uint64_t key = key_of_kind(all->met, all->kind->type_of, all->kind->attributes);
    if (all->are_of_repeats)
        return !is_in(&all->met->met, key) || are_repeats_met(all, key, 0);
    return is_in(&all->met->met, key) || is_impossible(all);
}

static bool are_met_from_attribute(struct all_kinds *all, uint32_t variable)
{
    struct kind *k = all->kind;
    bool are_met = true;
    if (variable == k->eq->pattern->n_attribute_variables)
        return is_met_or_impossible(all);
    if (!(k->with_end >> variable & 1))
        return are_met_from_attribute(all, variable + 1);
    for (size_t i = 0; i < all->domains[variable].count && are_met; i++) {
        k->attributes[variable] = all->domains[variable].values[i];
        are_met = are_met_from_attribute(all, variable + 1);
    }
    return are_met;
}

static bool are_met_from_rank(struct all_kinds *all, uint32_t variable)
{
    struct kind *k = all->kind;
    int low = 0, high = k->max_rank;
    bool are_met = true;
    if (variable == k->eq->pattern->n_variables)
        return are_met_from_attribute(all, 0);
    if (!(all->met->read >> variable & 1))
        return are_met_from_rank(all, variable + 1);
    for (uint32_t v = 0; v < variable; v++)
        if ((all->met->read >> v & 1) && all->classes.class_of_variable[v] == all->classes.class_of_variable[variable])
            low = high = k->types[v].rank;
    for (int rank = low; rank <= high && are_met; rank++) {
        k->types[variable] = (struct type){.dtype = DTYPE_F32, .rank = rank};
        k->type_of[variable] = &k->types[variable];
        are_met = are_met_from_rank(all, variable + 1);
    }
    return are_met;
}

// Of instances in which these nodes are well-typed.
static bool are_met_where_typed(struct all_kinds *all, node_set nodes)
{
    struct ranks_left left;
    all->kind->typed = nodes;
    all->n_tried = 0;
    rank_classes_make(&all->classes, &left, all->kind->eq->pattern, nodes);
    return are_met_from_rank(all, 0);
}

static node_set nodes_of_terms(const struct pattern *p, const term_id *terms, uint32_t n)
{
    node_set nodes = 0;
    for (uint32_t i = 0; i < n; i++)
        nodes |= equation_nodes_of_term(p, terms[i]);
    return nodes;
}

static bool are_met(const struct met_kinds *k, struct learned_forms *learned, const struct equation *eq, int max_rank,
                    bool are_of_repeats)
{
    struct arena a;
    arena_init(&a);
    struct all_kinds all = {.kind = arena_new(&a, struct kind), .met = k, .are_of_repeats = are_of_repeats};
    *all.kind = (struct kind){.eq = eq, .arena = &a, .max_rank = max_rank, .learned = learned};
    all.kind->with_end = k->with_end;
    all.kind->repeating = are_of_repeats ? k->repeating : 0;
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++) {
        all.domains[v] = domain_of_variable(eq->pattern, v, max_rank, DOMAIN_SOME, &a);
        all.kind->attributes[v] = UNBOUND_ATTRIBUTE;
    }
    node_set guards = nodes_of_terms(eq->pattern, eq->guards, eq->n_guards);
    bool are_met = eq->is_strong
                       ? are_met_where_typed(&all, guards | nodes_of_terms(eq->pattern, eq->left, eq->n_pairs)) &&
                             are_met_where_typed(&all, guards | nodes_of_terms(eq->pattern, eq->right, eq->n_pairs))
                       : are_met_where_typed(&all, ((node_set)1 << eq->pattern->nodes.count) - 1);
    arena_free(&a);
    return are_met;
}

bool kinds_are_met(const struct met_kinds *k, struct learned_forms *learned, const struct equation *eq, int max_rank)
{
    return !may_need_larger_sizes(eq, k->with_end) || are_met(k, learned, eq, max_rank, false);
}

bool kinds_have_all_repeats(const struct met_kinds *k, struct learned_forms *learned, const struct equation *eq,
                            int max_rank)
{
    return !k->repeating || are_met(k, learned, eq, max_rank, true);
}
