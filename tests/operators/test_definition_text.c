// Definitions as text: what is printed is taken back, of every operator, and means the same; what is no definition is
// refused with the place.
#include "expressions/definition_parse.h"
#include "expressions/definition_print.h"
#include "expressions/evaluation/evaluate.h"
#include "tests/operators/typed_call.h"
#include "tests/support/cases.h"

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

TEST_OF_CASES(what_is_written_is_read_or_refused, c, "operators/definition_text.cases")
{
    ARENA(a);
    TEXT(printed);
    struct error error = {0};
    struct definition d;
    const char *text = c->items[1].text;
    bool is_parsed = definition_parse(&a, "text", text, strlen(text), &d, &error), is_free = sexp_is_call(c, "free");
    assert_int_equal(is_parsed, is_free && c->count > 2);
    if (is_parsed) {
        definition_print_typed(&printed, &d);
        assert_string_equal(printed.chars, c->items[2].text);
        definition_free(&d);
    } else if (!is_free) {
        assert_string_equal(error.message, c->items[4].text);
        assert_int_equal(error.line, c->items[2].integer);
        assert_int_equal(error.column, c->items[3].integer);
    }
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
