// Regions that do the same are one class: equal layers are kept or given up together. Classes are tried by what they
// are estimated to gain, each beside those that were kept, by turns with the model without it; those that are too small
// to be seen are tried as one. What was found of a class holds for the finalists to come: they are not timed with what
// made an earlier one slower.
#include "optimizer/measure/region_contest.h"

#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/log.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include "optimizer/measure/estimator.h"
#include "optimizer/measure/runtime_verdict.h"
#include "optimizer/search/result.h"
#include "optimizer/search/rewritten_regions.h"
#include <math.h>
#include <string.h>

struct judged_kind {
    uint64_t kind;
    bool is_kept;
};
struct region_class {
    VEC(uint64_t) kinds;
    double change;   // estimated, seconds
};
struct region_contest {
    struct optimizing *o;
    VEC(struct judged_kind) judged;   // of all finalists so far
    double deadline;                  // on clock_seconds
    // of the finalist that is tried now
    struct rewritten_regions regions;
    struct arena arena;
    VEC(struct region_class) classes;
    bool *is_kept;   // of each region
};

static const struct judged_kind *find_judged(const struct region_contest *c, uint64_t kind)
{
    return vec_find(&c->judged, x, x->kind == kind);
}

// --- classes ---------------------------------------------------------------------------------------------------------

static bool is_of_class(const struct region_class *k, uint64_t kind)
{
    return ANY(size_t, i, k->kinds.count, k->kinds.items[i] == kind);
}

static void mark_class(const struct region_contest *c, const struct region_class *k, bool *ret_is_taken)
{
    for (size_t i = 0; i < c->regions.count; i++)
        ret_is_taken[i] = ret_is_taken[i] || is_of_class(k, c->regions.kinds[i]);
}

static double estimated_change(const struct region_contest *c, const struct region_class *k, double before)
{
    struct estimator e = optimizing_estimator(c->o);
    struct graph only FREED_BY(graph_free) = {0};
    LOCAL_ZEROS(bool, is_taken, c->regions.count + 1);
    mark_class(c, k, is_taken);
    bool is_made = rewritten_regions_take(&c->regions, is_taken, &only);
    double change = is_made ? estimator_known_seconds(&e, &only) - before : NAN;
    return isfinite(change) ? change : 0;
}

COMPARISON(compare_classes, struct region_class, ORDER(x->change, y->change))

// Classes too small to be seen alone, and those that are too many, are one class at the end.
static void merge_small_classes(struct region_contest *c, double seconds)
{
    struct region_class rest = {.change = 0};
    size_t kept = 0;
    vec_each(&c->classes, k) {
        if (fabs(k->change) >= SEEN * seconds && kept < MOST_REGION_CLASSES) {
            c->classes.items[kept++] = *k;
            continue;
        }
        vec_push(&rest.kinds, k->kinds.items[0]);
        rest.change += k->change;
        vec_free(&k->kinds);
    }
    c->classes.count = kept;
    if (rest.kinds.count)
        vec_push(&c->classes, rest);
}

static void list_classes(struct region_contest *c)
{
    struct estimator e = optimizing_estimator(c->o);
    double before = estimator_known_seconds(&e, &c->o->model.graph);
    for (size_t i = 0; i < c->regions.count; i++) {
        bool is_known = find_judged(c, c->regions.kinds[i]) != NULL ||
                        ANY(size_t, k, c->classes.count, is_of_class(&c->classes.items[k], c->regions.kinds[i]));
        if (is_known)
            continue;
        struct region_class fresh = {.change = 0};
        vec_push(&fresh.kinds, c->regions.kinds[i]);
        fresh.change = estimated_change(c, &fresh, before);
        vec_push(&c->classes, fresh);
    }
    vec_sort(&c->classes, compare_classes);
    merge_small_classes(c, isfinite(before) ? before : 0);
}

// --- timing ----------------------------------------------------------------------------------------------------------

static bool is_time_over(const struct region_contest *c)
{
    return interrupt_requested() || clock_seconds() > c->deadline;
}

// Half of the time for timing, where that is limited, is for the verdict on what is left.
static double deadline_of_regions(const struct optimizing *o)
{
    double now = clock_seconds(), usual = REGIONS_TIMES_LONGER * o->options->measure_seconds;
    double end = time_limit_of_timing(&o->time.limit);
    return now + (end > 0 ? fmin(usual, SHARE_OF_REGIONS * (end - now)) : usual);
}

// Is the model faster with it, and with what was kept so far? What cannot be timed is believed.
static bool gains(struct region_contest *c, const struct region_class *k)
{
    struct graph without FREED_BY(graph_free) = {0}, with FREED_BY(graph_free) = {0};
    struct side_by_side times;
    bool is_faster = k->change <= 0;
    LOCAL_ZEROS(bool, is_taken, c->regions.count + 1);
    if (is_time_over(c) || !rewritten_regions_take(&c->regions, c->is_kept, &without))
        return is_faster;
    memcpy(is_taken, c->is_kept, c->regions.count * sizeof *is_taken);
    mark_class(c, k, is_taken);
    if (rewritten_regions_take(&c->regions, is_taken, &with)) {
        double seconds = SHARE_OF_REGIONS * c->o->options->measure_seconds / (double)c->classes.count;
        if (optimizing_time_pair_in_runtime(c->o, &without, &with, seconds, c->deadline, &times)) {
            is_faster = times.gain.ratio > 1;
            log_info(c->o->options->log, "%zu kind%s of regions, %.2g ms by estimates: %.3f times as fast with %s",
                     k->kinds.count, plural_ending(k->kinds.count), -1e3 * k->change, times.gain.ratio,
                     k->kinds.count == 1 ? "it" : "them");
        }
    }
    return is_faster;
}

static void judge_class(struct region_contest *c, const struct region_class *k)
{
    bool is_faster = gains(c, k);
    for (size_t i = 0; i < k->kinds.count; i++)
        vec_push(&c->judged, ((struct judged_kind){k->kinds.items[i], is_faster}));
    if (is_faster)
        mark_class(c, k, c->is_kept);
}

// --- what is left of a finalist --------------------------------------------------------------------------------------

static bool has_nodes_of(const struct graph *g, uint32_t rule)
{
    return ANY(node_id, n, g->nodes.count, g->nodes.items[n].origin == (ORIGIN_OF_RULES | rule));
}

// Steps by rules that nothing is left of are gone with it.
static void drop_steps(struct search_result *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->steps.count; i++)
        if (has_nodes_of(&r->graph, r->steps.items[i].rule->number))
            r->steps.items[kept++] = r->steps.items[i];
    r->steps.count = kept ? kept : r->steps.count;
}

static void become(struct optimizing *o, struct search_result *r, const struct graph *g, bool is_original)
{
    struct estimator e = optimizing_estimator(o);
    graph_free(&r->graph);
    r->graph = *g;
    if (is_original)
        vec_clear(&r->steps);
    else
        drop_steps(r);
    for (size_t i = 0; i < r->milestones.count; i++)
        graph_free(&r->milestones.items[i].graph);
    vec_clear(&r->milestones);
    if (!is_original)
        search_result_add_milestone(r, &r->graph);
    search_result_reprice(r, estimator_seconds(&e, &o->model.graph), estimator_seconds(&e, &r->graph));
}

static size_t count_kept(const struct region_contest *c)
{
    return COUNT(size_t, i, c->regions.count, c->is_kept[i]);
}

static void leave_what_gains(struct region_contest *c, struct search_result *r)
{
    size_t n = count_kept(c);
    struct graph left;
    if (n == c->regions.count || !rewritten_regions_take(&c->regions, c->is_kept, &left))
        return;
    log_info(c->o->options->log, "%zu of %zu regions that were rewritten are kept", n, c->regions.count);
    become(c->o, r, &left, n == 0);
}

// A class that is alone is what the whole result is judged by; a command is not asked for more than that.
static void try_finalist(struct region_contest *c, struct search_result *r)
{
    arena_init(&c->arena);
    rewritten_regions_find(&c->regions, &c->o->model.graph, &r->graph, &c->arena);
    c->is_kept = arena_array(&c->arena, bool, c->regions.count + 1);
    for (size_t i = 0; i < c->regions.count; i++) {
        const struct judged_kind *former = find_judged(c, c->regions.kinds[i]);
        c->is_kept[i] = former && former->is_kept;
    }
    list_classes(c);
    bool is_alone = c->o->runtime.command || (c->classes.count == 1 && c->judged.count == 0);
    for (size_t i = 0; i < c->classes.count; i++)
        if (is_alone)
            mark_class(c, &c->classes.items[i], c->is_kept);
        else
            judge_class(c, &c->classes.items[i]);
    leave_what_gains(c, r);
    for (size_t i = 0; i < c->classes.count; i++)
        vec_free(&c->classes.items[i].kinds);
    vec_clear(&c->classes);
    arena_free(&c->arena);
}

// --- the best one ----------------------------------------------------------------------------------------------------

static bool is_repeated(const struct optimizing *o, size_t i)
{
    return ANY(size_t, k, i,
               graph_equal(&o->results.finalists.items[k].result.graph, &o->results.finalists.items[i].result.graph));
}

static bool is_faster_than(const struct region_contest *c, size_t i, size_t best, double seconds)
{
    const struct finalist *all = c->o->results.finalists.items;
    struct side_by_side times;
    return optimizing_time_pair_in_runtime(c->o, &all[best].result.graph, &all[i].result.graph, seconds, c->deadline,
                                           &times) &&
           times.gain.ratio > 1;
}

size_t optimizing_hold_contest_of_regions(struct optimizing *o)
{
    struct region_contest c = {.o = o};
    size_t n = o->results.finalists.count, best = 0;
    double seconds = SHARE_OF_PAIRS * o->options->measure_seconds / (double)(n > 1 ? n - 1 : 1);
    c.deadline = deadline_of_regions(o);
    for (size_t i = 0; i < n; i++) {
        if (!optimizing_is_rewritten(o, i) || (i > 0 && is_time_over(&c)))
            continue;
        try_finalist(&c, &o->results.finalists.items[i].result);
        if (!optimizing_is_rewritten(o, best) || (optimizing_is_rewritten(o, i) && best != i && !is_repeated(o, i) &&
                                                  !is_time_over(&c) && is_faster_than(&c, i, best, seconds)))
            best = i;
    }
    vecs_free(&c, judged, classes);
    return best;
}
