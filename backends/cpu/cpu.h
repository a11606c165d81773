// The device "cpu": convolutions, matrix products and pooling by oneDNN or generated kernels, everything else by these
// or loops, on all cores. Every operator with a definition runs.
//
// Models may be run from any thread; what the calling one has of OpenMP is as before afterwards (kernel_scope.h).
#pragma once
#include "backends/contract/backend.h"

// NULL: the processor, the library or the file of kernels does not serve (EXIT_UNSUPPORTED), or the cost file is
// malformed.
struct backend *cpu_backend_open(const struct backend_options *options, struct error *error);
// "AMD EPYC avx512": the processor, and which of its instructions are used.
void cpu_describe_processor(char *ret_text, size_t size);
// Models prepared from now on run on so many threads, and no more than it was opened for; gives the former number.
int cpu_backend_use_threads(struct backend *b, int threads);
// Writes the generated kernels of what was prepared, for a machine without a compiler (backend_options.kernels). False:
// there are none, or they cannot be written.
bool cpu_write_kernels(struct backend *b, const char *path, struct error *error);
