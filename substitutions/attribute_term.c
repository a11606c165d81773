// Attribute terms are lists of integers: constants, variables, dimensions, and arithmetic entry by entry.
#include "substitutions/attribute_term.h"

#include "core/memory/arena.h"
#include <string.h>

static const char *const heads[TERM_KINDS] = {
    [TERM_DIM] = "dim",       [TERM_DIMS] = "dims",       [TERM_RANK] = "rank", [TERM_ADD] = "+",
    [TERM_SUB] = "-",         [TERM_MUL] = "*",           [TERM_DIV] = "/",     [TERM_LIST] = "list",
    [TERM_SUM] = "sum",       [TERM_PRODUCT] = "product", [TERM_TAKE] = "take", [TERM_DROP] = "drop",
    [TERM_REPEAT] = "repeat", [TERM_LENGTH] = "length",   [TERM_IOTA] = "iota", [TERM_AT] = "at",
};

bool attribute_term_is_number(const struct attribute_term *t, int64_t number)
{
    return t->kind == TERM_INTEGER && t->value == number;
}

bool attribute_term_is_one_entry(const struct attribute_term *t)
{
    return t->kind == TERM_INTEGER || t->kind == TERM_DIM;
}

const char *attribute_term_head(enum attribute_term_kind kind)
{
    return heads[kind];
}

struct list {
    uint32_t count;
    int64_t items[MAX_TERM_LENGTH];
};

static bool evaluate(const struct attribute_term *t, const struct term_bindings *b, struct list *ret);

// Lists are long, and all of one would be cleared by an initializer.
static void set_single(struct list *ret, int64_t value)
{
    ret->count = 1;
    ret->items[0] = value;
}

static bool is_single(const struct list *l, int64_t *ret_value)
{
    *ret_value = l->items[0];
    return l->count == 1;
}

static bool combine_entries(enum attribute_term_kind kind, int64_t a, int64_t b, int64_t *ret)
{
    switch (kind) {
    case TERM_ADD:
        return !__builtin_add_overflow(a, b, ret);
    case TERM_SUB:
        return !__builtin_sub_overflow(a, b, ret);
    case TERM_MUL:
        return !__builtin_mul_overflow(a, b, ret);
    default:
        if (b == 0 || b == -1 || a % b != 0)
            return false;
        *ret = a / b;
        return true;
    }
}

static bool combine_lists(enum attribute_term_kind kind, const struct list *a, const struct list *b, struct list *ret)
{
    if (a->count != b->count && a->count != 1 && b->count != 1)
        return false;
    ret->count = a->count == 1 ? b->count : a->count;
    return ALL(uint32_t, i, ret->count,
               combine_entries(kind, a->items[a->count == 1 ? 0 : i], b->items[b->count == 1 ? 0 : i], &ret->items[i]));
}

static bool append(struct list *ret, const struct list *more)
{
    if (ret->count + more->count > MAX_TERM_LENGTH)
        return false;
    memcpy(ret->items + ret->count, more->items, more->count * sizeof *more->items);
    ret->count += more->count;
    return true;
}

static bool evaluate_operands_into_one(const struct attribute_term *t, const struct term_bindings *b, struct list *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct list part;
        if (!evaluate(t->operands[i], b, &part) || !append(ret, &part))
            return false;
    }
    return true;
}

static bool fold(enum attribute_term_kind kind, const struct list *l, struct list *ret)
{
    int64_t value = kind == TERM_SUM ? 0 : 1;
    for (uint32_t i = 0; i < l->count; i++)
        if (!combine_entries(kind == TERM_SUM ? TERM_ADD : TERM_MUL, value, l->items[i], &value))
            return false;
    set_single(ret, value);
    return true;
}

static bool select_part(enum attribute_term_kind kind, int64_t n, const struct list *l, struct list *ret)
{
    ret->count = 0;
    if (n < 0 || n > MAX_TERM_LENGTH || (kind != TERM_REPEAT && n > l->count))
        return false;
    struct list part;
    part.count = 0;
    for (uint32_t i = kind == TERM_DROP ? (uint32_t)n : 0; i < (kind == TERM_TAKE ? (uint32_t)n : l->count); i++)
        part.items[part.count++] = l->items[i];
    return ALL(int64_t, i, (kind == TERM_REPEAT ? n : 1), append(ret, &part));
}

static bool count_up(const struct list *l, struct list *ret)
{
    if (l->count != 1 || l->items[0] < 0 || l->items[0] > MAX_TERM_LENGTH)
        return false;
    ret->count = (uint32_t)l->items[0];
    for (uint32_t i = 0; i < ret->count; i++)
        ret->items[i] = i;
    return true;
}

static bool pick_entries(const struct list *from, const struct list *places, struct list *ret)
{
    ret->count = places->count;
    for (uint32_t i = 0; i < places->count; i++) {
        if (places->items[i] < 0 || places->items[i] >= from->count)
            return false;
        ret->items[i] = from->items[places->items[i]];
    }
    return true;
}

static bool evaluate_shape_term(const struct attribute_term *t, const struct term_bindings *b, struct list *ret)
{
    const struct type *type = b->tensors[t->value];
    struct list axis;
    int64_t a;
    if (!type || type->rank == RANK_UNKNOWN)
        return false;
    if (t->kind == TERM_RANK) {
        set_single(ret, type->rank);
        return true;
    }
    if (t->kind == TERM_DIMS) {
        ret->count = (uint32_t)type->rank;
        memcpy(ret->items, type->dim, sizeof *type->dim * (size_t)type->rank);
        return true;
    }
    if (!evaluate(t->operands[0], b, &axis) || !is_single(&axis, &a) || a < 0 || a >= type->rank)
        return false;
    set_single(ret, type->dim[a]);
    return true;
}

static bool evaluate_variable(const struct attribute_term *t, const struct term_bindings *b, struct list *ret)
{
    const struct attribute_value *value = &b->attributes[t->value];
    if (value->count > MAX_TERM_LENGTH)
        return false;
    ret->count = value->count;
    if (value->count)
        memcpy(ret->items, value->ints, value->count * sizeof *value->ints);
    return true;
}

static bool evaluate(const struct attribute_term *t, const struct term_bindings *b, struct list *ret)
{
    struct list x, y;
    int64_t n;
    switch (t->kind) {
    case TERM_INTEGER:
        set_single(ret, t->value);
        return true;
    case TERM_VARIABLE:
        return evaluate_variable(t, b, ret);
    case TERM_DIM:
    case TERM_DIMS:
    case TERM_RANK:
        return evaluate_shape_term(t, b, ret);
    case TERM_ADD:
    case TERM_SUB:
    case TERM_MUL:
    case TERM_DIV:
        return evaluate(t->operands[0], b, &x) && evaluate(t->operands[1], b, &y) &&
               combine_lists(t->kind, &x, &y, ret);
    case TERM_LIST:
        return evaluate_operands_into_one(t, b, ret);
    case TERM_SUM:
    case TERM_PRODUCT:
        return evaluate(t->operands[0], b, &x) && fold(t->kind, &x, ret);
    case TERM_LENGTH:
        if (!evaluate(t->operands[0], b, &x))
            return false;
        set_single(ret, x.count);
        return true;
    case TERM_IOTA:
        return evaluate(t->operands[0], b, &x) && count_up(&x, ret);
    case TERM_AT:
        return evaluate(t->operands[0], b, &x) && evaluate(t->operands[1], b, &y) && pick_entries(&x, &y, ret);
    case TERM_TAKE:
    case TERM_DROP:
    case TERM_REPEAT:
        return evaluate(t->operands[0], b, &x) && is_single(&x, &n) && evaluate(t->operands[1], b, &y) &&
               select_part(t->kind, n, &y, ret);
    }
    return false;
}

bool attribute_term_evaluate(const struct attribute_term *t, const struct term_bindings *b, struct arena *a,
                             struct attribute_value *ret_value)
{
    struct list value;
    if (!evaluate(t, b, &value))
        return false;
    ret_value->count = value.count;
    ret_value->ints = value.count ? arena_copy_array(a, value.items, value.count) : NULL;
    return true;
}

const struct attribute_term *attribute_term_make(enum attribute_term_kind kind, int64_t value,
                                                 const struct attribute_term *operand, struct arena *a)
{
    struct attribute_term *t = arena_new(a, struct attribute_term);
    const struct attribute_term **operands = arena_array(a, const struct attribute_term *, 1);
    operands[0] = operand;
    *t = (struct attribute_term){kind, value, operand != NULL, operands};
    return t;
}

const struct attribute_term *attribute_term_of(struct arena *a, enum attribute_term_kind kind, uint32_t count,
                                               const struct attribute_term *const *operands)
{
    struct attribute_term *t = arena_new(a, struct attribute_term);
    *t = (struct attribute_term){.kind = kind, .count = count, .operands = arena_copy_array(a, operands, count)};
    return t;
}

bool attribute_term_equal(const struct attribute_term *a, const struct attribute_term *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->value != b->value || a->count != b->count)
        return false;
    return ALL(uint32_t, i, a->count, attribute_term_equal(a->operands[i], b->operands[i]));
}

bool attribute_term_mentions_variable(const struct attribute_term *t, int64_t variable)
{
    if (t->kind == TERM_VARIABLE && t->value == variable)
        return true;
    return ANY(uint32_t, i, t->count, attribute_term_mentions_variable(t->operands[i], variable));
}
