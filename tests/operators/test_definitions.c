// Types, split trees, refusals and formulas of applications, as tables of text.
#include "expressions/definition_print.h"
#include "tests/operators/typed_call.h"
#include "tests/support/cases.h"

static void print_types(struct text *out, const struct definition *d)
{
    for (int i = 0; i < d->n_outputs; i++) {
        if (i)
            text_add(out, ", ");
        typed_call_print_type(out, definition_output(d, i));
    }
}

TEST_OF_CASES(types_and_formulas_are_as_listed, row, "operators/definitions.cases")
{
    ARENA(a);
    struct definition d FREED_BY(definition_free);
    struct typed_call c;
    TEXT(text);
    OK(typed_call_parse(&a, &row->items[1], "cases", &c, &error));
    definition_init(&d, &a, c.call.n_inputs, c.call.inputs);
    if (!operator_define(&d, &c.call))
        text_printf(&text, "refused: %s", d.reason);
    else if (sexp_is_call(row, "types"))
        print_types(&text, &d);
    else
        definition_print(&text, &d, NULL);
    assert_string_equal(text.chars, row->items[2].text);
}

// Each operator that says that it keeps ranks, at two of them.
static const char *const calls_that_keep_rank[] = {
    "(concat 0 ((f32 3)) ((f32 2)))",     "(concat 1 ((f32 2 3)) ((f32 2 4)))",
    "(split 0 :sizes 1 2 ((f32 3)))",     "(split 1 :sizes 1 2 ((f32 2 3)))",
    "(transpose :perm 0 ((f32 3)))",      "(transpose :perm 1 0 ((f32 3 2)))",
    "(slice :start 1 :size 2 ((f32 3)))", "(slice :start 1 0 :size 2 1 ((f32 3 1)))",
    "(pad :pads 1 0 ((f32 3)))",          "(pad :pads 1 0 0 0 ((f32 3 1)))",
    "(conv ((f32 1 2 5)) ((f32 3 2 3)))", "(conv :stride 2 1 ((f32 1 2 5 5)) ((f32 3 2 3 3)))",
    "(poolmax :kernel 3 ((f32 1 2 5)))",  "(poolmax :kernel 3 3 ((f32 1 2 5 5)))",
    "(poolavg :kernel 3 ((f32 1 2 5)))",  "(poolavg :kernel 3 3 ((f32 1 2 5 5)))",
    "(enlarge :kernel 3 ((f32 1 2 1)))",  "(enlarge :kernel 3 3 ((f32 1 2 1 1)))",
    "(merge 2 2 ((f32 4 2 1)))",          "(merge 2 2 ((f32 4 2 1 1)))",
    "(dilate :gaps 1 ((f32 4)))",         "(dilate :gaps 0 2 ((f32 1 2)))",
};

// False: refused.
static bool has_one_rank(const struct operator_call *call, struct arena *a)
{
    struct definition d FREED_BY(definition_free);
    definition_init(&d, a, call->n_inputs, call->inputs);
    bool is_typed = operator_define(&d, call);
    for (int i = 0; is_typed && i < call->n_inputs; i++)
        assert_int_equal(call->inputs[i].rank, call->inputs[0].rank);
    for (int i = 0; is_typed && i < d.n_outputs; i++)
        assert_int_equal(definition_output(&d, i)->rank, call->inputs[0].rank);
    return is_typed;
}

static void check_at_other_ranks(const struct operator_call *call, struct arena *a)
{
    for (int i = 0; i < call->n_inputs; i++)
        for (int rank = 0; rank <= 5; rank++)
            for (int64_t size = 1; size <= 3; size++) {
                struct type *inputs = arena_copy_array(a, call->inputs, (size_t)call->n_inputs);
                struct operator_call other = *call;
                for (int axis = inputs[i].rank; axis < rank; axis++)
                    inputs[i].dim[axis] = size;
                inputs[i].rank = rank;
                other.inputs = inputs;
                has_one_rank(&other, a);
            }
}

TEST(ranks_are_kept_where_that_is_said)
{
    bool was_tried[OP_COUNT] = {0};
    for (size_t i = 0; i < COUNT_OF(calls_that_keep_rank); i++) {
        ARENA(a);
        struct error error = {0};
        struct typed_call c;
        const struct sexp *list;
        const char *text = calls_that_keep_rank[i];
        assert_true(sexp_parse(&a, "row", text, strlen(text), &list, &error));
        if (!typed_call_parse(&a, &list->items[0], text, &c, &error))
            fail_msg("%s: %s", text, error.message);
        assert_true(c.call.op->flags & OPERATOR_KEEPS_RANK);
        if (!has_one_rank(&c.call, &a))
            fail_msg("%s is refused", text);
        check_at_other_ranks(&c.call, &a);
        was_tried[c.call.op->id] = true;
    }
    for (int i = 0; i < operator_count(); i++)
        assert_int_equal(was_tried[i], (operators[i]->flags & OPERATOR_KEEPS_RANK) != 0);
}

TEST(names_and_ids_agree)
{
    for (int i = 0; i < operator_count(); i++) {
        assert_int_equal(operators[i]->id, i);
        assert_ptr_equal(operator_find(operators[i]->name), operators[i]);
        assert_non_null(operators[i]->summary);
        for (int k = 0; k < operator_n_attributes(operators[i]); k++)
            assert_int_equal(operator_find_attribute(operators[i], operators[i]->attributes[k].name), k);
    }
    assert_null(operator_find("nothing"));
}
