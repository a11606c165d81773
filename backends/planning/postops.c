// Curves from the result back to operand 0: each step takes a curve, or an operation, off the end of the expression.
#include "backends/planning/postops.h"

#include "backends/planning/loop_builder.h"
#include <math.h>

struct epilogue_reading {
    const struct loop *loop;
    int channel_axis;
};

static const struct instruction *instruction_of(const struct loop *l, uint16_t value)
{
    return value & VALUE_OF_INSTRUCTION ? &l->instructions[value & ~VALUE_OF_INSTRUCTION] : NULL;
}

static bool is_constant(const struct loop *l, uint16_t value, float *ret_value)
{
    const struct instruction *i = instruction_of(l, value);
    if (!i || i->kind != INSTRUCTION_CONSTANT)
        return false;
    *ret_value = (float)i->constant;
    return true;
}

static const struct instruction *application_of(const struct loop *l, uint16_t value, enum scalar_function fn)
{
    const struct instruction *i = instruction_of(l, value);
    return i && i->kind == INSTRUCTION_APPLY && i->fn == fn ? i : NULL;
}

// --- curves ----------------------------------------------------------------------------------------------------------

// Terms of a curve, each function before its operands: functions, then one of these.
enum {
    INPUT = FN_COUNT,
    ALPHA,   // from here on constants; parameters first
    BETA,
    INVERSE_OF_ALPHA,
    OPPOSITE_OF_BETA,
    ZERO,
    HALF,
    ONE,
    SIX,
    ROOT_OF_HALF,
    ROOT_OF_2_BY_PI,
    BEND_OF_GELU,
};
static const double numbers[] = {[ZERO] = 0,
                                 [HALF] = 0.5,
                                 [ONE] = 1,
                                 [SIX] = 6,
                                 [ROOT_OF_HALF] = 0.70710678118654752440,
                                 [ROOT_OF_2_BY_PI] = 0.79788456080286535588,
                                 [BEND_OF_GELU] = 0.044715};

// The longest come first, as they are made of others.
static const struct curve {
    enum postop_kind kind;
    float alpha;   // where no term gives it
    uint8_t terms[20];
} curves[] = {
    {POSTOP_GELU_ERF, 0, {FN_MUL, FN_MUL, HALF, INPUT, FN_ADD, ONE, FN_ERF, FN_MUL, ROOT_OF_HALF, INPUT}},
    {POSTOP_GELU_TANH,
     0,
     {FN_MUL, FN_MUL, HALF, INPUT, FN_ADD, ONE, FN_TANH, FN_MUL, ROOT_OF_2_BY_PI, FN_ADD, INPUT, FN_MUL, BEND_OF_GELU,
      FN_MUL, INPUT, FN_MUL, INPUT, INPUT}},
    {POSTOP_SILU, 0, {FN_MUL, FN_SIGMOID, INPUT, INPUT}},
    {POSTOP_HARDSWISH, 0, {FN_MUL, FN_MAX, ZERO, FN_MIN, ONE, FN_ADD, HALF, FN_DIV, INPUT, SIX, INPUT}},
    {POSTOP_HARDSWISH, 0, {FN_MUL, FN_MIN, ONE, FN_MAX, ZERO, FN_ADD, HALF, FN_DIV, INPUT, SIX, INPUT}},
    {POSTOP_CLIP, 0, {FN_MAX, ALPHA, FN_MIN, BETA, INPUT}},
    {POSTOP_CLIP, 0, {FN_MIN, BETA, FN_MAX, ALPHA, INPUT}},
    {POSTOP_LINEAR, 1, {FN_ADD, BETA, INPUT}},
    {POSTOP_LINEAR, 1, {FN_MUL, ALPHA, INPUT}},
    {POSTOP_LINEAR, 1, {FN_SUB, INPUT, OPPOSITE_OF_BETA}},
    {POSTOP_LINEAR, 1, {FN_DIV, INPUT, INVERSE_OF_ALPHA}},
    {POSTOP_LINEAR, -1, {FN_NEG, INPUT}},
    {POSTOP_RELU, 0, {FN_RELU, INPUT}},
    {POSTOP_SIGMOID, 0, {FN_SIGMOID, INPUT}},
    {POSTOP_TANH, 0, {FN_TANH, INPUT}},
    {POSTOP_ABS, 0, {FN_ABS, INPUT}},
    {POSTOP_SQRT, 0, {FN_SQRT, INPUT}},
    {POSTOP_EXP, 0, {FN_EXP, INPUT}},
};

struct matching {
    const struct loop *loop;
    bool has_input;
    uint16_t input;
    float alpha, beta;
};

// Numbers that floats have are met exactly, others to six digits.
static bool match_constant(struct matching *m, float constant, uint8_t term)
{
    if (term == ALPHA || term == INVERSE_OF_ALPHA)
        m->alpha = term == ALPHA ? constant : 1 / constant;
    else if (term == BETA || term == OPPOSITE_OF_BETA)
        m->beta = term == BETA ? constant : -constant;
    else
        return fabs((double)constant - numbers[term]) <= ((double)(float)numbers[term] == numbers[term] ? 0 : 1e-6);
    return true;
}

// The terms behind those that the value has; NULL: it is something else.
static const uint8_t *match(struct matching *m, uint16_t value, const uint8_t *terms);

static const uint8_t *match_both(struct matching *m, uint16_t first, uint16_t second, const uint8_t *terms)
{
    const uint8_t *rest = match(m, first, terms);
    return rest ? match(m, second, rest) : NULL;
}

static const uint8_t *match_function(struct matching *m, uint16_t value, const uint8_t *terms)
{
    const struct instruction *i = application_of(m->loop, value, (enum scalar_function)terms[0]);
    struct matching before = *m;
    if (!i || function_arity((enum scalar_function)terms[0]) == 1)
        return i ? match(m, i->a, terms + 1) : NULL;
    const uint8_t *rest = match_both(m, i->a, i->b, terms + 1);
    if (rest || !instruction_commutes(i))
        return rest;
    *m = before;
    return match_both(m, i->b, i->a, terms + 1);
}

static const uint8_t *match(struct matching *m, uint16_t value, const uint8_t *terms)
{
    float constant;
    if (terms[0] < INPUT)
        return match_function(m, value, terms);
    if (terms[0] != INPUT)
        return is_constant(m->loop, value, &constant) && match_constant(m, constant, terms[0]) ? terms + 1 : NULL;
    bool is_input = !m->has_input || m->input == value;
    m->has_input = true;
    m->input = value;
    return is_input ? terms + 1 : NULL;
}

static bool is_curve(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        struct matching m = {.loop = l, .alpha = curves[i].alpha};
        if (!match(&m, value, curves[i].terms) || (curves[i].kind == POSTOP_CLIP && !(m.alpha <= m.beta)))
            continue;
        *ret_op = (struct postop){.kind = curves[i].kind, .alpha = m.alpha, .beta = m.beta};
        *ret_x = m.input;
        return true;
    }
    return false;
}

// --- operands --------------------------------------------------------------------------------------------------------

// The stride that the axis would have if the tensor had no gaps, its axes in the same order.
static int64_t dense_stride(const struct loop *l, const struct loop_access *a, int axis)
{
    return PRODUCT_ALL(int64_t, int, i, l->rank, a->stride[i] < a->stride[axis] ? l->dim[i] : 1);
}

static enum postop_operand shape_of_operand(const struct epilogue_reading *r, int number)
{
    const struct loop_access *a = &r->loop->operands[number], *result = &r->loop->results[0].to;
    bool is_scalar = true, is_channel = true, is_full = true, is_dense = !a->block && !result->block;
    if (a->dtype != result->dtype)
        return OPERAND_NONE;
    for (int i = 0; i < r->loop->rank; i++) {
        if (r->loop->dim[i] == 1)
            continue;
        is_scalar = is_scalar && a->stride[i] == 0;
        is_channel = is_channel && a->stride[i] == (i == r->channel_axis);
        is_full = is_full && a->stride[i] == result->stride[i];
        is_dense = is_dense && a->stride[i] == dense_stride(r->loop, result, i);
    }
    is_channel = is_channel && !a->block;
    is_full = is_dense || (is_full && a->block == result->block && a->block_variable == result->block_variable);
    return is_scalar ? OPERAND_SCALAR : is_channel ? OPERAND_CHANNEL : is_full ? OPERAND_FULL : OPERAND_NONE;
}

static bool is_with_operand(const struct epilogue_reading *r, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    static const struct {
        enum scalar_function fn;
        enum postop_kind kind;
        bool commutes;
    } functions[] = {{FN_ADD, POSTOP_ADD, true},  {FN_SUB, POSTOP_SUB, false}, {FN_MUL, POSTOP_MUL, true},
                     {FN_DIV, POSTOP_DIV, false}, {FN_MAX, POSTOP_MAX, true},  {FN_MIN, POSTOP_MIN, true}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct instruction *at = application_of(r->loop, value, functions[i].fn);
        if (!at)
            continue;
        bool is_second = !(at->b & VALUE_OF_INSTRUCTION) && at->b != 0;
        bool is_first = functions[i].commutes && !(at->a & VALUE_OF_INSTRUCTION) && at->a != 0;
        if (!is_second && !is_first)
            return false;
        int number = is_second ? at->b : at->a;
        *ret_x = is_second ? at->a : at->b;
        *ret_op = (struct postop){
            .kind = functions[i].kind, .operand = shape_of_operand(r, number), .operand_number = number};
        return ret_op->operand != OPERAND_NONE;
    }
    return false;
}

// --- the chain -------------------------------------------------------------------------------------------------------

bool postops_from_epilogue(const struct loop *epilogue, int channel_axis, struct postops *ret_ops)
{
    struct postops reversed = {.n = 0};
    struct epilogue_reading r = {epilogue, channel_axis};
    uint16_t value = epilogue->results[0].value;
    while (value != 0) {
        struct postop *op = &reversed.items[reversed.n];
        if (reversed.n++ == POSTOPS_MAX ||
            !(is_curve(epilogue, value, op, &value) || is_with_operand(&r, value, op, &value)))
            return false;
    }
    ret_ops->n = reversed.n;
    ret_ops->channel_axis = channel_axis;
    for (int i = 0; i < reversed.n; i++)
        ret_ops->items[i] = reversed.items[reversed.n - 1 - i];
    return true;
}
