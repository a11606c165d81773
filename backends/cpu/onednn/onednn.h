// oneDNN behind a few functions: single-precision convolution, matrix product and pooling with post-operations, over
// tensors with strides. What differs between oneDNN 2 and 3 is in onednn_v2.c and onednn_v3.c.
#pragma once
#include "backends/contract/packing.h"
#include "backends/planning/postops.h"
#include "backends/planning/view.h"
#include "core/system/workers.h"
#include <stddef.h>

struct onednn;
struct onednn_primitive;

#define ONEDNN_MAX_RANK 12
struct onednn_tensor {
    int rank;
    int64_t dim[ONEDNN_MAX_RANK], stride[ONEDNN_MAX_RANK];
    bool is_free;   // the library chooses the layout (weights that are packed once)
    int block;   // axis 1 stands in blocks of 8 or 16, dense, of a tensor of rank 3 to 5; strides do not count. 0: no
};
struct onednn_window {   // of convolution and pooling; spatial axes
    int64_t kernel[ONEDNN_MAX_RANK], stride[ONEDNN_MAX_RANK], dilation[ONEDNN_MAX_RANK], pad_begin[ONEDNN_MAX_RANK],
        pad_end[ONEDNN_MAX_RANK];
};
enum onednn_algorithm { ONEDNN_DIRECT, ONEDNN_WINOGRAD };   // of convolution
#define ONEDNN_WINOGRAD_BLOCK 16                            // of channels, in which its images stand
enum onednn_pooling { ONEDNN_MAXIMUM, ONEDNN_MEAN_OF_INSIDE, ONEDNN_MEAN_OF_ALL };

struct onednn_lrn {   // across channels: x / (bias + alpha / size * (sum of squares of size neighbours)) ^ beta
    int64_t size;
    float alpha, beta, bias;
};

// Primitives are made to run as up to so many parts, each of which is one thread's, where they can be cut; with 1
// whole, on the library's own threads. `for_parts` runs the parts, within each of which the library has one thread.
// NULL: the library refuses this processor.
typedef void onednn_for_parts(const struct workers *workers, int parts, parallel_function *function, void *argument);
struct onednn *onednn_open(int parts, onednn_for_parts *for_parts);
void onednn_use_parts(struct onednn *o, int parts);   // of primitives that are made from now on
void onednn_close(struct onednn *o);
void onednn_forget_primitives(void);   // those that the library keeps, of all threads, beside those in use
int onednn_block_of_channels(void);    // that its kernels for this processor prefer
void onednn_version(int *ret_major, int *ret_minor, int *ret_patch);

// NULL: the library cannot do this. `bias` may be NULL. With groups, weights have a leading group axis.
struct onednn_primitive *onednn_convolution(struct onednn *o, enum onednn_algorithm algorithm,
                                            const struct onednn_tensor *source, const struct onednn_tensor *weights,
                                            const struct onednn_tensor *bias, const struct onednn_tensor *target,
                                            const struct onednn_window *window, const struct postops *ops);
struct onednn_primitive *onednn_matmul(struct onednn *o, const struct onednn_tensor *source,
                                       const struct onednn_tensor *weights, const struct onednn_tensor *bias,
                                       const struct onednn_tensor *target, const struct postops *ops);
struct onednn_primitive *onednn_pooling(struct onednn *o, enum onednn_pooling kind, const struct onednn_tensor *source,
                                        const struct onednn_tensor *target, const struct onednn_window *window);
struct onednn_primitive *onednn_lrn(struct onednn *o, const struct onednn_tensor *source,
                                    const struct onednn_tensor *target, const struct onednn_lrn *lrn);
void onednn_free(struct onednn_primitive *p);
int onednn_parts(const struct onednn_primitive *p);   // that run at the same time

// Does a convolution apply post-operations other than a relu entry by entry? That can take a hundred times as long as
// the convolution.
bool onednn_applies_slowly(const struct onednn_primitive *p);
bool onednn_is_reference(const struct onednn_primitive *p);   // the definition, entry by entry
// 0 for NULL.
size_t onednn_scratch_bytes(const struct onednn_primitive *p);
size_t onednn_weights_bytes(const struct onednn_primitive *p);
// How the primitive wants its weights. False: in a way that only the library knows.
bool onednn_describe_weights(const struct onednn_primitive *p, struct packing *ret_packing);
// Packs weights from a plain arrangement into the one that the primitive chose.
bool onednn_pack_weights(struct onednn_primitive *p, const struct onednn_tensor *plain, const void *from, void *to);

// Addresses of what the primitive has; `operands` are those of the post-operations that have one, in order.
struct onednn_arguments {
    void *source, *weights, *bias, *target, *scratch;
    void *operands[POSTOPS_MAX];
};
// `workers` are handed to whoever runs the parts.
bool onednn_run(struct onednn_primitive *p, const struct workers *workers, const struct onednn_arguments *arguments);
