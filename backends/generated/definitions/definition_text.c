// The text of a definition's values as it grows: indices, reads with their bounds, applications, reductions, and stores
// with what stands behind them.
#include "backends/generated/definitions/definition_text.h"

#include "backends/generated/kernel_values.h"
#include "core/memory/arena.h"
#include "expressions/affine.h"
#include <inttypes.h>
#include <stdio.h>

bool holds_whole_numbers(enum dtype dtype)
{
    return dtype_is_integer(dtype) || dtype == DTYPE_BOOL;
}

// --- indices ---------------------------------------------------------------------------------------------------------

static void add_index(struct definition_text *w, struct text *out, expr e);

static void add_variable(const struct definition_text *w, struct text *out, int64_t variable)
{
    int64_t axis = variable - w->stage->first_variable;
    if (axis >= 0 && axis < w->stage->type.rank)
        text_printf(out, "i%d", (int)axis);
    else
        text_printf(out, "n%" PRId64, variable);
}

static void add_quotient(struct definition_text *w, struct text *out, const struct expr_node *n, char sign,
                         const char *function)
{
    bool is_plain = index_range(w->d, n->a).low >= 0;
    text_printf(out, "%s(", is_plain ? "" : function);
    add_index(w, out, n->a);
    text_printf(out, is_plain ? " %c %" PRId64 ")" : "%c %" PRId64 ")", is_plain ? sign : ',', n->value);
}

static void add_place(struct definition_text *w, struct text *out, const struct expr_node *read)
{
    const struct view *v = &w->views[read->value];
    text_add(out, "0");
    for (int i = 0; i < v->rank; i++) {
        if (v->dim[i] == 1 || v->stride[i] == 0)
            continue;
        text_add(out, " + ");
        add_index(w, out, w->d->indices.items[read->a + (expr)i]);
        text_printf(out, " * %" PRId64, v->stride[i]);
    }
}

static bool add_pointer(struct definition_text *w, int64_t tensor, bool is_written, int *ret_number)
{
    const struct view *v = &w->views[tensor];
    struct kernel_pointer pointer = {v->memory, v->dtype, v->offset, is_written};
    w->is_failed = w->is_failed || !kernel_add_pointer(&w->k, pointer, ret_number);
    return !w->is_failed;
}

// Data that is an index: read as it is where it is whole, else through a real.
static void add_index_from_data(struct definition_text *w, struct text *out, expr scalar)
{
    const struct expr_node *n = &w->d->nodes.items[scalar];
    int pointer = 0;
    if (n->kind != EXPR_READ || !holds_whole_numbers(w->views[n->value].dtype)) {
        text_printf(out, "index_of_real(v%d)", definition_text_value(w, scalar));
        return;
    }
    add_pointer(w, n->value, false, &pointer);
    text_printf(out, "index_of_integer((int64_t)a%d[", pointer);
    add_place(w, out, n);
    text_add(out, "])");
}

static void add_index(struct definition_text *w, struct text *out, expr e)
{
    const struct expr_node *n = &w->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        text_printf(out, "%" PRId64, n->value);
        break;
    case EXPR_VARIABLE:
        add_variable(w, out, n->value);
        break;
    case EXPR_INDEX_ADD:
        text_add(out, "(");
        add_index(w, out, n->a);
        text_add(out, " + ");
        add_index(w, out, n->b);
        text_add(out, ")");
        break;
    case EXPR_INDEX_MUL:
        text_add(out, "(");
        add_index(w, out, n->a);
        text_printf(out, " * %" PRId64 ")", n->value);
        break;
    case EXPR_INDEX_DIV:
        add_quotient(w, out, n, '/', "floor_divided");
        break;
    case EXPR_INDEX_MOD:
        add_quotient(w, out, n, '%', "floor_rest");
        break;
    default:
        add_index_from_data(w, out, n->a);
    }
}

// --- values ----------------------------------------------------------------------------------------------------------

static int new_value(struct definition_text *w, const char *qualifier, const char *text)
{
    int name = w->n_names++;
    text_printf(&w->k.body, "%sreal v%d = %s;\n", qualifier, name, text);
    return name;
}

void definition_text_leave(struct definition_text *w, size_t mark)
{
    while (w->in_scope.count > mark)
        w->names[vec_pop(&w->in_scope)] = -1;
}

static void add_bounds(struct definition_text *w, struct text *out, const struct expr_node *read)
{
    const struct type *type = definition_tensor(w->d, read->value);
    for (int i = 0; i < type->rank; i++) {
        expr index = w->d->indices.items[read->a + (expr)i];
        struct index_range range = index_range(w->d, index);
        if (range.low < 0) {
            text_add(out, out->count ? " && " : "");
            add_index(w, out, index);
            text_add(out, " >= 0");
        }
        if (range.high >= type->dim[i]) {
            text_add(out, out->count ? " && " : "");
            add_index(w, out, index);
            text_printf(out, " < %" PRId64, type->dim[i]);
        }
    }
}

int definition_text_read(struct definition_text *w, const struct expr_node *n)
{
    TEXT(bounds);
    TEXT(place);
    TEXT(load);
    TEXT(outside);
    int pointer = 0, name = 0;
    add_pointer(w, n->value, false, &pointer);
    if (n->b != OUTSIDE_NEVER)
        add_bounds(w, &bounds, n);
    add_place(w, &place, n);
    kernel_add_load(&load, pointer, w->views[n->value].dtype, place.chars);
    if (bounds.count) {
        if (n->b == OUTSIDE_LOWEST)
            kernel_add_identity(&w->k, &outside, FN_MAX);
        else
            text_add(&outside, "(real)0");
        name = new_value(w, "", outside.chars);
        text_printf(&w->k.body, "if (%s) v%d = %s;\n", bounds.chars, name, load.chars);
    } else {
        name = new_value(w, "const ", load.chars);
    }
    return name;
}

static int use_application(struct definition_text *w, const struct expr_node *n)
{
    char operands[3][VALUE_NAME_SIZE];
    const expr inputs[] = {n->a, n->b, n->c};
    TEXT(call);
    for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++)
        snprintf(operands[i], sizeof operands[i], "v%d", definition_text_value(w, inputs[i]));
    kernel_use_function(&w->k, (enum scalar_function)n->fn);
    kernel_add_call(&call, (enum scalar_function)n->fn, operands);
    return new_value(w, "const ", call.chars);
}

// Nested reductions by one function have one sum.
static int use_reduction(struct definition_text *w, const struct expr_node *n)
{
    TEXT(start);
    TEXT(call);
    char values[3][VALUE_NAME_SIZE];
    int depth = 0;
    uint8_t fn = n->fn;
    size_t mark = w->in_scope.count;
    kernel_add_identity(&w->k, &start, (enum scalar_function)fn);
    int name = new_value(w, "", start.chars);
    for (; n->kind == EXPR_REDUCE && n->fn == fn; n = &w->d->nodes.items[n->a], depth++)
        text_printf(&w->k.body, "for (index n%" PRId64 " = 0; n%" PRId64 " < %" PRId64 "; n%" PRId64 "++) {\n",
                    n->value, n->value, w->d->extents.items[n->value], n->value);
    snprintf(values[0], sizeof values[0], "v%d", name);
    snprintf(values[1], sizeof values[1], "v%d", definition_text_value(w, (expr)(n - w->d->nodes.items)));
    kernel_use_function(&w->k, (enum scalar_function)fn);
    kernel_add_call(&call, (enum scalar_function)fn, values);
    text_printf(&w->k.body, "v%d = %s;\n", name, call.chars);
    for (; depth > 0; depth--)
        text_add(&w->k.body, "}\n");
    definition_text_leave(w, mark);
    return name;
}

static int use_selection(struct definition_text *w, const struct expr_node *n)
{
    TEXT(condition);
    size_t mark = w->in_scope.count;
    add_index(w, &condition, n->a);
    int name = new_value(w, "", "(real)0");
    text_printf(&w->k.body, "if (%s >= 0) {\n", condition.chars);
    text_printf(&w->k.body, "v%d = v%d;\n} else {\n", name, definition_text_value(w, n->b));
    definition_text_leave(w, mark);
    text_printf(&w->k.body, "v%d = v%d;\n}\n", name, definition_text_value(w, n->c));
    definition_text_leave(w, mark);
    return name;
}

static int make_scalar(struct definition_text *w, const struct expr_node *n)
{
    TEXT(text);
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        return definition_text_read(w, n);
    case EXPR_APPLY:
        return use_application(w, n);
    case EXPR_REDUCE:
        return use_reduction(w, n);
    case EXPR_SELECT:
        return use_selection(w, n);
    case EXPR_SCALAR_OF:
        text_add(&text, "(real)");
        add_index(w, &text, n->a);
        break;
    default:
        kernel_add_constant(&text, n->real);
    }
    return new_value(w, "const ", text.chars);
}

int definition_text_value(struct definition_text *w, expr e)
{
    if (w->names[e] >= 0)
        return w->names[e];
    int name = make_scalar(w, &w->d->nodes.items[e]);
    w->names[e] = name;
    vec_push(&w->in_scope, e);
    return name;
}

// --- stores ----------------------------------------------------------------------------------------------------------

static void add_plainly(struct definition_text *w, const struct view *result, int tensor, int value)
{
    TEXT(place);
    char name[24];
    int pointer = 0;
    text_add(&place, "0");
    for (int i = 0; i < result->rank; i++)
        text_printf(&place, " + i%d * %" PRId64, i, result->stride[i]);
    snprintf(name, sizeof name, "v%d", value);
    if (add_pointer(w, tensor, true, &pointer))
        kernel_add_store(&w->k.body, &w->k, pointer, result->dtype, place.chars, name);
}

static void add_through_epilogue(struct definition_text *w, const struct loop *epilogue, int value)
{
    struct loop_values values;
    struct nest nest = nest_of_loop(epilogue, 0, epilogue->rank, 'i', w->arena);
    const struct nest *nests[] = {&nest};
    if (!loop_values_init(&values, &w->k, epilogue, w->arena)) {
        w->is_failed = true;
        return;
    }
    loop_values_enter(&values, 1, nests);
    values.is_raw = false;   // what is stored is a real
    text_printf(&w->k.body, "const real x0 = v%d;\n", value);
    for (int i = 1; i < epilogue->n_operands; i++)
        loop_values_add_operand(&values, i);
    loop_values_add_results(&values);
}

void definition_text_store(struct definition_text *w, int stage, const struct loop *epilogue, int value)
{
    if (epilogue)
        add_through_epilogue(w, epilogue, value);
    else
        add_plainly(w, &w->views[w->d->n_inputs + stage], w->d->n_inputs + stage, value);
}

bool definition_text_has_wide_index(const struct definition_text *w)
{
    EACH(w->views, w->d->n_inputs + w->d->n_stages, v) {
        int64_t reach = 1;
        for (int k = 0; k < v->rank; k++)
            reach = index_saturated(
                reach + index_saturated_product(v->stride[k] < 0 ? -v->stride[k] : v->stride[k], v->dim[k]));
        if (reach > INT32_MAX / 2 || view_elements(v) > INT32_MAX / 2)
            return true;
    }
    return false;
}
