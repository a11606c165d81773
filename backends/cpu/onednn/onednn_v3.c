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

dnnl_status_t onednn_describe(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, const struct onednn_request *r,
                              const struct onednn_descs *d, const_dnnl_primitive_attr_t attributes)
{
    const struct onednn_window *w = r->window;
    dnnl_alg_kind_t kind = (dnnl_alg_kind_t)r->algorithm;
    dnnl_dims_t dilation;
    if (r->kind == MATMUL)
        return dnnl_matmul_primitive_desc_create(ret, engine, d->source, d->weights, d->bias, d->target, attributes);
    if (r->kind == LRN)
        return dnnl_lrn_forward_primitive_desc_create(ret, engine, dnnl_forward_inference, dnnl_lrn_across_channels,
                                                      d->source, d->target, r->lrn->size, r->lrn->alpha, r->lrn->beta,
                                                      r->lrn->bias, attributes);
    onednn_dilation_from_zero(r, dilation);
    if (r->kind == CONVOLUTION)
        return dnnl_convolution_forward_primitive_desc_create(ret, engine, dnnl_forward_inference, kind, d->source,
                                                              d->weights, d->bias, d->target, w->stride, dilation,
                                                              w->pad_begin, w->pad_end, attributes);
    return dnnl_pooling_forward_primitive_desc_create(ret, engine, dnnl_forward_inference, kind, d->source, d->target,
                                                      w->stride, w->kernel, dilation, w->pad_begin, w->pad_end,
                                                      attributes);
}
