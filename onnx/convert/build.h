// Graph nodes for converters.
#pragma once
#include "onnx/convert/conversion.h"

// An attribute that is not the standard one: of one number, or a list.
struct given_attribute {
    const char *name;
    int64_t number;
    int count;
    const int64_t *list;   // NULL: the number
};
static inline struct given_attribute integer(const char *name, int64_t value)
{
    return (struct given_attribute){name, value, 1, NULL};
}
static inline struct given_attribute real(const char *name, double value)
{
    return integer(name, real_to_bits(value));
}
static inline struct given_attribute list(const char *name, int count, const int64_t *items)
{
    return (struct given_attribute){name, 0, count, items};
}
#define INPUTS(...) sizeof((tensor_id[]){__VA_ARGS__}) / sizeof(tensor_id), ((const tensor_id[]){__VA_ARGS__})
#define WITH(...) ((const struct given_attribute[]){__VA_ARGS__, {0}})

// The result of an operator: `apply(c, OP_CLIP, INPUTS(x), WITH(real("min", low), real("max", high)))`.
tensor_id apply(struct conversion *c, enum operator_id op, size_t n, const tensor_id *inputs,
                const struct given_attribute *given);
struct application application_of(struct conversion *c, enum operator_id op);
struct application application_at(const struct conversion *c, node_id n);   // that a node of the graph is
void set_attributes(struct conversion *c, struct application *a, const struct given_attribute *given);
tensor_id apply_application(struct conversion *c, const struct application *a, size_t n, const tensor_id *inputs);
node_id apply_node(struct conversion *c, const struct application *a, size_t n, const tensor_id *inputs);
tensor_id unary(struct conversion *c, enum operator_id op, tensor_id x);
tensor_id binary(struct conversion *c, enum operator_id op, tensor_id x, tensor_id y);   // broadcast to one shape
tensor_id broadcast_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim);
tensor_id reshape_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim);   // x itself if it has the shape
tensor_id transpose_by(struct conversion *c, tensor_id x, const int64_t *perm);          // x itself if nothing is moved
tensor_id cast_to(struct conversion *c, tensor_id x, enum dtype dtype);
tensor_id scalar_constant(struct conversion *c, enum dtype dtype, double value);   // a weight of rank 0
tensor_id constant_like(struct conversion *c, tensor_id like, double value);       // broadcast to its shape
tensor_id add_scalar(struct conversion *c, tensor_id x, double value);
tensor_id scale_by(struct conversion *c, tensor_id x, double value);   // x itself when value is 1
// A vector as a tensor of `like`'s shape that varies along `axis` only.
tensor_id spread_along(struct conversion *c, tensor_id vector, int axis, tensor_id like);
tensor_id real_weight(struct conversion *c, enum dtype dtype, int rank, const int64_t *dim, const double *values);
bool give_weight(struct conversion *c,
                 struct imported_weight weight);   // named as the node's first output, which it is
tensor_id int_weight(struct conversion *c, int rank, const int64_t *dim, const int64_t *values);   // i64

// The element type of stages whose results may be too large for tensors of the type: f32 for halves, or itself.
enum dtype dtype_of_stages(enum dtype dtype);
tensor_id clip_between(struct conversion *c, tensor_id x, double low, double high);
tensor_id reduce_by(struct conversion *c, enum operator_id op, tensor_id x, const struct axes *axes, bool keeps_axes);
// `size` entries of one axis from `start` on.
tensor_id part_of(struct conversion *c, tensor_id x, int axis, int64_t start, int64_t size);
tensor_id matmul(struct conversion *c, tensor_id x, tensor_id y);           // the graph's operator
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y);   // MatMul's, of any ranks
