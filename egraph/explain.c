// Paths in the proof forest: from both ends up to where they meet.
#include "egraph/explain.h"

static size_t depth_of(const struct egraph *e, enode_id n)
{
    size_t depth = 0;
    for (; e->forest.items[n].parent != NO_ENODE; n = e->forest.items[n].parent)
        depth++;
    return depth;
}

void egraph_explain(const struct egraph *e, enode_id a, enode_id b,
                    void (*visit)(void *context, enode_id x, enode_id y, uint32_t reason), void *context)
{
    size_t da = depth_of(e, a), db = depth_of(e, b);
    while (a != b) {
        enode_id *deeper = da >= db ? &a : &b;
        struct efrom up = e->forest.items[*deeper];
        visit(context, *deeper, up.parent, up.reason);
        *deeper = up.parent;
        *(deeper == &a ? &da : &db) -= 1;
    }
}
