// Memory of weights, and of what is computed from them, while a model is prepared, step by step: each has some from the
// first step that touches it to the last one, and after that only if a step reads it in every run. What a kernel has
// packed it does not read again. So at most the weights of a few steps are there beside the packed ones.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"

struct step_request;

struct kept_packed {
    memory_id memory;
    struct packing packing;
    size_t bytes;
    char *at;
};

struct kept_memory {
    const struct plan *plan;
    struct given_weights given;
    char **at;   // of every memory; NULL where it is not there
    struct kept_block *blocks;
    VEC(struct kept_packed) packed;   // weights that steps of this model have packed: whoever wants one alike shares it
    bool stays;                       // what the source has packed is not copied, as there is little memory
};

// `order`: in which the steps will be prepared. `at`, which is given afterwards, gets the addresses of weights and
// constants; it and the weights outlive the memory.
void kept_memory_init(struct kept_memory *k, const struct plan *plan, const uint32_t *order,
                      const struct given_weights *weights, struct arena *arena);
void kept_memory_free(struct kept_memory *k);   // gives all weights back
// Before a step of the plan is prepared. `left_out`: the operand whose memory the kernel asks for
// itself when it does not find it packed, or -1. False: a weight has no value.
bool kept_memory_enter(struct kept_memory *k, size_t step, int left_out, struct error *error);
// After it was prepared, and run where it is done once. `packed`: the operand that it does not read again, or -1.
void kept_memory_leave(struct kept_memory *k, size_t step, int packed);

// The packed weights of a step: those of another step, or of the model's source, where the view is the whole weight and
// the packing is one that they have (NULL: none is described). Else memory for them: then the plain ones are to be
// provided, and it is told when they are packed.
char *cpu_place_packed(const struct step_request *r, const struct packing *packing, size_t bytes, bool *ret_is_packed);
void cpu_note_packed(const struct step_request *r, const struct packing *packing, size_t bytes, char *packed);
bool cpu_provide_plain(const struct step_request *r);
bool cpu_packs_whole_weight(const struct plan *plan, const struct step *step);
