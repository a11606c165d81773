// The device "cpu": convolutions, matrix products and pooling by oneDNN, everything else by vectorized loops, on all
// cores. Every operator with a definition runs.
//
// Models may be run from any thread; what the calling one has of OpenMP is as before afterwards (kernel_scope.h).
#pragma once
#include "backends/contract/backend.h"

// NULL: the processor or the library does not serve (EXIT_UNSUPPORTED), or the cost file is malformed.
struct backend *cpu_backend_open(const struct backend_options *options, struct error *error);
