// The normal form of scopes: one tensor for all orders of sums, operands and guards and all names, and other tensors for
// what is not equal.
#include "tests/derivation/problem.h"

// All texts of a group are one tensor; texts of different groups are different ones.
static const struct form {
    int group;
    const char *text;
} forms[] = {
    {0, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 3) (x0[i,m + n] * x1[m,j])"},
    {0, "z[i,j] f32[4,5] = sum(n < 3) sum(m < 3) (x0[i,m + n] * x1[m,j])"},
    {0, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 3) (x1[n,j] * x0[i,n + m])"},
    {0, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 3) (x1[n,j] * (x0[i,n + m] * 1.0))"},
    {0, "z[i,j] f32[4,5] = sum(n < 3) (if n - 3 >= 0 then 0.0 else (sum(m < 3) (x1[n,j] * x0[i,n + m])))"},
    {1, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 3) (x0[i,m + n] * x1[n + 1,j])"},
    {2, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 3) (x0[i,m + n] * x1[m,j] * 2.0)"},
    {3, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 3) (x0[i,m + 1] * x1[m,n])"},
    {4, "z[i,j] f32[4,5] = sum(m < 3) sum(n < 2) (x0[i,m + n] * x1[m,j])"},
    {5, "z[i,j] f32[4,5] = sum(m < 3) (if m - 1 >= 0 then (x0[i,m] * x1[m,j]) else 0.0)"},
    {6, "z[i,j] f32[4,5] = sum(m < 3) (x0[i,m] * x1[m,j])"},
    {6, "z[i,j] f32[4,5] = sum(m < 3) (if m >= 0 then (x0[i,m or 0] * x1[m,j or 0]) else 0.0)"},
    {7, "z[i,j] f32[4,5] = sum(m < 3) (x0[i,m] * x1[m,j] / 3.0)"},
    {8, "z[i,j] f32[4,5] = sum(m < 3) (x0[i,m] * x1[m,j - 1 or 0])"},
    {8, "z[i,j] f32[4,5] = sum(m < 3) (if j - 1 >= 0 then (x0[i,m] * x1[m,j - 1 or 0]) else 0.0)"},
};

static int add_form(struct derivation *dv, const struct form *form)
{
    struct definition d FREED_BY(definition_free);
    struct error error;
    char *text = arena_printf(dv->arena, "x0 f32[4,7]\nx1 f32[7,5]\n%s\n", form->text);
    if (!definition_parse(dv->arena, "form", text, strlen(text), &d, &error))
        fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, text);
    return derivation_add(dv, &d);
}

TEST(equal_scopes_are_one_tensor)
{
    int tensors[COUNT_OF(forms)];
    struct problem p FREED_BY(problem_free);
    problem_init(&p, "x0 f32[4,7]\nx1 f32[7,5]\nz[i,j] f32[4,5] = x0[i,j]\n");
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        tensors[i] = add_form(&p.dv, &forms[i]);
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        for (size_t j = 0; j < COUNT_OF(forms); j++)
            if ((tensors[i] == tensors[j]) != (forms[i].group == forms[j].group))
                fail_msg("%s\n%s", forms[i].text, forms[j].text);
}

// A sum of symmetric iterators, in all orders of its reads: colors tell none apart.
TEST(symmetric_sums_have_one_form)
{
    int tensors[2];
    struct problem p FREED_BY(problem_free);
    static const struct form symmetric[] = {
        {0, "z[i] f32[4] = sum(m < 3) sum(n < 3) sum(p < 3) (x0[i,m] * x0[i,n] * x1[m,p] * x1[n,p])"},
        {0, "z[i] f32[4] = sum(p < 3) sum(n < 3) sum(m < 3) (x1[n,p] * x0[i,m] * (x1[m,p] * x0[i,n]))"}};
    problem_init(&p, "x0 f32[4,7]\nx1 f32[7,5]\nz[i,j] f32[4,5] = x0[i,j]\n");
    for (int i = 0; i < 2; i++)
        tensors[i] = add_form(&p.dv, &symmetric[i]);
    assert_int_equal(tensors[0], tensors[1]);
}
