// The formula of a definition as a person would write it:   z[i,j] = sum(k < 64) x[i,k] * y[k,j]
#include "expressions/definition_print.h"

#include "core/text/text.h"
#include <inttypes.h>

struct printer {
    struct text *out;
    const struct definition *d;
    const char *const *input_names;
};

static void print_variable(const struct printer *p, int64_t number)
{
    static const char letters[] = "ijklmnpqrstuvwabcdefgh";
    size_t n = sizeof letters - 1;
    text_add_n(p->out, &letters[(size_t)number % n], 1);
    if ((size_t)number >= n)
        text_printf(p->out, "%zu", (size_t)number / n);
}

static void print_tensor(const struct printer *p, int64_t tensor)
{
    const struct definition *d = p->d;
    if (tensor < d->n_inputs) {
        if (p->input_names && p->input_names[tensor])
            text_add(p->out, p->input_names[tensor]);
        else
            text_printf(p->out, "x%" PRId64, tensor);
        return;
    }
    int output = FIRST_OF(int, i, d->n_outputs, d->outputs[i] == tensor - d->n_inputs);
    if (output == d->n_outputs)
        text_printf(p->out, "t%" PRId64, tensor - d->n_inputs);
    else if (d->n_outputs > 1)
        text_printf(p->out, "z%d", output);
    else
        text_add(p->out, "z");
}

static void print_expr(const struct printer *p, expr e);
// The same in brackets where it is made of two parts with a sign between them.
static void print_operand(const struct printer *p, expr e);

static void print_index_list(const struct printer *p, const struct expr_node *n)
{
    text_add(p->out, "[");
    for (int i = 0; i < n->count; i++) {
        if (i)
            text_add(p->out, ",");
        print_expr(p, p->d->indices.items[n->a + (expr)i]);
    }
    text_add(p->out, n->b == OUTSIDE_ZERO ? " or 0]" : n->b == OUTSIDE_LOWEST ? " or lowest]" : "]");
}

static void print_infix(const struct printer *p, const struct expr_node *n, const char *sign)
{
    print_operand(p, n->a);
    text_add(p->out, sign);
    print_operand(p, n->b);
}

static void print_index_sum(const struct printer *p, const struct expr_node *n)
{
    const struct expr_node *b = &p->d->nodes.items[n->b];
    bool is_difference = b->kind == EXPR_INTEGER && b->value < 0 && b->value != INT64_MIN;
    print_operand(p, n->a);
    if (is_difference)
        text_printf(p->out, " - %" PRId64, -b->value);
    else {
        text_add(p->out, " + ");
        print_operand(p, n->b);
    }
}

static void print_call(const struct printer *p, const struct expr_node *n)
{
    text_printf(p->out, "%s(", function_name(n->fn));
    for (int i = 0; i < function_arity(n->fn); i++) {
        text_add(p->out, i ? ", " : "");
        print_expr(p, n->operands[i]);
    }
    text_add(p->out, ")");
}

static const char *infix_sign(enum scalar_function fn)
{
    static const char *const signs[FN_COUNT] = {[FN_ADD] = " + ", [FN_SUB] = " - ", [FN_MUL] = " * ", [FN_DIV] = " / "};
    return signs[fn];
}

static void print_apply(const struct printer *p, const struct expr_node *n)
{
    if (infix_sign(n->fn))
        print_infix(p, n, infix_sign(n->fn));
    else
        print_call(p, n);
}

static void print_reduce(const struct printer *p, const struct expr_node *n)
{
    text_printf(p->out, "%s(", n->fn == FN_ADD ? "sum" : n->fn == FN_MUL ? "product" : function_name(n->fn));
    print_variable(p, n->value);
    text_printf(p->out, " < %" PRId64 ") ", p->d->extents.items[n->value]);
    if (p->d->nodes.items[n->a].kind == EXPR_REDUCE)
        print_expr(p, n->a);
    else
        print_operand(p, n->a);
}

static void print_select(const struct printer *p, const struct expr_node *n)
{
    text_add(p->out, "if ");
    print_expr(p, n->a);
    text_add(p->out, " >= 0 then ");
    print_operand(p, n->b);
    text_add(p->out, " else ");
    print_operand(p, n->c);
}

static void print_index_arithmetic(const struct printer *p, const struct expr_node *n, const char *sign)
{
    print_operand(p, n->a);
    text_printf(p->out, "%s%" PRId64, sign, n->value);
}

static bool has_sign_between(const struct expr_node *n)
{
    switch ((enum expr_kind)n->kind) {
    case EXPR_APPLY:
        return infix_sign(n->fn) != NULL;
    case EXPR_INDEX_ADD:
    case EXPR_INDEX_MUL:
    case EXPR_INDEX_DIV:
    case EXPR_INDEX_MOD:
    case EXPR_SELECT:
    case EXPR_REDUCE:
        return true;
    default:
        return false;
    }
}

static void print_operand(const struct printer *p, expr e)
{
    bool needs_brackets = has_sign_between(&p->d->nodes.items[e]);
    text_add(p->out, needs_brackets ? "(" : "");
    print_expr(p, e);
    text_add(p->out, needs_brackets ? ")" : "");
}

static void print_expr(const struct printer *p, expr e)
{
    const struct expr_node *n = &p->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        text_printf(p->out, "%" PRId64, n->value);
        break;
    case EXPR_VARIABLE:
        print_variable(p, n->value);
        break;
    case EXPR_INDEX_ADD:
        print_index_sum(p, n);
        break;
    case EXPR_INDEX_MUL:
        print_index_arithmetic(p, n, " * ");
        break;
    case EXPR_INDEX_DIV:
        print_index_arithmetic(p, n, " / ");
        break;
    case EXPR_INDEX_MOD:
        print_index_arithmetic(p, n, " mod ");
        break;
    case EXPR_INDEX_OF:
    case EXPR_SCALAR_OF:
        text_add(p->out, n->kind == EXPR_INDEX_OF ? "index(" : "scalar(");
        print_expr(p, n->a);
        text_add(p->out, ")");
        break;
    case EXPR_REAL:
        text_add_real(p->out, n->real);
        break;
    case EXPR_READ:
        print_tensor(p, n->value);
        print_index_list(p, n);
        break;
    case EXPR_APPLY:
        print_apply(p, n);
        break;
    case EXPR_REDUCE:
        print_reduce(p, n);
        break;
    case EXPR_SELECT:
        print_select(p, n);
        break;
    }
}

static void print_type(const struct printer *p, const struct type *type)
{
    text_printf(p->out, "%s[", dtype_name(type->dtype));
    for (int i = 0; i < type->rank; i++)
        text_printf(p->out, "%s%" PRId64, i ? "," : "", type->dim[i]);
    text_add(p->out, "]");
}

static void print_stage(const struct printer *p, int number, bool is_typed)
{
    const struct stage *s = &p->d->stages[number];
    print_tensor(p, p->d->n_inputs + number);
    text_add(p->out, "[");
    for (int axis = 0; axis < s->type.rank; axis++) {
        if (axis)
            text_add(p->out, ",");
        print_variable(p, s->first_variable + axis);
    }
    text_add(p->out, "] ");
    if (is_typed) {
        print_type(p, &s->type);
        text_add(p->out, " ");
    }
    text_add(p->out, "= ");
    print_expr(p, s->body);
    text_add(p->out, "\n");
}

void definition_print_typed(struct text *out, const struct definition *d)
{
    struct printer p = {out, d, NULL};
    for (int i = 0; i < d->n_inputs; i++) {
        text_printf(out, "x%d ", i);
        print_type(&p, &d->inputs[i]);
        text_add(out, "\n");
    }
    for (int i = 0; i < d->n_stages; i++)
        print_stage(&p, i, true);
}

void definition_print(struct text *out, const struct definition *d, const char *const *input_names)
{
    struct printer p = {out, d, input_names};
    for (int i = 0; i < d->n_stages; i++)
        print_stage(&p, i, false);
}
