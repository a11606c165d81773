// egraph_check: what must hold of a clean e-graph, by looking at all pairs of nodes that may collide.
#include "tests/egraph/egraph_check.h"

#include "core/memory/hash.h"

static bool complain(const char **ret_what, const char *what)
{
    *ret_what = what;
    return false;
}

static bool has_canonical_children(const struct egraph *e, enode_id n)
{
    return ALL(uint32_t, i, e->nodes.items[n].n_children,
               egraph_find(e, egraph_edges(e, n)[i].child) == egraph_edges(e, n)[i].child &&
                   egraph_find(e, egraph_edges(e, n)[i].first) == egraph_edges(e, n)[i].child);
}

// Gives the number of parents that stand in the list; UINT32_MAX: one does not belong there.
static uint32_t count_parents(const struct egraph *e, eclass_id c)
{
    uint32_t count = 0;
    for (uint32_t k = e->classes.items[c].first_parent; k != NO_EDGE; k = e->edges.items[k].next) {
        enode_id owner = e->edges.items[k].owner;
        if (e->nodes.items[owner].is_redundant ||
            ALL(uint32_t, i, e->nodes.items[owner].n_children, egraph_edges(e, owner)[i].child != c))
            return UINT32_MAX;
        count++;
    }
    return count;
}

static bool check_class(const struct egraph *e, eclass_id c, size_t *live, const char **ret_what)
{
    const struct eclass *class = &e->classes.items[c];
    uint32_t count = 0;
    for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n)) {
        count++;
        if (egraph_find(e, n) != c)
            return complain(ret_what, "a node stands in the ring of another class");
        if (e->nodes.items[n].type != e->nodes.items[c].type)
            return complain(ret_what, "the nodes of a class have different types");
    }
    *live += count;
    if (count == 0 || count != class->n_nodes)
        return complain(ret_what, "the nodes of a class are miscounted");
    if (count_parents(e, c) != class->n_parents)
        return complain(ret_what, "a list of parents is wrong");
    return true;
}

static bool is_congruent(const void *owner, uint32_t id, const void *key)
{
    const struct egraph *e = owner;
    enode_id other = *(const enode_id *)key;
    const struct enode *x = &e->nodes.items[id], *y = &e->nodes.items[other];
    if (x->op != y->op || x->attributes != y->attributes || x->type != y->type || x->n_children != y->n_children)
        return false;
    return ALL(uint32_t, i, x->n_children, egraph_edges(e, id)[i].child == egraph_edges(e, other)[i].child);
}

static bool check_congruence(const struct egraph *e, const char **ret_what)
{
    bool is_right = true;
    struct table seen FREED_BY(table_free) = {0};
    for (enode_id n = 0; n < e->nodes.count && is_right; n++) {
        uint64_t hash = hash_mix(e->nodes.items[n].op, e->nodes.items[n].attributes);
        for (uint32_t i = 0; i < e->nodes.items[n].n_children; i++)
            hash = hash_mix(hash, egraph_edges(e, n)[i].child);
        if (e->nodes.items[n].is_redundant)
            continue;
        is_right = table_find(&seen, hash, is_congruent, e, &n) == TABLE_NONE;
        table_insert(&seen, hash, n);
    }
    return is_right || complain(ret_what, "two nodes are congruent");
}

bool egraph_check(const struct egraph *e, const char **ret_what)
{
    size_t live = 0, parents = 0, edges = 0, classes = 0;
    for (enode_id n = 0; n < e->nodes.count; n++) {
        bool is_redundant = e->nodes.items[n].is_redundant;
        if (!is_redundant && !has_canonical_children(e, n))
            return complain(ret_what, "a node has a child that is not canonical");
        edges += is_redundant ? 0 : e->nodes.items[n].n_children;
        if (egraph_find(e, n) != n)
            continue;
        classes++;
        parents += e->classes.items[n].n_parents;
        if (!check_class(e, n, &live, ret_what))
            return false;
    }
    if (live != e->n_live || classes != e->n_classes || edges != parents)
        return complain(ret_what, "nodes, classes or parents are miscounted");
    return check_congruence(e, ret_what);
}
