// Regions and what they can be brought into.
#include "optimizer/search/backtracking/states.h"

#include "core/memory/hash.h"
#include "graph/cycle.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include <math.h>
#include <string.h>

// --- kinds of regions ------------------------------------------------------------------------------------------------

static const struct graph *graph_of_kind(const struct state_space *space, const struct region_kind *k)
{
    return &space->states.items[k->root].graph;
}

static void forget_states(struct state_space *space, struct region_kind *k)
{
    for (size_t i = 0; i < k->states.count; i++) {
        struct state *s = &space->states.items[k->states.items[i]];
        table_remove(&space->by_graph, hash_mix(graph_key(&s->graph), s->kind), k->states.items[i]);
        mem_free_array(s->stands_for, s->graph.tensors.count);
        graph_free(&s->graph);
        s->stands_for = NULL;
    }
    vec_free(&k->states);
}

void states_forget_kind(struct state_space *space, uint32_t kind)
{
    struct region_kind *k = space->kinds.items[kind];
    if (k->is_gone)
        return;
    table_remove(&space->by_region, graph_key(graph_of_kind(space, k)), kind);
    forget_states(space, k);
    for (size_t i = 0; i < k->sites.count; i++)
        site_free(&k->sites.items[i]);
    vecs_free(k, sites, node_seconds);
    arena_free(&k->arena);
    k->is_gone = true;
}

void states_free(struct state_space *space)
{
    for (uint32_t i = 0; i < space->kinds.count; i++) {
        states_forget_kind(space, i);
        mem_free(space->kinds.items[i], sizeof *space->kinds.items[i]);
    }
    vecs_free(space, kinds, states);
    table_free(&space->by_region);
    table_free(&space->by_graph);
}

static bool is_same_region(const void *owner, uint32_t id, const void *key)
{
    const struct state_space *space = owner;
    return graph_equal(graph_of_kind(space, space->kinds.items[id]), key);
}

static bool is_same_state(const void *owner, uint32_t id, const void *key)
{
    const struct state_space *space = owner;
    const struct state *x = &space->states.items[id], *y = key;
    return x->kind == y->kind && graph_equal(&x->graph, &y->graph);
}

static uint32_t add_state(struct state_space *space, const struct state *s)
{
    uint32_t id = (uint32_t)space->states.count;
    vec_push(&space->states, *s);
    vec_push(&space->kinds.items[s->kind]->states, id);
    table_insert(&space->by_graph, hash_mix(graph_key(&s->graph), s->kind), id);
    return id;
}

static bool is_same_site(const struct site *x, const struct site *y)
{
    size_t n = x->tensors.count;
    return n == y->tensors.count &&
           (n == 0 || memcmp(x->tensors.items, y->tensors.items, n * sizeof *x->tensors.items) == 0);
}

// Takes the site, unless the kind has it already. Gives its number.
static uint32_t add_site(struct state_space *space, struct region_kind *k, struct site *site, bool *ret_is_new)
{
    *ret_is_new = false;
    for (size_t i = 0; i < k->sites.count; i++)
        if (is_same_site(&k->sites.items[i], site)) {
            site_free(site);
            return k->sites.items[i].number;
        }
    *ret_is_new = true;
    site->number = space->n_sites++;
    vec_push(&k->sites, *site);
    return site->number;
}

static uint32_t add_kind(struct state_space *space, struct region_kind *k, const struct graph *region)
{
    uint32_t id = (uint32_t)space->kinds.count;
    struct state root = {.graph = *region, .kind = id, .parent = NO_STATE, .is_expanded = true};
    root.stands_for = mem_new_array(tensor_id, region->tensors.count);
    for (tensor_id t = 0; t < region->tensors.count; t++)
        root.stands_for[t] = t;
    vec_push(&space->kinds, k);
    k->winner = NO_STATE;
    k->root = add_state(space, &root);
    table_insert(&space->by_region, graph_key(region), id);
    space->w->result->statistics.regions++;
    return id;
}

uint32_t states_find_kind(struct state_space *space, const struct match *m, struct match *ret_match, uint32_t *ret_site,
                          bool *ret_is_new_site)
{
    struct region_kind *k = mem_alloc_zero(sizeof *k);
    struct graph region;
    struct site site;
    region_extract(&space->w->index, m, REGION_NODES, &k->arena, &region, &site, ret_match);
    uint32_t found = table_find(&space->by_region, graph_key(&region), is_same_region, space, &region);
    const struct graph *known = found == TABLE_NONE ? NULL : graph_of_kind(space, space->kinds.items[found]);
    if (!known || !region_renumber(known, &region, &site, ret_match)) {
        found = add_kind(space, k, &region);
    } else {
        graph_free(&region);
        arena_free(&k->arena);
        mem_free(k, sizeof *k);
        space->w->result->statistics.repeated++;
    }
    *ret_site = add_site(space, space->kinds.items[found], &site, ret_is_new_site);
    return found;
}

// --- states ----------------------------------------------------------------------------------------------------------

struct rewritten state_rewritten(const struct state_space *space, const struct state *s)
{
    return (struct rewritten){graph_of_kind(space, space->kinds.items[s->kind]), &s->graph, s->stands_for};
}

static tensor_id *follow_tensors(const struct state *parent, const struct graph *child, uint32_t n,
                                 const tensor_id *old, const tensor_id *new, const tensor_id *map)
{
    tensor_id *stands_for = mem_new_array(tensor_id, child->tensors.count);
    for (tensor_id t = 0; t < child->tensors.count; t++)
        stands_for[t] = NO_TENSOR;
    for (uint32_t i = 0; i < n; i++)
        if (map[new[i]] != NO_TENSOR)
            stands_for[map[new[i]]] = parent->stands_for[old[i]];
    for (tensor_id t = 0; t < parent->graph.tensors.count; t++) {
        bool is_old = ANY(uint32_t, i, n, old[i] == t);
        if (!is_old && map[t] != NO_TENSOR && parent->stands_for[t] != NO_TENSOR)
            stands_for[map[t]] = parent->stands_for[t];
    }
    return stands_for;
}

// The values of attribute variables are kept with the states.
static struct match keep_match(const struct match *m, struct arena *a)
{
    struct match kept = *m;
    for (uint32_t v = 0; v < m->rule->pattern.n_attribute_variables; v++)
        if (m->attributes[v].count != UINT32_MAX && m->attributes[v].count > 0)
            kept.attributes[v].ints = arena_copy_array(a, m->attributes[v].ints, m->attributes[v].count);
    return kept;
}

uint32_t states_make_state(struct state_space *space, uint32_t parent_id, const struct match *m, double step_change,
                           bool *ret_is_new)
{
    const struct state *parent = &space->states.items[parent_id];
    struct state child = {.kind = parent->kind, .parent = parent_id, .depth = parent->depth + 1};
    struct graph with_target FREED_BY(graph_free);
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    uint32_t n = m->rule->n_outputs;
    child.step_change = step_change;
    graph_copy(&with_target, &parent->graph);
    bool is_made = match_apply(m, &with_target, &space->w->scratch, old, new);
    LOCAL_ARRAY(tensor_id, map, with_target.tensors.count + 1);
    is_made = is_made && graph_replace(&child.graph, &with_target, n, old, new, map);
    if (is_made)
        child.stands_for = follow_tensors(parent, &child.graph, n, old, new, map);
    if (!is_made)
        return NO_STATE;
    uint64_t key = hash_mix(graph_key(&child.graph), child.kind);
    uint32_t found = table_find(&space->by_graph, key, is_same_state, space, &child);
    *ret_is_new = found == TABLE_NONE;
    if (*ret_is_new) {
        child.match = keep_match(m, &space->kinds.items[child.kind]->arena);
        return add_state(space, &child);
    }
    mem_free_array(child.stands_for, child.graph.tensors.count);
    graph_free(&child.graph);
    return found;
}

// Grafted into the whole graph, as far as its neighbourhood goes, and taken back: a region alone is wrong about what a
// backend fuses across its border.
static double price_at_site(struct whole *w, const struct rewritten *r, const struct site *site)
{
    struct arena_mark arena = arena_mark(w->working.arena);
    struct graph_mark before = graph_mark(&w->working);
    size_t most = r->region->tensors.count + 1;
    LOCAL_ARRAY(tensor_id, old, most);
    LOCAL_ARRAY(tensor_id, new, most);
    LOCAL_ARRAY(node_id, nodes, most);
    struct rewrite rewrite = {&w->working, before.nodes, &w->index, .nodes = nodes, .old = old, .new = new};
    double change = INFINITY;
    rewrite.n_nodes = region_list_replaced(r, site, &w->working, nodes);
    if (region_graft(r, site, &w->working, &rewrite.n_tensors, old, new) &&
        rewrite.n_tensors <= MOST_TENSORS_REPLACED &&
        !graph_replacement_has_cycle(&w->working, rewrite.n_tensors, old, new))
        change = pricer_change(&w->pricer, &rewrite);
    graph_rollback(&w->working, before);
    arena_release(w->working.arena, arena);
    return change;
}

static double price_at_first_site(struct state_space *space, uint32_t id)
{
    const struct state *s = &space->states.items[id];
    struct rewritten r = state_rewritten(space, s);
    return price_at_site(space->w, &r, &space->kinds.items[s->kind]->sites.items[0]);
}

double states_price_state(struct state_space *space, uint32_t id)
{
    if (!space->states.items[id].is_priced)
        states_set_change(space, id, price_at_first_site(space, id));
    return space->states.items[id].change;
}

void states_set_change(struct state_space *space, uint32_t id, double change)
{
    space->states.items[id].change = change;
    space->states.items[id].is_priced = true;
}

// Tensors of the region that a node reads which is not there any more.
static bool *mark_left_tensors(const struct rewritten *r)
{
    const struct graph *region = r->region;
    bool *is_left = mem_alloc_zero(region->tensors.count + 1);
    LOCAL_ZEROS(bool, is_kept, region->nodes.count + 1);
    for (node_id n = 0; n < r->graph->nodes.count; n++) {
        node_id same = rewritten_node_of_region(r, n);
        if (same != NO_NODE)
            is_kept[same] = true;
    }
    for (node_id n = 0; n < region->nodes.count; n++)
        for (uint32_t i = 0; !is_kept[n] && i < region->nodes.items[n].n_inputs; i++)
            is_left[graph_inputs(region, n)[i]] = true;
    return is_left;
}

// Tensors that gained or lost a reader, unless they have many: each may be shared with another rewrite now, or die with
// one.
static bool *mark_changed_tensors(const struct rewritten *r, const bool *is_new)
{
    const uint32_t many = 8;
    const struct graph *g = r->graph;
    bool *is_left = mark_left_tensors(r), *is_changed = mem_alloc_zero(g->tensors.count + 1);
    LOCAL_ZEROS(uint32_t, n_readers, g->tensors.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; i < g->nodes.items[n].n_inputs; i++) {
            n_readers[graph_inputs(g, n)[i]]++;
            is_changed[graph_inputs(g, n)[i]] |= is_new[n];
        }
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        bool is_less_read = r->stands_for[t] != NO_TENSOR && is_left[r->stands_for[t]];
        is_changed[t] = (is_changed[t] || is_less_read) && n_readers[t] <= many;
    }
    mem_free(is_left, r->region->tensors.count + 1);
    return is_changed;
}

static enum touch touch_of_node(const struct graph *g, node_id n, const bool *is_new, const bool *is_changed)
{
    const struct node *node = &g->nodes.items[n];
    enum touch touch = is_new[n] ? TOUCH_CLOSE : TOUCH_NONE;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (touch == TOUCH_NONE && is_changed[node->first_output + i])
            touch = TOUCH_WIDE;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        tensor_id t = graph_inputs(g, n)[i];
        if (is_new[g->tensors.items[t].producer])
            touch = TOUCH_CLOSE;
        else if (touch == TOUCH_NONE && is_changed[t])
            touch = TOUCH_WIDE;
    }
    return touch;
}

uint8_t *state_mark_touched(const struct state_space *space, const struct state *s)
{
    const struct graph *g = &s->graph;
    struct rewritten r = state_rewritten(space, s);
    LOCAL_ARRAY(bool, is_new, g->nodes.count + 1);
    uint8_t *touches = mem_alloc_zero(g->nodes.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        is_new[n] = rewritten_node_of_region(&r, n) == NO_NODE;
    bool *is_changed = mark_changed_tensors(&r, is_new);
    for (node_id n = 0; n < g->nodes.count; n++)
        touches[n] = (uint8_t)touch_of_node(g, n, is_new, is_changed);
    mem_free(is_changed, g->tensors.count + 1);
    return touches;
}

enum touch match_touch(const struct match *m, const uint8_t *touches)
{
    uint8_t most = TOUCH_NONE;
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        if (touches[m->nodes[i]] > most)
            most = touches[m->nodes[i]];
    return (enum touch)most;
}

// --- following the whole graph ---------------------------------------------------------------------------------------

static bool move_site(const struct movement *m, struct site *s)
{
    for (size_t i = 0; i < s->members.count; i++) {
        s->members.items[i] = m->nodes[s->members.items[i]];
        if (s->members.items[i] == NO_NODE || m->is_changed[s->members.items[i]])
            return false;
    }
    for (size_t i = 0; i < s->tensors.count; i++) {
        s->tensors.items[i] = m->tensors[s->tensors.items[i]];
        if (s->tensors.items[i] == NO_TENSOR)
            return false;
    }
    return true;
}

static void move_sites(const struct movement *m, struct region_kind *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->sites.count; i++)
        if (move_site(m, &k->sites.items[i]))
            k->sites.items[kept++] = k->sites.items[i];
        else
            site_free(&k->sites.items[i]);
    k->sites.count = kept;
}

void states_follow(struct state_space *space, const struct movement *m)
{
    for (uint32_t i = 0; i < space->kinds.count; i++) {
        if (space->kinds.items[i]->is_gone)
            continue;
        move_sites(m, space->kinds.items[i]);
        if (space->kinds.items[i]->sites.count == 0)
            states_forget_kind(space, i);
    }
}

bool *states_mark_sites(const struct state_space *space)
{
    bool *is_left = mem_alloc_zero(space->n_sites + 1);
    for (size_t i = 0; i < space->kinds.count; i++)
        for (size_t j = 0; j < space->kinds.items[i]->sites.count; j++)
            is_left[space->kinds.items[i]->sites.items[j].number] = true;
    return is_left;
}
