// Candidates are pairs of targets with pairs of sources; each is pruned, tested and kept unless rules derive it.
#include "generator/reduce/join.h"

#include "core/system/interrupt.h"
#include "generator/reduce/derive.h"
#include "generator/reduce/prune.h"
#include "generator/reduce/two_outputs.h"
#include <string.h>

// The pair of targets from two groups that shares most. The others follow from it by rules of one output.
struct target_pair {
    uint32_t groups[2];    // renamed
    uint32_t targets[2];   // of `targets`
    int n_nodes;           // together
    uint32_t class;        // renamed, of the second target
};
// Keys of sources 1 and 2, targets 1 and 2.
struct candidate {
    struct key keys[4];
    int n_nodes;
};
enum { MAX_DERIVED_TERMS = 150 };
struct joining {
    struct reduction *r;
    const struct family *family;
    int max_ops;
    struct two_outputs_terms known;
    VEC(struct two_outputs) renamed;   // the terms of the class `renamed_class`
    uint32_t renamed_class;
    VEC(struct target_pair) best;
    VEC(struct candidate) candidates;
    struct table by_groups, by_candidate;
};

// --- candidates ------------------------------------------------------------------------------------------------------

static bool is_candidate(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    return keys_compare(j->candidates.items[id].keys, key, 4) == 0;
}

static void add_candidate(struct joining *j, const struct two_outputs *s1, const struct two_outputs *s2,
                          const struct two_outputs *t1, const struct two_outputs *t2)
{
    struct candidate c = {.keys = {s1->key, s2->key, t1->key, t2->key}};
    struct candidate swapped = {.keys = {s2->key, s1->key, t2->key, t1->key}};
    keys_make_canonical(j->family, c.keys, 4);
    keys_make_canonical(j->family, swapped.keys, 4);
    if (keys_compare(swapped.keys, c.keys, 4) < 0)
        c = swapped;
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++)
        hash = hash_mix(hash, key_hash(&c.keys[i]));
    if (table_find(&j->by_candidate, hash, is_candidate, j, c.keys) != TABLE_NONE)
        return;
    table_insert(&j->by_candidate, hash, (uint32_t)j->candidates.count);
    vec_push(&j->candidates, c);
}

static void rename_class(struct joining *j, const struct two_outputs *t)
{
    if (j->renamed.count && j->renamed_class == t->renamed_class)
        return;
    vec_clear(&j->renamed);
    for (uint32_t i = j->known.first_term.items[t->class]; i < two_outputs_end_of_class(&j->known, t->class); i++) {
        struct two_outputs s;
        two_outputs_rename(&j->known, i, j->known.classes.items[t->renamed_class].order, &s);
        vec_push(&j->renamed, s);
    }
    j->renamed_class = t->renamed_class;
}

// Joins the first pair of sources from two groups: the others become it by rules of one output.
static void join_groups(struct joining *j, const struct two_outputs *t1, const struct two_outputs *t2,
                        const struct two_outputs *g1, const struct two_outputs *g2)
{
    for (const struct two_outputs *s1 = g1;; s1 += s1->next_in_group) {
        for (const struct two_outputs *s2 = g2;; s2 += s2->next_in_group) {
            if (two_outputs_go_together(s1, s2, j->max_ops)) {
                add_candidate(j, s1, s2, t1, t2);
                return;
            }
            if (!s2->next_in_group)
                break;
        }
        if (!s1->next_in_group)
            return;
    }
}

static void join_source(struct joining *j, const struct two_outputs *t1, const struct two_outputs *t2,
                        const struct two_outputs *s1)
{
    uint32_t all = t1->leaves | t2->leaves;
    for (const struct two_outputs *s2 = j->renamed.items;; s2 += s2->next_group) {
        if (t2->leaves & ~s2->leaves && !(all & ~(s1->leaves | s2->leaves)))
            join_groups(j, t1, t2, s1, s2);
        if (!s2->next_group)
            return;
    }
}

static void join_sources(struct joining *j, const struct target_pair *pair)
{
    const struct two_outputs *t1 = &j->known.targets.items[pair->targets[0]],
                             *t2 = &j->known.targets.items[pair->targets[1]];
    rename_class(j, t2);
    for (const struct two_outputs *s1 = &j->known.terms.items[j->known.first_term.items[t1->class]];;
         s1 += s1->next_group) {
        if (t1->leaves & ~s1->leaves)
            join_source(j, t1, t2, s1);
        if (!s1->next_group)
            return;
    }
}

static bool is_pair_of_groups(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    return memcmp(j->best.items[id].groups, key, sizeof j->best.items[id].groups) == 0;
}

static int compare_target_pairs(const struct joining *j, const struct target_pair *x, const struct target_pair *y)
{
    const struct two_outputs *t = j->known.targets.items;
    int order = x->n_nodes - y->n_nodes;
    if (!order)
        order = key_compare(&t[x->targets[0]].key, &t[y->targets[0]].key);
    return order ? order : key_compare(&t[x->targets[1]].key, &t[y->targets[1]].key);
}

static void keep_best_pair(struct joining *j, uint32_t first, uint32_t second)
{
    const struct two_outputs *t1 = &j->known.targets.items[first], *t2 = &j->known.targets.items[second];
    struct target_pair pair = {{t1->renamed_group, t2->renamed_group},
                               {first, second},
                               two_outputs_count_nodes(t1, t2, MAX_OPS),
                               t2->renamed_class};
    uint64_t hash = hash_mix(pair.groups[0], pair.groups[1]);
    uint32_t found = table_find(&j->by_groups, hash, is_pair_of_groups, j, pair.groups);
    if (found == TABLE_NONE) {
        table_insert(&j->by_groups, hash, (uint32_t)j->best.count);
        vec_push(&j->best, pair);
    } else if (compare_target_pairs(j, &pair, &j->best.items[found]) < 0)
        j->best.items[found] = pair;
}

static void pair_target_with(struct joining *j, uint32_t first, uint32_t a, uint32_t b)
{
    const struct two_outputs *t1 = &j->known.targets.items[first];
    const uint32_t *others = NULL;
    size_t n = two_outputs_targets_with(&j->known, a, b, &others);
    for (size_t i = 0; i < n; i++) {
        const struct two_outputs *t2 = &j->known.targets.items[others[i]];
        if (t1->leaves & t2->leaves && two_outputs_go_together(t1, t2, j->max_ops))
            keep_best_pair(j, first, others[i]);
    }
}

static void pair_target(struct joining *j, uint32_t first)
{
    const struct two_outputs *t1 = &j->known.targets.items[first];
    int n_nodes = t1->n_nodes;
    for (int i = 0; i < n_nodes; i++)
        for (int k = i; k < n_nodes; k++)
            pair_target_with(j, first, t1->nodes[i], t1->nodes[k]);
    if (2 * n_nodes <= j->max_ops)
        pair_target_with(j, first, JOINED_ANY, JOINED_ANY);
}

// --- judging ---------------------------------------------------------------------------------------------------------

static int count_all_nodes(const struct joining *j, const struct candidate *c)
{
    int n = 0;
    for (int i = 0; i < 4; i++)
        n += key_count_nodes(j->family, &c->keys[i]);
    return n;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->n_nodes != y->n_nodes ? x->n_nodes - y->n_nodes : keys_compare(x->keys, y->keys, 4);
}

static void add_equation(struct reduction *r, const struct equation *equation)
{
    const struct rule_graph *rg = &equation->graph;
    struct key keys[4], source, target;
    for (int i = 0; i < 2; i++) {
        rule_graph_key(rg, rg->source[i], &keys[i]);
        rule_graph_key(rg, rg->target[i], &keys[2 + i]);
    }
    if (key_pair(&keys[0], &keys[1], &source) && key_pair(&keys[2], &keys[3], &target))
        rewrite_rules_add(&r->rules, &source, &target, (uint32_t)r->equations.count,
                          shapes_have_condition(&equation->shapes));
    vec_push(&r->equations, *equation);
}

static bool is_derived(const struct joining *j, const struct candidate *c)
{
    struct key source, target;
    return key_pair(&c->keys[0], &c->keys[1], &source) && key_pair(&c->keys[2], &c->keys[3], &target) &&
           derive_term(&j->r->rules, &source, &target, j->max_ops + 2, MAX_DERIVED_TERMS, DERIVE_BY_RULES);
}

static void judge_candidate(struct joining *j, struct lookup *l, const struct candidate *c, uint64_t *ret_pruned)
{
    struct equation equation = {0};
    rule_graph_from_keys(&equation.graph, j->family, 2, c->keys, c->keys + 2);
    if (rule_graph_judge(&equation.graph, l) != VERDICT_EQUAL || prune_by_common_root(&equation.graph, l) ||
        is_derived(j, c)) {
        ++*ret_pruned;
        return;
    }
    prune_generalize(&equation.graph, l, j->max_ops);
    if (shapes_test(&equation.graph, reduction_calls(j->r), EVIDENCE_NONE, &equation.shapes) == SHAPES_HOLD)
        add_equation(j->r, &equation);
    else
        j->r->counts.false_sizes++;
}

static void judge_candidates(struct joining *j, uint64_t *ret_pruned)
{
    struct lookup l;
    lookup_init(&l, j->r->family_types);
    for (size_t i = 0; i < j->candidates.count; i++)
        j->candidates.items[i].n_nodes = count_all_nodes(j, &j->candidates.items[i]);
    vec_sort(&j->candidates, compare_candidates);
    for (size_t i = 0; i < j->candidates.count && !interrupt_requested(); i++)
        judge_candidate(j, &l, &j->candidates.items[i], ret_pruned);
    lookup_free(&l);
}

static void free_joining(struct joining *j)
{
    two_outputs_terms_free(&j->known);
    vec_free(&j->renamed);
    vec_free(&j->best);
    vec_free(&j->candidates);
    table_free(&j->by_groups);
    table_free(&j->by_candidate);
}

static bool is_identity(const uint8_t *order)
{
    for (int i = 0; i < MAX_LEAVES; i++)
        if (order[i] != i)
            return false;
    return true;
}

// So that each class is renamed once.
static int compare_renamed_classes(const void *a, const void *b)
{
    const struct target_pair *x = a, *y = b;
    return x->class == y->class ? 0 : x->class < y->class ? -1 : 1;
}

void join_find_equations(struct reduction *r, int max_ops, uint64_t *ret_pairs, uint64_t *ret_pruned)
{
    struct joining j = {.r = r, .family = r->family_types->family, .max_ops = max_ops};
    two_outputs_terms_init(&j.known, r);
    for (uint32_t i = 0; i < j.known.targets.count && !interrupt_requested(); i++)
        if (is_identity(j.known.classes.items[j.known.targets.items[i].renamed_class].order))
            pair_target(&j, i);
    vec_sort(&j.best, compare_renamed_classes);
    for (size_t i = 0; i < j.best.count && !interrupt_requested(); i++)
        join_sources(&j, &j.best.items[i]);
    *ret_pairs = j.candidates.count;
    *ret_pruned = 0;
    judge_candidates(&j, ret_pruned);
    free_joining(&j);
}
