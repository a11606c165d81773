// Functions that are not defined everywhere: where nothing takes an entry away again, both sides are undefined at the
// same numbers (docs/theory/symbolic.md, S8).
#include "verifier/symbolic_proof/domains.h"

#include "expressions/definedness.h"
#include "operators/traits.h"

// The node's inputs all of whose entries are positive, by the form of what makes them; one bit each.
static unsigned positive_inputs(const struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    unsigned positive = 0;
    for (uint32_t i = 0; i < n->n_inputs && i < 32; i++) {
        const struct term *t = &f->equation->pattern->terms.items[n->inputs[i]];
        bool is_positive =
            !t->is_variable && definition_is_positive(&f->lanes[0].definitions[t->index], positive_inputs(f, t->index));
        positive |= (unsigned)is_positive << i;
    }
    return positive;
}

static bool is_partial(const struct family *f, uint32_t node)
{
    return definition_is_partial(&f->lanes[0].definitions[node], positive_inputs(f, node));
}

// A difference, a choice, a zero, or one beside a tensor.
static bool may_take_away(const struct operator* op, const struct expr_node *n)
{
    bool is_function = n->kind == EXPR_APPLY || n->kind == EXPR_REDUCE;
    bool chooses = n->fn == FN_MAX || n->fn == FN_MIN || n->fn == FN_WHERE;
    return (n->kind == EXPR_READ && n->b != OUTSIDE_NEVER) || n->kind == EXPR_SCALAR_OF ||
           (n->kind == EXPR_REAL && !(n->real > 0)) || (n->kind == EXPR_SELECT && !operator_joins(op)) ||
           (is_function && (n->fn == FN_SUB || n->fn == FN_NEG || chooses));
}

static bool keeps_all(const struct family *f, uint32_t node)
{
    const struct definition *d = &f->lanes[0].definitions[node];
    return ALL(size_t, e, d->nodes.count,
               !may_take_away(f->equation->pattern->nodes.items[node].op, &d->nodes.items[e]));
}

bool family_keeps_domains(struct family *f)
{
    const char *partial = NULL;
    bool are_all_kept = true;
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count; n++) {
        partial = is_partial(f, n) ? f->equation->pattern->nodes.items[n].op->name : partial;
        are_all_kept = are_all_kept && keeps_all(f, n);
    }
    return !partial || are_all_kept ||
           family_fails(f, "%s is not defined everywhere, and one side may lose it", partial);
}
