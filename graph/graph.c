// Nodes are appended when no equal one is found; commutative ones put their inputs in order first.
#include "graph/graph.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include <assert.h>
#include <string.h>

void graph_init(struct graph *g, struct arena *arena)
{
    *g = (struct graph){.arena = arena};
    definition_init(&g->definition, arena, 0, NULL);
}

void graph_free(struct graph *g)
{
    vecs_free(g, nodes, edges, tensors, outputs);
    table_free(&g->by_structure);
    definition_free(&g->definition);
}

void graph_reserve(struct graph *g, size_t n_nodes, size_t n_edges, size_t n_tensors)
{
    vec_reserve(&g->nodes, n_nodes);
    vec_reserve(&g->edges, n_edges);
    vec_reserve(&g->tensors, n_tensors);
    table_reserve(&g->by_structure, n_nodes);
}

#define COPY_VEC(to, from)                                                                                             \
    do {                                                                                                               \
        vec_reserve((to), (from)->count);                                                                              \
        if ((from)->count)                                                                                             \
            memcpy((to)->items, (from)->items, (from)->count * sizeof *(from)->items);                                 \
        (to)->count = (from)->count;                                                                                   \
    } while (0)

void graph_copy(struct graph *ret_copy, const struct graph *g)
{
    graph_copy_apart(ret_copy, g, g->arena);
}

void graph_copy_apart(struct graph *ret_copy, const struct graph *g, struct arena *arena)
{
    graph_init(ret_copy, arena);
    COPY_VEC(&ret_copy->nodes, &g->nodes);
    COPY_VEC(&ret_copy->edges, &g->edges);
    COPY_VEC(&ret_copy->tensors, &g->tensors);
    COPY_VEC(&ret_copy->outputs, &g->outputs);
    table_copy(&ret_copy->by_structure, &g->by_structure);
}

// --- hash-consing ----------------------------------------------------------------------------------------------------

static uint64_t structure_hash(const struct node *n, const tensor_id *inputs)
{
    return hash_bytes(inputs, n->n_inputs * sizeof *inputs, n->label);
}

struct candidate {
    const struct node *node;
    const tensor_id *inputs;
};

static bool is_same_application(const void *owner, uint32_t id, const void *key)
{
    const struct graph *g = owner;
    const struct candidate *c = key;
    const struct node *n = &g->nodes.items[id];
    if (n->op != c->node->op || n->label != c->node->label || n->n_inputs != c->node->n_inputs)
        return false;
    return !(n->n_inputs && memcmp(graph_inputs(g, id), c->inputs, n->n_inputs * sizeof *c->inputs) != 0) &&
           attributes_equal(n->op, n->attributes, c->node->attributes);
}

static node_id find_application(const struct graph *g, uint64_t hash, const struct node *n, const tensor_id *inputs)
{
    struct candidate c = {n, inputs};
    return table_find(&g->by_structure, hash, is_same_application, g, &c);
}

// The same for either order of the inputs of a commutative node: their order follows from what makes them, and a
// rewrite of that is not to change the key.
static uint64_t key_of_node(const struct graph *g, const struct node *n, const tensor_id *inputs)
{
    uint64_t h = n->label;
    if (n->op->flags & OPERATOR_IS_COMMUTATIVE && n->n_inputs == 2) {
        uint64_t x = g->tensors.items[inputs[0]].value, y = g->tensors.items[inputs[1]].value;
        return hash_mix(hash_mix(hash_mix(h, x < y ? x : y), x < y ? y : x), n->n_inputs);
    }
    for (uint32_t i = 0; i < n->n_inputs; i++)
        h = hash_mix(h, g->tensors.items[inputs[i]].value);
    return hash_mix(h, n->n_inputs);
}

static node_id append_node(struct graph *g, struct node n, const tensor_id *inputs, uint64_t hash,
                           const struct type *const *types)
{
    node_id id = (node_id)g->nodes.count;
    n.key = key_of_node(g, &n, inputs);
    n.first_input = (uint32_t)g->edges.count;
    n.first_output = (tensor_id)g->tensors.count;
    for (uint32_t i = 0; i < n.n_inputs; i++)
        vec_push(&g->edges, inputs[i]);
    for (uint32_t i = 0; i < n.n_outputs; i++)
        vec_push(&g->tensors, ((struct tensor){types[i], id, i, hash_mix(n.key, i)}));
    vec_push(&g->nodes, n);
    table_insert(&g->by_structure, hash, id);
    return id;
}

// --- the order of commutative inputs ---------------------------------------------------------------------------------

#define STEPS_COMPARED 3
#define MOST_INPUTS_COMPARED 8   // of a node: concatenations of concatenations may have millions

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int compare_types(const struct type *x, const struct type *y)
{
    int order = compare_numbers(x->dtype, y->dtype);
    if (order == 0)
        order = compare_numbers((uint64_t)x->rank, (uint64_t)y->rank);
    for (int i = 0; order == 0 && i < x->rank; i++)
        order = compare_numbers((uint64_t)x->dim[i], (uint64_t)y->dim[i]);
    return order;
}

// The order of operators and attributes; what only has a number (leaves, opaque nodes) goes by that, if it counts.
static int compare_operations(const struct node *x, const struct node *y, bool numbers_count)
{
    int order = compare_numbers((uint64_t)x->op->id, (uint64_t)y->op->id);
    if (order == 0 && x->op->define)
        return compare_numbers(x->label, y->label);
    if (order == 0 && numbers_count)
        return compare_numbers((uint64_t)x->attributes[0].ints[0], (uint64_t)y->attributes[0].ints[0]);
    return order;
}

// The order of what makes the two tensors, as many steps back as that, and of the first inputs of each step.
static int compare_makers(const struct graph *g, tensor_id a, tensor_id b, int steps, bool numbers_count)
{
    const struct tensor *x = &g->tensors.items[a], *y = &g->tensors.items[b];
    const struct node *makes_x = &g->nodes.items[x->producer], *makes_y = &g->nodes.items[y->producer];
    if (a == b)
        return 0;
    int order = compare_operations(makes_x, makes_y, numbers_count);
    if (order == 0)
        order = compare_numbers(x->output, y->output);
    if (order == 0)
        order = compare_types(x->type, y->type);
    if (order == 0)
        order = compare_numbers(makes_x->n_inputs, makes_y->n_inputs);
    for (uint32_t i = 0; order == 0 && steps > 0 && i < makes_x->n_inputs && i < MOST_INPUTS_COMPARED; i++)
        order = compare_makers(g, g->edges.items[makes_x->first_input + i], g->edges.items[makes_y->first_input + i],
                               steps - 1, numbers_count);
    return order;
}

// The inputs of a commutative application in canonical order. Equal layers of a model read different weights, so their
// value keys say nothing; what is near them does: it gives equal layers equal orders, and so equal plans and costs.
static void sort_commutative_inputs(const struct graph *g, const struct operator* op, tensor_id *inputs)
{
    if (!(op->flags & OPERATOR_IS_COMMUTATIVE))
        return;
    tensor_id first = inputs[0], second = inputs[1];
    int order = compare_makers(g, first, second, STEPS_COMPARED, false);
    if (order == 0)
        order = compare_makers(g, first, second, STEPS_COMPARED, true);
    if (order == 0)
        order = compare_numbers(g->tensors.items[first].value, g->tensors.items[second].value);
    if (order > 0 || (order == 0 && first > second)) {
        inputs[0] = second;
        inputs[1] = first;
    }
}

// --- adding ----------------------------------------------------------------------------------------------------------

static const struct type *input_types(struct graph *g, uint32_t n_inputs, const tensor_id *inputs)
{
    struct type *types = arena_array(g->arena, struct type, n_inputs ? n_inputs : 1);
    for (uint32_t i = 0; i < n_inputs; i++)
        types[i] = *graph_type(g, inputs[i]);
    return types;
}

static bool has_split_trees(const struct type *t)
{
    return ANY(int, i, t->rank, t->split[i] && t->split[i] != &SPLIT_ANY_TREE);
}

// The rest that defining left behind goes first, where nothing that stays refers to it: of a model's nodes it is most.
static const struct type **output_types(struct graph *g, struct arena_mark before_defining, bool is_referred_to)
{
    struct type own[MAX_OUTPUTS];
    int n = g->definition.n_outputs;
    for (int i = 0; i < n; i++) {
        own[i] = *definition_output(&g->definition, i);
        is_referred_to = is_referred_to || has_split_trees(&own[i]);
    }
    if (!is_referred_to)
        arena_release(g->arena, before_defining);
    const struct type **types = arena_array(g->arena, const struct type *, n ? n : 1);
    for (int i = 0; i < n; i++)
        types[i] = arena_copy_array(g->arena, &own[i], 1);
    return types;
}

static bool define_application(struct graph *g, const struct operator* op, const struct attribute_value *attributes,
                               uint32_t n_inputs, const tensor_id *inputs, struct attribute_value *ret_resolved)
{
    struct operator_call call = {op, (int)n_inputs, input_types(g, n_inputs, inputs), attributes};
    definition_clear(&g->definition, call.n_inputs, call.inputs);
    if (!operator_define(&g->definition, &call))
        return false;
    int n = operator_n_attributes(op);
    if (n)
        memcpy(ret_resolved, attributes, sizeof *attributes * (size_t)n);
    if (op->resolve)
        op->resolve(&g->definition, &call, ret_resolved);
    return true;
}

bool graph_add(struct graph *g, const struct operator* op, const struct attribute_value *attributes, uint32_t n_inputs,
               const tensor_id *inputs, node_id *ret_node)
{
    struct arena_mark mark = arena_mark(g->arena);
    struct attribute_value resolved[MAX_ATTRIBUTES];
    tensor_id *sorted = arena_array(g->arena, tensor_id, n_inputs + 2);
    if (n_inputs)
        memcpy(sorted, inputs, n_inputs * sizeof *inputs);
    if (n_inputs == 2)
        sort_commutative_inputs(g, op, sorted);

    struct node n = {.op = op, .attributes = attributes, .n_inputs = n_inputs, .origin = NO_ORIGIN};
    n.label = attributes_hash(op, attributes);
    *ret_node = find_application(g, structure_hash(&n, sorted), &n, sorted);
    if (*ret_node != TABLE_NONE) {
        arena_release(g->arena, mark);
        return true;
    }
    struct arena_mark before_defining = arena_mark(g->arena);
    if (!define_application(g, op, attributes, n_inputs, sorted, resolved)) {
        arena_release(g->arena, mark);
        return false;
    }
    const struct type **types = output_types(g, before_defining, op->resolve != NULL);
    n.attributes = attributes_copy(g->arena, op, resolved);
    n.label = op->resolve ? attributes_hash(op, n.attributes) : n.label;
    n.n_outputs = (uint32_t)g->definition.n_outputs;
    uint64_t hash = structure_hash(&n, sorted);
    *ret_node = op->resolve ? find_application(g, hash, &n, sorted) : TABLE_NONE;
    if (*ret_node == TABLE_NONE)
        *ret_node = append_node(g, n, sorted, hash, types);
    else
        arena_release(g->arena, mark);
    return true;
}

const char *graph_refusal(const struct graph *g)
{
    return g->definition.reason;
}

static node_id add_typed(struct graph *g, const struct operator* op, int64_t index, uint32_t n_inputs,
                         const tensor_id *inputs, uint32_t n_outputs, const struct type *types)
{
    struct attribute_value attribute = {1, &index};
    struct node n = {
        .op = op, .attributes = &attribute, .n_inputs = n_inputs, .n_outputs = n_outputs, .origin = NO_ORIGIN};
    n.label = attributes_hash(op, &attribute);
    uint64_t hash = structure_hash(&n, inputs);
    node_id found = find_application(g, hash, &n, inputs);
    if (found != TABLE_NONE)
        return found;
    n.attributes = attributes_copy(g->arena, op, &attribute);
    const struct type **kept = arena_array(g->arena, const struct type *, n_outputs ? n_outputs : 1);
    for (uint32_t i = 0; i < n_outputs; i++)
        kept[i] = arena_copy_array(g->arena, &types[i], 1);
    return append_node(g, n, inputs, hash, kept);
}

tensor_id graph_add_leaf(struct graph *g, const struct operator* op, int64_t index, const struct type *type)
{
    assert(op->flags & OPERATOR_IS_LEAF);
    return graph_output_of(g, add_typed(g, op, index, 0, NULL, 1, type), 0);
}

node_id graph_add_opaque(struct graph *g, int64_t index, uint32_t n_inputs, const tensor_id *inputs, uint32_t n_outputs,
                         const struct type *types)
{
    return add_typed(g, operators[OP_OPAQUE], index, n_inputs, inputs, n_outputs, types);
}

// Do the inputs have the types, split trees included, that the node's inputs have where it is copied from?
static bool reads_equal_types(const struct graph *g, const struct graph *from, node_id node, const tensor_id *inputs)
{
    for (uint32_t i = 0; i < from->nodes.items[node].n_inputs; i++) {
        const struct type *here = graph_type(g, inputs[i]), *there = graph_type(from, graph_inputs(from, node)[i]);
        if (here != there && !(type_equal(here, there) && type_equal_split(here, there)))
            return false;
    }
    return true;
}

// Copies keep their types; a node that now reads tensors with other split trees is defined anew.
static bool is_defined_anew(struct graph *g, const struct graph *from, node_id node, const tensor_id *inputs)
{
    const struct node *n = &from->nodes.items[node];
    struct attribute_value resolved[MAX_ATTRIBUTES];
    return n->op->define && !reads_equal_types(g, from, node, inputs) &&
           define_application(g, n->op, n->attributes, n->n_inputs, inputs, resolved);
}

static const struct type **types_elsewhere(struct graph *g, const struct graph *from, node_id node)
{
    uint32_t n = from->nodes.items[node].n_outputs;
    const struct type **types = arena_array(g->arena, const struct type *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        types[i] = graph_type(from, graph_output_of(from, node, i));
    return types;
}

node_id graph_add_copy(struct graph *g, const struct graph *from, node_id node, const tensor_id *inputs)
{
    const struct node *source = &from->nodes.items[node];
    const tensor_id *given = inputs;
    tensor_id swapped[2];
    if (source->n_inputs == 2) {
        memcpy(swapped, inputs, sizeof swapped);
        sort_commutative_inputs(g, source->op, swapped);
        inputs = swapped;
    }
    uint64_t hash = structure_hash(source, inputs);
    node_id found = find_application(g, hash, source, inputs);
    if (found != TABLE_NONE)
        return found;
    struct arena_mark mark = arena_mark(g->arena);
    bool is_anew = is_defined_anew(g, from, node, given);
    const struct type **types = is_anew ? output_types(g, mark, false) : types_elsewhere(g, from, node);
    node_id added = append_node(g, *source, inputs, hash, types);
    for (uint32_t i = 0; i < source->n_outputs; i++)
        g->tensors.items[graph_output_of(g, added, i)].value =
            from->tensors.items[graph_output_of(from, node, i)].value;
    if (!is_anew)
        arena_release(g->arena, mark);
    return added;
}

void graph_set_origin(struct graph *g, node_id node, uint32_t origin)
{
    if (g->nodes.items[node].origin == NO_ORIGIN)
        g->nodes.items[node].origin = origin;
}

void graph_add_output(struct graph *g, tensor_id tensor)
{
    vec_push(&g->outputs, tensor);
}

struct graph_mark graph_mark(const struct graph *g)
{
    return (struct graph_mark){g->nodes.count, g->edges.count, g->tensors.count};
}

void graph_rollback(struct graph *g, struct graph_mark mark)
{
    while (g->nodes.count > mark.nodes) {
        node_id last = (node_id)g->nodes.count - 1;
        table_remove(&g->by_structure, structure_hash(&g->nodes.items[last], graph_inputs(g, last)), last);
        g->nodes.count--;
    }
    g->edges.count = mark.edges;
    g->tensors.count = mark.tensors;
}
