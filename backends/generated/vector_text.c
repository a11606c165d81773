// Names of a kernel's text stand as macros at its beginning, so that texts of one unit do not meet.
#include "backends/generated/vector_text.h"

#include "backends/planning/plan.h"
#include "core/text/text.h"
#include <math.h>
#include <stdio.h>

// --- what is written as it is ----------------------------------------------------------------------------------------

static const char head[] =
    "#undef I\n#define I __INT64_TYPE__\n#undef V\n#define V NAMED(vector)\n#undef B\n#define B NAMED(bits)\n"
    "typedef float V __attribute__((vector_size(4 * LANES)));\n"
    "typedef int B __attribute__((vector_size(4 * LANES)));\n"
    "typedef float NAMED(anywhere) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));\n"
    "#undef SELECT\n#define SELECT(m, a, b) ((V)(((m) & (B)(a)) | (~(m) & (B)(b))))\n"
    "#undef ALL\n#define ALL(x) ((V){0} + (x))\n"
    "static inline V NAMED(load)(const float *p)\n{\nreturn *(const NAMED(anywhere) *)p;\n}\n"
    "static inline V NAMED(load_some)(const float *p, I left)\n{\nV v = {0};\n"
    "for (I i = 0; i < left; i++)\nv[i] = p[i];\nreturn v;\n}\n"
    "static inline void NAMED(store)(float *p, V v)\n{\n*(NAMED(anywhere) *)p = v;\n}\n"
    "static inline void NAMED(store_some)(float *p, V v, I left)\n{\n"
    "for (I i = 0; i < left; i++)\np[i] = v[i];\n}\n"
    "static inline V NAMED(first)(V v, I left, float rest)\n{\n"
    "for (I i = left; i < LANES; i++)\nv[i] = rest;\nreturn v;\n}\n"
    "static inline V NAMED(max)(V a, V b)\n{\nreturn SELECT((a > b) | (a != a), a, b);\n}\n"
    "static inline V NAMED(min)(V a, V b)\n{\nreturn SELECT((a < b) | (a != a), a, b);\n}\n"
    "#undef EXTREME\n#undef IN_REGISTER\n"
    "#if defined __AVX512F__ || (defined __AVX__ && LANES <= 8)\n"
    "#define EXTREME(order, word, a, b) V r; __asm__(\"v\" word \"ps %1, %2, %0\" : \"=v\"(r) : \"v\"(a), \"v\"(b))\n"
    "#define IN_REGISTER(a) __asm__(\"\" : \"+v\"(a))\n"
    "#else\n#define EXTREME(order, word, a, b) V r = SELECT(a order b, b, a)\n#define IN_REGISTER(a)\n#endif\n"
    "static inline V NAMED(max_number)(V a, V b)\n{\nEXTREME(<, \"max\", a, b);\nreturn r;\n}\n"
    "static inline V NAMED(min_number)(V a, V b)\n{\nEXTREME(>, \"min\", a, b);\nreturn r;\n}\n"
    "static inline V NAMED(relu)(V a)\n{\nreturn NAMED(max_number)(a, (V){0});\n}\n"
    "static inline V NAMED(abs)(V a)\n{\nreturn (V)((B)a & 0x7fffffff);\n}\n"
    "static inline V NAMED(sqrt)(V a)\n{\nfor (int i = 0; i < LANES; i++)\na[i] = __builtin_sqrtf(a[i]);\nreturn "
    "a;\n}\n"
    "static inline V NAMED(split)(V x, float bias, V *rest)\n{\nV t = x * 1.44269504f + (12582912.0f + bias);\n"
    "V n = t - (12582912.0f + bias);\n*rest = (x - n * 0.693145752f) - n * 1.42860677e-6f;\n"
    "return (V)((B)t << 23);\n}\n"
    "static inline V NAMED(short_expm1)(V r)\n{\nV p = r * (1.0f / 5040) + 1.0f / 720;\np = p * r + 1.0f / 120;\n"
    "p = p * r + 1.0f / 24;\np = p * r + 1.0f / 6;\np = p * r + 0.5f;\nreturn p * r * r + r;\n}\n"
    "static inline V NAMED(short_exp)(V r)\n{\nV p = r * (1.0f / 5040) + 1.0f / 720;\np = p * r + 1.0f / 120;\n"
    "p = p * r + 1.0f / 24;\np = p * r + 1.0f / 6;\np = p * r + 0.5f;\np = p * r + 1;\nreturn p * r + 1;\n}\n"
    "static inline V NAMED(exp)(V x)\n{\n"
    "V c = NAMED(max_number)(NAMED(min_number)(x, ALL(89)), ALL(-85.9f)), r;\nV half = NAMED(split)(c, 126, &r);\n"
    "return SELECT(x < -85.9f, (V){0}, NAMED(short_exp)(r) * half * 2);\n}\n"
    "static inline V NAMED(expm1)(V x)\n{\nV r, scale = NAMED(split)(x, 127, &r);\n"
    "return scale * NAMED(short_expm1)(r) + (scale - 1);\n}\n"
    "static inline V NAMED(signed)(V size, V sign)\n{\n"
    "return (V)(((B)size & 0x7fffffff) | ((B)sign & (int)0x80000000));\n}\n"
    "static inline V NAMED(tanh)(V x)\n{\nV a = NAMED(abs)(x), d = NAMED(expm1)(2 * NAMED(min_number)(a, ALL(10)));\n"
    "return SELECT(x != x, x, NAMED(signed)(d / (d + 2), x));\n}\n"
    "static inline V NAMED(sigmoid)(V x)\n{\n"
    "V c = NAMED(max_number)(NAMED(min_number)(x, ALL(87)), ALL(-88)), r;\nV scale = NAMED(split)(-c, 127, &r);\n"
    "return 1 / (1 + NAMED(short_exp)(r) * scale);\n}\n"
    "static inline V NAMED(erf)(V x)\n{\nV a = NAMED(abs)(x), t = NAMED(min_number)(a, ALL(4));\n"
    "V p = t * -9.2573264e-6f + 1.17650430e-4f;\np = p * t - 6.32868323e-4f;\np = p * t + 1.66708289e-3f;\n"
    "p = p * t - 1.60449286e-4f;\np = p * t - 1.91530362e-2f;\np = p * t + 1.02777824e-1f;\n"
    "p = p * t + 6.36619389e-1f;\np = p * t + 1.12837923f;\n"
    "return SELECT(x != x, x, NAMED(signed)(NAMED(expm1)(-p * t), x));\n}\n"
    "static inline V NAMED(sum_all)(V v)\n{\nfor (int n = LANES / 2; n; n /= 2)\nfor (int i = 0; i < n; i++)\n"
    "v[i] += v[i + n];\nreturn ALL(v[0]);\n}\n"
    "static inline V NAMED(max_all)(V v)\n{\nfor (int n = LANES / 2; n; n /= 2)\nfor (int i = 0; i < n; i++)\n"
    "v[i] = v[i] > v[i + n] || v[i] != v[i] ? v[i] : v[i + n];\nreturn ALL(v[0]);\n}\n";

void vector_text_begin(struct text *text, int lanes)
{
    text_printf(text, "#undef LANES\n#define LANES %d\n%s", lanes, head);
}

// --- forms -----------------------------------------------------------------------------------------------------------

static const struct {
    enum scalar_function fn;
    const char *form;   // of values a, b
} forms[] = {
    {FN_ADD, "%s + %s"},
    {FN_SUB, "%s - %s"},
    {FN_MUL, "%s * %s"},
    {FN_DIV, "%s / %s"},
    {FN_MAX, "NAMED(max)(%s, %s)"},
    {FN_MIN, "NAMED(min)(%s, %s)"},
    {FN_NEG, "-%s"},
    {FN_RECIPROCAL, "1.0f / %s"},
    {FN_RELU, "NAMED(relu)(%s)"},
    {FN_SIGMOID, "NAMED(sigmoid)(%s)"},
    {FN_TANH, "NAMED(tanh)(%s)"},
    {FN_EXP, "NAMED(exp)(%s)"},
    {FN_ERF, "NAMED(erf)(%s)"},
    {FN_ABS, "NAMED(abs)(%s)"},
    {FN_SQRT, "NAMED(sqrt)(%s)"},
};

static const char *form_of(uint8_t fn)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].fn == fn)
            return forms[i].form;
    return NULL;
}

bool vector_text_knows(const struct instruction *i)
{
    return i->kind == INSTRUCTION_CONSTANT || (i->kind == INSTRUCTION_APPLY && form_of(i->fn));
}

void vector_text_name(uint16_t value, char ret_name[VECTOR_NAME_SIZE])
{
    bool is_instruction = value & VALUE_OF_INSTRUCTION;
    snprintf(ret_name, VECTOR_NAME_SIZE, "%c%d", is_instruction ? 't' : 'x', value & ~VALUE_OF_INSTRUCTION);
}

// A constant is no NaN: half of the comparisons are not needed.
static const char *form_with(const struct loop *l, const struct instruction *i, uint16_t *a, uint16_t *b)
{
    bool is_extreme = i->fn == FN_MAX || i->fn == FN_MIN;
    const uint16_t values[2] = {i->a, i->b};
    *a = i->a;
    *b = i->b;
    for (int k = 0; is_extreme && k < 2; k++) {
        const struct instruction *of = &l->instructions[values[k] & ~VALUE_OF_INSTRUCTION];
        if (!(values[k] & VALUE_OF_INSTRUCTION) || of->kind != INSTRUCTION_CONSTANT || isnan(of->constant))
            continue;
        *a = values[!k];
        *b = values[k];
        return i->fn == FN_MAX ? "NAMED(max_number)(%s, %s)" : "NAMED(min_number)(%s, %s)";
    }
    return form_of(i->fn);
}

void vector_text_add(struct text *text, const struct loop *l, int number)
{
    const struct instruction *i = &l->instructions[number];
    char a[VECTOR_NAME_SIZE], b[VECTOR_NAME_SIZE];
    uint16_t first, second;
    text_printf(text, "V t%d = ", number);
    if (i->kind == INSTRUCTION_CONSTANT) {
        text_printf(text,
                    isnan(i->constant)   ? "ALL(__builtin_nanf(\"\"));\n"
                    : isinf(i->constant) ? (i->constant > 0 ? "ALL(__builtin_inff());\n" : "ALL(-__builtin_inff());\n")
                                         : "ALL((float)%a);\n",
                    i->constant);
        return;
    }
    const char *form = form_with(l, i, &first, &second);
    vector_text_name(first, a);
    vector_text_name(second, b);
    text_printf(text, form, a, b);
    text_add(text, ";\n");
}
