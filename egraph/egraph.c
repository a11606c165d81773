// The hash-cons, unions and the deferred rebuild.
//
// An e-node stands in the hash-cons under its children as its edges have them. A union only joins the two rings and
// lists of parents, and makes the parents of the smaller class pending; rebuild takes each pending node out, gives it
// its canonical children, and puts it back, or finds a congruent one there and unites the two classes.
#include "egraph/egraph.h"

#include "core/memory/hash.h"
#include "egraph/intern.h"
#include "operators/traits.h"
#include <assert.h>
#include <string.h>

void egraph_init(struct egraph *e)
{
    *e = (struct egraph){.is_clean = true};
}

void egraph_free(struct egraph *e)
{
    vecs_free(e, nodes, edges, classes, leader, next, forest);
    vecs_free(e, pending.nodes, pending.analyses, interned.types, interned.attributes, interned.attribute_owners);
    table_free(&e->by_structure);
    table_free(&e->interned.type_by_content);
    table_free(&e->interned.attributes_by_content);
    arena_free(&e->arena);
}

// --- the hash-cons ---------------------------------------------------------------------------------------------------

struct application {
    const struct enode *node;
    const eclass_id *children;
};

static uint64_t hash_of(const struct enode *n, const eclass_id *children)
{
    uint64_t h = hash_step((uint64_t)n->op << 32 | n->attributes, n->n_children);
    for (uint32_t i = 0; i < n->n_children; i++)
        h = hash_step(h, children[i]);
    return hash_mix(h, n->type);
}

static bool is_same_application(const void *owner, uint32_t id, const void *key)
{
    const struct egraph *e = owner;
    const struct application *a = key;
    const struct enode *n = &e->nodes.items[id];
    return n->op == a->node->op && n->attributes == a->node->attributes && n->n_children == a->node->n_children &&
           n->type == a->node->type &&
           ALL(uint32_t, i, n->n_children, e->edges.items[n->first_edge + i].child == a->children[i]);
}

static enode_id find_application(const struct egraph *e, uint64_t hash, const struct enode *n,
                                 const eclass_id *children)
{
    struct application a = {n, children};
    return table_find(&e->by_structure, hash, is_same_application, e, &a);
}

static bool is_commutative(const struct enode *n)
{
    return n->op != PROJECTION && n->n_children == 2 && (operators[n->op]->flags & OPERATOR_IS_COMMUTATIVE);
}

#define FEW_CHILDREN 16   // more are allocated
struct children {
    eclass_id few[FEW_CHILDREN], *items;
    size_t size;   // of what was allocated
};

static void children_init(struct children *c, uint32_t n)
{
    c->size = n > FEW_CHILDREN ? n * sizeof *c->items : 0;
    c->items = c->size ? mem_alloc(c->size) : c->few;
}

static void children_free(struct children *c)
{
    if (c->size)
        mem_free(c->items, c->size);
}

static void canonicalise(const struct egraph *e, const struct enode *n, const enode_id *given, eclass_id *ret_children)
{
    for (uint32_t i = 0; i < n->n_children; i++)
        ret_children[i] = egraph_find(e, given[i]);
    if (is_commutative(n) && ret_children[0] > ret_children[1]) {
        eclass_id first = ret_children[0];
        ret_children[0] = ret_children[1];
        ret_children[1] = first;
    }
}

// --- analysis --------------------------------------------------------------------------------------------------------

static void analyse(const struct egraph *e, enode_id id, bool *ret_weight, bool *ret_given)
{
    const struct enode *n = &e->nodes.items[id];
    const struct operator* op = egraph_operator(e, id);
    bool is_leaf = op && op->flags & OPERATOR_IS_LEAF;
    *ret_weight = is_leaf ? op->id == OP_WEIGHT : !op || !(op->flags & OPERATOR_IS_OPAQUE);
    for (uint32_t i = 0; i < n->n_children; i++)
        *ret_weight = *ret_weight && e->classes.items[egraph_find(e, egraph_edges(e, id)[i].child)].is_weight;
    *ret_given = op && operator_permutes(op) ? e->classes.items[egraph_find(e, egraph_edges(e, id)[0].child)].is_given
                                             : op && op->id == OP_WEIGHT;
}

static bool learn(struct egraph *e, struct eclass *c, bool is_weight, bool is_given)
{
    bool is_new = (is_weight && !c->is_weight) || (is_given && !c->is_given);
    c->changed = is_new ? e->epoch : c->changed;
    c->is_weight = c->is_weight || is_weight;
    c->is_given = c->is_given || is_given;
    return is_new;
}

// --- adding ----------------------------------------------------------------------------------------------------------

static void link_parent(struct egraph *e, eclass_id c, uint32_t edge)
{
    struct eclass *class = &e->classes.items[c];
    e->edges.items[edge].next = NO_EDGE;
    if (class->last_parent == NO_EDGE)
        class->first_parent = edge;
    else
        e->edges.items[class->last_parent].next = edge;
    class->last_parent = edge;
    class->n_parents++;
}

static enode_id append(struct egraph *e, struct enode n, const enode_id *given, const eclass_id *children,
                       uint64_t hash)
{
    enode_id id = (enode_id)e->nodes.count;
    bool is_swapped = is_commutative(&n) && children[0] != egraph_find(e, given[0]);
    n.first_edge = (uint32_t)e->edges.count;
    vec_push(&e->nodes, n);
    vec_push(&e->leader, id);
    vec_push(&e->next, id);
    vec_push(&e->forest, ((struct efrom){NO_ENODE, 0}));
    vec_push(&e->classes, ((struct eclass){NO_EDGE, NO_EDGE, 0, 1, false, false, e->epoch}));
    for (uint32_t i = 0; i < n.n_children; i++) {
        vec_push(&e->edges, ((struct eedge){children[i], given[is_swapped ? 1 - i : i], id, NO_EDGE}));
        link_parent(e, children[i], n.first_edge + i);
    }
    struct eclass *class = &e->classes.items[id];
    analyse(e, id, &class->is_weight, &class->is_given);
    table_insert(&e->by_structure, hash, id);
    e->n_classes++;
    e->n_live++;
    return id;
}

static enode_id add(struct egraph *e, struct enode n, const enode_id *given)
{
    struct children children FREED_BY(children_free);
    children_init(&children, n.n_children);
    canonicalise(e, &n, given, children.items);
    uint64_t hash = hash_of(&n, children.items);
    enode_id id = find_application(e, hash, &n, children.items);
    if (id == TABLE_NONE)
        id = append(e, n, given, children.items, hash);
    return id;
}

enode_id egraph_add(struct egraph *e, const struct operator* op, uint32_t attributes, uint32_t type,
                    uint32_t n_children, const enode_id *children)
{
    struct enode n = {.op = (uint32_t)op->id, .attributes = attributes, .type = type, .n_children = n_children};
    return add(e, n, children);
}

enode_id egraph_add_output(struct egraph *e, enode_id application, uint32_t output)
{
    const struct etype *tuple = &e->interned.types.items[e->nodes.items[application].type];
    assert(output < tuple->count);
    if (tuple->count == 1)
        return application;
    uint32_t type = egraph_intern_type(e, 1, &tuple->types[output]);
    return add(e, (struct enode){.op = PROJECTION, .attributes = output, .type = type, .n_children = 1}, &application);
}

eclass_id egraph_find_output(const struct egraph *e, enode_id application, uint32_t output)
{
    eclass_id tuple = egraph_find(e, application);
    if (egraph_is_tensor(e, application))
        return output == 0 ? tuple : NO_ENODE;
    for (uint32_t k = e->classes.items[tuple].first_parent; k != NO_EDGE; k = e->edges.items[k].next) {
        const struct enode *n = &e->nodes.items[e->edges.items[k].owner];
        if (n->op == PROJECTION && n->attributes == output)
            return egraph_find(e, e->edges.items[k].owner);
    }
    return NO_ENODE;
}

// --- unions ----------------------------------------------------------------------------------------------------------

// Makes `n` the root of its tree of the proof forest.
static void reroot(struct egraph *e, enode_id n)
{
    struct efrom from = {NO_ENODE, 0};
    while (n != NO_ENODE) {
        struct efrom next = e->forest.items[n];
        e->forest.items[n] = from;
        from = (struct efrom){n, next.reason};
        n = next.parent;
    }
}

static void join(struct egraph *e, eclass_id winner, eclass_id loser)
{
    struct eclass *w = &e->classes.items[winner], *l = &e->classes.items[loser];
    for (uint32_t k = l->first_parent; k != NO_EDGE; k = e->edges.items[k].next)
        vec_push(&e->pending.nodes, e->edges.items[k].owner);
    e->leader.items[loser] = winner;
    enode_id after = e->next.items[winner];
    e->next.items[winner] = e->next.items[loser];
    e->next.items[loser] = after;
    if (l->first_parent != NO_EDGE && w->first_parent != NO_EDGE)
        e->edges.items[w->last_parent].next = l->first_parent;
    else if (l->first_parent != NO_EDGE)
        w->first_parent = l->first_parent;
    w->last_parent = l->last_parent != NO_EDGE ? l->last_parent : w->last_parent;
    w->n_parents += l->n_parents;
    w->n_nodes += l->n_nodes;
    w->changed = e->epoch;
    bool is_more = learn(e, w, l->is_weight, l->is_given), is_less = learn(e, l, w->is_weight, w->is_given);
    if (is_more || is_less)
        vec_push(&e->pending.analyses, winner);
}

enum union_result egraph_union(struct egraph *e, enode_id a, enode_id b, uint32_t reason)
{
    eclass_id x = egraph_find(e, a), y = egraph_find(e, b);
    if (x == y)
        return UNION_KNOWN;
    const struct eclass *cx = &e->classes.items[x], *cy = &e->classes.items[y];
    if (e->nodes.items[x].type != e->nodes.items[y].type)
        return UNION_OTHER_TYPE;
    bool is_kept = cx->n_parents > cy->n_parents || (cx->n_parents == cy->n_parents && x < y);
    enode_id moved = is_kept ? b : a, other = is_kept ? a : b;
    reroot(e, moved);
    e->forest.items[moved] = (struct efrom){other, reason};
    join(e, is_kept ? x : y, is_kept ? y : x);
    e->n_classes--;
    e->n_unions++;
    e->is_clean = false;
    return UNION_NEW;
}

// --- rebuild ---------------------------------------------------------------------------------------------------------

// The older one stays: so the oldest node of every class is live, and reads older classes only (egraph/cycles.h).
static void mark_redundant(struct egraph *e, enode_id n, enode_id kept)
{
    e->nodes.items[n].is_redundant = true;
    e->nodes.items[kept].is_filtered = e->nodes.items[kept].is_filtered && e->nodes.items[n].is_filtered;
    e->n_live--;
    egraph_union(e, n, kept, REASON_CONGRUENCE);
}

// Edges of a commutative node may change places; the lists of parents tell owners only, so they stay right.
static void replace_children(const struct egraph *e, const struct enode *n, struct eedge *edges,
                             const eclass_id *children)
{
    if (is_commutative(n) && egraph_find(e, edges[0].child) != children[0]) {
        enode_id first = edges[0].first;
        edges[0].first = edges[1].first;
        edges[1].first = first;
    }
    for (uint32_t i = 0; i < n->n_children; i++)
        edges[i].child = children[i];
}

static void repair(struct egraph *e, enode_id id)
{
    struct enode *n = &e->nodes.items[id];
    struct eedge *edges = &e->edges.items[n->first_edge];
    if (n->is_redundant)
        return;
    struct children old FREED_BY(children_free), new FREED_BY(children_free);
    children_init(&old, n->n_children);
    children_init(&new, n->n_children);
    for (uint32_t i = 0; i < n->n_children; i++)
        old.items[i] = edges[i].child;
    canonicalise(e, n, old.items, new.items);
    if (memcmp(old.items, new.items, n->n_children * sizeof *new.items) == 0)
        return;
    table_remove(&e->by_structure, hash_of(n, old.items), id);
    uint64_t hash = hash_of(n, new.items);
    enode_id found = find_application(e, hash, n, new.items);
    replace_children(e, n, edges, new.items);
    if (found != TABLE_NONE && id < found)
        table_remove(&e->by_structure, hash, found);
    if (found == TABLE_NONE || id < found)
        table_insert(&e->by_structure, hash, id);
    if (found != TABLE_NONE)
        mark_redundant(e, id < found ? found : id, id < found ? id : found);
}

// Facts of a class may lead to more facts of its readers.
static void analyse_parents(struct egraph *e, eclass_id c)
{
    for (uint32_t k = e->classes.items[egraph_find(e, c)].first_parent; k != NO_EDGE; k = e->edges.items[k].next) {
        enode_id owner = e->edges.items[k].owner;
        eclass_id class = egraph_find(e, owner);
        bool is_weight, is_given;
        analyse(e, owner, &is_weight, &is_given);
        if (learn(e, &e->classes.items[class], is_weight, is_given))
            vec_push(&e->pending.analyses, class);
    }
}

// The node that names the class stays, as the ring's beginning.
static void drop_redundant_nodes(struct egraph *e, eclass_id c)
{
    enode_id last = c;
    for (enode_id n = e->next.items[c]; n != c; n = e->next.items[n]) {
        if (e->nodes.items[n].is_redundant)
            continue;
        e->next.items[last] = n;
        last = n;
    }
    e->next.items[last] = c;
}

static void drop_redundant_parents(struct egraph *e, eclass_id c)
{
    struct eclass *class = &e->classes.items[c];
    uint32_t k = class->first_parent;
    class->first_parent = class->last_parent = NO_EDGE;
    class->n_parents = 0;
    while (k != NO_EDGE) {
        uint32_t next = e->edges.items[k].next;
        if (!e->nodes.items[e->edges.items[k].owner].is_redundant)
            link_parent(e, c, k);
        k = next;
    }
}

static void count_nodes(struct egraph *e, eclass_id c)
{
    uint32_t count = 0;
    for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n))
        count++;
    e->classes.items[c].n_nodes = count;
}

// Leaves every list with what is live, and every id with its class.
static void tidy(struct egraph *e)
{
    for (enode_id n = 0; n < e->nodes.count; n++)
        e->leader.items[n] = egraph_find(e, n);
    for (enode_id n = 0; n < e->nodes.count; n++)
        if (e->leader.items[n] == n) {
            drop_redundant_nodes(e, n);
            drop_redundant_parents(e, n);
            count_nodes(e, n);
        }
}

void egraph_rebuild(struct egraph *e)
{
    bool is_touched = !e->is_clean;
    while (e->pending.nodes.count || e->pending.analyses.count) {
        for (size_t i = 0; i < e->pending.nodes.count; i++)
            repair(e, e->pending.nodes.items[i]);
        vec_clear(&e->pending.nodes);
        while (e->pending.analyses.count)
            analyse_parents(e, vec_pop(&e->pending.analyses));
    }
    if (is_touched)
        tidy(e);
    e->is_clean = true;
}

void egraph_filter(struct egraph *e, enode_id n)
{
    e->nodes.items[n].is_filtered = true;
}

// --- reading ---------------------------------------------------------------------------------------------------------

static enode_id live_from(const struct egraph *e, eclass_id c, enode_id n)
{
    while (e->nodes.items[n].is_redundant) {
        n = e->next.items[n];
        if (n == c)
            return NO_ENODE;
    }
    return n;
}

enode_id egraph_first_node(const struct egraph *e, eclass_id c)
{
    return live_from(e, c, c);
}

enode_id egraph_next_node(const struct egraph *e, eclass_id c, enode_id n)
{
    n = e->next.items[n];
    return n == c ? NO_ENODE : live_from(e, c, n);
}

size_t egraph_memory(const struct egraph *e)
{
    return e->nodes.capacity * sizeof *e->nodes.items + e->edges.capacity * sizeof *e->edges.items +
           e->classes.capacity * sizeof *e->classes.items + e->leader.capacity * 4 + e->next.capacity * 4 +
           e->forest.capacity * sizeof *e->forest.items + e->pending.nodes.capacity * 4 +
           e->by_structure.capacity * sizeof *e->by_structure.slots + e->arena.total;
}
