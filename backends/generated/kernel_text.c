// The text of a kernel as it grows: parameters, constants, loads, calls and stores, each value by a name of its own.
#include "backends/generated/kernel_text.h"

#include <math.h>
#include <string.h>

extern const char kernel_common[];   // common.cuh

// --- scalar functions ------------------------------------------------------------------------------------------------

// The same expressions as everywhere, as text; whole numbers have their own, and go through double where they have not.
static const struct function_text {
    const char *reals, *integers;
} functions[FN_COUNT] = {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside)                                    \
    [FN_##enumerator].reals = #c_expression,
#include "expressions/functions.def"
#undef FUNCTION
#define INTEGER_FUNCTION(enumerator, c_expression) [FN_##enumerator].integers = #c_expression,
#include "expressions/integer_functions.def"
#undef INTEGER_FUNCTION
};

void kernel_use_function(struct kernel_text *k, enum scalar_function fn)
{
    k->functions |= (uint64_t)1 << fn;
}

void kernel_add_call(struct text *out, enum scalar_function fn, char operands[3][VALUE_NAME_SIZE])
{
    text_printf(out, "f_%s(", function_name(fn));
    for (int i = 0; i < function_arity(fn); i++)
        text_printf(out, "%s%s", i ? ", " : "", operands[i]);
    text_add(out, ")");
}

static void add_value(struct text *text, const struct loop *l, const struct instruction *i)
{
    char operands[3][VALUE_NAME_SIZE];
    const uint16_t values[] = {i->a, i->b, i->c};
    for (int n = 0; n < 3; n++)
        loop_text_name(values[n], operands[n]);
    if (i->kind == INSTRUCTION_CONSTANT)
        kernel_add_constant(text, i->constant);
    else
        kernel_add_call(text, (enum scalar_function)i->fn, operands);
}

const struct dialect kernel_dialect = {"real", add_value};

static void add_parameters(struct text *out, const char *type, int arity)
{
    for (int i = 0; i < arity; i++)
        text_printf(out, "%s%s %c", i ? ", " : "", type, 'a' + i);
}

static void add_function(struct text *out, enum scalar_function fn, enum real_kind real)
{
    int arity = function_arity(fn);
    const struct function_text *f = &functions[fn];
    if (real == REAL_I64 && !f->integers) {
        text_printf(out, "static DEVICE double d_%s(", function_name(fn));
        add_parameters(out, "double", arity);
        text_printf(out, ") { return %s; }\n", f->reals);
    }
    text_printf(out, "static DEVICE real f_%s(", function_name(fn));
    add_parameters(out, "real", arity);
    if (real != REAL_I64 || f->integers)
        text_printf(out, ") { return (real)(%s); }\n", real == REAL_I64 ? f->integers : f->reals);
    else
        text_printf(out, ") { return saturated(d_%s(%s), INT64_LOWEST, INT64_HIGHEST); }\n", function_name(fn),
                    arity == 1   ? "(double)a"
                    : arity == 2 ? "(double)a, (double)b"
                                 : "(double)a, (double)b, (double)c");
}

void kernel_add_constant(struct text *out, double value)
{
    if (isnan(value))
        text_add(out, "(INFINITE - INFINITE)");
    else if (isinf(value))
        text_add(out, value < 0 ? "(-INFINITE)" : "INFINITE");
    else
        text_printf(out, "(real)%.17g", value);
}

void kernel_add_identity(struct kernel_text *k, struct text *out, enum scalar_function fn)
{
    bool is_whole = k->real == REAL_I64;
    const char *text = fn == FN_ADD   ? "(real)0"
                       : fn == FN_MUL ? "(real)1"
                       : fn == FN_MAX ? (is_whole ? "INT64_LOWEST" : "(-INFINITE)")
                                      : (is_whole ? "INT64_HIGHEST" : "INFINITE");
    text_add(out, text);
}

// --- elements --------------------------------------------------------------------------------------------------------

// How an element x becomes a real, and a real r an element where it is not a cast.
static const struct element_text {
    const char *type, *load, *store, *low, *high;
} elements[DTYPE_COUNT] = {
    [DTYPE_F32] = {"float", "(real)(%s)", "(float)(%s)", NULL, NULL},
    [DTYPE_F64] = {"double", "(real)(%s)", "(double)(%s)", NULL, NULL},
    [DTYPE_F16] = {"uint16_t", "half_to_real(%s)", "half_from_real(%s)", NULL, NULL},
    [DTYPE_BF16] = {"uint16_t", "bfloat_to_real(%s)", "bfloat_from_real(%s)", NULL, NULL},
    [DTYPE_BOOL] = {"uint8_t", "(real)((%s) != 0)", "(uint8_t)((%s) != 0)", NULL, NULL},
    [DTYPE_U8] = {"uint8_t", "(real)(%s)", NULL, "0", "255"},
    [DTYPE_I8] = {"int8_t", "(real)(%s)", NULL, "-128", "127"},
    [DTYPE_U16] = {"uint16_t", "(real)(%s)", NULL, "0", "65535"},
    [DTYPE_I16] = {"int16_t", "(real)(%s)", NULL, "-32768", "32767"},
    [DTYPE_U32] = {"uint32_t", "(real)(%s)", NULL, "0", "4294967295"},
    [DTYPE_I32] = {"int32_t", "(real)(%s)", NULL, "-2147483648ll", "2147483647"},
    [DTYPE_U64] = {"uint64_t", "(real)(%s)", "saturated_u64(%s)", NULL, NULL},
    [DTYPE_I64] = {"int64_t", "(real)(%s)", NULL, "INT64_LOWEST", "INT64_HIGHEST"},
    [DTYPE_C64] = {"uint64_t", NULL, NULL, NULL, NULL},
    [DTYPE_C128] = {"struct two_words", NULL, NULL, NULL, NULL},
};

const char *kernel_type_of(enum dtype dtype)
{
    return elements[dtype].type;
}

static void add_around(struct text *out, const char *format, const char *middle)
{
    const char *at = strstr(format, "%s");
    text_add_n(out, format, (size_t)(at - format));
    text_add(out, middle);
    text_add(out, at + 2);
}

void kernel_add_load(struct text *out, int pointer, enum dtype dtype, const char *place)
{
    TEXT(element);
    text_printf(&element, "a%d[%s]", pointer, place);
    add_around(out, elements[dtype].load, element.chars);
}

void kernel_add_store(struct text *out, const struct kernel_text *k, int pointer, enum dtype dtype, const char *place,
                      const char *value)
{
    const struct element_text *e = &elements[dtype];
    text_printf(out, "a%d[%s] = ", pointer, place);
    if (k->real == REAL_I64 && e->low)
        text_printf(out, "(%s)(%s)", e->type, value);
    else if (k->real == REAL_I64 && dtype == DTYPE_U64)
        text_printf(out, "(uint64_t)(%s)", value);
    else if (e->low)
        text_printf(out, "(%s)saturated((double)(%s), %s, %s)", e->type, value, e->low, e->high);
    else
        add_around(out, e->store, value);
    text_add(out, ";\n");
}

// --- the whole -------------------------------------------------------------------------------------------------------

bool kernel_add_pointer(struct kernel_text *k, struct kernel_pointer pointer, int *ret_number)
{
    for (int i = 0; i < k->n_pointers; i++) {
        struct kernel_pointer *known = &k->pointers[i];
        if (known->memory != pointer.memory || known->dtype != pointer.dtype || known->offset != pointer.offset)
            continue;
        known->is_written = known->is_written || pointer.is_written;
        *ret_number = i;
        return true;
    }
    if (k->n_pointers == KERNEL_MAX_POINTERS)
        return false;
    k->pointers[k->n_pointers] = pointer;
    *ret_number = k->n_pointers++;
    return true;
}

// An array that is only read, and stands in memory that the kernel does not write, cannot change under it.
static bool is_alone(const struct kernel_text *k, int pointer)
{
    return !ANY(int, i, k->n_pointers,
                i != pointer && k->pointers[i].memory == k->pointers[pointer].memory &&
                    (k->pointers[i].is_written || k->pointers[pointer].is_written));
}

static void add_pointers(const struct kernel_text *k, struct text *out)
{
    for (int i = 0; i < k->n_pointers; i++) {
        const struct kernel_pointer *p = &k->pointers[i];
        text_printf(out, "%s%s%s *%sa%d", i ? ", " : "", p->is_written ? "" : "const ", kernel_type_of(p->dtype),
                    is_alone(k, i) ? "RESTRICT " : "", i);
    }
}

void kernel_text_finish(const struct kernel_text *k, const char *prelude, struct text *out)
{
    static const char *const reals[] = {"float", "double", "long long"};
    text_printf(out, "#define BLOCK %d\ntypedef %s real;\ntypedef %s index;\n", k->threads, reals[k->real],
                k->has_wide_index ? "long long" : "int");
    text_add(out, prelude);
    text_add(out, kernel_common);
    for (int fn = 0; fn < FN_COUNT; fn++)
        if (k->functions >> fn & 1)
            add_function(out, (enum scalar_function)fn, k->real);
    text_add(out, "KERNEL((");
    add_pointers(k, out);
    text_add(out, "))\n{\nconst index block = BLOCK_NUMBER, n_blocks = BLOCK_COUNT;\n");
    text_add(out, k->body.chars ? k->body.chars : "");
    text_add(out, "}\nENTRY((");
    for (int i = 0; i < k->n_pointers; i++)
        text_printf(out, "%s(%s%s *)addresses[%d]", i ? ", " : "", k->pointers[i].is_written ? "" : "const ",
                    kernel_type_of(k->pointers[i].dtype), i);
    text_add(out, "))\n");
}

void kernel_text_free(struct kernel_text *k)
{
    text_free(&k->body);
}
