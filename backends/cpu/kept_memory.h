// Memory of weights, and of what is computed from them, while a model is prepared, step by step: each has some from the
// first step that touches it to the last one, and after that only if a step reads it in every run. What a kernel has
// packed it does not read again. So at most the weights of a few steps are there beside the packed ones.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"

struct packing;
struct step_request;

struct kept_memory {
    const struct plan *plan;
    struct given_weights given;
    char **at;   // of every memory; NULL where it is not there
    struct kept_block *blocks;
};

// `order`: in which the steps will be prepared. `at` of the plan's memories gets the addresses of weights and
// constants; it and the weights outlive the memory.
void kept_memory_init(struct kept_memory *k, const struct plan *plan, const uint32_t *order,
                      const struct given_weights *weights, char **at, struct arena *arena);
void kept_memory_free(struct kept_memory *k);   // gives all weights back
// Before a step of the plan is prepared. `left_out`: the operand whose memory the kernel asks for
// itself when it does not find it packed, or -1. False: a weight has no value.
bool kept_memory_enter(struct kept_memory *k, size_t step, int left_out, struct error *error);
// After it was prepared, and run where it is done once. `packed`: the operand that it does not read again, or -1.
void kept_memory_leave(struct kept_memory *k, size_t step, int packed);

// A weight that the source of the model has packed so, and NULL otherwise: then its plain memory is to be provided. The
// view has to be the whole of it.
const void *cpu_find_packed(const struct step_request *r, const struct packing *packing, size_t bytes);
bool cpu_provide_plain(const struct step_request *r);
bool cpu_packs_whole_weight(const struct plan *plan, const struct step *step);
