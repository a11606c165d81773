// The list of operators, and what is checked of every call before its own definition is asked for.
#include "operators/operator.h"
#include "operators/extra_operators.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/text/text.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define OPERATOR(enumerator, descriptor) extern const struct operator descriptor;
#include "operators/operators.def"
EXTRA_OPERATORS(OPERATOR)
#undef OPERATOR

const struct operator* const operators[OP_COUNT] = {
#define OPERATOR(enumerator, descriptor) [OP_##enumerator] = &descriptor,
#include "operators/operators.def"
    EXTRA_OPERATORS(OPERATOR)
#undef OPERATOR
};
_Static_assert(EXTRA_OPERATOR_COUNT <= MOST_EXTRA_OPERATORS, "no room for so many operators");

const struct attribute_role_info attribute_roles[] = {
#define ROLE(enumerator, per_axis, is_of_window, is_of_sizes, plain, least)                                            \
    {per_axis, is_of_window, is_of_sizes, plain, least},
#include "operators/roles.def"
#undef ROLE
};

uint32_t attribute_role_length(enum attribute_role role, int rank)
{
    int axes = attribute_roles[role].is_of_window ? rank - 2 : rank;
    return axes < 0 ? 0 : (uint32_t)(axes * attribute_roles[role].per_axis);
}

int operator_count(void)
{
    return OP_FIRST_EXTRA + EXTRA_OPERATOR_COUNT;
}

const struct operator* operator_find(const char *name)
{
    for (int i = 0; i < operator_count(); i++)
        if (operators[i]->name[0] == name[0] && strcmp(operators[i]->name, name) == 0)
            return operators[i];
    return NULL;
}

int operator_n_attributes(const struct operator* op)
{
    return FIRST_OF(int, n, MAX_ATTRIBUTES, !op->attributes[n].name);
}

int operator_find_attribute(const struct operator* op, const char *name)
{
    return PLACE_OF(int, i, operator_n_attributes(op), strcmp(op->attributes[i].name, name) == 0);
}

int operator_find_role(const struct operator* op, enum attribute_role role)
{
    for (int i = 0; i < MAX_ATTRIBUTES && op->attributes[i].name; i++)
        if (op->attributes[i].role == role)
            return i;
    return -1;
}

int64_t call_int(const struct operator_call *call, int attribute)
{
    return call->attributes[attribute].ints[0];
}

double call_real(const struct operator_call *call, int attribute)
{
    return real_from_bits(call->attributes[attribute].ints[0]);
}

int64_t real_to_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double real_from_bits(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool attribute_value_equal(const struct attribute_value *a, const struct attribute_value *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0);
}

bool attributes_equal(const struct operator* op, const struct attribute_value *a, const struct attribute_value *b)
{
    for (int i = 0, n = operator_n_attributes(op); i < n; i++)
        if (!attribute_value_equal(&a[i], &b[i]))
            return false;
    return true;
}

uint64_t attributes_hash(const struct operator* op, const struct attribute_value *values)
{
    uint64_t hash = (uint64_t)op->id;
    for (int i = 0, n = operator_n_attributes(op); i < n; i++) {
        hash = hash_mix(hash, values[i].count);
        hash = hash_bytes(values[i].ints, values[i].count * sizeof *values[i].ints, hash);
    }
    return hash;
}

int64_t attribute_entry_or(const struct attribute_value *value, int entry, int64_t standard)
{
    return value->count ? value->ints[entry] : standard;
}

struct attribute_value attribute_value_copy(struct arena *a, const struct attribute_value *value)
{
    return (struct attribute_value){value->count, value->count ? arena_copy_array(a, value->ints, value->count) : NULL};
}

const struct attribute_value *attributes_copy(struct arena *a, const struct operator* op,
                                              const struct attribute_value *values)
{
    int n = operator_n_attributes(op);
    struct attribute_value *copy = arena_array(a, struct attribute_value, n + 1);
    for (int i = 0; i < n; i++)
        copy[i] = attribute_value_copy(a, &values[i]);
    return copy;
}

void operator_standard_attributes(const struct operator* op, struct arena *a, struct attribute_value *ret_values)
{
    for (int i = 0; i < operator_n_attributes(op); i++) {
        const struct attribute *attribute = &op->attributes[i];
        ret_values[i] = (struct attribute_value){0};
        if (attribute->is_required || attribute->kind == ATTRIBUTE_INTS)
            continue;
        int64_t *value = arena_new(a, int64_t);
        *value = attribute->kind == ATTRIBUTE_REAL ? real_to_bits(attribute->standard_real) : attribute->standard;
        ret_values[i] = (struct attribute_value){1, value};
    }
}

void attribute_print(struct text *out, const struct attribute *attribute, const struct attribute_value *value)
{
    for (uint32_t i = 0; i < value->count; i++) {
        if (i)
            text_add(out, " ");
        if (attribute->kind == ATTRIBUTE_REAL)
            text_add_real(out, real_from_bits(value->ints[i]));
        else if (attribute->kind == ATTRIBUTE_CHOICE)
            text_add(out, attribute->choices[value->ints[i]]);
        else if (attribute->kind == ATTRIBUTE_DTYPE)
            text_add(out, dtype_name((enum dtype)value->ints[i]));
        else
            text_add_int(out, value->ints[i]);
    }
}

static int64_t n_choices(const struct attribute *attribute)
{
    int64_t n = 0;
    while (attribute->choices[n])
        n++;
    return n;
}

static bool check_attribute(struct definition *d, const struct operator* op, int i, const struct attribute_value *value)
{
    const struct attribute *attribute = &op->attributes[i];
    if (attribute->kind != ATTRIBUTE_INTS && value->count != 1)
        return refuse(d, "%s needs one value for attribute %s", op->name, attribute->name);
    bool is_choice = attribute->kind == ATTRIBUTE_CHOICE || attribute->kind == ATTRIBUTE_DTYPE;
    int64_t limit = attribute->kind == ATTRIBUTE_CHOICE ? n_choices(attribute) : DTYPE_COUNT;
    return !(is_choice && (value->ints[0] < 0 || value->ints[0] >= limit)) ||
           refuse(d, "attribute %s of %s is out of its range", attribute->name, op->name);
}

bool operator_check_attributes(struct definition *d, const struct operator_call *call)
{
    for (int i = 0, n = operator_n_attributes(call->op); i < n; i++)
        if (!check_attribute(d, call->op, i, &call->attributes[i]))
            return false;
    return true;
}

const char *operator_print_arity(const struct operator* op, char ret_text[ARITY_SIZE])
{
    int low = op->min_inputs, high = operator_most_inputs(op);
    const char *ending = high == 1 ? "" : "s";
    if (high == VARIADIC)
        snprintf(ret_text, ARITY_SIZE, "at least %d input%s", low, low == 1 ? "" : "s");
    else if (high == low)
        snprintf(ret_text, ARITY_SIZE, "%d input%s", low, ending);
    else
        snprintf(ret_text, ARITY_SIZE, "%d %s %d input%s", low, high == low + 1 ? "or" : "to", high, ending);
    return ret_text;
}

bool operator_check_call(struct definition *d, const struct operator_call *call)
{
    const struct operator* op = call->op;
    char arity[ARITY_SIZE];
    if (!op->define)
        return refuse(d, "%s has no definition", op->name);
    if (call->n_inputs < op->min_inputs ||
        (operator_most_inputs(op) != VARIADIC && call->n_inputs > operator_most_inputs(op)))
        return refuse(d, "%s takes %s, not %d", op->name, operator_print_arity(op, arity), call->n_inputs);
    for (int i = 0; i < call->n_inputs; i++)
        if (!type_is_known(&call->inputs[i]) || dtype_size(call->inputs[i].dtype) == 0)
            return refuse(d, "the type of input %d of %s is not known", i + 1, op->name);
    for (int i = 0; i < call->n_inputs; i++)
        if (!type_has_allowed_size(&call->inputs[i]))
            return refuse(d, "input %d of %s is too large", i + 1, op->name);
    return operator_check_attributes(d, call);
}

uint64_t operator_agreement(const struct operator_call *call, int input)
{
    const struct type *t = &call->inputs[input];
    uint64_t all = call->op->agreement ? call->op->agreement(call, input) : 0;
    if (call->op->flags & (OPERATOR_KEEPS_RANK | OPERATOR_IS_ELEMENTWISE))
        all = hash_mix(all, (uint64_t)t->rank);
    for (int i = 0; (call->op->flags & OPERATOR_IS_ELEMENTWISE) && i < t->rank; i++)
        all = hash_mix(all, (uint64_t)t->dim[i]);
    return all;
}

bool operator_define(struct definition *d, const struct operator_call *call)
{
    assert(d->inputs == call->inputs && d->n_inputs == call->n_inputs);
    if (!operator_check_call(d, call) || !call->op->define(d, call))
        return false;
    for (int i = 0; i < d->n_stages; i++)
        if (!type_has_allowed_size(&d->stages[i].type))
            return refuse(d, "the result of %s is too large", call->op->name);
    definition_finish(d);
    return true;
}
