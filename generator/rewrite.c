#include "generator/rewrite.h"

#include "core/hash.h"
#include <string.h>

void rewrite_rules_init(struct rewrite_rules *r, const struct family *family)
{
    memset(r, 0, sizeof *r);
    r->family = family;
}

void rewrite_rules_free(struct rewrite_rules *r)
{
    vec_free(&r->rules);
    for (int i = 0; i <= MAX_INSTANCES; i++)
        for (int j = 0; j < MAX_NODE_OUTPUTS; j++)
            vec_free(&r->by_root[i][j]);
}

bool key_pair(const struct key *a, const struct key *b, struct key *ret_pair)
{
    if (2 + a->length + b->length > KEY_LENGTH)
        return false;
    *ret_pair = (struct key){(uint8_t)(2 + a->length + b->length), {KEY_NODE, PAIR_INSTANCE}};
    memcpy(ret_pair->bytes + 2, a->bytes, a->length);
    memcpy(ret_pair->bytes + 2 + a->length, b->bytes, b->length);
    return true;
}

// --- terms as spans of bytes -----------------------------------------------------------------------------------------

struct span {
    const uint8_t *bytes;
    int length;
};

static int length_of_term(const struct family *f, const uint8_t *bytes)
{
    if (bytes[0] < KEY_NODE)
        return 1;
    int length = 2, n = f->instances[bytes[1]].n_inputs;
    for (int i = 0; i < n; i++)
        length += length_of_term(f, bytes + length);
    return length;
}

static bool is_equal_span(const struct span *a, const struct span *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, (size_t)a->length) == 0;
}

static struct span span_at(const struct family *f, const uint8_t *bytes)
{
    return (struct span){bytes, length_of_term(f, bytes)};
}

static int find_subterms(const struct family *f, const struct key *key, struct span *ret_spans)
{
    int n = 0;
    for (int at = 0; at < key->length;) {
        if (key->bytes[at] < KEY_NODE) {
            at++;
            continue;
        }
        struct span span = span_at(f, key->bytes + at);
        int i = 0;
        while (i < n && !is_equal_span(&ret_spans[i], &span))
            i++;
        if (i == n)
            ret_spans[n++] = span;
        at += 2;
    }
    return n;
}

// Outputs of one node count once: two subterms that differ in their first byte alone.
int key_count_nodes(const struct family *family, const struct key *key)
{
    struct span spans[KEY_LENGTH];
    int n = find_subterms(family, key, spans), different = 0;
    for (int i = 0; i < n; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++)
            if (spans[i].length == spans[j].length &&
                memcmp(spans[i].bytes + 1, spans[j].bytes + 1, (size_t)spans[i].length - 1) == 0)
                is_new = false;
        different += is_new;
    }
    return different;
}

static uint32_t variables_of(const struct key *key)
{
    uint32_t variables = 0;
    for (int at = 0; at < key->length; at++) {
        if (key->bytes[at] >= KEY_NODE)
            at++;
        else if (key->bytes[at] < SKETCH_CONSTANT)
            variables |= 1u << key->bytes[at];
    }
    return variables;
}

static void add_direction(struct rewrite_rules *r, const struct rewrite_rule *rule)
{
    uint32_t number = (uint32_t)r->rules.count;
    vec_push(&r->rules, *rule);
    vec_push(&r->by_root[rule->source.bytes[1]][rule->source.bytes[0] - KEY_NODE], number);
}

void rewrite_rules_add(struct rewrite_rules *r, const struct key *source, const struct key *target, uint32_t owner,
                       bool is_conditional)
{
    bool is_reversible = target->bytes[0] >= KEY_NODE && !(variables_of(source) & ~variables_of(target));
    add_direction(r, &(struct rewrite_rule){*source, *target, owner, false, is_reversible, is_conditional});
    if (is_reversible)
        add_direction(r, &(struct rewrite_rule){*target, *source, owner, false, true, is_conditional});
}

// --- matching --------------------------------------------------------------------------------------------------------

struct bindings {
    struct span of[MAX_LEAVES];   // bytes == NULL: not bound
};

enum usable { USABLE_ALL, USABLE_ALL_REVERSIBLE, USABLE_UNCONDITIONAL, USABLE_REVERSIBLE };

static bool is_usable(const struct rewrite_rule *rule, enum usable usable)
{
    bool may_be_conditional = usable == USABLE_ALL || usable == USABLE_ALL_REVERSIBLE;
    bool must_be_reversible = usable == USABLE_REVERSIBLE || usable == USABLE_ALL_REVERSIBLE;
    return !rule->is_off && (may_be_conditional || !rule->is_conditional) &&
           (!must_be_reversible || rule->is_reversible);
}

static bool match_term(const struct family *f, const uint8_t *pattern, const uint8_t *term, struct bindings *b);

static bool match_in_order(const struct family *f, const uint8_t *p0, const uint8_t *p1, const uint8_t *t0,
                           const uint8_t *t1, struct bindings *b)
{
    return match_term(f, p0, t0, b) && match_term(f, p1, t1, b);
}

static bool match_application(const struct family *f, const uint8_t *pattern, const uint8_t *term, struct bindings *b)
{
    if (pattern[0] != term[0] || pattern[1] != term[1])
        return false;
    const struct instance *instance = &f->instances[pattern[1]];
    const uint8_t *p0 = pattern + 2, *t0 = term + 2;
    if (instance->n_inputs == 1)
        return match_term(f, p0, t0, b);
    const uint8_t *p1 = p0 + length_of_term(f, p0), *t1 = t0 + length_of_term(f, t0);
    struct bindings before = *b;
    if (match_in_order(f, p0, p1, t0, t1, b))
        return true;
    *b = before;
    return instance->is_commutative && match_in_order(f, p0, p1, t1, t0, b);
}

static bool match_term(const struct family *f, const uint8_t *pattern, const uint8_t *term, struct bindings *b)
{
    if (pattern[0] >= KEY_NODE)
        return match_application(f, pattern, term, b);
    if (pattern[0] >= SKETCH_CONSTANT)
        return pattern[0] - SKETCH_CONSTANT == term[0];
    struct span *bound = &b->of[pattern[0]];
    struct span span = span_at(f, term);
    if (bound->bytes)
        return is_equal_span(bound, &span);
    *bound = span;
    return true;
}

// --- building --------------------------------------------------------------------------------------------------------

struct building {
    const struct family *f;
    const struct bindings *bindings;   // of a rule's target; NULL: the term's own leaves
    int n_replaced;
    const struct span *replaced[2];
    const struct key *replacement[2];
    const uint8_t *order;   // renaming, or NULL
    bool has_overflown;
};

static void add_bytes(struct building *w, struct key *key, const uint8_t *bytes, int length)
{
    if (w->has_overflown || key->length + length > KEY_LENGTH) {
        w->has_overflown = true;
        return;
    }
    memcpy(key->bytes + key->length, bytes, (size_t)length);
    key->length = (uint8_t)(key->length + length);
}

static void build_leaf(struct building *w, uint8_t leaf, struct key *key)
{
    if (w->bindings && leaf < SKETCH_CONSTANT) {
        add_bytes(w, key, w->bindings->of[leaf].bytes, w->bindings->of[leaf].length);
        return;
    }
    uint8_t named = w->bindings ? leaf - SKETCH_CONSTANT : w->order ? w->order[leaf] : leaf;
    add_bytes(w, key, &named, 1);
}

static void build_term(struct building *w, const uint8_t *term, struct key *key)
{
    if (term[0] < KEY_NODE) {
        build_leaf(w, term[0], key);
        return;
    }
    for (int i = 0; i < w->n_replaced; i++) {
        struct span span = span_at(w->f, term);
        if (is_equal_span(&span, w->replaced[i])) {
            add_bytes(w, key, w->replacement[i]->bytes, w->replacement[i]->length);
            return;
        }
    }
    const struct instance *instance = &w->f->instances[term[1]];
    struct key a = {0}, b = {0};
    add_bytes(w, key, term, 2);
    build_term(w, term + 2, &a);
    if (instance->n_inputs == 2)
        build_term(w, term + 2 + length_of_term(w->f, term + 2), &b);
    bool is_swapped = instance->is_commutative && key_compare(&a, &b) > 0;
    add_bytes(w, key, is_swapped ? b.bytes : a.bytes, is_swapped ? b.length : a.length);
    add_bytes(w, key, is_swapped ? a.bytes : b.bytes, is_swapped ? a.length : b.length);
}

static bool build_replacement(const struct rewrite_rules *r, const uint8_t *target, const struct bindings *bindings,
                              struct key *ret_key)
{
    struct building w = {.f = r->family, .bindings = bindings};
    ret_key->length = 0;
    build_term(&w, target, ret_key);
    return !w.has_overflown;
}

static bool apply_rule(const struct rewrite_rules *r, const struct rewrite_rule *rule, const struct key *term,
                       const struct span *at, const struct bindings *bindings, struct key *ret_term)
{
    struct key replacement;
    if (!build_replacement(r, rule->target.bytes, bindings, &replacement))
        return false;
    struct building whole = {.f = r->family, .n_replaced = 1, .replaced = {at}, .replacement = {&replacement}};
    ret_term->length = 0;
    build_term(&whole, term->bytes, ret_term);
    return !whole.has_overflown;
}

static bool apply_pair_rule(const struct rewrite_rules *r, const struct rewrite_rule *rule, const struct key *term,
                            const struct span *u, const struct span *v, struct key *ret_term)
{
    struct bindings bindings = {0};
    struct key first, second;
    const uint8_t *p1 = rule->source.bytes + 2, *q1 = rule->target.bytes + 2;
    const uint8_t *p2 = p1 + length_of_term(r->family, p1), *q2 = q1 + length_of_term(r->family, q1);
    if (!match_term(r->family, p1, u->bytes, &bindings) || !match_term(r->family, p2, v->bytes, &bindings) ||
        !build_replacement(r, q1, &bindings, &first) || !build_replacement(r, q2, &bindings, &second))
        return false;
    struct building whole = {.f = r->family, .n_replaced = 2, .replaced = {u, v}, .replacement = {&first, &second}};
    ret_term->length = 0;
    build_term(&whole, term->bytes, ret_term);
    return !whole.has_overflown;
}

static bool visit_single_rules(const struct rewrite_rules *r, const struct key *term, const struct span *at,
                               enum usable usable, rewrite_fn *visit, void *context)
{
    unsigned instance = at->bytes[1], output = at->bytes[0] - KEY_NODE;
    for (size_t j = 0; instance != PAIR_INSTANCE && j < r->by_root[instance][output].count; j++) {
        const struct rewrite_rule *rule = &r->rules.items[r->by_root[instance][output].items[j]];
        struct bindings bindings = {0};
        struct key reached;
        if (is_usable(rule, usable) && match_term(r->family, rule->source.bytes, at->bytes, &bindings) &&
            apply_rule(r, rule, term, at, &bindings, &reached) && !visit(context, &reached))
            return false;
    }
    return true;
}

static bool visit_pair_rules(const struct rewrite_rules *r, const struct key *term, const struct span *spans, int n,
                             enum usable usable, rewrite_fn *visit, void *context)
{
    for (size_t j = 0; j < r->by_root[PAIR_INSTANCE][0].count; j++) {
        const struct rewrite_rule *rule = &r->rules.items[r->by_root[PAIR_INSTANCE][0].items[j]];
        for (int u = 0; u < n && is_usable(rule, usable); u++)
            for (int v = 0; v < n; v++) {
                struct key reached;
                if (u != v && apply_pair_rule(r, rule, term, &spans[u], &spans[v], &reached) &&
                    !visit(context, &reached))
                    return false;
            }
    }
    return true;
}

static void visit_steps(const struct rewrite_rules *r, const struct key *term, enum usable usable, rewrite_fn *visit,
                        void *context)
{
    struct span spans[KEY_LENGTH];
    int n = find_subterms(r->family, term, spans);
    for (int i = 0; i < n; i++)
        if (!visit_single_rules(r, term, &spans[i], usable, visit, context))
            return;
    if (n > 0 && spans[0].bytes[1] == PAIR_INSTANCE)
        visit_pair_rules(r, term, spans, n, usable, visit, context);
}

void rewrite_visit(const struct rewrite_rules *r, const struct key *term, rewrite_fn *visit, void *context)
{
    visit_steps(r, term, USABLE_ALL, visit, context);
}

// --- renaming --------------------------------------------------------------------------------------------------------

static int compare_keys(const struct key *a, const struct key *b, int n)
{
    for (int i = 0; i < n; i++) {
        int order = key_compare(&a[i], &b[i]);
        if (order)
            return order;
    }
    return 0;
}

void key_rename(const struct family *family, struct key *key, const uint8_t *order)
{
    struct building w = {.f = family, .order = order};
    struct key renamed = {0};
    build_term(&w, key->bytes, &renamed);
    *key = renamed;
}

struct minimizing {
    const struct family *family;
    int n;
    const struct key *keys;
    struct key best[8];
};

static bool keep_smaller(void *context, const uint8_t *order)
{
    struct minimizing *m = context;
    struct building w = {.f = m->family, .order = order};
    struct key renamed[8];
    for (int i = 0; i < m->n; i++) {
        renamed[i].length = 0;
        build_term(&w, m->keys[i].bytes, &renamed[i]);
    }
    if (compare_keys(renamed, m->best, m->n) < 0)
        memcpy(m->best, renamed, sizeof *renamed * (size_t)m->n);
    return true;
}

uint32_t key_inputs(const struct family *family, const struct key *key)
{
    uint32_t inputs = 0;
    for (int at = 0; at < key->length; at++) {
        if (key->bytes[at] >= KEY_NODE)
            at++;
        else if (key->bytes[at] < family->n_inputs)
            inputs |= 1u << key->bytes[at];
    }
    return inputs;
}

void keys_make_canonical(const struct family *family, struct key *keys, int n)
{
    struct minimizing m = {.family = family, .n = n, .keys = keys};
    uint32_t used = 0;
    memcpy(m.best, keys, sizeof *keys * (size_t)n);
    for (int i = 0; i < n; i++)
        used |= key_inputs(family, &keys[i]);
    renamings_visit(family, used, keep_smaller, &m);
    memcpy(keys, m.best, sizeof *keys * (size_t)n);
}

// --- deriving --------------------------------------------------------------------------------------------------------

struct search {
    const struct rewrite_rules *r;
    int max_nodes, max_terms;
    VEC(struct key) terms;   // of both sides
    VEC(uint8_t) side;
    struct table by_key;
    bool is_met;
    enum derivation what;
    uint8_t current;
};

static bool is_equal_term(const void *owner, uint32_t id, const void *key)
{
    const struct search *s = owner;
    return key_compare(&s->terms.items[id], key) == 0;
}

static enum usable usable_in(const struct search *s)
{
    if (s->what == DERIVE_BY_ANY_RULES)
        return s->current == 1 ? USABLE_ALL_REVERSIBLE : USABLE_ALL;
    return s->what == DERIVE_BY_RULES && s->current == 1 ? USABLE_REVERSIBLE : USABLE_UNCONDITIONAL;
}

static bool add_term(void *context, const struct key *term)
{
    struct search *s = context;
    uint64_t hash = hash_bytes(term->bytes, term->length, 0);
    uint32_t found = table_find(&s->by_key, hash, is_equal_term, s, term);
    if (found != TABLE_NONE) {
        s->is_met = s->is_met || s->side.items[found] != s->current;
        return !s->is_met;
    }
    if (key_count_nodes(s->r->family, term) > s->max_nodes || (int)s->terms.count >= s->max_terms)
        return true;
    table_insert(&s->by_key, hash, (uint32_t)s->terms.count);
    vec_push(&s->terms, *term);
    vec_push(&s->side, s->current);
    return true;
}

bool rewrite_derives(const struct rewrite_rules *r, const struct key *from, const struct key *to, int max_nodes,
                     int max_terms, enum derivation what)
{
    struct search s = {.r = r, .max_nodes = max_nodes, .max_terms = max_terms, .what = what};
    add_term(&s, from);
    s.current = 1;
    add_term(&s, to);
    for (size_t i = 0; i < s.terms.count && !s.is_met; i++) {
        struct key term = s.terms.items[i];
        s.current = s.side.items[i];
        visit_steps(r, &term, usable_in(&s), add_term, &s);
    }
    vec_free(&s.terms);
    vec_free(&s.side);
    table_free(&s.by_key);
    return s.is_met;
}
