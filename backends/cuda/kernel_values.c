// The values of one loop in a kernel's text: loaded, computed, and told where in memory they stand.
#include "backends/cuda/kernel_values.h"

#include "core/memory/arena.h"
#include <stdio.h>
#include <string.h>

static const struct loop_access *access_at(const struct loop *loop, int i)
{
    return i < loop->n_operands ? &loop->operands[i] : &loop->results[i - loop->n_operands].to;
}

// --- what a loop needs -----------------------------------------------------------------------------------------------

bool fits_single_precision(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_BOOL ||
           (dtype_is_integer(dtype) && dtype_size(dtype) <= 2);
}

enum real_kind loop_real(const struct loop *loop)
{
    for (int i = 0; i < loop->n_operands + loop->n_results; i++)
        if (!fits_single_precision(access_at(loop, i)->dtype))
            return REAL_F64;
    return REAL_F32;
}

bool loop_has_wide_index(const struct loop *loop)
{
    int64_t places = 1, limit = INT32_MAX / 2;
    for (int i = 0; i < loop->rank + loop->n_reduced; i++)
        places *= loop->dim[i];
    for (int i = 0; i < loop->n_operands + loop->n_results; i++) {
        const struct loop_access *a = access_at(loop, i);
        int64_t reach = 0;
        for (int k = 0; k < loop->rank + loop->n_reduced; k++)
            reach += (a->stride[k] < 0 ? -a->stride[k] : a->stride[k]) * loop->dim[k];
        if (reach > limit)
            return true;
    }
    return places > limit;
}

static const char *raw_type_of(const struct loop *loop)
{
    bool is_copy = loop->n_instructions == 0 && loop->n_reduced == 0;
    for (int i = 1; is_copy && i < loop->n_operands + loop->n_results; i++)
        is_copy = access_at(loop, i)->dtype == access_at(loop, 0)->dtype;
    return is_copy && loop->n_operands ? kernel_type_of(loop->operands[0].dtype) : NULL;
}

// --- the scope -------------------------------------------------------------------------------------------------------

bool loop_values_init(struct loop_values *v, struct kernel_text *k, const struct loop *loop, struct arena *arena)
{
    int n = loop->n_operands + loop->n_results;
    *v = (struct loop_values){.k = k, .loop = loop, .raw_type = raw_type_of(loop)};
    v->pointers = arena_array(arena, int, n + 1);
    v->n_names = loop->n_operands + loop->n_instructions;
    v->names = arena_array(arena, int, v->n_names + 1);
    for (int i = 0; i < n; i++) {
        const struct loop_access *a = access_at(loop, i);
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
    for (int i = 0; i < v->n_names; i++)
        v->names[i] = -1;
}

static int *name_of(struct loop_values *v, uint16_t value)
{
    bool is_instruction = value & VALUE_OF_INSTRUCTION;
    return &v->names[is_instruction ? v->loop->n_operands + (value & ~VALUE_OF_INSTRUCTION) : value];
}

void loop_values_bind(struct loop_values *v, uint16_t value, int name)
{
    *name_of(v, value) = name;
}

const char *loop_values_type(const struct loop_values *v)
{
    return v->raw_type ? v->raw_type : "real";
}

// --- text ------------------------------------------------------------------------------------------------------------

// "0 + i0 * 3 + i1"
static void add_place(const struct loop_values *v, struct text *out, int access)
{
    text_add(out, "0");
    for (int i = 0; i < v->n_nests; i++)
        nest_add_offset(v->nests[i], out, access);
}

void loop_values_load(const struct loop_values *v, struct text *out, int operand)
{
    struct text place = {0};
    add_place(v, &place, operand);
    if (v->raw_type)
        text_printf(out, "a%d[%s]", v->pointers[operand], place.chars);
    else
        kernel_add_load(out, v->pointers[operand], v->loop->operands[operand].dtype, place.chars);
    text_free(&place);
}

static void add_instruction(struct loop_values *v, const struct instruction *i, struct text *out)
{
    char operands[3][24] = {"", "", ""};
    const uint16_t values[] = {i->a, i->b, i->c};
    if (i->kind == INSTRUCTION_CONSTANT) {
        kernel_add_constant(out, i->constant);
        return;
    }
    for (int n = 0; n < function_arity((enum scalar_function)i->fn); n++)
        snprintf(operands[n], sizeof operands[n], "v%d", loop_values_use(v, values[n]));
    kernel_add_call(v->k, out, (enum scalar_function)i->fn, operands[0], operands[1], operands[2]);
}

int loop_values_use(struct loop_values *v, uint16_t value)
{
    int *name = name_of(v, value);
    if (*name >= 0)
        return *name;
    struct text made = {0};
    if (value & VALUE_OF_INSTRUCTION)
        add_instruction(v, &v->loop->instructions[value & ~VALUE_OF_INSTRUCTION], &made);
    else
        loop_values_load(v, &made, value);
    *name = kernel_new_name(v->k);
    text_printf(&v->k->body, "const %s v%d = %s;\n", loop_values_type(v), *name, made.chars);
    text_free(&made);
    return *name;
}

void loop_values_store(struct loop_values *v)
{
    const struct loop *loop = v->loop;
    for (int i = 0; i < loop->n_results; i++)
        loop_values_use(v, loop->results[i].value);
    for (int i = 0; i < loop->n_results; i++) {
        struct text place = {0};
        char value[24];
        int pointer = v->pointers[loop->n_operands + i];
        add_place(v, &place, loop->n_operands + i);
        snprintf(value, sizeof value, "v%d", *name_of(v, loop->results[i].value));
        if (v->raw_type)
            text_printf(&v->k->body, "a%d[%s] = %s;\n", pointer, place.chars, value);
        else
            kernel_add_store(&v->k->body, v->k, pointer, loop->results[i].to.dtype, place.chars, value);
        text_free(&place);
    }
}
