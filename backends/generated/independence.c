// Do loops touch each other's results? Those that do not are parts of one launch.
#include "backends/generated/independence.h"

#include "core/numbers/integers.h"
#include <string.h>

static bool reads_what_it_writes(const struct loop *reader, const struct loop *writer)
{
    return ANY(int, i, reader->n_operands,
               ANY(int, k, writer->n_results, reader->operands[i].memory == writer->results[k].to.memory));
}

// Is the axis a digit of the places of both boxes, with values from 0 to `size`? All smaller strides together stay
// below its own, and all larger ones are multiples of the least of them, which the digit does not reach: then a
// difference in this digit is made up by nothing else.
static bool is_digit(const struct loop *a, const struct loop *b, const int64_t *stride, int axis, int64_t size)
{
    int64_t below = 0, least = INT64_MAX;
    for (int k = 0; k < a->rank; k++)
        if (larger_of(a->dim[k], b->dim[k]) > 1 && stride[k] > stride[axis] && stride[k] < least)
            least = stride[k];
    for (int k = 0; k < a->rank; k++) {
        int64_t most = larger_of(a->dim[k], b->dim[k]);
        if (k == axis || most == 1)
            continue;
        if (stride[k] < 0 || (stride[k] > stride[axis] && stride[k] % least))
            return false;
        below += stride[k] <= stride[axis] ? stride[k] * (most - 1) : 0;
    }
    return stride[axis] > 0 && below < stride[axis] && least / stride[axis] >= size;
}

// Two boxes of one tensor, given by the loops that write them: apart when the distance of their corners is along one
// axis, and on it the lower one ends before the other begins.
static bool are_apart(const struct loop *a, const struct loop_access *to_a, const struct loop *b,
                      const struct loop_access *to_b)
{
    if (to_a->memory != to_b->memory)
        return true;
    if (a->rank != b->rank || memcmp(to_a->stride, to_b->stride, sizeof to_a->stride[0] * (size_t)a->rank) != 0)
        return false;
    const struct loop *low = to_a->offset <= to_b->offset ? a : b;
    int64_t distance = to_a->offset <= to_b->offset ? to_b->offset - to_a->offset : to_a->offset - to_b->offset;
    for (int i = 0; i < a->rank; i++) {
        int64_t stride = to_a->stride[i];
        if (stride <= 0 || distance % stride || distance / stride < low->dim[i])
            continue;
        if (is_digit(a, b, to_a->stride, i, distance / stride + (low == a ? b : a)->dim[i]))
            return true;
    }
    return false;
}

static bool write_apart(const struct loop *a, const struct loop *b)
{
    return ALL(int, i, a->n_results, ALL(int, k, b->n_results, are_apart(a, &a->results[i].to, b, &b->results[k].to)));
}

bool loops_are_independent(int n, const struct loop *loops)
{
    return ALL(
        int, i, n,
        ALL(int, k, n, i == k || (!reads_what_it_writes(&loops[i], &loops[k]) && write_apart(&loops[i], &loops[k]))));
}
