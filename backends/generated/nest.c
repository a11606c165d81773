// Axes that follow one another in all accesses become one; then an access is offsets by what is left.
#include "backends/generated/nest.h"

#include "backends/generated/loop_text.h"
#include "core/memory/arena.h"
#include <inttypes.h>

struct nest nest_of_loop(const struct loop *loop, int first, int n, char letter, struct arena *arena)
{
    struct nest nest = {.letter = letter, .n = n, .n_accesses = loop->n_operands + loop->n_results};
    for (int i = 0; i < n; i++) {
        nest.dim[i] = loop->dim[first + i];
        nest.stride[i] = arena_array(arena, int64_t, nest.n_accesses + 1);
        for (int a = 0; a < nest.n_accesses; a++)
            if (a < loop->n_operands || first + i < loop->rank)
                nest.stride[i][a] = loop_access_at(loop, a)->stride[first + i];
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
    return ALL(int, a, nest->n_accesses, nest->stride[outer][a] == nest->stride[inner][a] * nest->dim[inner]);
}

static void drop_single_places(struct nest *nest)
{
    int n = 0;
    for (int i = 0; i < nest->n; i++) {
        if (nest->dim[i] == 1)
            continue;
        nest->dim[n] = nest->dim[i];
        nest->stride[n++] = nest->stride[i];
    }
    nest->n = n;
}

void nest_join(struct nest *nest)
{
    int n = 0;
    drop_single_places(nest);
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

void nest_simplify(struct nest *nest, int leading)
{
    drop_single_places(nest);
    if (nest->n_accesses > leading)
        sort_axes(nest, leading);
    nest_join(nest);
}

int64_t nest_places(const struct nest *nest)
{
    return PRODUCT_ALL(int64_t, int, i, nest->n, nest->dim[i]);
}

// "42", or "n[3]"
static void add_number(const struct nest *nest, struct text *out, int64_t number)
{
    if (nest->told) {
        text_printf(out, "n[%zu]", nest->told->list.count);
        vec_push(&nest->told->list, number);
    } else {
        text_printf(out, "%" PRId64, number);
    }
}

void nest_add_places(const struct nest *nest, struct text *out, const char *linear)
{
    int64_t behind = 1;
    for (int i = nest->n - 1; i >= 0; behind *= nest->dim[i--]) {
        text_printf(out, "const index %c%d = %s", nest->letter, i, linear);
        if (i < nest->n - 1) {
            text_add(out, " / ");
            add_number(nest, out, behind);
        }
        if (i > 0) {
            text_add(out, " % ");
            add_number(nest, out, nest->dim[i]);
        }
        text_add(out, ";\n");
    }
}

void nest_add_offset(const struct nest *nest, struct text *out, int access)
{
    for (int i = 0; i < nest->n; i++) {
        int64_t stride = nest->stride[i][access];
        if (stride == 0)
            continue;
        text_printf(out, " + %c%d", nest->letter, i);
        if (stride == 1 && !nest->told)
            continue;
        text_add(out, " * ");
        add_number(nest, out, stride);
    }
}
