// A primitive as several that do parts of it, each by one thread, where the threads are not the library's: rows of
// products, images, channels or rows of images, so that each part's tensors stand as the library's kernels want a
// whole.
#pragma once
#include "backends/cpu/onednn/onednn.h"

enum primitive_kind { CONVOLUTION, MATMUL, POOLING, LRN };
struct onednn_request {
    enum primitive_kind kind;
    const struct onednn_tensor *source, *weights, *bias, *target;   // weights and bias may be NULL
    const struct onednn_window *window;
    const struct onednn_lrn *lrn;
    int algorithm;   // the library's, of convolution and pooling
    const struct postops *ops;
    bool keeps_columns;   // of a product that was to be cut by columns: by rows, if at all; others stay whole
};
// Elements from the whole's first one; those of weights that the library arranges are found by its arrangement.
struct onednn_part {
    struct onednn_request request;   // reads what is below
    struct onednn_tensor source, weights, bias, target;
    struct onednn_window window;
    int64_t source_at, weights_at, bias_at, target_at, operands_at[POSTOPS_MAX];
    int weights_axis;   // along which they are parted, -1: each part has all
    int64_t weights_begin;
};
// How many parts, at most `most`, the request has. 1: it stays whole.
int onednn_count_parts(const struct onednn_request *whole, int most);
void onednn_make_part(const struct onednn_request *whole, int part, int parts, struct onednn_part *ret_part);
// Finds the place where a part's weights begin in those of the whole. False: they are no run of them.
bool onednn_find_weights(const struct onednn_part *part, const struct packing *whole, const struct packing *own,
                         int64_t *ret_at);
