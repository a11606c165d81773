// Steps as definitions of register tiles (generated/tile.h), for kernels that consist of these.
#pragma once
#include "backends/cpu/kernel.h"
#include "backends/generated/tile.h"

struct tile_step {
    struct tile_definition definition;
    struct tile_schedule schedule;
    struct tile_image *operands;
    const struct view *source, *target;
    const struct loop *loop;   // the epilogue within the kernel, or NULL
    int64_t *numbers;
    const float **addresses;           // of operands
    const struct loop_access *scale;   // or NULL
    int threads;
    bool is_product;
};
// Is it a convolution of images or a product, with known weights?
bool cpu_is_tiled(const struct plan *plan, const struct step *step);
// Is it a maximum or a mean of windows of images? A mean is a depthwise convolution by ones, whose results are divided
// by how many places of a window count.
bool cpu_is_pool(const struct step *step);
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
void cpu_tile_find_addresses(const struct tile_step *s, char *const *memory);
