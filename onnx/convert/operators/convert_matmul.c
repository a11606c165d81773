// Matrix products.
#include "onnx/convert/operators/converters.h"

static tensor_id transposed_matrix(struct conversion *c, tensor_id x)
{
    return transpose_by(c, x, (int64_t[]){1, 0});
}

// Runtimes forget to broadcast products of nothing.
static bool has_entries(struct conversion *c)
{
    return (type_elements(type_of(c, input_of(c, 0))) > 0 && type_elements(type_of(c, input_of(c, 1))) > 0) ||
           cannot(c, "a factor has no entries");
}

// alpha * A' * B' + beta * C; of halves in f32 where one of the two is not 1, as A' * B' may be infinite where a
// part of it is not.
bool convert_gemm(struct conversion *c)
{
    if (!has_entries(c))
        return false;
    tensor_id a = input_of(c, 0), b = input_of(c, 1), bias = input_of(c, 2);
    enum dtype dtype = type_of(c, a)->dtype;
    double alpha = float_attribute(c, "alpha", 1), beta = float_attribute(c, "beta", 1);
    enum dtype wide = alpha != 1 || beta != 1 ? dtype_of_stages(dtype) : dtype;
    if (type_of(c, a)->rank != 2 || type_of(c, b)->rank != 2)
        return cannot(c, "its factors are no matrices");
    if (int_attribute(c, "transA", 0))
        a = transposed_matrix(c, a);
    if (int_attribute(c, "transB", 0))
        b = transposed_matrix(c, b);
    tensor_id z = scale_by(c, matmul(c, cast_to(c, a, wide), cast_to(c, b, wide)), alpha);
    if (z == NO_TENSOR || bias == NO_TENSOR || beta == 0)
        return give(c, 0, cast_to(c, z, dtype));
    struct type type = *type_of(c, z);
    bias = broadcast_to(c, scale_by(c, cast_to(c, bias, wide), beta), type.rank, type.dim);
    return give(c, 0, cast_to(c, binary(c, OP_EWADD, z, bias), dtype));
}

bool convert_matmul(struct conversion *c)
{
    return has_entries(c) && give(c, 0, matrix_product(c, input_of(c, 0), input_of(c, 1)));
}
