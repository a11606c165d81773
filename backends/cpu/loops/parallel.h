// All work of steps that several threads share goes through this; oneDNN's primitives know OpenMP themselves, where
// they are not cut into parts (kernel_scope.h, onednn/parts.h).
#pragma once
#include "core/system/workers.h"

// NULL: OpenMP.
void parallel_for(const struct workers *w, int parts, parallel_function *function, void *argument);
// The same with the library's kernels within the parts, each of which is one thread to it.
void parallel_for_library(const struct workers *w, int parts, parallel_function *function, void *argument);
