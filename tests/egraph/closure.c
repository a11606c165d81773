// The classes are numbers of nodes; uniting two names all of one anew.
#include "tests/egraph/closure.h"

#include <assert.h>

static void name_all(struct closure *c, eclass_id old, eclass_id new)
{
    for (size_t n = 0; n < c->n_nodes; n++)
        c->of[n] = c->of[n] == old ? new : c->of[n];
}

static bool has_equal_children(const struct closure *c, enode_id x, enode_id y, bool is_swapped)
{
    return ALL(uint32_t, i, c->e->nodes.items[x].n_children,
               c->of[egraph_edges(c->e, x)[i].first] == c->of[egraph_edges(c->e, y)[is_swapped ? 1 - i : i].first]);
}

static bool are_congruent(const struct closure *c, enode_id x, enode_id y)
{
    const struct enode *a = &c->e->nodes.items[x], *b = &c->e->nodes.items[y];
    if (a->op != b->op || a->attributes != b->attributes || a->type != b->type || a->n_children != b->n_children)
        return false;
    return has_equal_children(c, x, y, false) || (a->op == OP_EWADD && has_equal_children(c, x, y, true));
}

void closure_close(struct closure *c)
{
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (enode_id x = 0; x < c->n_nodes; x++)
            for (enode_id y = 0; y < x; y++)
                if (c->of[x] != c->of[y] && are_congruent(c, x, y)) {
                    name_all(c, c->of[x], c->of[y]);
                    is_changed = true;
                }
    }
}

void closure_unite(struct closure *c, enode_id x, enode_id y)
{
    name_all(c, c->of[x], c->of[y]);
}

void closure_add_new(struct closure *c)
{
    assert(c->e->nodes.count <= CLOSURE_MOST_NODES);
    for (; c->n_nodes < c->e->nodes.count; c->n_nodes++)
        c->of[c->n_nodes] = (eclass_id)c->n_nodes;
}

void closure_init(struct closure *c, const struct egraph *e)
{
    c->e = e;
    c->n_nodes = 0;
    closure_add_new(c);
}

bool closure_agrees(const struct closure *c, enode_id *ret_x, enode_id *ret_y)
{
    for (enode_id x = 0; x < c->n_nodes; x++)
        for (enode_id y = 0; y < x; y++)
            if ((c->of[x] == c->of[y]) != (egraph_find(c->e, x) == egraph_find(c->e, y))) {
                *ret_x = x;
                *ret_y = y;
                return false;
            }
    return true;
}
