// The steps of a chain are looked for again from every match that looks like its first.
#include "optimizer/search/backtracking/replay.h"

#include "optimizer/search/backtracking/proposals.h"
#include "substitutions/match_index.h"

#include <math.h>

struct reuse {
    struct state_space *space;
    uint32_t found;                  // the state at the end of the chain
    double share;                    // of its estimated gain, that the whole graph gains with it where it was found
    VEC(struct search_step) steps;   // with `seconds_after` being the change by each
    VEC(uint32_t) ends;              // states that the chain ends in, in one region or another
    // while one step is replayed
    const uint8_t *touches;
    struct graph working;
    struct match_index index;
    double change;
    bool is_found;
    struct match match;
};

static void list_steps(struct reuse *u, const struct state *s)
{
    if (s->parent == NO_STATE)
        return;
    list_steps(u, &u->space->states.items[s->parent]);
    vec_push(&u->steps, ((struct search_step){s->match.rule, s->step_change}));
}

// Sums of the same costs in another order differ in their last digits.
static bool is_same_change(const struct reuse *u, double x, double y)
{
    return fabs(x - y) <= 1e-12 * u->space->w->price.seconds;
}

// --- replaying -------------------------------------------------------------------------------------------------------

static bool take_same_match(void *context, const struct match *m)
{
    struct reuse *u = context;
    struct whole *w = u->space->w;
    if (match_touch(m, u->touches) == TOUCH_NONE)
        return true;
    struct attempt a FREED_BY(attempt_end) = attempt_begin(m, &u->working, &w->scratch);
    if (a.is_typed && !attempt_is_cyclic(&a)) {
        struct rewrite r = attempt_rewrite(&a, &u->index);
        u->is_found = is_same_change(u, pricer_change(&w->pricer, &r), u->change);
        u->match = *m;
    }
    return !u->is_found;
}

static bool find_same_match(struct reuse *u, uint32_t state, const struct search_step *step)
{
    const struct state *s = &u->space->states.items[state];
    uint8_t *touches = state_mark_touched(u->space, s);
    u->touches = touches;
    u->change = step->seconds_after;
    u->is_found = false;
    graph_copy(&u->working, &s->graph);
    match_index_init(&u->index, &s->graph);
    rule_match(step->rule, &u->index, NO_NODE, &u->space->w->scratch, take_same_match, u);
    match_index_free(&u->index);
    graph_free(&u->working);
    mem_free(touches, s->graph.nodes.count + 1);
    return u->is_found;
}

// Is every step of the chain allowed?
static bool is_allowed(const struct reuse *u, uint32_t state)
{
    const struct state *s = &u->space->states.items[state];
    return s->parent == NO_STATE ||
           (is_allowed(u, s->parent) && whole_allows(u->space->w, &s->match, &u->space->states.items[s->parent].graph));
}

static void replay_from(struct reuse *u, struct proposal *p)
{
    struct match first;
    bool is_new;
    uint32_t site, kind = states_find_kind(u->space, &p->match, &first, &site, &is_new);
    uint32_t state = states_make_state(u->space, u->space->kinds.items[kind]->root, &first, p->change, &is_new);
    for (size_t i = 1; state != NO_STATE && i < u->steps.count; i++)
        state = find_same_match(u, state, &u->steps.items[i])
                    ? states_make_state(u->space, state, &u->match, u->change, &is_new)
                    : NO_STATE;
    if (state != NO_STATE && !ANY(size_t, i, u->ends.count, u->ends.items[i] == state) && is_allowed(u, state))
        vec_push(&u->ends, state);
}

// Chains are replayed also where a chain was begun already: in a region of another kind that was not gone on with so
// far.
static void replay_everywhere(struct reuse *u)
{
    struct whole *w = u->space->w;
    vec_each(&w->proposals.list, p)
        if (p->match.rule == u->steps.items[0].rule && is_same_change(u, p->change, u->steps.items[0].seconds_after))
            replay_from(u, p);
}

// --- applying --------------------------------------------------------------------------------------------------------

typedef VEC(struct edit) edit_list;

static void list_edits(struct reuse *u, const struct rewritten *r, uint32_t state, bool *claimed, edit_list *ret_edits)
{
    double change = states_price_state(u->space, state);
    const struct state *s = &u->space->states.items[state];
    if (!(change < 0))
        return;
    const struct region_kind *k = u->space->kinds.items[s->kind];
    for (size_t i = 0; i < k->sites.count; i++)
        if (region_claim(r, &k->sites.items[i], &u->space->w->graph, claimed))
            vec_push(ret_edits, ((struct edit){.rewritten = r,
                                               .site = &k->sites.items[i],
                                               .change = u->share * change,
                                               .least = s->least,
                                               .n_steps = u->steps.count,
                                               .steps = u->steps.items}));
}

static bool apply_ends(struct reuse *u, struct movement *ret_movement)
{
    struct whole *w = u->space->w;
    LOCAL_LIST(edit_list, edits);
    size_t n_nodes = w->graph.nodes.count;
    LOCAL_ZEROS(bool, claimed, n_nodes + 1);
    LOCAL_ARRAY(struct rewritten, rewritten, u->ends.count);
    for (size_t i = 0; i < u->ends.count; i++) {
        rewritten[i] = state_rewritten(u->space, &u->space->states.items[u->ends.items[i]]);
        list_edits(u, &rewritten[i], u->ends.items[i], claimed, &edits);
    }
    return whole_apply(w, edits.items, edits.count, ret_movement) > 0;
}

// The change where it was found, priced as a whole: what is wrong there need not be looked for elsewhere, and what
// gains less than was estimated gains less everywhere. Else all of them together would fail, one alone would not, and
// equal layers would be rewritten one after the other.
static bool is_good_at_first_site(struct reuse *u)
{
    struct whole *w = u->space->w;
    const struct state *s = &u->space->states.items[u->found];
    struct rewritten r = state_rewritten(u->space, s);
    struct edit edit = {.rewritten = &r, .site = &u->space->kinds.items[s->kind]->sites.items[0]};
    edit.least = s->least;
    edit.change = w->price.refused = states_price_state(u->space, u->found);
    if (!(edit.change < 0) || !whole_would_gain(w, &edit))
        return false;
    u->share = fmin(w->price.refused / edit.change, 1);
    return true;
}

bool chain_apply_everywhere(struct state_space *space, uint32_t state, struct movement *ret_movement)
{
    struct reuse u = {.space = space, .found = state};
    if (!is_allowed(&u, state) || !is_good_at_first_site(&u))
        return false;
    list_steps(&u, &space->states.items[state]);
    vec_push(&u.ends, state);
    replay_everywhere(&u);
    bool is_adopted = apply_ends(&u, ret_movement);
    for (size_t i = 0; is_adopted && i < u.ends.count; i++) {
        const struct state *s = &space->states.items[u.ends.items[i]];
        space->kinds.items[s->kind]->winner = u.ends.items[i];
    }
    vecs_free(&u, steps, ends);
    return is_adopted;
}
