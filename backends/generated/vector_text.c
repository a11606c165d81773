// A function that instructions may have is a form of C here; those that C lacks stand in vectors.inc.
#include "backends/generated/vector_text.h"

#include "backends/planning/plan.h"
#include "core/text/text.h"
#include <math.h>

extern const char vectors[];   // vectors.inc

void vector_text_begin(struct text *text, int lanes)
{
    text_printf(text, "#undef LANES\n#define LANES %d\n%s", lanes, vectors);
}

// --- forms -----------------------------------------------------------------------------------------------------------

static const char *const forms[FN_COUNT] = {
    // of values a, b; NULL: there is none
    [FN_ADD] = "%s + %s",
    [FN_SUB] = "%s - %s",
    [FN_MUL] = "%s * %s",
    [FN_DIV] = "%s / %s",
    [FN_MAX] = "NAMED(max)(%s, %s)",
    [FN_MIN] = "NAMED(min)(%s, %s)",
    [FN_NEG] = "-%s",
    [FN_RECIPROCAL] = "1.0f / %s",
    [FN_RELU] = "NAMED(relu)(%s)",
    [FN_SIGMOID] = "NAMED(sigmoid)(%s)",
    [FN_TANH] = "NAMED(tanh)(%s)",
    [FN_EXP] = "NAMED(exp)(%s)",
    [FN_ERF] = "NAMED(erf)(%s)",
    [FN_ABS] = "NAMED(abs)(%s)",
    [FN_SQRT] = "NAMED(sqrt)(%s)",
};

bool vector_text_knows(const struct instruction *i)
{
    return i->kind == INSTRUCTION_CONSTANT || (i->kind == INSTRUCTION_APPLY && forms[i->fn]);
}

// NULL: it is none.
static const struct instruction *constant_of(const struct loop *l, uint16_t value)
{
    const struct instruction *i = &l->instructions[value & ~VALUE_OF_INSTRUCTION];
    return (value & VALUE_OF_INSTRUCTION) && i->kind == INSTRUCTION_CONSTANT ? i : NULL;
}

// A constant is no NaN: half of the comparisons are not needed.
static const char *form_with(const struct loop *l, const struct instruction *i, uint16_t *a, uint16_t *b)
{
    bool is_extreme = i->fn == FN_MAX || i->fn == FN_MIN;
    const uint16_t values[2] = {i->a, i->b};
    *a = i->a;
    *b = i->b;
    for (int k = 0; is_extreme && k < 2; k++) {
        const struct instruction *of = constant_of(l, values[k]);
        if (!of || isnan(of->constant))
            continue;
        *a = values[!k];
        *b = values[k];
        return i->fn == FN_MAX ? "NAMED(max_number)(%s, %s)" : "NAMED(min_number)(%s, %s)";
    }
    return forms[i->fn];
}

static void add_constant(struct text *text, double value)
{
    if (isnan(value))
        text_add(text, "ALL(__builtin_nanf(\"\"))");
    else if (isinf(value))
        text_add(text, value > 0 ? "ALL(__builtin_inff())" : "ALL(-__builtin_inff())");
    else
        text_printf(text, "ALL((float)%a)", value);
}

// A quotient by a constant is a product, where the reciprocal is a normal number, so near that each quotient that is a
// number of single precision is that number: means of equal entries are the entry, and whole ones stay whole.
static bool add_quotient(struct text *text, const struct loop *l, const struct instruction *i)
{
    char a[VALUE_NAME_SIZE];
    const struct instruction *constant = i->fn == FN_DIV ? constant_of(l, i->b) : NULL;
    float by = constant ? (float)constant->constant : 0, reciprocal = by != 0 ? 1 / by : 0;
    if (!isnormal(by) || !isnormal(reciprocal) || fabs((double)by * (double)reciprocal - 1) > 0x1p-25)
        return false;
    loop_text_name(i->a, a);
    text_printf(text, "NAMED(rounded)(%s * ", a);
    add_constant(text, (double)reciprocal);
    text_add(text, ")");
    return true;
}

static void add_value(struct text *text, const struct loop *l, const struct instruction *i)
{
    char a[VALUE_NAME_SIZE], b[VALUE_NAME_SIZE];
    uint16_t first, second;
    if (i->kind == INSTRUCTION_CONSTANT) {
        add_constant(text, i->constant);
        return;
    }
    if (add_quotient(text, l, i))
        return;
    const char *form = form_with(l, i, &first, &second);
    loop_text_name(first, a);
    loop_text_name(second, b);
    text_printf(text, form, a, b);
}

const struct dialect vector_dialect = {"V", add_value};
