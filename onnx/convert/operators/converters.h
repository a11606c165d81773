// The functions that converters.def names; which file has which follows from the operator's kind. Private to
// onnx/convert.
#ifndef ONNX_CONVERT_OPERATORS_CONVERTERS_H
#define ONNX_CONVERT_OPERATORS_CONVERTERS_H
#include <stdbool.h>

struct conversion;

bool convert_arg_reduce(struct conversion *c);
bool convert_average_pool(struct conversion *c);
bool convert_batch_normalization(struct conversion *c);
bool convert_binary(struct conversion *c);
bool convert_cast(struct conversion *c);
bool convert_cast_like(struct conversion *c);
bool convert_clip(struct conversion *c);
bool convert_concat(struct conversion *c);
bool convert_constant(struct conversion *c);
bool convert_constant_of_shape(struct conversion *c);
bool convert_conv(struct conversion *c);
bool convert_conv_transpose(struct conversion *c);
bool convert_cumulative_sum(struct conversion *c);
bool convert_curve(struct conversion *c);
bool convert_depth_to_space(struct conversion *c);
bool convert_divide(struct conversion *c);
bool convert_dropout(struct conversion *c);
bool convert_einsum(struct conversion *c);
bool convert_expand(struct conversion *c);
bool convert_flatten(struct conversion *c);
bool convert_gather(struct conversion *c);
bool convert_gather_nd(struct conversion *c);
bool convert_gelu(struct conversion *c);
bool convert_gemm(struct conversion *c);
bool convert_global_pool(struct conversion *c);
bool convert_group_normalization(struct conversion *c);
bool convert_hardmax(struct conversion *c);
bool convert_identity(struct conversion *c);
bool convert_instance_normalization(struct conversion *c);
bool convert_is_infinite(struct conversion *c);
bool convert_layer_normalization(struct conversion *c);
bool convert_local_response(struct conversion *c);
bool convert_lp_normalization(struct conversion *c);
bool convert_matmul(struct conversion *c);
bool convert_max_pool(struct conversion *c);
bool convert_mean(struct conversion *c);
bool convert_mean_variance_normalization(struct conversion *c);
bool convert_mod(struct conversion *c);
bool convert_multiply(struct conversion *c);
bool convert_one_hot(struct conversion *c);
bool convert_pad(struct conversion *c);
bool convert_parametric_relu(struct conversion *c);
bool convert_power(struct conversion *c);
bool convert_range(struct conversion *c);
bool convert_reduce(struct conversion *c);
bool convert_reduce_l1(struct conversion *c);
bool convert_reduce_l2(struct conversion *c);
bool convert_reduce_log_sum(struct conversion *c);
bool convert_reduce_log_sum_exp(struct conversion *c);
bool convert_reduce_sum_square(struct conversion *c);
bool convert_reshape(struct conversion *c);
bool convert_resize(struct conversion *c);
bool convert_scatter_elements(struct conversion *c);
bool convert_scatter_nd(struct conversion *c);
bool convert_shape(struct conversion *c);
bool convert_size(struct conversion *c);
bool convert_slice(struct conversion *c);
bool convert_softmax(struct conversion *c);
bool convert_space_to_depth(struct conversion *c);
bool convert_split(struct conversion *c);
bool convert_squeeze(struct conversion *c);
bool convert_swapped_binary(struct conversion *c);
bool convert_swish(struct conversion *c);
bool convert_tile(struct conversion *c);
bool convert_transpose(struct conversion *c);
bool convert_trilu(struct conversion *c);
bool convert_unary(struct conversion *c);
bool convert_unsqueeze(struct conversion *c);
bool convert_upsample(struct conversion *c);
bool convert_variadic(struct conversion *c);
bool convert_where(struct conversion *c);
#endif
