// Element-wise operators that are a formula of scalar functions rather than one of them: gelu, silu, hardswish, clip
// and so on. Formulas are written without overflow for large arguments, and with relu rather than comparisons, so that
// they mean something in every domain of evaluation.
#include "operators/operator.h"
#include <math.h>

// The first and second attribute of those that have any.
enum { FIRST, SECOND };
enum { APPROXIMATE_NONE, APPROXIMATE_TANH };
static const char *const approximate_names[] = {"none", "tanh", NULL};

typedef expr curve(struct definition *d, const struct operator_call *call, expr x);

// --- formulas --------------------------------------------------------------------------------------------------------

static expr plus(struct definition *d, expr a, double b)
{
    return scalar_add(d, a, scalar_real(d, b));
}

static expr times(struct definition *d, double a, expr b)
{
    return scalar_mul(d, scalar_real(d, a), b);
}

static expr relu(struct definition *d, expr a)
{
    return scalar_unary(d, FN_RELU, a);
}

// min(x, 0)
static expr negative_part(struct definition *d, expr x)
{
    return scalar_unary(d, FN_NEG, relu(d, scalar_unary(d, FN_NEG, x)));
}

static expr exp_minus_one(struct definition *d, expr x)
{
    return plus(d, scalar_unary(d, FN_EXP, x), -1);
}

static expr between_0_and_1(struct definition *d, expr x)
{
    expr most = scalar_apply(d, FN_MIN, x, scalar_real(d, 1), 0);
    return scalar_apply(d, FN_MAX, most, scalar_real(d, 0), 0);
}

// x / 2 * (1 + erf(x / sqrt(2))), or with erf(x / sqrt(2)) approximated by tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))
static expr gelu(struct definition *d, const struct operator_call *call, expr x)
{
    const double root_of_half = 0.70710678118654752440, root_of_2_by_pi = 0.79788456080286535588;
    expr bend;
    if (call_int(call, FIRST) == APPROXIMATE_NONE)
        bend = scalar_unary(d, FN_ERF, times(d, root_of_half, x));
    else {
        expr cube = scalar_mul(d, x, scalar_mul(d, x, x));
        expr inner = scalar_add(d, x, times(d, 0.044715, cube));
        bend = scalar_unary(d, FN_TANH, times(d, root_of_2_by_pi, inner));
    }
    return scalar_mul(d, times(d, 0.5, x), plus(d, bend, 1));
}

static expr silu(struct definition *d, const struct operator_call *call, expr x)
{
    return scalar_mul(d, x, scalar_unary(d, FN_SIGMOID, x));
}

static expr hardsigmoid(struct definition *d, const struct operator_call *call, expr x)
{
    return between_0_and_1(d, plus(d, times(d, call_real(call, FIRST), x), call_real(call, SECOND)));
}

static expr hardswish(struct definition *d, const struct operator_call *call, expr x)
{
    expr sixth = scalar_div(d, x, scalar_real(d, 6));
    return scalar_mul(d, x, between_0_and_1(d, plus(d, sixth, 0.5)));
}

static expr leakyrelu(struct definition *d, const struct operator_call *call, expr x)
{
    return scalar_add(d, relu(d, x), times(d, call_real(call, FIRST), negative_part(d, x)));
}

static expr elu(struct definition *d, const struct operator_call *call, expr x)
{
    expr below = times(d, call_real(call, FIRST), exp_minus_one(d, negative_part(d, x)));
    return scalar_add(d, relu(d, x), below);
}

static expr selu(struct definition *d, const struct operator_call *call, expr x)
{
    return times(d, call_real(call, SECOND), elu(d, call, x));
}

static expr celu(struct definition *d, const struct operator_call *call, expr x)
{
    expr alpha = scalar_real(d, call_real(call, FIRST));
    expr below = scalar_mul(d, alpha, exp_minus_one(d, scalar_div(d, negative_part(d, x), alpha)));
    return scalar_add(d, relu(d, x), below);
}

static expr thresholdedrelu(struct definition *d, const struct operator_call *call, expr x)
{
    expr is_above = scalar_apply(d, FN_LESS, scalar_real(d, call_real(call, FIRST)), x, 0);
    return scalar_apply(d, FN_WHERE, is_above, x, scalar_real(d, 0));
}

// x + bias below -lambda, x - bias above lambda, else 0
static expr shrink(struct definition *d, const struct operator_call *call, expr x)
{
    double bias = call_real(call, FIRST), lambda = call_real(call, SECOND);
    expr is_below = scalar_apply(d, FN_LESS, x, scalar_real(d, -lambda), 0);
    expr is_above = scalar_apply(d, FN_LESS, scalar_real(d, lambda), x, 0);
    expr upper = scalar_apply(d, FN_WHERE, is_above, plus(d, x, -bias), scalar_real(d, 0));
    return scalar_apply(d, FN_WHERE, is_below, plus(d, x, bias), upper);
}

// log(1 + exp(x))
static expr softplus(struct definition *d, const struct operator_call *call, expr x)
{
    expr from_zero = scalar_unary(d, FN_NEG, scalar_unary(d, FN_ABS, x));
    return scalar_add(d, relu(d, x), scalar_unary(d, FN_LOG1P, scalar_unary(d, FN_EXP, from_zero)));
}

static expr softsign(struct definition *d, const struct operator_call *call, expr x)
{
    return scalar_div(d, x, plus(d, scalar_unary(d, FN_ABS, x), 1));
}

static expr mish(struct definition *d, const struct operator_call *call, expr x)
{
    return scalar_mul(d, x, scalar_unary(d, FN_TANH, softplus(d, call, x)));
}

static expr clip(struct definition *d, const struct operator_call *call, expr x)
{
    double least = call_real(call, FIRST), most = call_real(call, SECOND);
    if (least != -INFINITY)
        x = scalar_apply(d, FN_MAX, scalar_real(d, least), x, 0);
    if (most != INFINITY)
        x = scalar_apply(d, FN_MIN, scalar_real(d, most), x, 0);
    return x;
}

// --- operators -------------------------------------------------------------------------------------------------------

static bool define_curve(struct definition *d, const struct operator_call *call, curve *formula)
{
    const struct type *x = &call->inputs[0];
    for (int i = 0; i < operator_n_attributes(call->op); i++)
        if (call->op->attributes[i].kind == ATTRIBUTE_REAL && isnan(call_real(call, i)))
            return refuse(d, "attribute %s of %s is no number", call->op->attributes[i].name, call->op->name);
    if (!dtype_is_float(x->dtype) && !(call->op->id == OP_CLIP && dtype_is_integer(x->dtype)))
        return refuse(d, "%s needs a floating-point tensor", call->op->name);
    int z = output_add(d, x->dtype, x->rank, x->dim);
    stage_set_body(d, z, formula(d, call, scalar_read_same(d, 0, z)));
    return true;
}

#define REAL_ATTRIBUTE(label, value)                                                                                   \
    {                                                                                                                  \
        .name = label, .kind = ATTRIBUTE_REAL, .standard_real = value                                                  \
    }

#define CURVE(enumerator, label, onnx_name, text, ...)                                                                 \
    static bool define_##label(struct definition *d, const struct operator_call *call)                                 \
    {                                                                                                                  \
        return define_curve(d, call, label);                                                                           \
    }                                                                                                                  \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = text,                                                                                               \
        .min_inputs = 1,                                                                                               \
        .flags = OPERATOR_IS_ELEMENTWISE,                                                                              \
        .attributes = {__VA_ARGS__},                                                                                   \
        .define = define_##label,                                                                                      \
    };
#define NO_ATTRIBUTES                                                                                                  \
    {                                                                                                                  \
        0                                                                                                              \
    }
CURVE(GELU, gelu, "Gelu", "x times the normal distribution function of x",
      {.name = "approximate", .kind = ATTRIBUTE_CHOICE, .choices = approximate_names})
CURVE(SILU, silu, "Swish", "x * sigmoid(x)", NO_ATTRIBUTES)
CURVE(HARDSIGMOID, hardsigmoid, "HardSigmoid", "alpha * x + beta between 0 and 1", REAL_ATTRIBUTE("alpha", 0.2),
      REAL_ATTRIBUTE("beta", 0.5))
CURVE(HARDSWISH, hardswish, "HardSwish", "x times x / 6 + 1/2 between 0 and 1", NO_ATTRIBUTES)
CURVE(LEAKYRELU, leakyrelu, "LeakyRelu", "x, or alpha * x where x is negative", REAL_ATTRIBUTE("alpha", 0.01))
CURVE(THRESHOLDEDRELU, thresholdedrelu, "ThresholdedRelu", "x where above alpha, else 0", REAL_ATTRIBUTE("alpha", 1))
CURVE(SHRINK, shrink, "Shrink", "x without bias where farther from 0 than lambd, else 0", REAL_ATTRIBUTE("bias", 0),
      REAL_ATTRIBUTE("lambd", 0.5))
CURVE(ELU, elu, "Elu", "x, or alpha * (exp(x) - 1) where x is negative", REAL_ATTRIBUTE("alpha", 1))
CURVE(SELU, selu, "Selu", "gamma times elu", REAL_ATTRIBUTE("alpha", 1.67326319217681884765625),
      REAL_ATTRIBUTE("gamma", 1.05070102214813232421875))
CURVE(CELU, celu, "Celu", "x, or alpha * (exp(x / alpha) - 1) where x is negative", REAL_ATTRIBUTE("alpha", 1))
CURVE(SOFTPLUS, softplus, "Softplus", "log(1 + exp(x))", NO_ATTRIBUTES)
CURVE(SOFTSIGN, softsign, "Softsign", "x / (1 + |x|)", NO_ATTRIBUTES)
CURVE(MISH, mish, "Mish", "x * tanh(softplus(x))", NO_ATTRIBUTES)
CURVE(CLIP, clip, "Clip", "x, at least min and at most max", REAL_ATTRIBUTE("min", -INFINITY),
      REAL_ATTRIBUTE("max", INFINITY))
