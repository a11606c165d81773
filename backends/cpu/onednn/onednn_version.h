// The few declarations that make oneDNN 2 and 3 look alike.
#pragma once
#include "backends/cpu/onednn/parts.h"
#include <oneapi/dnnl/dnnl.h>

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t onednn_desc;
#else
typedef const dnnl_memory_desc_t *onednn_desc;
#endif

dnnl_format_tag_t onednn_tag(const struct onednn_tensor *t);   // of one that is free or stands in blocks
onednn_desc onednn_desc_make(const struct onednn_tensor *t);   // NULL on failure
void onednn_desc_free(onednn_desc desc);
// Reads a description of f32 in blocks without anything beside. False: it is arranged in some other way.
bool onednn_desc_read(onednn_desc desc, struct packing *ret_packing);
dnnl_status_t onednn_append_curve(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta);

// The memory of a request's tensors; NULL where there is none.
struct onednn_descs {
    onednn_desc source, weights, bias, target;
};
// The library's operation for the request.
dnnl_status_t onednn_describe(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, const struct onednn_request *r,
                              const struct onednn_descs *d, const_dnnl_primitive_attr_t attributes);
void onednn_dilation_from_zero(const struct onednn_request *r, dnnl_dims_t ret_dilation);   // as the library counts it
