// Types are texts, as the files of rules have them, and lists of sizes; values are flat, in row-major order.
#include "verifier/testing/counterexample_json.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include "substitutions/pattern.h"
#include "verifier/testing/comparison.h"
#include "verifier/testing/number_values.h"

static void add_text(struct text *out, const char *key, struct text *value)
{
    json_add_string(out, key, value->chars ? value->chars : "");
    text_free(value);
}

static void add_integers(struct text *out, const char *key, uint32_t count, const int64_t *integers)
{
    json_begin(out, key, '[');
    for (uint32_t i = 0; i < count; i++)
        json_add_integer(out, NULL, integers[i]);
    json_end(out, ']');
}

// `values` may be NULL.
static void add_tensor(struct text *out, const struct type *type, const double *values)
{
    struct text printed = {0};
    type_print(&printed, type);
    add_text(out, "type", &printed);
    json_add_string(out, "element_type", dtype_name(type->dtype));
    add_integers(out, "dims", (uint32_t)type->rank, type->dim);
    if (!values)
        return;
    json_begin(out, "values", '[');
    for (int64_t i = 0; i < type_elements(type); i++)
        json_add_real(out, NULL, values[i]);
    json_end(out, ']');
}

static void add_variables(struct text *out, const struct instance *in, const struct number_values *v)
{
    json_begin(out, "variables", '[');
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        json_begin(out, NULL, '{');
        json_add_string(out, "name", in->equation->pattern->variables[i]);
        add_tensor(out, in->types[i], v->inputs[i]);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_attribute(struct text *out, const struct instance *in, uint32_t variable)
{
    const struct attribute_value *value = &in->attributes[variable];
    const struct attribute *attribute = pattern_attribute_of_variable(in->equation->pattern, variable);
    struct text printed = {0};
    json_begin(out, NULL, '{');
    json_add_string(out, "name", in->equation->pattern->attribute_variables[variable]);
    if (!attribute || attribute->kind == ATTRIBUTE_INTS)
        add_integers(out, "value", value->count, value->ints);
    else if (attribute->kind == ATTRIBUTE_INT)
        json_add_integer(out, "value", value->ints[0]);
    else if (attribute->kind == ATTRIBUTE_REAL)
        json_add_real(out, "value", real_from_bits(value->ints[0]));
    else {
        attribute_print(&printed, attribute, value);
        add_text(out, "value", &printed);
    }
    json_end(out, '}');
}

static void add_side(struct text *out, const char *key, const struct instance *in, const struct number_values *v,
                     term_id term)
{
    struct text printed = {0};
    type_id type = instance_term_type(in, term);
    json_begin(out, key, '{');
    pattern_print_term(&printed, in->equation->pattern, term);
    add_text(out, "term", &printed);
    if (type == NO_TYPE)
        json_add_string(out, "type", NULL);
    else
        add_tensor(out, typing_type(in->typing, type), number_values_of_term(in, v, term));
    json_end(out, '}');
}

static void add_place(struct text *out, const struct instance *in, const struct difference *difference)
{
    const struct type *type = typing_type(in->typing, instance_term_type(in, in->equation->left[difference->pair]));
    int64_t place[MAX_RANK], left = difference->entry;
    for (int i = type->rank; i-- > 0; left /= type->dim[i])
        place[i] = left % type->dim[i];
    json_add_integer(out, "entry", difference->entry);
    add_integers(out, "place", (uint32_t)type->rank, place);
}

void instance_add_json(struct text *out, const struct instance *in, const struct difference *difference)
{
    const struct equation *eq = in->equation;
    term_id left = eq->left[difference->pair], right = eq->right[difference->pair];
    struct number_values v = {.nodes = equation_nodes_of_term(eq->pattern, left) |
                                       equation_nodes_of_term(eq->pattern, right)};
    ARENA_MARK(mark, in->scratch);
    number_values_evaluate(in, difference->seed, &v);
    add_variables(out, in, &v);
    json_begin(out, "attributes", '[');
    for (uint32_t i = 0; i < eq->pattern->n_attribute_variables; i++)
        if (in->attributes[i].count != UINT32_MAX)
            add_attribute(out, in, i);
    json_end(out, ']');
    json_add_count(out, "output", difference->pair);
    add_side(out, "left", in, &v, left);
    add_side(out, "right", in, &v, right);
    if (difference->kind == COMPARISON_OTHER_VALUE)
        add_place(out, in, difference);
}
