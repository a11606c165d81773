// Candidates are pairs of targets with pairs of sources; each is pruned, tested and kept unless rules derive it.
#include "generator/reduce/join.h"

#include "core/system/interrupt.h"
#include "generator/reduce/derive.h"
#include "generator/reduce/prune.h"
#include "generator/reduce/two_outputs.h"
#include <string.h>

// The pair of targets from two groups that shares most. The others follow from it by rules of one output. The second
// one is renamed.
struct target_pair {
    uint32_t groups[2];
    uint8_t order[MAX_LEAVES];
    uint32_t targets[2], class;   // of the second target
    int n_nodes;                  // together
};
// Keys of sources 1 and 2, targets 1 and 2.
struct candidate {
    struct key keys[4];
    int n_nodes;
};
typedef VEC(struct candidate) candidate_list;
typedef VEC(struct half) half_list;
enum { MAX_DERIVED_TERMS = 150 };
// The work of one thread, class by class.
struct joining {
    const struct two_outputs_terms *known;
    uint32_t class, first;   // the first target's
    struct half first_half;
    half_list sources, other_sources;   // of the first target's class, and of the second's, renamed
    VEC(struct target_pair) best;
    candidate_list candidates;
    struct table by_groups, by_candidate;
};

// --- candidates ------------------------------------------------------------------------------------------------------

static bool is_candidate(const void *owner, uint32_t id, const void *key)
{
    const candidate_list *candidates = owner;
    return keys_compare(candidates->items[id].keys, key, 4) == 0;
}

static void add_candidate(candidate_list *candidates, struct table *by_keys, const struct candidate *c)
{
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++)
        hash = hash_mix(hash, key_hash(&c->keys[i]));
    if (table_find(by_keys, hash, is_candidate, candidates, c->keys) != TABLE_NONE)
        return;
    table_insert(by_keys, hash, (uint32_t)candidates->count);
    vec_push(candidates, *c);
}

static void join_halves(struct joining *j, const struct half *s1, const struct half *s2, const struct half *t1,
                        const struct half *t2)
{
    const struct family *f = j->known->family;
    struct candidate c = {.keys = {s1->key, s2->key, t1->key, t2->key}};
    struct candidate swapped = {.keys = {s2->key, s1->key, t2->key, t1->key}};
    keys_make_canonical(f, c.keys, 4);
    keys_make_canonical(f, swapped.keys, 4);
    add_candidate(&j->candidates, &j->by_candidate, keys_compare(swapped.keys, c.keys, 4) < 0 ? &swapped : &c);
}

static void make_sources(const struct two_outputs_terms *known, uint32_t class, const uint8_t *order,
                         half_list *ret_sources)
{
    const struct known_class *c = &known->classes.items[class];
    vec_clear(ret_sources);
    for (uint32_t i = c->first_source; i < c->first_target; i++) {
        struct half source;
        two_outputs_make_half(known, i, order, &source);
        vec_push(ret_sources, source);
    }
}

// The end of a group of sources that begins with number `first` of a class.
static size_t end_of_group(const struct two_outputs_terms *known, uint32_t class, size_t first)
{
    const struct known_class *c = &known->classes.items[class];
    size_t end = first + 1, n = c->first_target - c->first_source;
    const struct known_term *terms = &known->terms.items[c->first_source];
    while (end < n && terms[end].group == terms[first].group)
        end++;
    return end;
}

// Joins the first pair of sources from two groups: the others become it by rules of one output.
static void join_groups(struct joining *j, const struct half *t1, const struct half *t2, size_t first, size_t end,
                        size_t other_first, size_t other_end)
{
    for (size_t i = first; i < end; i++)
        for (size_t k = other_first; k < other_end; k++)
            if (two_outputs_go_together(&j->sources.items[i], &j->other_sources.items[k], j->known->max_ops)) {
                join_halves(j, &j->sources.items[i], &j->other_sources.items[k], t1, t2);
                return;
            }
}

static void join_sources(struct joining *j, const struct target_pair *pair)
{
    struct half t1, t2;
    two_outputs_make_half(j->known, pair->targets[0], two_outputs_same_order, &t1);
    two_outputs_make_half(j->known, pair->targets[1], pair->order, &t2);
    make_sources(j->known, pair->class, pair->order, &j->other_sources);
    for (size_t i = 0, end; i < j->sources.count; i = end) {
        end = end_of_group(j->known, j->class, i);
        for (size_t k = 0, other_end; k < j->other_sources.count; k = other_end) {
            other_end = end_of_group(j->known, pair->class, k);
            join_groups(j, &t1, &t2, i, end, k, other_end);
        }
    }
}

// --- pairs of targets ------------------------------------------------------------------------------------------------

static bool is_pair_of_groups(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    const struct target_pair *known = &j->best.items[id], *asked = key;
    return memcmp(known->groups, asked->groups, sizeof known->groups) == 0 &&
           memcmp(known->order, asked->order, sizeof known->order) == 0;
}

static const struct key *key_of_term(const struct two_outputs_terms *known, uint32_t term)
{
    return &known->members[known->terms.items[term].member].key;
}

static int compare_target_pairs(const struct joining *j, const struct target_pair *x, const struct target_pair *y)
{
    struct half a, b;
    if (x->n_nodes != y->n_nodes)
        return x->n_nodes - y->n_nodes;
    int order = key_compare(key_of_term(j->known, x->targets[0]), key_of_term(j->known, y->targets[0]));
    if (order)
        return order;
    two_outputs_make_half(j->known, x->targets[1], x->order, &a);
    two_outputs_make_half(j->known, y->targets[1], y->order, &b);
    return key_compare(&a.key, &b.key);
}

static void keep_best_pair(struct joining *j, const struct target_pair *pair)
{
    uint64_t hash = hash_mix(hash_mix(pair->groups[0], pair->groups[1]), hash_bytes(pair->order, MAX_LEAVES, 0));
    uint32_t found = table_find(&j->by_groups, hash, is_pair_of_groups, j, pair);
    if (found == TABLE_NONE) {
        table_insert(&j->by_groups, hash, (uint32_t)j->best.count);
        vec_push(&j->best, *pair);
    } else if (compare_target_pairs(j, pair, &j->best.items[found]) < 0)
        j->best.items[found] = *pair;
}

static uint32_t renamed_inputs(const struct family *f, uint32_t inputs, const uint8_t *order)
{
    uint32_t renamed = 0;
    for (int i = 0; i < f->n_inputs; i++)
        if (inputs >> i & 1)
            renamed |= 1u << order[i];
    return renamed;
}

static void pair_with(void *context, const struct renamed_target *second)
{
    struct joining *j = context;
    const struct known_class *own = &j->known->classes.items[j->class],
                             *other = &j->known->classes.items[second->class];
    const struct half *t1 = &j->first_half, *t2 = &second->half;
    uint32_t there = own->needed | renamed_inputs(j->known->family, other->needed, second->order);
    if ((t1->leaves | t2->leaves) & ~there || !two_outputs_go_together(t1, t2, j->known->max_ops))
        return;
    struct target_pair pair = {.targets = {j->first, second->term}, .class = second->class};
    for (int i = 0; i < 2; i++)
        pair.groups[i] = j->known->terms.items[pair.targets[i]].group;
    memcpy(pair.order, second->order, sizeof pair.order);
    pair.n_nodes = two_outputs_count_nodes(t1, t2, MAX_OPS);
    keep_best_pair(j, &pair);
}

static void join_class(struct joining *j, uint32_t class)
{
    const struct known_class *c = &j->known->classes.items[class];
    j->class = class;
    vec_clear(&j->best);
    table_clear(&j->by_groups);
    make_sources(j->known, class, two_outputs_same_order, &j->sources);
    for (j->first = c->first_target; j->first < c->end; j->first++) {
        two_outputs_make_half(j->known, j->first, two_outputs_same_order, &j->first_half);
        two_outputs_visit_partners(j->known, &j->first_half, pair_with, j);
    }
    for (size_t i = 0; i < j->best.count; i++)
        join_sources(j, &j->best.items[i]);
}

static void free_joining(struct joining *j)
{
    vecs_free(j, sources, other_sources, best, candidates);
    table_free(&j->by_groups);
    table_free(&j->by_candidate);
}

static void join_classes(const struct two_outputs_terms *known, int threads, candidate_list *ret_candidates)
{
    struct table by_keys FREED_BY(table_free) = {0};
#pragma omp parallel num_threads(threads)
    {
        struct joining j FREED_BY(free_joining) = {.known = known};
#pragma omp for schedule(dynamic, 64)
        for (uint32_t class = 0; class < known->classes.count; class ++)
            if (!interrupt_requested())
                join_class(&j, class);
#pragma omp critical(candidates)
        for (size_t i = 0; i < j.candidates.count; i++)
            add_candidate(ret_candidates, &by_keys, &j.candidates.items[i]);
    }
}

// --- judging ---------------------------------------------------------------------------------------------------------

COMPARISON(compare_candidates, struct candidate, ORDER(x->n_nodes, y->n_nodes) ?: keys_compare(x->keys, y->keys, 4))

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

static bool is_derived(const struct reduction *r, const struct candidate *c, int max_ops)
{
    struct key source, target;
    return key_pair(&c->keys[0], &c->keys[1], &source) && key_pair(&c->keys[2], &c->keys[3], &target) &&
           derive_term(&r->rules, &source, &target, max_ops + 2, MAX_DERIVED_TERMS, DERIVE_BY_RULES);
}

static bool is_substitution(const struct reduction *r, const struct candidate *c)
{
    struct rule_graph graph;
    struct evaluation_cache *calls = reduction_calls(r);
    rule_graph_from_keys(&graph, r->family_types->family, 2, c->keys, c->keys + 2);
    return rule_graph_holds(&graph, calls) && !prune_by_common_root(&graph, calls);
}

// Counts all operators of those that are left.
static void count_nodes_if_open(const struct reduction *r, int max_ops, struct candidate *c)
{
    c->n_nodes = 0;
    if (interrupt_requested() || !is_substitution(r, c) || is_derived(r, c, max_ops))
        return;
    for (int i = 0; i < 4; i++)
        c->n_nodes += key_count_nodes(r->family_types->family, &c->keys[i]);
}

// Keeps the candidates that the rules of one output do not derive, small ones first.
static void keep_open(const struct reduction *r, int max_ops, candidate_list *candidates)
{
    size_t n = 0;
#pragma omp parallel for num_threads(r->family_types->threads) schedule(dynamic, 16)
    for (size_t i = 0; i < candidates->count; i++)
        count_nodes_if_open(r, max_ops, &candidates->items[i]);
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].n_nodes > 0)
            candidates->items[n++] = candidates->items[i];
    candidates->count = n;
    vec_sort(candidates, compare_candidates);
}

// Is it a new equation, or false?
static bool judge_candidate(struct reduction *r, int max_ops, const struct candidate *c)
{
    struct equation equation = {0};
    if (is_derived(r, c, max_ops))
        return false;
    rule_graph_from_keys(&equation.graph, r->family_types->family, 2, c->keys, c->keys + 2);
    prune_generalize(&equation.graph, reduction_calls(r), max_ops);
    if (shapes_test(&equation.graph, reduction_calls(r), EVIDENCE_NONE, &equation.shapes) == SHAPES_HOLD)
        add_equation(r, &equation);
    else
        r->counts.false_sizes++;
    return true;
}

void join_find_equations(struct reduction *r, int max_ops, uint64_t *ret_pairs, uint64_t *ret_pruned)
{
    struct two_outputs_terms known;
    LOCAL_LIST(candidate_list, candidates);
    two_outputs_terms_init(&known, r, max_ops);
    join_classes(&known, r->family_types->threads, &candidates);
    two_outputs_terms_free(&known);
    *ret_pairs = *ret_pruned = candidates.count;
    keep_open(r, max_ops, &candidates);
    for (size_t i = 0; i < candidates.count && !interrupt_requested(); i++)
        *ret_pruned -= judge_candidate(r, max_ops, &candidates.items[i]);
}
