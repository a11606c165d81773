// One step of a plan made ready: a library's plan, or generated kernels.
#pragma once
#include "backends/cuda/internal.h"

// `choice` as in a step's cost. Everything but the plan is in `arena`. False: error.
bool step_prepare(struct cuda_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                  struct arena *arena, struct prepared_step *ret_step, struct error *error);
void step_choice(const struct cuda_backend *b, const struct step *step, const struct prepared_step *s, char *ret_choice,
                 size_t size);
// Notes the kernels that preparing it so takes, to be compiled with others (kernel_cache.h).
void step_expect(struct cuda_backend *b, const struct plan *plan, const struct step *step, const char *choice);
bool step_launch(struct cuda_backend *b, const struct prepared_step *s, const struct addresses *at);
void step_release(struct cuda_backend *b, struct prepared_step *s);
// Kernels for a step as text, for one machine: by a tile where `choice` is one.
bool step_generate(const struct plan *plan, const struct step *step, const char *choice, const char *prelude,
                   struct arena *arena, struct generated_kernels *ret_kernels);
