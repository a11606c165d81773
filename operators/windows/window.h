// Windows that slide over the spatial axes of images: what convolution and pooling share.
// Axes of an image: 0 batch, 1 channel, from 2 on spatial. For spatial axis a (from 0) and output place i, the window's
// element r stands at input place   i * stride[a] + r * dilation[a] - pad_begin[a].
#pragma once
#include "operators/operator.h"

struct window {
    int n;   // spatial axes
    int64_t kernel[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK], pad_begin[MAX_RANK], pad_end[MAX_RANK];
    int64_t output[MAX_RANK];   // output size of each spatial axis
};
// Attribute lists: stride and dilation have n entries or none (all 1), pad has 2n (begins, then ends) or none (all 0).
// The kernel's sizes are given. Fills ret->output; refuses windows that do not fit and non-positive strides.
bool window_read(struct definition *d, const struct type *image, const int64_t *kernel,
                 const struct attribute_value *stride, const struct attribute_value *pad,
                 const struct attribute_value *dilation, struct window *ret_window);
// The input place under element `r` of the window at output index `i`, on spatial axis `axis`.
expr window_place(struct definition *d, const struct window *w, int axis, expr i, expr r);
// Reduces `body` over all window elements, r[0] being the outermost.
expr window_reduce(struct definition *d, const struct window *w, enum scalar_function fn, const expr *r, expr body);
// Lists that were not given become explicit (operator.resolve).
void window_resolve(struct definition *d, const struct operator_call *call, struct attribute_value *ret_attributes);
