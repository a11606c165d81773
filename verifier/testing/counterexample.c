// A differing instance as text.
#include "verifier/testing/counterexample.h"

#include "core/text/json.h"
#include "substitutions/pattern.h"
#include "verifier/testing/comparison.h"
#include "verifier/testing/number_values.h"
#include <inttypes.h>

static void print_variable(struct text *out, const struct instance *in, uint32_t variable)
{
    static const struct attribute integers = {.kind = ATTRIBUTE_INTS};
    const struct attribute *attribute = pattern_attribute_of_variable(in->equation->pattern, variable);
    text_printf(out, "$%s = ", in->equation->pattern->attribute_variables[variable]);
    attribute_print(out, attribute ? attribute : &integers, &in->attributes[variable]);
}

// "x = (f32 2 2) ..." on one line, and the values of small tensors that refute it on lines of their own.
static void instance_print(struct text *out, const struct instance *in)
{
    const struct pattern *p = in->equation->pattern;
    bool is_first = true;
    for (uint32_t i = 0; i < p->n_variables; i++) {
        if (!in->types[i])
            continue;
        text_printf(out, "%s?%s = ", is_first ? "" : ", ", p->variables[i]);
        type_print(out, in->types[i]);
        for (int a = 0; a < in->types[i]->rank; a++)
            if (in->types[i]->split[a])
                text_printf(out, " cut on axis %d at %" PRId64, a, in->types[i]->split[a]->left_size);
        is_first = false;
    }
    for (uint32_t i = 0; i < p->n_attribute_variables; i++) {
        if (in->attributes[i].count == UINT32_MAX)
            continue;
        text_add(out, is_first ? "" : ", ");
        print_variable(out, in, i);
        is_first = false;
    }
}

static void print_numbers(struct text *out, const struct instance *in, uint64_t seed)
{
    struct number_values v = {0};
    number_values_make_inputs(in, seed, &v);
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        int64_t n = type_elements(in->types[i]);
        text_printf(out, "\n    ?%s =", in->equation->pattern->variables[i]);
        for (int64_t j = 0; j < n && j < 32; j++)
            text_printf(out, " %.6g", v.inputs[i][j]);
        text_add(out, n > 32 ? " ..." : "");
    }
}

static term_id other_side(const struct instance *in, const struct difference *difference, term_id term)
{
    term_id left = in->equation->left[difference->pair], right = in->equation->right[difference->pair];
    return term == left ? right : left;
}

static void print_cuts(struct text *out, const struct split_tree *t)
{
    text_printf(out, "%" PRId64, t->left_size);
    for (int side = 0; side < 2; side++) {
        const struct split_tree *piece = side ? t->right : t->left;
        if (!piece)
            continue;
        text_add(out, side ? ", its second piece " : ", its first piece ");
        if (piece == SPLIT_ANY)
            text_add(out, "anywhere");
        else
            print_cuts(out, piece);
    }
}

// How axes are cut that the other side cuts in another way.
static void print_other_cuts(struct text *out, const struct type *t, const struct type *other)
{
    for (int axis = 0; axis < t->rank; axis++) {
        const struct split_tree *tree = t->split[axis];
        if (split_tree_equal(tree, other->split[axis]))
            continue;
        text_printf(out, ", axis %d ", axis);
        if (!tree)
            text_add(out, "is not cut");
        else if (tree == SPLIT_ANY)
            text_add(out, "is the same at all places, and cut anywhere");
        else {
            text_add(out, "is cut at ");
            print_cuts(out, tree);
        }
    }
}

static void print_side(struct text *out, const struct instance *in, const struct difference *difference,
                       const char *side, term_id term, double number)
{
    text_printf(out, "\n    %s ", side);
    pattern_print_term(out, in->equation->pattern, term);
    type_id type = instance_term_type(in, term);
    if (type == NO_TYPE) {
        text_add(out, " is ill-typed");
        return;
    }
    text_add(out, " : ");
    type_print(out, typing_type(in->typing, type));
    if (difference->kind == COMPARISON_OTHER_SPLIT_TREE)
        print_other_cuts(out, typing_type(in->typing, type),
                         typing_type(in->typing, instance_term_type(in, other_side(in, difference, term))));
    if (difference->kind == COMPARISON_OTHER_VALUE)
        text_printf(out, ", entry %" PRId64 " is %.6g", difference->entry, number);
}

static const char *kind_name(enum comparison kind)
{
    static const char *const kinds[] = {
        [COMPARISON_EQUAL] = "equal",
        [COMPARISON_BOTH_ILL_TYPED] = "both sides are ill-typed",
        [COMPARISON_LEFT_ILL_TYPED] = "only the left side is ill-typed",
        [COMPARISON_RIGHT_ILL_TYPED] = "only the right side is ill-typed",
        [COMPARISON_OTHER_TYPE] = "the sides have different types",
        [COMPARISON_OTHER_SPLIT_TREE] = "the sides have different split trees",
        [COMPARISON_OTHER_VALUE] = "the sides have different values",
        [COMPARISON_TOO_LARGE] = "too many entries",
    };
    return kinds[kind];
}

static void print_difference(struct text *out, const struct instance *in, const struct difference *difference)
{
    const struct equation *eq = in->equation;
    text_printf(out, "%s at ", kind_name(difference->kind));
    instance_print(out, in);
    ARENA_MARK(mark, in->scratch);
    if (difference->kind == COMPARISON_OTHER_VALUE)
        print_numbers(out, in, difference->seed);
    print_side(out, in, difference, "left ", eq->left[difference->pair], difference->left_value);
    print_side(out, in, difference, "right", eq->right[difference->pair], difference->right_value);
}

// --- for programs ----------------------------------------------------------------------------------------------------

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

// Types are texts, as the files of rules have them, and lists of sizes; values are flat, in row-major order.
static void instance_add_json(struct text *out, const struct instance *in, const struct difference *difference)
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

void counterexample_note(struct counterexample *out, const struct instance *in, const struct difference *difference)
{
    print_difference(&out->text, in, difference);
    json_add_string(&out->json, "kind", kind_name(difference->kind));
    instance_add_json(&out->json, in, difference);
}

void counterexample_free(struct counterexample *c)
{
    text_free(&c->text);
    text_free(&c->json);
}

void counterexample_add_json(struct text *out, const char *key, const struct counterexample *c)
{
    if (c->text.count == 0) {
        json_add_string(out, key, NULL);
        return;
    }
    json_begin(out, key, '{');
    text_add(out, c->json.chars);
    json_end(out, '}');
}
