// Attribute terms over symbols: lists of polynomials, and what conditions say of them.
#include "verifier/symbolic_proof/attribute_lists.h"

#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/symbolic_proof/symbols.h"
#include <string.h>

#define ENTRY poly
#define CONTEXT struct family *
#define ENTRY_OF(f, number) poly_const((f)->polys, number)
#define NUMBER_OF(f, entry, ret) poly_is_const((f)->polys, entry, ret)
#define NO_VALUE(f) family_is_impossible(f)
#define UNKNOWN(f, why) family_fails(f, why)
#include "substitutions/attribute_lists.inc"

static bool combine_entries(struct family *f, enum attribute_term_kind kind, const struct attribute_term *t,
                            uint32_t number, poly a, poly b, poly *ret)
{
    int64_t divisor;
    switch (kind) {
    case TERM_ADD:
        *ret = poly_add(f->polys, a, b);
        return true;
    case TERM_SUB:
        *ret = poly_sub(f->polys, a, b);
        return true;
    case TERM_MUL:
        *ret = poly_mul(f->polys, a, b);
        return true;
    default:
        *ret = POLY_ZERO;
        if (poly_is_const(f->polys, b, &divisor) && divisor < 1)
            family_fails(f, "a quotient by %lld", (long long)divisor);
        else
            *ret = family_exact_quotient(f, a, b, t, number);
        return true;
    }
}

static void set_list(struct list *ret, uint32_t count, const poly *items)
{
    ret->count = count;
    if (count)
        memcpy(ret->items, items, count * sizeof *items);
}

static bool sizes_of_tensor(struct family *f, int64_t tensor, struct list *ret)
{
    const struct type *type = f->outline.types[tensor];
    if (!type)
        return family_fails(f, "a tensor without a type");
    set_list(ret, (uint32_t)type->rank, f->meanings.sizes[tensor]);
    return true;
}

static bool list_of_variable(struct family *f, int64_t variable, struct list *ret)
{
    const struct list_of_polys *list = &f->meanings.attributes[variable];
    if (list->n > MAX_TERM_LENGTH)
        return family_fails(f, "a long list");
    set_list(ret, list->n, list->items);
    return true;
}

bool family_list(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    struct list list;
    if (!evaluate(f, t, &list))
        return false;
    *ret = (struct list_of_polys){list.count, arena_copy_array(f->arena, list.items, list.count)};
    return true;
}

// --- conditions and nodes --------------------------------------------------------------------------------------------

static bool cuts_or_pads(const struct pattern *p)
{
    return ANY(uint32_t, n, p->nodes.count,
               operator_slices(p->nodes.items[n].op) || operator_has_role(p->nodes.items[n].op, ROLE_PADS));
}

// Places in tensors are what random sizes seldom meet.
static void assume_order(struct family *f, const struct condition *c, uint32_t entry, poly difference)
{
    if (cuts_or_pads(f->equation->pattern))
        family_at_least_zero(f, difference, c, entry);
    else
        family_not_negative(f, difference);
}

bool family_assume_condition(struct family *f, const struct condition *c)
{
    struct list_of_polys a, b;
    if (condition_is_of_variable(c->kind))
        return true;   // assumed, and not made use of
    if (!family_list(f, c->a, &a) || !family_list(f, c->b, &b))
        return false;
    if (a.n != b.n)
        return c->kind == CONDITION_NOT_EQUAL || family_is_impossible(f);
    for (uint32_t i = 0; i < a.n; i++) {
        poly difference = poly_sub(f->polys, b.items[i], a.items[i]);
        if (c->kind == CONDITION_NOT_EQUAL)
            f->is_impossible = f->is_impossible || (a.n == 1 && difference == POLY_ZERO);
        else if (c->kind == CONDITION_EQUAL)
            family_equal(f, a.items[i], b.items[i]);
        else if (c->kind == CONDITION_DIVIDES)
            family_exact_quotient(f, b.items[i], a.items[i], c, i);
        else
            assume_order(f, c, i, poly_sub(f->polys, difference, poly_const(f->polys, c->kind == CONDITION_LESS)));
    }
    return true;
}

bool family_evaluate_attributes(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        const struct attribute_pattern *a = &n->attributes[i];
        struct attribute_term list = {.kind = TERM_LIST, .count = a->count, .operands = a->terms};
        if (!family_list(f, &list, &f->meanings.of_node[node][i]))
            return false;
    }
    return true;
}
