// Kernels from an operator's definition: one for each stage, one thread for each of its entries. Operands and results
// stand in any way, so that layouts cost nothing here; an epilogue is applied to the value before it is stored.
//
// Stages that are no outputs are kept in the scratch memory, unrounded.
#include "backends/generated/kernel_definition.h"

#include "backends/generated/kernel_loops.h"
#include "backends/generated/kernel_values.h"
#include "core/memory/arena.h"
#include "expressions/affine.h"
#include "expressions/elements.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define THREADS_OF_BLOCK 128
#define MOST_BLOCKS 8192

struct writing {
    struct kernel_text k;
    struct arena *arena;
    const struct definition *d;
    const struct stage *stage;
    const struct view *views;   // of inputs, then of stages
    int *names;                 // of expressions: v7; -1: not in scope
    VEC(expr) in_scope;         // in the order in which they got their names
    int n_names;
    bool is_failed;
};

// --- what a definition needs -----------------------------------------------------------------------------------------

static bool is_whole(enum dtype dtype)
{
    return dtype_is_integer(dtype) || dtype == DTYPE_BOOL;
}

// Whole numbers that are only read to be indices never become reals.
static bool is_read_as_real(const struct definition *d, int64_t tensor)
{
    size_t n_reads = 0, n_indices = 0;
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *n = &d->nodes.items[i];
        n_reads += n->kind == EXPR_READ && n->value == tensor;
        const struct expr_node *a = n->kind == EXPR_INDEX_OF ? &d->nodes.items[n->a] : NULL;
        n_indices += a && a->kind == EXPR_READ && a->value == tensor;
    }
    return n_reads > n_indices;
}

static enum real_kind real_of(const struct definition *d)
{
    bool is_all_whole = true, is_float = true;
    for (int i = 0; i < d->n_inputs + d->n_stages; i++) {
        enum dtype dtype = definition_tensor(d, i)->dtype;
        is_all_whole = is_all_whole && is_whole(dtype);
        is_float = is_float && (fits_single_precision(dtype) || (i < d->n_inputs && !is_read_as_real(d, i)));
    }
    return is_all_whole ? REAL_I64 : is_float ? REAL_F32 : REAL_F64;
}

bool definition_is_in_single_precision(const struct definition *d)
{
    return d->n_stages > 0 && real_of(d) == REAL_F32;
}

static bool has_kernels(const struct definition *d)
{
    for (int i = 0; i < d->n_inputs + d->n_stages; i++)
        if (!dtype_has_numbers(definition_tensor(d, i)->dtype))
            return false;
    return d->n_stages > 0;
}

// --- indices ---------------------------------------------------------------------------------------------------------

static int use_scalar(struct writing *w, expr e);
static void add_index(struct writing *w, struct text *out, expr e);

static void add_variable(const struct writing *w, struct text *out, int64_t variable)
{
    int64_t axis = variable - w->stage->first_variable;
    if (axis >= 0 && axis < w->stage->type.rank)
        text_printf(out, "i%d", (int)axis);
    else
        text_printf(out, "n%" PRId64, variable);
}

static void add_quotient(struct writing *w, struct text *out, const struct expr_node *n, char sign,
                         const char *function)
{
    bool is_plain = index_range(w->d, n->a).low >= 0;
    text_printf(out, "%s(", is_plain ? "" : function);
    add_index(w, out, n->a);
    text_printf(out, is_plain ? " %c %" PRId64 ")" : "%c %" PRId64 ")", is_plain ? sign : ',', n->value);
}

static void add_place(struct writing *w, struct text *out, const struct expr_node *read)
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

static bool add_pointer(struct writing *w, int64_t tensor, bool is_written, int *ret_number)
{
    const struct view *v = &w->views[tensor];
    struct kernel_pointer pointer = {v->memory, v->dtype, v->offset, is_written};
    w->is_failed = w->is_failed || !kernel_add_pointer(&w->k, pointer, ret_number);
    return !w->is_failed;
}

// Data that is an index: read as it is where it is whole, else through a real.
static void add_index_from_data(struct writing *w, struct text *out, expr scalar)
{
    const struct expr_node *n = &w->d->nodes.items[scalar];
    int pointer = 0;
    if (n->kind != EXPR_READ || !is_whole(w->views[n->value].dtype)) {
        text_printf(out, "index_of_real(v%d)", use_scalar(w, scalar));
        return;
    }
    add_pointer(w, n->value, false, &pointer);
    text_printf(out, "index_of_integer((int64_t)a%d[", pointer);
    add_place(w, out, n);
    text_add(out, "])");
}

static void add_index(struct writing *w, struct text *out, expr e)
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

static int new_value(struct writing *w, const char *qualifier, const char *text)
{
    int name = w->n_names++;
    text_printf(&w->k.body, "%sreal v%d = %s;\n", qualifier, name, text);
    return name;
}

static void leave_scope(struct writing *w, size_t mark)
{
    while (w->in_scope.count > mark)
        w->names[vec_pop(&w->in_scope)] = -1;
}

static void add_bounds(struct writing *w, struct text *out, const struct expr_node *read)
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

static int use_read(struct writing *w, const struct expr_node *n)
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

static int use_application(struct writing *w, const struct expr_node *n)
{
    char operands[3][VALUE_NAME_SIZE];
    const expr inputs[] = {n->a, n->b, n->c};
    TEXT(call);
    for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++)
        snprintf(operands[i], sizeof operands[i], "v%d", use_scalar(w, inputs[i]));
    kernel_use_function(&w->k, (enum scalar_function)n->fn);
    kernel_add_call(&call, (enum scalar_function)n->fn, operands);
    return new_value(w, "const ", call.chars);
}

// Nested reductions by one function have one sum.
static int use_reduction(struct writing *w, const struct expr_node *n)
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
    snprintf(values[1], sizeof values[1], "v%d", use_scalar(w, (expr)(n - w->d->nodes.items)));
    kernel_use_function(&w->k, (enum scalar_function)fn);
    kernel_add_call(&call, (enum scalar_function)fn, values);
    text_printf(&w->k.body, "v%d = %s;\n", name, call.chars);
    for (; depth > 0; depth--)
        text_add(&w->k.body, "}\n");
    leave_scope(w, mark);
    return name;
}

static int use_selection(struct writing *w, const struct expr_node *n)
{
    TEXT(condition);
    size_t mark = w->in_scope.count;
    add_index(w, &condition, n->a);
    int name = new_value(w, "", "(real)0");
    text_printf(&w->k.body, "if (%s >= 0) {\n", condition.chars);
    text_printf(&w->k.body, "v%d = v%d;\n} else {\n", name, use_scalar(w, n->b));
    leave_scope(w, mark);
    text_printf(&w->k.body, "v%d = v%d;\n}\n", name, use_scalar(w, n->c));
    leave_scope(w, mark);
    return name;
}

static int make_scalar(struct writing *w, const struct expr_node *n)
{
    TEXT(text);
    int name = 0;
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        return use_read(w, n);
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
    name = new_value(w, "const ", text.chars);
    return name;
}

static int use_scalar(struct writing *w, expr e)
{
    if (w->names[e] >= 0)
        return w->names[e];
    int name = make_scalar(w, &w->d->nodes.items[e]);
    w->names[e] = name;
    vec_push(&w->in_scope, e);
    return name;
}

// --- stages ----------------------------------------------------------------------------------------------------------

// Threads that follow one another write entries that do.
static void add_places(struct writing *w, const struct view *result)
{
    int order[MAX_RANK];
    int64_t behind = 1;
    for (int i = 0; i < result->rank; i++) {
        int at = i;
        for (; at > 0 && result->stride[order[at - 1]] < result->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = result->rank - 1; i >= 0; i--) {
        text_printf(&w->k.body, "const index i%d = place / %" PRId64 " %% %" PRId64 ";\n", order[i], behind,
                    result->dim[order[i]]);
        behind *= result->dim[order[i]];
    }
}

static void store_plainly(struct writing *w, const struct view *result, int tensor, int value)
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

static void store_through_epilogue(struct writing *w, const struct loop *epilogue, int value)
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

static bool has_wide_index(const struct writing *w)
{
    for (int i = 0; i < w->d->n_inputs + w->d->n_stages; i++) {
        const struct view *v = &w->views[i];
        int64_t reach = 1;
        for (int k = 0; k < v->rank; k++)
            reach = index_saturated(
                reach + index_saturated_product(v->stride[k] < 0 ? -v->stride[k] : v->stride[k], v->dim[k]));
        if (reach > INT32_MAX / 2 || view_elements(v) > INT32_MAX / 2)
            return true;
    }
    return false;
}

static void write_stage(struct writing *w, int stage, const struct loop *epilogue)
{
    const struct view *result = &w->views[w->d->n_inputs + stage];
    int64_t places = view_elements(result), blocks = (places + THREADS_OF_BLOCK - 1) / THREADS_OF_BLOCK;
    w->stage = &w->d->stages[stage];
    w->n_names = 0;
    w->k.blocks = blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
    text_printf(&w->k.body, "for (index tile = block; tile < %" PRId64 "; tile += n_blocks)\nTHREADS(t) {\n", blocks);
    text_printf(&w->k.body, "const index place = tile * BLOCK + t;\nif (place < %" PRId64 ") {\n", places);
    add_places(w, result);
    int value = use_scalar(w, w->stage->body);
    if (epilogue)
        store_through_epilogue(w, epilogue, value);
    else
        store_plainly(w, result, w->d->n_inputs + stage, value);
    text_add(&w->k.body, "}\n}\n");
    leave_scope(w, 0);
}

// Outputs stand where the step's results do, other stages in scratch memory as reals.
static const struct view *place_tensors(const struct definition *d, const struct step *step, enum real_kind real,
                                        struct arena *arena, size_t *ret_scratch_bytes)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_I64};
    struct view *views = arena_array(arena, struct view, d->n_inputs + d->n_stages);
    size_t size = dtype_size(dtypes[real]), used = 0;
    for (int i = 0; i < d->n_inputs; i++)
        views[i] = step->operands[i];
    for (int i = 0; i < d->n_stages; i++) {
        struct type type = type_make(dtypes[real], d->stages[i].type.rank, d->stages[i].type.dim);
        views[d->n_inputs + i] = view_dense(KERNEL_SCRATCH, &type, LAYOUT_ROWS);
        views[d->n_inputs + i].offset = (int64_t)(used / size);
        bool is_output = false;
        for (int o = 0; o < d->n_outputs; o++)
            if (d->outputs[o] == i) {
                views[d->n_inputs + i] = step->results[o];
                is_output = true;
            }
        used += is_output ? 0 : (type_bytes(&type) + 255) / 256 * 256;
    }
    *ret_scratch_bytes = used;
    return views;
}

bool kernels_from_definition(const struct definition *d, const struct step *step, const char *prelude,
                             struct arena *arena, struct generated_kernels *ret_kernels)
{
    if (!has_kernels(d) || (step->n_loops && (d->n_stages != 1 || real_of(d) != REAL_F32)))
        return false;
    enum real_kind real = real_of(d);
    struct writing w = {.arena = arena, .d = d, .names = arena_array(arena, int, d->nodes.count + 1)};
    w.views = place_tensors(d, step, real, arena, &ret_kernels->scratch_bytes);
    memset(w.names, 0xff, d->nodes.count * sizeof *w.names);
    for (int i = 0; i < d->n_stages && !w.is_failed; i++) {
        w.k = (struct kernel_text){.real = real, .threads = THREADS_OF_BLOCK, .has_wide_index = has_wide_index(&w)};
        if (view_elements(&w.views[d->n_inputs + i])) {
            write_stage(&w, i, step->n_loops ? &step->loops[0] : NULL);
            if (!w.is_failed)
                kernels_add(ret_kernels, &w.k, prelude, arena);
        }
        kernel_text_free(&w.k);
    }
    vec_free(&w.in_scope);
    return !w.is_failed;
}
