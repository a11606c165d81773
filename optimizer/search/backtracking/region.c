// A region is taken out in a canonical order, compared with known ones, and what became of it grafted back.
#include "optimizer/search/backtracking/region.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include "optimizer/search/backtracking/canonical_order.h"
#include "optimizer/search/repeated_weight.h"
#include <assert.h>
#include <string.h>

void site_free(struct site *s)
{
    vecs_free(s, tensors, members);
}

// --- members ---------------------------------------------------------------------------------------------------------

struct pair {
    tensor_id from, to;
};
struct extraction {
    const struct match_index *index;
    const struct graph *g;
    size_t max_nodes;
    struct site *site;
    struct graph *region;
    struct table member_ids, tensor_ids;
    VEC(struct pair) pairs;   // tensors of g and where they are in the region
};

static bool is_member(const struct extraction *x, node_id n)
{
    return table_find(&x->member_ids, n, NULL, NULL, NULL) != TABLE_NONE;
}

static void add_member(struct extraction *x, node_id n)
{
    if (x->site->members.count >= x->max_nodes || (x->g->nodes.items[n].op->flags & OPERATOR_IS_LEAF) ||
        is_member(x, n))
        return;
    table_insert(&x->member_ids, n, n);
    vec_push(&x->site->members, n);
}

// Readers of a tensor, unless it has many.
static void add_readers(struct extraction *x, tensor_id t)
{
    const uint32_t *first = &x->index->uses.first[t];
    for (uint32_t j = first[0]; first[1] - first[0] <= MOST_REGION_READERS && j < first[1]; j++)
        add_member(x, x->index->uses.nodes[j]);
}

static void add_neighbours(struct extraction *x, node_id n)
{
    const struct node *node = &x->g->nodes.items[n];
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        tensor_id t = graph_inputs(x->g, n)[i];
        add_member(x, x->g->tensors.items[t].producer);
        add_readers(x, t);
    }
    for (tensor_id t = node->first_output; t < node->first_output + node->n_outputs; t++)
        add_readers(x, t);
}

static void drop_members_from(struct extraction *x, size_t first)
{
    while (x->site->members.count > first) {
        node_id last = vec_pop(&x->site->members);
        table_remove(&x->member_ids, last, last);
    }
}

// Whole rings of neighbours, so that equal surroundings give equal regions; of the first ring as many as there is room.
static void collect_members(struct extraction *x, const struct match *m)
{
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        add_member(x, m->nodes[i]);
    size_t first = 0, end = x->site->members.count, n_own = end;
    while (first < end && x->site->members.count < x->max_nodes) {
        for (; first < end; first++)
            add_neighbours(x, x->site->members.items[first]);
        if (x->site->members.count == x->max_nodes && end > n_own)
            drop_members_from(x, end);
        end = x->site->members.count;
    }
    struct ordering o FREED_BY(ordering_free) = {0};
    order_nodes(&o, x->index, NULL, x->site->members.items, x->site->members.count);
}

// --- the graph -------------------------------------------------------------------------------------------------------

static tensor_id find_moved(const struct extraction *x, tensor_id t)
{
    uint32_t found = table_find(&x->tensor_ids, t, NULL, NULL, NULL);
    return found == TABLE_NONE ? NO_TENSOR : x->pairs.items[found].to;
}

// Tensors of the region are made in the order in which they are noted, so `to` counts up.
static void note_moved(struct extraction *x, tensor_id from, tensor_id to)
{
    assert(to == x->site->tensors.count);
    vec_push(&x->site->tensors, from);
    table_insert(&x->tensor_ids, from, (uint32_t)x->pairs.count);
    vec_push(&x->pairs, ((struct pair){from, to}));
}

static tensor_id import_tensor(void *context, tensor_id t)
{
    struct extraction *x = context;
    tensor_id moved = find_moved(x, t);
    if (moved != NO_TENSOR)
        return moved;
    node_id producer = x->g->tensors.items[t].producer;
    bool is_weight = x->index->is_weight[producer], is_computed = is_weight && !x->index->is_given[producer];
    int64_t number = (int64_t)x->region->nodes.count + (is_computed ? FIRST_COMPUTED_WEIGHT : 0);
    number = repeated_weight_index(number, is_weight ? tensor_repeated_axes(x->g, t) : 0);
    moved = graph_add_leaf(x->region, operators[is_weight ? OP_WEIGHT : OP_INPUT], number, graph_type(x->g, t));
    note_moved(x, t, moved);
    return moved;
}

// Leaves are numbered as they are met, so two that are met at once must be told apart by what they are.
static bool has_swapped_leaves(const struct extraction *x, node_id n)
{
    const tensor_id *inputs = graph_inputs(x->g, n);
    return (x->g->nodes.items[n].op->flags & OPERATOR_IS_COMMUTATIVE) && find_moved(x, inputs[0]) == NO_TENSOR &&
           find_moved(x, inputs[1]) == NO_TENSOR && order_is_swapped(x->index, inputs[0], inputs[1]);
}

// A copy without history: its outputs are known by their structure in the region.
static void note_output(void *context, tensor_id t, tensor_id there)
{
    struct extraction *x = context;
    struct tensor *copy = &x->region->tensors.items[there];
    copy->value = hash_mix(x->region->nodes.items[copy->producer].key, copy->output);
    note_moved(x, t, there);
}

static bool is_read_outside(const struct extraction *x, tensor_id t)
{
    const struct graph_uses *uses = &x->index->uses;
    for (uint32_t i = uses->first[t]; i < uses->first[t + 1]; i++)
        if (!is_member(x, uses->nodes[i]))
            return true;
    return x->index->is_output[t];
}

static void add_outputs(struct extraction *x)
{
    for (size_t i = 0; i < x->site->members.count; i++) {
        const struct node *n = &x->g->nodes.items[x->site->members.items[i]];
        for (tensor_id t = n->first_output; t < n->first_output + n->n_outputs; t++)
            if (is_read_outside(x, t))
                graph_add_output(x->region, find_moved(x, t));
    }
}

static void move_match(const struct extraction *x, const struct match *m, struct match *ret_match)
{
    *ret_match = *m;
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++) {
        tensor_id moved = find_moved(x, x->g->nodes.items[m->nodes[i]].first_output);
        ret_match->nodes[i] = x->region->tensors.items[moved].producer;
    }
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        if (m->variables[v] != NO_TENSOR)
            ret_match->variables[v] = find_moved(x, m->variables[v]);
}

void region_extract(const struct match_index *index, const struct match *m, size_t max_nodes, struct arena *arena,
                    struct graph *ret_region, struct site *ret_site, struct match *ret_match)
{
    struct extraction x = {
        .index = index, .g = index->graph, .max_nodes = max_nodes, .site = ret_site, .region = ret_region};
    const struct graph_extraction nodes = {
        .from = index->graph, .to = ret_region, .context = &x, .find = import_tensor, .note = note_output};
    *ret_site = (struct site){0};
    graph_init(ret_region, arena);
    collect_members(&x, m);
    for (size_t i = 0; i < ret_site->members.count; i++)
        graph_extract_node(&nodes, ret_site->members.items[i], has_swapped_leaves(&x, ret_site->members.items[i]));
    add_outputs(&x);
    move_match(&x, m, ret_match);
    table_free(&x.member_ids);
    table_free(&x.tensor_ids);
    vec_free(&x.pairs);
}

// --- equal regions ---------------------------------------------------------------------------------------------------

static void renumber_tensors(const struct graph *known, const struct graph *region, const node_id *partners,
                             struct site *s)
{
    LOCAL_ARRAY(tensor_id, there, s->tensors.count + 1);
    memcpy(there, s->tensors.items, s->tensors.count * sizeof *there);
    for (node_id n = 0; n < known->nodes.count; n++)
        for (uint32_t i = 0; i < known->nodes.items[n].n_outputs; i++)
            s->tensors.items[graph_output_of(known, n, i)] = there[graph_output_of(region, partners[n], i)];
}

static void renumber_match(const struct graph *known, const struct graph *region, const node_id *partners,
                           struct match *m)
{
    struct match moved = *m;
    for (node_id n = 0; n < known->nodes.count; n++) {
        for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
            if (m->nodes[i] == partners[n])
                moved.nodes[i] = n;
        for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
            if (m->variables[v] != NO_TENSOR && region->tensors.items[m->variables[v]].producer == partners[n])
                moved.variables[v] = graph_output_of(known, n, region->tensors.items[m->variables[v]].output);
    }
    *m = moved;
}

// Is the pairing one to one?
static bool is_permutation(const node_id *partners, size_t n)
{
    LOCAL_ZEROS(bool, is_taken, n + 1);
    bool is_one = true;
    for (size_t i = 0; is_one && i < n; i++) {
        is_one = partners[i] != NO_NODE && !is_taken[partners[i]];
        is_taken[is_one ? partners[i] : n] = true;
    }
    return is_one;
}

bool region_renumber(const struct graph *known, const struct graph *region, struct site *s, struct match *m)
{
    size_t n = known->nodes.count;
    if (n != region->nodes.count || known->tensors.count != region->tensors.count)
        return false;
    LOCAL_ARRAY(node_id, partners, n + 1);
    bool is_equal = graph_pair(known, region, partners) && is_permutation(partners, n);
    if (is_equal) {
        renumber_tensors(known, region, partners, s);
        renumber_match(known, region, partners, m);
    }
    return is_equal;
}

static bool reads_at_site(const struct graph *region, const struct site *s, const struct graph *g, node_id n,
                          node_id there, bool is_swapped)
{
    const tensor_id *inputs = graph_inputs(region, n), *found = graph_inputs(g, there);
    return ALL(uint32_t, i, region->nodes.items[n].n_inputs,
               s->tensors.items[inputs[i]] == found[is_swapped ? 1 - i : i]);
}

static bool is_node_at(const struct graph *region, const struct site *s, const struct graph *g, node_id n)
{
    const struct node *node = &region->nodes.items[n];
    if (node->n_outputs == 0)
        return true;
    bool is_leaf = node->op->flags & OPERATOR_IS_LEAF;
    node_id there = g->tensors.items[s->tensors.items[node->first_output]].producer;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        tensor_id t = s->tensors.items[node->first_output + i];
        bool is_it = is_leaf || (g->tensors.items[t].producer == there && g->tensors.items[t].output == i);
        if (!is_it || !type_equal(graph_type(g, t), graph_type(region, node->first_output + i)))
            return false;
    }
    return is_leaf || (node_is_same_operation(node, &g->nodes.items[there]) &&
                       (reads_at_site(region, s, g, n, there, false) ||
                        ((node->op->flags & OPERATOR_IS_COMMUTATIVE) && reads_at_site(region, s, g, n, there, true))));
}

bool region_is_at(const struct graph *region, const struct site *s, const struct graph *g)
{
    return s->tensors.count == region->tensors.count &&
           ALL(node_id, n, region->nodes.count, is_node_at(region, s, g, n));
}

// --- what is new -----------------------------------------------------------------------------------------------------

static bool reads_what_stands_for(const struct rewritten *r, node_id n, node_id of_region, bool is_swapped)
{
    uint32_t n_inputs = r->graph->nodes.items[n].n_inputs;
    const tensor_id *inputs = graph_inputs(r->graph, n), *wanted = graph_inputs(r->region, of_region);
    return ALL(uint32_t, i, n_inputs, r->stands_for[inputs[i]] == wanted[is_swapped ? 1 - i : i]);
}

node_id rewritten_node_of_region(const struct rewritten *r, node_id n)
{
    const struct node *node = &r->graph->nodes.items[n];
    tensor_id first = node->n_outputs ? r->stands_for[node->first_output] : NO_TENSOR;
    if (first == NO_TENSOR || r->region->tensors.items[first].output != 0)
        return NO_NODE;
    node_id same = r->region->tensors.items[first].producer;
    if (!node_is_same_operation(node, &r->region->nodes.items[same]))
        return NO_NODE;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (r->stands_for[node->first_output + i] != first + i)
            return NO_NODE;
    bool is_read = reads_what_stands_for(r, n, same, false) ||
                   ((node->op->flags & OPERATOR_IS_COMMUTATIVE) && reads_what_stands_for(r, n, same, true));
    return is_read ? same : NO_NODE;
}

size_t region_list_replaced(const struct rewritten *r, const struct site *s, const struct graph *g, node_id *ret_nodes)
{
    LOCAL_ZEROS(bool, is_kept, r->region->nodes.count + 1);
    size_t count = 0;
    for (node_id n = 0; n < r->graph->nodes.count; n++) {
        node_id same = rewritten_node_of_region(r, n);
        if (same != NO_NODE)
            is_kept[same] = true;
    }
    for (node_id n = 0; n < r->region->nodes.count; n++) {
        const struct node *node = &r->region->nodes.items[n];
        if (!is_kept[n] && node->n_outputs > 0 && !(node->op->flags & OPERATOR_IS_LEAF))
            ret_nodes[count++] = g->tensors.items[s->tensors.items[node->first_output]].producer;
    }
    return count;
}

bool region_claim(const struct rewritten *r, const struct site *s, const struct graph *g, bool *claimed)
{
    LOCAL_ARRAY(node_id, nodes, r->region->nodes.count + 1);
    size_t count = region_list_replaced(r, s, g, nodes);
    bool is_free = ALL(size_t, i, count, !claimed[nodes[i]]);
    for (size_t i = 0; is_free && i < count; i++)
        claimed[nodes[i]] = true;
    return is_free;
}

// --- grafting --------------------------------------------------------------------------------------------------------

struct graft {
    const struct rewritten *r;
    const struct site *site;
    struct graph *g;
    tensor_id *moved;   // of every tensor of the rewritten graph: where it is in g
    size_t count;
    tensor_id *old, *new;
};

static void note_replacement(struct graft *x, tensor_id old, tensor_id new)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->old[i] == old)
            return;
    if (old == new)
        return;
    x->old[x->count] = old;
    x->new[x->count++] = new;
}

static node_id graft_opaque(struct graft *x, node_id n, const tensor_id *inputs)
{
    const struct graph *from = x->r->graph;
    const struct node *node = &from->nodes.items[n];
    struct type *types = arena_array(x->g->arena, struct type, node->n_outputs + 1);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        types[i] = *graph_type(from, node->first_output + i);
    return graph_add_opaque(x->g, node->attributes[0].ints[0], node->n_inputs, inputs, node->n_outputs, types);
}

static bool graft_new_node(struct graft *x, node_id n)
{
    const struct graph *from = x->r->graph;
    const struct node *node = &from->nodes.items[n];
    bool is_opaque = node->op->flags & OPERATOR_IS_OPAQUE, is_typed = true;
    node_id added;
    LOCAL_ARRAY(tensor_id, inputs, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = x->moved[graph_inputs(from, n)[i]];
    if (is_opaque)
        added = graft_opaque(x, n, inputs);
    else
        is_typed = graph_add(x->g, node->op, node->attributes, node->n_inputs, inputs, &added);
    for (uint32_t i = 0; is_typed && i < node->n_outputs; i++) {
        tensor_id t = node->first_output + i;
        x->moved[t] = graph_output_of(x->g, added, i);
        if (x->r->stands_for[t] != NO_TENSOR)
            note_replacement(x, x->site->tensors.items[x->r->stands_for[t]], x->moved[t]);
    }
    return is_typed;
}

static bool graft_node(struct graft *x, node_id n)
{
    const struct node *node = &x->r->graph->nodes.items[n];
    node_id same = rewritten_node_of_region(x->r, n);
    if (same == NO_NODE)
        return graft_new_node(x, n);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        x->moved[node->first_output + i] = x->site->tensors.items[graph_output_of(x->r->region, same, i)];
    return true;
}

bool region_graft(const struct rewritten *r, const struct site *s, struct graph *g, size_t *ret_count,
                  tensor_id *ret_old, tensor_id *ret_new)
{
    struct graph_mark before = graph_mark(g);
    struct graft x = {r, s, g, mem_new_array(tensor_id, r->graph->tensors.count + 1), 0, ret_old, ret_new};
    bool is_typed = region_is_at(r->region, s, g) && ALL(node_id, n, r->graph->nodes.count, graft_node(&x, n));
    for (size_t i = 0; is_typed && i < r->graph->outputs.count; i++)
        note_replacement(&x, s->tensors.items[r->region->outputs.items[i]], x.moved[r->graph->outputs.items[i]]);
    mem_free_array(x.moved, r->graph->tensors.count + 1);
    if (!is_typed)
        graph_rollback(g, before);
    *ret_count = x.count;
    return is_typed;
}
