#include "backends/layouts/variable_elimination.h"

#include "backends/layouts/dominance.h"
#include "core/arena.h"
#include "core/vec.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

// A table while variables are eliminated. Ids of tables are given in order; one that was added up is gone.
struct part {
    int n;
    uint32_t *variables;
    const double *seconds;
    bool is_gone;
};
struct variable {
    VEC(uint32_t) parts;   // some of them gone
    double entries;        // of the table that eliminating it would make; 0: to be counted
    bool is_gone;
};
// How an eliminated variable follows from others: its best value for each of theirs.
struct decision {
    uint32_t variable;
    int n;
    uint32_t *others;
    uint8_t *values;
};
// Of eliminating a variable; out of date when its `entries` are others by now.
struct prospect {
    double work;
    uint32_t variable;
};
struct problem {
    size_t n_variables;
    const int *n_values;
    size_t most_entries;
    struct arena *arena;
    struct variable *variables;
    VEC(struct part) parts;
    VEC(struct decision) decisions;
    VEC(struct prospect) prospects;   // a heap, the least work first, of equal work the smaller variable
    VEC(uint32_t) scope;              // of the elimination under way: the variable, then the others
    int *place;                       // of every variable: where it is in the scope
    double constant;
};

// --- tables ----------------------------------------------------------------------------------------------------------

static void add_part(struct problem *p, int n, uint32_t *variables, const double *seconds)
{
    if (n == 0) {
        p->constant += seconds[0];
        return;
    }
    for (int i = 0; i < n; i++) {
        vec_push(&p->variables[variables[i]].parts, (uint32_t)p->parts.count);
        p->variables[variables[i]].entries = 0;
    }
    vec_push(&p->parts, ((struct part){n, variables, seconds, false}));
}

static void add_to_scope(struct problem *p, uint32_t variable)
{
    if (p->place[variable] >= 0)
        return;
    p->place[variable] = (int)p->scope.count;
    vec_push(&p->scope, variable);
}

static void collect_scope(struct problem *p, uint32_t variable)
{
    vec_clear(&p->scope);
    add_to_scope(p, variable);
    for (size_t i = 0; i < p->variables[variable].parts.count; i++) {
        const struct part *part = &p->parts.items[p->variables[variable].parts.items[i]];
        for (int k = 0; k < part->n && !part->is_gone; k++)
            add_to_scope(p, part->variables[k]);
    }
}

static void forget_scope(struct problem *p)
{
    for (size_t i = 0; i < p->scope.count; i++)
        p->place[p->scope.items[i]] = -1;
}

static double entries_of_scope(const struct problem *p)
{
    double entries = 1;
    for (size_t i = 0; i < p->scope.count; i++)
        entries *= p->n_values[p->scope.items[i]];
    return entries;
}

// Of eliminating the variable, in all entries that are looked at.
static double work_of(struct problem *p, uint32_t variable)
{
    struct variable *v = &p->variables[variable];
    if (v->entries == 0) {
        collect_scope(p, variable);
        v->entries = entries_of_scope(p);
        forget_scope(p);
    }
    return v->entries;
}

// --- eliminating -----------------------------------------------------------------------------------------------------

// A table that mentions the variable, while the others take one combination of values after the other.
struct reader {
    const double *at;   // its entries for the combination, the variable's first value first
    size_t *strides;    // by places in the scope; 0 where it does not mention what stands there
};

static size_t make_readers(struct problem *p, uint32_t variable, struct reader *ret_readers)
{
    const struct variable *v = &p->variables[variable];
    size_t n = 0;
    for (size_t i = 0; i < v->parts.count; i++) {
        const struct part *part = &p->parts.items[v->parts.items[i]];
        if (part->is_gone)
            continue;
        struct reader *r = &ret_readers[n++];
        size_t stride = 1;
        r->at = part->seconds;
        r->strides = arena_array(p->arena, size_t, p->scope.count);
        for (int k = part->n; k-- > 0;) {
            r->strides[p->place[part->variables[k]]] = stride;
            stride *= (size_t)p->n_values[part->variables[k]];
        }
    }
    return n;
}

// The next combination of values[1 .. n), the last one first.
static void step_on(const struct problem *p, int *values, size_t n_readers, struct reader *readers)
{
    for (size_t i = p->scope.count; i-- > 1;) {
        bool is_over = ++values[i] == p->n_values[p->scope.items[i]];
        for (size_t k = 0; k < n_readers; k++) {
            readers[k].at += readers[k].strides[i];
            readers[k].at -= is_over ? readers[k].strides[i] * (size_t)values[i] : 0;
        }
        if (!is_over)
            return;
        values[i] = 0;
    }
}

static double sum_at(size_t n_readers, const struct reader *readers, int value)
{
    double sum = 0;
    for (size_t k = 0; k < n_readers; k++)
        sum += readers[k].at[readers[k].strides[0] * (size_t)value];
    return sum;
}

static void drop_parts(struct problem *p, uint32_t variable)
{
    struct variable *v = &p->variables[variable];
    for (size_t i = 0; i < v->parts.count; i++)
        p->parts.items[v->parts.items[i]].is_gone = true;
    for (size_t i = 1; i < p->scope.count; i++)
        p->variables[p->scope.items[i]].entries = 0;
    v->is_gone = true;
}

static void eliminate(struct problem *p, uint32_t variable)
{
    collect_scope(p, variable);
    int n = (int)p->scope.count - 1, n_values = p->n_values[variable];
    size_t entries = (size_t)(entries_of_scope(p) / n_values);
    double *seconds = arena_array(p->arena, double, entries);
    struct decision d = {variable, n, n ? arena_copy_array(p->arena, p->scope.items + 1, n) : NULL,
                         arena_array(p->arena, uint8_t, entries)};
    int *values = arena_array(p->arena, int, n + 1);
    struct reader *readers = arena_array(p->arena, struct reader, p->variables[variable].parts.count + 1);
    size_t n_readers = make_readers(p, variable, readers);
    for (size_t i = 0; i < entries; i++) {
        seconds[i] = INFINITY;
        for (int value = 0; value < n_values; value++) {
            double sum = sum_at(n_readers, readers, value);
            if (sum < seconds[i]) {
                seconds[i] = sum;
                d.values[i] = (uint8_t)value;
            }
        }
        step_on(p, values, n_readers, readers);
    }
    drop_parts(p, variable);
    forget_scope(p);
    vec_push(&p->decisions, d);
    add_part(p, n, d.others, seconds);
}

static void decide(const struct problem *p, int *values)
{
    for (size_t i = p->decisions.count; i-- > 0;) {
        const struct decision *d = &p->decisions.items[i];
        size_t at = 0;
        for (int k = 0; k < d->n; k++)
            at = at * (size_t)p->n_values[d->others[k]] + (size_t)values[d->others[k]];
        values[d->variable] = d->values[at];
    }
}

// --- branching -------------------------------------------------------------------------------------------------------

static void init_problem(struct problem *p, size_t n_variables, const int *n_values, size_t most_entries,
                         struct arena *arena)
{
    *p = (struct problem){
        .n_variables = n_variables, .n_values = n_values, .most_entries = most_entries, .arena = arena};
    p->variables = arena_array(arena, struct variable, n_variables + 1);
    p->place = arena_array(arena, int, n_variables + 1);
    for (size_t i = 0; i < n_variables; i++)
        p->place[i] = -1;
}

static void free_problem(struct problem *p)
{
    for (size_t i = 0; i < p->n_variables; i++)
        vec_free(&p->variables[i].parts);
    vec_free(&p->parts);
    vec_free(&p->decisions);
    vec_free(&p->prospects);
    vec_free(&p->scope);
}

// The part for one value of one of its variables.
static void add_slice(struct problem *p, const struct part *part, uint32_t variable, int value)
{
    int at = 0;
    size_t inner = 1, outer = 1;
    while (part->variables[at] != variable)
        outer *= (size_t)p->n_values[part->variables[at++]];
    for (int i = at + 1; i < part->n; i++)
        inner *= (size_t)p->n_values[part->variables[i]];
    double *seconds = arena_array(p->arena, double, outer *inner);
    for (size_t i = 0; i < outer; i++)
        memcpy(seconds + i * inner, part->seconds + (i * (size_t)p->n_values[variable] + (size_t)value) * inner,
               inner * sizeof *seconds);
    uint32_t *others = arena_array(p->arena, uint32_t, part->n);
    for (int i = 0, n = 0; i < part->n; i++)
        if (i != at)
            others[n++] = part->variables[i];
    add_part(p, part->n - 1, others, seconds);
}

static bool mentions(const struct part *part, uint32_t variable)
{
    for (int i = 0; i < part->n; i++)
        if (part->variables[i] == variable)
            return true;
    return false;
}

// What is left of `from` when the variable has the value.
static void init_branch(struct problem *p, const struct problem *from, uint32_t variable, int value)
{
    init_problem(p, from->n_variables, from->n_values, from->most_entries, from->arena);
    p->constant = from->constant;
    for (uint32_t i = 0; i < from->n_variables; i++)
        p->variables[i].is_gone = from->variables[i].is_gone || i == variable;
    for (size_t i = 0; i < from->parts.count; i++) {
        const struct part *part = &from->parts.items[i];
        if (part->is_gone)
            continue;
        if (mentions(part, variable))
            add_slice(p, part, variable, value);
        else
            add_part(p, part->n, part->variables, part->seconds);
    }
}

static double least_possible(const struct problem *p)
{
    double sum = p->constant;
    for (size_t i = 0; i < p->parts.count; i++) {
        const struct part *part = &p->parts.items[i];
        double least = INFINITY;
        size_t entries = 1;
        for (int k = 0; k < part->n; k++)
            entries *= (size_t)p->n_values[part->variables[k]];
        for (size_t k = 0; k < entries && !part->is_gone; k++)
            least = part->seconds[k] < least ? part->seconds[k] : least;
        sum += part->is_gone ? 0 : least;
    }
    return sum;
}

static size_t count_neighbours(struct problem *p, uint32_t variable)
{
    collect_scope(p, variable);
    size_t n = p->scope.count;
    forget_scope(p);
    return n;
}

static uint32_t variable_to_branch_on(struct problem *p)
{
    uint32_t best = 0;
    size_t most = 0;
    for (uint32_t v = 0; v < p->n_variables; v++) {
        size_t n = p->variables[v].is_gone ? 0 : count_neighbours(p, v);
        if (n > most) {
            most = n;
            best = v;
        }
    }
    return best;
}

static bool solve(struct problem *p, double bound, int *ret_values);

static bool branch(struct problem *p, double bound, int *ret_values)
{
    uint32_t variable = variable_to_branch_on(p);
    int *values = arena_array(p->arena, int, p->n_variables + 1);
    bool is_found = false;
    for (int value = 0; value < p->n_values[variable]; value++) {
        struct problem rest;
        init_branch(&rest, p, variable, value);
        if (least_possible(&rest) < bound && solve(&rest, bound, values)) {
            bound = rest.constant;
            values[variable] = value;
            memcpy(ret_values, values, sizeof *values * p->n_variables);
            is_found = true;
        }
        free_problem(&rest);
    }
    p->constant = bound;
    return is_found;
}

static bool is_cheaper(struct prospect a, struct prospect b)
{
    return a.work != b.work ? a.work < b.work : a.variable < b.variable;
}

static void add_prospect(struct problem *p, uint32_t variable)
{
    struct prospect added = {work_of(p, variable), variable};
    vec_push(&p->prospects, added);
    size_t at = p->prospects.count - 1;
    for (; at > 0 && is_cheaper(added, p->prospects.items[(at - 1) / 2]); at = (at - 1) / 2)
        p->prospects.items[at] = p->prospects.items[(at - 1) / 2];
    p->prospects.items[at] = added;
}

static struct prospect take_first_prospect(struct problem *p)
{
    struct prospect first = p->prospects.items[0], moved = vec_pop(&p->prospects);
    size_t at = 0, n = p->prospects.count;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < n && is_cheaper(p->prospects.items[child + 1], p->prospects.items[child]))
            child++;
        if (child >= n || !is_cheaper(p->prospects.items[child], moved))
            break;
        p->prospects.items[at] = p->prospects.items[child];
        at = child;
    }
    if (n)
        p->prospects.items[at] = moved;
    return first;
}

// UINT32_MAX: none is left.
static uint32_t take_cheapest_variable(struct problem *p)
{
    while (p->prospects.count) {
        struct prospect first = take_first_prospect(p);
        const struct variable *v = &p->variables[first.variable];
        if (!v->is_gone && v->entries == first.work)
            return first.variable;
    }
    return UINT32_MAX;
}

// True: the least sum is below the bound, it is p->constant, and `ret_values` has values for what was not gone.
static bool solve(struct problem *p, double bound, int *ret_values)
{
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (!p->variables[v].is_gone)
            add_prospect(p, v);
    for (;;) {
        uint32_t v = take_cheapest_variable(p);
        if (v == UINT32_MAX)
            break;
        if (work_of(p, v) > (double)p->most_entries) {
            if (!branch(p, bound, ret_values))
                return false;
            decide(p, ret_values);
            return true;
        }
        eliminate(p, v);
        const struct decision *last = &p->decisions.items[p->decisions.count - 1];
        for (int i = 0; i < last->n; i++)
            add_prospect(p, last->others[i]);
    }
    if (p->constant >= bound)
        return false;
    decide(p, ret_values);
    return true;
}

// --- the whole -------------------------------------------------------------------------------------------------------

// The table over the variables with values left to choose from, by their new numbers.
static void add_reduced(struct problem *p, const struct reduction *r, const struct cost_table *t,
                        const uint32_t *numbers)
{
    uint32_t *variables = arena_array(r->arena, uint32_t, t->n + 1);
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (r->n_values[t->variables[i]] > 1)
            variables[n++] = numbers[t->variables[i]];
    add_part(p, n, variables, t->seconds);
}

double assignment_find(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                       size_t most_entries, struct arena *arena, int *ret_values)
{
    struct reduction r;
    struct problem p;
    uint32_t *numbers = arena_array(arena, uint32_t, n_variables + 1);
    int *n_left = arena_array(arena, int, n_variables + 1), *left = arena_array(arena, int, n_variables + 1);
    uint32_t n = 0;
    reduction_init(&r, n_variables, n_values, n_tables, tables, arena);
    reduction_drop_dead_ends(&r);
    for (size_t v = 0; v < n_variables; v++) {
        numbers[v] = n;
        if (r.n_values[v] > 1)
            n_left[n++] = r.n_values[v];
    }
    init_problem(&p, n, n_left, most_entries, arena);
    for (size_t i = 0; i < n_tables; i++)
        add_reduced(&p, &r, &r.tables[i], numbers);
    solve(&p, INFINITY, left);
    double sum = p.constant;
    free_problem(&p);
    for (size_t v = 0; v < n_variables; v++)
        ret_values[v] = r.values[v][r.n_values[v] > 1 ? left[numbers[v]] : 0];
    return sum;
}
