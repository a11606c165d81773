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
    return ALL(int, i, n, !offsets[i]);
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

static dnnl_status_t describe_window(void *ret_desc, const struct onednn_request *r, const struct onednn_descs *d)
{
    const struct onednn_window *w = r->window;
    dnnl_alg_kind_t kind = (dnnl_alg_kind_t)r->algorithm;
    dnnl_dims_t dilation;
    onednn_dilation_from_zero(r, dilation);
    if (r->kind == CONVOLUTION)
        return dnnl_dilated_convolution_forward_desc_init(ret_desc, dnnl_forward_inference, kind, d->source, d->weights,
                                                          d->bias, d->target, w->stride, dilation, w->pad_begin,
                                                          w->pad_end);
    return dnnl_pooling_v2_forward_desc_init(ret_desc, dnnl_forward_inference, kind, d->source, d->target, w->stride,
                                             w->kernel, dilation, w->pad_begin, w->pad_end);
}

dnnl_status_t onednn_describe(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, const struct onednn_request *r,
                              const struct onednn_descs *d, const_dnnl_primitive_attr_t attributes)
{
    union {
        dnnl_convolution_desc_t convolution;
        dnnl_pooling_v2_desc_t pooling;
        dnnl_matmul_desc_t matmul;
        dnnl_lrn_desc_t lrn;
    } desc;
    dnnl_status_t status =
        r->kind == MATMUL ? dnnl_matmul_desc_init(&desc.matmul, d->source, d->weights, d->bias, d->target)
        : r->kind == LRN
            ? dnnl_lrn_forward_desc_init(&desc.lrn, dnnl_forward_inference, dnnl_lrn_across_channels, d->source,
                                         r->lrn->size, r->lrn->alpha, r->lrn->beta, r->lrn->bias)
            : describe_window(&desc, r, d);
    return status == dnnl_success ? dnnl_primitive_desc_create(ret, &desc, attributes, engine, NULL) : status;
}
