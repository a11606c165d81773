// Definitions as text: what is printed is taken back, of every operator, and means the same; what is no definition is
// refused with the place.
#include "core/formats/sexp.h"
#include "expressions/definition_parse.h"
#include "expressions/definition_print.h"
#include "expressions/evaluation/evaluate.h"
#include "tests/operators/typed_call.h"
#include "tests/support/check.h"

static const char *examples_path;

static uint64_t *random_entries(struct arena *a, struct random *random, const struct type *type)
{
    size_t n = (size_t)type_elements(type);
    uint64_t *entries = arena_array(a, uint64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        entries[i] = random_below(random, 7);
    return entries;
}

static void check_equal_values(struct arena *a, const struct definition *d, const struct definition *again)
{
    struct random random = random_seed(1);
    const uint64_t **inputs = arena_array(a, const uint64_t *, d->n_inputs + 1);
    uint64_t **outputs = arena_array(a, uint64_t *, d->n_outputs), **others = arena_array(a, uint64_t *, d->n_outputs);
    for (int i = 0; i < d->n_inputs; i++)
        inputs[i] = random_entries(a, &random, &d->inputs[i]);
    for (int i = 0; i < d->n_outputs; i++) {
        outputs[i] = random_entries(a, &random, definition_output(d, i));
        others[i] = random_entries(a, &random, definition_output(d, i));
    }
    evaluate_field(d, 5, inputs, outputs, a);
    evaluate_field(again, 5, inputs, others, a);
    for (int i = 0; i < d->n_outputs; i++)
        assert_memory_equal(outputs[i], others[i], sizeof **outputs * (size_t)type_elements(definition_output(d, i)));
}

static void check_round_trip(struct arena *a, const struct definition *d)
{
    TEXT(text);
    TEXT(text_again);
    struct definition again FREED_BY(definition_free);
    struct error error;
    definition_print_typed(&text, d);
    if (!definition_parse(a, "text", text.chars, text.count, &again, &error))
        fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, text.chars);
    definition_print_typed(&text_again, &again);
    assert_string_equal(text_again.chars, text.chars);
    assert_int_equal(again.is_data_dependent, d->is_data_dependent);
    for (int i = 0; i < d->n_outputs; i++)
        assert_true(type_equal(definition_output(d, i), definition_output(&again, i)));
    check_equal_values(a, d, &again);
}

TEST(text_of_every_operator_is_taken_back)
{
    ARENA(a);
    struct error error;
    const struct sexp *list;
    bool was_met[OP_COUNT] = {0};
    if (!sexp_parse_file(&a, examples_path, &list, &error))
        fail_msg("%s: %s", examples_path, error.message);
    for (size_t i = 0; i < list->count; i++) {
        struct typed_call c;
        struct definition d FREED_BY(definition_free);
        if (!typed_call_parse(&a, &list->items[i], examples_path, &c, &error))
            fail_msg("%u: %s", error.line, error.message);
        definition_init(&d, &a, c.call.n_inputs, c.call.inputs);
        assert_true(operator_define(&d, &c.call));
        check_round_trip(&a, &d);
        was_met[c.call.op->id] = true;
    }
    for (int i = 0; i < operator_count(); i++)
        if (!was_met[i] && !(operators[i]->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_OPAQUE)))
            fail_msg("there is no example of %s", operators[i]->name);
}

// A text that a person may write, and how it is printed.
static const struct {
    const char *text, *printed;
} free_forms[] = {
    {"x0 f32[2,3]\nx1 f32[3,4]\n\n z[i,j]  f32[2,4] = sum(k<3) (x0[i , k]*x1[k,j])\n",
     "x0 f32[2,3]\nx1 f32[3,4]\nz[i,j] f32[2,4] = sum(k < 3) (x0[i,k] * x1[k,j])\n"},
    {"x0 f32[4]\nz[i] f32[4] = 1 + 2*x0[i] - x0[3 - i]\n",
     "x0 f32[4]\nz[i] f32[4] = (1.0 + (2.0 * x0[i])) - x0[3 + (i * -1)]\n"},
    {"z[] f64[] = -1e999", "z[] f64[] = -1e999\n"},
    {"x0 f32[8]\nt0[i] f32[4] = max(x0[2*i],\t0)\n", NULL},
    {"x0 f32[8]\nt0[i] f32[4] = max(x0[i * 2],\t0)\nz[j] f32[4] = t0[j] + min(k < 4) t0[k]",
     "x0 f32[8]\nt0[i] f32[4] = max(x0[i * 2], 0.0)\nz[j] f32[4] = t0[j] + (min(k < 4) t0[k])\n"},
};

TEST_OF_EACH(people_may_write_freely, row, free_forms)
{
    ARENA(a);
    struct definition d;
    TEXT(text);
    bool is_parsed = definition_parse(&a, "text", row->text, strlen(row->text), &d, &(struct error){0});
    assert_int_equal(is_parsed, row->printed != NULL);
    if (is_parsed) {
        definition_print_typed(&text, &d);
        assert_string_equal(text.chars, row->printed);
        definition_free(&d);
    }
}

static const struct {
    const char *text;
    unsigned line, column;
    const char *message;
} refusals[] = {
    {"", 1, 1, "a definition has an output"},
    {"x0 f32[2]\n", 2, 1, "a definition has an output"},
    {"x1 f32[2]\n", 1, 1, "inputs are x0, x1, ... in this order"},
    {"x0 f33[2]\n", 1, 4, "expected an element type"},
    {"x0 f32[-1]\n", 1, 8, "expected an integer that is not negative"},
    {"x0 f32[281474976710656,2]\n", 1, 26, "the tensor is too large"},
    {"x0 f32[1,1,1,1,1,1,1,1,1]\n", 1, 23, "more axes than tensors have"},
    {"x0 f32[2]\nz[i] f32[2] = x1[i]", 2, 15, "no tensor of this name stands before this one"},
    {"x0 f32[2]\nz[i] f32[2] = z[i]", 2, 15, "no tensor of this name stands before this one"},
    {"x0 f32[2]\nz[i] f32[2] = x0[j]", 2, 19, "the variable has no range here"},
    {"x0 f32[2]\nz[i] f32[2] = x0[i,0]", 2, 19, "expected `]`"},
    {"x0 f32[2,2]\nz[i] f32[2] = x0[i]", 2, 19, "expected `,`"},
    {"x0 f32[2]\nz[i] f32[2] = x0[i / 0]", 2, 22, "expected a positive integer"},
    {"x0 f32[2]\nz[i] f32[2] = sum(i < 2) x0[i]", 2, 25, "the variable stands for another range already"},
    {"x0 f32[2]\nz[i] f32[2] = (sum(j < 2) x0[j]) + x0[j]", 2, 40, "the variable has no range here"},
    {"x0 f32[2]\nz[i,k] f32[2,2] = 1", 2, 6, "the variables of a tensor follow one another: i, j, k, l, m, n, p, ..."},
    {"x0 f32[2]\nz[i] f32[2,2] = 1", 2, 14, "a variable for each axis is needed"},
    {"z1[i] f32[2] = 1", 1, 1, "outputs are z0, z1, ... in this order, and t1 is the second tensor that is no input"},
    {"z[i] f32[2] = 1 2", 1, 17, "expected the end of the line"},
    {"z[i] f32[2] = foo(1)", 1, 15, "no tensor of this name stands before this one"},
    {"z[i] f32[2] = add(1)", 1, 20, "expected `,`"},
    {"z[i] f32[2] = 1..2", 1, 15, "expected a value"},
    {"z[i] f32[2] = scalar(i * 9223372036854775808)", 1, 26, "an integer of more than 64 bits"},
    {"z[i] f32[2] = if i > 0 then 1 else 0", 1, 20, "expected `>=`"},
    {"z", 1, 2, "expected `[`"},
};

TEST_OF_EACH(what_is_no_definition_is_refused, row, refusals)
{
    ARENA(a);
    struct error error;
    struct definition d;
    if (definition_parse(&a, "text", row->text, strlen(row->text), &d, &error))
        fail_msg("%s is taken for a definition", row->text);
    assert_string_equal(error.message, row->message);
    assert_int_equal(error.line, row->line);
    assert_int_equal(error.column, row->column);
}

// Of a block that ends where the text does, so that what is read behind it is seen.
static void check_too_deep(const struct text *text)
{
    ARENA(a);
    struct error error;
    struct definition d;
    char *block = malloc(text->count);
    assert_non_null(block);
    memcpy(block, text->chars, text->count);
    assert_false(definition_parse(&a, "text", block, text->count, &d, &error));
    assert_string_equal(error.message, "nested too deeply");
    free(block);
}

TEST(deep_text_is_refused)
{
    TEXT(text);
    text_add(&text, "z[i] f32[2] = ");
    for (int i = 0; i < 100000; i++)
        text_add(&text, i % 2 ? "(" : "exp(");
    check_too_deep(&text);
    text_clear(&text);
    text_add(&text, "x0 f32[2]\nz[i] f32[2] = ");   // and no longer than it is deep
    for (int i = 0; i < 201; i++)
        text_add(&text, "exp(");
    check_too_deep(&text);
    text_clear(&text);
    text_add(&text, "z[i] f32[2] = 1");   // no bracket, and as deep
    for (int i = 0; i < 1000000; i++)
        text_add(&text, " + 1");
    check_too_deep(&text);
}

int main(int argc, char **argv)
{
    examples_path = argv[argc - 1];
    return tests_run("*");
}
