// The type of NAMED(run), which all kernels define: `given` is what the kernel's header says, one after the other, and
// scratch is of the part.
#pragma once

typedef void generated_run_fn(const void *const *given, float *scratch, int part, int parts);
