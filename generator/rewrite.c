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
    for (int usable = 0; usable < USABLE_COUNT; usable++)
        vec_free(&root->usable[usable]);
    for (int argument = 0; root->rules.count && argument < 2; argument++) {
        for (int head = 0; head < REWRITE_HEADS; head++)
            vec_free(&root->heads[argument][head]);
        mem_free_array(root->heads[argument], REWRITE_HEADS);
    }
    vec_free(&root->sources);
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

static struct rewrite_root *root_of(struct rewrite_rules *r, const struct rewrite_rule *rule)
{
    return &r->roots[rule->source.bytes[1]][rule->source.bytes[0] - KEY_NODE];
}

static bool is_usable(const struct rewrite_rule *rule, enum usable usable)
{
    bool may_be_conditional = usable == USABLE_ALL || usable == USABLE_ALL_REVERSIBLE;
    bool must_be_reversible = usable == USABLE_REVERSIBLE || usable == USABLE_ALL_REVERSIBLE;
    return (may_be_conditional || !rule->is_conditional) && (!must_be_reversible || rule->is_reversible);
}

static void use_rule(struct rewrite_rules *r, const struct rewrite_rule *rule, bool is_used)
{
    struct rewrite_root *root = root_of(r, rule);
    for (int usable = 0; usable < USABLE_COUNT; usable++) {
        rule_set *set = &root->usable[usable];
        while (set->count <= rule->place / 64)
            vec_push(set, 0);
        set->items[rule->place / 64] &= ~(UINT64_C(1) << rule->place % 64);
        if (is_used && is_usable(rule, (enum usable)usable))
            set->items[rule->place / 64] |= UINT64_C(1) << rule->place % 64;
    }
}

static void add_to_root(struct rewrite_rules *r, struct rewrite_root *root, const struct rewrite_rule *rule)
{
    const uint8_t *arguments = rule->source.bytes + 2;
    bool is_binary = r->family->instances[rule->source.bytes[1]].n_inputs == 2;
    uint8_t lengths[KEY_LENGTH];
    term_measure_lengths(r->family, arguments, 0, lengths);
    int heads[2] = {head_at(arguments, SKETCH_CONSTANT),
                    is_binary ? head_at(arguments + lengths[0], SKETCH_CONSTANT) : ANY_HEAD};
    for (int i = 0; i < 2; i++) {
        if (!root->rules.count)
            root->heads[i] = mem_alloc_zero(REWRITE_HEADS * sizeof *root->heads[i]);
        add_to_set(&root->heads[i][heads[i]], root->rules.count);
    }
    struct short_source source = {0};
    if (rule->source.length <= SHORT_SOURCE)
        memcpy(source.bytes, rule->source.bytes, rule->source.length);
    vec_push(&root->sources, source);
    vec_push(&root->rules, (uint32_t)r->rules.count);
}

static void add_direction(struct rewrite_rules *r, const struct rewrite_rule *rule)
{
    struct rewrite_rule added = *rule;
    struct rewrite_root *root = root_of(r, rule);
    added.place = (uint32_t)root->rules.count;
    add_to_root(r, root, &added);
    use_rule(r, &added, true);
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

void rewrite_rules_use(struct rewrite_rules *r, uint32_t owner, bool is_used)
{
    const struct rewrite_rule *rules = r->rules.items;
    size_t first = 0, end = r->rules.count;
    while (first < end) {
        size_t middle = (first + end) / 2;
        if (rules[middle].owner < owner)
            first = middle + 1;
        else
            end = middle;
    }
    for (; first < r->rules.count && rules[first].owner == owner; first++)
        use_rule(r, &rules[first], is_used);
}

// --- matching --------------------------------------------------------------------------------------------------------

enum { UNBOUND = 0xff };
// Where in the term the terms start that variables stand for.
struct bindings {
    uint8_t of[MAX_LEAVES];
};
// A pattern, read from its beginning to its end, beside a term.
struct matching {
    const struct family *f;
    const uint8_t *pattern;   // what is left of it
    const struct measured *term;
    struct bindings bindings;
};

static bool match_term(struct matching *m, int t);

static bool match_in_order(struct matching *m, int t0, int t1)
{
    return match_term(m, t0) && match_term(m, t1);
}

// What comes after the head of an application.
static bool match_arguments(struct matching *m, const struct instance *instance, int t)
{
    if (instance->n_inputs == 1)
        return match_term(m, t);
    int second = t + m->term->lengths[t];
    if (!instance->is_commutative)
        return match_in_order(m, t, second);
    struct bindings before = m->bindings;
    const uint8_t *pattern = m->pattern;
    if (match_in_order(m, t, second))
        return true;
    m->bindings = before;
    m->pattern = pattern;
    return match_in_order(m, second, t);
}

static bool match_term(struct matching *m, int t)
{
    const uint8_t *term = m->term->key->bytes + t;
    uint8_t first = *m->pattern++;
    if (first >= KEY_NODE) {
        if (first != term[0] || *m->pattern != term[1])
            return false;
        return match_arguments(m, &m->f->instances[*m->pattern++], t + 2);
    }
    if (first >= SKETCH_CONSTANT)
        return first - SKETCH_CONSTANT == term[0];
    uint8_t *bound = &m->bindings.of[first];
    if (*bound != UNBOUND)
        return term_is_equal(m->term, *bound, t);
    *bound = (uint8_t)t;
    return true;
}

static void start_matching(struct matching *m, const struct family *f, const uint8_t *pattern,
                           const struct measured *term)
{
    m->f = f;
    m->pattern = pattern;
    m->term = term;
    memset(&m->bindings, UNBOUND, sizeof m->bindings);
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

// The rule at `place` of the root, which is that of the term at `at`.
static bool visit_rule(const struct stepping *s, const struct rewrite_root *root, size_t place, int at)
{
    const struct rewrite_rule *rule = &s->r->rules.items[root->rules.items[place]];
    const uint8_t *source = root->sources.items[place].bytes;
    struct matching m;
    start_matching(&m, s->r->family, (source[0] ? source : rule->source.bytes) + 2, s->term);
    if (!match_arguments(&m, &s->r->family->instances[s->term->key->bytes[at + 1]], at + 2))
        return true;
    struct building w;
    w.f = s->r->family;
    w.term = s->term;
    w.n_replaced = 1;
    w.has_overflown = false;
    w.replaced[0].at = at;
    w.replaced[0].by.length = 0;
    add_pattern(&w, rule->target.bytes, &m.bindings, &w.replaced[0].by);
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
    for (; rules; rules &= rules - 1)
        if (!visit_rule(s, root, 64 * word + (size_t)__builtin_ctzll(rules), at))
            return false;
    return true;
}

// The place of the first rule that is to be visited.
static size_t first_place_of(const struct stepping *s, const struct rewrite_root *root)
{
    size_t n = root->rules.count;
    if (s->first_rule == 0)
        return 0;
    while (n > 0 && root->rules.items[n - 1] >= s->first_rule)
        n--;
    return n;
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
    size_t place = first_place_of(s, root);
    uint64_t is_asked = ~UINT64_C(0) << place % 64;
    for (size_t word = place / 64; word < n_words; word++, is_asked = ~UINT64_C(0)) {
        uint64_t rules = rules_with(root, first, second, word);
        if (instance->is_commutative)
            rules |= rules_with(root, second, first, word);
        rules &= is_asked & root->usable[s->usable].items[word];
        if (!visit_rules_in_word(s, root, word, rules, at))
            return false;
    }
    return true;
}

// A rule of two outputs at two subterms.
static bool visit_pair_rule(const struct stepping *s, const struct rewrite_rule *rule, int u, int v)
{
    struct matching m;
    start_matching(&m, s->r->family, rule->source.bytes + 2, s->term);
    if (!match_in_order(&m, u, v))
        return true;
    struct building w = {.f = s->r->family, .term = s->term, .n_replaced = 2, .replaced = {{.at = u}, {.at = v}}};
    const uint8_t *targets = rule->target.bytes + 2;
    int length = add_pattern(&w, targets, &m.bindings, &w.replaced[0].by);
    if (!w.has_overflown)
        add_pattern(&w, targets + length, &m.bindings, &w.replaced[1].by);
    return visit_replaced(s, rule, &w);
}

static bool visit_pair_rules(const struct stepping *s)
{
    const struct rewrite_root *root = &s->r->roots[PAIR_INSTANCE][0];
    const struct measured *m = s->term;
    for (size_t j = 0; j < root->rules.count; j++) {
        const struct rewrite_rule *rule = &s->r->rules.items[root->rules.items[j]];
        bool may_be_used = root->usable[s->usable].items[j / 64] >> j % 64 & 1;
        for (int u = 0; u < m->n_subterms && may_be_used; u++)
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
