// Looks for the best layouts: an optimistic problem is solved, its plan priced, and solved anew until nothing is a
// guess.
#include "backends/layouts/choose_layouts.h"

#include "backends/layouts/layout_constraints.h"
#include "backends/layouts/layout_internal.h"
#include "backends/layouts/layout_parts.h"
#include "backends/layouts/layout_tables.h"
#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include <math.h>
#include <string.h>

static bool make_plan(struct layout_search *s, const uint8_t *layouts, struct plan *ret_plan)
{
    struct plan_request request = {s->g, &s->b->target, s->b->codes, layouts, s->arena, .is_traced = true};
    return plan_make(ret_plan, &request, s->error);
}

// --- looking for the best --------------------------------------------------------------------------------------------

static unsigned slots_needed(const struct layout_search *s, const struct layout_part *copies)
{
    unsigned slots = 0;
    for (uint32_t i = copies->next; i != NO_LAYOUT_PART; i = s->parts.items[i].next) {
        const struct layout_part *need = &s->parts.items[i];
        double set = layout_table_of(s, need)->seconds[need->entry];
        slots |= isnan(set) ? 0 : (unsigned)set;
    }
    return slots;
}

// Looks at these layouts (values: by choices); true when some entry of a table is missing for them.
static bool look_at(struct layout_search *s, const int *values)
{
    bool is_any_missing = false;
    vec_each(&s->parts, part) {
        part->entry = 0;
        part->slots = 0;
        part->is_unknown = false;
        for (size_t k = 0; k < part->scope.count; k++) {
            uint32_t choice = part->scope.items[k];
            part->entry = part->entry * (size_t)s->n_layouts[choice] + (size_t)values[choice];
        }
        part->is_missing = part->kind != PART_COPIES && isnan(layout_table_of(s, part)->seconds[part->entry]);
        is_any_missing |= part->is_missing;
    }
    vec_each(&s->parts, part) {
        unsigned slots = part->kind == PART_COPIES ? slots_needed(s, part) : 0;
        for (int k = 0; k < LAYOUT_SLOTS; k++)
            if (slots >> k & 1)
                part->is_missing |= isnan(layout_table_of(s, part)->seconds[part->entry * LAYOUT_SLOTS + (size_t)k]);
        is_any_missing |= part->is_missing;
    }
    return is_any_missing;
}

static bool fill_entry(struct layout_table *t, size_t entry, double seconds)
{
    if (!isnan(t->seconds[entry]))
        return false;
    t->seconds[entry] = seconds;
    t->n_missing--;
    return true;
}

// Uniform layouts come first in every search. What other entries are taken to cost at least while they are missing they
// cost at least when they are there: else what was looked at before would decide what is found.
static bool fill_steps(struct layout_search *s, struct layout_table *t, size_t entry, double seconds)
{
    if (!isnan(t->seconds[entry]))
        return false;
    if (seconds >= UNMEASURED_SECONDS)
        return fill_entry(t, entry, seconds);
    if (s->is_uniform)
        t->least = t->n_missing == t->n_entries || seconds < t->least ? seconds : t->least;
    return fill_entry(t, entry, s->is_uniform ? seconds : fmax(seconds, layout_least_seconds(s, t)));
}

// NULL: none, as of steps of constants.
static struct layout_part *step_part(const struct layout_search *s, const struct step *step)
{
    uint32_t number = step->is_constant ? NO_LAYOUT_PART : layout_part_of_step(s, step);
    return number == NO_LAYOUT_PART ? NULL : &s->parts.items[number];
}

static bool is_wanted(const struct layout_search *s, const struct layout_part *part, const struct step *step)
{
    if (part->kind != PART_COPIES)
        return part->is_missing;
    return isnan(layout_table_of(s, part)->seconds[part->entry * LAYOUT_SLOTS + step->origin.copied_to]);
}

static bool is_out_of_time(const struct cost_measuring *m)
{
    return m->choices_end > 0 && clock_seconds() > m->choices_end;
}

// When the time for measuring is over, only the standard plan goes on, and copies, which are few and short.
static bool is_given_up(const struct layout_search *s, const struct plan *plan, const struct step *step)
{
    return plan != &s->plan && step->origin.copied == NO_TENSOR && is_out_of_time(&s->b->measuring);
}

// False: it would have to be measured, and only_recalls says that nothing is; or the device failed at it.
static bool price_step(struct layout_search *s, const struct plan *plan, const struct step *step)
{
    struct layout_part *part = step_part(s, step);
    struct step_cost cost;
    if (!part || !is_wanted(s, part, step))
        return true;
    bool only_recalls = s->b->measuring.only_recalls, is_late = is_given_up(s, plan, step);
    s->b->measuring.only_recalls |= is_late;
    bool is_known = s->price(s->b, plan, step, &cost, s->error);
    s->b->measuring.only_recalls = only_recalls;
    if (!is_known) {
        part->is_unknown |= !is_late && (only_recalls || !interrupt_requested());
        cost = (struct step_cost){.seconds = UNMEASURED_SECONDS};
        s->is_cut |= !part->is_unknown;
    }
    if (part->is_unknown)
        return false;
    int slot = part->kind == PART_COPIES ? (int)step->origin.copied_to : 0;
    part->seconds[slot] = (part->slots >> slot & 1 ? part->seconds[slot] : 0) + cost.seconds;
    part->slots |= 1u << slot;
    layout_table_of(s, part)->is_guessed |= cost.is_guessed;
    return true;
}

static void note_need(struct layout_search *s, const struct layout_request *r)
{
    uint32_t need = r->needs_copy ? layout_find_need(s, r->tensor, r->node) : NO_LAYOUT_PART;
    if (need != NO_LAYOUT_PART)
        s->parts.items[need].slots |= 1u << r->copy;
}

// False: nothing of it was missing and is known now.
static bool fill_part(struct layout_search *s, const struct layout_part *part)
{
    struct layout_table *t = layout_table_of(s, part);
    bool is_any = false;
    for (size_t k = 0; part->kind == PART_COPIES && k < LAYOUT_SLOTS; k++)
        if (part->slots >> k & 1)
            is_any |= fill_entry(t, part->entry * LAYOUT_SLOTS + k, part->seconds[k]);
    if (part->kind == PART_NEED && part->is_missing) {
        is_any = fill_entry(t, part->entry, part->slots);
        t->slots |= part->slots;
    }
    if (part->kind == PART_STEPS && part->is_missing && !part->is_unknown)
        is_any = fill_steps(s, t, part->entry, part->slots ? part->seconds[0] : 0);
    return is_any;
}

// Fills what is missing for the layouts that are looked at, of which this is the plan. False: nothing was filled.
static bool fill_parts(struct layout_search *s, const struct plan *plan)
{
    bool is_any = false;
    for (size_t i = 0; i < plan->requests.count; i++)
        note_need(s, &plan->requests.items[i]);
    for (size_t i = 0; i < s->parts.count; i++)
        is_any |= fill_part(s, &s->parts.items[i]);
    return is_any;
}

static void ask_for_steps(struct layout_search *s, const struct plan *plan)
{
    struct step_cost ignored;
    struct error none = {0};
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct layout_part *part = step_part(s, &plan->steps.items[i]);
        if (part && is_wanted(s, part, &plan->steps.items[i]))
            s->price(s->b, plan, &plan->steps.items[i], &ignored, &none);
    }
}

// Kernels that measuring it takes are compiled together.
static void expect_plan(struct layout_search *s, const struct plan *plan)
{
    struct cost_measuring *m = &s->b->measuring, former = *m;
    m->expects = m->only_recalls = true;
    if (!former.only_recalls)
        ask_for_steps(s, plan);
    *m = former;
}

// Steps that others wait for come first, so that the others' kernels are compiled together, too.
static void measure_in_rounds(struct layout_search *s, const struct plan *plan)
{
    struct cost_measuring *m = &s->b->measuring;
    expect_plan(s, plan);
    if (m->only_recalls || m->choices_end > 0)
        return;
    m->leaves_waiting = true;
    ask_for_steps(s, plan);
    m->leaves_waiting = false;
    expect_plan(s, plan);
}

// False: the cost of a step cannot be had.
static bool price_plan(struct layout_search *s, const struct plan *plan)
{
    measure_in_rounds(s, plan);
    for (size_t i = 0; i < plan->steps.count; i++)
        if (!price_step(s, plan, &plan->steps.items[i]))
            return false;
    fill_parts(s, plan);
    return true;
}

// The same without measuring. False: nothing that was missing is known.
static bool recall_plan(struct layout_search *s, const struct plan *plan)
{
    bool only_recalls = s->b->measuring.only_recalls;
    struct error *error = s->error, ignored;
    s->b->measuring.only_recalls = true;
    s->error = &ignored;
    for (size_t i = 0; i < plan->steps.count; i++)
        price_step(s, plan, &plan->steps.items[i]);
    s->b->measuring.only_recalls = only_recalls;
    s->error = error;
    return fill_parts(s, plan);
}

static uint8_t *layouts_of(const struct layout_search *s, const int *values)
{
    uint8_t *layouts = arena_array(s->arena, uint8_t, s->g->tensors.count + 1);
    for (tensor_id t = 0; t < s->g->tensors.count; t++)
        layouts[t] = s->apart ? (s->apart[t] & PLAN_APART) | LAYOUT_ANY : LAYOUT_ANY;
    for (size_t i = 0; i < s->plan.choices.count; i++) {
        tensor_id t = s->plan.choices.items[i].tensor;
        layouts[t] = (layouts[t] & PLAN_APART) | s->layouts[i][values[i]];
    }
    return layouts;
}

// A step that would have to be measured waits until all else is known that these layouts ask for: then others may be
// better. So what is measured, and whether anything has to be, does not depend on what was priced before. Where the
// least is out of reach nothing waits: there what is filled in which round decides what is found.
static bool price_layouts(struct layout_search *s, const int *values)
{
    struct plan plan FREED_BY(plan_free) = {0};
    bool is_done = make_plan(s, layouts_of(s, values), &plan);
    if (is_done && (s->is_uniform || s->is_hard || !recall_plan(s, &plan))) {
        look_at(s, values);
        is_done = price_plan(s, &plan);
    }
    return is_done;
}

// --- the search ------------------------------------------------------------------------------------------------------

#define MOST_ROUNDS 40   // in which layouts that are hard to choose are priced

// One layout for all, as far as they have it, else the standard one. False: none has it.
static bool choose_uniform_layout(const struct layout_search *s, enum layout l, int *values)
{
    bool is_any = false;
    for (size_t i = 0; i < s->plan.choices.count; i++) {
        values[i] = 0;
        for (int k = 1; k < s->n_layouts[i]; k++)
            if (s->layouts[i][k] == l)
                values[i] = k;
        is_any |= values[i] != 0;
    }
    return is_any;
}

// Most of what is needed to rule others out.
static bool price_uniform_layouts(struct layout_search *s, int *values)
{
    return !ANY(enum layout, l, LAYOUT_COUNT,
                choose_uniform_layout(s, l, values) && look_at(s, values) && !price_layouts(s, values));
}

// Kernels of the plans that are priced first are compiled together.
static void expect_uniform_layouts(struct layout_search *s, int *values)
{
    for (enum layout l = 0; l <= LAYOUT_COUNT; l++) {
        struct plan plan FREED_BY(plan_free) = {0};
        if ((choose_uniform_layout(s, l, values) || l == LAYOUT_COUNT) && look_at(s, values) &&
            make_plan(s, layouts_of(s, values), &plan))
            expect_plan(s, &plan);
    }
}

struct turn {
    double operations;
    uint32_t plan, step;
};
typedef VEC(struct turn) turn_list;

COMPARISON(compare_turns, struct turn,
           ORDER(y->operations, x->operations) ?: ORDER(x->plan, y->plan) ?: ORDER(x->step, y->step))

// Choices that seldom gain, and take a compiler, come behind all others.
static bool measure_turns(struct layout_search *s, const struct plan *plans, const turn_list *turns)
{
    struct cost_measuring *m = &s->b->measuring;
    struct step_cost ignored;
    bool is_done = true;
    for (size_t i = 0; i < 2 * turns->count && is_done && !is_out_of_time(m) && !interrupt_requested(); i++) {
        const struct turn *turn = &turns->items[i % turns->count];
        const struct plan *plan = &plans[turn->plan];
        m->ways = i < turns->count ? WAYS_QUICK : WAYS_AGAIN;
        is_done = s->price(s->b, plan, &plan->steps.items[turn->step], &ignored, s->error) || interrupt_requested();
    }
    m->ways = WAYS_ALL;
    return is_done;
}

// The largest step first, in each layout (the plans of choose_uniform_layout, and the standard one): what is left where
// the time for measuring ends matters least.
static bool measure_largest_first(struct layout_search *s, int *values)
{
    struct plan plans[LAYOUT_COUNT + 1] = {0};
    LOCAL_LIST(turn_list, turns);
    uint32_t n = 0;
    bool is_done = true;
    for (enum layout l = 0; is_done && l <= LAYOUT_COUNT; l++)
        if (choose_uniform_layout(s, l, values) || l == LAYOUT_COUNT)
            is_done = make_plan(s, layouts_of(s, values), &plans[n++]);
    for (uint32_t p = 0; is_done && p < n; p++)
        for (uint32_t i = 0; i < plans[p].steps.count; i++)
            if (!plans[p].steps.items[i].is_constant)
                vec_push(&turns, ((struct turn){step_work(&plans[p], &plans[p].steps.items[i]).operations, p, i}));
    vec_sort(&turns, compare_turns);
    is_done = is_done && measure_turns(s, plans, &turns);
    while (n > 0)
        plan_free(&plans[--n]);
    return is_done;
}

// The best layouts as far as is known are priced, until all that they cost is known: then nothing can be better. What
// cannot be measured any more is soon not hoped for.
static bool search_exactly(struct layout_search *s, int *ret_values, struct assignment *ret)
{
    for (int i = 0;; i += s->is_cut) {
        struct arena_mark mark = arena_mark(s->arena);
        s->is_known_only = i >= MOST_ROUNDS;
        *ret = layouts_find_among_known(s, ret_values);
        bool is_missing = look_at(s, ret_values), is_done = !is_missing || price_layouts(s, ret_values);
        arena_release(s->arena, mark);
        if (!is_done || !is_missing)
            return is_done;
    }
}

// Seconds of the layouts that are looked at, when no entry is missing.
static double seconds_looked_at(const struct layout_search *s)
{
    double seconds = 0;
    vec_each(&s->parts, part) {
        const double *entries = layout_table_of(s, part)->seconds;
        unsigned slots = part->kind == PART_COPIES ? slots_needed(s, part) : 0;
        seconds += part->kind == PART_STEPS ? entries[part->entry] : 0;
        for (size_t k = 0; k < LAYOUT_SLOTS; k++)
            seconds += slots >> k & 1 ? entries[part->entry * LAYOUT_SLOTS + k] : 0;
    }
    return seconds;
}

static void keep_if_better(struct layout_search *s, const int *values, int *best, struct assignment *ret)
{
    double seconds = look_at(s, values) ? INFINITY : seconds_looked_at(s);
    if (seconds < ret->seconds) {
        ret->seconds = seconds;
        memcpy(best, values, s->plan.choices.count * sizeof *best);
    }
}

// The same where what is found is not always the best: so all that was priced is compared, and there is an end.
static bool search_approximately(struct layout_search *s, int *ret_values, struct assignment *ret)
{
    int *values = arena_array(s->arena, int, s->plan.choices.count + 1);
    bool is_done = true, is_missing = true;
    *ret = (struct assignment){INFINITY, 0};
    for (enum layout l = 0; l <= LAYOUT_COUNT; l++) {
        choose_uniform_layout(s, l, values);
        keep_if_better(s, values, ret_values, ret);
    }
    for (int i = 0; i < MOST_ROUNDS && is_done && is_missing; i++) {
        ARENA_MARK(mark, s->arena);
        ret->least = layouts_find_among_known(s, values).least;
        is_missing = look_at(s, values);
        is_done = !is_missing || price_layouts(s, values);
        keep_if_better(s, values, ret_values, ret);
    }
    ret->least = fmin(ret->least, ret->seconds);
    return is_done;
}

static bool search(struct layout_search *s, int *ret_values, struct assignment *ret)
{
    const struct cost_measuring *m = &s->b->measuring;
    s->is_uniform = true;
    if (m->choices_end > 0 && !m->only_recalls && !is_out_of_time(m) && look_at(s, ret_values) &&
        !measure_largest_first(s, ret_values))
        return false;
    if (!m->only_recalls && m->choices_end == 0 && look_at(s, ret_values))
        expect_uniform_layouts(s, ret_values);
    if ((look_at(s, ret_values) && !price_plan(s, &s->plan)) || !price_uniform_layouts(s, ret_values))
        return false;
    s->is_uniform = false;
    return (s->is_hard ? search_approximately : search_exactly)(s, ret_values, ret);
}

static void count_steps(const struct layout_search *s, struct estimate *ret)
{
    ret->n_steps += (uint32_t)COUNT(size_t, i, s->plan.steps.count, !s->plan.steps.items[i].is_constant);
    for (size_t i = 0; i < s->parts.count; i++)
        ret->n_guessed += layout_table_of(s, &s->parts.items[i])->is_guessed;
}

static void free_search(struct layout_search *s)
{
    vec_free(&s->parts);
    if (s->plan.graph)
        plan_free(&s->plan);
}

// Sums of the same costs in another order differ in their last digits; costs have five.
static double without_last_digits(double seconds)
{
    const double grain = 1e-15;
    return round(seconds / grain) * grain;
}

static struct estimate estimate_of(const struct layout_search *s, const struct assignment *found)
{
    struct estimate e = {.seconds =
                             found->seconds < UNMEASURED_SECONDS ? without_last_digits(found->seconds) : INFINITY};
    if (found->least > 0 && found->seconds / found->least - 1 > LEAST_GAP)
        e.gap = found->seconds / found->least - 1;
    count_steps(s, &e);
    return e;
}

static struct layout_memory *memory_of_backend(struct backend *b)
{
    if (b->layout_memory->edition != b->cost_edition) {
        layout_memory_free(b->layout_memory);
        b->layout_memory = layout_memory_new();
        b->layout_memory->edition = b->cost_edition;
    }
    return b->layout_memory;
}

// The layouts found where the least is out of reach depend on all entries, also on those that were filled for other
// graphs. So such a graph has tables of its own.
static bool find_values(struct layout_search *s, int *ret_values, struct estimate *ret_estimate)
{
    struct assignment found;
    s->is_hard = layouts_are_hard(s);
    s->memory = s->is_hard ? layout_memory_new() : memory_of_backend(s->b);
    for (size_t i = 0; i < s->parts.count; i++)
        layout_find_table(s, &s->parts.items[i]);
    bool is_done = search(s, ret_values, &found);
    if (is_done)
        *ret_estimate = estimate_of(s, &found);
    if (s->is_hard)
        layout_memory_free(s->memory);
    return is_done;
}

// The layouts of the first plan: standard layouts.
static const uint8_t *no_layouts(const struct layout_search *s)
{
    uint8_t *layouts = s->apart ? arena_array(s->arena, uint8_t, s->g->tensors.count + 1) : NULL;
    for (tensor_id t = 0; s->apart && t < s->g->tensors.count; t++)
        layouts[t] = (s->apart[t] & PLAN_APART) | LAYOUT_ANY;
    return layouts;
}

bool layouts_find(struct backend *b, price_step_fn *price, const struct graph *g, const uint8_t *apart,
                  struct arena *arena, uint8_t **ret_layouts, struct estimate *ret_estimate, struct error *error)
{
    struct layout_search s FREED_BY(free_search) = {
        .b = b, .price = price, .g = g, .apart = apart, .arena = arena, .error = error};
    struct estimate estimate;
    bool is_done = make_plan(&s, no_layouts(&s), &s.plan);
    if (is_done) {
        layout_number_choices(&s);
        layout_find_parts(&s);
        int *values = arena_array(arena, int, s.plan.choices.count + 1);
        is_done = find_values(&s, values, &estimate);
        if (is_done)
            *ret_layouts =
                ALL(size_t, i, s.plan.choices.count, values[i] == 0) && !apart ? NULL : layouts_of(&s, values);
    }
    if (is_done && ret_estimate)
        *ret_estimate = estimate;
    return is_done;
}
