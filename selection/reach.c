// A queue of graphs, each rewritten by every rule, equal ones once.
#include "selection/reach.h"

#include "core/memory/arena.h"
#include "graph/graph_whole.h"
#include "selection/example.h"
#include "substitutions/match_index.h"

struct origin {
    size_t from;
    const struct rule *rule;
};
struct reaching {
    const struct reach *r;
    struct arena arena, scratch;
    const struct graph *from;
    size_t from_number;
    VEC(struct graph) graphs;
    VEC(struct origin) origins;
    VEC(uint64_t) keys;
    bool (*visit)(void *context, const struct graph *g);
    void *context;
    bool is_found;
};

static bool is_known(const struct reaching *s, const struct graph *g, uint64_t key)
{
    return ANY(size_t, i, s->graphs.count, s->keys.items[i] == key && graph_equal(&s->graphs.items[i], g));
}

// Takes the graph.
static void add_graph(struct reaching *s, struct graph g, const struct rule *by)
{
    uint64_t key = graph_key(&g);
    if (is_known(s, &g, key)) {
        graph_free(&g);
        return;
    }
    vec_push(&s->graphs, g);
    vec_push(&s->keys, key);
    vec_push(&s->origins, ((struct origin){s->from_number, by}));
    s->is_found = s->visit(s->context, &vec_last(&s->graphs));
}

static bool goes_on(const struct reaching *s)
{
    return !s->is_found && s->graphs.count < (size_t)s->r->max_graphs;
}

static bool add_rewritten(void *context, const struct match *m)
{
    struct reaching *s = context;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    struct graph with_target, replaced, renewed;
    graph_copy(&with_target, s->from);
    if (match_apply(m, &with_target, &s->scratch, old, new) &&
        graph_replace(&replaced, &with_target, m->rule->n_outputs, old, new, NULL)) {
        if (graph_forget_history(&renewed, &replaced, &s->arena))
            add_graph(s, renewed, m->rule);
        graph_free(&replaced);
    }
    graph_free(&with_target);
    return goes_on(s);
}

static uint64_t operators_of_graph(const struct graph *g)
{
    return UNION_ALL(uint64_t, size_t, n, g->nodes.count, (uint64_t)1 << g->nodes.items[n].op->id % 64);
}

static uint64_t operators_of_source(const struct rule *r)
{
    return UNION_ALL(uint64_t, uint32_t, n, r->n_source_nodes, (uint64_t)1 << r->pattern.nodes.items[n].op->id % 64);
}

static void expand(struct reaching *s, size_t number)
{
    struct graph from FREED_BY(graph_free);
    struct match_index index FREED_BY(match_index_free);
    graph_copy(&from, &s->graphs.items[number]);
    s->from = &from;
    s->from_number = number;
    match_index_init(&index, &from);
    uint64_t available = operators_of_graph(&from);
    for (size_t i = 0; i < s->r->n_rules && goes_on(s); i++)
        if (!(operators_of_source(s->r->rules[i]) & ~available))
            rule_match(s->r->rules[i], &index, NO_NODE, &s->scratch, add_rewritten, s);
}

static void follow_back(const struct reaching *s, size_t number, struct reach_chain *ret_chain)
{
    ret_chain->n = 0;
    for (size_t at = number; at > 0; at = s->origins.items[at].from)
        ret_chain->n++;
    for (int i = ret_chain->n; i-- > 0; number = s->origins.items[number].from)
        ret_chain->rules[i] = s->origins.items[number].rule;
}

bool reach_visit(const struct reach *r, const struct graph *start, bool (*visit)(void *context, const struct graph *g),
                 void *context, struct reach_chain *ret_chain)
{
    struct reaching s = {.r = r, .visit = visit, .context = context};
    struct graph first;
    graph_copy_apart(&first, start, &s.arena);
    add_graph(&s, first, NULL);
    size_t next = 0;
    for (int step = 0; step < r->max_steps && goes_on(&s); step++)
        for (size_t end = s.graphs.count; next < end && goes_on(&s); next++)
            expand(&s, next);
    if (ret_chain)
        ret_chain->was_cut_short = !s.is_found && !goes_on(&s);
    if (ret_chain && s.is_found)
        follow_back(&s, s.graphs.count - 1, ret_chain);
    for (size_t i = 0; i < s.graphs.count; i++)
        graph_free(&s.graphs.items[i]);
    vecs_free(&s, graphs, keys, origins);
    arena_free(&s.arena);
    arena_free(&s.scratch);
    return s.is_found;
}
