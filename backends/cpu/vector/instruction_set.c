// Which instruction set: asked of the processor, among those that this build has.
#include "backends/cpu/vector/vector.h"

extern const struct vector_functions vector_functions_baseline;
#ifdef VECTOR_HAS_X86_VARIANTS
extern const struct vector_functions vector_functions_avx2, vector_functions_avx512;
const struct vector_functions *vector_functions_best(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return &vector_functions_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &vector_functions_avx2;
    return &vector_functions_baseline;
}
#else
const struct vector_functions *vector_functions_best(void)
{
    return &vector_functions_baseline;
}
#endif
