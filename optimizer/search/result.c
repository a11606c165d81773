// The result of a search, and of two searches as one.
#include "optimizer/search/result.h"

#include <string.h>

static void free_milestones(struct search_result *result)
{
    for (size_t i = 0; i < result->milestones.count; i++)
        graph_free(&result->milestones.items[i].graph);
    vec_free(&result->milestones);
}

void search_result_add_milestone(struct search_result *result, const struct graph *g)
{
    vec_push(&result->milestones, ((struct search_milestone){.n_steps = result->steps.count}));
    graph_copy(&vec_last(&result->milestones).graph, g);
}

void search_result_free(struct search_result *result)
{
    graph_free(&result->graph);
    free_milestones(result);
    vecs_free(result, steps, trajectory, unions, refuted, ends);
}

// --- counts ----------------------------------------------------------------------------------------------------------

void search_result_add_refuted(struct search_result *result, const struct search_result *other)
{
    for (size_t i = 0; i < other->refuted.count; i++) {
        bool is_known = ANY(size_t, j, result->refuted.count, result->refuted.items[j] == other->refuted.items[i]);
        if (!is_known)
            vec_push(&result->refuted, other->refuted.items[i]);
    }
}

static void put_ends_in_front(struct search_result *result, const struct search_result *former)
{
    size_t n_own = result->ends.count, n_former = former->ends.count;
    for (size_t i = 0; i < n_former; i++)
        vec_push(&result->ends, former->ends.items[i]);
    memmove(result->ends.items + n_former, result->ends.items, n_own * sizeof *result->ends.items);
    memcpy(result->ends.items, former->ends.items, n_former * sizeof *result->ends.items);
}

void search_result_add_former(struct search_result *result, const struct search_result *former)
{
    struct search_statistics *sum = &result->statistics;
    const struct search_statistics *more = &former->statistics;
#define ADD_COUNT(field, name, label) sum->field += more->field;
    SEARCH_COUNTS(ADD_COUNT)
#undef ADD_COUNT
    sum->peak_queue = more->peak_queue > sum->peak_queue ? more->peak_queue : sum->peak_queue;
    sum->seconds += more->seconds;
    put_ends_in_front(result, former);
    search_result_add_refuted(result, former);
}

// --- one after the other ---------------------------------------------------------------------------------------------

// Seconds as if what `first` did had been priced otherwise: from `before` to `after`, each step with its share.
static double map_seconds(double seconds, const struct search_result *first, double before, double after)
{
    double fallen = first->seconds_before - first->seconds_after;
    double share = fallen == 0 ? 1 : (first->seconds_before - seconds) / fallen;
    return before + share * (after - before);
}

void search_result_reprice(struct search_result *result, double before, double after)
{
    for (size_t i = 0; i < result->steps.count; i++)
        result->steps.items[i].seconds_after = map_seconds(result->steps.items[i].seconds_after, result, before, after);
    for (size_t i = 0; i < result->trajectory.count; i++)
        result->trajectory.items[i].seconds = map_seconds(result->trajectory.items[i].seconds, result, before, after);
    if (result->trajectory.count)
        result->trajectory.items[0].seconds = before;
    result->seconds_before = before;
    result->seconds_after = after;
}

static void put_trajectory_in_front(struct search_result *last, const struct search_result *first,
                                    double seconds_before)
{
    VEC(struct search_point) trajectory = {0};
    for (size_t i = 0; i + 1 < first->trajectory.count; i++) {
        struct search_point point = first->trajectory.items[i];
        point.seconds = map_seconds(point.seconds, first, seconds_before, last->seconds_before);
        vec_push(&trajectory, point);
    }
    for (size_t i = 1; i < last->trajectory.count; i++) {
        struct search_point point = last->trajectory.items[i];
        point.expanded += first->statistics.expanded;
        point.elapsed += first->statistics.seconds;
        vec_push(&trajectory, point);
    }
    if (trajectory.count)
        trajectory.items[0].seconds = seconds_before;
    vec_free(&last->trajectory);
    memcpy(&last->trajectory, &trajectory, sizeof last->trajectory);
}

static void put_milestones_in_front(struct search_result *last, const struct search_result *first)
{
    struct search_result all = {0};
    for (size_t i = 0; i < first->milestones.count; i++) {
        search_result_add_milestone(&all, &first->milestones.items[i].graph);
        vec_last(&all.milestones).n_steps = first->milestones.items[i].n_steps;
    }
    for (size_t i = 0; i < last->milestones.count; i++) {
        search_result_add_milestone(&all, &last->milestones.items[i].graph);
        vec_last(&all.milestones).n_steps = first->steps.count + last->milestones.items[i].n_steps;
    }
    free_milestones(last);
    memcpy(&last->milestones, &all.milestones, sizeof last->milestones);
}

void search_result_put_in_front(struct search_result *last, const struct search_result *first, double seconds_before)
{
    VEC(struct search_step) steps = {0};
    for (size_t i = 0; i < first->steps.count; i++) {
        struct search_step step = first->steps.items[i];
        step.seconds_after = map_seconds(step.seconds_after, first, seconds_before, last->seconds_before);
        vec_push(&steps, step);
    }
    for (size_t i = 0; i < last->steps.count; i++)
        vec_push(&steps, last->steps.items[i]);
    put_trajectory_in_front(last, first, seconds_before);
    put_milestones_in_front(last, first);
    vec_free(&last->steps);
    memcpy(&last->steps, &steps, sizeof last->steps);
    last->statistics.adopted += first->statistics.adopted;
    last->seconds_before = seconds_before;
}
