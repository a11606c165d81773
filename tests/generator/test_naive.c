#define _GNU_SOURCE
// The generator against a slow and obvious truth: all graphs of small spaces, each compared with every other one.
#include "generator/reduce/join.h"
#include "tests/generator/found.h"
#include "tests/generator/naive.h"
#include "tests/support/cases.h"

// --- sets of pairs ---------------------------------------------------------------------------------------------------

struct pair {
    struct key keys[4];
};
typedef VEC(struct pair) pair_list;

static int compare_pairs(const void *a, const void *b)
{
    return keys_compare(((const struct pair *)a)->keys, ((const struct pair *)b)->keys, 4);
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

static bool are_equal(const struct naive_output *a, const struct naive_output *b)
{
    return is_same_value(&a->type, a->data, &b->type, b->data);
}

// A term that has its own value below: some smaller graph's output is part of it and equal to it. A byte of a leaf may be
// the number of an operator: parts of one byte are compared with is_value_of_leaf.
static bool is_detour(const struct naive *n, const struct naive_output *t)
{
    for (size_t r = 0; r < n->records.count; r++) {
        const struct naive_output *part = &n->records.items[r].outputs[0];
        bool is_smaller =
            n->records.items[r].n_outputs == 1 && part->key.length > 1 && part->key.length < t->key.length;
        if (is_smaller && are_equal(part, t) &&
            memmem(t->key.bytes, t->key.length, part->key.bytes, part->key.length) != NULL)
            return true;
    }
    return false;
}

static bool is_value_of_leaf(const struct naive *n, const struct naive_output *t)
{
    return ANY(size_t, r, n->records.count,
               n->records.items[r].n_nodes == 0 && are_equal(&n->records.items[r].outputs[0], t));
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
            if (i != j && x->n_outputs == 1 && y->n_outputs == 1 && are_equal(a, b) && is_kept(n, a) && is_kept(n, b))
                add_pair(ret_pairs, &a->key, &b->key);
        }
    sort_pairs(ret_pairs);
}

// Terms and pairs of equal ones, detours among them.
static void expect_counts(const char *name, const struct naive *n, const struct class_counts *counts)
{
    uint64_t terms = 0, pairs = 0;
    for (size_t i = 0; i < n->records.count; i++) {
        const struct naive_output *a = &n->records.items[i].outputs[0];
        terms += n->records.items[i].n_outputs == 1;
        for (size_t j = 0; j < n->records.count && n->records.items[i].n_outputs == 1; j++) {
            const struct naive_output *b = &n->records.items[j].outputs[0];
            pairs += i != j && n->records.items[j].n_outputs == 1 && are_equal(a, b);
        }
    }
    if (counts->terms != terms || counts->pairs != pairs)
        fail_msg("%s: %d terms, %d pairs instead of %d, %d", name, (int)counts->terms, (int)counts->pairs, (int)terms,
                 (int)pairs);
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

static uint32_t inputs_of(const struct naive *n, const struct key *key)
{
    uint32_t inputs = 0;
    for (int i = 0; i < key->length; i++) {
        if (key->bytes[i] >= KEY_NODE)
            i++;
        else if (key->bytes[i] < n->family->n_inputs)
            inputs |= 1u << key->bytes[i];
    }
    return inputs;
}

// Some term of equal value has none of its inputs.
static bool is_constant(const struct naive *n, const struct naive_output *t)
{
    for (size_t r = 0; r < n->records.count; r++) {
        const struct naive_output *other = &n->records.items[r].outputs[0];
        if (n->records.items[r].n_outputs == 1 && !(inputs_of(n, &other->key) & inputs_of(n, &t->key)) &&
            are_equal(other, t))
            return true;
    }
    return false;
}

// Some term of equal value does without one of its inputs and needs no other.
static bool has_idle_input(const struct naive *n, const struct naive_output *t)
{
    uint32_t inputs = inputs_of(n, &t->key);
    for (size_t r = 0; r < n->records.count; r++) {
        const struct naive_output *other = &n->records.items[r].outputs[0];
        uint32_t needed = inputs_of(n, &other->key);
        if (n->records.items[r].n_outputs == 1 && needed != inputs && !(needed & ~inputs) && are_equal(other, t))
            return true;
    }
    return false;
}

// By definition: values agree, no half is a substitution, the whole is one, and no source has an idle input.
static void add_if_substitution(const struct naive *n, const struct naive_output *s1, const struct naive_output *s2,
                                const struct naive_output *t1, const struct naive_output *t2, pair_list *ret_pairs)
{
    if (!are_equal(s1, t1) || !are_equal(s2, t2))
        return;
    struct pair p = {{s1->key, s2->key, t1->key, t2->key}}, swapped = {{s2->key, s1->key, t2->key, t1->key}};
    uint32_t s1_inputs = inputs_of(n, &s1->key), s2_inputs = inputs_of(n, &s2->key);
    uint32_t t1_inputs = inputs_of(n, &t1->key), t2_inputs = inputs_of(n, &t2->key);
    bool is_halved = !(t1_inputs & ~s1_inputs) || !(t2_inputs & ~s2_inputs);
    if (is_halved || (t1_inputs | t2_inputs) & ~(s1_inputs | s2_inputs) || is_value_of_leaf(n, s1) ||
        is_value_of_leaf(n, s2) || is_constant(n, s1) || is_constant(n, s2) || is_detour(n, t1) || is_detour(n, t2) ||
        is_detour(n, s1) || is_detour(n, s2) || has_idle_input(n, s1) || has_idle_input(n, s2))
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

// Three outputs, each of which needs an input that its own source has not.
static bool is_substitution_of_three(const struct naive *n, const struct naive_record *s, const struct naive_record *t,
                                     const int order[3])
{
    bool is_one = true;
    for (int k = 0; is_one && k < 3; k++) {
        const struct naive_output *x = &s->outputs[k], *y = &t->outputs[order[k]];
        is_one = are_equal(x, y) && inputs_of(n, &y->key) & ~inputs_of(n, &x->key) && !is_value_of_leaf(n, x) &&
                 !is_constant(n, x) && !is_detour(n, x) && !is_detour(n, y);
    }
    return is_one;
}

static size_t count_three_outputs_naively(const struct naive *n)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    size_t found = 0;
    for (size_t i = 0; i < n->records.count; i++)
        for (size_t j = 0; j < n->records.count && n->records.items[i].n_outputs == 3; j++)
            for (int order = 0; i != j && n->records.items[j].n_outputs == 3 && order < 6; order++)
                found += is_substitution_of_three(n, &n->records.items[i], &n->records.items[j], orders[order]);
    return found;
}

// --- the comparison --------------------------------------------------------------------------------------------------

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
    struct found fast FREED_BY(free_fast);
    struct naive naive FREED_BY(free_naive);
    pair_list slow_pairs = {0}, fast_pairs = {0}, slow_two = {0};
    uint64_t joined, pruned;

    find_fast(&fast, text, max_ops);
    enumerate_naively(&naive, fast.family, max_ops);
    find_pairs_naively(&naive, &slow_pairs);
    find_pairs_fast(fast.family, &fast.findings, &fast_pairs);
    expect_counts(name, &naive, &fast.findings.counts);
    assert_true(slow_pairs.count > 0);
    expect_equal_pairs(name, &slow_pairs, &fast_pairs);

    join_find_equations(&fast.reduction, max_ops, &joined, &pruned);
    find_two_outputs_naively(&naive, &slow_two);
    if (joined != slow_two.count)
        fail_msg("%s: %d pairs with two outputs instead of %zu", name, (int)joined, slow_two.count);
    assert_int_equal(count_three_outputs_naively(&naive), 0);
    vec_free(&slow_two);
}

TEST(finds_what_comparing_all_graphs_finds)
{
    ARENA(a);
    const struct sexp *list = read_cases(&a, "generator/naive.cases");
    for (size_t i = 0; i < list->count; i += getenv("TASO_FEW") ? 2 : 1) {
        const struct sexp *c = &list->items[i];
        compare_case(c->items[0].text, text_of_items(&a, c, 2), (int)c->items[1].integer);
    }
}
