// Where weights and what is computed from them lie while a model is prepared, step by step: each has memory from the
// first step that touches it to the last one, and after that only if a step reads it in every run. What a kernel has
// packed it does not read again. So at most the weights of a few steps are there beside the packed ones.
#ifndef BACKENDS_CPU_KEPT_MEMORY_H
#define BACKENDS_CPU_KEPT_MEMORY_H
#include "backends/contract/backend.h"
#include "core/memory/arena.h"

struct kept_memory {
    const struct plan *plan;
    const struct weight_source *source;   // of weights that are given without data; may be NULL
    size_t n_weights;
    const struct tensor_value *weights;
    char **at;   // of every memory; NULL where it is not there
    struct kept_block *blocks;
};

// `at` of the plan's memories gets the addresses of weights and constants; it and the weights outlive the memory.
void kept_memory_init(struct kept_memory *k, const struct plan *plan, const struct weight_source *source,
                      size_t n_weights, const struct tensor_value *weights, char **at, struct arena *arena);
void kept_memory_free(struct kept_memory *k);   // gives all weights back
// Before a step of the plan is prepared, in their order. False: a weight has no value.
bool kept_memory_enter(struct kept_memory *k, size_t step, struct error *error);
// After it was prepared, and run where it is done once. `packed`: the operand that it does not read again, or -1.
void kept_memory_leave(struct kept_memory *k, size_t step, int packed);
#endif
