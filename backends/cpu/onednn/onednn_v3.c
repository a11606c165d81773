// oneDNN 3: primitive descriptors are made directly, memory descriptors are opaque.
#include "backends/cpu/onednn/onednn_version.h"
#include <string.h>

onednn_desc onednn_desc_make(const struct onednn_tensor *t)
{
    dnnl_memory_desc_t desc = NULL;
    dnnl_status_t status = t->is_free || t->block
                               ? dnnl_memory_desc_create_with_tag(&desc, t->rank, t->dim, dnnl_f32, onednn_tag(t))
                               : dnnl_memory_desc_create_with_strides(&desc, t->rank, t->dim, dnnl_f32, t->stride);
    return status == dnnl_success ? desc : NULL;
}

void onednn_desc_free(onednn_desc desc)
{
    if (desc)
        dnnl_memory_desc_destroy((dnnl_memory_desc_t)desc);
}

static bool has_format(onednn_desc desc)
{
    dnnl_format_kind_t kind;
    dnnl_data_type_t type;
    int64_t offset;
    return dnnl_memory_desc_query(desc, dnnl_query_format_kind, &kind) == dnnl_success && kind == dnnl_blocked &&
           dnnl_memory_desc_query(desc, dnnl_query_data_type, &type) == dnnl_success && type == dnnl_f32 &&
           dnnl_memory_desc_query(desc, dnnl_query_submemory_offset_s64, &offset) == dnnl_success && offset == 0;
}

bool onednn_desc_read(onednn_desc desc, struct packing *ret_packing)
{
    struct packing p = {0};
    const dnnl_dims_t *dims, *padded, *strides, *sizes, *axes;
    if (!has_format(desc) || dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &p.rank) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_dims, &dims) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_padded_dims, &padded) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_strides, &strides) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_inner_nblks_s32, &p.n_blocks) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_inner_blks, &sizes) != dnnl_success ||
        dnnl_memory_desc_query(desc, dnnl_query_inner_idxs, &axes) != dnnl_success)
        return false;
    memcpy(p.dim, *dims, (size_t)p.rank * sizeof p.dim[0]);
    memcpy(p.padded, *padded, (size_t)p.rank * sizeof p.padded[0]);
    memcpy(p.stride, *strides, (size_t)p.rank * sizeof p.stride[0]);
    for (int i = 0; i < p.n_blocks; i++)
        p.blocks[i] = (struct packing_block){(*axes)[i], (*sizes)[i]};
    *ret_packing = p;
    return true;
}

dnnl_status_t onednn_append_curve(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta)
{
    return dnnl_post_ops_append_eltwise(ops, kind, alpha, beta);
}

static void dilation_from_zero(int n_spatial, const struct onednn_window *window, dnnl_dims_t ret_dilation)
{
    for (int i = 0; i < n_spatial; i++)
        ret_dilation[i] = window->dilation[i] - 1;
}

dnnl_status_t onednn_describe_convolution(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, dnnl_alg_kind_t kind,
                                          onednn_desc source, onednn_desc weights, onednn_desc bias, onednn_desc target,
                                          int n_spatial, const struct onednn_window *window,
                                          const_dnnl_primitive_attr_t attributes)
{
    dnnl_dims_t dilation;
    dilation_from_zero(n_spatial, window, dilation);
    return dnnl_convolution_forward_primitive_desc_create(ret, engine, dnnl_forward_inference, kind, source, weights,
                                                          bias, target, window->stride, dilation, window->pad_begin,
                                                          window->pad_end, attributes);
}

dnnl_status_t onednn_describe_matmul(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, onednn_desc source,
                                     onednn_desc weights, onednn_desc bias, onednn_desc target,
                                     const_dnnl_primitive_attr_t attributes)
{
    return dnnl_matmul_primitive_desc_create(ret, engine, source, weights, bias, target, attributes);
}

dnnl_status_t onednn_describe_pooling(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, dnnl_alg_kind_t kind,
                                      onednn_desc source, onednn_desc target, int n_spatial,
                                      const struct onednn_window *window, const_dnnl_primitive_attr_t attributes)
{
    dnnl_dims_t dilation;
    dilation_from_zero(n_spatial, window, dilation);
    return dnnl_pooling_forward_primitive_desc_create(ret, engine, dnnl_forward_inference, kind, source, target,
                                                      window->stride, window->kernel, dilation, window->pad_begin,
                                                      window->pad_end, attributes);
}

dnnl_status_t onednn_describe_lrn(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, onednn_desc source,
                                  onednn_desc target, const struct onednn_lrn *lrn,
                                  const_dnnl_primitive_attr_t attributes)
{
    return dnnl_lrn_forward_primitive_desc_create(ret, engine, dnnl_forward_inference, dnnl_lrn_across_channels, source,
                                                  target, lrn->size, lrn->alpha, lrn->beta, lrn->bias, attributes);
}
