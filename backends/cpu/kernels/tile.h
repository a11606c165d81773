// Kernels that consist of register tiles, or of fewer products.
#pragma once
#include "backends/cpu/generated.h"
#include "backends/cpu/tile_step.h"
#include "backends/generated/tile_arguments.h"

struct tile_kernel {
    struct tile_step step;
    struct cpu_behind *behind;   // the epilogue behind the kernel, or NULL
    generated_run_fn *run;
    bool is_pool;   // weights are ones, or there are none
    float *weights;
    size_t weights_floats, scratch_floats;   // scratch of each part
};
bool cpu_tile_run(void *state, const struct execution *e);
size_t cpu_tile_scratch_bytes(const void *state);
size_t cpu_tile_weights(const void *state, char **ret_weights);
int cpu_tile_packed_operand(const void *state);
// With a schedule: the weights for the kernel, at `ret_packed`, and its numbers.
void cpu_tile_prepare(struct tile_step *s, const struct step_request *r, float *ret_packed);
