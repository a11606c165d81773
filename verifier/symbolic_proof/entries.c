// Equations all of whose operators work entry by entry (docs/theory/symbolic.md, S10): an entry of either side is one
// formula of the entries at its place, whatever the sizes are, so that one entry tells. Formulas are polynomials in
// normal form, of which more laws are known than of sums.
#include "operators/traits.h"
#include "verifier/polynomials/polynomial_values.h"
#include "verifier/polynomials/signs.h"
#include "verifier/symbolic_proof/family.h"
#include <math.h>

// Every tensor has one entry.
struct entries {
    struct family *family;
    struct polynomial_pool pool;
    struct type types[MAX_RULE_NODES];   // of the results of nodes
    polynomial of_nodes[MAX_RULE_NODES], of_variables[MAX_RULE_VARIABLES];
};

static struct type type_of_one_entry(const struct type *type)
{
    static const int64_t ones[MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    return type_make(type->dtype, type->rank, ones);
}

static const polynomial *entry_of_term(struct entries *en, term_id term, struct type *ret_type)
{
    const struct term *t = &en->family->equation->pattern->terms.items[term];
    *ret_type = t->is_variable ? type_of_one_entry(en->family->types[t->index]) : en->types[t->index];
    return t->is_variable ? &en->of_variables[t->index] : &en->of_nodes[t->index];
}

static bool read_attributes(struct family *f, uint32_t node, struct attribute_value *ret_attributes)
{
    for (int i = 0; i < operator_n_attributes(f->equation->pattern->nodes.items[node].op); i++) {
        const struct list_of_polys *list = &f->of_node[node][i];
        int64_t *ints = arena_array(f->arena, int64_t, list->n + 1);
        for (uint32_t j = 0; j < list->n; j++)
            if (!poly_is_const(f->polys, list->items[j], &ints[j]))
                return false;
        ret_attributes[i] = (struct attribute_value){list->n, ints};
    }
    return true;
}

// Infinities, and questions whether a number is one, are no matter of formulas over the reals.
static bool is_of_reals(const struct definition *d)
{
    for (size_t e = 0; e < d->nodes.count; e++) {
        const struct expr_node *n = &d->nodes.items[e];
        if ((n->kind == EXPR_REAL && !isfinite(n->real)) || (n->kind == EXPR_APPLY && n->fn == FN_IS_NAN))
            return false;
    }
    return true;
}

static bool evaluate_node(struct entries *en, uint32_t node)
{
    struct family *f = en->family;
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct type *inputs = arena_array(f->arena, struct type, n->n_inputs + 1);
    const polynomial **entries = arena_array(f->arena, const polynomial *, n->n_inputs + 1);
    struct attribute_value attributes[MAX_ATTRIBUTES];
    polynomial *output = &en->of_nodes[node];
    struct definition d;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        entries[i] = entry_of_term(en, n->inputs[i], &inputs[i]);
    struct operator_call call = {n->op, (int)n->n_inputs, inputs, attributes};
    definition_init(&d, f->arena, call.n_inputs, inputs);
    bool is_defined = read_attributes(f, node, attributes) && operator_define(&d, &call) && d.n_outputs == 1;
    if (is_defined)
        en->types[node] = *definition_output(&d, 0);
    bool is_known = is_defined && is_of_reals(&d) && !dtype_is_integer(en->types[node].dtype) &&
                    evaluate_polynomials(&d, &en->pool, entries, NULL, &output, f->arena);
    definition_free(&d);
    return is_known;
}

static bool entries_are_equal(struct entries *en)
{
    const struct equation *eq = en->family->equation;
    struct type type;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        en->of_variables[v] = polynomial_variable(&en->pool, v);
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (!evaluate_node(en, n))
            return false;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        polynomial x = *entry_of_term(en, eq->left[i], &type), y = *entry_of_term(en, eq->right[i], &type);
        if (x != y && !signs_make_equal(&en->pool, x, y))
            return false;
    }
    return !en->pool.has_overflowed;
}

static bool is_of_entries(const struct equation *eq)
{
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (!operator_works_entry_by_entry(eq->pattern->nodes.items[n].op))
            return false;
    return eq->pattern->nodes.count > 0;
}

bool family_entries_are_equal(struct family *f)
{
    if (!is_of_entries(f->equation))
        return false;
    struct entries *en = arena_new(f->arena, struct entries);
    *en = (struct entries){.family = f};
    polynomial_pool_init(&en->pool);
    en->pool.work_limit = 1000000;
    bool are_equal = entries_are_equal(en);
    polynomial_pool_free(&en->pool);
    return are_equal;
}
