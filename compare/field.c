// Evaluates both models over the prime field, tensor by tensor, dropping what is not needed any more.
#include "compare/field.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "expressions/elements.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include "graph/graph_whole.h"
#include <omp.h>

#define INTEGER_LIMIT 16          // random integers stay below: they are mostly indices
#define SMALL_INTEGER (1 << 24)   // what is taken for an integer, and no random number

struct evaluation {
    const struct common_graph *c;
    const struct graph *g;
    const struct shared_classes *shared;
    uint64_t key;
    int threads;
    bool is_free;
    tensor_id *of_first;      // of every class that is shared: the tensor of the first model
    bool *is_needed;          // of every tensor
    uint32_t *n_readers;      // of every tensor: that are not evaluated yet
    uint64_t **values;        // of every tensor
    const char **stand_ins;   // of every tensor: an operator with a stand-in that it depends on; NULL: none
    const char **decisions;   // likewise: one that compares, or makes integers; random values do not meet all cases
};

// --- which tensors ---------------------------------------------------------------------------------------------------

// A shared tensor is evaluated once, as the first model does it.
static tensor_id canonical(const struct evaluation *x, tensor_id t)
{
    return x->shared->is_shared[t] ? x->of_first[x->c->class_of[t]] : t;
}

static bool is_given(const struct evaluation *x, tensor_id t)
{
    return graph_producer(x->g, t)->op->flags & OPERATOR_IS_LEAF || (x->is_free && x->shared->is_shared[t]);
}

static void find_first(struct evaluation *x)
{
    for (size_t t = 0; t < x->shared->n_tensors; t++)
        x->of_first[t] = NO_TENSOR;
    for (node_id n = 0; n < x->c->n_nodes; n++)
        for (uint32_t i = 0; x->c->sides[0].is_live[n] && i < x->g->nodes.items[n].n_outputs; i++) {
            tensor_id t = x->g->nodes.items[n].first_output + i, *first = &x->of_first[x->c->class_of[t]];
            *first = *first == NO_TENSOR ? t : *first;
        }
}

static bool is_evaluated(const struct evaluation *x, node_id n)
{
    const struct node *node = &x->g->nodes.items[n];
    return ANY(uint32_t, i, node->n_outputs,
               x->is_needed[node->first_output + i] && !is_given(x, node->first_output + i));
}

// Is it still to be found out whether these outputs are equal?
static bool is_open(const struct field_result *r)
{
    return r->verdict == FIELD_DIFFERENT || r->verdict == FIELD_UNKNOWN;
}

static void need(struct evaluation *x, tensor_id t)
{
    x->is_needed[t] = true;
    x->n_readers[t]++;
}

// The first model's nodes stand before those that only the second one has.
static void find_needed(struct evaluation *x, const struct field_result *results)
{
    for (size_t i = 0; i < x->c->n_outputs; i++)
        for (int s = 0; s < 2 && is_open(&results[i]); s++)
            need(x, canonical(x, x->c->sides[s].outputs[i]));
    for (node_id n = (node_id)x->c->n_nodes; n-- > 0;)
        for (uint32_t i = 0; is_evaluated(x, n) && i < x->g->nodes.items[n].n_inputs; i++)
            need(x, canonical(x, graph_inputs(x->g, n)[i]));
}

// --- values ----------------------------------------------------------------------------------------------------------

static size_t entries_of(const struct evaluation *x, tensor_id t)
{
    const struct type *type = graph_type(x->g, t);
    return type_is_known(type) ? (size_t)type_elements(type) : 1;
}

static uint64_t *allocate(struct evaluation *x, tensor_id t)
{
    x->values[t] = mem_new_array(uint64_t, entries_of(x, t) + 1);
    return x->values[t];
}

static void release(struct evaluation *x, tensor_id t)
{
    if (x->values[t])
        mem_free_array(x->values[t], entries_of(x, t) + 1);
    x->values[t] = NULL;
}

static void fill_unknown(const struct evaluation *x, tensor_id t, uint64_t key, uint64_t *ret_values)
{
    for (size_t i = 0; i < entries_of(x, t); i++)
        ret_values[i] = field_reduce(random_keyed(key, i));
}

static void fill_input(const struct evaluation *x, tensor_id t, uint64_t *ret_values)
{
    enum dtype dtype = graph_type(x->g, t)->dtype;
    uint64_t key = hash_mix(x->key, (uint64_t)graph_producer(x->g, t)->attributes[0].ints[0]);
    uint64_t limit = dtype_is_float(dtype) ? 0 : dtype == DTYPE_BOOL ? 2 : INTEGER_LIMIT;
    fill_unknown(x, t, key, ret_values);
    for (size_t i = 0; limit && i < entries_of(x, t); i++)
        ret_values[i] %= limit;
}

#define PIECE 1024

static void fill_weight(const struct evaluation *x, tensor_id t, uint64_t *ret_values)
{
    size_t index = (size_t)graph_producer(x->g, t)->attributes[0].ints[0], n = entries_of(x, t);
    const struct tensor_value *value = &x->c->weights.items[index].value;
    enum dtype dtype = value->type.dtype;
    union {
        double reals[PIECE];
        int64_t integers[PIECE];
    } piece;
    if (!value->data || !dtype_has_numbers(dtype)) {
        fill_unknown(x, t, x->c->weights.items[index].hash, ret_values);
        return;
    }
    for (size_t at = 0; at < n; at += PIECE) {
        const char *data = (const char *)value->data + at * dtype_size(dtype);
        size_t count = n - at < PIECE ? n - at : PIECE;
        if (dtype_is_float(dtype))
            elements_to_reals(dtype, data, count, piece.reals);
        else
            elements_to_integers(dtype, data, count, piece.integers);
        for (size_t i = 0; i < count; i++)
            ret_values[at + i] =
                dtype_is_float(dtype) ? field_from_real(piece.reals[i]) : field_from_int(piece.integers[i]);
    }
}

static void fill_given(struct evaluation *x, tensor_id t)
{
    enum operator_id op = graph_producer(x->g, t)->op->id;
    uint64_t *values = allocate(x, t);
    if (op == OP_WEIGHT)
        fill_weight(x, t, values);
    else if (op == OP_INPUT)
        fill_input(x, t, values);
    else
        fill_unknown(x, t, hash_mix(x->key, t), values);
    bool is_decision = op != OP_WEIGHT && !dtype_is_float(graph_type(x->g, t)->dtype);
    x->stand_ins[t] = NULL;
    x->decisions[t] = is_decision ? graph_producer(x->g, t)->op->name : NULL;
}

// --- stand-ins -------------------------------------------------------------------------------------------------------

static const bool is_exact[FN_COUNT] = {
    [FN_ADD] = true,   [FN_SUB] = true, [FN_MUL] = true, [FN_DIV] = true, [FN_NEG] = true, [FN_RECIPROCAL] = true,
    [FN_EQUAL] = true, [FN_AND] = true, [FN_OR] = true,  [FN_XOR] = true, [FN_NOT] = true, [FN_WHERE] = true,
};

// Exact at the values that are tried, which are too few to tell two such functions apart: any x is below 1000 then, and
// no two numbers are equal.
static bool is_decision(enum scalar_function fn)
{
    return fn == FN_MAX || fn == FN_MIN || fn == FN_LESS || fn == FN_LESS_EQUAL || fn == FN_EQUAL || fn == FN_IS_NAN;
}

// Which kinds of functions a node has. Those of integers overflow, and their quotients are rounded.
struct kinds_of_functions {
    bool has_stand_ins, has_decisions;
};

static struct kinds_of_functions kinds_of_functions(const struct definition *d)
{
    struct kinds_of_functions kinds = {0};
    bool is_of_integers = ANY(int, i, d->n_outputs, !dtype_is_float(d->stages[d->outputs[i]].type.dtype));
    vec_each(&d->nodes, e) {
        enum scalar_function fn = (enum scalar_function)e->fn;
        bool is_function = e->kind == EXPR_APPLY || e->kind == EXPR_REDUCE;
        kinds.has_decisions = kinds.has_decisions || (is_function && (is_of_integers || is_decision(fn)));
        kinds.has_stand_ins = kinds.has_stand_ins || (is_function && (is_of_integers || !is_exact[fn])) ||
                              (e->kind == EXPR_READ && e->b == OUTSIDE_LOWEST);
    }
    return kinds;
}

static void note_function(const struct evaluation *x, const char **names, node_id n, bool is_own)
{
    const struct node *node = &x->g->nodes.items[n];
    const char *name = is_own ? node->op->name : NULL;
    for (uint32_t i = 0; !name && i < node->n_inputs; i++)
        name = names[canonical(x, graph_inputs(x->g, n)[i])];
    for (uint32_t i = 0; i < node->n_outputs; i++)
        names[node->first_output + i] = name;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static const uint64_t *values_of_input(const struct evaluation *x, node_id n, uint32_t i)
{
    return x->values[canonical(x, graph_inputs(x->g, n)[i])];
}

// Everything that decides what the node makes, in one number.
static uint64_t hash_of_application(const struct evaluation *x, node_id n)
{
    const struct node *node = &x->g->nodes.items[n];
    uint64_t h = hash_mix(x->key, (uint64_t)node->op->id);
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        h = hash_bytes(node->attributes[i].ints, node->attributes[i].count * sizeof(int64_t), h);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        h = hash_bytes(values_of_input(x, n, i), entries_of(x, graph_inputs(x->g, n)[i]) * sizeof(uint64_t), h);
    return h;
}

static bool holds_small_integers(const struct evaluation *x, node_id n, uint32_t i)
{
    const uint64_t *values = values_of_input(x, n, i);
    return !ANY(size_t, k, entries_of(x, graph_inputs(x->g, n)[i]),
                values[k] > SMALL_INTEGER && values[k] < FIELD_PRIME - SMALL_INTEGER);
}

static bool has_meaning(const struct evaluation *x, node_id n, const struct definition *d)
{
    const struct node *node = &x->g->nodes.items[n];
    bool has_integers = false, are_small = true;
    for (uint32_t i = 0; d->is_data_dependent && i < node->n_inputs; i++) {
        bool is_integer = !dtype_is_float(graph_type(x->g, graph_inputs(x->g, n)[i])->dtype);
        has_integers = has_integers || is_integer;
        are_small = are_small && (!is_integer || holds_small_integers(x, n, i));
    }
    return !d->is_data_dependent || (has_integers && are_small);
}

static void evaluate_node(struct evaluation *x, node_id n, struct arena *scratch)
{
    const struct node *node = &x->g->nodes.items[n];
    const uint64_t **inputs = arena_array(scratch, const uint64_t *, node->n_inputs + 1);
    uint64_t **outputs = arena_array(scratch, uint64_t *, node->n_outputs + 1);
    struct definition d;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = values_of_input(x, n, i);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        outputs[i] = mem_new_array(uint64_t, entries_of(x, node->first_output + i) + 1);
    bool is_defined = node->op->define && graph_define(x->g, n, &d, scratch);
    bool is_known = is_defined && has_meaning(x, n, &d);
    struct kinds_of_functions kinds = {0};
    if (is_known)
        kinds = kinds_of_functions(&d);
    note_function(x, x->stand_ins, n, !is_known || kinds.has_stand_ins);
    note_function(x, x->decisions, n, kinds.has_decisions);
    if (is_known)
        evaluate_field(&d, x->key, inputs, outputs, scratch);
    else
        for (uint32_t i = 0; i < node->n_outputs; i++)
            fill_unknown(x, node->first_output + i, hash_mix(hash_of_application(x, n), i), outputs[i]);
    if (node->op->define)
        definition_free(&d);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        tensor_id t = node->first_output + i;
        x->values[t] = outputs[i];
        if (!x->is_needed[t] || is_given(x, t))
            release(x, t);
        if (x->is_needed[t] && is_given(x, t))
            fill_given(x, t);
    }
}

static void forget_input(struct evaluation *x, tensor_id t)
{
    if (--x->n_readers[t] == 0)
        release(x, t);
}

static void fill_given_inputs(struct evaluation *x, node_id n)
{
    for (uint32_t i = 0; i < x->g->nodes.items[n].n_inputs; i++) {
        tensor_id t = canonical(x, graph_inputs(x->g, n)[i]);
        if (!x->values[t])
            fill_given(x, t);
    }
}

// --- order -----------------------------------------------------------------------------------------------------------
// All nodes whose inputs are there are evaluated at the same time: the two models keep two threads busy.

struct wave {
    bool *is_done;   // of every node
    VEC(node_id) left, ready;
};

static bool is_ready(const struct evaluation *x, const struct wave *w, node_id n)
{
    for (uint32_t i = 0; i < x->g->nodes.items[n].n_inputs; i++) {
        tensor_id t = canonical(x, graph_inputs(x->g, n)[i]);
        if (!is_given(x, t) && !w->is_done[x->g->tensors.items[t].producer])
            return false;
    }
    return true;
}

static void collect_ready(const struct evaluation *x, struct wave *w)
{
    size_t kept = 0;
    vec_clear(&w->ready);
    for (size_t i = 0; i < w->left.count; i++) {
        node_id n = w->left.items[i];
        if (is_ready(x, w, n))
            vec_push(&w->ready, n);
        else
            w->left.items[kept++] = n;
    }
    w->left.count = kept;
}

static void evaluate_ready(struct evaluation *x, const struct wave *w)
{
    int64_t n = (int64_t)w->ready.count;
    for (int64_t i = 0; i < n; i++)
        fill_given_inputs(x, w->ready.items[i]);
#pragma omp parallel for schedule(dynamic) num_threads(x->threads)
    for (int64_t i = 0; i < n; i++) {
        ARENA(scratch);
        evaluate_node(x, w->ready.items[i], &scratch);
    }
    for (int64_t i = 0; i < n; i++) {
        node_id node = w->ready.items[i];
        w->is_done[node] = true;
        for (uint32_t k = 0; k < x->g->nodes.items[node].n_inputs; k++)
            forget_input(x, canonical(x, graph_inputs(x->g, node)[k]));
    }
}

static void evaluate_all(struct evaluation *x)
{
    struct wave w = {.is_done = mem_alloc_zero(x->c->n_nodes + 1)};
    for (node_id n = 0; n < x->c->n_nodes; n++)
        if (is_evaluated(x, n))
            vec_push(&w.left, n);
    for (collect_ready(x, &w); w.ready.count; collect_ready(x, &w))
        evaluate_ready(x, &w);
    mem_free(w.is_done, x->c->n_nodes + 1);
    vecs_free(&w, left, ready);
}

static double count_operations(const struct evaluation *x)
{
    double operations = 0;
    ARENA(scratch);
    for (node_id n = 0; n < x->c->n_nodes; n++) {
        struct arena_mark mark = arena_mark(&scratch);
        struct definition d;
        if (!is_evaluated(x, n) || !x->g->nodes.items[n].op->define)
            continue;
        if (graph_define(x->g, n, &d, &scratch))
            operations += definition_flops(&d);
        definition_free(&d);
        arena_release(&scratch, mark);
    }
    return operations;
}

// --- outputs ---------------------------------------------------------------------------------------------------------

static void compare(struct evaluation *x, size_t output, struct field_result *ret_result)
{
    tensor_id a = canonical(x, x->c->sides[0].outputs[output]), b = canonical(x, x->c->sides[1].outputs[output]);
    struct field_result r = {.is_free = x->is_free, .n_entries = (int64_t)entries_of(x, a)};
    if (!x->values[a])
        fill_given(x, a);
    if (!x->values[b])
        fill_given(x, b);
    for (int64_t i = r.n_entries; i-- > 0;)
        if (x->values[a][i] != x->values[b][i]) {
            r.n_different++;
            r.first_different = i;
        }
    r.decision = x->decisions[a] ? x->decisions[a] : x->decisions[b];
    r.stand_in = x->stand_ins[a] ? x->stand_ins[a] : x->stand_ins[b];
    if (r.n_different)
        r.verdict = r.stand_in ? FIELD_UNKNOWN : FIELD_DIFFERENT;
    else
        r.verdict = r.decision ? FIELD_AGREES : FIELD_EQUAL;
    *ret_result = r;
}

static void settle(struct evaluation *x, bool is_cheap, struct field_result *results)
{
    if (is_cheap)
        evaluate_all(x);
    for (size_t i = 0; i < x->c->n_outputs; i++)
        if (is_open(&results[i]) && is_cheap)
            compare(x, i, &results[i]);
        else if (is_open(&results[i]))
            results[i].verdict = FIELD_TOO_COSTLY;
}

static void evaluate_open_outputs(struct evaluation *x, double most_operations, struct field_result *results)
{
    ARENA(arena);
    size_t n = x->g->tensors.count;
    x->of_first = arena_array(&arena, tensor_id, n + 1);
    x->is_needed = arena_array(&arena, bool, n + 1);
    x->n_readers = arena_array(&arena, uint32_t, n + 1);
    x->values = arena_array(&arena, uint64_t *, n + 1);
    x->stand_ins = arena_array(&arena, const char *, n + 1);
    x->decisions = arena_array(&arena, const char *, n + 1);
    find_first(x);
    find_needed(x, results);
    settle(x, count_operations(x) <= most_operations, results);
    for (tensor_id t = 0; t < n; t++)
        release(x, t);
}

void common_graph_compare_in_field(const struct common_graph *c, uint64_t seed, double most_operations, int threads,
                                   struct field_result *ret_results)
{
    struct shared_classes shared;
    struct evaluation x = {.c = c, .g = &c->graph, .shared = &shared, .is_free = true};
    x.threads = threads ? threads : omp_get_max_threads();
    x.key = random_keyed(seed, 0x6669656c64);
    shared_classes_init(&shared, c);
    for (size_t i = 0; i < c->n_outputs; i++) {
        bool is_known = common_tensors_are_equal(c, c->sides[0].outputs[i], c->sides[1].outputs[i]);
        ret_results[i] = (struct field_result){.verdict = is_known ? FIELD_NOT_COMPARED : FIELD_DIFFERENT};
    }
    evaluate_open_outputs(&x, most_operations, ret_results);
    x.is_free = false;
    evaluate_open_outputs(&x, most_operations, ret_results);
    shared_classes_free(&shared);
}
