// Groups without kernels join clusters, each around groups that have some, from neighbour to neighbour.
#include "optimizer/runtime/session_shares.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "optimizer/limits.def"
#include <math.h>

struct edge {
    node_id from, to;   // groups, by their first nodes
};
struct clusters {
    const struct step_groups *groups;
    const double *alone;
    node_id *cluster;          // of every group: the group that it is named after, or NO_NODE
    double *seen, *expected;   // of every cluster: its kernels, and its groups alone
    VEC(struct edge) edges;
};

static double alone_seconds(const struct clusters *c, node_id group)
{
    return isfinite(c->alone[group]) ? fmax(c->alone[group], LEAST_ALONE) : LEAST_ALONE;
}

// A node that only repeats something is nobody's: its input counts.
static node_id run_maker(const struct step_groups *s, tensor_id t)
{
    node_id n = s->graph->tensors.items[t].producer;
    while (!s->is_run[n] && operator_repeats(s->graph->nodes.items[n].op))
        n = s->graph->tensors.items[graph_inputs(s->graph, n)[0]].producer;
    return s->is_run[n] ? n : NO_NODE;
}

static void list_edges(struct clusters *c)
{
    const struct step_groups *s = c->groups;
    node_id *group = arena_array(s->arena, node_id, s->graph->nodes.count + 1);
    for (node_id n = 0; n < s->graph->nodes.count; n++)
        if (step_groups_is_first(s, n))
            for (node_id m = n; m != NO_NODE; m = s->next[m])
                group[m] = n;
    for (node_id n = 0; n < s->graph->nodes.count; n++)
        for (uint32_t i = 0; s->is_run[n] && i < s->graph->nodes.items[n].n_inputs; i++) {
            node_id maker = run_maker(s, graph_inputs(s->graph, n)[i]);
            if (maker != NO_NODE && group[maker] != group[n])
                vec_push(&c->edges, ((struct edge){group[maker], group[n]}));
        }
}

static void begin_clusters(struct clusters *c, const double *seen)
{
    const struct step_groups *s = c->groups;
    for (node_id n = 0; n < s->graph->nodes.count; n++) {
        c->cluster[n] = NO_NODE;
        if (!step_groups_is_first(s, n))
            continue;
        for (node_id m = n; m != NO_NODE; m = s->next[m])
            if (!isnan(seen[m])) {
                c->cluster[n] = n;
                c->seen[n] += seen[m];
            }
        c->expected[n] = alone_seconds(c, n);
    }
}

static double excess(const struct clusters *c, node_id cluster)
{
    return c->seen[cluster] / c->expected[cluster];
}

static void prefer(const struct clusters *c, node_id group, node_id neighbour, node_id *best)
{
    node_id cluster = c->cluster[neighbour];
    if (c->cluster[group] == NO_NODE && cluster != NO_NODE &&
        (best[group] == NO_NODE || excess(c, cluster) > excess(c, best[group])))
        best[group] = cluster;
}

// Clusters grow by one step outwards. False: nobody joined.
static bool join_neighbours(struct clusters *c, node_id *best)
{
    size_t n = c->groups->graph->nodes.count;
    bool is_any = false;
    for (node_id i = 0; i < n; i++)
        best[i] = NO_NODE;
    for (size_t i = 0; i < c->edges.count; i++) {
        prefer(c, c->edges.items[i].from, c->edges.items[i].to, best);
        prefer(c, c->edges.items[i].to, c->edges.items[i].from, best);
    }
    for (node_id i = 0; i < n; i++)
        if (best[i] != NO_NODE) {
            c->cluster[i] = best[i];
            c->expected[best[i]] += alone_seconds(c, i);
            is_any = true;
        }
    return is_any;
}

void session_shares(const struct step_groups *groups, const double *alone, const double *seen, double *ret_seconds)
{
    size_t n = groups->graph->nodes.count;
    struct clusters c = {.groups = groups, .alone = alone};
    c.cluster = arena_array(groups->arena, node_id, n + 1);
    c.seen = arena_array(groups->arena, double, n + 1);
    c.expected = arena_array(groups->arena, double, n + 1);
    node_id *best = arena_array(groups->arena, node_id, n + 1);
    list_edges(&c);
    begin_clusters(&c, seen);
    while (join_neighbours(&c, best))
        ;
    for (node_id i = 0; i < n; i++)
        if (step_groups_is_first(groups, i))
            ret_seconds[i] = c.cluster[i] == NO_NODE ? 0 : alone_seconds(&c, i) * excess(&c, c.cluster[i]);
    vec_free(&c.edges);
}
