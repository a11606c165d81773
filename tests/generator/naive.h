// Every graph of a family, built operator by operator in every order and evaluated by itself: a slow and obvious truth.
#pragma once
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include "generator/enumerate/key.h"
#include "tests/support/check.h"

enum { MAX_TENSORS = 24, SEED = 99 };

struct naive_tensor {
    struct type type;
    uint64_t *data;
    struct key key;
    bool is_used, is_leaf, needs_input;
};
struct naive_graph {
    int n_tensors, n_nodes;
    struct naive_tensor tensors[MAX_TENSORS];
};
struct naive_output {
    struct key key;
    struct type type;
    uint64_t *data;
};
struct naive_record {
    int n_outputs, n_nodes;
    struct naive_output outputs[6];
};
struct naive {
    const struct family *family;
    int max_ops;
    struct arena arena;
    VEC(struct naive_record) records;
};

static bool is_same_value(const struct type *a, const uint64_t *x, const struct type *b, const uint64_t *y)
{
    return types_agree(a, b) && memcmp(x, y, (size_t)type_elements(a) * sizeof *x) == 0;
}

static int compare_outputs(const void *a, const void *b)
{
    return key_compare(&((const struct naive_output *)a)->key, &((const struct naive_output *)b)->key);
}

// The outputs of a graph: what nothing reads. Of a node with two outputs one may be left out, as long as one is needed.
static void record_graph(struct naive *n, const struct naive_graph *g)
{
    struct naive_record all = {.n_nodes = g->n_nodes};
    for (int i = 0; i < g->n_tensors; i++)
        if (!g->tensors[i].is_used && !g->tensors[i].is_leaf)
            all.outputs[all.n_outputs++] =
                (struct naive_output){g->tensors[i].key, g->tensors[i].type, g->tensors[i].data};
    if (all.n_outputs)
        qsort(all.outputs, (size_t)all.n_outputs, sizeof *all.outputs, compare_outputs);
    for (size_t r = 0; r < n->records.count; r++) {
        bool is_known = n->records.items[r].n_outputs == all.n_outputs;
        for (int i = 0; i < all.n_outputs && is_known; i++)
            is_known = key_compare(&n->records.items[r].outputs[i].key, &all.outputs[i].key) == 0;
        if (is_known)
            return;
    }
    vec_push(&n->records, all);
}

static void extend_graph(struct naive *n, const struct naive_graph *g);

static void make_key(const struct naive *n, int instance, int output, const struct naive_tensor *a,
                     const struct naive_tensor *b, struct key *ret_key)
{
    bool is_swapped = b && n->family->instances[instance].is_commutative && key_compare(&a->key, &b->key) > 0;
    const struct key *first = is_swapped ? &b->key : &a->key, *second = is_swapped ? &a->key : b ? &b->key : NULL;
    *ret_key = (struct key){2, {(uint8_t)(KEY_NODE + output), (uint8_t)instance}};
    memcpy(ret_key->bytes + ret_key->length, first->bytes, first->length);
    ret_key->length = (uint8_t)(ret_key->length + first->length);
    if (second)
        memcpy(ret_key->bytes + ret_key->length, second->bytes, second->length);
    ret_key->length = (uint8_t)(ret_key->length + (second ? second->length : 0));
}

static bool has_value(const struct naive_graph *g, const struct naive_tensor *t, int end)
{
    return ANY(int, i, end, is_same_value(&g->tensors[i].type, g->tensors[i].data, &t->type, t->data));
}

// A graph with one output alone: the outputs of a node with two, or the term that ends a graph.
static void record_single(struct naive *n, const struct naive_tensor *t, int n_nodes)
{
    struct naive_graph single = {.n_tensors = 1, .n_nodes = n_nodes, .tensors = {*t}};
    record_graph(n, &single);
}

static bool fits(const struct argument_pattern *pattern, const struct naive_tensor *t)
{
    bool is_fitting = pattern->rank < 0 || pattern->rank == t->type.rank;
    for (int i = 0; is_fitting && i < pattern->rank; i++)
        is_fitting = pattern->dim[i] < 0 || pattern->dim[i] == t->type.dim[i];
    return (pattern->rank < 0 || is_fitting != pattern->is_negated) && (!pattern->is_leaf || t->is_leaf);
}

static void apply_operator(struct naive *n, const struct naive_graph *g, int instance, int a, int b)
{
    const struct instance *in = &n->family->instances[instance];
    struct type types[2] = {g->tensors[a].type};
    const uint64_t *data[2] = {g->tensors[a].data};
    if (b >= 0) {
        types[1] = g->tensors[b].type;
        data[1] = g->tensors[b].data;
    }
    if (!fits(&in->arguments[0], &g->tensors[a]) || (b >= 0 && !fits(&in->arguments[1], &g->tensors[b])))
        return;
    struct operator_call call = {in->op, in->n_inputs, types, in->attributes};
    struct definition d FREED_BY(definition_free);
    definition_init(&d, &n->arena, in->n_inputs, types);
    struct naive_graph next = *g;
    if (operator_define(&d, &call)) {
        uint64_t *outputs[2];
        bool is_final = false;
        for (int i = 0; i < d.n_outputs; i++) {
            struct naive_tensor *t = &next.tensors[next.n_tensors++];
            bool needs_input = g->tensors[a].needs_input || (b >= 0 && g->tensors[b].needs_input);
            *t = (struct naive_tensor){.type = *definition_output(&d, i), .needs_input = needs_input};
            t->data = outputs[i] = arena_array(&n->arena, uint64_t, type_elements(&t->type));
            make_key(n, instance, i, &g->tensors[a], b >= 0 ? &g->tensors[b] : NULL, &t->key);
        }
        evaluate_field(&d, SEED, data, outputs, &n->arena);
        next.n_nodes++;
        next.tensors[a].is_used = true;
        if (b >= 0)
            next.tensors[b].is_used = true;
        // A tensor that only constants make is a constant, on which nothing is built.
        is_final = !next.tensors[g->n_tensors].needs_input;
        const struct key *key = &next.tensors[g->n_tensors].key;
        if (!ANY(int, i, g->n_tensors, key_compare(&g->tensors[i].key, key) == 0)) {
            for (int i = g->n_tensors; i < next.n_tensors; i++)
                is_final = has_value(&next, &next.tensors[i], i) || is_final;
            for (int i = g->n_tensors; i < next.n_tensors; i++)
                record_single(n, &next.tensors[i], next.n_nodes);
            if (!is_final) {
                record_graph(n, &next);
                extend_graph(n, &next);
            }
        }
    }
}

static void extend_graph(struct naive *n, const struct naive_graph *g)
{
    if (g->n_nodes == n->max_ops)
        return;
    for (int i = 0; i < n->family->n_instances; i++)
        for (int a = 0; a < g->n_tensors; a++) {
            if (n->family->instances[i].n_inputs == 1)
                apply_operator(n, g, i, a, -1);
            for (int b = 0; n->family->instances[i].n_inputs == 2 && b < g->n_tensors; b++)
                apply_operator(n, g, i, a, b);
        }
}

static void fill_input(struct naive *n, struct random *stream, struct naive_tensor *t)
{
    t->data = arena_array(&n->arena, uint64_t, type_elements(&t->type));
    for (int64_t k = 0; k < type_elements(&t->type); k++)
        t->data[k] = random_below(stream, FIELD_PRIME);
}

static void evaluate_constant(struct naive *n, const struct instance *constant, struct naive_tensor *t)
{
    struct operator_call call = {constant->op, 0, NULL, constant->attributes};
    struct definition d FREED_BY(definition_free);
    definition_init(&d, &n->arena, 0, NULL);
    assert_true(operator_define(&d, &call));
    t->type = *definition_output(&d, 0);
    t->data = arena_array(&n->arena, uint64_t, type_elements(&t->type));
    evaluate_field(&d, SEED, NULL, &t->data, &n->arena);
}

static void enumerate_naively(struct naive *n, const struct family *family, int max_ops)
{
    struct naive_graph empty = {0};
    struct random stream = random_seed(12345);
    *n = (struct naive){.family = family, .max_ops = max_ops};
    for (int i = 0; i < family->n_leaves; i++) {
        struct naive_tensor *t = &empty.tensors[empty.n_tensors++];
        *t = (struct naive_tensor){.type = family->leaves[i].type, .key = {1, {(uint8_t)i}}, .is_leaf = true};
        if (family->leaves[i].is_constant)
            evaluate_constant(n, &family->leaves[i].constant, t);
        else
            fill_input(n, &stream, t);
        t->needs_input = i < family->n_inputs;
        struct naive_tensor output = *t;
        output.is_leaf = false;
        record_single(n, &output, 0);
    }
    extend_graph(n, &empty);
}

static void free_naive(struct naive *n)
{
    vec_free(&n->records);
    arena_free(&n->arena);
}
