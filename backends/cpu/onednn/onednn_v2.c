// oneDNN 2: operation descriptors are filled first, memory descriptors are plain structs.
#include "backends/cpu/onednn/onednn_version.h"
#include "core/memory/memory.h"

onednn_desc onednn_desc_make(const struct onednn_tensor *t)
{
    dnnl_memory_desc_t *desc = mem_alloc_zero(sizeof *desc);
    dnnl_status_t status = t->is_free || t->block
                               ? dnnl_memory_desc_init_by_tag(desc, t->rank, t->dim, dnnl_f32, onednn_tag(t))
                               : dnnl_memory_desc_init_by_strides(desc, t->rank, t->dim, dnnl_f32, t->stride);
    if (status == dnnl_success)
        return desc;
    mem_free(desc, sizeof *desc);
    return NULL;
}

void onednn_desc_free(onednn_desc desc)
{
    if (desc)
        mem_free((void *)desc, sizeof *desc);
}

static bool is_nothing(const dnnl_dims_t offsets, int n)
{
    for (int i = 0; i < n; i++)
        if (offsets[i])
            return false;
    return true;
}

bool onednn_desc_read(onednn_desc desc, struct packing *ret_packing)
{
    const dnnl_blocking_desc_t *blocking = &desc->format_desc.blocking;
    if (desc->format_kind != dnnl_blocked || desc->data_type != dnnl_f32 || desc->offset0 || desc->extra.flags ||
        !is_nothing(desc->padded_offsets, desc->ndims))
        return false;
    *ret_packing = (struct packing){.rank = desc->ndims, .n_blocks = blocking->inner_nblks};
    for (int i = 0; i < desc->ndims; i++) {
        ret_packing->dim[i] = desc->dims[i];
        ret_packing->padded[i] = desc->padded_dims[i];
        ret_packing->stride[i] = blocking->strides[i];
    }
    for (int i = 0; i < blocking->inner_nblks; i++)
        ret_packing->blocks[i] = (struct packing_block){blocking->inner_idxs[i], blocking->inner_blks[i]};
    return true;
}

dnnl_status_t onednn_append_curve(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta)
{
    return dnnl_post_ops_append_eltwise(ops, 1.0f, kind, alpha, beta);
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
    dnnl_convolution_desc_t convolution;
    dnnl_dims_t dilation;
    dilation_from_zero(n_spatial, window, dilation);
    dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(&convolution, dnnl_forward_inference, kind,
                                                                      source, weights, bias, target, window->stride,
                                                                      dilation, window->pad_begin, window->pad_end);
    return status == dnnl_success ? dnnl_primitive_desc_create(ret, &convolution, attributes, engine, NULL) : status;
}

dnnl_status_t onednn_describe_matmul(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, onednn_desc source,
                                     onednn_desc weights, onednn_desc bias, onednn_desc target,
                                     const_dnnl_primitive_attr_t attributes)
{
    dnnl_matmul_desc_t matmul;
    dnnl_status_t status = dnnl_matmul_desc_init(&matmul, source, weights, bias, target);
    return status == dnnl_success ? dnnl_primitive_desc_create(ret, &matmul, attributes, engine, NULL) : status;
}

dnnl_status_t onednn_describe_pooling(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, dnnl_alg_kind_t kind,
                                      onednn_desc source, onednn_desc target, int n_spatial,
                                      const struct onednn_window *window, const_dnnl_primitive_attr_t attributes)
{
    dnnl_pooling_v2_desc_t pooling;
    dnnl_dims_t dilation;
    dilation_from_zero(n_spatial, window, dilation);
    dnnl_status_t status =
        dnnl_pooling_v2_forward_desc_init(&pooling, dnnl_forward_inference, kind, source, target, window->stride,
                                          window->kernel, dilation, window->pad_begin, window->pad_end);
    return status == dnnl_success ? dnnl_primitive_desc_create(ret, &pooling, attributes, engine, NULL) : status;
}

dnnl_status_t onednn_describe_lrn(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, onednn_desc source,
                                  onednn_desc target, const struct onednn_lrn *lrn,
                                  const_dnnl_primitive_attr_t attributes)
{
    dnnl_lrn_desc_t desc;
    dnnl_status_t status = dnnl_lrn_forward_desc_init(&desc, dnnl_forward_inference, dnnl_lrn_across_channels, source,
                                                      lrn->size, lrn->alpha, lrn->beta, lrn->bias);
    return status == dnnl_success ? dnnl_primitive_desc_create(ret, &desc, attributes, engine, NULL) : status;
}
