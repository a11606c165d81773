// Each node takes its cheapest arc; a cycle of these becomes one node, and what leads into it costs what it costs more
// than the arc of the cycle that it replaces.
#include "tuning/reuse/arborescence.h"

#include "core/memory/arena.h"
#include "core/memory/vec.h"

static void fill(int *list, int n, int value)
{
    for (int i = 0; i < n; i++)
        list[i] = value;
}

static bool pick_cheapest(int n, int root, const struct arc *arcs, size_t n_arcs, int *ret_into)
{
    fill(ret_into, n, NO_ARC);
    for (size_t i = 0; i < n_arcs; i++) {
        const struct arc *a = &arcs[i];
        if (a->to != root && a->from != a->to && (ret_into[a->to] == NO_ARC || a->cost < arcs[ret_into[a->to]].cost))
            ret_into[a->to] = (int)i;
    }
    return !ANY(int, v, n, v != root && ret_into[v] == NO_ARC);
}

// Numbers of nodes with each cycle as one; gives how many there are. `mark` is of size n.
static int contract(int n, int root, const struct arc *arcs, const int *into, int *mark, int *ret_number)
{
    int count = 0;
    fill(mark, n, -1);
    fill(ret_number, n, -1);
    for (int v = 0; v < n; v++) {
        int u = v;
        for (; u != root && mark[u] == -1 && ret_number[u] == -1; u = arcs[into[u]].from)
            mark[u] = v;
        if (u == root || mark[u] != v || ret_number[u] != -1)
            continue;
        for (int w = u; ret_number[w] == -1; w = arcs[into[w]].from)
            ret_number[w] = count;
        count++;
    }
    return count;
}

struct contracted {
    int n, root;
    struct arc *arcs;
    int *original, *into;   // of arcs: which one it was
    size_t n_arcs;
};

static void contract_arcs(struct contracted *c, const struct arc *arcs, size_t n_arcs, const int *into,
                          const int *number, int n_cycles)
{
    for (size_t i = 0; i < n_arcs; i++) {
        struct arc a = {number[arcs[i].from], number[arcs[i].to], arcs[i].cost};
        if (a.from == a.to)
            continue;
        if (a.to < n_cycles)
            a.cost -= arcs[into[arcs[i].to]].cost;
        c->original[c->n_arcs] = (int)i;
        c->arcs[c->n_arcs++] = a;
    }
}

// A cycle is left where it is entered; other nodes take the arc that was found.
static bool find_contracted(int n, const struct arc *arcs, size_t n_arcs, int *number, int n_cycles, int root,
                            int *into)
{
    ARENA(arena);
    struct contracted c = {.n = n_cycles};
    for (int v = 0; v < n; v++)
        number[v] = number[v] == -1 ? c.n++ : number[v];
    c.root = number[root];
    c.arcs = arena_array(&arena, struct arc, n_arcs);
    c.original = arena_array(&arena, int, n_arcs);
    c.into = arena_array(&arena, int, c.n);
    contract_arcs(&c, arcs, n_arcs, into, number, n_cycles);
    bool is_found = arborescence_find(c.n, c.root, c.arcs, c.n_arcs, c.into);
    for (int v = 0; is_found && v < c.n; v++)
        if (c.into[v] != NO_ARC) {
            int arc = c.original[c.into[v]];
            into[arcs[arc].to] = arc;
        }
    return is_found;
}

bool arborescence_find(int n_nodes, int root, const struct arc *arcs, size_t n_arcs, int *ret_into)
{
    LOCAL_ARRAY(int, mark, n_nodes);
    LOCAL_ARRAY(int, number, n_nodes);
    bool is_found = pick_cheapest(n_nodes, root, arcs, n_arcs, ret_into);
    int n_cycles = is_found ? contract(n_nodes, root, arcs, ret_into, mark, number) : 0;
    if (n_cycles)
        is_found = find_contracted(n_nodes, arcs, n_arcs, number, n_cycles, root, ret_into);
    return is_found;
}
