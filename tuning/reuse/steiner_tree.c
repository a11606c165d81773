// The tree grows by the cheapest path to a terminal that it lacks. Then the nodes that it has get their cheapest
// arborescence, and what leads to no terminal goes.
#include "tuning/reuse/steiner_tree.h"

#include "core/memory/vec.h"
#include <math.h>

struct paths {   // from the tree to every node
    int n;
    double *distance;
    int *arc;   // the last one
};

// Bellman and Ford.
static void find_paths(struct paths *p, const bool *is_in_tree, const struct arc *arcs, size_t n_arcs)
{
    bool is_changed = true;
    for (int v = 0; v < p->n; v++) {
        p->distance[v] = is_in_tree[v] ? 0 : INFINITY;
        p->arc[v] = NO_ARC;
    }
    while (is_changed) {
        is_changed = false;
        for (size_t i = 0; i < n_arcs; i++) {
            double through = p->distance[arcs[i].from] + arcs[i].cost;
            if (through < p->distance[arcs[i].to]) {
                p->distance[arcs[i].to] = through;
                p->arc[arcs[i].to] = (int)i;
                is_changed = true;
            }
        }
    }
}

// -1: the tree has all.
static int nearest_terminal(const struct paths *p, const bool *is_terminal, const bool *is_in_tree)
{
    int nearest = -1;
    for (int v = 0; v < p->n; v++)
        if (is_terminal[v] && !is_in_tree[v] && (nearest < 0 || p->distance[v] < p->distance[nearest]))
            nearest = v;
    return nearest;
}

static bool grow(struct paths *p, const bool *is_terminal, const struct arc *arcs, size_t n_arcs, bool *is_in_tree,
                 int *into)
{
    for (;;) {
        find_paths(p, is_in_tree, arcs, n_arcs);
        int v = nearest_terminal(p, is_terminal, is_in_tree);
        if (v < 0 || isinf(p->distance[v]))
            return v < 0;
        for (; !is_in_tree[v]; v = arcs[into[v]].from) {
            into[v] = p->arc[v];
            is_in_tree[v] = true;
        }
    }
}

// Other nodes hang on the root for nothing, and arcs of theirs are loops.
static void improve(int n, int root, const bool *is_in_tree, const struct arc *arcs, size_t n_arcs, int *into)
{
    LOCAL_ARRAY(struct arc, own, n_arcs + (size_t)n);
    LOCAL_ARRAY(int, better, n);
    size_t n_own = n_arcs;
    for (size_t i = 0; i < n_arcs; i++) {
        own[i] = arcs[i];
        own[i].from = is_in_tree[arcs[i].from] && is_in_tree[arcs[i].to] ? arcs[i].from : arcs[i].to;
    }
    for (int v = 0; v < n; v++)
        if (!is_in_tree[v])
            own[n_own++] = (struct arc){root, v, 0};
    if (arborescence_find(n, root, own, n_own, better))
        for (int v = 0; v < n; v++)
            into[v] = is_in_tree[v] ? better[v] : NO_ARC;
}

static bool is_left_by_any(int n, const struct arc *arcs, const int *into, int node)
{
    return ANY(int, v, n, into[v] != NO_ARC && arcs[into[v]].from == node);
}

static void prune(int n, const bool *is_terminal, const struct arc *arcs, int *into)
{
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int v = 0; v < n; v++)
            if (into[v] != NO_ARC && !is_terminal[v] && !is_left_by_any(n, arcs, into, v)) {
                into[v] = NO_ARC;
                is_changed = true;
            }
    }
}

bool steiner_tree_find(int n_nodes, int root, const bool *is_terminal, const struct arc *arcs, size_t n_arcs,
                       int *ret_into)
{
    LOCAL_ARRAY(double, distance, n_nodes);
    LOCAL_ARRAY(int, arc, n_nodes);
    struct paths p = {n_nodes, distance, arc};
    LOCAL_ZEROS(bool, is_in_tree, (size_t)n_nodes);
    is_in_tree[root] = true;
    for (int v = 0; v < n_nodes; v++)
        ret_into[v] = NO_ARC;
    bool is_found = grow(&p, is_terminal, arcs, n_arcs, is_in_tree, ret_into);
    if (is_found) {
        improve(n_nodes, root, is_in_tree, arcs, n_arcs, ret_into);
        prune(n_nodes, is_terminal, arcs, ret_into);
    }
    return is_found;
}
