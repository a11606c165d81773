// Bucket elimination with the cheapest variable first. Tables lie in the caller's arena, lists in vectors of their own.
// A heap gives the cheapest variable: each change of a variable's tables adds a prospect, older ones are passed over.
#include "backends/layouts/solver/variable_elimination.h"

#include "core/memory/arena.h"
#include "core/memory/heap.h"
#include <math.h>
#include <string.h>

// --- tables ----------------------------------------------------------------------------------------------------------

static void add_factor(struct elimination *e, int n, const uint32_t *variables, const double *seconds)
{
    if (n == 0) {
        e->constant += seconds ? seconds[0] : 0;
        return;
    }
    for (int i = 0; i < n; i++) {
        vec_push(&e->variables[variables[i]].factors, (uint32_t)e->factors.count);
        e->variables[variables[i]].entries = 0;
    }
    vec_push(&e->factors, ((struct factor){n, variables, seconds, false}));
}

static void add_to_scope(struct elimination *e, uint32_t variable)
{
    if (e->place[variable] >= 0)
        return;
    e->place[variable] = (int)e->scope.count;
    vec_push(&e->scope, variable);
}

static void collect_scope(struct elimination *e, uint32_t variable, const factor_list *some)
{
    vec_clear(&e->scope);
    add_to_scope(e, variable);
    for (size_t i = 0; i < some->count; i++) {
        const struct factor *f = &e->factors.items[some->items[i]];
        for (int k = 0; k < f->n && !f->is_gone; k++)
            add_to_scope(e, f->variables[k]);
    }
}

static void forget_scope(struct elimination *e)
{
    for (size_t i = 0; i < e->scope.count; i++)
        e->place[e->scope.items[i]] = -1;
}

static double entries_of_scope(const struct elimination *e)
{
    return PRODUCT_ALL(double, size_t, i, e->scope.count, e->n_values[e->scope.items[i]]);
}

double elimination_entries_of(struct elimination *e, uint32_t variable, const factor_list *some)
{
    collect_scope(e, variable, some);
    forget_scope(e);
    return entries_of_scope(e);
}

double elimination_entries(struct elimination *e, uint32_t variable)
{
    struct elimination_variable *v = &e->variables[variable];
    if (v->entries == 0)
        v->entries = elimination_entries_of(e, variable, &v->factors);
    return v->entries;
}

size_t elimination_count_neighbours(struct elimination *e, uint32_t variable)
{
    elimination_entries_of(e, variable, &e->variables[variable].factors);
    return e->scope.count - 1;
}

const factor_list *elimination_factors_of(struct elimination *e, uint32_t variable)
{
    const factor_list *all = &e->variables[variable].factors;
    vec_clear(&e->live);
    for (size_t i = 0; i < all->count; i++)
        if (!e->factors.items[all->items[i]].is_gone)
            vec_push(&e->live, all->items[i]);
    return &e->live;
}

// --- the cheapest variable -------------------------------------------------------------------------------------------

static bool is_cheaper(const void *context, const void *a, const void *b)
{
    const struct prospect *x = a, *y = b;
    return x->work != y->work ? x->work < y->work : x->variable < y->variable;
}

void elimination_reconsider(struct elimination *e, uint32_t variable)
{
    struct prospect added = {elimination_entries(e, variable), variable};
    heap_push(&e->prospects, added, is_cheaper, NULL);
}

uint32_t elimination_next(struct elimination *e)
{
    while (e->prospects.count) {
        struct prospect first = heap_pop(&e->prospects, is_cheaper, NULL);
        const struct elimination_variable *v = &e->variables[first.variable];
        if (!v->is_gone && v->entries == first.work)
            return first.variable;
    }
    return NO_VARIABLE;
}

// The variable and its tables are gone; what it was next to costs something else now.
void elimination_drop(struct elimination *e, uint32_t variable)
{
    const factor_list *factors = &e->variables[variable].factors;
    collect_scope(e, variable, factors);
    forget_scope(e);
    for (size_t i = 0; i < factors->count; i++)
        e->factors.items[factors->items[i]].is_gone = true;
    e->variables[variable].is_gone = true;
    size_t n = e->scope.count;
    uint32_t *others = arena_copy_array(e->arena, e->scope.items, n);
    for (size_t i = 1; i < n; i++)
        e->variables[others[i]].entries = 0;
    for (size_t i = 1; i < n; i++)
        elimination_reconsider(e, others[i]);
}

// --- minimizing over a variable --------------------------------------------------------------------------------------

// A table that mentions the variable, while the others take one combination of values after the other.
struct factor_cursor {
    const double *at;   // its entries for the combination, the variable's first value first
    size_t *strides;    // by places in the scope; 0 where it does not mention what stands there
};
struct combinations {
    size_t n_cursors, entries;   // entries: combinations
    struct factor_cursor *cursors;
    int *values;   // of the scope
};

// Begins a walk over the scope that was collected.
static struct combinations begin_walk(struct elimination *e, const factor_list *some)
{
    struct combinations w = {.entries = (size_t)(entries_of_scope(e) / e->n_values[e->scope.items[0]])};
    w.values = arena_array(e->arena, int, e->scope.count);
    w.cursors = arena_array(e->arena, struct factor_cursor, some->count + 1);
    for (size_t i = 0; i < some->count; i++) {
        const struct factor *f = &e->factors.items[some->items[i]];
        if (f->is_gone)
            continue;
        struct factor_cursor *r = &w.cursors[w.n_cursors++];
        size_t stride = 1;
        r->at = f->seconds;
        r->strides = arena_array(e->arena, size_t, e->scope.count);
        for (int k = f->n; k-- > 0;) {
            r->strides[e->place[f->variables[k]]] = stride;
            stride *= (size_t)e->n_values[f->variables[k]];
        }
    }
    return w;
}

// The next combination of values[1 .. n), the last one first.
static void step_on(const struct elimination *e, struct combinations *w)
{
    for (size_t i = e->scope.count; i-- > 1;) {
        bool is_over = ++w->values[i] == e->n_values[e->scope.items[i]];
        for (size_t k = 0; k < w->n_cursors; k++) {
            w->cursors[k].at += w->cursors[k].strides[i];
            w->cursors[k].at -= is_over ? w->cursors[k].strides[i] * (size_t)w->values[i] : 0;
        }
        if (!is_over)
            return;
        w->values[i] = 0;
    }
}

static double sum_at(const struct combinations *w, int value)
{
    return SUM_ALL(double, size_t, k, w->n_cursors, w->cursors[k].at[w->cursors[k].strides[0] * (size_t)value]);
}

// `ret_best` (may be NULL): the variable's best value for each combination of the others'.
static double *minimize(struct elimination *e, const factor_list *some, const double *shift, uint8_t *ret_best)
{
    struct combinations w = begin_walk(e, some);
    double *seconds = arena_alloc(e->arena, w.entries * sizeof *seconds, _Alignof(double));
    int n_values = e->n_values[e->scope.items[0]];
    for (size_t i = 0; i < w.entries; i++) {
        seconds[i] = INFINITY;
        for (int value = 0; value < n_values; value++) {
            double sum = sum_at(&w, value) + (shift ? shift[value] : 0);
            if (sum < seconds[i]) {
                seconds[i] = sum;
                if (ret_best)
                    ret_best[i] = (uint8_t)value;
            }
        }
        step_on(e, &w);
    }
    return seconds;
}

static const uint32_t *others_of_scope(const struct elimination *e)
{
    return arena_copy_array(e->arena, e->scope.items + 1, e->scope.count - 1);
}

void elimination_minimize(struct elimination *e, uint32_t variable, const factor_list *some, const double *shift)
{
    collect_scope(e, variable, some);
    const double *seconds = minimize(e, some, shift, NULL);
    forget_scope(e);
    add_factor(e, (int)e->scope.count - 1, others_of_scope(e), seconds);
}

void elimination_marginals(struct elimination *e, uint32_t variable, const factor_list *some, double *ret_marginals)
{
    collect_scope(e, variable, some);
    struct combinations w = begin_walk(e, some);
    for (int value = 0; value < e->n_values[variable]; value++)
        ret_marginals[value] = INFINITY;
    for (size_t i = 0; i < w.entries; i++) {
        for (int value = 0; value < e->n_values[variable]; value++)
            ret_marginals[value] = fmin(ret_marginals[value], sum_at(&w, value));
        step_on(e, &w);
    }
    forget_scope(e);
}

static bool is_dry(const struct elimination *e, const factor_list *some)
{
    return some->count && !e->factors.items[some->items[0]].seconds;
}

void elimination_remove(struct elimination *e, uint32_t variable)
{
    const factor_list *factors = elimination_factors_of(e, variable);
    collect_scope(e, variable, factors);
    struct decision d = {variable, (int)e->scope.count - 1, others_of_scope(e), NULL};
    const double *seconds = NULL;
    if (!is_dry(e, factors)) {
        d.values = arena_array(e->arena, uint8_t, (size_t)(entries_of_scope(e) / e->n_values[variable]));
        seconds = minimize(e, factors, NULL, d.values);
    }
    forget_scope(e);
    vec_push(&e->decisions, d);
    add_factor(e, d.n, d.others, seconds);
    elimination_drop(e, variable);
}

// --- giving a variable a value ---------------------------------------------------------------------------------------

// The factor for one value of one of its variables.
static void add_slice(struct elimination *e, const struct factor *f, uint32_t variable, int value)
{
    int at = 0;
    size_t inner = 1, outer = 1;
    while (f->variables[at] != variable)
        outer *= (size_t)e->n_values[f->variables[at++]];
    for (int i = at + 1; i < f->n; i++)
        inner *= (size_t)e->n_values[f->variables[i]];
    double *seconds = arena_alloc(e->arena, outer * inner * sizeof *seconds, _Alignof(double));
    for (size_t i = 0; i < outer; i++)
        memcpy(seconds + i * inner, f->seconds + (i * (size_t)e->n_values[variable] + (size_t)value) * inner,
               inner * sizeof *seconds);
    uint32_t *others = arena_array(e->arena, uint32_t, f->n);
    for (int i = 0, n = 0; i < f->n; i++)
        if (i != at)
            others[n++] = f->variables[i];
    add_factor(e, f->n - 1, others, seconds);
}

void elimination_fix(struct elimination *e, uint32_t variable, int value)
{
    const factor_list *factors = elimination_factors_of(e, variable);
    for (size_t i = 0; i < factors->count; i++) {
        struct factor f = e->factors.items[factors->items[i]];
        add_slice(e, &f, variable, value);
    }
    elimination_drop(e, variable);
}

// --- the whole -------------------------------------------------------------------------------------------------------

void elimination_decide(const struct elimination *e, int *values)
{
    for (size_t i = e->decisions.count; i-- > 0;) {
        const struct decision *d = &e->decisions.items[i];
        size_t at = 0;
        for (int k = 0; k < d->n; k++)
            at = at * (size_t)e->n_values[d->others[k]] + (size_t)values[d->others[k]];
        values[d->variable] = d->values[at];
    }
}

void elimination_init(struct elimination *e, size_t n_variables, const int *n_values, size_t n_tables,
                      const struct cost_table *tables, struct arena *arena)
{
    *e = (struct elimination){.n_variables = n_variables, .n_values = n_values, .arena = arena};
    e->variables = arena_array(arena, struct elimination_variable, n_variables + 1);
    e->place = arena_array(arena, int, n_variables + 1);
    memset(e->place, 0xff, n_variables * sizeof *e->place);
    for (size_t i = 0; i < n_tables; i++)
        add_factor(e, tables[i].n, tables[i].variables, tables[i].seconds);
    for (uint32_t v = 0; v < n_variables; v++)
        elimination_reconsider(e, v);
}

void elimination_free(struct elimination *e)
{
    for (size_t i = 0; i < e->n_variables; i++)
        vec_free(&e->variables[i].factors);
    vecs_free(e, factors, decisions, prospects, live, scope);
}
