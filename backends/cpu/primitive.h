// A step that runs as one primitive of oneDNN, or by its definition where the library refuses: what convolutions,
// products with weights, poolings and normalizations share. Weights are packed once into what the primitive prefers.
#pragma once
#include "backends/cpu/epilogue.h"

struct compiled_loops;
struct cpu_fallback;

struct cpu_primitive {
    struct onednn_primitive *primitive;
    struct cpu_fallback *fallback;   // instead of the primitive, or NULL
    struct view source, weights, target;
    struct view
        written;   // by the primitive: the target, or where that is no dense tensor one like it, in scratch memory
    struct compiled_loops *move;          // from there to the target; NULL: it writes that
    struct onednn_tensor plain_weights;   // as they stand
    const struct loop *loop;              // the epilogue, or NULL
    struct cpu_epilogue epilogue;         // what the primitive does of it
    struct cpu_behind *loops;             // the epilogue, where they run it behind the primitive, or NULL
    bool has_weights, has_constant_weights;
    char *packed;
};
// When `target` is set, and before the primitive is made.
void cpu_primitive_find_written(struct cpu_primitive *p, const struct step_request *r);
// The last thing to prepare, when all but `fallback` and `packed` is set and the primitive made, if it could be. Gives
// the state, or NULL with the request's error.
void *cpu_primitive_finish(struct cpu_primitive *p, const struct step_request *r);

// Methods of kernels with that state.
bool cpu_primitive_run(void *state, const struct execution *e);
size_t cpu_primitive_scratch_bytes(const void *state);
size_t cpu_primitive_weights(const void *state, char **ret_weights);
int cpu_primitive_packed_operand(const void *state);
bool cpu_primitive_describe_weights(const void *state, struct packing *ret_packing);
void cpu_primitive_free(void *state);
// All of them, of a kernel with weights.
#define CPU_PRIMITIVE_WITH_WEIGHTS                                                                                     \
    .run = cpu_primitive_run, .scratch_bytes = cpu_primitive_scratch_bytes, .weights = cpu_primitive_weights,          \
    .packed_operand = cpu_primitive_packed_operand, .describe_weights = cpu_primitive_describe_weights,                \
    .free = cpu_primitive_free
