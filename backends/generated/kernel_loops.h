// Kernels from the loops of a plan's step.
#pragma once
#include "backends/generated/kernels.h"

// The loops of a step of the loops kernel. Everything is allocated in `arena`; `prelude` is the machine's (gpu.h).
// False: a loop has more tensors than a kernel takes.
bool kernels_from_loops(const struct step *step, const char *prelude, struct arena *arena,
                        struct generated_kernels *ret_kernels);
// Completes the text of loops or of a definition in the arena and adds the kernel.
void kernels_add(struct generated_kernels *kernels, struct kernel_text *k, const char *prelude, struct arena *arena);
