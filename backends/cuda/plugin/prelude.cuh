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
#define SHARED __shared__
#define UNROLL _Pragma("unroll")
#define SYNC __syncthreads()
#define THREADS(t) for (int t = threadIdx.x, once = 1; once; once = 0)
#define KERNEL(parameters) extern "C" __global__ void __launch_bounds__(BLOCK) kernel parameters
#define BLOCK_NUMBER ((index)blockIdx.x)
#define BLOCK_COUNT ((index)gridDim.x)
#define ENTRY(arguments)
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
