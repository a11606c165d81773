// Most of the time goes into sums of products of entries, as a convolution is. So the sums of an expression are taken
// term by term, and where its reads go is worked out once for each read: places that are sums of indices times numbers
// become one such sum, but for axes that may be left.
#include "verifier/polynomials/polynomial_values.h"

#include "core/memory/arena.h"
#include <assert.h>

struct step {
    uint32_t variable;
    int64_t factor;
};
struct linear_index {
    int64_t base;
    uint32_t n;
    struct step *steps;
};
struct checked_axis {
    bool is_linear;
    struct linear_index place;
    expr index;   // if it is not linear
    int64_t dim, stride;
};
struct read_plan {
    struct linear_index offset;   // of all axes that need no check
    uint32_t n_checked;
    struct checked_axis *checked;
};

struct evaluation {
    const struct definition *d;
    struct polynomial_pool *pool;
    struct arena *arena;
    const polynomial **data;          // of every tensor, inputs then stages
    const struct read_plan **plans;   // of every node that reads
    int64_t *variables;
};

// --- indices ---------------------------------------------------------------------------------------------------------

static uint32_t count_variables(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    return n->kind == EXPR_INDEX_ADD   ? count_variables(d, n->a) + count_variables(d, n->b)
           : n->kind == EXPR_INDEX_MUL ? count_variables(d, n->a)
                                       : n->kind == EXPR_VARIABLE;
}

// False: it divides.
static bool add_index(const struct definition *d, expr e, int64_t factor, struct linear_index *to)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        to->base += factor * n->value;
        return true;
    case EXPR_VARIABLE:
        to->steps[to->n++] = (struct step){(uint32_t)n->value, factor};
        return true;
    case EXPR_INDEX_ADD:
        return add_index(d, n->a, factor, to) && add_index(d, n->b, factor, to);
    case EXPR_INDEX_MUL:
        return add_index(d, n->a, factor * n->value, to);
    default:
        return false;
    }
}

static bool is_always_inside(const struct definition *d, const struct linear_index *place, int64_t dim)
{
    int64_t lowest = place->base, highest = place->base;
    for (uint32_t i = 0; i < place->n; i++) {
        int64_t reach = place->steps[i].factor * (d->extents.items[place->steps[i].variable] - 1);
        *(reach < 0 ? &lowest : &highest) += reach;
    }
    return lowest >= 0 && highest < dim;
}

static void add_to_offset(struct linear_index *offset, const struct linear_index *place, int64_t stride)
{
    offset->base += place->base * stride;
    for (uint32_t i = 0; i < place->n; i++)
        offset->steps[offset->n++] = (struct step){place->steps[i].variable, place->steps[i].factor * stride};
}

static const struct read_plan *plan_read(const struct evaluation *ev, const struct expr_node *n)
{
    const struct definition *d = ev->d;
    const struct type *type = definition_tensor(d, n->value);
    struct read_plan *plan = arena_new(ev->arena, struct read_plan);
    uint32_t n_variables = 0;
    int64_t stride = 1;
    for (int i = 0; i < n->count; i++)
        n_variables += count_variables(d, d->indices.items[n->a + (expr)i]);
    plan->checked = arena_array(ev->arena, struct checked_axis, n->count + 1);
    plan->offset.steps = arena_array(ev->arena, struct step, n_variables + 1);
    for (int i = n->count - 1; i >= 0; stride *= type->dim[i--]) {
        struct checked_axis axis = {.index = d->indices.items[n->a + (expr)i], .dim = type->dim[i], .stride = stride};
        axis.place.steps = arena_array(ev->arena, struct step, count_variables(d, axis.index) + 1);
        axis.is_linear = add_index(d, axis.index, 1, &axis.place);
        if (axis.is_linear && (n->b == OUTSIDE_NEVER || is_always_inside(d, &axis.place, axis.dim)))
            add_to_offset(&plan->offset, &axis.place, stride);
        else
            plan->checked[plan->n_checked++] = axis;
    }
    return plan;
}

static void plan_reads(struct evaluation *ev)
{
    ev->plans = arena_array(ev->arena, const struct read_plan *, ev->d->nodes.count + 1);
    for (expr e = 0; e < ev->d->nodes.count; e++)
        if (ev->d->nodes.items[e].kind == EXPR_READ)
            ev->plans[e] = plan_read(ev, &ev->d->nodes.items[e]);
}

static int64_t evaluate_linear(const struct evaluation *ev, const struct linear_index *place)
{
    int64_t at = place->base;
    for (uint32_t i = 0; i < place->n; i++)
        at += ev->variables[place->steps[i].variable] * place->steps[i].factor;
    return at;
}

// The places that a read goes to while one variable counts up: those of its values at which it is inside.
struct row {
    int64_t first, end, offset, step;   // the offset at `first`
};

static int64_t step_of(const struct linear_index *place, uint32_t variable)
{
    int64_t step = 0;
    for (uint32_t i = 0; i < place->n; i++)
        step += place->steps[i].variable == variable ? place->steps[i].factor : 0;
    return step;
}

static void leave_out_outside(struct row *row, int64_t place, int64_t step, int64_t dim)
{
    while (row->first < row->end && (place + row->first * step < 0 || place + row->first * step >= dim))
        row->first++;
    while (row->first < row->end && (place + (row->end - 1) * step < 0 || place + (row->end - 1) * step >= dim))
        row->end--;
}

// False: its places are no sums, or what is outside is not 0. The variable is 0.
static bool find_row(const struct evaluation *ev, expr e, uint32_t variable, int64_t extent, struct row *ret)
{
    const struct read_plan *plan = ev->plans[e];
    const struct expr_node *n = &ev->d->nodes.items[e];
    *ret = (struct row){0, extent, evaluate_linear(ev, &plan->offset), step_of(&plan->offset, variable)};
    for (uint32_t i = 0; i < plan->n_checked; i++) {
        const struct checked_axis *axis = &plan->checked[i];
        if (!axis->is_linear || n->b != OUTSIDE_ZERO)
            return false;
        int64_t place = evaluate_linear(ev, &axis->place), step = step_of(&axis->place, variable);
        leave_out_outside(ret, place, step, axis->dim);
        ret->offset += place * axis->stride;
        ret->step += step * axis->stride;
    }
    ret->offset += ret->first * ret->step;
    return true;
}

static polynomial evaluate_read(const struct evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    const struct read_plan *plan = ev->plans[e];
    int64_t offset = evaluate_linear(ev, &plan->offset);
    for (uint32_t i = 0; i < plan->n_checked; i++) {
        const struct checked_axis *axis = &plan->checked[i];
        int64_t place =
            axis->is_linear ? evaluate_linear(ev, &axis->place) : index_value(ev->d, axis->index, ev->variables);
        if (place < 0 || place >= axis->dim) {
            assert(n->b != OUTSIDE_NEVER);
            return n->b == OUTSIDE_LOWEST ? POLYNOMIAL_LOWEST : POLYNOMIAL_ZERO;
        }
        offset += place * axis->stride;
    }
    assert(offset >= 0 && offset < type_elements(definition_tensor(ev->d, n->value)));
    ev->pool->work++;
    return ev->data[n->value][offset];
}

// --- sums ------------------------------------------------------------------------------------------------------------

static polynomial evaluate_scalar(struct evaluation *ev, expr e);

static void add_terms(struct evaluation *ev, expr e);

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// The products of two reads along a row, nothing but which is added where both are inside. False: it is none of such.
static bool add_row_of_products(struct evaluation *ev, const struct expr_node *n, int64_t extent)
{
    const struct expr_node *body = &ev->d->nodes.items[n->a], *nodes = ev->d->nodes.items;
    struct row a, b;
    if (body->kind != EXPR_APPLY || body->fn != FN_MUL || nodes[body->a].kind != EXPR_READ ||
        nodes[body->b].kind != EXPR_READ)
        return false;
    ev->variables[n->value] = 0;
    if (!find_row(ev, body->a, (uint32_t)n->value, extent, &a) ||
        !find_row(ev, body->b, (uint32_t)n->value, extent, &b))
        return false;
    const polynomial *of_a = ev->data[nodes[body->a].value], *of_b = ev->data[nodes[body->b].value];
    for (int64_t t = most(a.first, b.first); t < a.end && t < b.end; t++)
        polynomial_sum_add_product(ev->pool, of_a[a.offset + (t - a.first) * a.step],
                                   of_b[b.offset + (t - b.first) * b.step]);
    ev->pool->work += (uint64_t)(a.end - a.first + b.end - b.first);
    return true;
}

static void add_terms_of_sum(struct evaluation *ev, const struct expr_node *n)
{
    int64_t extent = ev->d->extents.items[n->value];
    size_t begin = polynomial_sum_begin(ev->pool);
    bool is_row = add_row_of_products(ev, n, extent);
    for (int64_t t = 0; t < extent && !is_row; t++) {
        ev->variables[n->value] = t;
        add_terms(ev, n->a);
    }
    ev->pool->work += extent > 1 ? polynomial_sum_begin(ev->pool) - begin + 1 : 0;
}

// Adds the terms of the expression to the sum that was begun last.
static void add_terms(struct evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    if (n->kind == EXPR_REDUCE && n->fn == FN_ADD)
        add_terms_of_sum(ev, n);
    else if (n->kind == EXPR_APPLY && n->fn == FN_MUL) {
        polynomial a = evaluate_scalar(ev, n->a), b = evaluate_scalar(ev, n->b);
        polynomial_sum_add_product(ev->pool, a, b);
    } else
        polynomial_sum_add(ev->pool, evaluate_scalar(ev, e));
}

// --- scalars ---------------------------------------------------------------------------------------------------------

static polynomial identity_of(enum scalar_function fn)
{
    return fn == FN_ADD   ? POLYNOMIAL_ZERO
           : fn == FN_MUL ? POLYNOMIAL_ONE
           : fn == FN_MAX ? POLYNOMIAL_LOWEST
                          : POLYNOMIAL_HIGHEST;
}

static polynomial combine(struct evaluation *ev, enum scalar_function fn, const polynomial *values, size_t count)
{
    polynomial result = identity_of(fn);
    if (fn == FN_MAX)
        return polynomial_maximum(ev->pool, values, count);
    for (size_t i = 0; i < count; i++)
        result = polynomial_apply(ev->pool, fn, result, values[i], 0);
    return result;
}

static polynomial evaluate_reduce(struct evaluation *ev, const struct expr_node *n)
{
    int64_t extent = ev->d->extents.items[n->value];
    struct arena_mark mark = arena_mark(ev->arena);
    polynomial *values = arena_array(ev->arena, polynomial, extent + 1);
    for (int64_t t = 0; t < extent; t++) {
        ev->variables[n->value] = t;
        values[t] = evaluate_scalar(ev, n->a);
    }
    polynomial result = combine(ev, (enum scalar_function)n->fn, values, (size_t)extent);
    arena_release(ev->arena, mark);
    return result;
}

static polynomial evaluate_sum(struct evaluation *ev, const struct expr_node *n)
{
    size_t begin = polynomial_sum_begin(ev->pool);
    add_terms_of_sum(ev, n);
    return polynomial_sum_end(ev->pool, begin);
}

static polynomial evaluate_apply(struct evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int arity = function_arity(fn);
    polynomial a = evaluate_scalar(ev, n->a);
    polynomial b = arity > 1 ? evaluate_scalar(ev, n->b) : 0;
    polynomial c = arity > 2 ? evaluate_scalar(ev, n->c) : 0;
    return polynomial_apply(ev->pool, fn, a, b, c);
}

static polynomial evaluate_scalar(struct evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return polynomial_from_real(ev->pool, n->real);
    case EXPR_READ:
        return evaluate_read(ev, e);
    case EXPR_APPLY:
        return evaluate_apply(ev, n);
    case EXPR_REDUCE:
        return n->fn == FN_ADD ? evaluate_sum(ev, n) : evaluate_reduce(ev, n);
    case EXPR_SELECT:
        return evaluate_scalar(ev, index_value(ev->d, n->a, ev->variables) >= 0 ? n->b : n->c);
    case EXPR_SCALAR_OF:
        return polynomial_from_real(ev->pool, (double)index_value(ev->d, n->a, ev->variables));
    default:
        assert(!"not a scalar expression");
        return POLYNOMIAL_ZERO;
    }
}

// --- stages ----------------------------------------------------------------------------------------------------------

static void evaluate_stage(struct evaluation *ev, const struct stage *s, const uint8_t *needed, polynomial *result)
{
    int64_t elements = type_elements(&s->type);
    int64_t *place = &ev->variables[s->first_variable];
    for (int i = 0; i < s->type.rank; i++)
        place[i] = 0;
    for (int64_t linear = 0; linear < elements && !ev->pool->has_overflowed; linear++) {
        result[linear] = !needed || needed[linear] ? evaluate_scalar(ev, s->body) : POLYNOMIAL_ZERO;
        for (int i = s->type.rank - 1; i >= 0 && ++place[i] == s->type.dim[i]; i--)
            place[i] = 0;
    }
}

static polynomial *result_of_stage(struct evaluation *ev, int stage, polynomial *const *outputs)
{
    for (int i = 0; i < ev->d->n_outputs; i++)
        if (ev->d->outputs[i] == stage)
            return outputs[i];
    return arena_array(ev->arena, polynomial, type_elements(&ev->d->stages[stage].type) + 1);
}

bool evaluate_polynomials(const struct definition *d, struct polynomial_pool *pool, const polynomial *const *inputs,
                          uint8_t *const *needed, polynomial *const *outputs, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct evaluation ev = {.d = d, .pool = pool, .arena = scratch};
    if (d->is_data_dependent)
        return false;
    ev.variables = arena_array(scratch, int64_t, d->extents.count + 1);
    ev.data = arena_array(scratch, const polynomial *, d->n_inputs + d->n_stages);
    plan_reads(&ev);
    for (int i = 0; i < d->n_inputs; i++)
        ev.data[i] = inputs[i];
    for (int i = 0; i < d->n_stages; i++) {
        polynomial *result = result_of_stage(&ev, i, outputs);
        evaluate_stage(&ev, &d->stages[i], needed ? needed[i] : NULL, result);
        ev.data[d->n_inputs + i] = result;
    }
    arena_release(scratch, mark);
    return true;
}
