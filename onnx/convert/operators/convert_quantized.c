// Quantization. A tensor q of small integers stands for (q - zero) * scale, with one scale and zero point for all of
// it, for each place of an axis, or for each block of places of one:
//     quantize     clip(round(x / scale) + zero)          half to even, the quotient rounded to its element type first
//     dequantize   (q - zero) * scale
//     products     of q - zero, in integers of 32 bits; QLinear* scale their sums and quantize them again
#include "onnx/convert/fold_constants.h"
#include "onnx/convert/operators/convert_conv_pool.h"
#include "onnx/convert/operators/converters.h"

#include <inttypes.h>
#include <math.h>

// ---- scales and zero points ----

// Each place of the axis in a block: what is one of a block's is repeated for all of it.
static tensor_id repeat_in_blocks(struct conversion *c, tensor_id parameter, const struct type *like, int axis)
{
    struct type type = *type_of(c, parameter);
    int64_t n = type.dim[axis], size = like->dim[axis], block = int_attribute(c, "block_size", 0);
    if (like->rank == MAX_RANK || block < 1 || block > MAX_ELEMENTS || n != (size + block - 1) / block)
        return no_tensor(c, "its scales are not one for each block of %" PRId64, block);
    int64_t dim[MAX_RANK];
    for (int i = 0; i <= type.rank; i++)
        dim[i] = i <= axis ? type.dim[i] : i == axis + 1 ? 1 : type.dim[i - 1];
    parameter = reshape_to(c, parameter, type.rank + 1, dim);
    dim[axis + 1] = block;
    parameter = broadcast_to(c, parameter, type.rank + 1, dim);
    type.dim[axis] = n * block;
    parameter = reshape_to(c, parameter, type.rank, type.dim);
    return size == n * block ? parameter : part_of(c, parameter, axis, 0, size);
}

// A scale or zero point as a tensor of the shape of `like`, of which a vector's entries go along `axis`.
static tensor_id spread(struct conversion *c, tensor_id parameter, int64_t axis, tensor_id like)
{
    int along;
    struct type type = *type_of(c, parameter), whole = *type_of(c, like);
    if (!type_is_known(&type) || !type_is_known(&whole))
        return NO_TENSOR;
    if (type_elements(&type) == 1 && type.rank <= 1)
        return broadcast_to(c, reshape_to(c, parameter, 0, NULL), whole.rank, whole.dim);
    if (!normalize_axis(c, axis, whole.rank, &along))
        return NO_TENSOR;
    if (type.rank == 1)
        return spread_along(c, parameter, along, like);
    if (type.rank == whole.rank && has_attribute(c, "block_size") && int_attribute(c, "block_size", 0) != 0)
        return repeat_in_blocks(c, parameter, &whole, along);
    return broadcast_to(c, parameter, whole.rank, whole.dim);
}

// q - zero, in integers of 32 bits.
static tensor_id without_zero(struct conversion *c, tensor_id q, tensor_id zero, int64_t axis)
{
    tensor_id whole = cast_to(c, q, DTYPE_I32);
    return zero == NO_TENSOR ? whole : binary(c, OP_SUB, whole, spread(c, cast_to(c, zero, DTYPE_I32), axis, whole));
}

// ---- quantizing ----

static bool bounds_of(enum dtype dtype, double *ret_low, double *ret_high)
{
    int bits = 8 * (int)dtype_size(dtype);
    if (!dtype_is_integer(dtype) || bits > 16)
        return false;
    *ret_low = dtype_is_signed(dtype) ? -(double)(1 << (bits - 1)) : 0;
    *ret_high = *ret_low + (double)(1 << bits) - 1;
    return true;
}

static tensor_id quantized(struct conversion *c, tensor_id quotient, tensor_id zero, int64_t axis, enum dtype to)
{
    double low, high;
    if (!bounds_of(to, &low, &high))
        return no_tensor(c, "integers of type %s are not computed with", dtype_name(to));
    tensor_id z = cast_to(c, unary(c, OP_ROUND, quotient), DTYPE_F32);
    if (zero != NO_TENSOR)
        z = binary(c, OP_EWADD, z, spread(c, cast_to(c, zero, DTYPE_F32), axis, z));
    return cast_to(c, clip_between(c, z, low, high), to);
}

static enum dtype dtype_attribute(const struct conversion *c, const char *name, enum dtype standard)
{
    int64_t code = int_attribute(c, name, 0);
    return code ? dtype_from_onnx(code) : standard;
}

static tensor_id divided(struct conversion *c, tensor_id x, tensor_id scale, int64_t axis)
{
    enum dtype precision = dtype_attribute(c, "precision", type_of(c, scale)->dtype);
    if (!dtype_is_float(precision))
        return NO_TENSOR;
    x = cast_to(c, x, precision);
    return binary(c, OP_DIV, x, spread(c, cast_to(c, scale, precision), axis, x));
}

// The integer that a runtime makes of no number is its own affair: constants among which there is one, or that are
// divided by zero, are not computed.
static bool is_finite_constant(struct conversion *c, tensor_id x, bool is_divisor)
{
    struct reals list;
    return !is_weight(c, x) || !folding_has_room(c->importer, type_elements(type_of(c, x))) ||
           (constant_reals(c, x, SIZE_MAX, &list) &&
            (ALL(uint32_t, i, list.count, isfinite(list.items[i]) && !(is_divisor && list.items[i] == 0)) ||
             cannot(c, "it quantizes constants that are no finite numbers")));
}

bool convert_quantize_linear(struct conversion *c)
{
    if (!is_finite_constant(c, input_of(c, 0), false) || !is_finite_constant(c, input_of(c, 1), true))
        return false;
    int64_t axis = int_attribute(c, "axis", 1);
    tensor_id zero = input_of(c, 2);
    enum dtype to = dtype_attribute(c, "output_dtype", zero == NO_TENSOR ? DTYPE_U8 : type_of(c, zero)->dtype);
    return give(c, 0, quantized(c, divided(c, input_of(c, 0), input_of(c, 1), axis), zero, axis, to));
}

bool convert_dequantize_linear(struct conversion *c)
{
    int64_t axis = int_attribute(c, "axis", 1);
    tensor_id scale = input_of(c, 1);
    enum dtype dtype = type_of(c, scale)->dtype, to = dtype_attribute(c, "output_dtype", dtype);
    if (!dtype_is_float(dtype) || !dtype_is_float(to) || !dtype_is_integer(type_of(c, input_of(c, 0))->dtype))
        return cannot(c, "it does not make reals of integers");
    tensor_id z = cast_to(c, without_zero(c, input_of(c, 0), input_of(c, 2), axis), dtype);
    return give(c, 0, cast_to(c, binary(c, OP_EWMUL, z, spread(c, scale, axis, z)), to));
}

// The scale makes 255 of the span of all values and 0; of zeros alone runtimes make 1.
bool convert_dynamic_quantize_linear(struct conversion *c)
{
    tensor_id x = input_of(c, 0), zero = scalar_constant(c, DTYPE_F32, 0), steps = scalar_constant(c, DTYPE_F32, 255);
    int64_t n = type_elements(type_of(c, x));
    const struct axes all = {.count = 1};
    if (type_of(c, x)->dtype != DTYPE_F32 || n == 0)
        return cannot(c, "it has no values of type f32");
    if (!is_finite_constant(c, x, false))
        return false;
    tensor_id flat = reshape_to(c, x, 1, &n);
    tensor_id high = binary(c, OP_MAX, reduce_by(c, OP_REDUCEMAX, flat, &all, false), zero);
    tensor_id low = binary(c, OP_MIN, reduce_by(c, OP_REDUCEMIN, flat, &all, false), zero);
    tensor_id scale = apply(c, OP_WHERE,
                            INPUTS(binary(c, OP_EQUAL, high, low), scalar_constant(c, DTYPE_F32, 1),
                                   binary(c, OP_DIV, binary(c, OP_SUB, high, low), steps)),
                            NULL);
    tensor_id place = binary(c, OP_DIV, binary(c, OP_SUB, zero, low), scale);
    tensor_id zero_point = cast_to(c, unary(c, OP_ROUND, clip_between(c, place, 0, 255)), DTYPE_U8);
    tensor_id y = quantized(c, divided(c, x, scale, 1), zero_point, 1, DTYPE_U8);
    return give(c, 0, y) && (c->n_outputs < 2 || give(c, 1, scale)) && (c->n_outputs < 3 || give(c, 2, zero_point));
}

// ---- products of integers ----

// A factor of a product of matrices: a vector of zero points or scales goes along rows on the left, columns on the
// right.
#define ROWS (-2)
#define COLUMNS (-1)

bool convert_matmul_integer(struct conversion *c)
{
    tensor_id a = input_of(c, 0), b = input_of(c, 1);
    return give(c, 0,
                matrix_product(c, without_zero(c, a, input_of(c, 2), type_of(c, a)->rank > 1 ? ROWS : 0),
                               without_zero(c, b, input_of(c, 3), COLUMNS)));
}

bool convert_conv_integer(struct conversion *c)
{
    return give(c, 0,
                convolve(c, without_zero(c, input_of(c, 0), input_of(c, 2), 1),
                         without_zero(c, input_of(c, 1), input_of(c, 3), 0)));
}

// sum * (scale of a * scale of b / scale of y), quantized.
static tensor_id requantized(struct conversion *c, tensor_id sum, int64_t a_axis, int64_t b_axis)
{
    enum { A_SCALE = 1, B_SCALE = 4, Y_SCALE = 6, Y_ZERO = 7 };   // inputs
    tensor_id z = cast_to(c, sum, DTYPE_F32), y_zero = input_of(c, Y_ZERO);
    tensor_id a = spread(c, cast_to(c, input_of(c, A_SCALE), DTYPE_F32), a_axis, z);
    tensor_id b = spread(c, cast_to(c, input_of(c, B_SCALE), DTYPE_F32), b_axis, z);
    tensor_id y = spread(c, cast_to(c, input_of(c, Y_SCALE), DTYPE_F32), a_axis, z);
    z = binary(c, OP_EWMUL, z, binary(c, OP_DIV, binary(c, OP_EWMUL, a, b), y));
    return quantized(c, z, y_zero, a_axis, type_of(c, y_zero)->dtype);
}

bool convert_qlinear_matmul(struct conversion *c)
{
    tensor_id a = input_of(c, 0), b = input_of(c, 3);
    if (type_of(c, a)->rank < 2 || type_of(c, b)->rank < 2)
        return cannot(c, "a factor is no matrix");
    tensor_id sum =
        matrix_product(c, without_zero(c, a, input_of(c, 2), ROWS), without_zero(c, b, input_of(c, 5), COLUMNS));
    return give(c, 0, requantized(c, sum, ROWS, COLUMNS));
}

bool convert_qlinear_conv(struct conversion *c)
{
    tensor_id sum = convolve(c, without_zero(c, input_of(c, 0), input_of(c, 2), 1),
                             without_zero(c, input_of(c, 3), input_of(c, 5), 0));
    return give(c, 0, requantized(c, add_to_channels(c, sum, input_of(c, 8)), 1, 1));
}
