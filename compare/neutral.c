// Which number changes nothing follows from the definition of an operator: one function of an entry of each input.
#include "compare/neutral.h"

#include "expressions/elements.h"
#include "operators/traits.h"
#include <math.h>

// --- constants -------------------------------------------------------------------------------------------------------

// Has a tensor made so the entries of the one that is read, in some order and number?
static bool has_entries_of_input(const struct operator* op)
{
    return op && (operator_repeats(op) || operator_is_view(op));
}

// What the oldest e-node has its entries from, which is older; the class itself: it makes entries.
static eclass_id origin_of_entries(const struct constants *k, eclass_id c)
{
    enode_id oldest = constants_oldest_node(k->e, c);
    return has_entries_of_input(egraph_operator(k->e, oldest)) ? egraph_edges(k->e, oldest)[0].child : c;
}

// NULL: no value is known, or it was computed with arithmetic.
static const struct tensor_value *entries_of(const struct constants *k, eclass_id c)
{
    const struct constant *known;
    eclass_id origin;
    while (!(known = constants_find_known(k, c)) && (origin = origin_of_entries(k, c)) != c)
        c = origin;
    return known && !known->is_rounded ? &known->value : NULL;
}

enum { PIECE = 256 };

// The number that every entry is, of which zero has two; NAN: there is none.
static double number_of_value(const struct tensor_value *v)
{
    double entries[PIECE], number = NAN;
    size_t size = dtype_size(v->type.dtype), n = (size_t)type_elements(&v->type);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        elements_to_reals(v->type.dtype, (const char *)v->data + at * size, count, entries);
        number = at ? number : entries[0];
        for (size_t i = 0; i < count; i++)
            if (entries[i] != number)
                return NAN;
    }
    return number;
}

static double number_of(const struct constants *k, eclass_id c)
{
    const struct tensor_value *value = k->e->classes.items[c].is_weight ? entries_of(k, c) : NULL;
    return value && dtype_is_float(value->type.dtype) ? number_of_value(value) : NAN;
}

// --- operators -------------------------------------------------------------------------------------------------------

// The number that, as this input, leaves the other one as it is; NAN: there is none.
static double neutral_number(enum scalar_function fn, uint32_t input)
{
    if (fn == FN_ADD || (fn == FN_SUB && input == 1))
        return 0;
    return fn == FN_MUL || (fn == FN_DIV && input == 1) ? 1 : NAN;
}

static bool is_read_of(const struct definition *d, expr e, int64_t input)
{
    return d->nodes.items[e].kind == EXPR_READ && d->nodes.items[e].value == input;
}

// An elementwise operator reads at the place that it makes an entry for.
static bool is_one_function(const struct definition *d, enum scalar_function *ret_fn)
{
    const struct expr_node *body = d->n_stages == 1 ? &d->nodes.items[d->stages[0].body] : NULL;
    if (!body || body->kind != EXPR_APPLY || function_arity(body->fn) != 2 || !is_read_of(d, body->a, 0) ||
        !is_read_of(d, body->b, 1))
        return false;
    *ret_fn = (enum scalar_function)body->fn;
    return true;
}

static bool find_function(const struct constants *k, enode_id n, enum scalar_function *ret_fn)
{
    const struct egraph *e = k->e;
    struct type types[2] = {*egraph_type(e, egraph_edges(e, n)[0].child), *egraph_type(e, egraph_edges(e, n)[1].child)};
    const struct operator_call call = {
        .op = egraph_operator(e, n), .attributes = egraph_attributes(e, n), .n_inputs = 2, .inputs = types};
    struct arena arena;
    struct definition d;
    arena_init(&arena);
    definition_init(&d, &arena, 2, types);
    bool is_found = operator_define(&d, &call) && is_one_function(&d, ret_fn);
    definition_free(&d);
    arena_free(&arena);
    return is_found;
}

// --- applications ----------------------------------------------------------------------------------------------------

// The class that the application makes anew; NO_ENODE: it changes something.
static eclass_id unchanged_input(const struct constants *k, enode_id n)
{
    const struct operator* op = egraph_operator(k->e, n);
    enum scalar_function fn;
    if (!op || !(op->flags & OPERATOR_IS_ELEMENTWISE) || k->e->nodes.items[n].n_children != 2)
        return NO_ENODE;
    for (uint32_t i = 0; i < 2; i++) {
        double number = number_of(k, egraph_edges(k->e, n)[i].child);
        if (!isnan(number) && find_function(k, n, &fn) && number == neutral_number(fn, i))
            return egraph_edges(k->e, n)[1 - i].child;
    }
    return NO_ENODE;
}

bool neutral_join(const struct constants *k)
{
    VEC(eclass_id) pairs = {0};
    bool is_any_new = false;
    for (enode_id n = 0; n < k->e->nodes.count; n++) {
        eclass_id unchanged = k->e->nodes.items[n].is_redundant ? NO_ENODE : unchanged_input(k, n);
        if (unchanged == NO_ENODE || egraph_find(k->e, n) == unchanged)
            continue;
        vec_push(&pairs, n);
        vec_push(&pairs, unchanged);
    }
    for (size_t i = 0; i < pairs.count; i += 2)
        is_any_new |= egraph_union(k->e, pairs.items[i + 1], pairs.items[i], REASON_GIVEN) == UNION_NEW;
    vec_free(&pairs);
    egraph_rebuild(k->e);
    return is_any_new;
}
