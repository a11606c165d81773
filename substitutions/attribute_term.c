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

// --- values ----------------------------------------------------------------------------------------------------------

#define ENTRY int64_t
#define CONTEXT const struct term_bindings *
#define ENTRY_OF(b, number) (number)
#define NUMBER_OF(b, entry, ret) (*(ret) = (entry), true)
#define NO_VALUE(b) false
#define UNKNOWN(b, why) false
#include "substitutions/attribute_lists.inc"

static bool combine_entries(const struct term_bindings *b, enum attribute_term_kind kind,
                            const struct attribute_term *t, uint32_t number, int64_t x, int64_t y, int64_t *ret)
{
    switch (kind) {
    case TERM_ADD:
        return !__builtin_add_overflow(x, y, ret);
    case TERM_SUB:
        return !__builtin_sub_overflow(x, y, ret);
    case TERM_MUL:
        return !__builtin_mul_overflow(x, y, ret);
    default:
        if (y == 0 || y == -1 || x % y != 0)
            return false;
        *ret = x / y;
        return true;
    }
}

static bool sizes_of_tensor(const struct term_bindings *b, int64_t tensor, struct list *ret)
{
    const struct type *type = b->tensors[tensor];
    if (!type || type->rank == RANK_UNKNOWN)
        return false;
    ret->count = (uint32_t)type->rank;
    memcpy(ret->items, type->dim, sizeof *type->dim * (size_t)type->rank);
    return true;
}

static bool list_of_variable(const struct term_bindings *b, int64_t variable, struct list *ret)
{
    const struct attribute_value *value = &b->attributes[variable];
    if (value->count > MAX_TERM_LENGTH)
        return false;
    ret->count = value->count;
    if (value->count)
        memcpy(ret->items, value->ints, value->count * sizeof *value->ints);
    return true;
}

bool attribute_term_evaluate(const struct attribute_term *t, const struct term_bindings *b, struct arena *a,
                             struct attribute_value *ret_value)
{
    struct list value;
    if (!evaluate(b, t, &value))
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
    return a == b || (a->kind == b->kind && a->value == b->value && a->count == b->count &&
                      ALL(uint32_t, i, a->count, attribute_term_equal(a->operands[i], b->operands[i])));
}

bool attribute_term_mentions_variable(const struct attribute_term *t, int64_t variable)
{
    return (t->kind == TERM_VARIABLE && t->value == variable) ||
           ANY(uint32_t, i, t->count, attribute_term_mentions_variable(t->operands[i], variable));
}
