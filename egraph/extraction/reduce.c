// Repeats the steps until nothing changes. Costs that are moved or paid in advance only serve to compare selections:
// what a selection costs is always summed anew over the original nodes.
#include "egraph/extraction/reduce.h"

#include "core/memory/arena.h"
#include "egraph/extraction/components.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- problems that are being reduced ---------------------------------------------------------------------------------
// The form of a problem that is being reduced: nodes with their own sorted lists of children, which may die.
// Lists of children are never changed in place: a changed one is a new list in the arena.

struct draft_node {
    double cost;
    uint32_t class_id, n_children;
    const uint32_t *children;   // ascending, each once
    bool is_alive;
};
struct draft {
    const struct extraction_problem *origin;
    struct arena arena;         // of all that follows, and of lists of children
    struct draft_node *nodes;   // by the origin's ids
    uint32_t *n_alive;          // [n_classes] nodes of the class
    uint32_t *single;           // [n_classes] the node of a class that was put into its readers; EXTRACTION_NONE
    bool *is_needed;            // [n_classes] every selection has this class
    double fixed_cost;
    bool has_changed;
};

// The living nodes that read each class: those of class c stand from first[c] to first[c + 1].
struct draft_readers {
    uint32_t *first, *list;
};

#define DRAFT_EACH_MEMBER(d, class_id, node)                                                                           \
    for (const uint32_t *node = (d)->origin->members.items + (d)->origin->first.items[class_id];                       \
         node < (d)->origin->members.items + (d)->origin->first.items[(class_id) + 1]; node++)                         \
        if ((d)->nodes[*node].is_alive)

COMPARISON(compare_ids, uint32_t, ORDER(*x, *y))

static uint32_t sort_once(uint32_t *ids, uint32_t n)
{
    uint32_t kept = 0;
    qsort(ids, n, sizeof *ids, compare_ids);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

static bool draft_has_child(const struct draft_node *n, uint32_t class_id)
{
    return n->n_children && bsearch(&class_id, n->children, n->n_children, sizeof class_id, compare_ids);
}

static void draft_kill(struct draft *d, uint32_t node)
{
    if (!d->nodes[node].is_alive)
        return;
    d->nodes[node].is_alive = false;
    d->n_alive[d->nodes[node].class_id]--;
    d->has_changed = true;
}

static void take_node(struct draft *d, uint32_t node)
{
    const struct extraction_problem *p = d->origin;
    struct draft_node *n = &d->nodes[node];
    uint32_t n_children = extraction_n_children(p, node);
    uint32_t *children = arena_array(&d->arena, uint32_t, n_children);
    if (n_children)
        memcpy(children, extraction_children(p, node), n_children * sizeof *children);
    n_children = n_children ? sort_once(children, n_children) : 0;
    *n = (struct draft_node){p->nodes.items[node].cost, p->nodes.items[node].class_id, n_children, children, true};
    d->n_alive[n->class_id]++;
    if (!isfinite(n->cost) || draft_has_child(n, n->class_id))
        draft_kill(d, node);
}

static void draft_init(struct draft *d, const struct extraction_problem *origin)
{
    *d = (struct draft){.origin = origin};
    d->nodes = arena_array(&d->arena, struct draft_node, origin->n_nodes + 1);
    d->n_alive = arena_array(&d->arena, uint32_t, origin->n_classes + 1);
    d->single = arena_array(&d->arena, uint32_t, origin->n_classes + 1);
    d->is_needed = arena_array(&d->arena, bool, origin->n_classes + 1);
    memset(d->single, 0xff, (origin->n_classes + 1) * sizeof(uint32_t));
    for (uint32_t n = 0; n < origin->n_nodes; n++)
        take_node(d, n);
    for (size_t i = 0; i < origin->roots.count; i++)
        d->is_needed[origin->roots.items[i]] = true;
}

static void draft_free(struct draft *d)
{
    arena_free(&d->arena);
}

// Replaces one child by the children of `by` (EXTRACTION_NONE: by nothing). A node that so reads its own class dies.
static void draft_replace_child(struct draft *d, uint32_t node, uint32_t child, uint32_t by)
{
    struct draft_node *n = &d->nodes[node];
    uint32_t n_added = by == EXTRACTION_NONE ? 0 : d->nodes[by].n_children, kept = 0;
    uint32_t *children = arena_array(&d->arena, uint32_t, n->n_children + n_added);
    for (uint32_t i = 0; i < n->n_children; i++)
        if (n->children[i] != child)
            children[kept++] = n->children[i];
    if (n_added)
        memcpy(children + kept, d->nodes[by].children, n_added * sizeof *children);
    n->n_children = sort_once(children, kept + n_added);
    n->children = children;
    d->has_changed = true;
    if (draft_has_child(n, n->class_id))
        draft_kill(d, node);
}

static struct draft_readers draft_list_readers(const struct draft *d, struct arena *arena)
{
    const struct extraction_problem *p = d->origin;
    struct draft_readers r = {.first = arena_array(arena, uint32_t, p->n_classes + 2)};
    size_t n_read = 0;
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; d->nodes[n].is_alive && i < d->nodes[n].n_children; i++, n_read++)
            r.first[d->nodes[n].children[i] + 2]++;
    for (uint32_t c = 2; c <= p->n_classes; c++)
        r.first[c] += r.first[c - 1];
    r.list = arena_array(arena, uint32_t, n_read);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; d->nodes[n].is_alive && i < d->nodes[n].n_children; i++)
            r.list[r.first[d->nodes[n].children[i] + 1]++] = n;
    return r;
}

// The living nodes as a problem, with the needed classes as roots. Class ids become dense: ret_class_of and ret_node_of
// are the original ids (n_classes and n_nodes items at most).
static void draft_compile(const struct draft *d, struct extraction_problem *ret_problem, uint32_t *ret_class_of,
                          uint32_t *ret_node_of)
{
    LOCAL_ARRAY(uint32_t, new_id, d->origin->n_classes + 1);
    LOCAL_VEC(uint32_t, children);
    *ret_problem = (struct extraction_problem){0};
    for (uint32_t c = 0; c < d->origin->n_classes; c++) {
        if (!d->n_alive[c])
            continue;
        new_id[c] = extraction_add_class(ret_problem);
        ret_class_of[new_id[c]] = c;
        if (d->is_needed[c])
            extraction_add_root(ret_problem, new_id[c]);
    }
    for (uint32_t n = 0; n < d->origin->n_nodes; n++) {
        const struct draft_node *node = &d->nodes[n];
        if (!node->is_alive)
            continue;
        vec_clear(&children);
        for (uint32_t i = 0; i < node->n_children; i++)
            vec_push(&children, new_id[node->children[i]]);
        ret_node_of[extraction_add_node(ret_problem, new_id[node->class_id], node->cost, node->n_children,
                                        children.items)] = n;
    }
    extraction_finish(ret_problem);
}

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
    vecs_free(r, node_of, class_of);
    mem_free_array(r->single, r->single ? r->n_original + 1 : 0);
    *r = (struct reduction){0};
}
