// Kernels made for the steps of a plan: text, and how to launch it.
#pragma once
#include "backends/cuda/kernel_text.h"
#include "core/memory/vec.h"

struct arena;
struct definition;

struct generated_kernel {
    const char *text;   // complete
    unsigned blocks, threads;
    int n_pointers;
    const struct kernel_pointer *pointers;   // the arguments
};
struct generated_kernels {   // run in this order
    VEC(struct generated_kernel) list;
    size_t scratch_bytes;   // of KERNEL_SCRATCH
};

// The loops of a step of the loops kernel. Everything is allocated in `arena`; `prelude` is the machine's (gpu.h).
// False: a loop has more tensors than a kernel takes.
bool kernels_from_loops(const struct step *step, const char *prelude, struct arena *arena,
                        struct generated_kernels *ret_kernels);
// The definition of the operator that a step serves, over operands and results that stand in any way, with the step's
// epilogue. False: an element type without numbers, or too many tensors.
bool kernels_from_definition(const struct definition *d, const struct step *step, const char *prelude,
                             struct arena *arena, struct generated_kernels *ret_kernels);
// Are its values reals of single precision (so that epilogues can follow)?
bool definition_is_in_single_precision(const struct definition *d);

// Does no loop read or write what another one writes? Two that fill boxes of one tensor are known to be apart when
// their strides are equal and the distance of their corners is along one axis; where that is not seen the answer is no.
bool loops_are_independent(int n, const struct loop *loops);

// For both: completes the text in the arena and adds the kernel.
void kernels_add(struct generated_kernels *kernels, struct kernel_text *k, const char *prelude, struct arena *arena);
