// Rows are copied as memory is; what is transposed goes by tiles that stay in the nearest cache.
#include "backends/cpu/loops/copy.h"

#include "core/memory/vec.h"
#include <string.h>

#define TILE 16
#define SCATTERED 256

// n entries with strides, by size; four at a time, so that where the code happens to stand matters little.
#define COPY_ONE(TYPE, i) *(TYPE *)(void *)(to + (i)*to_stride) = *(const TYPE *)(const void *)(from + (i)*from_stride)
#define COPY_STRIDED(TYPE)                                                                                             \
    for (; n >= 4; n -= 4, to += 4 * to_stride, from += 4 * from_stride) {                                             \
        COPY_ONE(TYPE, 0);                                                                                             \
        COPY_ONE(TYPE, 1);                                                                                             \
        COPY_ONE(TYPE, 2);                                                                                             \
        COPY_ONE(TYPE, 3);                                                                                             \
    }                                                                                                                  \
    for (int64_t i = 0; i < n; i++)                                                                                    \
    COPY_ONE(TYPE, i)

static void copy_line(char *to, const char *from, int64_t n, int64_t to_stride, int64_t from_stride, int64_t size)
{
    if (to_stride == size && from_stride == size) {
        memcpy(to, from, (size_t)(n * size));
    } else if (size == 4) {
        COPY_STRIDED(uint32_t);
    } else if (size == 8) {
        COPY_STRIDED(uint64_t);
    } else if (size == 2) {
        COPY_STRIDED(uint16_t);
    } else if (size == 1) {
        COPY_STRIDED(uint8_t);
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * to_stride, from + i * from_stride, (size_t)size);
    }
}

// The last axis runs along the destination, axis `a` along the source: both in tiles that stay in the nearest cache.
static void copy_tiles(char *to, const char *from, const int64_t *dim, const int64_t *to_stride,
                       const int64_t *from_stride, int a, int last, int64_t size)
{
    for (int64_t i = 0; i < dim[a]; i += TILE)
        for (int64_t j = 0; j < dim[last]; j += TILE) {
            int64_t rows = dim[a] - i < TILE ? dim[a] - i : TILE, columns = dim[last] - j < TILE ? dim[last] - j : TILE;
            for (int64_t k = i; k < i + rows; k++)
                copy_line(to + k * to_stride[a] + j * to_stride[last],
                          from + k * from_stride[a] + j * from_stride[last], columns, to_stride[last],
                          from_stride[last], size);
        }
}

// Few entries on the last axis: lines along the source, scattered into the destination.
static void copy_scattered(char *to, const char *from, const int64_t *dim, const int64_t *to_stride,
                           const int64_t *from_stride, int a, int last, int64_t size)
{
    for (int64_t i = 0; i < dim[a]; i += SCATTERED) {
        int64_t n = dim[a] - i < SCATTERED ? dim[a] - i : SCATTERED;
        for (int64_t j = 0; j < dim[last]; j++)
            copy_line(to + i * to_stride[a] + j * to_stride[last], from + i * from_stride[a] + j * from_stride[last], n,
                      to_stride[a], from_stride[a], size);
    }
}

static int axis_along_source(int rank, const int64_t *dim, const int64_t *from_stride, int64_t size)
{
    for (int i = rank - 2; i >= 0; i--)
        if (from_stride[i] == size && dim[i] >= 4)
            return i;
    return -1;
}

void copy_box(char *to, const char *from, int rank, const int64_t *dim, const int64_t *to_stride,
              const int64_t *from_stride, int64_t size)
{
    if (ANY(int, i, rank, dim[i] == 0))
        return;
    int last = rank - 1;
    int along = from_stride[last] == size ? -1 : axis_along_source(rank, dim, from_stride, size);
    int64_t place[COPY_MOST_AXES] = {0};
    for (;;) {
        if (along >= 0)
            (dim[last] < TILE ? copy_scattered : copy_tiles)(to, from, dim, to_stride, from_stride, along, last, size);
        else
            copy_line(to, from, dim[last], to_stride[last], from_stride[last], size);
        int axis = last - 1;
        for (; axis >= 0; axis--) {
            if (axis == along)
                continue;
            to += to_stride[axis];
            from += from_stride[axis];
            if (++place[axis] < dim[axis])
                break;
            to -= place[axis] * to_stride[axis];
            from -= place[axis] * from_stride[axis];
            place[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}
