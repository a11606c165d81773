// A node that contracts two operands is derived together with what moves the entries of these in front of it, the zeros
// of a transposed convolution, and with what cuts its result, the band of a product. Parts that are alike are derived
// once.
#include "optimizer/derive/derived_rules.h"

#include "core/memory/arena.h"
#include "core/system/interrupt.h"
#include "core/text/text.h"
#include "derivation/matching/table.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"
#include "optimizer/derive/part_rules.h"
#include "optimizer/limits.def"

enum { MOST_PART_NODES = 12, MOST_RULES_OF_PART = 6 };

struct walk {
    const struct graph *g;
    struct iterator_tables tables;   // made for the first part
    const bool *is_constant;         // by nodes
    struct graph_uses uses;
    bool of_onnx, where_entries_are_left_out;
    double least_flops;
    VEC(const char *) sources;   // that were met
    struct rule_set *rules;
};

// --- parts -----------------------------------------------------------------------------------------------------------

struct cutting {
    const struct walk *walk;
    node_id contraction;
    struct part part;
    int n_nodes;
    tensor_id leaves[MOST_LEAVES];   // of the model
    bool is_too_large;
};

static bool moves_entries(const struct node *n)
{
    return n->n_inputs == 1 && n->n_outputs == 1 && n->op->define &&
           (operator_moves_entries(n->op) || operator_slices(n->op) || operator_has_role(n->op, ROLE_PADS));
}

static tensor_id add_leaf(struct cutting *c, tensor_id t)
{
    const struct graph *g = c->walk->g;
    int i = FIRST_OF(int, n, c->part.n_leaves, c->leaves[n] == t);
    c->is_too_large = c->is_too_large || i == MOST_LEAVES;
    if (c->is_too_large)
        return 0;
    c->leaves[i] = t;
    if (i == c->part.n_leaves)
        return part_add_leaf(&c->part, graph_type(g, t), c->walk->is_constant[g->tensors.items[t].producer]);
    return graph_add_leaf(&c->part.graph, operators[OP_INPUT], i, graph_type(g, t));
}

static tensor_id add_node(struct cutting *c, node_id id);

static tensor_id add_operand(struct cutting *c, tensor_id t)
{
    const struct graph *g = c->walk->g;
    node_id maker = g->tensors.items[t].producer;
    bool is_leaf = c->walk->is_constant[maker] || !moves_entries(&g->nodes.items[maker]);
    return is_leaf && maker != c->contraction ? add_leaf(c, t) : add_node(c, maker);
}

static tensor_id add_node(struct cutting *c, node_id id)
{
    const struct graph *g = c->walk->g;
    const struct node *n = &g->nodes.items[id];
    tensor_id inputs[MOST_LEAVES] = {0};
    c->is_too_large = c->is_too_large || ++c->n_nodes > MOST_PART_NODES || n->n_inputs > MOST_LEAVES;
    for (uint32_t i = 0; i < n->n_inputs && !c->is_too_large; i++)
        inputs[i] = add_operand(c, graph_inputs(g, id)[i]);
    return c->is_too_large ? 0 : graph_output_of(&c->part.graph, graph_add_copy(&c->part.graph, g, id, inputs), 0);
}

// --- the model -------------------------------------------------------------------------------------------------------

static const char *text_of_part(const struct part *p, struct arena *a)
{
    struct rule *r = part_rule_start(p, a);
    const char *text = rule_statement(r, a);
    rule_free(r);
    return text;
}

static void derive_part(struct walk *w, const struct part *p, const struct operator* op)
{
    struct arena *a = w->rules->arena;
    const char *source = text_of_part(p, a);
    if (text_is_among(source, w->sources.count, w->sources.items))
        return;
    if (w->sources.count == 0)
        iterator_tables_compute(a, &w->tables);
    part_rules_add(w->rules, p, &w->tables, arena_printf(a, "derived-%s-%zu", op->name, w->sources.count),
                   MOST_RULES_OF_PART);
    vec_push(&w->sources, source);
}

// The only node that reads it, if that moves entries, or NO_NODE.
static node_id mover_behind(const struct walk *w, node_id id)
{
    tensor_id t = w->g->nodes.items[id].first_output;
    const uint32_t *first = w->uses.first;
    node_id reader = first[t + 1] == first[t] + 1 ? w->uses.nodes[first[t]] : NO_NODE;
    return reader != NO_NODE && moves_entries(&w->g->nodes.items[reader]) ? reader : NO_NODE;
}

static bool changes_size(const struct graph *g, node_id id)
{
    return type_elements(graph_type(g, g->nodes.items[id].first_output)) !=
           type_elements(graph_type(g, graph_inputs(g, id)[0]));
}

// The last of those behind the node that drops entries or adds some; the node itself where none does.
static node_id last_cut(const struct walk *w, node_id id)
{
    node_id last = id;
    for (node_id at = mover_behind(w, id); at != NO_NODE; at = mover_behind(w, at))
        last = changes_size(w->g, at) ? at : last;
    return last;
}

static bool is_contracted_elsewhere(const struct walk *w, tensor_id t, node_id id)
{
    for (uint32_t i = w->uses.first[t]; i < w->uses.first[t + 1]; i++)
        if (w->uses.nodes[i] != id && operator_has(w->g->nodes.items[w->uses.nodes[i]].op, TRAIT_CONTRACTS))
            return true;
    return false;
}

// Has it windows with dilation, or does it add entries to what it moves, or drop some?
static bool leaves_entries_out(const struct graph *g, node_id id)
{
    const struct node *n = &g->nodes.items[id];
    int dilation = operator_find_role(n->op, ROLE_DILATION);
    for (uint32_t i = 0; dilation >= 0 && i < n->attributes[dilation].count; i++)
        if (n->attributes[dilation].ints[i] > 1)
            return true;
    return moves_entries(n) && changes_size(g, id);
}

static bool part_leaves_entries_out(const struct part *p)
{
    return ANY(node_id, id, p->graph.nodes.count, leaves_entries_out(&p->graph, id));
}

static void derive_node(struct walk *w, node_id id)
{
    ARENA(arena);
    struct cutting c = {.walk = w, .contraction = id};
    part_init(&c.part, &arena);
    c.part.is_of_onnx = w->of_onnx;
    c.part.result = add_node(&c, last_cut(w, id));
    for (int i = 0; i < c.part.n_leaves; i++)
        c.part.is_shared = c.part.is_shared || is_contracted_elsewhere(w, c.leaves[i], id);
    if (!c.is_too_large && (!w->where_entries_are_left_out || part_leaves_entries_out(&c.part))) {
        graph_add_output(&c.part.graph, c.part.result);
        derive_part(w, &c.part, w->g->nodes.items[id].op);
    }
    part_free(&c.part);
}

static bool has_entries(const struct graph *g, node_id id)
{
    return type_elements(graph_type(g, g->nodes.items[id].first_output)) > 0 &&
           ALL(uint32_t, i, g->nodes.items[id].n_inputs, type_elements(graph_type(g, graph_inputs(g, id)[i])) > 0);
}

static bool is_contraction(const struct walk *w, node_id id)
{
    const struct graph *g = w->g;
    const struct node *n = &g->nodes.items[id];
    return n->n_inputs == OPERANDS && n->n_outputs == 1 && operator_has(n->op, TRAIT_CONTRACTS) &&
           graph_type(g, n->first_output)->dtype == DTYPE_F32 && !w->is_constant[id] && has_entries(g, id);
}

static double flops_of_contractions(const struct walk *w, const bool *live)
{
    double flops = 0;
    for (node_id id = 0; id < w->g->nodes.count; id++)
        flops += live[id] && is_contraction(w, id) ? graph_node_flops(w->g, id) : 0;
    return flops;
}

size_t derived_rules_add(struct rule_set *set, const struct graph *g, bool of_onnx, bool where_entries_are_left_out)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ARRAY(bool, is_constant, g->nodes.count + 1);
    struct walk w = {.g = g,
                     .of_onnx = of_onnx,
                     .where_entries_are_left_out = where_entries_are_left_out,
                     .is_constant = is_constant,
                     .rules = set};
    graph_mark_live(g, live);
    graph_mark_constant(g, is_constant);
    graph_uses_init(&w.uses, g, live);
    w.least_flops = LEAST_SHARE * flops_of_contractions(&w, live);
    for (node_id id = 0; id < g->nodes.count; id++)
        if (live[id] && !interrupt_requested() && is_contraction(&w, id) && graph_node_flops(g, id) >= w.least_flops)
            derive_node(&w, id);
    size_t n_parts = w.sources.count;
    iterator_tables_free(&w.tables);
    graph_uses_free(&w.uses);
    vec_free(&w.sources);
    return n_parts;
}
