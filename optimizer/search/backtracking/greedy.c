// Descent: what makes the graph cheaper is applied at once, as far as it shares no node. Where the whole graph says
// that estimates were wrong, each kind of proposal is priced alone.
#include "optimizer/search/backtracking/greedy.h"

#include "optimizer/search/backtracking/proposals.h"

static bool claim_nodes(bool *claimed, const struct match *m)
{
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        if (claimed[m->nodes[i]])
            return false;
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        claimed[m->nodes[i]] = true;
    return true;
}

typedef VEC(struct proposal *) proposal_list;

// The best improving proposals of which no two share a matched node, best first.
static void choose_apart(struct whole *w, proposal_list *ret_chosen)
{
    LOCAL_ZEROS(bool, claimed, w->graph.nodes.count + 1);
    size_t n = 0;
    for (size_t i = 0; i < w->proposals.list.count; i++)
        if (proposal_is_improving(&w->proposals.list.items[i]))
            vec_push(ret_chosen, &w->proposals.list.items[i]);
    vec_sort(ret_chosen, proposal_compare_pointed);
    for (size_t i = 0; i < ret_chosen->count; i++)
        if (whole_allows(w, &ret_chosen->items[i]->match, &w->graph) &&
            claim_nodes(claimed, &ret_chosen->items[i]->match))
            ret_chosen->items[n++] = ret_chosen->items[i];
    ret_chosen->count = n;
}

static size_t apply_proposals(struct whole *w, const proposal_list *chosen, bool all_or_none,
                              struct movement *ret_movement)
{
    size_t n = chosen->count;
    LOCAL_ARRAY(struct edit, edits, n);
    LOCAL_ARRAY(struct search_step, steps, n);
    LOCAL_ARRAY(struct match, matches, n);
    for (size_t i = 0; i < n; i++) {
        const struct proposal *c = chosen->items[i];
        matches[i] = c->match;
        steps[i] = (struct search_step){c->match.rule, c->change};
        edits[i] = (struct edit){
            .match = &matches[i], .change = c->change, .least = c->least, .n_steps = 1, .steps = &steps[i]};
    }
    return all_or_none ? n * whole_apply_all(w, edits, n, ret_movement) : whole_apply(w, edits, n, ret_movement);
}

static void correct_price(struct whole *w, const struct match *m, double change)
{
    struct attempt a FREED_BY(attempt_end) = attempt_begin(m, &w->working, &w->scratch);
    struct rewrite r = attempt_rewrite(&a, &w->index);
    if (a.is_typed)
        pricer_correct(&w->pricer, &r, change);
}

// The change that a proposal makes alone in the whole graph is from now on the estimate of those that look like it,
// here and in graphs to come.
static void make_sure(struct whole *w, const struct proposal *p, double change)
{
    const struct rule *rule = p->match.rule;
    int64_t rank = p->rank;
    for (size_t i = 0; i < w->proposals.list.count; i++) {
        struct proposal *other = &w->proposals.list.items[i];
        if (other->match.rule == rule && other->rank == rank && !other->is_sure) {
            correct_price(w, &other->match, change);
            proposal_set_change(w, other, change);
            other->is_sure = true;
        }
    }
}

static bool has_alike(const proposal_list *list, const struct proposal *p)
{
    for (size_t i = list->count; i-- > 0 && list->items[i]->rank == p->rank;)
        if (list->items[i]->match.rule == p->match.rule)
            return true;
    return false;
}

// A proposal of each kind that is not sure. The proposals are listed by rank.
static void list_kinds(const proposal_list *chosen, proposal_list *ret_kinds)
{
    for (size_t i = 0; i < chosen->count; i++)
        if (!chosen->items[i]->is_sure && !has_alike(ret_kinds, chosen->items[i]))
            vec_push(ret_kinds, chosen->items[i]);
}

static void price_alone(struct whole *w, const proposal_list *kinds, double *ret_seconds)
{
    LOCAL_ARRAY(const struct match *, matches, kinds->count);
    for (size_t i = 0; i < kinds->count; i++)
        matches[i] = &kinds->items[i]->match;
    batch_price_graphs(&w->batch, &w->index, kinds->count, matches, ret_seconds);
    w->price.n_nodes_priced += kinds->count * w->graph.nodes.count;
}

// Each kind is priced alone, with the whole graph. What gains nothing may still begin a chain.
// False: some of them gain nothing.
static bool make_all_sure(struct whole *w, proposal_list *chosen)
{
    LOCAL_LIST(proposal_list, kinds);
    if (!whole_has_to_stop(w))
        list_kinds(chosen, &kinds);
    bool is_good = true;
    LOCAL_ARRAY(double, seconds, kinds.count);
    price_alone(w, &kinds, seconds);
    for (size_t i = 0; i < kinds.count; i++) {
        const struct proposal *p = kinds.items[i];
        bool gains = whole_is_gain(w->price.seconds, seconds[i], p->change, p->least, 1);
        make_sure(w, p, gains ? seconds[i] - w->price.seconds : 0);
        is_good = is_good && gains;
    }
    vec_sort(chosen, proposal_compare_pointed);
    return is_good;
}

// A proposal that was sure in one graph need not be so in the next.
static bool make_all_sure_again(struct whole *w, proposal_list *chosen)
{
    for (size_t i = 0; i < chosen->count; i++)
        chosen->items[i]->is_sure = false;
    return make_all_sure(w, chosen);
}

// All that improves at once. Where that does not make the graph cheaper, some of the estimates are wrong: each kind of
// proposal is priced alone, before what is left is tried again.
bool whole_descend(struct whole *w, struct movement *ret_movement)
{
    for (;;) {
        LOCAL_LIST(proposal_list, chosen);
        choose_apart(w, &chosen);
        size_t n = chosen.count, applied = n ? apply_proposals(w, &chosen, true, ret_movement) : 0;
        bool is_wrong = n && !applied && !make_all_sure(w, &chosen);
        if (n && !applied && !is_wrong) {
            applied = apply_proposals(w, &chosen, false, ret_movement);
            is_wrong = !applied && !make_all_sure_again(w, &chosen);
        }
        if (applied || whole_has_to_stop(w))
            return applied > 0;
        if (!is_wrong && !whole_price_stale_proposals(w))
            return false;
    }
}
