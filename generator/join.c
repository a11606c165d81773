#include "generator/join.h"

#include "core/interrupt.h"
#include "generator/prune.h"
#include <stdlib.h>
#include <string.h>

// --- terms and the nodes that they need ------------------------------------------------------------------------------

struct joined {
    struct key key;
    uint32_t class, leaves;
    uint8_t order[MAX_LEAVES];   // the renaming of its class that it stands in
    uint8_t n_nodes;
    uint32_t nodes[MAX_OPS];   // numbers of the applications in the term, ascending
    bool is_target;            // needs an input that another term of its class does not
};
struct node_pair {
    uint32_t a, b;
    VEC(uint32_t) targets;
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
    VEC(struct joined) terms;     // of the classes concerned, as they are
    VEC(struct joined) targets;   // under all renamings
    VEC(uint32_t) first_term;     // of every class concerned
    VEC(struct key) nodes;        // of each application, its first byte zeroed: outputs of one node are one
    VEC(struct node_pair) pairs;
    VEC(struct candidate) candidates;
    struct table by_node, by_target, by_pair, by_candidate;
};

static uint64_t hash_of_key(const struct key *key)
{
    return hash_bytes(key->bytes, key->length, 0);
}

static bool is_node(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    return key_compare(&j->nodes.items[id], key) == 0;
}

static uint32_t number_of_node(struct joining *j, const uint8_t *bytes, int length)
{
    struct key key = {.length = (uint8_t)length};
    memcpy(key.bytes, bytes, (size_t)length);
    key.bytes[0] = 0;
    uint32_t found = table_find(&j->by_node, hash_of_key(&key), is_node, j, &key);
    if (found != TABLE_NONE)
        return found;
    table_insert(&j->by_node, hash_of_key(&key), (uint32_t)j->nodes.count);
    vec_push(&j->nodes, key);
    return (uint32_t)j->nodes.count - 1;
}

static void add_node_number(struct joined *t, uint32_t number)
{
    int at = 0;
    while (at < t->n_nodes && t->nodes[at] < number)
        at++;
    if (at < t->n_nodes && t->nodes[at] == number)
        return;
    if (t->n_nodes == MAX_OPS)
        return;
    memmove(&t->nodes[at + 1], &t->nodes[at], sizeof *t->nodes * (size_t)(t->n_nodes - at));
    t->nodes[at] = number;
    t->n_nodes++;
}

// Gives the length of the term that starts at `at`.
static int read_term(struct joining *j, struct joined *t, int at)
{
    if (t->key.bytes[at] < KEY_NODE) {
        if (t->key.bytes[at] < j->family->n_inputs)
            t->leaves |= 1u << t->key.bytes[at];
        return 1;
    }
    int length = 2, n = j->family->instances[t->key.bytes[at + 1]].n_inputs;
    for (int i = 0; i < n; i++)
        length += read_term(j, t, at + length);
    add_node_number(t, number_of_node(j, t->key.bytes + at, length));
    return length;
}

static void make_joined(struct joining *j, const struct key *key, uint32_t class, const uint8_t *order,
                        struct joined *ret_term)
{
    *ret_term = (struct joined){.key = *key, .class = class};
    memcpy(ret_term->order, order, MAX_LEAVES);
    key_rename(j->family, &ret_term->key, order);
    read_term(j, ret_term, 0);
}

// Nodes of two terms together; more than `limit`: limit + 1.
static int count_union(const struct joined *a, const struct joined *b, int limit)
{
    int n = 0;
    for (int i = 0, k = 0; (i < a->n_nodes || k < b->n_nodes) && n <= limit; n++) {
        uint32_t x = i < a->n_nodes ? a->nodes[i] : UINT32_MAX, y = k < b->n_nodes ? b->nodes[k] : UINT32_MAX;
        i += x <= y;
        k += y <= x;
    }
    return n;
}

static bool contains_term(const struct key *whole, const struct key *part)
{
    for (int i = 0; i + part->length <= whole->length; i++)
        if (memcmp(whole->bytes + i, part->bytes, part->length) == 0)
            return true;
    return false;
}

static bool are_two_outputs(const struct joined *a, const struct joined *b, int max_ops)
{
    return count_union(a, b, max_ops) <= max_ops && !contains_term(&a->key, &b->key) &&
           !contains_term(&b->key, &a->key);
}

// --- the classes concerned -------------------------------------------------------------------------------------------

static bool needs_more(const struct joined *target, const struct joined *source)
{
    return (target->leaves & ~source->leaves) != 0;
}

static void mark_targets(struct joining *j, size_t first)
{
    for (size_t t = first; t < j->terms.count; t++)
        for (size_t s = first; s < j->terms.count; s++)
            if (needs_more(&j->terms.items[t], &j->terms.items[s]))
                j->terms.items[t].is_target = true;
}

static void take_class(struct joining *j, uint32_t class)
{
    static const uint8_t same_order[MAX_LEAVES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const struct reduction *r = j->r;
    size_t first = j->terms.count;
    uint32_t all = UINT32_MAX, some = 0;
    const struct found_member *members = r->findings->members.items;
    if (members[r->first_member.items[class]].level == 0)
        return;
    for (uint32_t i = r->first_member.items[class]; i < r->first_member.items[class + 1]; i++) {
        struct joined t;
        make_joined(j, &members[i].key, (uint32_t)j->first_term.count, same_order, &t);
        vec_push(&j->terms, t);
        all &= t.leaves;
        some |= t.leaves;
    }
    bool is_constant = all == 0;   // as x - x is: needs no input at all
    if (some & ~all && !is_constant) {
        mark_targets(j, first);
        vec_push(&j->first_term, (uint32_t)first);
    } else {
        j->terms.count = first;
    }
}

static uint32_t end_of_class(const struct joining *j, uint32_t class)
{
    return class + 1 < j->first_term.count ? j->first_term.items[class + 1] : (uint32_t)j->terms.count;
}

static bool is_target_key(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    return key_compare(&j->targets.items[id].key, key) == 0;
}

static bool is_node_pair(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    const uint32_t *pair = key;
    return j->pairs.items[id].a == pair[0] && j->pairs.items[id].b == pair[1];
}

static void index_target(struct joining *j, uint32_t target)
{
    const struct joined *t = &j->targets.items[target];
    for (int i = 0; i < t->n_nodes; i++)
        for (int k = i + 1; k < t->n_nodes; k++) {
            uint32_t pair[2] = {t->nodes[i], t->nodes[k]};
            uint64_t hash = hash_mix(pair[0], pair[1]);
            uint32_t found = table_find(&j->by_pair, hash, is_node_pair, j, pair);
            if (found == TABLE_NONE) {
                found = (uint32_t)j->pairs.count;
                table_insert(&j->by_pair, hash, found);
                vec_push(&j->pairs, ((struct node_pair){pair[0], pair[1], {0}}));
            }
            vec_push(&j->pairs.items[found].targets, target);
        }
}

struct renaming_target {
    struct joining *j;
    const struct joined *target;
    uint32_t used;   // by its class
};

// What tells targets apart: the term, and, where other terms of its class need more inputs, the renaming.
static uint64_t hash_of_target(const struct renaming_target *r, const struct joined *renamed)
{
    bool is_decided = (r->used & ~r->target->leaves) == 0;
    return is_decided ? hash_of_key(&renamed->key)
                      : hash_mix(hash_of_key(&renamed->key), hash_bytes(renamed->order, MAX_LEAVES, 1));
}

static bool add_renamed_target(void *context, const uint8_t *order)
{
    struct renaming_target *r = context;
    struct joining *j = r->j;
    struct joined renamed;
    make_joined(j, &r->target->key, r->target->class, order, &renamed);
    uint64_t hash = hash_of_target(r, &renamed);
    if (table_find(&j->by_target, hash, is_target_key, j, &renamed.key) != TABLE_NONE)
        return true;
    table_insert(&j->by_target, hash, (uint32_t)j->targets.count);
    vec_push(&j->targets, renamed);
    index_target(j, (uint32_t)j->targets.count - 1);
    return true;
}

static void add_renamed_targets(struct joining *j, uint32_t class)
{
    struct renaming_target r = {.j = j};
    for (uint32_t i = j->first_term.items[class]; i < end_of_class(j, class); i++)
        r.used |= j->terms.items[i].leaves;
    for (uint32_t i = j->first_term.items[class]; i < end_of_class(j, class); i++) {
        r.target = &j->terms.items[i];
        if (r.target->is_target)
            renamings_visit(j->family, r.used, add_renamed_target, &r);
    }
}

// --- candidates ------------------------------------------------------------------------------------------------------

static bool is_candidate(const void *owner, uint32_t id, const void *key)
{
    const struct joining *j = owner;
    const struct key *keys = key;
    for (int i = 0; i < 4; i++)
        if (key_compare(&j->candidates.items[id].keys[i], &keys[i]) != 0)
            return false;
    return true;
}

static int compare_four(const struct key *a, const struct key *b)
{
    for (int i = 0; i < 4; i++) {
        int order = key_compare(&a[i], &b[i]);
        if (order)
            return order;
    }
    return 0;
}

static void add_candidate(struct joining *j, const struct joined *s1, const struct joined *s2, const struct joined *t1,
                          const struct joined *t2)
{
    struct candidate c = {.keys = {s1->key, s2->key, t1->key, t2->key}};
    struct candidate swapped = {.keys = {s2->key, s1->key, t2->key, t1->key}};
    keys_make_canonical(j->family, c.keys, 4);
    keys_make_canonical(j->family, swapped.keys, 4);
    if (compare_four(swapped.keys, c.keys) < 0)
        c = swapped;
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++)
        hash = hash_mix(hash, hash_of_key(&c.keys[i]));
    if (table_find(&j->by_candidate, hash, is_candidate, j, c.keys) != TABLE_NONE)
        return;
    table_insert(&j->by_candidate, hash, (uint32_t)j->candidates.count);
    vec_push(&j->candidates, c);
}

static void join_sources(struct joining *j, const struct joined *t1, const struct joined *t2)
{
    for (uint32_t a = j->first_term.items[t1->class]; a < end_of_class(j, t1->class); a++) {
        const struct joined *s1 = &j->terms.items[a];
        if (!needs_more(t1, s1))
            continue;
        for (uint32_t b = j->first_term.items[t2->class]; b < end_of_class(j, t2->class); b++) {
            struct joined s2;
            make_joined(j, &j->terms.items[b].key, t2->class, t2->order, &s2);
            bool is_closed = ((t1->leaves | t2->leaves) & ~(s1->leaves | s2.leaves)) == 0;
            if (needs_more(t2, &s2) && is_closed && are_two_outputs(s1, &s2, j->max_ops))
                add_candidate(j, s1, &s2, t1, t2);
        }
    }
}

static void join_targets_of(struct joining *j, const struct joined *t1)
{
    VEC(uint32_t) others = {0};
    for (int i = 0; i < t1->n_nodes; i++)
        for (int k = i + 1; k < t1->n_nodes; k++) {
            uint32_t pair[2] = {t1->nodes[i], t1->nodes[k]};
            uint32_t found = table_find(&j->by_pair, hash_mix(pair[0], pair[1]), is_node_pair, j, pair);
            for (size_t n = 0; found != TABLE_NONE && n < j->pairs.items[found].targets.count; n++)
                vec_push(&others, j->pairs.items[found].targets.items[n]);
        }
    for (size_t i = 0; i < others.count; i++) {
        struct joined t2 = j->targets.items[others.items[i]];
        if (are_two_outputs(t1, &t2, j->max_ops))
            join_sources(j, t1, &t2);
    }
    vec_free(&others);
}

// --- judging ---------------------------------------------------------------------------------------------------------

static int count_nodes(const struct joining *j, const struct candidate *c)
{
    int n = 0;
    for (int i = 0; i < 4; i++)
        n += key_count_nodes(j->family, &c->keys[i]);
    return n;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->n_nodes != y->n_nodes ? x->n_nodes - y->n_nodes : compare_four(x->keys, y->keys);
}

static void add_law(struct reduction *r, const struct law *law)
{
    const struct sketch *sk = &law->sketch;
    struct key keys[4], source, target;
    for (int i = 0; i < 2; i++) {
        sketch_key(sk, sk->source[i], &keys[i]);
        sketch_key(sk, sk->target[i], &keys[2 + i]);
    }
    if (key_pair(&keys[0], &keys[1], &source) && key_pair(&keys[2], &keys[3], &target))
        rewrite_rules_add(&r->rules, &source, &target, (uint32_t)r->laws.count, shapes_have_condition(&law->shapes));
    vec_push(&r->laws, *law);
}

static bool is_derived(const struct joining *j, const struct candidate *c)
{
    struct key source, target;
    return key_pair(&c->keys[0], &c->keys[1], &source) && key_pair(&c->keys[2], &c->keys[3], &target) &&
           rewrite_derives(&j->r->rules, &source, &target, j->max_ops + 2, MAX_DERIVED_TERMS, DERIVE_BY_RULES);
}

static void judge_candidate(struct joining *j, struct lookup *l, const struct candidate *c, uint64_t *ret_pruned)
{
    struct law law = {0};
    sketch_from_keys(&law.sketch, j->family, 2, c->keys, c->keys + 2);
    if (sketch_judge(&law.sketch, l) != VERDICT_EQUAL || prune_by_common_root(&law.sketch, l) || is_derived(j, c)) {
        ++*ret_pruned;
        return;
    }
    prune_generalize(&law.sketch, l, j->max_ops);
    if (shapes_test(&law.sketch, j->r->seed, &l->scratch, &law.shapes) == SHAPES_HOLD)
        add_law(j->r, &law);
    else
        j->r->counts.false_sizes++;
}

static void judge_candidates(struct joining *j, uint64_t *ret_pruned)
{
    struct lookup l;
    lookup_init(&l, j->r->universe);
    for (size_t i = 0; i < j->candidates.count; i++)
        j->candidates.items[i].n_nodes = count_nodes(j, &j->candidates.items[i]);
    if (j->candidates.count)
        vec_sort(&j->candidates, compare_candidates);
    for (size_t i = 0; i < j->candidates.count && !interrupt_requested(); i++)
        judge_candidate(j, &l, &j->candidates.items[i], ret_pruned);
    lookup_free(&l);
}

static void free_joining(struct joining *j)
{
    for (size_t i = 0; i < j->pairs.count; i++)
        vec_free(&j->pairs.items[i].targets);
    vec_free(&j->terms);
    vec_free(&j->targets);
    vec_free(&j->first_term);
    vec_free(&j->nodes);
    vec_free(&j->pairs);
    vec_free(&j->candidates);
    table_free(&j->by_node);
    table_free(&j->by_target);
    table_free(&j->by_pair);
    table_free(&j->by_candidate);
}

static bool is_identity(const uint8_t *order)
{
    for (int i = 0; i < MAX_LEAVES; i++)
        if (order[i] != i)
            return false;
    return true;
}

void join_find_laws(struct reduction *r, int max_ops, uint64_t *ret_pairs, uint64_t *ret_pruned)
{
    struct joining j = {.r = r, .family = r->universe->family, .max_ops = max_ops};
    for (uint32_t class = 0; class < r->findings->n_classes; class ++)
        take_class(&j, class);
    for (uint32_t class = 0; class < j.first_term.count; class ++)
        add_renamed_targets(&j, class);
    for (size_t i = 0; i < j.targets.count && !interrupt_requested(); i++) {
        struct joined t1 = j.targets.items[i];
        if (is_identity(t1.order))
            join_targets_of(&j, &t1);
    }
    *ret_pairs = j.candidates.count;
    *ret_pruned = 0;
    judge_candidates(&j, ret_pruned);
    free_joining(&j);
}
