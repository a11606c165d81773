// Functions that are compiled twice, for every processor and for those with wider vectors: one that is always inlined,
// and callers of it.
//     WITH_AVX2 static void add_by_8(...) { add(...); }
//     HAS_AVX2 ? add_by_8(...) : add(...)
#pragma once

#define INLINED static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define WITH_AVX2 __attribute__((target("avx2,fma")))
#define HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define WITH_AVX2
#define HAS_AVX2 false
#endif
