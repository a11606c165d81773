// Attribute terms over symbols: lists of polynomials, and what conditions say of them.
#include "verifier/symbolic_proof/attribute_lists.h"

#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/symbolic_proof/symbols.h"

static bool single(const struct family *f, const struct list_of_polys *l, int64_t *ret_value)
{
    return l->n == 1 && poly_is_const(f->polys, l->items[0], ret_value);
}

static poly combine_entries(struct family *f, const struct attribute_term *t, uint32_t entry, poly a, poly b)
{
    int64_t divisor;
    switch (t->kind) {
    case TERM_ADD:
        return poly_add(f->polys, a, b);
    case TERM_SUB:
        return poly_sub(f->polys, a, b);
    case TERM_MUL:
        return poly_mul(f->polys, a, b);
    default:
        if (poly_is_const(f->polys, b, &divisor) && divisor < 1)
            return family_fails(f, "a quotient by %lld", (long long)divisor), POLY_ZERO;
        return family_exact_quotient(f, a, b, t, entry);
    }
}

static bool combine_lists(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    struct list_of_polys a, b;
    if (!family_list(f, t->operands[0], &a) || !family_list(f, t->operands[1], &b))
        return false;
    if (a.n != b.n && a.n != 1 && b.n != 1)
        return family_is_impossible(f);
    uint32_t n = a.n == 1 ? b.n : a.n;
    poly *items = arena_array(f->arena, poly, n + 1);
    for (uint32_t i = 0; i < n; i++)
        items[i] = combine_entries(f, t, i, a.items[a.n == 1 ? 0 : i], b.items[b.n == 1 ? 0 : i]);
    *ret = (struct list_of_polys){n, items};
    return true;
}

static bool join_lists(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    poly *items = arena_array(f->arena, poly, MAX_TERM_LENGTH);
    struct list_of_polys part;
    *ret = (struct list_of_polys){0, items};
    for (uint32_t i = 0; i < t->count; i++) {
        if (!family_list(f, t->operands[i], &part))
            return false;
        for (uint32_t j = 0; j < part.n && ret->n < MAX_TERM_LENGTH; j++)
            items[ret->n++] = part.items[j];
    }
    return ret->n < MAX_TERM_LENGTH || family_fails(f, "a long list");
}

static bool take_or_drop(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    struct list_of_polys places, list;
    int64_t n;
    if (!family_list(f, t->operands[0], &places) || !family_list(f, t->operands[1], &list))
        return false;
    if (!single(f, &places, &n))
        return family_fails(f, "a part of a list of unknown length");
    if (n < 0 || n > list.n)
        return family_is_impossible(f);
    *ret = t->kind == TERM_TAKE ? (struct list_of_polys){(uint32_t)n, list.items}
                                : (struct list_of_polys){list.n - (uint32_t)n, list.items + n};
    return true;
}

static bool look_up(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    struct list_of_polys list, places;
    int64_t at;
    if (!family_list(f, t->operands[0], &list) || !family_list(f, t->operands[1], &places))
        return false;
    poly *items = arena_array(f->arena, poly, places.n + 1);
    for (uint32_t i = 0; i < places.n; i++) {
        if (!poly_is_const(f->polys, places.items[i], &at))
            return family_fails(f, "a place in a list that is a symbol");
        if (at < 0 || at >= list.n)
            return family_is_impossible(f);
        items[i] = list.items[at];
    }
    *ret = (struct list_of_polys){places.n, items};
    return true;
}

static bool fold_list(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    struct list_of_polys list;
    poly *item = arena_array(f->arena, poly, 1);
    if (!family_list(f, t->operands[0], &list))
        return false;
    *item = poly_const(f->polys, t->kind == TERM_LENGTH ? list.n : t->kind == TERM_PRODUCT);
    for (uint32_t i = 0; t->kind != TERM_LENGTH && i < list.n; i++)
        *item = (t->kind == TERM_PRODUCT ? poly_mul : poly_add)(f->polys, *item, list.items[i]);
    *ret = (struct list_of_polys){1, item};
    return true;
}

static bool count_list(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    struct list_of_polys times, list = {0};
    int64_t n;
    bool repeats = t->kind == TERM_REPEAT;
    if (!family_list(f, t->operands[0], &times) || (repeats && !family_list(f, t->operands[1], &list)))
        return false;
    if (!single(f, &times, &n) || n * (repeats ? list.n : 1) > MAX_TERM_LENGTH)
        return family_fails(f, "a list of unknown length");
    if (n < 0)
        return family_is_impossible(f);
    uint32_t of_one = repeats ? list.n : 1;
    poly *items = arena_array(f->arena, poly, MAX_TERM_LENGTH);
    for (uint32_t i = 0; i < (uint32_t)n * of_one; i++)
        items[i] = repeats ? list.items[i % of_one] : poly_const(f->polys, i);
    *ret = (struct list_of_polys){(uint32_t)n * of_one, items};
    return true;
}

static bool sizes_of_variable(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    const struct type *type = f->outline.types[t->value];
    struct list_of_polys axis;
    int64_t place;
    poly *items = arena_array(f->arena, poly, MAX_RANK);
    *ret = (struct list_of_polys){1, items};
    if (!type)
        return family_fails(f, "a tensor without a type");
    if (t->kind == TERM_DIMS)
        *ret = (struct list_of_polys){(uint32_t)type->rank, f->meanings.sizes[t->value]};
    else if (t->kind == TERM_RANK)
        items[0] = poly_const(f->polys, type->rank);
    else if (!family_list(f, t->operands[0], &axis))
        return false;
    else if (!single(f, &axis, &place))
        return family_fails(f, "the size of an unknown axis");
    else if (place < 0 || place >= type->rank)
        return family_is_impossible(f);
    else
        items[0] = f->meanings.sizes[t->value][place];
    return true;
}

bool family_list(struct family *f, const struct attribute_term *t, struct list_of_polys *ret)
{
    poly *item;
    switch (t->kind) {
    case TERM_INTEGER:
        item = arena_array(f->arena, poly, 1);
        *item = poly_const(f->polys, t->value);
        *ret = (struct list_of_polys){1, item};
        return true;
    case TERM_VARIABLE:
        *ret = f->meanings.attributes[t->value];
        return true;
    case TERM_DIM:
    case TERM_DIMS:
    case TERM_RANK:
        return sizes_of_variable(f, t, ret);
    case TERM_ADD:
    case TERM_SUB:
    case TERM_MUL:
    case TERM_DIV:
        return combine_lists(f, t, ret);
    case TERM_LIST:
        return join_lists(f, t, ret);
    case TERM_SUM:
    case TERM_PRODUCT:
    case TERM_LENGTH:
        return fold_list(f, t, ret);
    case TERM_TAKE:
    case TERM_DROP:
        return take_or_drop(f, t, ret);
    case TERM_REPEAT:
    case TERM_IOTA:
        return count_list(f, t, ret);
    default:
        return look_up(f, t, ret);
    }
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
