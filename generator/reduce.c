#include "generator/reduce.h"

#include "core/interrupt.h"
#include "generator/prune.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES_PER_CLASS = 8, MAX_DERIVED_TERMS = 80, MAX_TERMS_AT_THE_END = 800 };

// --- one class: its members of up to some level, and the parts they are connected to ---------------------------------

struct view {
    const struct reduction *r;
    const struct found_member *members;
    uint32_t count;
    struct table by_key;
    uint32_t *parent;
    uint32_t current;
};

static uint64_t hash_of_key(const struct key *key)
{
    return hash_bytes(key->bytes, key->length, 0);
}

static bool is_member(const void *owner, uint32_t id, const void *key)
{
    const struct view *v = owner;
    return key_compare(&v->members[id].key, key) == 0;
}

static uint32_t part_of(struct view *v, uint32_t i)
{
    while (v->parent[i] != i)
        i = v->parent[i] = v->parent[v->parent[i]];
    return i;
}

static bool connect_reached(void *context, const struct key *term)
{
    struct view *v = context;
    uint32_t found = table_find(&v->by_key, hash_of_key(term), is_member, v, term);
    if (found != TABLE_NONE)
        v->parent[part_of(v, found)] = part_of(v, v->current);
    return true;
}

static uint32_t count_parts(struct view *v)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < v->count; i++)
        parts += part_of(v, i) == i;
    return parts;
}

static void connect_members(struct view *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        v->current = i;
        if (v->members[i].level > 0)
            rewrite_visit(&v->r->rules, &v->members[i].key, connect_reached, v);
    }
}

static void view_init(struct view *v, const struct reduction *r, uint32_t class, int level)
{
    uint32_t first = r->first_member.items[class], end = r->first_member.items[class + 1];
    *v = (struct view){.r = r, .members = &r->findings->members.items[first]};
    while (first + v->count < end && v->members[v->count].level <= level)
        v->count++;
    v->parent = mem_new_array(uint32_t, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        v->parent[i] = i;
        table_insert(&v->by_key, hash_of_key(&v->members[i].key), i);
    }
}

static void view_free(struct view *v)
{
    table_free(&v->by_key);
    mem_free_array(v->parent, v->count);
}

// --- new laws --------------------------------------------------------------------------------------------------------

static void add_rewrite(struct reduction *r, const struct law *law)
{
    const struct sketch *sk = &law->sketch;
    struct key source, target;
    sketch_key(sk, sk->source[0], &source);
    sketch_key(sk, sk->target[0], &target);
    rewrite_rules_add(&r->rules, &source, &target, (uint32_t)r->laws.count, shapes_have_condition(&law->shapes));
}

static bool is_failed_key(const void *owner, uint32_t id, const void *key)
{
    const struct reduction *r = owner;
    return key_compare(&r->failed_keys.items[id], key) == 0;
}

// One key for both sides, which are short: "source target" cut at the length of a key.
static void key_of_sketch(const struct sketch *sk, struct key *ret_key)
{
    struct key target;
    sketch_key(sk, sk->source[0], ret_key);
    sketch_key(sk, sk->target[0], &target);
    int n = KEY_LENGTH - ret_key->length < target.length ? KEY_LENGTH - ret_key->length : target.length;
    memcpy(ret_key->bytes + ret_key->length, target.bytes, (size_t)n);
    ret_key->length = (uint8_t)(ret_key->length + n);
}

static bool add_if_true(struct reduction *r, struct lookup *l, const struct sketch *sk)
{
    struct law law = {.sketch = *sk};
    struct key key;
    key_of_sketch(sk, &key);
    if (table_find(&r->failed, hash_of_key(&key), is_failed_key, r, &key) != TABLE_NONE)
        return false;
    enum shapes_verdict verdict = shapes_test(sk, r->seed, &l->scratch, &law.shapes);
    if (verdict == SHAPES_HOLD) {
        add_rewrite(r, &law);
        vec_push(&r->laws, law);
        return true;
    }
    r->counts.false_sizes += verdict == SHAPES_FALSE_AT_OTHER_SIZES;
    r->counts.false_reals += verdict == SHAPES_FALSE_ON_REALS;
    r->counts.untested += verdict == SHAPES_NEVER_TESTED;
    table_insert(&r->failed, hash_of_key(&key), (uint32_t)r->failed_keys.count);
    vec_push(&r->failed_keys, key);
    return false;
}

static bool make_directed(const struct reduction *r, const struct found_member *a, const struct found_member *b,
                          struct sketch *ret_sketch)
{
    const struct family *f = r->universe->family;
    if (b->level > 0) {
        sketch_from_keys(ret_sketch, f, 1, &b->key, &a->key);
        if (sketch_is_directed(ret_sketch))
            return true;
    }
    if (a->level == 0)
        return false;
    sketch_from_keys(ret_sketch, f, 1, &a->key, &b->key);
    return sketch_is_directed(ret_sketch);
}

// Are the two terms connected now, by a law that was or has become known?
static bool try_pair(struct reduction *r, struct lookup *l, const struct found_member *a, const struct found_member *b,
                     int max_ops, bool *ret_is_new)
{
    struct sketch sketch, general;
    *ret_is_new = false;
    r->counts.tried++;
    if (rewrite_derives(&r->rules, &a->key, &b->key, max_ops + 1, MAX_DERIVED_TERMS, DERIVE_EQUATION)) {
        r->counts.derived++;
        return true;
    }
    if (!make_directed(r, a, b, &sketch))
        return false;
    general = sketch;
    prune_generalize(&general, l, max_ops);
    *ret_is_new = add_if_true(r, l, &general) || add_if_true(r, l, &sketch);
    return *ret_is_new;
}

// Pairs of members that could not be connected: their parts are not tried again.
struct failures {
    int count;
    uint32_t a[MAX_TRIES_PER_CLASS], b[MAX_TRIES_PER_CLASS];
};

static bool has_failed(struct view *v, const struct failures *f, uint32_t i, uint32_t j)
{
    uint32_t x = part_of(v, i), y = part_of(v, j);
    for (int k = 0; k < f->count; k++) {
        uint32_t a = part_of(v, f->a[k]), b = part_of(v, f->b[k]);
        if ((a == x && b == y) || (a == y && b == x))
            return true;
    }
    return false;
}

static void resolve_class(struct reduction *r, struct lookup *l, uint32_t class, int level, int max_ops)
{
    struct view v;
    struct failures failures = {0};
    view_init(&v, r, class, level);
    connect_members(&v);
    uint32_t parts = count_parts(&v);
    for (uint32_t j = 1; j < v.count && parts > 1; j++)
        for (uint32_t i = 0; i < j && parts > 1 && failures.count < MAX_TRIES_PER_CLASS; i++) {
            bool is_new;
            if (part_of(&v, i) == part_of(&v, j) || has_failed(&v, &failures, i, j))
                continue;
            if (!try_pair(r, l, &v.members[i], &v.members[j], max_ops, &is_new)) {
                failures.a[failures.count] = i;
                failures.b[failures.count++] = j;
                continue;
            }
            v.parent[part_of(&v, j)] = part_of(&v, i);
            if (is_new)
                connect_members(&v);
            parts = count_parts(&v);
        }
    r->counts.open_classes += parts > 1;
    view_free(&v);
}

// --- levels ----------------------------------------------------------------------------------------------------------

static bool reaches_level(const struct reduction *r, uint32_t class, int level)
{
    for (uint32_t i = r->first_member.items[class]; i < r->first_member.items[class + 1]; i++)
        if (r->findings->members.items[i].level == level)
            return i > r->first_member.items[class] ||
                   (i + 1 < r->first_member.items[class + 1] && r->findings->members.items[i + 1].level == level);
    return false;
}

static bool is_in_parts(const struct reduction *r, uint32_t class, int level)
{
    struct view v;
    view_init(&v, r, class, level);
    connect_members(&v);
    bool is_split = count_parts(&v) > 1;
    view_free(&v);
    return is_split;
}

struct open_class {
    uint32_t class;
    int order;
    const struct found_member *second;
};

static int compare_open(const void *a, const void *b)
{
    const struct open_class *x = a, *y = b;
    int order = x->order - y->order;
    if (!order)
        order = key_compare(&x->second->key, &y->second->key);
    return order ? order : key_compare(&x->second[-1].key, &y->second[-1].key);
}

typedef VEC(struct open_class) open_list;

static void find_open_classes(const struct reduction *r, int level, open_list *ret_open)
{
    uint32_t n = r->findings->n_classes;
    bool *is_open = mem_alloc_zero(n * sizeof *is_open);
#pragma omp parallel for schedule(dynamic, 64)
    for (uint32_t class = 0; class < n; class ++)
        is_open[class] = !interrupt_requested() && reaches_level(r, class, level) && is_in_parts(r, class, level);
    for (uint32_t class = 0; class < n; class ++) {
        const struct found_member *first = &r->findings->members.items[r->first_member.items[class]];
        if (is_open[class])
            vec_push(ret_open, ((struct open_class){class, first[0].level + first[1].level, &first[1]}));
    }
    mem_free(is_open, n * sizeof *is_open);
    if (ret_open->count)
        vec_sort(ret_open, compare_open);
}

// --- laws that others derive -----------------------------------------------------------------------------------------

static void use_law(struct reduction *r, uint32_t law, bool is_used)
{
    for (size_t i = 0; i < r->rules.rules.count; i++)
        if (r->rules.rules.items[i].owner == law)
            r->rules.rules.items[i].is_off = !is_used;
}

// The terms of a law over the leaves of the family, when it has enough of them.
static bool keys_of_law(const struct reduction *r, const struct sketch *sk, struct key *ret_source,
                        struct key *ret_target)
{
    const struct family *f = r->universe->family;
    uint8_t leaf_of[MAX_SKETCH_VARIABLES];
    uint32_t taken = 0;
    for (int v = 0; v < sk->n_variables; v++) {
        int leaf = 0;
        while (leaf < f->n_inputs && (taken & 1u << leaf || !type_equal(&f->leaves[leaf].type, &sk->variables[v])))
            leaf++;
        if (leaf == f->n_inputs)
            return false;
        taken |= 1u << leaf;
        leaf_of[v] = (uint8_t)leaf;
    }
    sketch_term(sk, sk->source[0], leaf_of, ret_source);
    sketch_term(sk, sk->target[0], leaf_of, ret_target);
    return true;
}

// The first laws are the smallest and often special cases of later ones.
static void drop_derivable_laws(struct reduction *r, int max_ops)
{
    for (uint32_t i = 0; i < r->laws.count && !interrupt_requested(); i++) {
        struct key source, target;
        if (!keys_of_law(r, &r->laws.items[i].sketch, &source, &target))
            continue;
        use_law(r, i, false);
        r->laws.items[i].is_derivable =
            rewrite_derives(&r->rules, &source, &target, max_ops + 1, MAX_TERMS_AT_THE_END, DERIVE_EQUATION);
        if (!r->laws.items[i].is_derivable)
            use_law(r, i, true);
    }
}

void reduction_find_minimal(struct reduction *r, int max_ops)
{
    struct lookup l;
    lookup_init(&l, r->universe);
    for (int level = 1; level <= max_ops; level++) {
        open_list open = {0};
        find_open_classes(r, level, &open);
        r->counts.open_classes = 0;
        for (size_t i = 0; i < open.count && !interrupt_requested(); i++)
            resolve_class(r, &l, open.items[i].class, level, max_ops);
        vec_free(&open);
    }
    drop_derivable_laws(r, max_ops);
    lookup_free(&l);
}

void reduction_init(struct reduction *r, struct universe *u, const struct findings *findings, uint64_t seed)
{
    *r = (struct reduction){.universe = u, .findings = findings, .seed = seed};
    rewrite_rules_init(&r->rules, u->family);
    for (size_t i = 0; i < findings->members.count; i++)
        if (i == 0 || findings->members.items[i].class != findings->members.items[i - 1].class)
            vec_push(&r->first_member, (uint32_t)i);
    vec_push(&r->first_member, (uint32_t)findings->members.count);
}

void reduction_free(struct reduction *r)
{
    rewrite_rules_free(&r->rules);
    vec_free(&r->laws);
    vec_free(&r->first_member);
    vec_free(&r->failed_keys);
    table_free(&r->failed);
}
