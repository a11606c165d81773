#include "generator/rewrite.h"

#include <string.h>

// --- rules -----------------------------------------------------------------------------------------------------------

void rewrite_rules_init(struct rewrite_rules *r, const struct family *family)
{
    memset(r, 0, sizeof *r);
    r->family = family;
}

static void free_root(struct rewrite_root *root)
{
    for (int argument = 0; root->rules.count && argument < 2; argument++) {
        for (int head = 0; head < REWRITE_HEADS; head++)
            vec_free(&root->heads[argument][head]);
        mem_free_array(root->heads[argument], REWRITE_HEADS);
    }
    vec_free(&root->rules);
}

void rewrite_rules_free(struct rewrite_rules *r)
{
    vec_free(&r->rules);
    for (int i = 0; i <= MAX_INSTANCES; i++)
        for (int j = 0; j < MAX_NODE_OUTPUTS; j++)
            free_root(&r->roots[i][j]);
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

// What a term or a pattern begins with; `first_leaf` is how leaf 0 is written, less is a variable.
static int head_at(const uint8_t *bytes, int first_leaf)
{
    if (bytes[0] >= KEY_NODE)
        return 1 + MAX_LEAVES + bytes[1] * MAX_NODE_OUTPUTS + bytes[0] - KEY_NODE;
    return bytes[0] < first_leaf ? ANY_HEAD : 1 + bytes[0] - first_leaf;
}

static void add_to_set(rule_set *set, size_t rule)
{
    while (set->count <= rule / 64)
        vec_push(set, 0);
    set->items[rule / 64] |= UINT64_C(1) << rule % 64;
}

static void add_to_root(struct rewrite_rules *r, struct rewrite_root *root, const struct rewrite_rule *rule)
{
    const uint8_t *arguments = rule->source.bytes + 2;
    bool is_binary = r->family->instances[rule->source.bytes[1]].n_inputs == 2;
    int heads[2] = {head_at(arguments, SKETCH_CONSTANT),
                    is_binary ? head_at(arguments + rule->lengths[2], SKETCH_CONSTANT) : ANY_HEAD};
    for (int i = 0; i < 2; i++) {
        if (!root->rules.count)
            root->heads[i] = mem_alloc_zero(REWRITE_HEADS * sizeof *root->heads[i]);
        add_to_set(&root->heads[i][heads[i]], root->rules.count);
    }
    vec_push(&root->rules, (uint32_t)r->rules.count);
}

static void add_direction(struct rewrite_rules *r, const struct rewrite_rule *rule)
{
    struct rewrite_rule added = *rule;
    term_measure_lengths(r->family, added.source.bytes, 0, added.lengths);
    add_to_root(r, &r->roots[added.source.bytes[1]][added.source.bytes[0] - KEY_NODE], &added);
    vec_push(&r->rules, added);
}

void rewrite_rules_add(struct rewrite_rules *r, const struct key *source, const struct key *target, uint32_t owner,
                       bool is_conditional)
{
    bool is_reversible = target->bytes[0] >= KEY_NODE && !(variables_of(source) & ~variables_of(target));
    add_direction(r, &(struct rewrite_rule){.source = *source,
                                            .target = *target,
                                            .owner = owner,
                                            .is_reversible = is_reversible,
                                            .is_conditional = is_conditional});
    if (is_reversible)
        add_direction(r, &(struct rewrite_rule){.source = *target,
                                                .target = *source,
                                                .owner = owner,
                                                .is_reversible = true,
                                                .is_conditional = is_conditional});
}

// --- matching --------------------------------------------------------------------------------------------------------

enum { UNBOUND = 0xff };
// Where in the term the terms start that variables stand for.
struct bindings {
    uint8_t of[MAX_LEAVES];
};
// A pattern and a term side by side.
struct matching {
    const struct family *f;
    const uint8_t *pattern, *pattern_lengths;
    const struct measured *term;
    struct bindings *bindings;
};

static bool match_term(const struct matching *m, int p, int t);

static bool match_in_order(const struct matching *m, int p0, int p1, int t0, int t1)
{
    return match_term(m, p0, t0) && match_term(m, p1, t1);
}

static bool match_application(const struct matching *m, int p, int t)
{
    const uint8_t *term = m->term->key->bytes;
    if (m->pattern[p] != term[t] || m->pattern[p + 1] != term[t + 1])
        return false;
    const struct instance *instance = &m->f->instances[m->pattern[p + 1]];
    int p0 = p + 2, t0 = t + 2;
    if (instance->n_inputs == 1)
        return match_term(m, p0, t0);
    int p1 = p0 + m->pattern_lengths[p0], t1 = t0 + m->term->lengths[t0];
    if (!instance->is_commutative)
        return match_in_order(m, p0, p1, t0, t1);
    struct bindings before = *m->bindings;
    if (match_in_order(m, p0, p1, t0, t1))
        return true;
    *m->bindings = before;
    return match_in_order(m, p0, p1, t1, t0);
}

static bool match_term(const struct matching *m, int p, int t)
{
    uint8_t first = m->pattern[p];
    if (first >= KEY_NODE)
        return match_application(m, p, t);
    if (first >= SKETCH_CONSTANT)
        return first - SKETCH_CONSTANT == m->term->key->bytes[t];
    uint8_t *bound = &m->bindings->of[first];
    if (*bound != UNBOUND)
        return term_is_equal(m->term, *bound, t);
    *bound = (uint8_t)t;
    return true;
}

static bool is_usable(const struct rewrite_rule *rule, enum usable usable)
{
    bool may_be_conditional = usable == USABLE_ALL || usable == USABLE_ALL_REVERSIBLE;
    bool must_be_reversible = usable == USABLE_REVERSIBLE || usable == USABLE_ALL_REVERSIBLE;
    return !rule->is_off && (may_be_conditional || !rule->is_conditional) &&
           (!must_be_reversible || rule->is_reversible);
}

// --- building --------------------------------------------------------------------------------------------------------

// A term replaced by another wherever it occurs.
struct replacement {
    int at;
    struct key by;
};
struct building {
    const struct family *f;
    const struct measured *term;
    int n_replaced;
    struct replacement replaced[2];
    bool has_overflown;
};

static void add_bytes(struct building *w, struct key *key, const uint8_t *bytes, int length)
{
    if (key->length + length > KEY_LENGTH) {
        w->has_overflown = true;
        return;
    }
    memcpy(key->bytes + key->length, bytes, (size_t)length);
    key->length = (uint8_t)(key->length + length);
}

// Adds the pattern at `pattern` with what its variables stand for; gives the pattern's length.
static int add_pattern(struct building *w, const uint8_t *pattern, const struct bindings *bindings, struct key *key)
{
    if (pattern[0] < KEY_NODE) {
        uint8_t constant = (uint8_t)(pattern[0] - SKETCH_CONSTANT), bound = bindings->of[pattern[0] % MAX_LEAVES];
        if (pattern[0] >= SKETCH_CONSTANT)
            add_bytes(w, key, &constant, 1);
        else
            add_bytes(w, key, w->term->key->bytes + bound, w->term->lengths[bound]);
        return 1;
    }
    const struct instance *instance = &w->f->instances[pattern[1]];
    add_bytes(w, key, pattern, 2);
    int first = key->length, length = 2 + add_pattern(w, pattern + 2, bindings, key), second = key->length;
    if (instance->n_inputs == 2 && !w->has_overflown)
        length += add_pattern(w, pattern + length, bindings, key);
    if (instance->is_commutative && !w->has_overflown)
        term_sort_arguments(key->bytes + first, second - first, key->length - second);
    return length;
}

static const struct replacement *replacement_at(const struct building *w, int at)
{
    for (int i = 0; i < w->n_replaced; i++)
        if (term_is_equal(w->term, w->replaced[i].at, at))
            return &w->replaced[i];
    return NULL;
}

// Adds the term at `at` of the whole term with what is replaced in it.
static void add_replaced(struct building *w, int at, struct key *key)
{
    const uint8_t *bytes = w->term->key->bytes + at;
    const struct replacement *replacement = bytes[0] < KEY_NODE ? NULL : replacement_at(w, at);
    if (replacement || bytes[0] < KEY_NODE) {
        add_bytes(w, key, replacement ? replacement->by.bytes : bytes, replacement ? replacement->by.length : 1);
        return;
    }
    const struct instance *instance = &w->f->instances[bytes[1]];
    add_bytes(w, key, bytes, 2);
    int first = key->length;
    add_replaced(w, at + 2, key);
    int second = key->length;
    if (instance->n_inputs == 2 && !w->has_overflown)
        add_replaced(w, at + 2 + w->term->lengths[at + 2], key);
    if (instance->is_commutative && !w->has_overflown)
        term_sort_arguments(key->bytes + first, second - first, key->length - second);
}

// --- steps -----------------------------------------------------------------------------------------------------------

struct stepping {
    const struct rewrite_rules *r;
    const struct measured *term;
    size_t first_rule;
    enum usable usable;
    rewrite_fn *visit;
    void *context;
};

static bool visit_replaced(const struct stepping *s, const struct rewrite_rule *rule, struct building *w)
{
    struct key reached = {0};
    if (w->has_overflown)
        return true;
    if (w->replaced[0].at == 0)
        return s->visit(s->context, rule, &w->replaced[0].by);
    add_replaced(w, 0, &reached);
    return w->has_overflown || s->visit(s->context, rule, &reached);
}

static bool visit_rule(const struct stepping *s, const struct rewrite_rule *rule, int at)
{
    struct bindings bindings;
    struct matching m = {s->r->family, rule->source.bytes, rule->lengths, s->term, &bindings};
    memset(&bindings, UNBOUND, sizeof bindings);
    if (!match_term(&m, 0, at))
        return true;
    struct building w;
    w.f = s->r->family;
    w.term = s->term;
    w.n_replaced = 1;
    w.has_overflown = false;
    w.replaced[0].at = at;
    w.replaced[0].by.length = 0;
    add_pattern(&w, rule->target.bytes, &bindings, &w.replaced[0].by);
    return visit_replaced(s, rule, &w);
}

static uint64_t word_of(const rule_set *set, size_t word)
{
    return word < set->count ? set->items[word] : 0;
}

static uint64_t rules_with(const struct rewrite_root *root, int first, int second, size_t word)
{
    return (word_of(&root->heads[0][ANY_HEAD], word) | word_of(&root->heads[0][first], word)) &
           (word_of(&root->heads[1][ANY_HEAD], word) | word_of(&root->heads[1][second], word));
}

static bool visit_rules_in_word(const struct stepping *s, const struct rewrite_root *root, size_t word, uint64_t rules,
                                int at)
{
    for (; rules; rules &= rules - 1) {
        uint32_t number = root->rules.items[64 * word + (size_t)__builtin_ctzll(rules)];
        const struct rewrite_rule *rule = &s->r->rules.items[number];
        if (number >= s->first_rule && is_usable(rule, s->usable) && !visit_rule(s, rule, at))
            return false;
    }
    return true;
}

static size_t first_word_of(const struct stepping *s, const struct rewrite_root *root)
{
    size_t n = root->rules.count;
    if (s->first_rule == 0)
        return 0;
    while (n > 0 && root->rules.items[n - 1] >= s->first_rule)
        n--;
    return n / 64;
}

static bool visit_rules_at(const struct stepping *s, int at)
{
    const uint8_t *bytes = s->term->key->bytes + at;
    const struct rewrite_root *root = &s->r->roots[bytes[1]][bytes[0] - KEY_NODE];
    const struct instance *instance = &s->r->family->instances[bytes[1]];
    size_t n_words = (root->rules.count + 63) / 64;
    if (bytes[1] == PAIR_INSTANCE || n_words == 0)
        return true;
    int first = head_at(bytes + 2, 0);
    int second = instance->n_inputs < 2 ? ANY_HEAD : head_at(bytes + 2 + s->term->lengths[at + 2], 0);
    for (size_t word = first_word_of(s, root); word < n_words; word++) {
        uint64_t rules = rules_with(root, first, second, word);
        if (instance->is_commutative)
            rules |= rules_with(root, second, first, word);
        if (!visit_rules_in_word(s, root, word, rules, at))
            return false;
    }
    return true;
}

// A rule of two outputs at two subterms.
static bool visit_pair_rule(const struct stepping *s, const struct rewrite_rule *rule, int u, int v)
{
    struct bindings bindings;
    struct matching m = {s->r->family, rule->source.bytes, rule->lengths, s->term, &bindings};
    memset(&bindings, UNBOUND, sizeof bindings);
    if (!match_term(&m, 2, u) || !match_term(&m, 2 + rule->lengths[2], v))
        return true;
    struct building w = {.f = s->r->family, .term = s->term, .n_replaced = 2, .replaced = {{.at = u}, {.at = v}}};
    const uint8_t *targets = rule->target.bytes + 2;
    int length = add_pattern(&w, targets, &bindings, &w.replaced[0].by);
    if (!w.has_overflown)
        add_pattern(&w, targets + length, &bindings, &w.replaced[1].by);
    return visit_replaced(s, rule, &w);
}

static bool visit_pair_rules(const struct stepping *s)
{
    const struct rewrite_root *root = &s->r->roots[PAIR_INSTANCE][0];
    const struct measured *m = s->term;
    for (size_t j = 0; j < root->rules.count; j++) {
        const struct rewrite_rule *rule = &s->r->rules.items[root->rules.items[j]];
        for (int u = 0; u < m->n_subterms && is_usable(rule, s->usable); u++)
            for (int v = 0; v < m->n_subterms; v++)
                if (u != v && !visit_pair_rule(s, rule, m->subterms[u], m->subterms[v]))
                    return false;
    }
    return true;
}

void rewrite_visit(const struct rewrite_rules *r, size_t first_rule, const struct key *term, enum usable usable,
                   rewrite_fn *visit, void *context)
{
    struct measured m;
    struct stepping s = {r, &m, first_rule, usable, visit, context};
    term_measure(r->family, term, &m);
    for (int i = 0; i < m.n_subterms; i++)
        if (!visit_rules_at(&s, m.subterms[i]))
            return;
    if (m.n_subterms > 0 && term->bytes[1] == PAIR_INSTANCE)
        visit_pair_rules(&s);
}
