// The matches of the whole graph, and what each would change.
#include "optimizer/search/whole.h"

#include "core/clock.h"
#include "core/interrupt.h"
#include <math.h>
#include <stdlib.h>

bool whole_has_to_stop(const struct whole *w)
{
    return interrupt_requested() || (w->deadline > 0 && clock_seconds() > w->deadline);
}

void whole_show_progress(const struct whole *w)
{
    progress_update(w->progress, w->result->statistics.expanded, "best %.3f ms of %.3f, %zu to try, %zu matches",
                    1e3 * w->seconds, 1e3 * w->result->seconds_before, w->proposals.count,
                    (size_t)w->result->statistics.matches);
}

// --- matching and pricing --------------------------------------------------------------------------------------------

bool whole_is_within_alpha(const struct whole *w, double change)
{
    return w->seconds + change < w->options->alpha * w->seconds;
}

double whole_least_gain(const struct whole *w)
{
    double least = w->options->least_gain * w->pricer.before, smallest = 1e-9 * w->seconds;
    return least > smallest ? least : smallest;
}

void proposal_set_change(const struct whole *w, struct proposal *p, double change)
{
    p->change = change;
    p->rank = isfinite(change) && fabs(change) < w->grain * 1e15 ? llround(change / w->grain) : INT64_MAX;
}

static bool is_rule_disabled(const struct whole *w, const struct rule *r)
{
    for (size_t i = 0; i < w->rules->rules.count; i++)
        if (w->rules->rules.items[i] == r)
            return w->is_disabled[i];
    return false;
}

static void refute(struct whole *w, const struct rule *r)
{
    vec_push(&w->result->refuted, r);
    for (size_t i = 0; i < w->rules->rules.count; i++)
        if (w->rules->rules.items[i] == r)
            w->is_disabled[i] = true;
    for (size_t i = 0; i < w->proposals.count; i++)
        if (w->proposals.items[i].match.rule == r)
            proposal_set_change(w, &w->proposals.items[i], INFINITY);
}

bool whole_allows(struct whole *w, const struct match *m, const struct graph *g)
{
    if (is_rule_disabled(w, m->rule))
        return false;
    enum verdict verdict = w->options->validates ? validator_judge(&w->validator, m, g) : VERDICT_EQUAL;
    if (verdict == VERDICT_DIFFERENT)
        refute(w, m->rule);
    return verdict == VERDICT_EQUAL || verdict == VERDICT_TOO_COSTLY;
}

// The estimated change of a match, infinity for one that cannot be applied.
static double price_match(struct whole *w, const struct match *m)
{
    struct arena_mark arena = arena_mark(w->working.arena);
    struct graph_mark nodes = graph_mark(&w->working);
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    double change = INFINITY;
    if (!match_apply(m, &w->working, &w->scratch, old, new))
        w->result->statistics.ill_typed++;
    else if (graph_replacement_has_cycle(&w->working, m->rule->n_outputs, old, new))
        w->result->statistics.cyclic++;
    else
        change = pricer_change(&w->pricer, &(struct rewrite){&w->working, nodes.nodes, &w->index, m, old, new});
    graph_rollback(&w->working, nodes);
    arena_release(w->working.arena, arena);
    return change;
}

static bool has_touched_node(const struct whole *w, const struct match *m)
{
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        if (w->touched[m->nodes[i]])
            return true;
    return false;
}

static void propose(struct whole *w, const struct match *m, double change)
{
    struct proposal p = {.match = *m, .number = w->arrived++, .tried = NOT_TRIED};
    p.least = whole_least_gain(w);
    proposal_set_change(w, &p, change);
    vec_push(&w->proposals, p);
}

static bool add_proposal(void *context, const struct match *m)
{
    struct whole *w = context;
    if (w->touched && !has_touched_node(w, m))
        return true;
    w->result->statistics.matches++;
    double change = price_match(w, m);
    if (whole_is_within_alpha(w, change))
        propose(w, m, change);
    else
        w->result->statistics.too_costly += isfinite(change);
    whole_show_progress(w);
    return !whole_has_to_stop(w);
}

int proposal_compare(const struct proposal *x, const struct proposal *y)
{
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    for (uint32_t v = 0; x->match.rule == y->match.rule && v < x->match.rule->pattern.n_variables; v++)
        if (x->match.variables[v] != y->match.variables[v])
            return x->match.variables[v] < y->match.variables[v] ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_proposals(const void *a, const void *b)
{
    return proposal_compare(a, b);
}

static void drop_costliest_proposals(struct whole *w)
{
    size_t limit = w->options->max_candidates;
    if (w->proposals.count > w->result->statistics.peak_queue)
        w->result->statistics.peak_queue = w->proposals.count;
    if (limit == 0 || w->proposals.count <= limit)
        return;
    vec_sort(&w->proposals, compare_proposals);
    w->result->statistics.dropped += w->proposals.count - limit;
    w->proposals.count = limit;
}

// Matches of all rules; only at anchors among `near` and with a node among `touched`, when given.
void whole_find_proposals(struct whole *w, const bool *near, const bool *touched)
{
    w->touched = touched;
    for (size_t i = 0; i < w->rules->rules.count && !whole_has_to_stop(w); i++) {
        const struct rule *r = w->rules->rules.items[i];
        enum operator_id op = r->pattern.nodes.items[r->pattern.terms.items[r->sources[0]].index].op->id;
        for (uint32_t j = w->index.first_of_op[op]; !w->is_disabled[i] && j < w->index.first_of_op[op + 1]; j++)
            if (!near || near[w->index.nodes_by_op[j]])
                rule_match(r, &w->index, w->index.nodes_by_op[j], &w->scratch, add_proposal, w);
    }
    drop_costliest_proposals(w);
}

void whole_price_proposals_near(struct whole *w, const bool *near)
{
    for (size_t i = 0; i < w->proposals.count; i++) {
        struct proposal *c = &w->proposals.items[i];
        bool is_near = false;
        for (uint32_t j = 0; j < c->match.rule->n_source_nodes; j++)
            is_near = is_near || near[c->match.nodes[j]];
        if (is_near) {
            proposal_set_change(w, c, price_match(w, &c->match));
            c->least = whole_least_gain(w);
        }
    }
}
