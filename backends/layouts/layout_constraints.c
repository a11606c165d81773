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

#define ENTRIES_WITHOUT_SETS 256   // of the table for all copies of a tensor

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
    double seconds = 0;
    for (size_t k = 0; k < LAYOUT_SLOTS; k++)
        seconds += set >> k & 1 ? known_or(copies->seconds[entry * LAYOUT_SLOTS + k], 0) : 0;
    return seconds;
}

// The most that copies into these slots cost, however the tensor stands.
static double most_seconds_of(const struct layout_table *copies, unsigned slots)
{
    double most = 0;
    for (size_t i = 0; i < copies->n_entries / LAYOUT_SLOTS; i++)
        most = fmax(most, seconds_of_set(copies, i, slots));
    return most;
}

// A need joins a reader and the set: what the set lacks costs at least as much as to put it into the set, so that it
// never pays to leave it out. (Infinity would do, but is no help in comparing values.)
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

static size_t put_into_scope(const struct formulation *f, const struct layout_part *part, uint32_t *scope, size_t n,
                             size_t *entries)
{
    for (size_t i = 0; i < part->scope.count; i++) {
        size_t k = 0;
        while (k < n && scope[k] != part->scope.items[i])
            k++;
        if (k < n)
            continue;
        scope[n++] = part->scope.items[i];
        *entries *= (size_t)f->n_values[part->scope.items[i]];
        if (n > LAYOUT_MOST_CHOICES || *entries > ENTRIES_WITHOUT_SETS)
            return SIZE_MAX;
    }
    return n;
}

// A table of copies or of a need, while choices take one combination of values after the other.
struct walk {
    const double *seconds;
    size_t entry, strides[LAYOUT_MOST_CHOICES + 2];   // by places in the scope
};

static struct walk walk_of(const struct formulation *f, const struct layout_part *part, size_t n, const uint32_t *scope)
{
    struct walk w = {.seconds = layout_table_of(f->s, part)->seconds};
    size_t stride = 1;
    for (size_t i = part->scope.count; i-- > 0;) {
        for (size_t k = 0; k < n; k++)
            if (scope[k] == part->scope.items[i])
                w.strides[k] = stride;
        stride *= (size_t)f->n_values[part->scope.items[i]];
    }
    return w;
}

// The next combination, the last choice first.
static void step_on(const struct formulation *f, size_t n, const uint32_t *scope, int *values, size_t n_walks,
                    struct walk *walks)
{
    for (size_t k = n; k-- > 0;) {
        int n_values = f->n_values[scope[k]];
        bool is_over = ++values[k] == n_values;
        for (size_t i = 0; i < n_walks; i++)
            walks[i].entry += is_over ? walks[i].strides[k] * (1 - (size_t)n_values) : walks[i].strides[k];
        if (!is_over)
            return;
        values[k] = 0;
    }
}

// One table over all choices: the copies that some reader needs are made. False: it would be too large.
static bool add_joint_table(struct formulation *f, const struct layout_part *copies)
{
    struct layout_search *s = f->s;
    uint32_t scope[LAYOUT_MOST_CHOICES + 2], p;
    int values[LAYOUT_MOST_CHOICES + 2] = {0};
    size_t entries = 1, n_needs = 0, n = put_into_scope(f, copies, scope, 0, &entries);
    for (p = copies->next; p != NO_LAYOUT_PART && n != SIZE_MAX; p = s->parts.items[p].next)
        if (slots_of_need(s, &s->parts.items[p])) {
            n = put_into_scope(f, &s->parts.items[p], scope, n, &entries);
            n_needs++;
        }
    if (n == SIZE_MAX)
        return false;
    double *seconds = arena_array(s->arena, double, entries);
    struct walk *walks = arena_array(s->arena, struct walk, n_needs + 1), *needs = walks + 1;
    walks[0] = walk_of(f, copies, n, scope);
    n_needs = 0;
    for (p = copies->next; p != NO_LAYOUT_PART; p = s->parts.items[p].next)
        if (slots_of_need(s, &s->parts.items[p]))
            needs[n_needs++] = walk_of(f, &s->parts.items[p], n, scope);
    for (size_t i = 0; i < entries; i++) {
        unsigned set = 0;
        for (size_t k = 0; k < n_needs; k++)
            set |= (unsigned)known_or(needs[k].seconds[needs[k].entry], 0);
        seconds[i] = set ? seconds_of_set(layout_table_of(s, copies), walks[0].entry, set) : 0;
        step_on(f, n, scope, values, n_needs + 1, walks);
    }
    add_table(f, (int)n, scope, seconds);
    return true;
}

static void add_copies_of(struct formulation *f, const struct layout_part *copies)
{
    unsigned slots = 0;
    for (uint32_t p = copies->next; p != NO_LAYOUT_PART; p = f->s->parts.items[p].next)
        slots |= slots_of_need(f->s, &f->s->parts.items[p]);
    if (slots && !add_joint_table(f, copies))
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
    for (size_t i = 0; i < s->parts.count; i++) {
        const struct layout_part *part = &s->parts.items[i];
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
    uint32_t scope[LAYOUT_MOST_CHOICES + 2], set = (uint32_t)f->n_variables;
    size_t entries = 1, n = put_into_scope(f, copies, scope, 0, &entries);
    unsigned slots = layouts_of_scope(s, copies->scope.items, copies->scope.count);
    for (uint32_t p = copies->next; p != NO_LAYOUT_PART; p = s->parts.items[p].next) {
        const struct layout_part *need = &s->parts.items[p];
        n = n == SIZE_MAX ? n : put_into_scope(f, need, scope, n, &entries);
        slots |= layouts_of_scope(s, need->scope.items, need->scope.count);
    }
    if (n != SIZE_MAX) {
        add_table(f, (int)n, scope, NULL);
        return;
    }
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
    struct arena_mark mark = arena_mark(s->arena);
    struct formulation f = begin_formulation(s);
    for (size_t i = 0; i < s->parts.count; i++) {
        const struct layout_part *part = &s->parts.items[i];
        if (part->kind == PART_STEPS)
            add_table(&f, (int)part->scope.count, part->scope.items, NULL);
        else if (part->kind == PART_COPIES)
            add_scopes_of_copies(&f, part);
    }
    limits.work *= SHARE_OF_WORK;
    double work = assignment_work(f.n_variables, f.n_values, f.n_tables, f.tables, &limits, s->arena);
    arena_release(s->arena, mark);
    return work == INFINITY;
}
