// Steps as definitions of register tiles (generated/tile.h), for kernels that consist of these.
#pragma once
#include "backends/cpu/cpu_internal.h"
#include "backends/generated/tile.h"

struct tile_step {
    struct tile_definition definition;
    struct tile_schedule schedule;
    struct tile_image *operands;
    const struct view *source, *target;
    const struct loop *loop;   // the epilogue within the kernel, or NULL
    int64_t *numbers;
    const float **addresses;   // of operands
    int threads;
    bool is_product;
};
// A kernel of such a step, by tiles or by fewer products.
struct tile_kernel {
    struct tile_step step;
    struct cpu_behind *behind;   // the epilogue behind the kernel, or NULL
    tile_run_fn *run;
    float *weights;
    size_t weights_floats, scratch_floats;   // scratch of each part
};
bool cpu_tile_run(void *state, const struct execution *e);
size_t cpu_tile_scratch_bytes(const void *state);
size_t cpu_tile_weights(const void *state, char **ret_weights);
int cpu_tile_packed_operand(const void *state);
// Is it a convolution of images or a product, with known weights?
bool cpu_is_tiled(const struct plan *plan, const struct step *step);
// The form of such a step. False: how it stands is not of this form.
bool cpu_tile_define(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan,
                     const struct step *step);
// False: it has one that is to run behind the kernel. Images that join rows have to be joined behind this.
bool cpu_tile_define_epilogue(struct tile_step *s, const struct step *step, struct arena *arena);
// With its epilogue, where the kernel takes it (s->loop), and rows of pixels that follow each other everywhere as one.
// False: how it stands is not of this form.
bool cpu_tile_define_whole(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan,
                           const struct step *step, struct arena *arena);
// How far weights of neighbouring results, channels, rows and columns are apart.
void cpu_tile_weight_distances(const struct step *step, int64_t ret_distances[4]);
// With a schedule: the weights for the kernel, at `ret_packed`, and its numbers.
void cpu_tile_prepare(struct tile_step *s, const struct step_request *r, float *ret_packed);
void cpu_tile_find_addresses(const struct tile_step *s, char *const *memory);
