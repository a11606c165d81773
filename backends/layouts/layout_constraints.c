// The problem to be solved: tables over choices, and over sets of copies.
//
// The copies of a tensor would be one table over its choice and those of all its readers. A variable of its own, the
// set of slots that are copied, makes of it tables over three variables: what the set costs, and, for each reader, what
// the set lacks of what it needs.
#include "backends/layouts/layout_constraints.h"

#include "backends/layouts/layout_tables.h"
#include "backends/layouts/solver/assignment.h"
#include "backends/limits.def"
#include <math.h>
#include <string.h>

struct formulation {
    struct layout_search *s;
    size_t n_variables, n_tables;
    int *n_values;
    struct cost_table *tables;
};

static void add_table(struct formulation *f, int n, const uint32_t *variables, const double *seconds)
{
    f->tables[f->n_tables++] = (struct cost_table){n, n ? arena_copy_array(f->s->arena, variables, n) : NULL, seconds};
}

static double known_or(double seconds, double otherwise)
{
    return isnan(seconds) ? otherwise : seconds;
}

// The slots that may be needed at all.
static unsigned slots_of_need(const struct layout_search *s, const struct layout_part *need)
{
    return layout_table_of(s, need)->slots;
}

static unsigned expand_set(unsigned set, unsigned slots)
{
    unsigned expanded = 0;
    for (int k = 0; k < LAYOUT_SLOTS; k++)
        if (slots >> k & 1) {
            expanded |= (set & 1) << k;
            set >>= 1;
        }
    return expanded;
}

static double seconds_of_set(const struct layout_table *copies, size_t entry, unsigned set)
{
    return SUM_ALL(double, size_t, k, LAYOUT_SLOTS,
                   set >> k & 1 ? known_or(copies->seconds[entry * LAYOUT_SLOTS + k], 0) : 0);
}

// The most that copies into these slots cost, however the tensor stands.
static double most_seconds_of(const struct layout_table *copies, unsigned slots)
{
    return LARGEST(double, 0, size_t, i, copies->n_entries / LAYOUT_SLOTS, seconds_of_set(copies, i, slots));
}

// A need joins a reader and the set: what the set lacks costs at least as much as to put it into the set, so that it
// never pays to leave it out.
static void add_need(struct formulation *f, const struct layout_part *copies, const struct layout_part *need,
                     uint32_t set, unsigned slots)
{
    const struct layout_table *t = layout_table_of(f->s, need);
    uint32_t variables[LAYOUT_MOST_CHOICES + 1];
    size_t n_sets = (size_t)f->n_values[set];
    double *lacks = arena_array(f->s->arena, double, t->n_entries *n_sets);
    for (size_t i = 0; i < t->n_entries; i++)
        for (unsigned k = 0; k < n_sets; k++)
            lacks[i * n_sets + k] = most_seconds_of(layout_table_of(f->s, copies),
                                                    (unsigned)known_or(t->seconds[i], 0) & ~expand_set(k, slots));
    for (size_t i = 0; i < need->scope.count; i++)
        variables[i] = need->scope.items[i];
    variables[need->scope.count] = set;
    add_table(f, (int)need->scope.count + 1, variables, lacks);
}

static void add_sets(struct formulation *f, const struct layout_part *copies, unsigned slots)
{
    const struct layout_table *t = layout_table_of(f->s, copies);
    unsigned n_sets = 1u << __builtin_popcount(slots);
    uint32_t variables[LAYOUT_MOST_CHOICES + 1], set = (uint32_t)f->n_variables++;
    size_t n_places = t->n_entries / LAYOUT_SLOTS;
    double *seconds = arena_array(f->s->arena, double, n_places *n_sets);
    f->n_values[set] = (int)n_sets;
    for (size_t i = 0; i < n_places; i++)
        for (unsigned k = 0; k < n_sets; k++)
            seconds[i * n_sets + k] = seconds_of_set(t, i, expand_set(k, slots));
    for (size_t i = 0; i < copies->scope.count; i++)
        variables[i] = copies->scope.items[i];
    variables[copies->scope.count] = set;
    add_table(f, (int)copies->scope.count + 1, variables, seconds);
    for (uint32_t p = copies->next; p != NO_LAYOUT_PART; p = f->s->parts.items[p].next)
        if (slots_of_need(f->s, &f->s->parts.items[p]))
            add_need(f, copies, &f->s->parts.items[p], set, slots);
}

static void add_copies_of(struct formulation *f, const struct layout_part *copies)
{
    unsigned slots = 0;
    for (uint32_t p = copies->next; p != NO_LAYOUT_PART; p = f->s->parts.items[p].next)
        slots |= slots_of_need(f->s, &f->s->parts.items[p]);
    if (slots)
        add_sets(f, copies, slots);
}

double layout_least_seconds(const struct layout_search *s, const struct layout_table *t)
{
    return fmax(s->b->target.layouts->least_share * t->least, t->floor);
}

// The table as far as it is known; what is missing costs at least a share of the least, and its floor.
static const double *bounds_of(const struct layout_search *s, const struct layout_table *t)
{
    if (t->n_missing == 0)
        return t->seconds;
    double *bounds = arena_array(s->arena, double, t->n_entries);
    for (size_t i = 0; i < t->n_entries; i++)
        bounds[i] = !isnan(t->seconds[i]) ? t->seconds[i]
                    : s->is_known_only    ? UNMEASURED_SECONDS
                                          : layout_least_seconds(s, t);
    return bounds;
}

static struct formulation begin_formulation(struct layout_search *s)
{
    size_t n_choices = s->plan.choices.count;
    struct formulation f = {.s = s, .n_variables = n_choices};
    f.n_values = arena_array(s->arena, int, n_choices + s->parts.count + 1);
    f.tables = arena_array(s->arena, struct cost_table, 2 * s->parts.count + 1);
    memcpy(f.n_values, s->n_layouts, n_choices * sizeof *f.n_values);
    return f;
}

struct assignment layouts_find_among_known(struct layout_search *s, int *ret_values)
{
    size_t n_choices = s->plan.choices.count;
    struct formulation f = begin_formulation(s);
    vec_each(&s->parts, part) {
        if (part->kind == PART_STEPS)
            add_table(&f, (int)part->scope.count, part->scope.items, bounds_of(s, layout_table_of(s, part)));
        else if (part->kind == PART_COPIES)
            add_copies_of(&f, part);
    }
    int *values = arena_array(s->arena, int, f.n_variables + 1);
    struct assignment found =
        assignment_find(f.n_variables, f.n_values, f.n_tables, f.tables, &assignment_standard_limits, s->arena, values);
    memcpy(ret_values, values, n_choices * sizeof *values);
    return found;
}

// --- how hard it is --------------------------------------------------------------------------------------------------

static unsigned layouts_of_scope(const struct layout_search *s, const uint32_t *scope, size_t n)
{
    unsigned layouts = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < s->n_layouts[scope[i]]; k++)
            layouts |= 1u << s->layouts[scope[i]][k];
    return layouts;
}

// Scopes are as layouts_find_among_known has them, with all the slots that may be needed.
static void add_scopes_of_copies(struct formulation *f, const struct layout_part *copies)
{
    const struct layout_search *s = f->s;
    uint32_t scope[LAYOUT_MOST_CHOICES + 1], set = (uint32_t)f->n_variables;
    unsigned slots = layouts_of_scope(s, copies->scope.items, copies->scope.count);
    for (uint32_t p = copies->next; p != NO_LAYOUT_PART; p = s->parts.items[p].next)
        slots |= layouts_of_scope(s, s->parts.items[p].scope.items, s->parts.items[p].scope.count);
    f->n_values[f->n_variables++] = 1 << __builtin_popcount(slots);
    for (uint32_t p = (uint32_t)(copies - s->parts.items); p != NO_LAYOUT_PART; p = s->parts.items[p].next) {
        const struct layout_part *part = &s->parts.items[p];
        memcpy(scope, part->scope.items, part->scope.count * sizeof *scope);
        scope[part->scope.count] = set;
        add_table(f, (int)part->scope.count + 1, scope, NULL);
    }
}

bool layouts_are_hard(struct layout_search *s)
{
    struct assignment_limits limits = assignment_standard_limits;
    ARENA_MARK(mark, s->arena);
    struct formulation f = begin_formulation(s);
    vec_each(&s->parts, part) {
        if (part->kind == PART_STEPS)
            add_table(&f, (int)part->scope.count, part->scope.items, NULL);
        else if (part->kind == PART_COPIES)
            add_scopes_of_copies(&f, part);
    }
    limits.work *= SHARE_OF_WORK;
    double work = assignment_work(f.n_variables, f.n_values, f.n_tables, f.tables, &limits, s->arena);
    return work == INFINITY;
}
