// Applications as text: positional and named attributes, then arguments.
#include "graph/call_text.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_integer_value(const struct sexp *item)
{
    return item->kind == SEXP_INTEGER;
}

// "split1" is output 1 of split, unless an operator has that very name.
static bool find_operator(const char *name, struct call_text *ret_call)
{
    ret_call->output = -1;
    ret_call->op = operator_find(name);
    if (ret_call->op)
        return true;
    char base[64];
    size_t n = strlen(name);
    while (n > 0 && isdigit((unsigned char)name[n - 1]))
        n--;
    if (n == 0 || n >= sizeof base || strlen(name) - n > 3 || name[n] == '\0')
        return false;
    memcpy(base, name, n);
    base[n] = '\0';
    ret_call->op = operator_find(base);
    ret_call->output = atoi(name + n);
    return ret_call->op && ret_call->output < MAX_OUTPUTS;
}

static bool is_positional(const struct attribute *attribute)
{
    return attribute->kind == ATTRIBUTE_INT && attribute->is_required;
}

static bool take_positional(const struct sexp *s, const char *file, bool (*is_value)(const struct sexp *), size_t *at,
                            struct call_text *call, struct error *error)
{
    for (int i = 0; i < operator_n_attributes(call->op); i++) {
        const struct attribute *attribute = &call->op->attributes[i];
        if (!is_positional(attribute))
            continue;
        if (*at >= s->count || !is_value(&s->items[*at]))
            return sexp_error(error, file, s, "%s needs its %s first", call->op->name, attribute->name);
        call->attributes[i].items = &s->items[(*at)++];
        call->attributes[i].count = 1;
    }
    return true;
}

static size_t count_values(const struct attribute *attribute, const struct sexp *items, size_t available,
                           bool (*is_value)(const struct sexp *))
{
    if (attribute->kind != ATTRIBUTE_INTS)
        return available ? 1 : 0;
    return FIRST_OF(size_t, n, available, !is_value(&items[n]));
}

static bool take_named(const struct sexp *s, const char *file, bool (*is_value)(const struct sexp *), size_t *at,
                       struct call_text *call, struct error *error)
{
    const struct sexp *name = &s->items[(*at)++];
    int i = operator_find_attribute(call->op, name->text + 1);
    if (i < 0)
        return sexp_error(error, file, name, "%s has no attribute %s", call->op->name, name->text + 1);
    if (call->attributes[i].items)
        return sexp_error(error, file, name, "attribute %s is given twice", name->text + 1);
    call->attributes[i].items = s->items + *at;
    call->attributes[i].count = count_values(&call->op->attributes[i], s->items + *at, s->count - *at, is_value);
    if (call->attributes[i].count == 0 && call->op->attributes[i].kind != ATTRIBUTE_INTS)
        return sexp_error(error, file, name, "attribute %s has no value", name->text + 1);
    *at += call->attributes[i].count;
    return true;
}

bool call_text_parse(const struct sexp *s, const char *file, bool (*is_value)(const struct sexp *item),
                     struct call_text *ret_call, struct error *error)
{
    struct call_text call = {0};
    char arity[ARITY_SIZE];
    if (s->kind != SEXP_LIST || s->count == 0 || s->items[0].kind != SEXP_SYMBOL)
        return sexp_error(error, file, s, "expected an application such as (relu x)");
    if (!find_operator(s->items[0].text, &call))
        return sexp_error(error, file, &s->items[0], "unknown operator %s", s->items[0].text);
    if (!is_value)
        is_value = is_integer_value;
    size_t at = 1;
    if (!take_positional(s, file, is_value, &at, &call, error))
        return false;
    while (at < s->count && s->items[at].kind == SEXP_SYMBOL && s->items[at].text[0] == ':')
        if (!take_named(s, file, is_value, &at, &call, error))
            return false;
    for (int i = 0; i < operator_n_attributes(call.op); i++)
        if (call.op->attributes[i].is_required && !call.attributes[i].items)
            return sexp_error(error, file, s, "%s needs attribute %s", call.op->name, call.op->attributes[i].name);
    call.arguments = s->items + at;
    call.n_arguments = s->count - at;
    bool has_too_many =
        operator_most_inputs(call.op) != VARIADIC && call.n_arguments > (size_t)operator_most_inputs(call.op);
    if (call.n_arguments < (size_t)call.op->min_inputs || has_too_many)
        return sexp_error(error, file, s, "%s takes %s, not %zu", call.op->name, operator_print_arity(call.op, arity),
                          call.n_arguments);
    *ret_call = call;
    return true;
}

static bool parse_choice(const struct attribute *attribute, const struct sexp *item, const char *file,
                         int64_t *ret_value, struct error *error)
{
    for (int64_t i = 0; item->kind == SEXP_SYMBOL && attribute->choices[i]; i++)
        if (strcmp(attribute->choices[i], item->text) == 0) {
            *ret_value = i;
            return true;
        }
    return sexp_error(error, file, item, "not a value of attribute %s", attribute->name);
}

bool attribute_parse(const struct attribute *attribute, const struct sexp *items, size_t count, const char *file,
                     int64_t *ret_ints, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct sexp *item = &items[i];
        enum dtype dtype;
        if (attribute->kind == ATTRIBUTE_CHOICE) {
            if (!parse_choice(attribute, item, file, &ret_ints[i], error))
                return false;
        } else if (attribute->kind == ATTRIBUTE_DTYPE) {
            if (item->kind != SEXP_SYMBOL || !dtype_from_name(item->text, &dtype))
                return sexp_error(error, file, item, "expected an element type");
            ret_ints[i] = dtype;
        } else if (attribute->kind == ATTRIBUTE_REAL) {
            if (item->kind != SEXP_REAL && item->kind != SEXP_INTEGER)
                return sexp_error(error, file, item, "expected a number");
            ret_ints[i] = real_to_bits(item->real);
        } else {
            if (item->kind != SEXP_INTEGER)
                return sexp_error(error, file, item, "expected an integer");
            ret_ints[i] = item->integer;
        }
    }
    return true;
}

bool call_text_attributes(const struct call_text *call, const char *file, struct arena *a,
                          struct attribute_value *ret_values, struct error *error)
{
    operator_standard_attributes(call->op, a, ret_values);
    for (int i = 0; i < operator_n_attributes(call->op); i++) {
        size_t count = call->attributes[i].count;
        if (!call->attributes[i].items)
            continue;
        int64_t *ints = arena_array(a, int64_t, count + 1);
        if (!attribute_parse(&call->op->attributes[i], call->attributes[i].items, count, file, ints, error))
            return false;
        ret_values[i] = (struct attribute_value){(uint32_t)count, ints};
    }
    return true;
}

bool attribute_is_standard(const struct attribute *attribute, const struct attribute_value *value)
{
    int64_t standard = attribute->kind == ATTRIBUTE_REAL ? real_to_bits(attribute->standard_real) : attribute->standard;
    return !attribute->is_required &&
           (attribute->kind == ATTRIBUTE_INTS ? value->count == 0 : value->ints[0] == standard);
}

void call_text_print(struct text *out, const struct operator* op, int output, const struct attribute_value *attributes)
{
    text_printf(out, "(%s", op->name);
    if (output >= 0)
        text_printf(out, "%d", output);
    int n = operator_n_attributes(op);
    for (int i = 0; i < n; i++)
        if (is_positional(&op->attributes[i])) {
            text_add(out, " ");
            attribute_print(out, &op->attributes[i], &attributes[i]);
        }
    for (int i = 0; i < n; i++) {
        if (is_positional(&op->attributes[i]) || attribute_is_standard(&op->attributes[i], &attributes[i]))
            continue;
        text_printf(out, " :%s", op->attributes[i].name);
        if (attributes[i].count)
            text_add(out, " ");
        attribute_print(out, &op->attributes[i], &attributes[i]);
    }
}
