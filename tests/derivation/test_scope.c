// The normal form of scopes: one tensor for all orders of sums, operands and guards and all names, and other tensors for
// what is not equal.
#include "tests/derivation/problem.h"
#include "tests/support/cases.h"

static int add_form(struct derivation *dv, const char *form)
{
    struct definition d FREED_BY(definition_free);
    struct error error;
    char *text = arena_printf(dv->arena, "x0 f32[4,7]\nx1 f32[7,5]\n%s\n", form);
    if (!definition_parse(dv->arena, "form", text, strlen(text), &d, &error))
        fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, text);
    return derivation_add(dv, &d);
}

// All texts of a group are one tensor; texts of different groups are different ones.
TEST(equal_scopes_are_one_tensor)
{
    int tensors[64];
    ARENA(arena);
    struct problem p FREED_BY(problem_free);
    const struct sexp *forms = read_cases(&arena, "derivation/forms.cases");
    problem_init(&p, "x0 f32[4,7]\nx1 f32[7,5]\nz[i,j] f32[4,5] = x0[i,j]\n");
    assert_in_range(forms->count, 2, COUNT_OF(tensors));
    for (size_t i = 0; i < forms->count; i++) {
        const struct sexp *a = forms->items[i].items;
        tensors[i] = add_form(&p.dv, a[1].text);
        for (size_t j = 0; j < i; j++) {
            const struct sexp *b = forms->items[j].items;
            if ((tensors[i] == tensors[j]) != (a->integer == b->integer))
                fail_msg("%s\n%s", a[1].text, b[1].text);
        }
    }
}

// A sum of symmetric iterators, in all orders of its reads: colors tell none apart.
TEST(symmetric_sums_have_one_form)
{
    int tensors[2];
    struct problem p FREED_BY(problem_free);
    static const char *const symmetric[] = {
        "z[i] f32[4] = sum(m < 3) sum(n < 3) sum(p < 3) (x0[i,m] * x0[i,n] * x1[m,p] * x1[n,p])",
        "z[i] f32[4] = sum(p < 3) sum(n < 3) sum(m < 3) (x1[n,p] * x0[i,m] * (x1[m,p] * x0[i,n]))"};
    problem_init(&p, "x0 f32[4,7]\nx1 f32[7,5]\nz[i,j] f32[4,5] = x0[i,j]\n");
    for (int i = 0; i < 2; i++)
        tensors[i] = add_form(&p.dv, symmetric[i]);
    assert_int_equal(tensors[0], tensors[1]);
}
