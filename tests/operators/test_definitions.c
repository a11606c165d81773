// Types, split trees, refusals and formulas of applications, as tables of text.
#include "core/formats/sexp.h"
#include "expressions/definition_print.h"
#include "tests/operators/typed_call.h"
#include "tests/support/check.h"

struct row {
    const char *call, *expected;
};

// Types of the outputs, separated by commas, or "refused: reason".
static const struct row types[] = {
    // The tree of an axis is what all aligned tensors know of it.
    {"(ewadd ((f32 2 5) (split 1 (2 _ _))) ((f32 2 5) (split 1 (2 _ _))))", "(f32 2 5) (split 1 (2 _ _))"},
    {"(ewadd ((f32 2 5) (split 1 (2 _ _))) ((f32 2 5)))", "(f32 2 5)"},
    {"(ewadd ((f32 2 5) (split 1 (2 _ _))) ((f32 2 5) (split 1 (3 _ _))))", "(f32 2 5)"},
    {"(ewadd ((f32 2 5) (split 1 (2 _ (1 _ _)))) ((f32 2 5) (split 1 (2 _ _))))", "(f32 2 5) (split 1 (2 _ _))"},
    {"(ewadd ((f32 2 5) (split 1 (2 (1 _ _) _))) ((f32 2 5) (split 1 (2 any _))))",
     "(f32 2 5) (split 1 (2 (1 _ _) _))"},
    {"(ewmul ((f32 2 5) (split 1 (2 _ _))) ((f32 2 5) (split 0 any) (split 1 any)))", "(f32 2 5) (split 1 (2 _ _))"},
    {"(smul ((f32 2 5) (split 1 (2 _ _))) ((f32)))", "(f32 2 5) (split 1 (2 _ _))"},
    {"(matmul ((f32 4 6) (split 0 (1 _ _)) (split 1 (2 _ _))) ((f32 6 3) (split 0 (4 _ _)) (split 1 (2 _ _))))",
     "(f32 4 3) (split 0 (1 _ _)) (split 1 (2 _ _))"},
    {"(matmul ((f32 8 4 6) (split 0 (3 _ _))) ((f32 6 3)))", "(f32 8 4 3) (split 0 (3 _ _))"},
    {"(matmul ((f32 8 4 6) (split 0 (3 _ _))) ((f32 8 6 3)))", "(f32 8 4 3)"},
    {"(conv ((f32 2 4 5 5) (split 0 (1 _ _)) (split 1 (1 _ _))) ((f32 6 4 1 1) (split 0 (2 _ _)) (split 1 (1 _ _))))",
     "(f32 2 6 5 5) (split 0 (1 _ _)) (split 1 (2 _ _))"},
    {"(poolmax :kernel 2 2 ((f32 2 4 5 5) (split 0 (1 _ _)) (split 1 (1 _ _)) (split 2 (1 _ _))))",
     "(f32 2 4 4 4) (split 0 (1 _ _)) (split 1 (1 _ _))"},
    {"(enlarge :kernel 3 3 ((f32 6 4 1 3) (split 0 (2 _ _)) (split 1 (1 _ _))))",
     "(f32 6 4 3 3) (split 0 (2 _ _)) (split 1 (1 _ _))"},
    {"(merge 4 2 ((f32 8 3 1 1) (split 0 (4 _ _)) (split 1 (1 _ _))))", "(f32 8 6 1 1) (split 0 (4 _ _))"},
    {"(softmax 1 ((f32 2 5) (split 0 (1 _ _)) (split 1 (2 _ _))))", "(f32 2 5) (split 0 (1 _ _)) (split 1 (2 _ _))"},
    {"(reducesum :axes 1 ((f32 2 5 3) (split 0 (1 _ _)) (split 1 (2 _ _)) (split 2 (2 _ _))))",
     "(f32 2 1 3) (split 0 (1 _ _)) (split 1 any) (split 2 (2 _ _))"},
    {"(reducesum :axes 1 :keepdims 0 ((f32 2 5 3) (split 1 (2 _ _)) (split 2 (2 _ _))))",
     "(f32 2 3) (split 1 (2 _ _))"},
    {"(batchnorm ((f32 1 5 3) (split 1 (2 _ _))) ((f32 5)) ((f32 5)) ((f32 5)) ((f32 5)))", "(f32 1 5 3)"},
    // Concatenation and splitting.
    {"(concat 1 ((f32 2 3)) ((f32 2 4)))", "(f32 2 7) (split 1 (3 _ _))"},
    {"(concat 1 ((f32 2 3) (split 1 (1 _ _))) ((f32 2 4) (split 1 (2 _ _))))",
     "(f32 2 7) (split 1 (3 (1 _ _) (2 _ _)))"},
    {"(concat 1 ((f32 2 1)) ((f32 2 2)) ((f32 2 3)))", "(f32 2 6) (split 1 (1 _ (2 _ _)))"},
    {"(concat 1 ((f32 2 3) (split 0 (1 _ _))) ((f32 2 4) (split 0 (1 _ _))))",
     "(f32 2 7) (split 0 (1 _ _)) (split 1 (3 _ _))"},
    {"(concat 1 ((f32 2 3) (split 0 (1 _ _))) ((f32 2 4)))", "(f32 2 7) (split 1 (3 _ _))"},
    {"(concat 0 ((f32 3) (split 0 (1 _ _))))", "(f32 3) (split 0 (1 _ _))"},
    {"(concat 0 ((f32 3)) ((f32 0)))", "(f32 3) (split 0 (3 _ _))"},
    {"(split 1 ((f32 2 7) (split 1 (3 (1 _ _) (2 _ _)))))", "(f32 2 3) (split 1 (1 _ _)), (f32 2 4) (split 1 (2 _ _))"},
    {"(split 1 :sizes 3 4 ((f32 2 7) (split 1 (3 (1 _ _) (2 _ _)))))",
     "(f32 2 3) (split 1 (1 _ _)), (f32 2 4) (split 1 (2 _ _))"},
    {"(split 1 :sizes 1 2 4 ((f32 2 7) (split 1 (1 _ (2 _ (3 _ _))))))",
     "(f32 2 1), (f32 2 2), (f32 2 4) (split 1 (3 _ _))"},
    {"(split 1 :sizes 2 5 ((f32 2 7) (split 1 (3 _ _))))", "(f32 2 2), (f32 2 5)"},
    {"(split 0 :sizes 1 1 ((f32 2 7) (split 1 (3 _ _))))", "(f32 1 7) (split 1 (3 _ _)), (f32 1 7) (split 1 (3 _ _))"},
    {"(split 1 ((f32 2 7)))", "refused: axis 1 is not known to be a concatenation"},
    {"(split 1 ((f32 2 7) (split 1 any)))", "refused: axis 1 is not known to be a concatenation"},
    {"(split 1 :sizes 3 3 ((f32 2 7)))", "refused: the parts do not add up to the axis"},
    // Axes that move or stay keep their trees.
    {"(transpose :perm 2 0 1 ((f32 2 3 4) (split 0 (1 _ _)) (split 2 (3 _ _))))",
     "(f32 4 2 3) (split 0 (3 _ _)) (split 1 (1 _ _))"},
    {"(reshape :shape 2 12 ((f32 2 3 4) (split 0 (1 _ _)) (split 1 (2 _ _))))", "(f32 2 12) (split 0 (1 _ _))"},
    {"(reshape :shape 6 20 ((f32 2 3 4 5)))", "(f32 6 20)"},
    {"(reshape :shape 1 4 1 3 ((f32 4 3) (split 0 (1 _ _)) (split 1 (2 _ _))))",
     "(f32 1 4 1 3) (split 0 any) (split 1 (1 _ _)) (split 2 any) (split 3 (2 _ _))"},
    {"(reshape :shape 4 3 ((f32 4 1 3) (split 0 (1 _ _)) (split 2 (2 _ _))))",
     "(f32 4 3) (split 0 (1 _ _)) (split 1 (2 _ _))"},
    {"(reshape :shape 0 3 ((f32 3 0)))", "(f32 0 3)"},
    {"(broadcast :shape 6 2 3 ((f32 2 1) (split 0 (1 _ _))))",
     "(f32 6 2 3) (split 0 any) (split 1 (1 _ _)) (split 2 any)"},
    {"(slice :start 0 1 :size 4 2 ((f32 4 3) (split 0 (1 _ _)) (split 1 (1 _ _))))", "(f32 4 2) (split 0 (1 _ _))"},
    {"(pad :pads 0 1 0 0 ((f32 4 3) (split 0 (1 _ _)) (split 1 (1 _ _))))", "(f32 4 4) (split 0 (1 _ _))"},
    {"(cast :to i64 ((f32 4) (split 0 (1 _ _))))", "(i64 4) (split 0 (1 _ _))"},
    // Constants fit any split on axes along which they are constant.
    {"(iewmul :shape 2 3)", "(f32 2 3) (split 0 any) (split 1 any)"},
    {"(imatmul :shape 3 3 :dtype f64)", "(f64 3 3)"},
    {"(cpool :shape 4 1 3 3)", "(f32 4 1 3 3) (split 0 any) (split 1 any) (split 2 any) (split 3 any)"},
    {"(iconv :shape 2 2 3 1)", "(f32 2 2 3 1)"},
    // Shapes.
    {"(conv :stride 2 2 :pad 3 3 3 3 ((f32 1 3 224 224)) ((f32 64 3 7 7)))", "(f32 1 64 112 112)"},
    {"(conv :dilation 2 :pad 0 1 ((f32 1 3 9)) ((f32 4 3 3)))", "(f32 1 4 6)"},
    {"(conv :group 2 ((f32 1 4 5 5)) ((f32 6 2 3 3)))", "(f32 1 6 3 3)"},
    {"(poolavg :kernel 3 3 :stride 2 2 :pad 0 0 1 1 ((f32 1 3 6 6)))", "(f32 1 3 3 3)"},
    {"(gather :axis 1 ((f32 2 5 3)) ((i64 4 4)))", "(f32 2 4 4 3)"},
    {"(gather ((f32 5)) ((i64)))", "(f32)"},
    {"(onehot 1 10 ((i64 3)) ((f32 2)))", "(f32 3 10)"},
    {"(argmax 1 ((f32 2 5)))", "(i64 2 1) (split 1 any)"},
    {"(where ((bool 2)) ((i64 2)) ((i64 2)))", "(i64 2)"},
    {"(less ((f32 2)) ((f32 2)))", "(bool 2)"},
    {"(matmul ((f32 2 0)) ((f32 0 3)))", "(f32 2 3)"},
    // Refusals.
    {"(ewadd ((f32 2)) ((f32 1)))", "refused: ewadd needs inputs of one shape"},
    {"(ewadd ((f32 2)) ((f16 2)))", "refused: ewadd needs inputs of one element type"},
    {"(ewadd ((bool 2)) ((bool 2)))", "refused: ewadd needs numbers, not bool"},
    {"(exp ((i64 2)))", "refused: exp needs floating-point numbers, not i64"},
    {"(where ((f32 2)) ((i64 2)) ((i64 2)))", "refused: where chooses by a bool tensor"},
    {"(relu ((f32 2 ?)))", "refused: the type of input 1 of relu is not known"},
    {"(matmul ((f32 2 3)) ((f32 4 3)))", "refused: matmul sums over axes of different sizes"},
    {"(matmul ((f32 2 3)) ((f32 5 3 2)))",
     "refused: matmul needs ranks that agree from 2 on, or a right side of rank 2"},
    {"(conv :group 3 ((f32 1 4 5 5)) ((f32 6 2 3 3)))", "refused: conv needs channels that 3 groups divide"},
    {"(conv ((f32 1 4 2 2)) ((f32 6 4 3 3)))", "refused: a window of reach 3 does not fit on axis 2"},
    {"(conv :stride 0 1 ((f32 1 4 2 2)) ((f32 6 4 1 1)))", "refused: stride and dilation must be positive"},
    {"(poolmax :kernel 2 2 :pad 2 0 0 0 ((f32 1 4 2 2)))", "refused: pooling needs windows that meet the image"},
    {"(poolmax :kernel 2 2 :pad 1 0 1 0 :dilation 2 1 ((f32 1 4 1 2)))",
     "refused: pooling needs windows that meet the image"},
    {"(enlarge :kernel 2 3 ((f32 6 4 1 3)))", "refused: enlarge must grow each axis by an even amount"},
    {"(transpose :perm 0 0 ((f32 2 3)))", "refused: transpose needs a permutation of 2 axes"},
    {"(reshape :shape 5 ((f32 2 3)))", "refused: reshape must keep the number of entries"},
    {"(broadcast :shape 4 ((f32 2)))", "refused: broadcast repeats only axes of size 1"},
    {"(slice :start 2 :size 2 :step -1 ((f32 3)))", "(f32 2)"},
    {"(slice :start 0 :size 2 :step -1 ((f32 3)))", "refused: slice leaves the tensor on axis 0"},
    {"(reducesum :axes 1 0 ((f32 2 3)))", "refused: reducesum needs axes of its input, in ascending order"},
    {"(reducemax :axes 0 ((i64 0)))", "refused: reducemax of no integer has no value"},
    {"(layernorm 1 ((f32 2 3)) ((f32 2)))",
     "refused: layernorm needs scale and bias of the shape of the axes from 1 on"},
    {"(gather :axis 0 ((f32 0 2)) ((i64 1)))", "refused: gather from an axis without entries"},
    {"(cast :to string ((f32 2)))", "refused: no cast from f32 to string"},
};

static const struct row formulas[] = {
    {"(matmul ((f32 2 3)) ((f32 3 4)))", "z[i,j] = sum(k < 3) (x0[i,k] * x1[k,j])\n"},
    {"(matmul :act relu ((f32 2 3)) ((f32 3 4)))", "z[i,j] = relu(sum(k < 3) (x0[i,k] * x1[k,j]))\n"},
    {"(concat 0 ((f32 2)) ((f32 3)))", "z[i] = if i - 2 >= 0 then x1[i - 2] else x0[i]\n"},
    {"(conv :stride 2 :pad 1 1 ((f32 1 4 9)) ((f32 2 4 3)))",
     "z[i,j,k] = sum(l < 4) sum(m < 3) (x0[i,l,((k * 2) + m) - 1 or 0] * x1[j,l,m])\n"},
    {"(conv :group 2 ((f32 1 4 9)) ((f32 4 2 1)))",
     "z[i,j,k] = sum(l < 2) sum(m < 1) (x0[i,((j / 2) * 2) + l,k + m or 0] * x1[j,l,m])\n"},
    {"(poolmax :kernel 3 :pad 1 1 ((f32 1 4 9)))", "z[i,j,k] = max(l < 3) x0[i,j,(k + l) - 1 or lowest]\n"},
    {"(reshape :shape 6 20 ((f32 2 3 4 5)))", "z[i,j] = x0[i / 3,i mod 3,j / 5,j mod 5]\n"},
    {"(reshape :shape 2 3 20 ((f32 6 20)))", "z[i,j,k] = x0[(i * 3) + j,k]\n"},
    {"(softmax 1 ((f32 2 3)))", "t0[i] = max(j < 3) x0[i,j]\n"
                                "t1[k] = sum(l < 3) exp(x0[k,l] - t0[k])\n"
                                "z[m,n] = exp(x0[m,n] - t0[m]) / t1[m]\n"},
    {"(gather ((f32 5 3)) ((i64 2)))", "z[i,j] = x0[index(x1[i]) mod 5,j]\n"},
    {"(trilu :part lower ((f32 3 3)))", "z[i,j] = if (j + (i * -1)) * -1 >= 0 then x0[i,j] else 0.0\n"},
    {"(split 0 :sizes 1 2 ((f32 3)))", "z0[i] = x0[i]\nz1[j] = x0[j + 1]\n"},
    {"(silu ((f32 3)))", "z[i] = x0[i] * sigmoid(x0[i])\n"},
};

static void print_types(struct text *out, const struct definition *d)
{
    for (int i = 0; i < d->n_outputs; i++) {
        if (i)
            text_add(out, ", ");
        typed_call_print_type(out, definition_output(d, i));
    }
}

static void print_formula(struct text *out, const struct definition *d)
{
    definition_print(out, d, NULL);
}

static void check_row(const struct row *row, void (*print)(struct text *, const struct definition *))
{
    ARENA(a);
    struct error error;
    struct definition d FREED_BY(definition_free);
    struct typed_call c;
    TEXT(text);
    const struct sexp *list;
    if (!sexp_parse(&a, "row", row->call, strlen(row->call), &list, &error) ||
        !typed_call_parse(&a, &list->items[0], row->call, &c, &error))
        fail_msg("%s: %s", row->call, error.message);
    definition_init(&d, &a, c.call.n_inputs, c.call.inputs);
    if (operator_define(&d, &c.call))
        print(&text, &d);
    else
        text_printf(&text, "refused: %s", d.reason);
    if (strcmp(text.chars, row->expected) != 0)
        print_error("%s\n    gives %s\n    not   %s\n", row->call, text.chars, row->expected);
    assert_string_equal(text.chars, row->expected);
}

TEST(types_and_trees_are_as_listed)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        check_row(&types[i], print_types);
}

TEST_OF_EACH(formulas_read_as_listed, row, formulas)
{
    check_row(row, print_formula);
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
