// Axes that follow one another in all accesses become one; then an access is offsets by what is left.
#include "backends/cuda/nest.h"

#include "core/memory/arena.h"
#include <inttypes.h>
#include <string.h>

static const struct loop_access *access_of_loop(const struct loop *loop, int access)
{
    return access < loop->n_operands ? &loop->operands[access] : &loop->results[access - loop->n_operands].to;
}

struct nest nest_of_loop(const struct loop *loop, int first, int n, char letter, struct arena *arena)
{
    struct nest nest = {.letter = letter, .n = n, .n_accesses = loop->n_operands + loop->n_results};
    for (int i = 0; i < n; i++) {
        nest.dim[i] = loop->dim[first + i];
        nest.stride[i] = arena_array(arena, int64_t, nest.n_accesses + 1);
        for (int a = 0; a < nest.n_accesses; a++)
            if (a < loop->n_operands || first + i < loop->rank)
                nest.stride[i][a] = access_of_loop(loop, a)->stride[first + i];
    }
    return nest;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static void sort_axes(struct nest *nest, int leading)
{
    for (int i = 1; i < nest->n; i++) {
        int64_t dim = nest->dim[i], *stride = nest->stride[i];
        int at = i;
        for (; at > 0 && magnitude(nest->stride[at - 1][leading]) < magnitude(stride[leading]); at--) {
            nest->dim[at] = nest->dim[at - 1];
            nest->stride[at] = nest->stride[at - 1];
        }
        nest->dim[at] = dim;
        nest->stride[at] = stride;
    }
}

static bool follow_one_another(const struct nest *nest, int outer, int inner)
{
    for (int a = 0; a < nest->n_accesses; a++)
        if (nest->stride[outer][a] != nest->stride[inner][a] * nest->dim[inner])
            return false;
    return true;
}

void nest_simplify(struct nest *nest, int leading)
{
    int n = 0;
    for (int i = 0; i < nest->n; i++) {
        if (nest->dim[i] == 1)
            continue;
        nest->dim[n] = nest->dim[i];
        nest->stride[n++] = nest->stride[i];
    }
    nest->n = n;
    if (nest->n_accesses > leading)
        sort_axes(nest, leading);
    n = 0;
    for (int i = 0; i < nest->n; i++) {
        bool is_joined = n > 0 && follow_one_another(nest, n - 1, i);
        if (is_joined)
            nest->dim[n - 1] *= nest->dim[i];
        else
            nest->dim[n++] = nest->dim[i];
        nest->stride[n - 1] = nest->stride[i];
    }
    nest->n = n;
}

int64_t nest_places(const struct nest *nest)
{
    int64_t places = 1;
    for (int i = 0; i < nest->n; i++)
        places *= nest->dim[i];
    return places;
}

void nest_add_places(const struct nest *nest, struct text *out, const char *linear)
{
    int64_t behind = 1;
    for (int i = nest->n - 1; i >= 0; i--) {
        text_printf(out, "const index %c%d = ", nest->letter, i);
        text_add(out, linear);
        if (behind > 1)
            text_printf(out, " / %" PRId64, behind);
        if (i > 0)
            text_printf(out, " %% %" PRId64, nest->dim[i]);
        text_add(out, ";\n");
        behind *= nest->dim[i];
    }
}

void nest_add_offset(const struct nest *nest, struct text *out, int access)
{
    for (int i = 0; i < nest->n; i++) {
        int64_t stride = nest->stride[i][access];
        if (stride == 0)
            continue;
        text_printf(out, " + %c%d", nest->letter, i);
        if (stride != 1)
            text_printf(out, " * %" PRId64, stride);
    }
}
