// Moving boxes of entries: rows where both sides are contiguous, tiles where one side is transposed.
#pragma once
#include "expressions/type.h"
#include <stdint.h>

#define COPY_MOST_AXES (2 * MAX_RANK + 2)
// dim[0 .. rank) entries with strides in bytes on both sides; the last axis is the destination's inner.
void copy_box(char *to, const char *from, int rank, const int64_t *dim, const int64_t *to_stride,
              const int64_t *from_stride, int64_t size);
