// Planning for the device "cuda" without one: steps, and the distinct kernels and library calls that they come to.
#pragma once
#include "backends/cuda/internal.h"

struct kernel_texts {   // each once; none at first, of zeros
    struct arena arena;
    struct table table;
    VEC(const char *) list;
};
void kernel_texts_free(struct kernel_texts *texts);

// Calls `visit` for every step of the graph's plan. False: it cannot be planned.
typedef void visit_planned_step(void *context, const struct plan *plan, const struct step *step);
bool plan_for_cuda(const struct graph *g, bool allows_tf32, visit_planned_step *visit, void *context);
// Adds the kernels that a step is generated as, by a tile where `choice` is one; false: none can be made.
bool kernel_texts_add_step(struct kernel_texts *texts, const struct plan *plan, const struct step *step,
                           const char *choice, const char *prelude);
