// Loops over tensors that stand in blocks: an access that is  c / B * s + c % B  is no affine one in c, but it is in
// the two variables  c / B  and  c % B.  So each variable along which some access has blocks becomes two.
#include "backends/planning/plan_blocks.h"

#include "core/memory/arena.h"
#include <assert.h>
#include <string.h>

static void insert_variable(int64_t *numbers, int n, int at)
{
    memmove(&numbers[at + 1], &numbers[at], sizeof *numbers * (size_t)(n - at));
}

static void split_access(struct loop_access *a, int n, int variable, int block)
{
    bool has_blocks = a->block && a->block_variable == variable;
    assert(!has_blocks || a->block == block);
    insert_variable(a->stride, n, variable);
    a->stride[variable + 1] = has_blocks ? 1 : a->stride[variable];
    if (!has_blocks)
        a->stride[variable] *= block;
    if (has_blocks)
        a->block = a->block_variable = 0;
    else if (a->block && a->block_variable > variable)
        a->block_variable++;
}

static void split_variable(struct loop *l, int variable, int block)
{
    int n = l->rank + l->n_reduced;
    insert_variable(l->dim, n, variable);
    l->dim[variable + 1] = block;
    l->dim[variable] /= block;
    for (int i = 0; i < l->n_operands; i++)
        split_access(&l->operands[i], n, variable, block);
    for (int i = 0; i < l->n_results; i++)
        split_access(&l->results[i].to, n, variable, block);
    l->rank++;
}

static const struct loop_access *access_with_blocks(const struct loop *l)
{
    for (int i = 0; i < l->n_operands; i++)
        if (l->operands[i].block)
            return &l->operands[i];
    for (int i = 0; i < l->n_results; i++)
        if (l->results[i].to.block)
            return &l->results[i].to;
    return NULL;
}

void loop_split_blocks(struct loop *l)
{
    const struct loop_access *a;
    while ((a = access_with_blocks(l)))
        split_variable(l, a->block_variable, a->block);
}

struct loop *loop_copy_without_blocks(const struct loop *l, struct arena *arena)
{
    struct loop *copy = arena_copy_array(arena, l, 1);
    copy->operands = arena_copy_array(arena, l->operands, l->n_operands);
    copy->results = arena_copy_array(arena, l->results, l->n_results);
    loop_split_blocks(copy);
    return copy;
}
