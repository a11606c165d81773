// The values of one loop in a kernel's text: loaded, computed, and told where in memory they stand.
#include "backends/generated/kernel_values.h"

#include "core/memory/arena.h"
#include <string.h>

// --- what a loop needs -----------------------------------------------------------------------------------------------

bool fits_single_precision(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_BOOL ||
           (dtype_is_integer(dtype) && dtype_size(dtype) <= 2);
}

enum real_kind loop_real(const struct loop *loop)
{
    bool fit = ALL(int, i, loop->n_operands + loop->n_results, fits_single_precision(loop_access_at(loop, i)->dtype));
    return fit ? REAL_F32 : REAL_F64;
}

bool loop_has_wide_index(const struct loop *loop)
{
    int64_t places = PRODUCT_ALL(int64_t, int, i, loop->rank + loop->n_reduced, loop->dim[i]), limit = INT32_MAX / 2;
    for (int i = 0; i < loop->n_operands + loop->n_results; i++) {
        const struct loop_access *a = loop_access_at(loop, i);
        int64_t reach = SUM_ALL(int64_t, int, k, loop->rank + loop->n_reduced,
                                (a->stride[k] < 0 ? -a->stride[k] : a->stride[k]) * loop->dim[k]);
        if (reach > limit)
            return true;
    }
    return places > limit;
}

static bool is_copy(const struct loop *loop)
{
    bool is_so = loop->n_operands && loop->n_instructions == 0 && loop->n_reduced == 0;
    for (int i = 1; is_so && i < loop->n_operands + loop->n_results; i++)
        is_so = loop_access_at(loop, i)->dtype == loop_access_at(loop, 0)->dtype;
    return is_so;
}

// --- the scope -------------------------------------------------------------------------------------------------------

bool loop_values_init(struct loop_values *v, struct kernel_text *k, const struct loop *loop, struct arena *arena)
{
    int n = loop->n_operands + loop->n_results;
    *v = (struct loop_values){.k = k, .loop = loop, .is_raw = is_copy(loop)};
    v->type = v->is_raw ? kernel_type_of(loop->operands[0].dtype) : kernel_dialect.type;
    v->pointers = arena_array(arena, int, n + 1);
    for (int i = 0; i < loop->n_instructions; i++)
        if (loop->instructions[i].kind != INSTRUCTION_CONSTANT)
            kernel_use_function(k, (enum scalar_function)loop->instructions[i].fn);
    for (int i = 0; i < n; i++) {
        const struct loop_access *a = loop_access_at(loop, i);
        struct kernel_pointer pointer = {a->memory, a->dtype, a->offset, i >= loop->n_operands};
        if (!kernel_add_pointer(k, pointer, &v->pointers[i]))
            return false;
    }
    return true;
}

void loop_values_enter(struct loop_values *v, int n_nests, const struct nest *const *nests)
{
    v->n_nests = n_nests;
    memcpy(v->nests, nests, sizeof *nests * (size_t)n_nests);
}

// --- text ------------------------------------------------------------------------------------------------------------

// "0 + i0 * 3 + i1"
static void add_place(const struct loop_values *v, struct text *out, int access)
{
    text_add(out, "0");
    for (int i = 0; i < v->n_nests; i++)
        nest_add_offset(v->nests[i], out, access);
}

void loop_values_add_load(const struct loop_values *v, struct text *out, int operand)
{
    TEXT(place);
    add_place(v, &place, operand);
    if (v->is_raw)
        text_printf(out, "a%d[%s]", v->pointers[operand], place.chars);
    else
        kernel_add_load(out, v->pointers[operand], v->loop->operands[operand].dtype, place.chars);
}

void loop_values_add_operand(const struct loop_values *v, int operand)
{
    struct text *out = &v->k->body;
    text_printf(out, "const %s x%d = ", v->type, operand);
    loop_values_add_load(v, out, operand);
    text_add(out, ";\n");
}

void loop_values_add_operands(const struct loop_values *v)
{
    for (int i = 0; i < v->loop->n_operands; i++)
        loop_values_add_operand(v, i);
}

static void add_stores(const struct loop_values *v)
{
    const struct loop *loop = v->loop;
    for (int i = 0; i < loop->n_results; i++) {
        TEXT(place);
        char value[VALUE_NAME_SIZE];
        int pointer = v->pointers[loop->n_operands + i];
        add_place(v, &place, loop->n_operands + i);
        loop_text_name(loop->results[i].value, value);
        if (v->is_raw)
            text_printf(&v->k->body, "a%d[%s] = %s;\n", pointer, place.chars, value);
        else
            kernel_add_store(&v->k->body, v->k, pointer, loop->results[i].to.dtype, place.chars, value);
    }
}

void loop_values_add_results(const struct loop_values *v)
{
    loop_text_add(&v->k->body, &kernel_dialect, v->loop);
    add_stores(v);
}

static bool is_reduced(const struct loop *loop, int operand)
{
    return ANY(int, i, loop->n_reduced, loop->operands[operand].stride[loop->rank + i] != 0);
}

void loop_values_add_reduced_results(const struct loop_values *v, const char *reduction)
{
    for (int i = 0; i < v->loop->n_operands; i++)
        if (!is_reduced(v->loop, i))
            loop_values_add_operand(v, i);
    text_printf(&v->k->body, "const real t%d = %s;\n", loop_text_reduction(v->loop), reduction);
    loop_text_add_behind(&v->k->body, &kernel_dialect, v->loop);
    add_stores(v);
}
