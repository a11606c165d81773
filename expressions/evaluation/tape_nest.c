// One pass over all iterations notes what each adds to every index of every read.
#include "expressions/evaluation/tape_nest.h"

#include "core/memory/arena.h"
#include "expressions/affine.h"

bool is_product_in_sum(const struct expr_node *n, enum scalar_function fn)
{
    return fn == FN_ADD && n->kind == EXPR_APPLY && n->fn == FN_MUL;
}

static bool is_linear_index(const struct definition *d, expr e)
{
    struct affine_form form;
    return affine_form_of(d, e, &form) && affine_form_is_of_variables(d, &form);
}

static bool is_linear_read(const struct definition *d, const struct expr_node *n)
{
    bool is_linear = n->kind == EXPR_READ;
    for (int i = 0; is_linear && i < n->count; i++)
        is_linear = is_linear_index(d, d->indices.items[n->a + (expr)i]);
    return is_linear;
}

// The loops, and what they reduce.
static void find_reads(const struct definition *d, expr e, enum scalar_function fn, struct nest *nest)
{
    const struct expr_node *n = &d->nodes.items[e];
    for (nest->n_steps = 1; n->kind == EXPR_REDUCE && n->fn == fn; n = &d->nodes.items[n->a]) {
        if (nest->n_loops == MAX_NEST_LOOPS || nest->n_steps > MAX_NEST_STEPS)
            return;
        nest->n_steps *= d->extents.items[n->value];
        nest->loops[nest->n_loops++] = n->value;
    }
    bool is_product = is_product_in_sum(n, fn);
    nest->n_reads = is_product ? 2 : 1;
    nest->reads[0].node = is_product ? &d->nodes.items[n->a] : n;
    nest->reads[1].node = is_product ? &d->nodes.items[n->b] : n;
    nest->is_linear = nest->n_steps > 0 && nest->n_steps <= MAX_NEST_STEPS && is_linear_read(d, nest->reads[0].node) &&
                      is_linear_read(d, nest->reads[1].node);
}

static void start_read(const struct definition *d, const struct nest *nest, struct nest_read *r, struct arena *arena)
{
    const struct type *t = definition_tensor(d, r->node->value);
    int64_t stride = 1;
    r->of_step = arena_array(arena, int64_t, nest->n_steps);
    for (int i = r->node->count; i-- > 0; stride *= t->dim[i])
        r->axes[i] = (struct nest_axis){.index = d->indices.items[r->node->a + (expr)i],
                                        .size = t->dim[i],
                                        .stride = stride,
                                        .of_step = arena_array(arena, int64_t, nest->n_steps)};
}

static void look_at_step(const struct definition *d, const int64_t *variables, struct nest_read *r, int64_t step)
{
    for (int i = 0; i < r->node->count; i++) {
        struct nest_axis *axis = &r->axes[i];
        int64_t added = index_value(d, axis->index, variables);
        if (step == 0)
            axis->origin = added;
        added -= axis->origin;
        axis->of_step[step] = added;
        axis->low = added < axis->low ? added : axis->low;
        axis->high = added > axis->high ? added : axis->high;
        r->of_step[step] += added * axis->stride;
    }
}

static void advance_loops(const struct definition *d, const struct nest *nest, int64_t *variables)
{
    int i = nest->n_loops - 1;
    while (i >= 0 && ++variables[nest->loops[i]] == d->extents.items[nest->loops[i]])
        variables[nest->loops[i--]] = 0;
}

static void look_at_steps(const struct definition *d, struct nest *nest, struct arena *arena)
{
    int64_t *variables = arena_array(arena, int64_t, d->extents.count);
    for (int64_t step = 0; step < nest->n_steps; step++, advance_loops(d, nest, variables))
        for (int i = 0; i < nest->n_reads; i++)
            look_at_step(d, variables, &nest->reads[i], step);
}

const struct nest *nest_make(const struct definition *d, expr e, enum scalar_function fn, struct arena *arena)
{
    struct nest *nest = arena_new(arena, struct nest);
    find_reads(d, e, fn, nest);
    for (int i = 0; nest->is_linear && i < nest->n_reads; i++)
        start_read(d, nest, &nest->reads[i], arena);
    if (nest->is_linear)
        look_at_steps(d, nest, arena);
    return nest;
}

static void find_place(const struct definition *d, const struct nest_read *r, const int64_t *variables,
                       struct nest_place *ret_place)
{
    *ret_place = (struct nest_place){.read = r};
    for (int i = 0; i < r->node->count; i++) {
        const struct nest_axis *axis = &r->axes[i];
        int64_t index = index_value(d, axis->index, variables);
        ret_place->offset += index * axis->stride;
        if (index + axis->low < 0 || index + axis->high >= axis->size)
            ret_place->bounds[ret_place->n_bounds++] =
                (struct nest_bound){(uint64_t)index, (uint64_t)axis->size, axis->of_step};
    }
}

void nest_find_places(const struct definition *d, const struct nest *nest, int64_t *variables,
                      struct nest_place *ret_places)
{
    for (int i = 0; i < nest->n_loops; i++)
        variables[nest->loops[i]] = 0;
    for (int i = 0; i < nest->n_reads; i++)
        find_place(d, &nest->reads[i], variables, &ret_places[i]);
}
