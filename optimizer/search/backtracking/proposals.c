// The matches of the whole graph, and what each would change.
#include "optimizer/search/backtracking/proposals.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/text.h"
#include <math.h>

uint64_t whole_work(const struct whole *w)
{
    return w->pricer.work + w->price.n_nodes_priced;
}

bool whole_is_out_of_work(const struct whole *w)
{
    return whole_work(w) >= w->price.most_work;
}

bool whole_is_out_of_time(const struct whole *w)
{
    return w->batch.deadline > 0 && clock_seconds() > w->batch.deadline;
}

bool whole_has_to_stop(const struct whole *w)
{
    return interrupt_requested() || whole_is_out_of_work(w) || whole_is_out_of_time(w);
}

// The first of budget, work, time and patience to end, in graphs of the budget.
static uint64_t graphs_done(const struct whole *w)
{
    double share = patience_share(&w->pace.patience, w->options, &w->result->statistics, w->pricer.work);
    share = fmax(share, (double)w->result->statistics.expanded / (double)w->options->budget);
    share = fmax(share, (double)whole_work(w) / (double)w->price.most_work);
    if (w->batch.deadline > 0)
        share = fmax(share, 1 - (w->batch.deadline - clock_seconds()) / w->options->seconds);
    return (uint64_t)(fmin(share, 1) * (double)w->options->budget);
}

void whole_show_progress(const struct whole *w)
{
    progress_update(w->pace.progress, graphs_done(w),
                    "best %.3f ms of %.3f, %zu graph%s expanded, %zu queued, %zu match%s", 1e3 * w->price.seconds,
                    1e3 * w->result->seconds_before, (size_t)w->result->statistics.expanded,
                    plural_ending(w->result->statistics.expanded), *w->pace.n_queued,
                    (size_t)w->result->statistics.matches, w->result->statistics.matches == 1 ? "" : "es");
}

// --- matching and pricing --------------------------------------------------------------------------------------------

bool whole_is_within_alpha(const struct whole *w, double change)
{
    return w->price.seconds + change < w->options->alpha * w->price.seconds;
}

double whole_least_gain(const struct whole *w)
{
    double least = w->options->least_gain * w->pricer.before, smallest = 1e-9 * w->price.seconds;
    return least > smallest ? least : smallest;
}

void proposal_set_change(const struct whole *w, struct proposal *p, double change)
{
    p->change = change;
    p->is_sure = false;
    p->rank = isfinite(change) && fabs(change) < w->price.grain * 1e15 ? llround(change / w->price.grain) : INT64_MAX;
}

static void refute(struct whole *w, const struct rule *r)
{
    vec_push(&w->result->refuted, r);
    w->in_use.is_disabled[rule_set_find(w->in_use.rules, r)] = true;
    for (size_t i = 0; i < w->proposals.list.count; i++)
        if (w->proposals.list.items[i].match.rule == r)
            proposal_set_change(w, &w->proposals.list.items[i], INFINITY);
}

bool whole_allows(struct whole *w, const struct match *m, const struct graph *g)
{
    if (w->in_use.is_disabled[rule_set_find(w->in_use.rules, m->rule)])
        return false;
    enum verdict verdict = w->options->validates ? validator_judge(w->validator, m, g) : VERDICT_EQUAL;
    if (verdict == VERDICT_DIFFERENT)
        refute(w, m->rule);
    return verdict == VERDICT_EQUAL || verdict_is_left_to_proof(verdict, m->rule);
}

static bool has_touched_node(const struct whole *w, const struct match *m)
{
    return ANY(uint32_t, i, m->rule->n_source_nodes, w->proposals.touched[m->nodes[i]]);
}

static void propose(struct whole *w, const struct match *m, double change)
{
    struct proposal p = {.match = *m, .number = w->proposals.arrived++, .tried = NOT_TRIED};
    p.least = whole_least_gain(w);
    proposal_set_change(w, &p, change);
    vec_push(&w->proposals.list, p);
}

void whole_count_outcome(struct whole *w, enum outcome outcome)
{
    w->result->statistics.ill_typed += outcome == OUTCOME_ILL_TYPED;
    w->result->statistics.cyclic += outcome == OUTCOME_CYCLIC;
}

static void take_new(void *context, const struct match *m, size_t tag, enum outcome outcome, double change)
{
    struct whole *w = context;
    whole_count_outcome(w, outcome);
    if (whole_is_within_alpha(w, change))
        propose(w, m, change);
    else
        w->result->statistics.too_costly += isfinite(change);
    whole_show_progress(w);
}

static bool add_proposal(void *context, const struct match *m)
{
    struct whole *w = context;
    if (!w->proposals.touched || has_touched_node(w, m)) {
        w->result->statistics.matches++;
        batch_add(&w->batch, m, 0);
    }
    return !whole_has_to_stop(w);
}

static int compare_proposals(const void *a, const void *b)
{
    const struct proposal *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    for (uint32_t v = 0; x->match.rule == y->match.rule && v < x->match.rule->pattern.n_variables; v++)
        if (x->match.variables[v] != y->match.variables[v])
            return x->match.variables[v] < y->match.variables[v] ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

int proposal_compare_pointed(const void *a, const void *b)
{
    return compare_proposals(*(struct proposal *const *)a, *(struct proposal *const *)b);
}

static void drop_costliest_proposals(struct whole *w)
{
    size_t limit = w->options->max_candidates;
    if (w->proposals.list.count > w->result->statistics.peak_queue)
        w->result->statistics.peak_queue = w->proposals.list.count;
    if (limit == 0 || w->proposals.list.count <= limit)
        return;
    vec_sort(&w->proposals.list, compare_proposals);
    w->result->statistics.dropped += w->proposals.list.count - limit;
    w->proposals.list.count = limit;
}

void whole_find_proposals(struct whole *w, const bool *touched)
{
    w->proposals.touched = touched;
    batch_begin(&w->batch, &w->index, take_new, w);
    rule_index_match(&w->in_use.index, &w->index, w->in_use.is_disabled, touched, &w->scratch, add_proposal, w);
    batch_end(&w->batch);
    drop_costliest_proposals(w);
}

// --- pricing anew ----------------------------------------------------------------------------------------------------

bool proposal_is_improving(const struct proposal *p)
{
    return p->change < -p->least;
}

static void take_again(void *context, const struct match *m, size_t tag, enum outcome outcome, double change)
{
    struct whole *w = context;
    struct proposal *p = &w->proposals.list.items[tag];
    whole_count_outcome(w, outcome);
    proposal_set_change(w, p, change);
    p->least = whole_least_gain(w);
    p->is_stale = false;
}

static bool has_node_near(const struct match *m, const bool *near)
{
    return ANY(uint32_t, i, m->rule->n_source_nodes, near[m->nodes[i]]);
}

// Most of what is near a change does not improve and never will, and what is near changes again with the next adoption.
void whole_price_proposals_near(struct whole *w, const bool *near)
{
    batch_begin(&w->batch, &w->index, take_again, w);
    for (size_t i = 0; i < w->proposals.list.count && !whole_has_to_stop(w); i++) {
        struct proposal *p = &w->proposals.list.items[i];
        p->is_stale = p->is_stale || has_node_near(&p->match, near);
        if (p->is_stale && proposal_is_improving(p))
            batch_add(&w->batch, &p->match, i);
    }
    batch_end(&w->batch);
}

bool whole_price_stale_proposals(struct whole *w)
{
    size_t n = 0;
    batch_begin(&w->batch, &w->index, take_again, w);
    for (size_t i = 0; i < w->proposals.list.count && !whole_has_to_stop(w); i++)
        if (w->proposals.list.items[i].is_stale) {
            batch_add(&w->batch, &w->proposals.list.items[i].match, i);
            n++;
        }
    batch_end(&w->batch);
    return n > 0;
}
