// From the result back to operand 0: each step takes one pattern off the end of the expression.
#include "backends/planning/postops.h"

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

static bool is_close(const struct loop *l, uint16_t value, double wanted)
{
    float constant;
    return is_constant(l, value, &constant) && fabs((double)constant - wanted) <= 1e-6 * fabs(wanted);
}

static const struct instruction *application_of(const struct loop *l, uint16_t value, enum scalar_function fn)
{
    const struct instruction *i = instruction_of(l, value);
    return i && i->kind == INSTRUCTION_APPLY && i->fn == fn ? i : NULL;
}

// fn(constant, x) or fn(x, constant), for commutative functions.
static bool is_with_constant(const struct loop *l, uint16_t value, enum scalar_function fn, float *ret_constant,
                             uint16_t *ret_x)
{
    const struct instruction *i = application_of(l, value, fn);
    if (!i)
        return false;
    if (is_constant(l, i->a, ret_constant)) {
        *ret_x = i->b;
        return true;
    }
    *ret_x = i->a;
    return is_constant(l, i->b, ret_constant);
}

static bool is_times(const struct loop *l, uint16_t value, double factor, uint16_t *ret_x)
{
    float constant;
    return is_with_constant(l, value, FN_MUL, &constant, ret_x) && fabs((double)constant - factor) < 1e-6;
}

// --- patterns: each gives the value before it and what it is ---------------------------------------------------------

// factor * x times constant + y, in either order.
static bool has_factors(const struct loop *l, const struct instruction *product, double factor, uint16_t *ret_x,
                        float *ret_constant, uint16_t *ret_y)
{
    return (is_times(l, product->a, factor, ret_x) && is_with_constant(l, product->b, FN_ADD, ret_constant, ret_y)) ||
           (is_times(l, product->b, factor, ret_x) && is_with_constant(l, product->a, FN_ADD, ret_constant, ret_y));
}

// The other one of two operands, where one is x.
static bool has_operand(const struct instruction *i, uint16_t x, uint16_t *ret_other)
{
    *ret_other = i->a == x ? i->b : i->a;
    return i->a == x || i->b == x;
}

// (1/2 x) * (erf(sqrt(1/2) x) + 1)
static bool is_gelu(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    const struct instruction *product = application_of(l, value, FN_MUL);
    float one;
    uint16_t bend, x, y, inner;
    if (!product || !has_factors(l, product, 0.5, &x, &one, &bend) || one != 1)
        return false;
    const struct instruction *erf = application_of(l, bend, FN_ERF), *tanh = application_of(l, bend, FN_TANH);
    if (erf && is_times(l, erf->a, 0.70710678118654752440, &y) && x == y) {
        *ret_op = (struct postop){.kind = POSTOP_GELU_ERF};
    } else if (tanh && is_times(l, tanh->a, 0.79788456080286535588, &inner)) {
        const struct instruction *sum = application_of(l, inner, FN_ADD);
        uint16_t bent, cube, squared;
        if (!sum || !has_operand(sum, x, &bent) || !is_times(l, bent, 0.044715, &cube))
            return false;
        const struct instruction *outer = application_of(l, cube, FN_MUL);
        if (!outer || !has_operand(outer, x, &squared))
            return false;
        const struct instruction *square = application_of(l, squared, FN_MUL);
        if (!square || square->a != x || square->b != x)
            return false;
        *ret_op = (struct postop){.kind = POSTOP_GELU_TANH};
    } else {
        return false;
    }
    *ret_x = x;
    return true;
}

static bool is_silu(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    const struct instruction *product = application_of(l, value, FN_MUL);
    for (int k = 0; product && k < 2; k++) {
        uint16_t x = k ? product->b : product->a, other = k ? product->a : product->b;
        const struct instruction *sigmoid = application_of(l, other, FN_SIGMOID);
        if (sigmoid && sigmoid->a == x) {
            *ret_x = x;
            *ret_op = (struct postop){.kind = POSTOP_SILU};
            return true;
        }
    }
    return false;
}

// max(min(x, high), low) or min(max(x, low), high)
static bool is_clip(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    float low, high;
    uint16_t inner;
    bool is_found =
        (is_with_constant(l, value, FN_MAX, &low, &inner) && is_with_constant(l, inner, FN_MIN, &high, ret_x)) ||
        (is_with_constant(l, value, FN_MIN, &high, &inner) && is_with_constant(l, inner, FN_MAX, &low, ret_x));
    if (is_found)
        *ret_op = (struct postop){.kind = POSTOP_CLIP, .alpha = low, .beta = high};
    return is_found && low <= high;
}

// x * clip(x / 6 + 1/2, 0, 1)
static bool is_hardswish(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    const struct instruction *product = application_of(l, value, FN_MUL);
    struct postop clip;
    uint16_t sum, sixth;
    float half;
    bool is_second = product && is_clip(l, product->b, &clip, &sum);
    if (!product || (!is_second && !is_clip(l, product->a, &clip, &sum)) || clip.alpha != 0 || clip.beta != 1 ||
        !is_with_constant(l, sum, FN_ADD, &half, &sixth) || half != 0.5f)
        return false;
    const struct instruction *quotient = application_of(l, sixth, FN_DIV);
    uint16_t x = is_second ? product->a : product->b;
    if (!quotient || quotient->a != x || !is_close(l, quotient->b, 6))
        return false;
    *ret_x = x;
    *ret_op = (struct postop){.kind = POSTOP_HARDSWISH};
    return true;
}

static bool is_linear(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    float constant;
    const struct instruction *i = instruction_of(l, value);
    *ret_op = (struct postop){.kind = POSTOP_LINEAR, .alpha = 1};
    if (is_with_constant(l, value, FN_ADD, &ret_op->beta, ret_x) ||
        is_with_constant(l, value, FN_MUL, &ret_op->alpha, ret_x))
        return true;
    ret_op->beta = 0;
    if (!i || i->kind != INSTRUCTION_APPLY || (i->fn != FN_SUB && i->fn != FN_DIV && i->fn != FN_NEG))
        return false;
    *ret_x = i->a;
    if (i->fn == FN_NEG) {
        ret_op->alpha = -1;
        return true;
    }
    if (!is_constant(l, i->b, &constant))
        return false;
    if (i->fn == FN_SUB)
        ret_op->beta = -constant;
    else
        ret_op->alpha = 1 / constant;
    return true;
}

static bool is_curve(const struct loop *l, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    static const struct {
        enum scalar_function fn;
        enum postop_kind kind;
    } curves[] = {{FN_RELU, POSTOP_RELU}, {FN_SIGMOID, POSTOP_SIGMOID}, {FN_TANH, POSTOP_TANH},
                  {FN_ABS, POSTOP_ABS},   {FN_SQRT, POSTOP_SQRT},       {FN_EXP, POSTOP_EXP}};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        const struct instruction *at = application_of(l, value, curves[i].fn);
        if (at) {
            *ret_op = (struct postop){.kind = curves[i].kind};
            *ret_x = at->a;
            return true;
        }
    }
    return false;
}

// --- operands --------------------------------------------------------------------------------------------------------

// The stride that the axis would have if the tensor had no gaps, its axes in the same order.
static int64_t dense_stride(const struct loop *l, const struct loop_access *a, int axis)
{
    int64_t stride = 1;
    for (int i = 0; i < l->rank; i++)
        if (l->dim[i] != 1 && a->stride[i] < a->stride[axis])
            stride *= l->dim[i];
    return stride;
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

static bool take_last(const struct epilogue_reading *r, uint16_t value, struct postop *ret_op, uint16_t *ret_x)
{
    const struct loop *l = r->loop;
    return is_gelu(l, value, ret_op, ret_x) || is_silu(l, value, ret_op, ret_x) ||
           is_hardswish(l, value, ret_op, ret_x) || is_clip(l, value, ret_op, ret_x) ||
           is_linear(l, value, ret_op, ret_x) || is_curve(l, value, ret_op, ret_x) ||
           is_with_operand(r, value, ret_op, ret_x);
}

bool postops_from_epilogue(const struct loop *epilogue, int channel_axis, struct postops *ret_ops)
{
    struct postops reversed = {.n = 0};
    struct epilogue_reading r = {epilogue, channel_axis};
    uint16_t value = epilogue->results[0].value;
    while (value != 0) {
        if (reversed.n == POSTOPS_MAX || !take_last(&r, value, &reversed.items[reversed.n], &value))
            return false;
        reversed.n++;
    }
    ret_ops->n = reversed.n;
    ret_ops->channel_axis = channel_axis;
    for (int i = 0; i < reversed.n; i++)
        ret_ops->items[i] = reversed.items[reversed.n - 1 - i];
    return true;
}
