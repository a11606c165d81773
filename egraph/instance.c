// An instance is judged on a graph of leaves for the variables and the nodes of the source, which is thrown away; what
// stays is its key, its verdict, and its target in the numbers of the e-graph.
#include "egraph/instance.h"

#include "core/memory/hash.h"
#include "egraph/intern.h"
#include <string.h>

void instances_init(struct instances *x, struct egraph *e, const struct rule_set *rules)
{
    *x = (struct instances){.e = e, .rules = rules};
    vec_push(&x->first_key, 0);
}

void instances_free(struct instances *x)
{
    table_free(&x->by_key);
    vecs_free(x, items, keys, first_key, asked);
    arena_free(&x->arena);
    arena_free(&x->scratch);
    arena_free(&x->graphs);
}

// --- keys ------------------------------------------------------------------------------------------------------------

static enum weight_kind kind_of_weight(const struct egraph *e, eclass_id c)
{
    const struct eclass *class = &e->classes.items[egraph_find(e, c)];
    return class->is_given ? WEIGHT_GIVEN : class->is_weight ? WEIGHT_COMPUTED : NO_WEIGHT;
}

static void describe(struct instances *x, uint32_t rule, const eclass_id *variables, const enode_id *nodes)
{
    const struct rule *r = x->rules->rules.items[rule];
    vec_clear(&x->asked);
    vec_push(&x->asked, rule);
    for (uint32_t v = 0; v < r->pattern.n_variables; v++) {
        vec_push(&x->asked, x->e->nodes.items[variables[v]].type);
        vec_push(&x->asked, (uint32_t)kind_of_weight(x->e, variables[v]));
    }
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        vec_push(&x->asked, x->e->nodes.items[nodes[n]].attributes);
}

static bool is_same_key(const void *owner, uint32_t id, const void *key)
{
    const struct instances *x = owner;
    uint32_t first = x->first_key.items[id], count = x->first_key.items[id + 1] - first;
    return count == x->asked.count && memcmp(x->keys.items + first, x->asked.items, count * sizeof *x->keys.items) == 0;
}

// --- the source graph alone ------------------------------------------------------------------------------------------

static tensor_id tensor_of(const struct graph *g, const struct rule *r, const tensor_id *variables,
                           const node_id *nodes, term_id term)
{
    const struct term *t = &r->pattern.terms.items[term];
    return t->is_variable ? variables[t->index] : graph_output_of(g, nodes[t->index], t->output);
}

// False: what was matched is ill-typed on its own, or has fewer outputs than the rule reads.
static bool make_source(struct instances *x, struct graph *g, const struct rule *r, const eclass_id *variables,
                        const enode_id *nodes, tensor_id *ret_variables, node_id *ret_nodes)
{
    const struct egraph *e = x->e;
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        ret_variables[v] = graph_add_leaf(g, operators[OP_INPUT], v, egraph_type(e, variables[v]));
    for (uint32_t n = 0; n < r->n_source_nodes; n++) {
        const struct pattern_node *pattern = &r->pattern.nodes.items[n];
        tensor_id inputs[MAX_RULE_VARIABLES];
        for (uint32_t i = 0; i < pattern->n_inputs; i++)
            inputs[i] = tensor_of(g, r, ret_variables, ret_nodes, pattern->inputs[i]);
        if (!graph_add(g, pattern->op, egraph_attributes(e, nodes[n]), pattern->n_inputs, inputs, &ret_nodes[n]) ||
            g->nodes.items[ret_nodes[n]].n_outputs != e->interned.types.items[e->nodes.items[nodes[n]].type].count)
            return false;
    }
    return true;
}

static const struct instance_node *describe_targets(struct instances *x, const struct graph *g, const struct rule *r,
                                                    const node_id *nodes)
{
    size_t first = r->n_source_nodes, count = r->pattern.nodes.count - first;
    struct instance_node *targets = arena_array(&x->arena, struct instance_node, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct node *n = &g->nodes.items[nodes[first + i]];
        targets[i] = (struct instance_node){n->op, egraph_intern_attributes(x->e, n->op, n->attributes),
                                            egraph_intern_outputs(x->e, g, n)};
    }
    return targets;
}

static bool match_source(struct instances *x, struct graph *g, uint32_t rule, const eclass_id *variables,
                         const enode_id *nodes, struct match *ret_match)
{
    const struct rule *r = x->rules->rules.items[rule];
    tensor_id tensors[MAX_RULE_VARIABLES];
    node_id of_source[MAX_RULE_NODES];
    enum weight_kind weights[MAX_RULE_VARIABLES] = {NO_WEIGHT};
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        weights[v] = kind_of_weight(x->e, variables[v]);
    return make_source(x, g, r, variables, nodes, tensors, of_source) &&
           rule_match_at(r, g, tensors, of_source, weights, &x->scratch, ret_match);
}

static struct rule_instance judge_in(struct instances *x, struct graph *g, uint32_t rule, const eclass_id *variables,
                                     const enode_id *nodes)
{
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    node_id of_pattern[MAX_RULE_NODES];
    struct match m;
    if (!match_source(x, g, rule, variables, nodes, &m))
        return (struct rule_instance){INSTANCE_NO_MATCH, NULL};
    if (!match_apply_nodes(&m, g, &x->scratch, old, new, of_pattern))
        return (struct rule_instance){INSTANCE_ILL_TYPED, NULL};
    return (struct rule_instance){INSTANCE_APPLIES, describe_targets(x, g, m.rule, of_pattern)};
}

static struct rule_instance judge(struct instances *x, uint32_t rule, const eclass_id *variables, const enode_id *nodes)
{
    struct arena_mark mark = arena_mark(&x->graphs), scratch = arena_mark(&x->scratch);
    struct graph g FREED_BY(graph_free);
    graph_init(&g, &x->graphs);
    struct rule_instance result = judge_in(x, &g, rule, variables, nodes);
    arena_release(&x->scratch, scratch);
    arena_release(&x->graphs, mark);
    return result;
}

const struct rule_instance *instances_find(struct instances *x, uint32_t rule, const eclass_id *variables,
                                           const enode_id *nodes)
{
    describe(x, rule, variables, nodes);
    uint64_t hash = hash_bytes(x->asked.items, x->asked.count * sizeof *x->asked.items, 0);
    uint32_t found = table_find(&x->by_key, hash, is_same_key, x, NULL);
    if (found != TABLE_NONE)
        return &x->items.items[found];
    struct rule_instance made = judge(x, rule, variables, nodes);
    for (size_t i = 0; i < x->asked.count; i++)
        vec_push(&x->keys, x->asked.items[i]);
    vec_push(&x->first_key, (uint32_t)x->keys.count);
    table_insert(&x->by_key, hash, (uint32_t)x->items.count);
    vec_push(&x->items, made);
    return &vec_last(&x->items);
}

bool instances_validate(struct instances *x, uint32_t rule, const eclass_id *variables, const enode_id *nodes,
                        instance_validation *is_right, void *context)
{
    struct arena_mark mark = arena_mark(&x->graphs), scratch = arena_mark(&x->scratch);
    struct graph g FREED_BY(graph_free);
    struct match m;
    graph_init(&g, &x->graphs);
    bool result = match_source(x, &g, rule, variables, nodes, &m) && is_right(context, &m, &g);
    arena_release(&x->scratch, scratch);
    arena_release(&x->graphs, mark);
    return result;
}
