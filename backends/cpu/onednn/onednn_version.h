// The few declarations that make oneDNN 2 and 3 look alike.
#pragma once
#include "backends/cpu/onednn/onednn.h"
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

// Attributes may be NULL. `window` counts dilation from 1.
dnnl_status_t onednn_describe_convolution(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, dnnl_alg_kind_t kind,
                                          onednn_desc source, onednn_desc weights, onednn_desc bias, onednn_desc target,
                                          int n_spatial, const struct onednn_window *window,
                                          const_dnnl_primitive_attr_t attributes);
dnnl_status_t onednn_describe_matmul(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, onednn_desc source,
                                     onednn_desc weights, onednn_desc bias, onednn_desc target,
                                     const_dnnl_primitive_attr_t attributes);
dnnl_status_t onednn_describe_pooling(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, dnnl_alg_kind_t kind,
                                      onednn_desc source, onednn_desc target, int n_spatial,
                                      const struct onednn_window *window, const_dnnl_primitive_attr_t attributes);
dnnl_status_t onednn_describe_lrn(dnnl_primitive_desc_t *ret, dnnl_engine_t engine, onednn_desc source,
                                  onednn_desc target, const struct onednn_lrn *lrn,
                                  const_dnnl_primitive_attr_t attributes);
