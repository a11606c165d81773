// The words of kernels (kernel_text.h) in C for the processor: blocks one after the other, threads one after the other
// between two SYNCs. Not a header of the project: it stands before a kernel's text.
#include <math.h>
#include <stdint.h>
#include <tgmath.h>

float half_to_float(uint16_t bits);
uint16_t half_from_float(float value);
float bfloat_to_float(uint16_t bits);
uint16_t bfloat_from_float(float value);
#define half_to_real(h) ((real)half_to_float(h))
#define half_from_real(r) half_from_float((float)(r))
#define bfloat_to_real(h) ((real)bfloat_to_float(h))
#define bfloat_from_real(r) bfloat_from_float((float)(r))

#define DEVICE inline
#define RESTRICT restrict
#define SHARED static
#define UNROLL
#define OWN(name, n)                                                                                                   \
    static real name[BLOCK][n];                                                                                        \
    kernel_has_tiles = 1
#define MINE(name) name[t]
#define FRESH(entry) (entry)
#define ROUNDED(r) rounded_to_tf32(r)
#define COUNT_BLOCKS(counter, n, last) (last = ++*(counter) == (n), *(counter) = last ? 0 : *(counter))
#define SYNC
#define THREADS(t) for (int t = 0; t < BLOCK; t++)
#define BLOCK_NUMBER ((index)block_number)
#define BLOCK_COUNT ((index)block_count)
#define INFINITE ((real)INFINITY)
static inline float rounded_to_tf32(float f)
{
    union {
        float real;
        uint32_t bits;
    } u = {f};
    if (isfinite(f))
        u.bits = (u.bits + 0x1000) & ~(uint32_t)0x1fff;
    return u.real;
}
#define KERNEL(parameters)                                                                                             \
    int kernel_has_tiles;                                                                                              \
    static unsigned block_number, block_count;                                                                         \
    static void kernel parameters
#define ENTRY(arguments)                                                                                               \
    void kernel_entry(void *const *addresses, unsigned n_blocks);                                                      \
    void kernel_entry(void *const *addresses, unsigned n_blocks)                                                       \
    {                                                                                                                  \
        block_count = n_blocks;                                                                                        \
        for (block_number = 0; block_number < n_blocks; block_number++)                                                \
            kernel arguments;                                                                                          \
    }
#define REDUCE(array, f)                                                                                               \
    for (int half = BLOCK / 2; half > 0; half /= 2)                                                                    \
        for (int t = 0; t < half; t++)                                                                                 \
    array[t] = f(array[t], array[t + half])
