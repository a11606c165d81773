// Matrix products.
#include "onnx/convert/operators/convert_matmul.h"

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
    tensor_id z = scale_by(c, binary(c, OP_MATMUL, cast_to(c, a, wide), cast_to(c, b, wide)), alpha);
    if (z == NO_TENSOR || bias == NO_TENSOR || beta == 0)
        return give(c, 0, cast_to(c, z, dtype));
    struct type type = *type_of(c, z);
    bias = broadcast_to(c, scale_by(c, cast_to(c, bias, wide), beta), type.rank, type.dim);
    return give(c, 0, cast_to(c, binary(c, OP_EWADD, z, bias), dtype));
}

// Leading axes of both are made equal; a right side that is one matrix for all stays one.
static bool align_batches(struct conversion *c, tensor_id *x, tensor_id *y)
{
    struct type tx = *type_of(c, *x), ty = *type_of(c, *y), bx = tx, by = ty;
    int rank;
    int64_t dim[MAX_RANK + 2];
    if (ty.rank == 2)
        return true;
    bx.rank -= 2;
    by.rank -= 2;
    if (!common_shape(c, &bx, &by, &rank, dim) || rank + 2 > MAX_RANK)
        return cannot(c, "its batches cannot be broadcast to one");
    dim[rank] = tx.dim[tx.rank - 2];
    dim[rank + 1] = tx.dim[tx.rank - 1];
    *x = broadcast_to(c, *x, rank + 2, dim);
    dim[rank] = ty.dim[ty.rank - 2];
    dim[rank + 1] = ty.dim[ty.rank - 1];
    *y = broadcast_to(c, *y, rank + 2, dim);
    return *x != NO_TENSOR && *y != NO_TENSOR;
}

// A vector is a row on the left and a column on the right; its axis is dropped from the result.
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y)
{
    struct type tx = *type_of(c, x), ty = *type_of(c, y);
    if (tx.rank == 0 || ty.rank == 0)
        return no_tensor(c, "a factor is a scalar");
    if (tx.rank == 1)
        x = reshape_to(c, x, 2, (int64_t[]){1, tx.dim[0]});
    if (ty.rank == 1)
        y = reshape_to(c, y, 2, (int64_t[]){ty.dim[0], 1});
    if (!align_batches(c, &x, &y))
        return NO_TENSOR;
    tensor_id z = binary(c, OP_MATMUL, x, y);
    if (z == NO_TENSOR || (tx.rank > 1 && ty.rank > 1))
        return z;
    struct type tz = *type_of(c, z);
    int64_t dim[MAX_RANK];
    int rank = 0;
    for (int i = 0; i < tz.rank; i++)
        if (!(tx.rank == 1 && i == tz.rank - 2) && !(ty.rank == 1 && i == tz.rank - 1))
            dim[rank++] = tz.dim[i];
    return reshape_to(c, z, rank, dim);
}

bool convert_matmul(struct conversion *c)
{
    return has_entries(c) && give(c, 0, matrix_product(c, input_of(c, 0), input_of(c, 1)));
}
