// The words of kernels (kernel_text.h) on a GPU. No header is needed, so that none must be found at run time.
typedef unsigned char uint8_t;
typedef signed char int8_t;
typedef unsigned short uint16_t;
typedef short int16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;

#define DEVICE __device__ __forceinline__
#define RESTRICT __restrict__
#define SHARED __shared__ __align__(16)   // so that neighbours are read at once
#define UNROLL _Pragma("unroll")
#define SYNC __syncthreads()
#define THREADS(t) for (int t = threadIdx.x, once = 1; once; once = 0)
#define KERNEL(parameters) extern "C" __global__ void __launch_bounds__(BLOCK) kernel parameters
#define BLOCK_NUMBER ((index)blockIdx.x)
#define BLOCK_COUNT ((index)gridDim.x)
#define ENTRY(arguments)
#define OWN(name, n) real name[n]
#define MINE(name) name
#define FRESH(entry) __ldcg(&(entry))
#define COUNT_BLOCKS(counter, n, last)                                                                                 \
    do {                                                                                                               \
        __threadfence();                                                                                               \
        __syncthreads();                                                                                               \
        if (threadIdx.x == 0) {                                                                                        \
            last = atomicAdd(counter, 1) == (n) - 1;                                                                   \
            if (last)                                                                                                  \
                *(counter) = 0;                                                                                        \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        __threadfence();                                                                                               \
    } while (0)
#define INFINITE ((real)__longlong_as_double(0x7ff0000000000000ll))

static DEVICE float half_to_real(uint16_t h)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}

static DEVICE uint16_t half_from_real(float f)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

static DEVICE uint16_t half_from_real(double d)
{
    uint16_t h;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(d));
    return h;
}

static DEVICE float bfloat_to_real(uint16_t h)
{
    return __uint_as_float((uint32_t)h << 16);
}

static DEVICE uint16_t bfloat_from_real(float f)
{
    uint32_t bits = __float_as_uint(f);
    return (uint16_t)(f != f ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#if __CUDA_ARCH__ >= 800
static DEVICE float rounded(float f)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(f));
    return __uint_as_float(bits);
}

static DEVICE uint32_t bits_of(float f)
{
    return __float_as_uint(f);
}

static DEVICE void multiply_fragments(float *sum, const float *x, int x_row, const float *y, int y_row, int lane)
{
    const int group = lane / 4, k = lane % 4;
    x += k * x_row + group;
    y += k * y_row + group;
    // All threads of a warp take part: it must not be moved to where only some of them are.
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(bits_of(x[0])), "r"(bits_of(x[8])), "r"(bits_of(x[4 * x_row])), "r"(bits_of(x[4 * x_row + 8])),
                   "r"(bits_of(y[0])), "r"(bits_of(y[4 * y_row])));
}
#define ROUNDED(r) rounded(r)
#define MULTIPLY_FRAGMENTS(sum, x, x_row, y, y_row, lane) multiply_fragments(sum, x, x_row, y, y_row, lane)
#endif

// Within a warp by exchange, then over the warps.
#define REDUCE(array, f)                                                                                               \
    do {                                                                                                               \
        real mine = array[threadIdx.x];                                                                                \
        for (int distance = 16; distance > 0; distance >>= 1)                                                          \
            mine = f(mine, __shfl_xor_sync(0xffffffffu, mine, distance));                                              \
        __syncthreads();                                                                                               \
        if (threadIdx.x % 32 == 0)                                                                                     \
            array[threadIdx.x / 32] = mine;                                                                            \
        __syncthreads();                                                                                               \
        if (threadIdx.x == 0)                                                                                          \
            for (int warp = 1; warp < BLOCK / 32; warp++)                                                              \
                array[0] = f(array[0], array[warp]);                                                                   \
        __syncthreads();                                                                                               \
    } while (0)
