// Values tell what is the same: what replaces a tensor has its value key, so nothing changes behind a rewrite. A region
// is what hangs together by tensors whose values the original does not have, and what lets a node of the original go
// only together: two products that no longer read a third one each cost as much as before while the other reads it.
#include "optimizer/search/rewritten_regions.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/union_find.h"
#include "graph/graph_whole.h"

// --- what is the same ------------------------------------------------------------------------------------------------

static tensor_id find_value(const struct table *by_value, uint64_t value)
{
    return table_find(by_value, value, NULL, NULL, NULL);
}

static void index_values(const struct graph *g, const bool *live, struct table *ret_by_value)
{
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        uint64_t value = g->tensors.items[t].value;
        if (live[g->tensors.items[t].producer] && find_value(ret_by_value, value) == TABLE_NONE)
            table_insert(ret_by_value, value, t);
    }
}

static void find_counterparts(struct rewritten_regions *r)
{
    struct table by_value FREED_BY(table_free) = {0};
    bool *live = arena_array(r->arena, bool, r->before->nodes.count + 1);
    graph_mark_live(r->before, live);
    index_values(r->before, live, &by_value);
    for (tensor_id t = 0; t < r->after->tensors.count; t++) {
        uint32_t found = find_value(&by_value, r->after->tensors.items[t].value);
        r->counterpart[t] = found == TABLE_NONE ? NO_TENSOR : found;
    }
}

static bool is_as_before(const struct rewritten_regions *r, node_id n)
{
    const struct node *node = &r->after->nodes.items[n];
    bool is_same = true;
    for (uint32_t i = 0; is_same && i < node->n_outputs; i++) {
        tensor_id former = r->counterpart[node->first_output + i];
        is_same = former != NO_TENSOR && graph_producer(r->before, former)->key == node->key;
    }
    return is_same;
}

// --- regions ---------------------------------------------------------------------------------------------------------

// Each by the least of its nodes.
static void join_by_new_values(const struct rewritten_regions *r, const bool *is_new, node_id *root)
{
    for (node_id n = 0; n < r->after->nodes.count; n++)
        for (uint32_t i = 0; is_new[n] && i < r->after->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(r->after, n)[i];
            node_id maker = r->after->tensors.items[t].producer;
            if (r->counterpart[t] == NO_TENSOR && is_new[maker])
                union_find_join(root, maker, n);
        }
}

// Nodes of the original stand behind those of the result. What is computed of weights alone costs nothing.
static void join_by_lost_values(const struct rewritten_regions *r, const bool *live, const bool *is_new, node_id *root)
{
    const struct graph *g = r->before;
    node_id former = (node_id)r->after->nodes.count;
    bool *is_live = arena_array(r->arena, bool, g->nodes.count + 1);
    bool *is_constant = arena_array(r->arena, bool, g->nodes.count + 1);
    bool *is_kept = arena_array(r->arena, bool, g->tensors.count + 1);
    graph_mark_live(g, is_live);
    graph_mark_constant(g, is_constant);
    for (tensor_id t = 0; t < r->after->tensors.count; t++) {
        node_id n = r->after->tensors.items[t].producer;
        tensor_id same = r->counterpart[t];
        if (same == NO_TENSOR || !live[n])
            continue;
        is_kept[same] = true;
        if (is_new[n])
            union_find_join(root, n, former + g->tensors.items[same].producer);
    }
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; is_live[n] && i < g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            node_id maker = g->tensors.items[t].producer;
            if (!is_kept[t] && !is_constant[maker])
                union_find_join(root, former + maker, former + n);
        }
}

static void number_regions(struct rewritten_regions *r, const bool *is_new, node_id *root)
{
    for (node_id n = 0; n < r->after->nodes.count; n++) {
        node_id first = is_new[n] ? union_find_root(root, n) : NO_NODE;
        r->of_node[n] = first == NO_NODE ? NO_REGION : first == n ? (uint32_t)r->count++ : r->of_node[first];
    }
}

static uint64_t work_hash(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    uint64_t h = node->label;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        h = hash_mix(h, type_hash(graph_type(g, graph_inputs(g, n)[i])));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        h = hash_mix(h, type_hash(graph_type(g, node->first_output + i)));
    return h;
}

// Whatever the order of its nodes.
static void name_kinds(struct rewritten_regions *r)
{
    r->kinds = arena_array(r->arena, uint64_t, r->count + 1);
    for (node_id n = 0; n < r->after->nodes.count; n++)
        if (r->of_node[n] != NO_REGION)
            r->kinds[r->of_node[n]] += work_hash(r->after, n);
}

void rewritten_regions_find(struct rewritten_regions *ret, const struct graph *before, const struct graph *after,
                            struct arena *arena)
{
    size_t n = after->nodes.count;
    *ret = (struct rewritten_regions){.before = before, .after = after, .arena = arena};
    bool *live = arena_array(arena, bool, n + 1), *is_new = arena_array(arena, bool, n + 1);
    node_id *root = arena_array(arena, node_id, n + before->nodes.count + 1);
    ret->of_node = arena_array(arena, uint32_t, n + 1);
    ret->counterpart = arena_array(arena, tensor_id, after->tensors.count + 1);
    find_counterparts(ret);
    graph_mark_live(after, live);
    union_find_init(root, (uint32_t)(n + before->nodes.count));
    for (node_id i = 0; i < n; i++)
        is_new[i] = live[i] && !is_as_before(ret, i);
    join_by_new_values(ret, is_new, root);
    join_by_lost_values(ret, live, is_new, root);
    number_regions(ret, is_new, root);
    name_kinds(ret);
}

// --- taking some -----------------------------------------------------------------------------------------------------

struct mixing {
    const struct rewritten_regions *r;
    struct graph with_both;
    tensor_id *moved;   // of every tensor of `after`
    VEC(tensor_id) old, new;
};

static void add_node(struct mixing *m, node_id n)
{
    const struct node *node = &m->r->after->nodes.items[n];
    LOCAL_ARRAY(tensor_id, inputs, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        tensor_id t = graph_inputs(m->r->after, n)[i];
        inputs[i] = m->moved[t] != NO_TENSOR ? m->moved[t] : m->r->counterpart[t];
    }
    node_id copy = graph_add_copy(&m->with_both, m->r->after, n, inputs);
    graph_set_origin(&m->with_both, copy, node->origin);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        tensor_id t = node->first_output + i, former = m->r->counterpart[t];
        m->moved[t] = graph_output_of(&m->with_both, copy, i);
        if (former != NO_TENSOR && former != m->moved[t]) {
            vec_push(&m->old, former);
            vec_push(&m->new, m->moved[t]);
        }
    }
}

bool rewritten_regions_take(const struct rewritten_regions *r, const bool *is_taken, struct graph *ret_graph)
{
    LOCAL_ARRAY(tensor_id, moved, r->after->tensors.count + 1);
    struct mixing m = {.r = r, .moved = moved};
    for (tensor_id t = 0; t < r->after->tensors.count; t++)
        m.moved[t] = NO_TENSOR;
    graph_copy(&m.with_both, r->before);
    for (node_id n = 0; n < r->after->nodes.count; n++)
        if (r->of_node[n] != NO_REGION && is_taken[r->of_node[n]])
            add_node(&m, n);
    bool is_made = graph_replace(ret_graph, &m.with_both, m.old.count, m.old.items, m.new.items, NULL);
    graph_free(&m.with_both);
    vecs_free(&m, old, new);
    return is_made;
}
