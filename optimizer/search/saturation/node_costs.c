// A node, or a node and the one in front of it, becomes a small graph over leaves, which the cost model prices. Words
// that describe that graph are the key under which its price is remembered.
#include "optimizer/search/saturation/node_costs.h"

#include "core/memory/hash.h"
#include "graph/graph.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include <math.h>

void node_costs_free(struct node_costs *n)
{
    memo_free(&n->memo);
    encoding_free(&n->words);
    arena_free(&n->arena);
}

static bool is_weight(const struct egraph *e, eclass_id c)
{
    return e->classes.items[c].is_weight;
}

static bool is_constant(const struct egraph *e, enode_id n)
{
    return ALL(uint32_t, i, e->nodes.items[n].n_children, is_weight(e, egraph_edges(e, n)[i].child));
}

static bool is_computed(const struct egraph *e, enode_id n)
{
    return e->nodes.items[n].op != PROJECTION && operators[e->nodes.items[n].op]->define && !is_constant(e, n);
}

// --- what stands in front --------------------------------------------------------------------------------------------

// The oldest application that makes the class; NO_ENODE: none that is computed.
static enode_id maker_of(const struct egraph *e, eclass_id c)
{
    enode_id oldest = NO_ENODE;
    for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n))
        if (is_computed(e, n) && !e->nodes.items[n].is_filtered && n < oldest)
            oldest = n;
    return oldest;
}

struct front {
    enode_id maker;   // NO_ENODE: none
    uint32_t place;   // of the child that it makes
};

static struct front front_of(const struct egraph *e, enode_id n)
{
    for (uint32_t i = 0; i < e->nodes.items[n].n_children; i++) {
        eclass_id child = egraph_edges(e, n)[i].child;
        if (!is_weight(e, child) && egraph_is_tensor(e, child))
            return (struct front){maker_of(e, child), i};
    }
    return (struct front){NO_ENODE, 0};
}

// --- small graphs ----------------------------------------------------------------------------------------------------

static void describe_node(struct node_costs *n, enode_id id)
{
    const struct enode *node = &n->e->nodes.items[id];
    encoding_add(&n->words, (int64_t)node->op);
    encoding_add(&n->words, node->attributes);
    for (uint32_t i = 0; i < node->n_children; i++) {
        eclass_id child = egraph_edges(n->e, id)[i].child;
        encoding_add(&n->words, (int64_t)n->e->nodes.items[child].type << 1 | is_weight(n->e, child));
    }
    for (uint32_t i = 1; i < node->n_children; i++)   // the same tensor twice is read once
        encoding_add(&n->words, egraph_edges(n->e, id)[i].child == egraph_edges(n->e, id)[0].child);
}

// `given`: the tensor that its child at `place` is; NO_TENSOR: a leaf like the others.
static bool add_node(struct node_costs *n, struct graph *g, enode_id id, uint32_t place, tensor_id given,
                     node_id *ret_node)
{
    const struct enode *node = &n->e->nodes.items[id];
    tensor_id *inputs = arena_array(&n->arena, tensor_id, node->n_children + 1);
    for (uint32_t i = 0; i < node->n_children; i++) {
        eclass_id child = egraph_edges(n->e, id)[i].child;
        const struct operator* leaf = operators[is_weight(n->e, child) ? OP_WEIGHT : OP_INPUT];
        bool is_repeated = i > 0 && child == egraph_edges(n->e, id)[0].child;
        inputs[i] = i == place && given != NO_TENSOR ? given
                    : is_repeated                    ? inputs[0]
                                  : graph_add_leaf(g, leaf, (int64_t)g->nodes.count, egraph_type(n->e, child));
    }
    return graph_add(g, egraph_operator(n->e, id), egraph_attributes(n->e, id), node->n_children, inputs, ret_node);
}

static void add_outputs(struct graph *g, node_id n)
{
    for (uint32_t i = 0; i < g->nodes.items[n].n_outputs; i++)
        graph_add_output(g, graph_output_of(g, n, i));
}

typedef double price_fn(const struct cost_model *cost, const struct graph *g, node_id made);

static double known_price(const struct cost_model *cost, const struct graph *g, node_id made)
{
    return (cost->known_seconds ? cost->known_seconds : cost->graph_seconds)(cost->context, g);
}

static double bytes_of(const struct graph *g, tensor_id t)
{
    const struct type *type = graph_type(g, t);
    return type_is_known(type) ? (double)type_elements(type) * (double)dtype_size(type->dtype) : 0;
}

static double roofline_price(const struct cost_model *cost, const struct graph *g, node_id made)
{
    const struct node *node = &g->nodes.items[made];
    double bytes = SUM_ALL(double, uint32_t, i, node->n_inputs, bytes_of(g, graph_inputs(g, made)[i]));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        bytes += bytes_of(g, graph_output_of(g, made, i));
    return LAUNCH + bytes / BYTES_PER_SECOND + graph_node_flops(g, made) / FLOPS_PER_SECOND;
}

static double price(struct node_costs *n, enode_id id, struct front front, price_fn *price_graph)
{
    ARENA_MARK(mark, &n->arena);
    struct graph g FREED_BY(graph_free);
    node_id maker = NO_NODE, made;
    double seconds = INFINITY;
    graph_init(&g, &n->arena);
    bool is_typed = front.maker == NO_ENODE || add_node(n, &g, front.maker, 0, NO_TENSOR, &maker);
    tensor_id given = maker == NO_NODE ? NO_TENSOR : graph_output_of(&g, maker, 0);
    if (is_typed && add_node(n, &g, id, front.place, given, &made)) {
        add_outputs(&g, made);
        seconds = price_graph(n->cost, &g, made);
    }
    return seconds;
}

static void describe(struct node_costs *n, enode_id id, struct front front)
{
    encoding_clear(&n->words);
    describe_node(n, id);
    if (front.maker == NO_ENODE)
        return;
    encoding_add(&n->words, front.place);
    describe_node(n, front.maker);
}

static double remembered_price(struct node_costs *n, enode_id id, struct front front)
{
    double seconds;
    describe(n, id, front);
    if (memo_find(&n->memo, encoding_key(&n->words), &seconds))
        return seconds;
    seconds = price(n, id, front, known_price);
    memo_set(&n->memo, encoding_key(&n->words), seconds);
    return seconds;
}

// --- what is not known -----------------------------------------------------------------------------------------------

static const struct front nothing = {NO_ENODE, 0};

static void add_known(struct known_seconds *k, double seconds, double roofline)
{
    k->seconds += seconds;
    k->roofline += roofline;
}

static void note_known(struct node_costs *n, enode_id id)
{
    double seconds = remembered_price(n, id, nothing);
    if (!(seconds > 0) || !isfinite(seconds))
        return;
    double roofline = price(n, id, nothing, roofline_price);
    add_known(&n->known[n->e->nodes.items[id].op], seconds, roofline);
    add_known(&n->known[ALL_OPERATORS], seconds, roofline);
}

static void note_all_known(struct node_costs *n)
{
    for (enode_id id = 0; n->cost->known_seconds && id < n->e->nodes.count; id++)
        if (!n->e->nodes.items[id].is_filtered && is_computed(n->e, id))
            note_known(n, id);
}

// A price is as much of what arithmetic and traffic say as known nodes of its operator take, or all nodes where none is
// known.
static double estimated_price(struct node_costs *n, enode_id id)
{
    const struct known_seconds *k = &n->known[n->e->nodes.items[id].op];
    if (k->roofline == 0)
        k = &n->known[ALL_OPERATORS];
    double share = k->roofline > 0 ? k->seconds / k->roofline : 1;
    return share * price(n, id, nothing, roofline_price);
}

uint64_t node_costs_unknown(struct node_costs *n, enode_id node)
{
    if (!n->cost->known_seconds || !is_computed(n->e, node) || !isnan(remembered_price(n, node, nothing)))
        return 0;
    describe(n, node, nothing);
    struct key_words key = encoding_key(&n->words);
    return hash_bytes(key.bytes, key.n_bytes, 1) | 1;
}

double node_costs_find(struct node_costs *n, enode_id node, enum node_pricing pricing)
{
    if (!is_computed(n->e, node))
        return is_constant(n->e, node) && n->e->nodes.items[node].n_children ? COST_OF_CONSTANTS : 0;
    double alone = remembered_price(n, node, nothing);
    if (isnan(alone))
        return estimated_price(n, node);
    struct front front = front_of(n->e, node);
    if (pricing == PRICED_ALONE || front.maker == NO_ENODE || front.maker == node)
        return alone;
    double both = remembered_price(n, node, front), before = remembered_price(n, front.maker, nothing);
    double more = both - before;
    return !(more < alone - ROUNDING * both) ? alone : more > 0 ? more : 0;
}

void node_costs_init(struct node_costs *n, const struct egraph *e, const struct cost_model *cost)
{
    *n = (struct node_costs){.e = e, .cost = cost};
    memo_init(&n->memo, MOST_NODE_COST_WORDS);
    note_all_known(n);
}
