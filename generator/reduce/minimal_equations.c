// Classes are connected level by level; a pair of parts that stays apart is an equation, and all is connected anew.
#include "generator/reduce/minimal_equations.h"

#include "core/memory/union_find.h"
#include "core/system/interrupt.h"
#include "generator/reduce/derive.h"
#include "generator/reduce/prune.h"
#include <omp.h>
#include <string.h>

enum { MAX_TRIES_PER_CLASS = 8, MAX_DERIVED_TERMS = 80, MAX_TERMS_AT_THE_END = 800 };

// --- one class: its members of up to some level, and the parts they are connected to ---------------------------------

struct view {
    struct reduction *r;
    const struct found_member *members;
    int level;               // no member has more operators
    uint32_t first, count;   // of the findings' members
    uint32_t n_parts;
    bool have_equal_inputs;
    struct table by_key;
    uint32_t current;
};

static bool is_reached(const void *owner, uint32_t id, const void *step)
{
    const struct view *v = owner;
    return rewrite_step_leads_to(step, &v->members[id].key);
}

uint32_t parts_find(struct parts *p, uint32_t member)
{
    return union_find_root(p->parent, member);
}

static uint32_t part_of(const struct view *v, uint32_t i)
{
    return parts_find(&v->r->parts, v->first + i);
}

static void join_parts(struct parts *p, uint32_t i, uint32_t j)
{
    p->parent[parts_find(p, i)] = parts_find(p, j);
}

static void connect(struct view *v, uint32_t i, uint32_t j)
{
    v->n_parts -= part_of(v, i) != part_of(v, j);
    join_parts(&v->r->parts, v->first + i, v->first + j);
}

// Firm parts are asked for in classes whose members differ in inputs only.
static bool is_connected(const struct view *v)
{
    return v->n_parts == 1 && v->have_equal_inputs;
}

static bool is_firm(const struct view *v, const struct rewrite_step *step, uint32_t i, uint32_t j)
{
    const struct family *f = v->r->family_types->family;
    return step->is_equation && key_inputs(f, &v->members[i].key) == key_inputs(f, &v->members[j].key);
}

static bool connect_reached(void *context, const struct rewrite_step *step)
{
    struct view *v = context;
    uint32_t found = TABLE_NONE;
    if (step->least_nodes <= v->level)
        found = table_find(&v->by_key, step->hash, is_reached, v, step);
    if (found == TABLE_NONE)
        return true;
    connect(v, found, v->current);
    if (is_firm(v, step, found, v->current))
        join_parts(&v->r->firm_parts, v->first + found, v->first + v->current);
    return !is_connected(v);
}

// Members are connected by the rules from `first_rule` on.
static void connect_members(struct view *v, size_t first_rule)
{
    for (uint32_t i = 0; i < v->count && !is_connected(v); i++) {
        v->current = i;
        if (v->members[i].level > 0)
            rewrite_visit(&v->r->rules, first_rule, &v->members[i].key, USABLE_ALL, connect_reached, v);
    }
}

static void view_init(struct view *v, struct reduction *r, uint32_t class, int level)
{
    uint32_t first = r->first_member.items[class], end = r->first_member.items[class + 1];
    *v = (struct view){.r = r, .members = &r->findings->members.items[first], .level = level, .first = first};
    uint32_t inputs = key_inputs(r->family_types->family, &v->members[0].key);
    v->have_equal_inputs = true;
    while (first + v->count < end && v->members[v->count].level <= level)
        v->count++;
    for (uint32_t i = 0; i < v->count; i++) {
        v->n_parts += part_of(v, i) == first + i;
        v->have_equal_inputs &= key_inputs(r->family_types->family, &v->members[i].key) == inputs;
        table_insert(&v->by_key, term_hash(r->family_types->family, &v->members[i].key), i);
    }
}

static void view_free(struct view *v)
{
    table_free(&v->by_key);
}

// --- new equations --------------------------------------------------------------------------------------------------

static void add_rewrite(struct reduction *r, const struct equation *equation)
{
    const struct rule_graph *rg = &equation->graph;
    struct key source, target;
    rule_graph_key(rg, rg->source[0], &source);
    rule_graph_key(rg, rg->target[0], &target);
    rewrite_rules_add(&r->rules, &source, &target, (uint32_t)r->equations.count,
                      shapes_have_condition(&equation->shapes));
}

// A key for both sides, which are short: "source target" cut at the length of a key.
static void key_of_rule_graph(const struct rule_graph *rg, struct key *ret_key)
{
    struct key target;
    rule_graph_key(rg, rg->source[0], ret_key);
    rule_graph_key(rg, rg->target[0], &target);
    int n = KEY_LENGTH - ret_key->length < target.length ? KEY_LENGTH - ret_key->length : target.length;
    memcpy(ret_key->bytes + ret_key->length, target.bytes, (size_t)n);
    ret_key->length = (uint8_t)(ret_key->length + n);
}

static bool add_if_true(struct reduction *r, const struct rule_graph *rg)
{
    struct equation equation = {.graph = *rg};
    struct key key;
    key_of_rule_graph(rg, &key);
    if (key_set_find(&r->failed, key.bytes, key.length) != KEY_NONE)
        return false;
    enum shapes_verdict verdict = shapes_test(rg, reduction_calls(r), EVIDENCE_NONE, &equation.shapes);
    if (verdict == SHAPES_HOLD) {
        add_rewrite(r, &equation);
        vec_push(&r->equations, equation);
        return true;
    }
    r->counts.false_sizes += verdict == SHAPES_FALSE_AT_OTHER_SIZES;
    r->counts.false_reals += verdict == SHAPES_FALSE_ON_REALS;
    key_set_add(&r->failed, &r->failed_keys, key.bytes, key.length);
    return false;
}

static bool make_directed(const struct reduction *r, const struct found_member *a, const struct found_member *b,
                          struct rule_graph *ret_graph)
{
    const struct family *f = r->family_types->family;
    if (b->level > 0) {
        rule_graph_from_keys(ret_graph, f, 1, &b->key, &a->key);
        if (rule_graph_is_directed(ret_graph))
            return true;
    }
    if (a->level == 0)
        return false;
    rule_graph_from_keys(ret_graph, f, 1, &a->key, &b->key);
    return rule_graph_is_directed(ret_graph);
}

// Are the two terms connected now, by an equation that was or has become known?
static bool try_pair(struct reduction *r, const struct found_member *a, const struct found_member *b, int max_ops,
                     bool *ret_is_new)
{
    struct rule_graph graph, general;
    *ret_is_new = false;
    if (derive_term(&r->rules, &a->key, &b->key, max_ops + 1, MAX_DERIVED_TERMS, DERIVE_EQUATION))
        return true;
    if (!make_directed(r, a, b, &graph))
        return false;
    general = graph;
    prune_generalize(&general, reduction_calls(r), max_ops);
    *ret_is_new = add_if_true(r, &general) || add_if_true(r, &graph);
    return *ret_is_new;
}

// Pairs of members that could not be connected: their parts are not tried again.
struct failures {
    int count;
    uint32_t a[MAX_TRIES_PER_CLASS], b[MAX_TRIES_PER_CLASS];
};

static bool has_failed(const struct view *v, const struct failures *f, uint32_t i, uint32_t j)
{
    uint32_t x = part_of(v, i), y = part_of(v, j);
    for (int k = 0; k < f->count; k++) {
        uint32_t a = part_of(v, f->a[k]), b = part_of(v, f->b[k]);
        if ((a == x && b == y) || (a == y && b == x))
            return true;
    }
    return false;
}

// Adds the rules that connect the members of a class. The rules before `first_rule` have already connected what they
// can.
static void resolve_class(struct reduction *r, uint32_t class, int level, int max_ops, size_t first_rule)
{
    struct view v FREED_BY(view_free);
    struct failures failures = {0};
    view_init(&v, r, class, level);
    connect_members(&v, first_rule);
    for (uint32_t j = 1; j < v.count && v.n_parts > 1; j++)
        for (uint32_t i = 0; i < j && v.n_parts > 1 && failures.count < MAX_TRIES_PER_CLASS; i++) {
            size_t n_rules = r->rules.rules.count;
            bool is_new;
            if (part_of(&v, i) == part_of(&v, j) || has_failed(&v, &failures, i, j))
                continue;
            if (!try_pair(r, &v.members[i], &v.members[j], max_ops, &is_new)) {
                failures.a[failures.count] = i;
                failures.b[failures.count++] = j;
                continue;
            }
            connect(&v, i, j);
            if (is_new)
                connect_members(&v, n_rules);
        }
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

static bool is_in_parts(struct reduction *r, uint32_t class, int level)
{
    struct view v FREED_BY(view_free);
    view_init(&v, r, class, level);
    connect_members(&v, 0);
    return v.n_parts > 1;
}

struct open_class {
    uint32_t class;
    int order;
    const struct found_member *second;
};

COMPARISON(compare_open, struct open_class,
           ORDER(x->order, y->order) ?: key_compare(&x->second->key, &y->second->key) ?:
           key_compare(&x->second[-1].key, &y->second[-1].key))

typedef VEC(struct open_class) open_list;

static void find_open_classes(struct reduction *r, int level, open_list *ret_open)
{
    uint32_t n = r->findings->n_classes;
    LOCAL_ZEROS(bool, is_open, n);
#pragma omp parallel for num_threads(r->family_types->threads) schedule(dynamic, 64)
    for (uint32_t class = 0; class < n; class ++)
        is_open[class] = !interrupt_requested() && reaches_level(r, class, level) && is_in_parts(r, class, level);
    for (uint32_t class = 0; class < n; class ++) {
        const struct found_member *first = &r->findings->members.items[r->first_member.items[class]];
        if (is_open[class])
            vec_push(ret_open, ((struct open_class){class, first[0].level + first[1].level, &first[1]}));
    }
    vec_sort(ret_open, compare_open);
}

// --- equations that others derive -----------------------------------------------------------------------------------

// The terms of an equation over the leaves of the family, when it has enough of them.
static bool keys_of_equation(const struct reduction *r, const struct rule_graph *rg, struct key *ret_source,
                             struct key *ret_target)
{
    const struct family *f = r->family_types->family;
    uint8_t leaf_of[MAX_RULE_GRAPH_VARIABLES];
    uint32_t taken = 0;
    for (int v = 0; v < rg->n_variables; v++) {
        struct type type = rule_graph_type_of_variable(rg, v);
        int leaf = FIRST_OF(int, l, f->n_inputs, !(taken & 1u << l) && type_equal(&f->leaves[l].type, &type));
        if (leaf == f->n_inputs)
            return false;
        taken |= 1u << leaf;
        leaf_of[v] = (uint8_t)leaf;
    }
    rule_graph_term(rg, rg->source[0], leaf_of, ret_source);
    rule_graph_term(rg, rg->target[0], leaf_of, ret_target);
    return true;
}

// The first equations are the smallest and often special cases of later ones.
static void drop_derivable_equations(struct reduction *r, int max_ops)
{
    for (uint32_t i = 0; i < r->equations.count && !interrupt_requested(); i++) {
        struct key source, target;
        if (!keys_of_equation(r, &r->equations.items[i].graph, &source, &target))
            continue;
        rewrite_rules_use(&r->rules, i, false);
        r->equations.items[i].is_derivable =
            derive_term(&r->rules, &source, &target, max_ops + 1, MAX_TERMS_AT_THE_END, DERIVE_EQUATION);
        if (!r->equations.items[i].is_derivable)
            rewrite_rules_use(&r->rules, i, true);
    }
}

void reduction_find_minimal(struct reduction *r, int max_ops)
{
    for (int level = 1; level <= max_ops; level++) {
        LOCAL_LIST(open_list, open);
        find_open_classes(r, level, &open);
        size_t n_rules = r->rules.rules.count;
        for (size_t i = 0; i < open.count && !interrupt_requested(); i++)
            resolve_class(r, open.items[i].class, level, max_ops, n_rules);
    }
    drop_derivable_equations(r, max_ops);
}

struct evaluation_cache *reduction_calls(const struct reduction *r)
{
    return &r->calls[omp_get_thread_num()];
}

static void parts_init(struct parts *p, size_t count)
{
    *p = (struct parts){mem_new_array(uint32_t, count), count};
    union_find_init(p->parent, (uint32_t)count);
}

void class_reduction_init(struct reduction *r, struct family_types *u, const struct findings *findings, uint64_t seed,
                          size_t call_bytes)
{
    *r = (struct reduction){.family_types = u, .findings = findings, .n_calls = u->threads};
    rewrite_rules_init(&r->rules, u->family);
    r->calls = mem_new_array(struct evaluation_cache, r->n_calls);
    for (int i = 0; i < r->n_calls; i++)
        evaluation_cache_init(&r->calls[i], seed, call_bytes);
    parts_init(&r->parts, findings->members.count);
    parts_init(&r->firm_parts, findings->members.count);
    for (size_t i = 0; i < findings->members.count; i++)
        if (i == 0 || findings->members.items[i].class != findings->members.items[i - 1].class)
            vec_push(&r->first_member, (uint32_t)i);
    vec_push(&r->first_member, (uint32_t)findings->members.count);
}

void class_reduction_free(struct reduction *r)
{
    rewrite_rules_free(&r->rules);
    for (int i = 0; i < r->n_calls; i++)
        evaluation_cache_free(&r->calls[i]);
    mem_free_array(r->calls, r->n_calls);
    mem_free_array(r->parts.parent, r->parts.count);
    mem_free_array(r->firm_parts.parent, r->firm_parts.count);
    vecs_free(r, equations, first_member);
    key_set_free(&r->failed);
    arena_free(&r->failed_keys);
}
