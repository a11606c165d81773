// The value of a class is that of a weight, or else that of its oldest e-node, which reads classes with older ones
// (egraph/cycles.h), so that this ends although the e-graph may have cycles. It is computed once.
#include "compare/constants.h"

#include "compare/concatenations.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "graph/evaluate.h"
#include "operators/traits.h"
#include <math.h>
#include <string.h>

// Budgets of what the models compute, once; and of what rules made in one e-graph: all weights may be moved so often.
#define MOST_OF_MODELS 1e10
#define LEAST_FOR_RULES 2.5e8
#define MOVES_OF_WEIGHTS 3
#define MOST_OF_ONE 1e9     // of these: some seconds
#define MOVING_AN_ENTRY 8   // as so many operations

void constants_init(struct constants *k, struct common_graph *c)
{
    size_t n = c->graph.tensors.count;
    double entries = 0;
    *k = (struct constants){.c = c};
    for (size_t i = 0; i < c->weights.count; i++)
        if (c->weights.items[i].value.data)
            entries += (double)type_elements(&c->weights.items[i].value.type);
    k->most_of_rules = fmax(LEAST_FOR_RULES, MOVES_OF_WEIGHTS * MOVING_AN_ENTRY * entries);
    k->of_tensors = memset(arena_array(&k->arena, struct constant, n + 1), 0, (n + 1) * sizeof(struct constant));
}

void constants_free(struct constants *k)
{
    arena_free(&k->arena);
}

// --- equality --------------------------------------------------------------------------------------------------------

#define MOST_ROUNDINGS 8              // of an entry, and as many of the largest one
#define MOST_ROUNDINGS_OF_16_BITS 2   // which are large

static double rounding_of(enum dtype dtype)
{
    return dtype == DTYPE_F64 ? 0x1p-53 : dtype == DTYPE_F32 ? 0x1p-24 : dtype == DTYPE_F16 ? 0x1p-11 : 0x1p-8;
}

enum { PIECE = 256 };

static size_t piece_at(const struct tensor_value *v, int64_t at, double *ret_entries)
{
    int64_t left = type_elements(&v->type) - at;
    size_t count = (size_t)(left < PIECE ? left : PIECE);
    const char *entries = (const char *)v->data + (size_t)at * dtype_size(v->type.dtype);
    elements_to_reals(v->type.dtype, entries, count, ret_entries);
    return count;
}

static double largest_entry(struct constant *c)
{
    double entries[PIECE], largest = 0;
    for (int64_t at = 0; !c->is_measured && at < type_elements(&c->value.type); at += PIECE) {
        size_t count = piece_at(&c->value, at, entries);
        largest = LARGEST(double, largest, size_t, i, count, fabs(entries[i]));
    }
    c->largest = c->is_measured ? c->largest : largest;
    c->is_measured = true;
    return c->largest;
}

// A value that is not finite is equal to nothing.
static bool is_near(struct constant *a, struct constant *b, double *ret_difference)
{
    double x[PIECE], y[PIECE], worst = 0, of_a = largest_entry(a), of_b = largest_entry(b), largest = fmax(of_a, of_b);
    enum dtype dtype = a->value.type.dtype;
    double rounding = (dtype_size(dtype) < 4 ? MOST_ROUNDINGS_OF_16_BITS : MOST_ROUNDINGS) * rounding_of(dtype);
    if (!(fabs(of_a - of_b) <= 2 * rounding * largest))
        return false;
    for (int64_t at = 0; at < type_elements(&a->value.type); at += PIECE) {
        size_t count = piece_at(&a->value, at, x);
        piece_at(&b->value, at, y);
        for (size_t i = 0; i < count; i++) {
            double difference = fabs(x[i] - y[i]);
            if (!(difference <= rounding * (fabs(x[i]) + largest)))
                return false;
            worst = difference > worst ? difference : worst;
        }
    }
    *ret_difference = worst > 0 ? worst / largest : 0;
    return true;
}

static bool is_equal(struct constants *k, struct constant *a, struct constant *b)
{
    const struct type *type = &a->value.type;
    double difference = 0;
    if (!type_equal(type, &b->value.type))
        return false;
    if (memcmp(a->value.data, b->value.data, type_bytes(type)) == 0)
        return true;
    if (!dtype_is_float(type->dtype) || !(a->is_rounded || b->is_rounded) || !is_near(a, b, &difference))
        return false;
    k->n_rounded += difference > 0;
    k->largest_rounding = fmax(k->largest_rounding, difference);
    return true;
}

// --- values ----------------------------------------------------------------------------------------------------------

static void note(struct constants *k, enode_id n, const struct tensor_value *value, bool is_rounded)
{
    struct constant *of = &k->of_nodes.items[n];
    of->value = *value;
    of->is_rounded = is_rounded;
    vec_push(&k->known, n);
}

static void note_weight(struct constants *k, enode_id n)
{
    const struct content *content = &k->c->weights.items[egraph_attributes(k->e, n)[0].ints[0]];
    if (content->value.data)
        note(k, n, &content->value, content->is_computed);
}

// A class has no value where the budget does not have what it takes, or it depends on one that has none.
static const struct constant *compute_class(struct constants *k, eclass_id c);

static bool is_paid(double *spent, double operations, double most)
{
    bool is_affordable = *spent + operations <= most;
    *spent += is_affordable ? operations : 0;
    return is_affordable;
}

// False: the budget does not have what the application takes, or it is ill-typed.
static bool pay_for(struct constants *k, const struct operator_call *call, const struct etype *made, bool is_of_models,
                    bool *is_rounded)
{
    struct definition d FREED_BY(definition_free);
    double operations = 1;
    definition_init(&d, &k->scratch, call->n_inputs, call->inputs);
    bool is_affordable = operator_define(&d, call) && d.n_outputs == (int)made->count;
    operations += is_affordable ? definition_flops(&d) : 0;
    *is_rounded = *is_rounded || operations > 1;
    for (uint32_t i = 0; is_affordable && i < made->count; i++)
        operations += MOVING_AN_ENTRY * (double)type_elements(&made->types[i]);
    if (!is_affordable || is_of_models)
        return is_affordable && is_paid(&k->spent_on_models, operations, MOST_OF_MODELS);
    return operations <= MOST_OF_ONE && is_paid(&k->spent_on_rules, operations, k->most_of_rules);
}

// All outputs of an application, whose types must be those of the e-node.
static bool run_application(struct constants *k, enode_id n, struct tensor_value *ret_outputs, struct constant *made_of)
{
    const struct egraph *e = k->e;
    const struct enode *node = &e->nodes.items[n];
    const struct etype *made = &e->interned.types.items[node->type];
    const struct operator* op = egraph_operator(e, n);
    struct error ignored;
    if (!op->define || op->flags & OPERATOR_IS_LEAF)
        return false;
    struct tensor_value *inputs = arena_array(&k->scratch, struct tensor_value, node->n_children);
    struct type *types = arena_array(&k->scratch, struct type, node->n_children);
    for (uint32_t i = 0; i < node->n_children; i++) {
        const struct constant *input = compute_class(k, egraph_edges(e, n)[i].child);
        if (!input)
            return false;
        inputs[i] = input->value;
        types[i] = input->value.type;
        made_of->is_rounded = made_of->is_rounded || input->is_rounded;
    }
    const struct operator_call call = {
        .op = op, .attributes = egraph_attributes(e, n), .n_inputs = (int)node->n_children, .inputs = types};
    if (!pay_for(k, &call, made, n < k->n_of_models, &made_of->is_rounded) ||
        !graph_evaluate_call(&call, inputs, (int)made->count, ret_outputs, &k->values, &ignored))
        return false;
    for (uint32_t i = 0; i < made->count; i++)
        if (!type_equal(&ret_outputs[i].type, &made->types[i]))
            return false;
    k->n_computed++;
    return true;
}

static void compute_node(struct constants *k, enode_id n)
{
    const struct egraph *e = k->e;
    const struct enode *node = &e->nodes.items[n];
    bool is_projection = node->op == PROJECTION;
    struct constant made_of = {0};
    enode_id application = is_projection ? constants_oldest_node(e, egraph_edges(e, n)[0].child) : n;
    size_t count = e->interned.types.items[e->nodes.items[application].type].count;
    struct tensor_value *outputs = arena_array(&k->scratch, struct tensor_value, count);
    k->of_nodes.items[n].is_tried = true;
    if (run_application(k, application, outputs, &made_of))
        note(k, n, &outputs[is_projection ? node->attributes : 0], made_of.is_rounded);
}

static const struct constant *compute_class(struct constants *k, eclass_id c)
{
    const struct constant *known = constants_find_known(k, c);
    enode_id oldest = constants_oldest_node(k->e, c);
    if (!known && !k->of_nodes.items[oldest].is_tried)
        compute_node(k, oldest);
    return known ? known : constants_find_known(k, c);
}

// --- which -----------------------------------------------------------------------------------------------------------

static bool is_constant(const struct constants *k, tensor_id t)
{
    return k->ids[t] != NO_ENODE && k->e->classes.items[egraph_find(k->e, k->ids[t])].is_weight;
}

// The repeated tensor is looked at instead of the result: it is smaller.
static tensor_id before_repeating(const struct constants *k, tensor_id t)
{
    const struct graph *g = &k->c->graph;
    while (operator_repeats(graph_producer(g, t)->op))
        t = graph_inputs(g, g->tensors.items[t].producer)[0];
    return t;
}

// A flag for every type of the e-graph: is it that of a constant which only one of the models has, and reads where they
// differ?
static bool *find_wanted(const struct constants *k, const struct shared_classes *shared)
{
    const struct graph *g = &k->c->graph;
    bool *is_wanted = mem_alloc_zero(k->e->interned.types.count + 1);
    for (node_id n = 0; n < k->c->n_nodes; n++) {
        const struct node *node = &g->nodes.items[n];
        bool is_met = node->n_outputs && k->ids[node->first_output] != NO_ENODE &&
                      !shared->is_shared[node->first_output] && !is_constant(k, node->first_output);
        for (uint32_t i = 0; is_met && i < node->n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            if (is_constant(k, t) && !shared->is_shared[t])
                is_wanted[k->e->nodes.items[k->ids[before_repeating(k, t)]].type] = true;
        }
    }
    return is_wanted;
}

// A weight which only one of the models has (concatenations.h).
static bool is_possible_whole(const struct constants *k, const struct shared_classes *shared, tensor_id t)
{
    return k->ids[t] != NO_ENODE && graph_producer(&k->c->graph, t)->op->id == OP_WEIGHT && !shared->is_shared[t];
}

// A flag for every type: could it be that of a part of one?
static bool *find_types_of_parts(const struct constants *k, const struct shared_classes *shared)
{
    const struct graph *g = &k->c->graph;
    bool *is_part = mem_alloc_zero(k->e->interned.types.count + 1);
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        const struct type *whole = graph_type(g, t);
        bool is_whole = is_possible_whole(k, shared, t);
        for (uint32_t type = 0; is_whole && type < k->e->interned.types.count; type++)
            for (int axis = 0; k->e->interned.types.items[type].count == 1 && !is_part[type] && axis < whole->rank;
                 axis++)
                is_part[type] = type_is_part(whole, k->e->interned.types.items[type].types, axis, whole->dim[axis] - 1);
    }
    return is_part;
}

static bool is_to_be_tried(const struct constants *k, const bool *is_wanted, const bool *is_part, enode_id n)
{
    const struct enode *node = &k->e->nodes.items[n];
    return !k->of_nodes.items[n].is_compared && !node->is_redundant && egraph_is_tensor(k->e, n) &&
           (is_wanted[node->type] || is_part[node->type]) && k->e->classes.items[egraph_find(k->e, n)].is_weight;
}

static bool join_with_equals(struct constants *k, enode_id n)
{
    struct constant *own = constants_find_known(k, egraph_find(k->e, n));
    for (size_t i = 0; own && i < k->known.count; i++) {
        enode_id other = k->known.items[i];
        if (egraph_find(k->e, other) != egraph_find(k->e, n) && is_equal(k, own, &k->of_nodes.items[other]))
            return egraph_union(k->e, other, n, REASON_GIVEN) == UNION_NEW;
    }
    return false;
}

static bool try_node(struct constants *k, enode_id n)
{
    ARENA_MARK(mark, &k->scratch);
    k->of_nodes.items[n].is_compared = true;
    compute_class(k, egraph_find(k->e, n));
    return join_with_equals(k, n);
}

static void extend_to_new_nodes(struct constants *k)
{
    for (enode_id n = (enode_id)k->of_nodes.count; n < k->e->nodes.count; n++) {
        vec_push(&k->of_nodes, ((struct constant){0}));
        if (k->e->nodes.items[n].op == OP_WEIGHT)
            note_weight(k, n);
    }
}

void constants_begin(struct constants *k, struct egraph *e, const enode_id *ids)
{
    k->e = e;
    k->ids = ids;
    k->n_of_models = e->nodes.count;
    k->spent_on_rules = 0;
    arena_init(&k->values);
    arena_init(&k->scratch);
    extend_to_new_nodes(k);
    for (tensor_id t = 0; t < k->c->graph.tensors.count; t++)
        if (ids[t] != NO_ENODE && k->of_tensors[t].value.data && !k->of_nodes.items[ids[t]].value.data) {
            k->of_nodes.items[ids[t]] = k->of_tensors[t];
            vec_push(&k->known, ids[t]);
        }
}

static void keep(struct constants *k, tensor_id t, const struct constant *made)
{
    struct constant *kept = &k->of_tensors[t];
    *kept = (struct constant){.value = made->value, .is_rounded = made->is_rounded};
    kept->value.data = arena_copy(&k->arena, made->value.data, type_bytes(&made->value.type), 64);
}

void constants_end(struct constants *k)
{
    for (tensor_id t = 0; t < k->c->graph.tensors.count; t++) {
        enode_id n = k->ids[t];
        const struct constant *made = n != NO_ENODE && n < k->of_nodes.count ? &k->of_nodes.items[n] : NULL;
        if (made && made->value.data && !k->of_tensors[t].value.data && graph_producer(&k->c->graph, t)->op->define)
            keep(k, t, made);
    }
    vecs_free(k, of_nodes, known);
    arena_free(&k->values);
    arena_free(&k->scratch);
}

bool constants_join(struct constants *k, const struct shared_classes *shared)
{
    bool *is_wanted = find_wanted(k, shared), *is_part = find_types_of_parts(k, shared);
    size_t n_types = k->e->interned.types.count;
    bool is_any_new = false;
    extend_to_new_nodes(k);
    for (enode_id n = 0; n < k->of_nodes.count; n++)
        if (is_to_be_tried(k, is_wanted, is_part, n) && try_node(k, n)) {
            is_any_new = true;
            egraph_rebuild(k->e);
        }
    mem_free(is_wanted, n_types + 1);
    mem_free(is_part, n_types + 1);
    return is_any_new;
}
