#include "operators/tape.h"

#include "core/arena.h"
#include "core/hash.h"
#include "core/table.h"
#include "core/vec.h"
#include "operators/f64_functions.h"
#include "operators/tape_code.h"
#include <string.h>

enum { MAX_TAPE_VALUES = 1 << 14, MAX_TAPE_OPERANDS = 1 << 18 };
#define NO_VALUE UINT32_MAX

// --- unrolling -------------------------------------------------------------------------------------------------------

// One number in both domains.
struct constant {
    uint64_t field;
    double real;
};
static const struct constant zero = {0, 0}, one = {1, 1};
struct value {
    bool is_constant;
    uint8_t action, fn;
    uint16_t level;          // 0: inputs and constants
    uint32_t first, count;   // operands
    struct constant constant;
    uint32_t number;   // in the tape
};
struct nest;
struct unrolling {
    const struct definition *d;
    struct arena *scratch;
    struct field_domain domain;
    VEC(struct value) values;
    VEC(uint32_t) operands;
    VEC(uint32_t) stack;       // of operands of sums that are being made
    VEC(uint32_t) constants;   // among the values
    int64_t *variables;
    uint32_t first_of_input[MAX_TAPE_INPUTS];
    uint32_t **stages;       // the values of the entries of each stage of `d` so far
    struct nest **nests;     // of the reductions of `d`; NULL: not looked at yet
    struct table computed;   // values: what is computed twice is one
    bool is_too_large;
};

static uint32_t add_value(struct unrolling *u, const struct value *value)
{
    if (u->values.count >= MAX_TAPE_VALUES || u->operands.count >= MAX_TAPE_OPERANDS)
        u->is_too_large = true;
    else
        vec_push(&u->values, *value);
    return (uint32_t)u->values.count - 1;
}

static bool is_same_constant(const struct constant *a, const struct constant *b)
{
    return a->field == b->field && memcmp(&a->real, &b->real, sizeof a->real) == 0;
}

static uint32_t add_constant(struct unrolling *u, struct constant constant)
{
    for (size_t i = 0; i < u->constants.count; i++)
        if (is_same_constant(&u->values.items[u->constants.items[i]].constant, &constant))
            return u->constants.items[i];
    uint32_t added = add_value(u, &(struct value){.is_constant = true, .constant = constant});
    vec_push(&u->constants, added);
    return added;
}

static bool is_constant(const struct unrolling *u, uint32_t value, struct constant constant)
{
    return u->values.items[value].is_constant && is_same_constant(&u->values.items[value].constant, &constant);
}

static bool is_equal_computation(const void *owner, uint32_t id, const void *key)
{
    const struct unrolling *u = owner;
    const struct value *known = &u->values.items[id], *asked = key;
    return known->action == asked->action && known->fn == asked->fn && known->count == asked->count &&
           memcmp(&u->operands.items[known->first], &u->operands.items[asked->first],
                  asked->count * sizeof *u->operands.items) == 0;
}

static uint32_t add_computed(struct unrolling *u, enum action action, enum scalar_function fn, const uint32_t *operands,
                             uint32_t n)
{
    struct value value = {
        .action = (uint8_t)action, .fn = (uint8_t)fn, .first = (uint32_t)u->operands.count, .count = n};
    uint64_t hash = hash_bytes(operands, n * sizeof *operands, (uint64_t)action << 8 | fn);
    for (uint32_t i = 0; i < n && !u->is_too_large; i++) {
        uint16_t level = u->values.items[operands[i]].level;
        value.level = level >= value.level ? level + 1 : value.level;
        vec_push(&u->operands, operands[i]);
    }
    uint32_t found = u->is_too_large ? 0 : table_find(&u->computed, hash, is_equal_computation, u, &value);
    if (u->is_too_large || found != TABLE_NONE) {
        u->operands.count = value.first;
        return found;
    }
    value.level = value.level ? value.level : 1;
    uint32_t added = add_value(u, &value);
    if (!u->is_too_large)
        table_insert(&u->computed, hash, added);
    return added;
}

static uint32_t unroll(struct unrolling *u, expr e);

static const struct type *type_of_tensor(const struct definition *d, int64_t tensor)
{
    return tensor < d->n_inputs ? &d->inputs[tensor] : &d->stages[tensor - d->n_inputs].type;
}

static uint32_t value_at(const struct unrolling *u, int64_t tensor, int64_t offset)
{
    int n_inputs = u->d->n_inputs;
    return tensor < n_inputs ? u->first_of_input[tensor] + (uint32_t)offset : u->stages[tensor - n_inputs][offset];
}

static struct constant lowest_constant(const struct unrolling *u)
{
    return (struct constant){lowest(u->domain), -INFINITY};
}

static uint32_t value_outside(struct unrolling *u, const struct expr_node *read)
{
    return add_constant(u, read->b == OUTSIDE_LOWEST ? lowest_constant(u) : zero);
}

static uint32_t unroll_read(struct unrolling *u, const struct expr_node *n)
{
    const struct definition *d = u->d;
    const struct type *t = type_of_tensor(d, n->value);
    int64_t offset = 0;
    for (int i = 0; i < n->count; i++) {
        int64_t index = index_value(u->d, d->indices.items[n->a + (expr)i], u->variables);
        if (index < 0 || index >= t->dim[i])
            return value_outside(u, n);
        offset = offset * t->dim[i] + index;
    }
    return value_at(u, n->value, offset);
}

static struct constant apply_to_constants(const struct unrolling *u, enum scalar_function fn, const struct constant *a,
                                          const struct constant *b, const struct constant *c)
{
    return (struct constant){apply(u->domain, fn, a->field, b->field, c->field),
                             f64_apply(fn, a->real, b->real, c->real)};
}

static uint32_t apply_to_values(struct unrolling *u, enum scalar_function fn, const uint32_t *x)
{
    const struct value *v = u->values.items;
    int arity = function_arity(fn);
    bool are_constant = true;
    for (int i = 0; i < arity; i++)
        are_constant = are_constant && v[x[i]].is_constant;
    if (are_constant)
        return add_constant(u, apply_to_constants(u, fn, &v[x[0]].constant, arity > 1 ? &v[x[1]].constant : &zero,
                                                  arity > 2 ? &v[x[2]].constant : &zero));
    if (fn == FN_DIV && v[x[1]].is_constant) {
        struct constant inverse = {field_inverse(v[x[1]].constant.field), 1 / v[x[1]].constant.real};
        return add_computed(u, ACTION_APPLY, FN_MUL, (uint32_t[]){x[0], add_constant(u, inverse)}, 2);
    }
    return add_computed(u, ACTION_APPLY, fn, x, (uint32_t)arity);
}

static uint32_t unroll_apply(struct unrolling *u, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int arity = function_arity(fn);
    uint32_t x[3] = {unroll(u, n->a)};
    x[1] = arity > 1 ? unroll(u, n->b) : x[0];
    x[2] = arity > 2 ? unroll(u, n->c) : x[0];
    return u->is_too_large ? 0 : apply_to_values(u, fn, x);
}

static bool is_product_in_sum(const struct expr_node *n, enum scalar_function fn)
{
    return fn == FN_ADD && n->kind == EXPR_APPLY && n->fn == FN_MUL;
}

// Of what is reduced: a term of a sum has two factors, of which the second is 1 where it is no product.
static void push_term(struct unrolling *u, enum scalar_function fn, uint32_t a, uint32_t b)
{
    if (u->is_too_large || u->stack.count > MAX_TAPE_OPERANDS) {
        u->is_too_large = true;
        return;
    }
    if (fn == FN_ADD && (is_constant(u, a, zero) || is_constant(u, b, zero)))
        return;
    vec_push(&u->stack, a);
    if (fn == FN_ADD)
        vec_push(&u->stack, b);
}

static void push_terms(struct unrolling *u, enum scalar_function fn, expr e)
{
    const struct expr_node *n = &u->d->nodes.items[e];
    if (n->kind == EXPR_REDUCE && n->fn == fn) {
        for (int64_t i = 0; i < u->d->extents.items[n->value] && !u->is_too_large; i++) {
            u->variables[n->value] = i;
            push_terms(u, fn, n->a);
        }
    } else if (is_product_in_sum(n, fn)) {
        uint32_t a = unroll(u, n->a);
        push_term(u, fn, a, unroll(u, n->b));
    } else {
        uint32_t a = unroll(u, e);
        push_term(u, fn, a, fn == FN_ADD ? add_constant(u, one) : a);
    }
}

// --- reductions of reads ---------------------------------------------------------------------------------------------

// Convolutions, products of matrices and pooling reduce reads, over nested loops, whose indices are linear in all
// variables. One iteration of all loops is a *step*: what it adds to an index is the same at every entry of the result.
enum { MAX_NEST_LOOPS = 8, MAX_NEST_READS = 2, MAX_NEST_STEPS = 1 << 12 };
struct nest_axis {
    expr index;
    int64_t size, stride, origin;   // origin: the index where all variables are 0
    int64_t *of_step, low, high;    // what each step adds to the index, and the least and the greatest of it
};
struct nest_read {
    const struct expr_node *node;
    struct nest_axis axes[MAX_RANK];
    int64_t *of_step;   // what each step adds to the place in the tensor
};
struct nest {
    bool is_linear;   // false: unrolled like everything else
    int n_loops, n_reads;
    int64_t loops[MAX_NEST_LOOPS], n_steps;
    struct nest_read reads[MAX_NEST_READS];
};

static bool is_linear_index(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    return n->kind == EXPR_INTEGER || n->kind == EXPR_VARIABLE ||
           (n->kind == EXPR_INDEX_MUL && is_linear_index(d, n->a)) ||
           (n->kind == EXPR_INDEX_ADD && is_linear_index(d, n->a) && is_linear_index(d, n->b));
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

static void start_read(const struct unrolling *u, const struct nest *nest, struct nest_read *r)
{
    const struct type *t = type_of_tensor(u->d, r->node->value);
    int64_t stride = 1;
    r->of_step = arena_array(u->scratch, int64_t, nest->n_steps);
    for (int i = r->node->count; i-- > 0; stride *= t->dim[i])
        r->axes[i] = (struct nest_axis){.index = u->d->indices.items[r->node->a + (expr)i],
                                        .size = t->dim[i],
                                        .stride = stride,
                                        .of_step = arena_array(u->scratch, int64_t, nest->n_steps)};
}

static void look_at_step(struct unrolling *u, struct nest_read *r, int64_t step)
{
    for (int i = 0; i < r->node->count; i++) {
        struct nest_axis *axis = &r->axes[i];
        int64_t added = index_value(u->d, axis->index, u->variables);
        if (step == 0)
            axis->origin = added;
        added -= axis->origin;
        axis->of_step[step] = added;
        axis->low = added < axis->low ? added : axis->low;
        axis->high = added > axis->high ? added : axis->high;
        r->of_step[step] += added * axis->stride;
    }
}

static void start_loops(const struct unrolling *u, const struct nest *nest)
{
    for (int i = 0; i < nest->n_loops; i++)
        u->variables[nest->loops[i]] = 0;
}

static void advance_loops(const struct unrolling *u, const struct nest *nest)
{
    int i = nest->n_loops - 1;
    while (i >= 0 && ++u->variables[nest->loops[i]] == u->d->extents.items[nest->loops[i]])
        u->variables[nest->loops[i--]] = 0;
}

static void look_at_steps(struct unrolling *u, struct nest *nest)
{
    int64_t *variables = u->variables;
    u->variables = arena_array(u->scratch, int64_t, u->d->extents.count);
    for (int64_t step = 0; step < nest->n_steps; step++, advance_loops(u, nest))
        for (int i = 0; i < nest->n_reads; i++)
            look_at_step(u, &nest->reads[i], step);
    u->variables = variables;
}

static const struct nest *nest_at(struct unrolling *u, expr e, enum scalar_function fn)
{
    if (!u->nests[e]) {
        struct nest *nest = u->nests[e] = arena_new(u->scratch, struct nest);
        find_reads(u->d, e, fn, nest);
        for (int i = 0; nest->is_linear && i < nest->n_reads; i++)
            start_read(u, nest, &nest->reads[i]);
        if (nest->is_linear)
            look_at_steps(u, nest);
    }
    return u->nests[e];
}

// A read at one entry of the result: its place at the first step, and the axes on which some step is outside.
struct nest_place {
    const struct nest_read *read;
    int64_t offset;
    uint32_t outside;   // the value there, where there is a bound
    int n_bounds;
    struct nest_bound {
        uint64_t index, size;
        const int64_t *of_step;
    } bounds[MAX_RANK];
};

static void find_place(struct unrolling *u, const struct nest_read *r, struct nest_place *ret_place)
{
    ret_place->read = r;
    ret_place->offset = 0;
    ret_place->n_bounds = 0;
    for (int i = 0; i < r->node->count; i++) {
        const struct nest_axis *axis = &r->axes[i];
        int64_t index = index_value(u->d, axis->index, u->variables);
        ret_place->offset += index * axis->stride;
        if (index + axis->low < 0 || index + axis->high >= axis->size)
            ret_place->bounds[ret_place->n_bounds++] =
                (struct nest_bound){(uint64_t)index, (uint64_t)axis->size, axis->of_step};
    }
    ret_place->outside = ret_place->n_bounds ? value_outside(u, r->node) : 0;
}

static inline uint32_t value_at_step(const struct unrolling *u, const struct nest_place *p, int64_t step)
{
    for (int i = 0; i < p->n_bounds; i++)
        if (p->bounds[i].index + (uint64_t)p->bounds[i].of_step[step] >= p->bounds[i].size)
            return p->outside;
    return value_at(u, p->read->node->value, p->offset + p->read->of_step[step]);
}

static void push_steps(struct unrolling *u, enum scalar_function fn, const struct nest *nest)
{
    struct nest_place places[MAX_NEST_READS];
    uint32_t factor = fn == FN_ADD ? add_constant(u, one) : 0;
    start_loops(u, nest);
    for (int i = 0; i < nest->n_reads; i++)
        find_place(u, &nest->reads[i], &places[i]);
    for (int64_t step = 0; step < nest->n_steps && !u->is_too_large; step++) {
        uint32_t a = value_at_step(u, &places[0], step);
        if (fn != FN_ADD || !is_constant(u, a, zero))
            push_term(u, fn, a, nest->n_reads > 1 ? value_at_step(u, &places[1], step) : factor);
    }
}

// The sum of a[i] * b[i], as a plain one where all factors b are 1.
static uint32_t add_sum(struct unrolling *u, uint32_t *factors, uint32_t n)
{
    bool is_plain = true;
    for (uint32_t i = 1; i < n; i += 2)
        is_plain = is_plain && is_constant(u, factors[i], one);
    for (uint32_t i = 0; is_plain && i < n / 2; i++)
        factors[i] = factors[2 * i];
    return add_computed(u, is_plain ? ACTION_SUM : ACTION_PRODUCT_SUM, FN_ADD, factors, is_plain ? n / 2 : n);
}

static bool are_constant(const struct unrolling *u, const uint32_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!u->values.items[values[i]].is_constant)
            return false;
    return true;
}

// The sum of products of constants: how many entries a window has inside, say.
static struct constant sum_of_constants(const struct unrolling *u, const uint32_t *factors, uint32_t n)
{
    struct constant sum = zero;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        const struct constant *a = &u->values.items[factors[i]].constant,
                              *b = &u->values.items[factors[i + 1]].constant;
        sum.field = field_add(sum.field, field_mul(a->field, b->field));
        sum.real += a->real * b->real;
    }
    return sum;
}

static struct constant identity_of(const struct unrolling *u, enum scalar_function fn)
{
    return fn == FN_ADD   ? zero
           : fn == FN_MUL ? one
           : fn == FN_MAX ? lowest_constant(u)
                          : (struct constant){highest(u->domain), INFINITY};
}

static uint32_t unroll_reduce(struct unrolling *u, expr e, enum scalar_function fn)
{
    size_t mark = u->stack.count;
    const struct nest *nest = nest_at(u, e, fn);
    if (nest->is_linear)
        push_steps(u, fn, nest);
    else
        push_terms(u, fn, e);
    uint32_t n = (uint32_t)(u->stack.count - mark), result = 0;
    uint32_t *terms = u->stack.items + mark;
    if (u->is_too_large)
        return 0;
    if (n == 0)
        result = add_constant(u, identity_of(u, fn));
    else if (fn == FN_ADD && are_constant(u, terms, n))
        result = add_constant(u, sum_of_constants(u, terms, n));
    else
        result = fn == FN_ADD ? add_sum(u, terms, n) : add_computed(u, ACTION_REDUCE, fn, terms, n);
    u->stack.count = mark;
    return result;
}

static uint32_t add_integer(struct unrolling *u, int64_t value)
{
    return add_constant(u, (struct constant){field_from_int(value), (double)value});
}

static uint32_t unroll(struct unrolling *u, expr e)
{
    const struct expr_node *n = &u->d->nodes.items[e];
    if (u->is_too_large)
        return 0;
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return add_constant(u, (struct constant){field_from_real(n->real), n->real});
    case EXPR_READ:
        return unroll_read(u, n);
    case EXPR_APPLY:
        return unroll_apply(u, n);
    case EXPR_REDUCE:
        return unroll_reduce(u, e, (enum scalar_function)n->fn);
    case EXPR_SELECT:
        return unroll(u, index_value(u->d, n->a, u->variables) >= 0 ? n->b : n->c);
    default:
        return add_integer(u, index_value(u->d, n->a, u->variables));
    }
}

static void unroll_stage(struct unrolling *u, int stage, struct arena *arena)
{
    const struct stage *s = &u->d->stages[stage];
    int64_t elements = type_elements(&s->type), *index = &u->variables[s->first_variable];
    u->is_too_large = u->is_too_large || elements > MAX_TAPE_VALUES;
    if (u->is_too_large)
        return;
    u->stages[stage] = arena_array(arena, uint32_t, elements);
    memset(index, 0, sizeof *index * (size_t)s->type.rank);
    for (int64_t i = 0; i < elements && !u->is_too_large; i++) {
        u->stages[stage][i] = unroll(u, s->body);
        for (int axis = s->type.rank - 1; axis >= 0 && ++index[axis] == s->type.dim[axis]; axis--)
            index[axis] = 0;
    }
}

static bool add_inputs(struct unrolling *u)
{
    for (int i = 0; i < u->d->n_inputs; i++) {
        int64_t elements = type_elements(&u->d->inputs[i]);
        if (elements + (int64_t)u->values.count > MAX_TAPE_VALUES)
            return false;
        u->first_of_input[i] = (uint32_t)u->values.count;
        for (int64_t k = 0; k < elements; k++)
            vec_push(&u->values, (struct value){0});
    }
    return true;
}

// --- the tape --------------------------------------------------------------------------------------------------------

struct ranked {
    const struct value *value;
    uint32_t id;
};

static bool is_computed(const struct value *v)
{
    return v->level > 0;
}

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value->level != y->value->level)
        return x->value->level - y->value->level;
    if (x->value->action != y->value->action)
        return x->value->action - y->value->action;
    if (x->value->fn != y->value->fn)
        return x->value->fn - y->value->fn;
    return x->id < y->id ? -1 : 1;
}

// As those of one sum for each entry are.
static bool are_in_order(const struct ranked *ranked, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (compare_ranked(&ranked[i - 1], &ranked[i]) > 0)
            return false;
    return true;
}

static void number_constants(struct unrolling *u, struct tape *t, struct arena *arena)
{
    size_t n = u->constants.count;
    uint64_t *constants = arena_array(arena, uint64_t, n);
    double *real_constants = arena_array(arena, double, n);
    for (size_t i = 0; i < n; i++) {
        struct value *v = &u->values.items[u->constants.items[i]];
        v->number = t->first_constant + (uint32_t)i;
        constants[i] = v->constant.field;
        real_constants[i] = v->constant.real;
    }
    t->n_constants = (uint32_t)n;
    t->constants = constants;
    t->real_constants = real_constants;
}

static struct ranked *number_computed(struct unrolling *u, const struct tape *t, uint32_t *ret_n, struct arena *scratch)
{
    struct ranked *ranked = arena_array(scratch, struct ranked, u->values.count + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->values.count; i++) {
        if (i < t->first_constant)
            u->values.items[i].number = i;
        if (is_computed(&u->values.items[i]))
            ranked[n++] = (struct ranked){&u->values.items[i], i};
    }
    if (!are_in_order(ranked, n))
        qsort(ranked, n, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < n; i++)
        u->values.items[ranked[i].id].number = t->first_constant + t->n_constants + i;
    *ret_n = n;
    return ranked;
}

static bool belong_together(const struct value *x, const struct value *y)
{
    return x->level == y->level && x->action == y->action && x->fn == y->fn;
}

static void make_run(const struct unrolling *u, const struct ranked *ranked, uint32_t n, struct arena *arena,
                     struct run *ret_run)
{
    const struct value *first = ranked[0].value;
    uint32_t all = 0, *counts = arena_array(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        all += counts[i] = ranked[i].value->count;
    uint16_t *operands = arena_array(arena, uint16_t, all);
    *ret_run = (struct run){first->action, first->fn, first->number, n, counts, operands};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < ranked[i].value->count; k++)
            *operands++ = (uint16_t)u->values.items[u->operands.items[ranked[i].value->first + k]].number;
}

static void make_runs(const struct unrolling *u, struct tape *t, const struct ranked *ranked, uint32_t n,
                      struct arena *arena)
{
    struct run *runs = arena_array(arena, struct run, n);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && belong_together(ranked[first].value, ranked[end].value);)
            end++;
        make_run(u, &ranked[first], end - first, arena, &runs[t->n_runs++]);
    }
    t->runs = runs;
}

struct unrolled_output {
    size_t elements;
    const uint32_t *values;
};

static void make_outputs(const struct unrolling *u, struct tape *t, const struct unrolled_output *unrolled,
                         struct arena *arena)
{
    size_t *elements = arena_array(arena, size_t, t->n_outputs);
    const uint16_t **outputs = arena_array(arena, const uint16_t *, t->n_outputs);
    for (int i = 0; i < t->n_outputs; i++) {
        elements[i] = unrolled[i].elements;
        uint16_t *numbers = arena_array(arena, uint16_t, elements[i]);
        for (size_t k = 0; k < elements[i]; k++)
            numbers[k] = (uint16_t)u->values.items[unrolled[i].values[k]].number;
        outputs[i] = numbers;
    }
    t->output_elements = elements;
    t->outputs = outputs;
}

static const struct tape *make_tape(struct unrolling *u, int n_outputs, const struct unrolled_output *outputs,
                                    struct arena *arena, struct arena *scratch)
{
    struct tape *t = arena_new(arena, struct tape);
    uint32_t n;
    *t = (struct tape){.domain = u->domain, .n_inputs = u->d->n_inputs, .n_outputs = n_outputs};
    for (int i = 0; i < t->n_inputs; i++) {
        t->input_elements[i] = (size_t)type_elements(&u->d->inputs[i]);
        t->first_constant += (uint32_t)t->input_elements[i];
    }
    number_constants(u, t, arena);
    const struct ranked *ranked = number_computed(u, t, &n, scratch);
    t->n_values = t->first_constant + t->n_constants + n;
    make_runs(u, t, ranked, n, arena);
    make_outputs(u, t, outputs, arena);
    return t;
}

static void unroll_definition(struct unrolling *u, const struct definition *d, struct arena *scratch,
                              struct unrolled_output *ret_outputs)
{
    u->d = d;
    u->variables = arena_array(scratch, int64_t, d->extents.count);
    u->stages = arena_array(scratch, uint32_t *, d->n_stages);
    u->nests = arena_array(scratch, struct nest *, d->nodes.count);
    for (int i = 0; i < d->n_stages; i++)
        unroll_stage(u, i, scratch);
    for (int i = 0; i < d->n_outputs; i++)
        ret_outputs[i] =
            (struct unrolled_output){(size_t)type_elements(definition_output(d, i)), u->stages[d->outputs[i]]};
}

static bool can_be_unrolled(const struct definition *const *d, int n)
{
    for (int i = 0; i < n; i++)
        if (d[i]->is_data_dependent || d[i]->n_inputs > MAX_TAPE_INPUTS)
            return false;
    return true;
}

const struct tape *tape_make_joint(const struct definition *const *d, int n, uint64_t key, struct arena *arena)
{
    const struct tape *tape = NULL;
    if (!can_be_unrolled(d, n))
        return NULL;
    struct arena scratch;
    struct unrolling u = {.d = d[0], .scratch = &scratch, .domain = domain_of_key(key)};
    arena_init(&scratch);
    struct unrolled_output *outputs = arena_array(&scratch, struct unrolled_output, n * MAX_OUTPUTS);
    int n_outputs = 0;
    u.is_too_large = !add_inputs(&u);
    for (int i = 0; i < n; n_outputs += d[i++]->n_outputs)
        unroll_definition(&u, d[i], &scratch, outputs + n_outputs);
    if (!u.is_too_large)
        tape = make_tape(&u, n_outputs, outputs, arena, &scratch);
    vec_free(&u.values);
    vec_free(&u.operands);
    vec_free(&u.stack);
    vec_free(&u.constants);
    table_free(&u.computed);
    arena_free(&scratch);
    return tape;
}

const struct tape *tape_make(const struct definition *d, uint64_t key, struct arena *arena)
{
    return tape_make_joint(&d, 1, key, arena);
}
