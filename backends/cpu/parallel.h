// All work of steps that several threads share goes through this; oneDNN's primitives alone know OpenMP themselves
// (kernel_scope.h).
#pragma once
#include "core/system/workers.h"

// NULL: OpenMP.
void parallel_for(const struct workers *w, int parts, parallel_function *function, void *argument);
