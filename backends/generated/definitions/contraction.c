// How far apart the terms and places of a factor stand is read off its indices at two values of a variable.
#include "backends/generated/definitions/contraction.h"

#include "core/memory/arena.h"
#include "core/numbers/integers.h"
#include <stdlib.h>

#define NEAR_PLACES 8   // entries of f32 that are read from memory at once

struct reading {
    const struct definition *d;
    const struct view *views;
    int64_t *variables;   // all zero
};

static const struct expr_node *node_of(const struct definition *d, expr e)
{
    return &d->nodes.items[e];
}

// 0: an expression does not go by the variable; 1: by each of its places; else by every so many of them.
static int64_t step_of(const struct definition *d, expr e, int64_t variable)
{
    const struct expr_node *n = node_of(d, e);
    struct operands below = expr_operands(d, e);
    int64_t step = 0;
    if (n->kind == EXPR_VARIABLE)
        return n->value == variable;
    if (n->kind == EXPR_INDEX_DIV && node_of(d, n->a)->kind == EXPR_VARIABLE)
        return node_of(d, n->a)->value == variable ? n->value : 0;
    for (uint32_t i = 0; i < below.n; i++)
        step = greatest_common_divisor(step, step_of(d, below.items[i], variable));
    return step;
}

static int64_t distance_along(const struct reading *r, expr factor, int64_t variable, int64_t step)
{
    const struct expr_node *read = node_of(r->d, factor);
    const struct view *v = &r->views[read->value];
    int64_t distance = 0;
    for (int i = 0; i < v->rank; i++) {
        expr index = r->d->indices.items[read->a + (expr)i];
        int64_t from = index_value(r->d, index, r->variables);
        r->variables[variable] = step;
        distance += v->stride[i] * (index_value(r->d, index, r->variables) - from);
        r->variables[variable] = 0;
    }
    return llabs(distance);
}

// --- the sum ---------------------------------------------------------------------------------------------------------

static bool find_sum(const struct definition *d, expr e, struct contraction *c)
{
    const struct expr_node *n = node_of(d, e);
    struct operands below = scalar_operands(d, e);
    if (n->kind == EXPR_REDUCE) {
        c->sum = e;
        return n->fn == FN_ADD;
    }
    return ANY(uint32_t, i, below.n, find_sum(d, below.items[i], c));
}

static bool read_sums(const struct definition *d, struct contraction *c)
{
    const struct expr_node *n = node_of(d, c->sum);
    c->outer = d->extents.items[n->value];
    c->window = 1;
    for (; n->kind == EXPR_REDUCE && n->fn == FN_ADD && c->n_sums < CONTRACTION_MOST_SUMS; n = node_of(d, n->a)) {
        c->window *= c->n_sums ? d->extents.items[n->value] : 1;
        c->sums[c->n_sums++] = n->value;
    }
    c->factors[0] = n->a;
    c->factors[1] = n->b;
    return n->kind == EXPR_APPLY && n->fn == FN_MUL;
}

static bool is_factor(const struct definition *d, expr e, bool *ret_is_guarded)
{
    const struct expr_node *n = node_of(d, e);
    *ret_is_guarded = n->kind == EXPR_READ && n->b == OUTSIDE_ZERO;
    return n->kind == EXPR_READ && n->value < d->n_inputs && n->b != OUTSIDE_LOWEST;
}

// --- sides -----------------------------------------------------------------------------------------------------------

static int64_t distance_in_result(const struct reading *r, const struct contraction_axis *a)
{
    return r->views[r->d->n_inputs].stride[a->axis] * a->scale;
}

static void add_axis(const struct reading *r, struct contraction_places *p, struct contraction_axis axis)
{
    int at = p->n++;
    for (; at > 0 && distance_in_result(r, &p->axes[at - 1]) < distance_in_result(r, &axis); at--)
        p->axes[at] = p->axes[at - 1];
    p->axes[at] = axis;
    p->count *= axis.dim;
}

static enum contraction_side side_of(bool of_rows, bool of_columns)
{
    return of_rows == of_columns ? SIDE_BATCHES : of_rows ? SIDE_ROWS : SIDE_COLUMNS;
}

static void add_axes(const struct reading *r, struct contraction *c, int axis)
{
    const struct stage *stage = &r->d->stages[0];
    int64_t dim = stage->type.dim[axis], step[2], cut = 1;
    for (int f = 0; f < 2; f++) {
        step[f] = step_of(r->d, c->factors[f], stage->first_variable + axis);
        step[f] = step[f] >= dim ? dim == 1 : step[f];
        cut = step[f] > 1 ? step[f] : cut;
    }
    for (int f = 0; f < 2; f++)
        if (dim % cut || (step[f] > 1 && step[f] != cut))
            step[0] = step[0] != 0, step[1] = step[1] != 0, cut = 1;
    if (cut < dim)
        add_axis(r, &c->of[side_of(step[0], step[1])], (struct contraction_axis){axis, cut, dim / cut});
    if (cut > 1)
        add_axis(r, &c->of[side_of(step[0] == 1, step[1] == 1)], (struct contraction_axis){axis, 1, cut});
}

static int64_t nearest_in_result(const struct reading *r, const struct contraction_places *p)
{
    return p->n ? distance_in_result(r, &p->axes[p->n - 1]) : INT64_MAX;
}

static void exchange_sides(struct contraction *c)
{
    struct contraction_places rows = c->of[SIDE_ROWS];
    expr factor = c->factors[0];
    c->of[SIDE_ROWS] = c->of[SIDE_COLUMNS];
    c->of[SIDE_COLUMNS] = rows;
    c->factors[0] = c->factors[1];
    c->factors[1] = factor;
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void find_distances(const struct reading *r, struct contraction *c)
{
    c->is_outer_dense = c->window > 1;
    for (int f = 0; f < 2; f++) {
        const struct contraction_places *p = &c->of[f];
        const struct contraction_axis *last = p->n ? &p->axes[p->n - 1] : NULL;
        int64_t of_outer = distance_along(r, c->factors[f], c->sums[0], 1);
        int64_t of_term =
            c->is_outer_dense && of_outer != 1 ? distance_along(r, c->factors[f], c->sums[c->n_sums - 1], 1) : of_outer;
        int64_t of_place =
            last ? distance_along(r, c->factors[f], r->d->stages[0].first_variable + last->axis, last->scale) : 0;
        c->is_by_places[f] = p->n && (of_place < NEAR_PLACES || of_place <= of_term);
        c->is_outer_dense = c->is_outer_dense && of_outer == 1;
    }
}

bool contraction_of(const struct definition *d, const struct view *views, struct arena *arena,
                    struct contraction *ret_contraction)
{
    struct contraction c = {.n_sums = 0};
    struct reading r = {d, views, arena_array(arena, int64_t, d->extents.count + 1)};
    for (int side = 0; side < N_SIDES; side++)
        c.of[side].count = 1;
    if (d->is_data_dependent || d->n_stages != 1 || !find_sum(d, d->stages[0].body, &c) || !read_sums(d, &c) ||
        !is_factor(d, c.factors[0], &c.is_guarded[0]) || !is_factor(d, c.factors[1], &c.is_guarded[1]))
        return false;
    for (int axis = 0; axis < d->stages[0].type.rank; axis++)
        if (d->stages[0].type.dim[axis] != 1)
            add_axes(&r, &c, axis);
    if (nearest_in_result(&r, &c.of[SIDE_ROWS]) < nearest_in_result(&r, &c.of[SIDE_COLUMNS]))
        exchange_sides(&c);
    for (int f = 0; f < 2; f++)
        is_factor(d, c.factors[f], &c.is_guarded[f]);
    find_distances(&r, &c);
    *ret_contraction = c;
    return c.outer * c.window > 0 && view_elements(&views[d->n_inputs]) > 0;
}
