// The functions and the numbers in a definition, and in that of larger inputs.
#include "operators/traits/larger_sizes.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "operators/traits/application.h"
#include <stdlib.h>
#include <string.h>

enum { LARGER = 8, FAR_LARGER = 1024, ALL_SIZES = 0 };

// --- functions -------------------------------------------------------------------------------------------------------

struct count_of_functions {
    int of[FN_COUNT], of_sums[FN_COUNT];
};

static bool is_below(const struct definition *d, expr e, const bool *is_such)
{
    struct operands below = expr_operands(d, e);
    return ANY(uint32_t, i, below.n, is_such[below.items[i]]);
}

// Which expressions are of nodes of the kind. Operands stand before what is of them.
static bool *expressions_of(const struct definition *d, enum expr_kind kind, struct arena *scratch)
{
    bool *is_such = arena_array(scratch, bool, d->nodes.count + 1);
    for (expr e = 0; e < d->nodes.count; e++)
        is_such[e] = d->nodes.items[e].kind == kind || is_below(d, e, is_such);
    return is_such;
}

// Functions of entries: how many there are, and other numbers, may be made in several ways.
static struct count_of_functions functions_of(const struct definition *d, struct arena *scratch)
{
    struct count_of_functions count = {0};
    const bool *reads = expressions_of(d, EXPR_READ, scratch);
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *n = &d->nodes.items[i];
        count.of[n->fn] += reads[i] && n->kind == EXPR_APPLY;
        count.of_sums[n->fn] += reads[i] && n->kind == EXPR_REDUCE;
    }
    return count;
}

static bool have_same_functions(const struct application *small, const struct application *large, struct arena *scratch)
{
    struct count_of_functions of_small = functions_of(&small->d, scratch), of_large = functions_of(&large->d, scratch);
    return memcmp(&of_small, &of_large, sizeof of_small) == 0;
}

// --- numbers ---------------------------------------------------------------------------------------------------------

// A sum over as many places as the number says, divided by it.
static bool is_mean(const struct definition *d, const struct expr_node *n)
{
    double places = 1;
    if (n->kind != EXPR_APPLY || n->fn != FN_DIV || d->nodes.items[n->b].kind != EXPR_REAL)
        return false;
    const struct expr_node *sum = &d->nodes.items[n->a];
    for (; sum->kind == EXPR_REDUCE && sum->fn == FN_ADD; sum = &d->nodes.items[sum->a])
        places *= (double)d->extents.items[sum->value];
    return places == d->nodes.items[n->b].real;
}

// How many places a window has along some of its axes, or has and has not beside the image.
static bool is_of_window(const struct operator_call *call, double number)
{
    const struct attribute_value *kernel = &call->attributes[operator_find_role(call->op, ROLE_KERNEL)];
    for (uint32_t axes = 0; axes < 1u << kernel->count; axes++) {
        double places = PRODUCT_ALL(double, uint32_t, i, kernel->count, axes >> i & 1 ? (double)kernel->ints[i] : 1);
        if (places == number)
            return true;
    }
    return number == 0;
}

struct numbers {
    size_t n;
    double *items;
};

static void add_number(const struct application *a, expr e, struct numbers *numbers)
{
    const struct expr_node *n = &a->d.nodes.items[e];
    if (n->kind == EXPR_REAL && !(operator_pools(a->call.op) && is_of_window(&a->call, n->real)))
        numbers->items[numbers->n++] = n->real;
}

COMPARISON(compare_numbers, double, ORDER(*x, *y))

static struct numbers numbers_of(const struct application *a, struct arena *scratch)
{
    const struct definition *d = &a->d;
    struct numbers numbers = {.items = arena_array(scratch, double, 3 * d->nodes.count + (size_t)d->n_stages + 1)};
    for (expr e = 0; e < d->nodes.count; e++) {
        const struct expr_node *n = &d->nodes.items[e];
        struct operands operands = expr_operands(d, e);
        bool is_divided = is_mean(d, n);
        for (uint32_t i = 0; i < operands.n && n->kind != EXPR_READ; i++)
            if (!(is_divided && i == 1))
                add_number(a, operands.items[i], &numbers);
    }
    for (int s = 0; s < d->n_stages; s++)
        add_number(a, d->stages[s].body, &numbers);
    qsort(numbers.items, numbers.n, sizeof *numbers.items, compare_numbers);
    return numbers;
}

static bool have_same_numbers(const struct application *small, const struct application *large, struct arena *scratch)
{
    struct numbers x = numbers_of(small, scratch), y = numbers_of(large, scratch);
    return x.n == y.n && memcmp(x.items, y.items, x.n * sizeof *x.items) == 0;
}

// A function of how many places there are: a sum of ones is no polynomial then.
static bool has_functions_of_counts(const struct definition *d, struct arena *scratch)
{
    const bool *reads = expressions_of(d, EXPR_READ, scratch), *sums = expressions_of(d, EXPR_REDUCE, scratch);
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *n = &d->nodes.items[i];
        bool is_of_ring = n->fn == FN_ADD || n->fn == FN_SUB || n->fn == FN_MUL || n->fn == FN_DIV || n->fn == FN_NEG;
        if (n->kind == EXPR_APPLY && !is_of_ring && sums[i] && !reads[i])
            return true;
    }
    return false;
}

// --- larger ----------------------------------------------------------------------------------------------------------

// Axes of the size, or all. False: one of all has one place, of which more may be made than of larger ones.
static bool enlarge_sizes(struct application *a, int64_t size, int64_t times)
{
    for (int i = 0; i < a->call.n_inputs; i++)
        for (int axis = 0; axis < a->inputs[i].rank; axis++) {
            if (size == ALL_SIZES && a->inputs[i].dim[axis] < 2)
                return false;
            a->inputs[i].dim[axis] *= size == ALL_SIZES || a->inputs[i].dim[axis] == size ? times : 1;
        }
    for (int i = 0; i < operator_n_attributes(a->call.op); i++) {
        enum attribute_role role = a->call.op->attributes[i].role;
        for (uint32_t j = 0; (role == ROLE_SHAPE || role == ROLE_PART_SIZES) && j < a->attributes[i].count; j++)
            a->ints[i][j] *= size == ALL_SIZES || a->ints[i][j] == size ? times : 1;
    }
    return true;
}

typedef bool compare_fn(const struct application *small, const struct application *large, struct arena *scratch);

static bool is_same_where_larger(struct application *small, int64_t size, compare_fn *compare, struct arena *scratch)
{
    struct application large FREED_BY(application_free);
    return !application_copy(&large, &small->call) || !enlarge_sizes(&large, size, LARGER) ||
           !application_define(&large, scratch) || compare(small, &large, scratch);
}

static bool is_same_at_larger_sizes(const struct definition *d, const struct operator_call *call, compare_fn *compare,
                                    struct arena *scratch)
{
    struct application small;
    if (!application_copy(&small, call))
        return true;
    small.d = *d;
    bool is_same = is_same_where_larger(&small, ALL_SIZES, compare, scratch);
    for (int i = 0; i < call->n_inputs && is_same; i++)
        for (int axis = 0; axis < call->inputs[i].rank && is_same; axis++)
            is_same = call->inputs[i].dim[axis] < 2 ||
                      is_same_where_larger(&small, call->inputs[i].dim[axis], compare, scratch);
    return is_same;
}

bool operator_keeps_functions(const struct definition *d, const struct operator_call *call, struct arena *scratch)
{
    return is_same_at_larger_sizes(d, call, have_same_functions, scratch);
}

bool operator_keeps_numbers(const struct definition *d, const struct operator_call *call, struct arena *scratch)
{
    return !has_functions_of_counts(d, scratch) && is_same_at_larger_sizes(d, call, have_same_numbers, scratch);
}

// Sizes made by kernels and groups, and shapes by how many entries there are, are no matter of all together.
static bool may_grow(const struct operator* op)
{
    return !operator_has_role(op, ROLE_STRIDE) && !operator_has_role(op, ROLE_KERNEL) &&
           !operator_has_role(op, ROLE_GROUPS) && !operator_has_role(op, ROLE_SHAPE);
}

static bool takes_times(const struct operator_call *call, int64_t times, struct arena *scratch)
{
    struct application large FREED_BY(application_free);
    if (!application_copy(&large, call) || !enlarge_sizes(&large, ALL_SIZES, times))
        return true;
    definition_init(&large.d, scratch, large.call.n_inputs, large.inputs);
    large.d.is_silent = true;
    return !operator_check_call(&large.d, &large.call) || large.call.op->define(&large.d, &large.call);
}

bool operator_takes_larger(const struct operator_call *call, struct arena *scratch)
{
    return !may_grow(call->op) || (takes_times(call, LARGER, scratch) && takes_times(call, FAR_LARGER, scratch));
}
