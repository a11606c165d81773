// Permutations are found for few orders of axes; what is made of several rules is asked for all, by types alone.
#include "generator/unify/other_permutations.h"

#include "generator/enumerate/evaluation_cache.h"
#include "substitutions/pattern.h"
#include <string.h>

#define MOST_INPUTS 2
enum { MOST_BYTES = 64 << 20 };

struct trying {
    const struct unifying *u;
    struct evaluation_cache calls;
    const struct type *const *tensors;
    struct attribute_value values[MAX_RULE_VARIABLES];
    int64_t entries[MAX_RULE_VARIABLES][MAX_RANK];
    uint32_t permutations;   // variables
};

static uint32_t variables_for_permutations(const struct pattern *p)
{
    uint32_t variables = 0;
    for (size_t i = 0; i < p->nodes.count; i++) {
        int a = operator_find_role(p->nodes.items[i].op, ROLE_PERMUTATION);
        const struct attribute_pattern *at = a < 0 ? NULL : &p->nodes.items[i].attributes[a];
        if (at && at->count == 1 && at->terms[0]->kind == TERM_VARIABLE)
            variables |= UINT32_C(1) << at->terms[0]->value;
    }
    return variables;
}

static const struct call_type *type_of(struct trying *t, term_id term, const struct call_type *const *const *results)
{
    const struct term *of = &t->u->rule.pattern.terms.items[term];
    return of->is_variable ? evaluation_cache_type(&t->calls, t->tensors[of->index]) : results[of->index][of->output];
}

// NULL: ill-typed.
static const struct call_type *const *results_of(struct trying *t, const struct pattern_node *n,
                                                 const struct call_type *const *const *results)
{
    const struct term_bindings b = {t->tensors, t->values};
    const struct call_type *inputs[MOST_INPUTS];
    struct attribute_value attributes[MAX_ATTRIBUTES];
    if (n->n_inputs > MOST_INPUTS || !pattern_evaluate_attributes(n, &b, &t->calls.scratch, attributes))
        return NULL;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = type_of(t, n->inputs[i], results);
    return evaluation_cache_results(evaluation_cache_find(
        &t->calls, evaluation_cache_setting(&t->calls, n->op, attributes), (int)n->n_inputs, inputs));
}

static bool have_other_types(struct trying *t)
{
    const struct rule *r = &t->u->rule;
    const struct call_type *const *results[MAX_RULE_NODES];
    const struct term_bindings b = {t->tensors, t->values};
    for (uint32_t i = 0; i < r->n_conditions; i++)
        if (!condition_holds(&r->conditions[i], &b, NULL, &t->calls.scratch))
            return false;
    for (size_t i = 0; i < r->pattern.nodes.count; i++)
        if (!(results[i] = results_of(t, &r->pattern.nodes.items[i], results)))
            return false;
    for (uint32_t i = 0; i < r->n_outputs; i++)
        if (!type_equal_shape(&type_of(t, r->sources[i], results)->type, &type_of(t, r->targets[i], results)->type))
            return true;
    return false;
}

static bool differ_from(struct trying *t, uint32_t variable);

// With the entries from `first` on in all orders.
static bool differ_in_an_order(struct trying *t, uint32_t variable, uint32_t first)
{
    int64_t *entries = t->entries[variable];
    if (first == t->values[variable].count)
        return differ_from(t, variable + 1);
    bool differ = false;
    for (uint32_t i = first; i < t->values[variable].count && !differ; i++) {
        int64_t entry = entries[i];
        entries[i] = entries[first];
        entries[first] = entry;
        differ = differ_in_an_order(t, variable, first + 1);
        entries[first] = entries[i];
        entries[i] = entry;
    }
    return differ;
}

static bool differ_from(struct trying *t, uint32_t variable)
{
    while (variable < MAX_RULE_VARIABLES && !(t->permutations >> variable & 1))
        variable++;
    if (variable == MAX_RULE_VARIABLES) {
        struct arena_mark mark = arena_mark(&t->calls.scratch);
        bool differ = have_other_types(t);
        arena_release(&t->calls.scratch, mark);
        return differ;
    }
    memmove(t->entries[variable], t->values[variable].ints, t->values[variable].count * sizeof(int64_t));
    t->values[variable].ints = t->entries[variable];
    return differ_in_an_order(t, variable, 0);
}

bool unifying_is_ill_ordered(const struct unifying *u)
{
    struct trying t = {.u = u, .permutations = variables_for_permutations(&u->rule.pattern) & u->known};
    bool is_ill = false;
    if (!t.permutations)
        return false;
    evaluation_cache_init(&t.calls, 1, MOST_BYTES);
    for (size_t i = 0; i < u->n_examples && !is_ill; i++) {
        evaluation_cache_limit(&t.calls);
        t.tensors = u->examples[i].tensors;
        memcpy(t.values, u->examples[i].attributes, sizeof t.values);
        is_ill = differ_from(&t, 0);
    }
    evaluation_cache_free(&t.calls);
    return is_ill;
}
