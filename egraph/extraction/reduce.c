// Repeats the steps until nothing changes. Costs that are moved or paid in advance only serve to compare selections:
// what a selection costs is always summed anew over the original nodes.
#include "egraph/extraction/reduce.h"
#include "core/memory/arena.h"
#include "egraph/extraction/components.h"
#include "egraph/extraction/draft.h"
#include <string.h>

enum { MAX_ROUNDS = 100 };

// --- taking nodes away -----------------------------------------------------------------------------------------------

struct building {
    struct draft *draft;
    struct draft_readers readers;
    uint32_t *missing;   // [n_nodes] children that are not built yet
    bool *is_built;      // [n_classes]
    VEC(uint32_t) queue;
};

static void build_class(struct building *b, uint32_t class_id)
{
    if (b->is_built[class_id])
        return;
    b->is_built[class_id] = true;
    vec_push(&b->queue, class_id);
}

static void build_from_leaves(struct building *b)
{
    const struct draft *d = b->draft;
    for (uint32_t n = 0; n < d->origin->n_nodes; n++) {
        b->missing[n] = d->nodes[n].n_children;
        if (d->nodes[n].is_alive && !b->missing[n])
            build_class(b, d->nodes[n].class_id);
    }
    for (size_t next = 0; next < b->queue.count; next++) {
        uint32_t built = b->queue.items[next];
        for (uint32_t i = b->readers.first[built]; i < b->readers.first[built + 1]; i++)
            if (!--b->missing[b->readers.list[i]])
                build_class(b, d->nodes[b->readers.list[i]].class_id);
    }
}

// Nodes go that have a child which cannot be built without a cycle.
static void kill_unbuildable(struct draft *d)
{
    ARENA(arena);
    uint32_t n_nodes = d->origin->n_nodes;
    struct building b = {.draft = d, .missing = arena_array(&arena, uint32_t, n_nodes + 1)};
    b.is_built = arena_array(&arena, bool, d->origin->n_classes + 1);
    b.readers = draft_list_readers(d, &arena);
    build_from_leaves(&b);
    for (uint32_t n = 0; n < n_nodes; n++)
        if (b.missing[n])
            draft_kill(d, n);
    vec_free(&b.queue);
}

static void kill_unreached(struct draft *d)
{
    uint32_t n_classes = d->origin->n_classes;
    LOCAL_ZEROS(bool, is_reached, n_classes + 1);
    LOCAL_VEC(uint32_t, queue);
    for (uint32_t c = 0; c < n_classes; c++)
        if (d->is_needed[c]) {
            is_reached[c] = true;
            vec_push(&queue, c);
        }
    while (queue.count) {
        uint32_t class_id = vec_pop(&queue);
        DRAFT_EACH_MEMBER(d, class_id, node)
        {
            for (uint32_t i = 0; i < d->nodes[*node].n_children; i++) {
                uint32_t child = d->nodes[*node].children[i];
                if (!is_reached[child])
                    vec_push(&queue, child);
                is_reached[child] = true;
            }
        }
    }
    for (uint32_t n = 0; n < d->origin->n_nodes; n++)
        if (!is_reached[d->nodes[n].class_id])
            draft_kill(d, n);
}

// --- shortening what is left -------------------------------------------------------------------------------------

static bool all_read(const struct draft *d, uint32_t class_id, uint32_t child)
{
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        if (!draft_has_child(&d->nodes[*node], child))
            return false;
    }
    return true;
}

static uint32_t any_member(const struct draft *d, uint32_t class_id)
{
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        return *node;
    }
    return EXTRACTION_NONE;
}

// A class that all nodes of a needed class read is needed.
static void spread_needs(struct draft *d)
{
    LOCAL_VEC(uint32_t, queue);
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        if (d->is_needed[c])
            vec_push(&queue, c);
    while (queue.count) {
        uint32_t class_id = vec_pop(&queue), node = any_member(d, class_id);
        for (uint32_t i = 0; node != EXTRACTION_NONE && i < d->nodes[node].n_children; i++) {
            uint32_t child = d->nodes[node].children[i];
            if (d->is_needed[child] || !all_read(d, class_id, child))
                continue;
            d->is_needed[child] = d->has_changed = true;
            vec_push(&queue, child);
        }
    }
}

// The least that a node of the class costs is paid by every selection: the others cost what they cost more.
static void pay_class(struct draft *d, uint32_t class_id)
{
    double least = d->nodes[any_member(d, class_id)].cost;
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        least = d->nodes[*node].cost < least ? d->nodes[*node].cost : least;
    }
    d->fixed_cost += least;
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        d->nodes[*node].cost -= least;
    }
}

static void pay_needed(struct draft *d)
{
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        if (d->is_needed[c] && d->n_alive[c])
            pay_class(d, c);
}

static void forget_needed_children(struct draft *d, uint32_t node, const uint32_t *component)
{
    const struct draft_node *n = &d->nodes[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = n->children[i];
        if (d->is_needed[child] && component[child] != component[n->class_id]) {
            draft_replace_child(d, node, child, EXTRACTION_NONE);
            i--;
        }
    }
}

static void forget_needed(struct draft *d)
{
    ARENA(arena);
    struct extraction_problem compiled;
    uint32_t *class_of = arena_array(&arena, uint32_t, d->origin->n_classes + 1);
    uint32_t *node_of = arena_array(&arena, uint32_t, d->origin->n_nodes + 1);
    uint32_t *component = arena_array(&arena, uint32_t, d->origin->n_classes + 1);
    draft_compile(d, &compiled, class_of, node_of);
    uint32_t *found = arena_array(&arena, uint32_t, compiled.n_classes + 1);
    components_find(&compiled, found);
    for (uint32_t c = 0; c < compiled.n_classes; c++)
        component[class_of[c]] = found[c];
    for (uint32_t n = 0; n < compiled.n_nodes; n++)
        forget_needed_children(d, node_of[n], component);
    extraction_free(&compiled);
}

struct putting {
    struct draft *draft;
    struct draft_readers readers;
    bool *is_stale;   // [n_classes] has readers that the list does not know
};

// Putting the node into its readers must not make the whole longer by much, nor count its cost twice.
static bool is_worth_it(const struct putting *p, uint32_t class_id, const struct draft_node *node)
{
    enum { MAX_GROWTH = 8 };
    uint64_t n_readers = p->readers.first[class_id + 1] - p->readers.first[class_id];
    if (p->is_stale[class_id] || (node->cost > 0 && (n_readers != 1 || p->draft->is_needed[class_id])))
        return false;
    return node->n_children <= 1 || (n_readers - 1) * (node->n_children - 1) <= MAX_GROWTH || n_readers <= 1;
}

static void put_into_reader(struct putting *p, uint32_t reader, uint32_t class_id, uint32_t node)
{
    struct draft *d = p->draft;
    if (!d->nodes[reader].is_alive || !draft_has_child(&d->nodes[reader], class_id))
        return;
    d->nodes[reader].cost += d->nodes[node].cost;
    draft_replace_child(d, reader, class_id, node);
}

static void put_away(struct putting *p, uint32_t class_id)
{
    struct draft *d = p->draft;
    uint32_t node = any_member(d, class_id);
    if (node == EXTRACTION_NONE || d->n_alive[class_id] != 1 || !is_worth_it(p, class_id, &d->nodes[node]))
        return;
    for (uint32_t i = p->readers.first[class_id]; i < p->readers.first[class_id + 1]; i++)
        put_into_reader(p, p->readers.list[i], class_id, node);
    for (uint32_t i = 0; i < d->nodes[node].n_children; i++) {
        p->is_stale[d->nodes[node].children[i]] = true;
        d->is_needed[d->nodes[node].children[i]] |= d->is_needed[class_id];
    }
    d->is_needed[class_id] = false;
    d->single[class_id] = node;
    draft_kill(d, node);
}

static void put_single_nodes_away(struct draft *d)
{
    ARENA(arena);
    struct putting p = {d, draft_list_readers(d, &arena), arena_array(&arena, bool, d->origin->n_classes + 1)};
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        put_away(&p, c);
}

// --- all steps ---------------------------------------------------------------------------------------------------

static void apply_limits(struct draft *d, const struct reduction_limits *limits)
{
    for (uint32_t n = 0; n < d->origin->n_nodes; n++)
        if (limits->is_dropped && limits->is_dropped[n])
            draft_kill(d, n);
    for (uint32_t i = 0; i < limits->n_needed; i++)
        d->is_needed[limits->needed[i]] = true;
}

// Needs are spread only while every class that is reached can be built.
static bool is_solvable(const struct draft *d)
{
    return ALL(uint32_t, c, d->origin->n_classes, !d->is_needed[c] || d->n_alive[c]);
}

static bool reduce(struct draft *d)
{
    d->has_changed = true;
    for (int round = 0; d->has_changed && round < MAX_ROUNDS; round++) {
        d->has_changed = false;
        kill_unbuildable(d);
        if (!is_solvable(d))
            return false;
        spread_needs(d);
        kill_unreached(d);
        pay_needed(d);
        forget_needed(d);
        put_single_nodes_away(d);
    }
    // The last round, if it ended by its number, may have left what cannot be built or is not reached.
    kill_unbuildable(d);
    kill_unreached(d);
    return is_solvable(d);
}

bool reduction_make(const struct extraction_problem *p, const struct reduction_limits *limits,
                    struct reduction *ret_reduction)
{
    struct draft d FREED_BY(draft_free);
    struct reduction r = {.n_original = p->n_classes};
    draft_init(&d, p);
    apply_limits(&d, limits);
    bool is_possible = reduce(&d);
    if (is_possible) {
        vec_reserve(&r.class_of, p->n_classes + 1);
        vec_reserve(&r.node_of, p->n_nodes + 1);
        draft_compile(&d, &r.problem, r.class_of.items, r.node_of.items);
        r.fixed_cost = d.fixed_cost;
        r.single = mem_new_array(uint32_t, p->n_classes + 1);
        memcpy(r.single, d.single, p->n_classes * sizeof *r.single);
        *ret_reduction = r;
    }
    return is_possible;
}

void reduction_lift(const struct reduction *r, const uint32_t *choice, uint32_t *ret_original)
{
    if (r->n_original)
        memcpy(ret_original, r->single, r->n_original * sizeof *ret_original);
    for (uint32_t c = 0; c < r->problem.n_classes; c++)
        if (choice[c] != EXTRACTION_NONE)
            ret_original[r->class_of.items[c]] = r->node_of.items[choice[c]];
}

void reduction_free(struct reduction *r)
{
    extraction_free(&r->problem);
    vec_free(&r->node_of);
    vec_free(&r->class_of);
    mem_free_array(r->single, r->single ? r->n_original + 1 : 0);
    *r = (struct reduction){0};
}
