// Element-wise ONNX operators. ONNX broadcasts by itself; the graph's operators take equal shapes, so broadcasts become
// nodes here.
#include "expressions/elements.h"
#include "onnx/convert/operators/converters.h"
#include "onnx/convert/operators/fold_into_weights.h"
#include "onnx/convert/operators/merge_convs.h"

#include <math.h>

// ONNX's text for one of the operator's choices.
static bool take_choice(struct conversion *c, struct application *a, const struct attribute *attribute)
{
    const char *standard = attribute->choices[attribute->standard];
    for (int i = 0; attribute->choices[i]; i++)
        if (text_attribute_is(c, attribute->name, attribute->choices[i], standard)) {
            set_attributes(c, a, WITH(integer(attribute->name, i)));
            return true;
        }
    return cannot(c, "its %s is not known", attribute->name);
}

static bool take_attribute(struct conversion *c, struct application *a, const struct attribute *attribute)
{
    int axis;
    if (attribute->kind == ATTRIBUTE_CHOICE)
        return take_choice(c, a, attribute);
    if (attribute->role == ROLE_AXIS) {
        if (!normalize_axis(c, int_attribute(c, attribute->name, 0), type_of(c, input_of(c, 0))->rank, &axis))
            return false;
        set_attributes(c, a, WITH(integer(attribute->name, axis)));
    } else if (attribute->kind == ATTRIBUTE_REAL && has_attribute(c, attribute->name))
        set_attributes(c, a, WITH(real(attribute->name, float_attribute(c, attribute->name, 0))));
    else if (attribute->kind == ATTRIBUTE_INT && has_attribute(c, attribute->name))
        set_attributes(c, a, WITH(integer(attribute->name, int_attribute(c, attribute->name, 0))));
    return true;
}

// Attributes have the same names and standard values as in ONNX.
bool convert_plain(struct conversion *c)
{
    struct application a = application_of(c, (enum operator_id)c->parameter);
    return ALL(int, i, operator_n_attributes(a.op), take_attribute(c, &a, &a.op->attributes[i])) &&
           give(c, 0, apply_application(c, &a, (size_t)a.op->min_inputs, c->inputs));
}

bool convert_swish(struct conversion *c)
{
    double alpha = float_attribute(c, "alpha", 1);
    if (alpha == 1)
        return give(c, 0, unary(c, OP_SILU, input_of(c, 0)));
    tensor_id gate = unary(c, OP_SIGMOID, scale_by(c, input_of(c, 0), alpha));
    return give(c, 0, binary(c, OP_EWMUL, input_of(c, 0), gate));
}

// All bits of x are others in -x - 1.
bool convert_bitwise_not(struct conversion *c)
{
    tensor_id x = input_of(c, 0);
    if (!dtype_is_integer(type_of(c, x)->dtype))
        return cannot(c, "its input has no integers");
    return give(c, 0, binary(c, OP_SUB, unary(c, OP_NEG, x), constant_like(c, x, 1)));
}

// Is this input a constant that changes nothing of the other one, and gives it no other shape?
static bool is_neutral(struct conversion *c, uint32_t input, double value)
{
    const struct type *x = type_of(c, input_of(c, 1 - input));
    struct type z;
    return is_filled_with(c, input_of(c, input), value) && common_shape(c, x, type_of(c, input_of(c, input)), &z) &&
           type_equal_shape(x, &z);
}

// The input that the result is, or NO_TENSOR: x + 0, 0 + x and x - 0; x * 1, 1 * x and x / 1.
static tensor_id unchanged_input(struct conversion *c, enum operator_id op)
{
    bool is_sum = op == OP_EWADD || op == OP_SUB, is_product = op == OP_EWMUL || op == OP_DIV;
    double value = is_sum ? 0 : 1;
    if ((is_sum || is_product) && is_neutral(c, 1, value))
        return input_of(c, 0);
    return (op == OP_EWADD || op == OP_EWMUL) && is_neutral(c, 0, value) ? input_of(c, 1) : NO_TENSOR;
}

// Stages of DTYPE_NONE are of the type that the inputs have.
static tensor_id fold_inputs(struct conversion *c, enum operator_id op, enum dtype stages)
{
    struct summand *s = arena_array(&c->importer->scratch, struct summand, c->n_inputs + 1);
    for (uint32_t i = 0; i < c->n_inputs; i++)
        s[i] = (struct summand){stages == DTYPE_NONE ? input_of(c, i) : cast_to(c, input_of(c, i), stages),
                                input_is_read_once(c, i)};
    uint32_t n = op == OP_EWADD ? merge_convs(c, c->n_inputs, s) : c->n_inputs;
    for (uint32_t i = 1; i < n; i++)
        s[0].tensor = binary(c, op, s[0].tensor, s[i].tensor);
    return s[0].tensor;
}

bool convert_binary(struct conversion *c)
{
    enum operator_id op = (enum operator_id)c->parameter;
    tensor_id unchanged = unchanged_input(c, op);
    if (unchanged != NO_TENSOR)
        return give(c, 0, unchanged);
    return (op == OP_EWADD && (give_shifted(c, 0, 1) || give_shifted(c, 1, 0))) ||
           give(c, 0, fold_inputs(c, op, DTYPE_NONE));
}

bool convert_swapped_binary(struct conversion *c)
{
    return give(c, 0, binary(c, (enum operator_id)c->parameter, input_of(c, 1), input_of(c, 0)));
}

static bool is_single(const struct conversion *c, tensor_id x)
{
    return is_weight(c, x) && type_elements(type_of(c, x)) == 1;
}

// x times a number: the number stands as a tensor of rank 0, so that rules see one form of scaling.
static tensor_id scale_by_weight(struct conversion *c, tensor_id x, tensor_id number)
{
    struct type z;
    if (!common_shape(c, type_of(c, x), type_of(c, number), &z))
        return NO_TENSOR;
    number = broadcast_to(c, reshape_to(c, number, 0, NULL), z.rank, z.dim);
    return binary(c, OP_EWMUL, reshape_to(c, x, z.rank, z.dim), number);
}

bool convert_multiply(struct conversion *c)
{
    tensor_id x = input_of(c, 0), y = input_of(c, 1), unchanged = unchanged_input(c, OP_EWMUL);
    if (unchanged != NO_TENSOR)
        return give(c, 0, unchanged);
    if (give_scaled(c, 0, 1) || give_scaled(c, 1, 0))
        return true;
    if (is_single(c, y))
        return give(c, 0, scale_by_weight(c, x, y));
    return is_single(c, x) ? give(c, 0, scale_by_weight(c, y, x)) : give(c, 0, binary(c, OP_EWMUL, x, y));
}

// The result of an integer divided by zero is the runtime's own affair: some end there.
static bool divides_by_zero(struct conversion *c, tensor_id divisor)
{
    struct integers list;
    if (!dtype_is_integer(type_of(c, divisor)->dtype) || !is_weight(c, divisor))
        return false;
    return !constant_ints(c, divisor, SIZE_MAX, &list) ||
           (ANY(uint32_t, i, list.count, list.items[i] == 0) && !cannot(c, "integers are divided by zero"));
}

// Is 1 / value exact, so that division by it is multiplication?
static bool is_power_of_two(double value)
{
    int exponent;
    return fabs(frexp(value, &exponent)) == 0.5 && exponent > -100 && exponent < 100;
}

bool convert_divide(struct conversion *c)
{
    double value;
    if (divides_by_zero(c, input_of(c, 1)))
        return false;
    tensor_id x = input_of(c, 0), y = input_of(c, 1);
    struct type type = *type_of(c, x), divisor = *type_of(c, y);
    if (type.dtype == DTYPE_F32 && divisor.rank <= type.rank && is_single(c, y) && constant_real(c, y, &value) &&
        is_power_of_two(value))
        return give(c, 0, scale_by(c, x, 1 / value));
    return give(c, 0, binary(c, OP_DIV, x, y));
}

// Runtimes raise integers to powers in floating point, but for squares and cubes.
static bool is_square_or_cube(struct conversion *c, tensor_id exponent)
{
    int64_t value;
    return is_weight(c, exponent) && dtype_is_integer(type_of(c, exponent)->dtype) &&
           constant_int(c, exponent, &value) && (value == 2 || value == 3);
}

// Is it the same number in the other type, or near enough, as it is no whole number there that may be odd?
static bool is_exponent_of_type(struct conversion *c, tensor_id exponent, enum dtype dtype)
{
    struct reals list;
    double largest_odd = dtype == DTYPE_F64   ? 0x1p53
                         : dtype == DTYPE_F32 ? 0x1p24
                         : dtype == DTYPE_F16 ? 0x1p11
                                              : 0x1p8;
    return type_of(c, exponent)->dtype == dtype ||
           (is_weight(c, exponent) && constant_reals(c, exponent, SIZE_MAX, &list) &&
            ALL(uint32_t, i, list.count, fabs(list.items[i]) <= largest_odd));
}

// A square or a cube as products, which more kernels and rules know; of narrower types each would be rounded.
static tensor_id power_as_product(struct conversion *c, tensor_id x, tensor_id exponent)
{
    double value;
    struct type type = *type_of(c, x);
    if ((type.dtype != DTYPE_F32 && type.dtype != DTYPE_F64) || type_of(c, exponent)->rank > type.rank ||
        !is_single(c, exponent) || !constant_real(c, exponent, &value) || (value != 2 && value != 3))
        return NO_TENSOR;
    tensor_id square = binary(c, OP_EWMUL, x, x);
    return value == 2 ? square : binary(c, OP_EWMUL, square, x);
}

bool convert_power(struct conversion *c)
{
    tensor_id product = power_as_product(c, input_of(c, 0), input_of(c, 1));
    if (product != NO_TENSOR)
        return give(c, 0, product);
    if (!dtype_is_float(type_of(c, input_of(c, 0))->dtype) && !is_square_or_cube(c, input_of(c, 1)))
        return cannot(c, "an integer to a power that is no square and no cube");
    if (!is_exponent_of_type(c, input_of(c, 1), type_of(c, input_of(c, 0))->dtype))
        return cannot(c, "its exponent is of another type, which may hold what its base's does not");
    tensor_id exponent = cast_to(c, input_of(c, 1), type_of(c, input_of(c, 0))->dtype);
    return give(c, 0, binary(c, OP_POW, input_of(c, 0), exponent));
}

static tensor_id is_negative(struct conversion *c, tensor_id x)
{
    return binary(c, OP_LESS, x, constant_like(c, x, 0));
}

// fmod has the sign of the dividend, Mod of integers that of the divisor. Where they differ z + y has that, and does
// not overflow; a z of zero may become y, which the second fmod takes away again.
static tensor_id with_sign_of_divisor(struct conversion *c, tensor_id z, tensor_id y)
{
    struct type type = *type_of(c, z);
    y = broadcast_to(c, y, type.rank, type.dim);
    tensor_id differ = binary(c, OP_XOR, is_negative(c, z), is_negative(c, y));
    z = apply(c, OP_WHERE, INPUTS(differ, binary(c, OP_EWADD, z, y), z), NULL);
    return binary(c, OP_FMOD, z, y);
}

bool convert_mod(struct conversion *c)
{
    if (divides_by_zero(c, input_of(c, 1)))
        return false;
    bool has_sign_of_dividend = int_attribute(c, "fmod", 0) == 1;
    if (has_sign_of_dividend && type_of(c, input_of(c, 0))->dtype == DTYPE_I64)
        return cannot(c, "runtimes do this in floating point, which does not hold such integers");
    tensor_id y = input_of(c, 1), z = binary(c, OP_FMOD, input_of(c, 0), y);
    if (z == NO_TENSOR || has_sign_of_dividend)
        return give(c, 0, z);
    enum dtype dtype = type_of(c, z)->dtype;
    if (dtype_size(dtype) < 4)
        return cannot(c, "runtimes do not add integers as narrow as these");
    bool is_unsigned = dtype_is_integer(dtype) && !dtype_is_signed(dtype);
    return give(c, 0, is_unsigned ? z : with_sign_of_divisor(c, z, y));
}

bool convert_variadic(struct conversion *c)
{
    return give(c, 0, fold_inputs(c, (enum operator_id)c->parameter, DTYPE_NONE));
}

bool convert_mean(struct conversion *c)
{
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    tensor_id sum = fold_inputs(c, OP_EWADD, dtype_of_stages(dtype));
    return give(c, 0, cast_to(c, scale_by(c, sum, 1.0 / c->n_inputs), dtype));
}

bool convert_where(struct conversion *c)
{
    struct type common = {0};
    tensor_id inputs[3];
    if (ANY(uint32_t, i, 3, !common_shape(c, &common, type_of(c, input_of(c, i)), &common)))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        inputs[i] = broadcast_to(c, input_of(c, i), common.rank, common.dim);
    return give(c, 0, apply(c, OP_WHERE, 3, inputs, NULL));
}

// A bound of clip: an attribute up to operator set 10, an input later. False: it is not constant.
static bool read_bound(struct conversion *c, const char *attribute, uint32_t input, double standard, double *ret_bound)
{
    *ret_bound = float_attribute(c, attribute, standard);
    return c->opset < 11 || input_of(c, input) == NO_TENSOR ||
           (is_weight(c, input_of(c, input)) && constant_real(c, input_of(c, input), ret_bound));
}

static tensor_id bounded_by(struct conversion *c, enum operator_id op, tensor_id x, tensor_id bound)
{
    if (bound == NO_TENSOR || x == NO_TENSOR)
        return x;
    if (type_elements(type_of(c, bound)) != 1)
        return no_tensor(c, "a bound is no single number");
    return binary(c, op, x, reshape_to(c, bound, 0, NULL));
}

static tensor_id bound_of(struct conversion *c, uint32_t input, double standard)
{
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    bool is_there = input_of(c, input) != NO_TENSOR || !dtype_is_float(dtype);
    return is_there ? input_of(c, input) : scalar_constant(c, dtype, standard);
}

// min(max(x, low), high), where a bound is any tensor of one entry.
static bool clip_by_tensors(struct conversion *c, double largest)
{
    tensor_id z = bounded_by(c, OP_MAX, input_of(c, 0), bound_of(c, 1, -largest));
    return give(c, 0, bounded_by(c, OP_MIN, z, bound_of(c, 2, largest)));
}

// A bound that is not there is the largest finite number: infinities do not pass.
bool convert_clip(struct conversion *c)
{
    double low, high;
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    double largest = dtype_largest(c->opset < 11 ? DTYPE_F32 : dtype);
    bool is_constant = read_bound(c, "min", 1, -largest, &low) && read_bound(c, "max", 2, largest, &high);
    if (is_constant && low <= high && dtype_is_float(dtype))
        return give(c, 0, clip_between(c, input_of(c, 0), low, high));
    return c->opset < 11 ? cannot(c, "its bounds do not enclose anything") : clip_by_tensors(c, largest);
}

bool convert_parametric_relu(struct conversion *c)
{
    struct type x = *type_of(c, input_of(c, 0));
    return give(c, 0, binary(c, OP_PRELU, input_of(c, 0), broadcast_to(c, input_of(c, 1), x.rank, x.dim)));
}

// The conversion of a real number that an integer type does not hold is left to the runtime: it is not computed here.
static bool are_within(struct reals list, enum dtype to)
{
    double low = dtype_is_signed(to) ? -ldexp(1, 8 * (int)dtype_size(to) - 1) : 0;
    double high = ldexp(1, 8 * (int)dtype_size(to) - dtype_is_signed(to));
    return ALL(uint32_t, i, list.count, trunc(list.items[i]) >= low && list.items[i] < high);
}

// Does one type have all numbers of another?
static bool is_wider(enum dtype wide, enum dtype narrow)
{
    bool are_of_one_kind =
        (dtype_is_float(wide) && dtype_is_float(narrow)) ||
        (dtype_is_integer(wide) && dtype_is_integer(narrow) && dtype_is_signed(wide) == dtype_is_signed(narrow));
    return are_of_one_kind && dtype_size(wide) > dtype_size(narrow);
}

// The tensor of that type before it was made wider; NO_TENSOR: it was not.
static tensor_id narrow_behind(struct conversion *c, tensor_id x, enum dtype narrow)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, x);
    tensor_id before = n->op->id == OP_CAST ? g->edges.items[n->first_input] : NO_TENSOR;
    bool is_undone =
        before != NO_TENSOR && type_of(c, before)->dtype == narrow && is_wider(type_of(c, x)->dtype, narrow);
    return is_undone ? before : NO_TENSOR;
}

static bool give_cast(struct conversion *c, enum dtype to)
{
    struct reals list;
    if (to == DTYPE_NONE || !dtype_has_numbers(to))
        return cannot(c, "a cast to a type that is not computed with");
    if (dtype_is_integer(to) && dtype_is_float(type_of(c, input_of(c, 0))->dtype) && is_constant(c, input_of(c, 0)) &&
        !(is_weight(c, input_of(c, 0)) && constant_reals(c, input_of(c, 0), SIZE_MAX, &list) && are_within(list, to)))
        return cannot(c, "a cast of constants to a type that does not hold them");
    tensor_id before = narrow_behind(c, input_of(c, 0), to);
    return give(c, 0, before != NO_TENSOR ? before : cast_to(c, input_of(c, 0), to));
}

bool convert_cast(struct conversion *c)
{
    return give_cast(c, dtype_from_onnx(int_attribute(c, "to", 0)));
}

bool convert_cast_like(struct conversion *c)
{
    return give_cast(c, type_of(c, input_of(c, 1))->dtype);
}

bool convert_identity(struct conversion *c)
{
    c->model->counts.identities++;
    return give(c, 0, input_of(c, 0));
}

// Nothing is dropped in inference: the mask is true everywhere.
bool convert_dropout(struct conversion *c)
{
    int64_t is_training;
    if (input_of(c, 2) != NO_TENSOR && (!constant_int(c, input_of(c, 2), &is_training) || is_training))
        return cannot(c, "it is in training mode");
    if (!wants_output(c, 1))
        return convert_identity(c);
    if (c->opset < 12)
        return cannot(c, "its mask is used, of which runtimes think otherwise than the standard");
    if (!has_known_inputs(c, 1))
        return false;
    struct type x = *type_of(c, input_of(c, 0));
    tensor_id mask = broadcast_to(c, scalar_constant(c, DTYPE_BOOL, 1), x.rank, x.dim);
    return give(c, 1, mask) && convert_identity(c);
}

// Infinities of the signs asked for.
bool convert_is_infinite(struct conversion *c)
{
    bool positive = int_attribute(c, "detect_positive", 1), negative = int_attribute(c, "detect_negative", 1);
    tensor_id x = input_of(c, 0);
    if (!positive && !negative)
        return cannot(c, "it detects nothing");
    if (positive && negative)
        x = unary(c, OP_ABS, x);
    return give(c, 0, binary(c, OP_EQUAL, x, constant_like(c, x, positive ? INFINITY : -INFINITY)));
}
