#define _GNU_SOURCE
// The generator against a slow and obvious truth: every graph is built operator by operator in every order, evaluated
// by itself, and compared with every other one.
#include "core/arena.h"
#include "core/error.h"
#include "core/random.h"
#include "generator/join.h"
#include "operators/evaluate.h"
#include "operators/field.h"
#include "tests/support/check.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 24 };

// --- graphs, naively -------------------------------------------------------------------------------------------------

struct naive_tensor {
    struct type type;
    uint64_t *data;
    struct key key;
    bool is_used, is_leaf;
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
    for (int i = 0; i < end; i++)
        if (is_same_value(&g->tensors[i].type, g->tensors[i].data, &t->type, t->data))
            return true;
    return false;
}

static bool has_key(const struct naive_graph *g, const struct key *key)
{
    for (int i = 0; i < g->n_tensors; i++)
        if (key_compare(&g->tensors[i].key, key) == 0)
            return true;
    return false;
}

// A graph with one output alone: the outputs of a node with two, or the term that ends a graph.
static void record_single(struct naive *n, const struct naive_tensor *t, int n_nodes)
{
    struct naive_graph single = {.n_tensors = 1, .n_nodes = n_nodes, .tensors = {*t}};
    record_graph(n, &single);
}

static bool fits(const struct argument_pattern *pattern, const struct type *type)
{
    bool is_fitting = pattern->rank < 0 || pattern->rank == type->rank;
    for (int i = 0; is_fitting && i < pattern->rank; i++)
        is_fitting = pattern->dim[i] < 0 || pattern->dim[i] == type->dim[i];
    return is_fitting;
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
    if (!fits(&in->arguments[0], &types[0]) || (b >= 0 && !fits(&in->arguments[1], &types[1])))
        return;
    struct operator_call call = {in->op, in->n_inputs, types, in->attributes};
    struct definition d;
    definition_init(&d, &n->arena, in->n_inputs, types);
    struct naive_graph next = *g;
    if (operator_define(&d, &call)) {
        uint64_t *outputs[2];
        bool is_final = false;
        for (int i = 0; i < d.n_outputs; i++) {
            struct naive_tensor *t = &next.tensors[next.n_tensors++];
            *t = (struct naive_tensor){.type = *definition_output(&d, i)};
            t->data = outputs[i] = arena_array(&n->arena, uint64_t, type_elements(&t->type));
            make_key(n, instance, i, &g->tensors[a], b >= 0 ? &g->tensors[b] : NULL, &t->key);
        }
        evaluate_field(&d, 99, data, outputs, &n->arena);
        next.n_nodes++;
        next.tensors[a].is_used = true;
        if (b >= 0)
            next.tensors[b].is_used = true;
        if (!has_key(g, &next.tensors[g->n_tensors].key)) {
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
    definition_free(&d);
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

static void enumerate_naively(struct naive *n, const struct family *family, int max_ops)
{
    struct naive_graph empty = {0};
    struct random stream = random_seed(12345);
    *n = (struct naive){.family = family, .max_ops = max_ops};
    arena_init(&n->arena);
    for (int i = 0; i < family->n_inputs; i++) {
        struct naive_tensor *t = &empty.tensors[empty.n_tensors++];
        *t = (struct naive_tensor){.type = family->leaves[i].type, .key = {1, {(uint8_t)i}}, .is_leaf = true};
        t->data = arena_array(&n->arena, uint64_t, type_elements(&t->type));
        for (int64_t k = 0; k < type_elements(&t->type); k++)
            t->data[k] = random_below(&stream, FIELD_PRIME);
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

// --- sets of pairs ---------------------------------------------------------------------------------------------------

struct pair {
    struct key keys[4];
};
typedef VEC(struct pair) pair_list;

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    for (int i = 0; i < 4; i++) {
        int order = key_compare(&x->keys[i], &y->keys[i]);
        if (order)
            return order;
    }
    return 0;
}

static void sort_pairs(pair_list *list)
{
    size_t n = 0;
    if (list->count)
        vec_sort(list, compare_pairs);
    for (size_t i = 0; i < list->count; i++)
        if (n == 0 || compare_pairs(&list->items[n - 1], &list->items[i]) != 0)
            list->items[n++] = list->items[i];
    list->count = n;
}

static void add_pair(pair_list *list, const struct key *a, const struct key *b)
{
    struct pair p = {{*a, *b}};
    vec_push(list, p);
}

// A term that has its own value below: some smaller graph's output is part of it and equal to it.
static bool is_detour(const struct naive *n, const struct naive_output *t)
{
    for (size_t r = 0; r < n->records.count; r++) {
        const struct naive_output *part = &n->records.items[r].outputs[0];
        bool is_part = n->records.items[r].n_outputs == 1 && part->key.length < t->key.length &&
                       memmem(t->key.bytes, t->key.length, part->key.bytes, part->key.length) != NULL;
        // A byte of a leaf may be the number of an operator: parts of one byte are compared below, by value.
        if (is_part && part->key.length > 1 && is_same_value(&part->type, part->data, &t->type, t->data))
            return true;
    }
    return false;
}

static bool is_value_of_leaf(const struct naive *n, const struct naive_output *t)
{
    for (size_t r = 0; r < n->records.count; r++) {
        const struct naive_output *leaf = &n->records.items[r].outputs[0];
        if (n->records.items[r].n_nodes == 0 && is_same_value(&leaf->type, leaf->data, &t->type, t->data))
            return true;
    }
    return false;
}

static bool is_kept(const struct naive *n, const struct naive_output *t)
{
    return is_value_of_leaf(n, t) || !is_detour(n, t);
}

static void find_pairs_naively(const struct naive *n, pair_list *ret_pairs)
{
    for (size_t i = 0; i < n->records.count; i++)
        for (size_t j = 0; j < n->records.count; j++) {
            const struct naive_record *x = &n->records.items[i], *y = &n->records.items[j];
            const struct naive_output *a = &x->outputs[0], *b = &y->outputs[0];
            if (i != j && x->n_outputs == 1 && y->n_outputs == 1 &&
                is_same_value(&a->type, a->data, &b->type, b->data) && is_kept(n, a) && is_kept(n, b))
                add_pair(ret_pairs, &a->key, &b->key);
        }
    sort_pairs(ret_pairs);
}

struct renamed_pairs {
    const struct family *family;
    const struct key *a, *b;
    pair_list *pairs;
};

static bool add_renamed_pair(void *context, const uint8_t *order)
{
    struct renamed_pairs *r = context;
    struct key a = *r->a, b = *r->b;
    key_rename(r->family, &a, order);
    key_rename(r->family, &b, order);
    add_pair(r->pairs, &a, &b);
    return true;
}

static void find_pairs_fast(const struct family *family, const struct findings *f, pair_list *ret_pairs)
{
    for (size_t i = 0; i < f->members.count; i++)
        for (size_t j = 0; j < f->members.count; j++) {
            const struct found_member *a = &f->members.items[i], *b = &f->members.items[j];
            struct renamed_pairs r = {family, &a->key, &b->key, ret_pairs};
            if (i != j && a->class == b->class)
                renamings_visit(family, key_inputs(family, &a->key) | key_inputs(family, &b->key), add_renamed_pair,
                                &r);
        }
    sort_pairs(ret_pairs);
}

// --- two outputs -----------------------------------------------------------------------------------------------------

static uint32_t leaves_of(const struct key *key)
{
    uint32_t leaves = 0;
    for (int i = 0; i < key->length; i++) {
        if (key->bytes[i] >= KEY_NODE)
            i++;
        else
            leaves |= 1u << key->bytes[i];
    }
    return leaves;
}

// By definition: values agree, no half is a substitution, the whole is one.
static void add_if_substitution(const struct naive *n, const struct naive_output *s1, const struct naive_output *s2,
                                const struct naive_output *t1, const struct naive_output *t2, pair_list *ret_pairs)
{
    struct pair p = {{s1->key, s2->key, t1->key, t2->key}}, swapped = {{s2->key, s1->key, t2->key, t1->key}};
    uint32_t s1_leaves = leaves_of(&s1->key), s2_leaves = leaves_of(&s2->key);
    uint32_t t1_leaves = leaves_of(&t1->key), t2_leaves = leaves_of(&t2->key);
    bool is_halved = !(t1_leaves & ~s1_leaves) || !(t2_leaves & ~s2_leaves);
    if (is_halved || (t1_leaves | t2_leaves) & ~(s1_leaves | s2_leaves) ||
        !is_same_value(&s1->type, s1->data, &t1->type, t1->data) ||
        !is_same_value(&s2->type, s2->data, &t2->type, t2->data) || is_value_of_leaf(n, s1) ||
        is_value_of_leaf(n, s2) || is_detour(n, t1) || is_detour(n, t2) || is_detour(n, s1) || is_detour(n, s2))
        return;
    keys_make_canonical(n->family, p.keys, 4);
    keys_make_canonical(n->family, swapped.keys, 4);
    vec_push(ret_pairs, compare_pairs(&swapped, &p) < 0 ? swapped : p);
}

static void find_two_outputs_naively(const struct naive *n, pair_list *ret_pairs)
{
    for (size_t i = 0; i < n->records.count; i++)
        for (size_t j = 0; j < n->records.count; j++) {
            const struct naive_record *s = &n->records.items[i], *t = &n->records.items[j];
            if (i == j || s->n_outputs != 2 || t->n_outputs != 2)
                continue;
            add_if_substitution(n, &s->outputs[0], &s->outputs[1], &t->outputs[0], &t->outputs[1], ret_pairs);
            add_if_substitution(n, &s->outputs[0], &s->outputs[1], &t->outputs[1], &t->outputs[0], ret_pairs);
        }
    sort_pairs(ret_pairs);
}

// --- the comparison --------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *space;
    int max_ops;
} cases[] = {
    {"two operators of linear algebra",
     "(family f (inputs 3 (f32 2 2)) (operator (matmul _ _)) (operator (ewadd _ _)) (operator (transpose :perm 1 0 "
     "_)))",
     2},
    {"two operators, inputs of two types",
     "(family f (inputs 2 (f32 3 5)) (inputs 1 (f32)) (operator (ewmul (_ _) _)) (operator (smul _ ())) (operator "
     "(relu _))"
     " (operator (concat 0 (_ _) _)) (operator (split 0 _)))",
     2},
    {"three operators of a few kinds",
     "(family f (inputs 2 (f32 4 4)) (operator (relu _)) (operator (transpose :perm 1 0 _)) (operator (ewadd _ _)))",
     3},
    {"three operators with concatenations",
     "(family f (inputs 3 (f32 4 4)) (operator (relu _)) (operator (concat 1 _ _)) (operator (split 1 _)))", 3},
    {"matrix products merge",
     "(family f (inputs 3 (f32 2 2)) (operator (matmul _ _)) (operator (concat 1 _ _)) (operator (split 1 _)))", 3},
    {"convolutions",
     "(family f (inputs 2 (f32 1 1 5 4)) (inputs 1 (f32 1 1 3 1)) (operator (conv :pad 1 0 1 0 _ (_ _ 3 1)))"
     " (operator (poolmax :kernel 3 1 :pad 1 0 1 0 _)) (operator (relu _)) (operator (ewadd _ _)))",
     2},
};

static void expect_equal_pairs(const char *name, pair_list *slow, pair_list *fast)
{
    if (slow->count != fast->count)
        fail_msg("%s: %zu pairs instead of %zu", name, fast->count, slow->count);
    for (size_t i = 0; i < slow->count; i++)
        assert_int_equal(compare_pairs(&slow->items[i], &fast->items[i]), 0);
    vec_free(slow);
    vec_free(fast);
}

static void compare_case(const char *name, const char *text, int max_ops)
{
    struct arena arena;
    struct space space;
    struct error error;
    struct universe u;
    struct store store;
    struct findings findings = {0};
    struct reduction r;
    struct naive naive;
    pair_list slow = {0}, fast = {0}, slow_two = {0};
    char reason[200];
    uint64_t joined, pruned;

    arena_init(&arena);
    space_init(&space, &arena);
    if (!space_parse(&space, "test", text, strlen(text), &error))
        fail_msg("%s", error.message);
    const struct family *family = space.families.items[0];
    assert_true(universe_init(&u, family, 7, reason));
    store_init(&store, &u, max_ops);
    assert_true(classes_find(&store, 0, 400, NULL, &findings));
    assert_true(classes_find(&store, 400, FINGERPRINT_SLICES, NULL, &findings));
    enumerate_naively(&naive, family, max_ops);

    find_pairs_naively(&naive, &slow);
    find_pairs_fast(family, &findings, &fast);
    expect_equal_pairs(name, &slow, &fast);

    reduction_init(&r, &u, &findings, 8);
    join_find_laws(&r, max_ops, &joined, &pruned);
    find_two_outputs_naively(&naive, &slow_two);
    if (joined != slow_two.count)
        fail_msg("%s: %d pairs with two outputs instead of %zu", name, (int)joined, slow_two.count);
    vec_free(&slow_two);
    reduction_free(&r);
    free_naive(&naive);
    findings_free(&findings);
    store_free(&store);
    universe_free(&u);
    space_free(&space);
    arena_free(&arena);
}

static void finds_what_comparing_all_graphs_finds(void **state)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        compare_case(cases[i].name, cases[i].space, cases[i].max_ops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(finds_what_comparing_all_graphs_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
