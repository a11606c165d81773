// The sizes that a Reshape leaves to ONNX: a dimension of the input at its own place is 0, and one more size is -1. All
// are said where that is wrong: a size that may be nothing would be taken for its place, and beside one the -1 says
// nothing.
#include "onnx/convert/reshape_sizes.h"

#include <string.h>

// A quotient that is nothing at the least sizes.
static bool may_vanish(const struct sizes *s, int64_t size)
{
    int64_t least[MAX_SYMBOLS];
    for (uint32_t i = 0; i < s->n_symbols; i++)
        least[i] = sizes_round_up(s, i, 1);
    return sizes_varies(s, size) && sizes_at(s, size, least) < 1;
}

static bool is_kept(const struct sizes *s, const struct type *x, uint32_t i, int64_t size)
{
    return sizes_varies(s, size) && i < (uint32_t)x->rank && x->dim[i] == size;
}

// The first size that varies and is not kept, or better one that may be nothing; `count` where there is none.
static uint32_t find_inferred(const struct sizes *s, const struct type *x, uint32_t count, const int64_t *sizes)
{
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++)
        if (sizes_varies(s, sizes[i]) && !is_kept(s, x, i, sizes[i]) &&
            (best == count || (may_vanish(s, sizes[i]) && !may_vanish(s, sizes[best]))))
            best = i;
    return best;
}

bool reshape_sizes_of(const struct sizes *s, const struct type *x, uint32_t count, const int64_t *sizes,
                      struct reshape_sizes *ret_said)
{
    uint32_t inferred = find_inferred(s, x, count, sizes);
    *ret_said = (struct reshape_sizes){0};
    for (uint32_t i = 0; i < count; i++) {
        if (sizes[i] == 0)
            return false;
        bool is_left = is_kept(s, x, i, sizes[i]);
        ret_said->list[i] = is_left ? 0 : i == inferred ? -1 : sizes[i];
        ret_said->allows_zero |= i != inferred && (!is_left || inferred < count) && may_vanish(s, sizes[i]);
    }
    if (ret_said->allows_zero)
        memcpy(ret_said->list, sizes, count * sizeof *sizes);
    return true;
}
