#include "generator/rewrite.h"

#include <string.h>

// --- rules -----------------------------------------------------------------------------------------------------------

enum { ANY_HEAD = 0 };

void rewrite_rules_init(struct rewrite_rules *r, const struct family *family)
{
    memset(r, 0, sizeof *r);
    r->family = family;
    r->n_heads = 1 + MAX_LEAVES + family->n_instances * MAX_NODE_OUTPUTS;
}

static void free_root(struct rewrite_root *root, int n_heads)
{
    for (int usable = 0; usable < USABLE_COUNT; usable++)
        mem_free_array(root->usable[usable], root->set_words);
    for (int argument = 0; argument < 2; argument++)
        mem_free_array(root->heads[argument], (size_t)n_heads * root->set_words);
    vec_free(&root->short_rules);
    vec_free(&root->rules);
}

void rewrite_rules_free(struct rewrite_rules *r)
{
    vec_free(&r->rules);
    for (int i = 0; i <= MAX_INSTANCES; i++)
        for (int j = 0; j < MAX_NODE_OUTPUTS; j++)
            free_root(&r->roots[i][j], r->n_heads);
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

// Makes every one of `n` sets longer.
static void lengthen_sets(uint64_t **sets, size_t n, size_t old_words, size_t new_words)
{
    uint64_t *longer = mem_alloc_zero(n * new_words * sizeof *longer);
    for (size_t i = 0; old_words && i < n; i++)
        memcpy(longer + i * new_words, *sets + i * old_words, old_words * sizeof *longer);
    mem_free_array(*sets, n * old_words);
    *sets = longer;
}

static void make_room_for_rule(struct rewrite_root *root, int n_heads)
{
    size_t old = root->set_words, new = old ? 2 * old : 1;
    if (root->rules.count < 64 * old)
        return;
    for (int usable = 0; usable < USABLE_COUNT; usable++)
        lengthen_sets(&root->usable[usable], 1, old, new);
    for (int argument = 0; argument < 2; argument++)
        lengthen_sets(&root->heads[argument], (size_t)n_heads, old, new);
    root->set_words = new;
}

// A variable at the beginning of an argument matches every head.
static void add_to_heads(struct rewrite_root *root, int argument, int head, int n_heads, uint32_t place)
{
    int first = head == ANY_HEAD ? 0 : head, end = head == ANY_HEAD ? n_heads : head + 1;
    for (int i = first; i < end; i++)
        root->heads[argument][(size_t)i * root->set_words + place / 64] |= UINT64_C(1) << place % 64;
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
        uint64_t *word = &root->usable[usable][rule->place / 64], bit = UINT64_C(1) << rule->place % 64;
        *word = is_used && is_usable(rule, (enum usable)usable) ? *word | bit : *word & ~bit;
    }
}

enum { MAX_SWAPPABLE = (KEY_LENGTH - 1) / 3 };

// Gives their number; the outer ones come first.
static int find_swappable(const struct family *f, const struct key *pattern, struct swappable *ret_swappable)
{
    uint8_t lengths[KEY_LENGTH];
    int n = 0;
    term_measure_lengths(f, pattern->bytes, 0, lengths);
    for (int at = 0; at < pattern->length; at++) {
        if (pattern->bytes[at] < KEY_NODE || !f->instances[pattern->bytes[++at]].is_commutative)
            continue;
        int first = at + 1, second = first + lengths[first];
        ret_swappable[n++] = (struct swappable){(uint8_t)first, (uint8_t)second, (uint8_t)(second + lengths[second])};
    }
    return n;
}

static struct short_rule short_rule_of(const struct family *f, const struct rewrite_rule *rule)
{
    struct swappable swappable[MAX_SWAPPABLE];
    int source_length = rule->source.length - 2, target_length = rule->target.length;
    bool is_commutative = find_swappable(f, &rule->source, swappable) > 0;
    int n_swappable = find_swappable(f, &rule->target, swappable);
    if (source_length > SHORT_SOURCE || target_length > SHORT_TARGET || n_swappable > SHORT_SWAPPABLE)
        return (struct short_rule){0};
    struct short_rule made = {(uint8_t)source_length, (uint8_t)target_length, (uint8_t)n_swappable, is_commutative};
    memcpy(made.source, rule->source.bytes + 2, (size_t)source_length);
    memcpy(made.target, rule->target.bytes, (size_t)target_length);
    memcpy(made.swappable, swappable, (size_t)n_swappable * sizeof *swappable);
    return made;
}

static void add_to_root(struct rewrite_rules *r, struct rewrite_root *root, const struct rewrite_rule *rule)
{
    const struct key *source = &rule->source;
    bool is_binary = r->family->instances[source->bytes[1]].n_inputs == 2;
    uint8_t lengths[KEY_LENGTH];
    term_measure_lengths(r->family, source->bytes, 0, lengths);
    make_room_for_rule(root, r->n_heads);
    add_to_heads(root, 0, head_at(source->bytes + 2, SKETCH_CONSTANT), r->n_heads, rule->place);
    add_to_heads(root, 1, is_binary ? head_at(source->bytes + 2 + lengths[2], SKETCH_CONSTANT) : ANY_HEAD, r->n_heads,
                 rule->place);
    vec_push(&root->short_rules, short_rule_of(r->family, rule));
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

// The arguments of a pattern beside those at `t` of the term, byte by byte: no arguments are swapped.
static bool match_as_it_stands(const uint8_t *pattern, int length, const struct measured *term, int t,
                               struct bindings *bindings)
{
    const uint8_t *bytes = term->key->bytes;
    for (const uint8_t *end = pattern + length; pattern < end;) {
        uint8_t first = *pattern++;
        if (first >= KEY_NODE) {
            if (first != bytes[t] || *pattern++ != bytes[t + 1])
                return false;
            t += 2;
        } else if (first >= SKETCH_CONSTANT) {
            if (first - SKETCH_CONSTANT != bytes[t++])
                return false;
        } else {
            if (bindings->of[first] == UNBOUND)
                bindings->of[first] = (uint8_t)t;
            else if (!term_is_equal(term, bindings->of[first], t))
                return false;
            t += term->lengths[t];
        }
    }
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

// A target, or a part of one.
struct target {
    const uint8_t *bytes;
    int length, n_swappable;
    const struct swappable *swappable;
};

// Adds the target with what its variables stand for.
static void add_target(struct building *w, const struct target *target, const struct bindings *bindings,
                       struct key *key)
{
    uint8_t place[KEY_LENGTH + 1];   // in the key, of what begins at each place of the target
    for (int at = 0; at < target->length && !w->has_overflown;) {
        uint8_t first = target->bytes[at];
        place[at] = key->length;
        if (first >= KEY_NODE) {
            add_bytes(w, key, target->bytes + at, 2);
            at += 2;
        } else if (first >= SKETCH_CONSTANT) {
            uint8_t constant = (uint8_t)(first - SKETCH_CONSTANT);
            add_bytes(w, key, &constant, 1);
            at++;
        } else {
            uint8_t bound = bindings->of[first];
            add_bytes(w, key, w->term->key->bytes + bound, w->term->lengths[bound]);
            at++;
        }
    }
    place[target->length] = key->length;
    for (int i = target->n_swappable; i-- > 0 && !w->has_overflown;) {
        const struct swappable *s = &target->swappable[i];
        term_sort_arguments(key->bytes + place[s->first], place[s->second] - place[s->first],
                            place[s->end] - place[s->second]);
    }
}

static void add_long_target(struct building *w, const struct key *target, const struct bindings *bindings,
                            struct key *key)
{
    struct swappable swappable[MAX_SWAPPABLE];
    int n = find_swappable(w->f, target, swappable);
    add_target(w, &(struct target){target->bytes, target->length, n, swappable}, bindings, key);
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

static bool match_rule(const struct stepping *s, const struct short_rule *short_rule, const struct rewrite_rule *rule,
                       int at, struct matching *m)
{
    bool is_short = short_rule->source_length > 0;
    const uint8_t *pattern = is_short ? short_rule->source : rule->source.bytes + 2;
    int length = is_short ? short_rule->source_length : rule->source.length - 2;
    start_matching(m, s->r->family, pattern, s->term);
    if (match_as_it_stands(pattern, length, s->term, at + 2, &m->bindings))
        return true;
    if (is_short && !short_rule->is_commutative)
        return false;
    start_matching(m, s->r->family, pattern, s->term);
    return match_arguments(m, &s->r->family->instances[s->term->key->bytes[at + 1]], at + 2);
}

// The rule at `place` of the root, which is that of the term at `at`.
static bool visit_rule(const struct stepping *s, const struct rewrite_root *root, size_t place, int at)
{
    const struct short_rule *short_rule = &root->short_rules.items[place];
    const struct rewrite_rule *rule = &s->r->rules.items[root->rules.items[place]];
    struct matching m;
    if (!match_rule(s, short_rule, rule, at, &m))
        return true;
    struct building w;
    w.f = s->r->family;
    w.term = s->term;
    w.n_replaced = 1;
    w.has_overflown = false;
    w.replaced[0].at = at;
    w.replaced[0].by.length = 0;
    if (short_rule->source_length)
        add_target(&w,
                   &(struct target){short_rule->target, short_rule->target_length, short_rule->n_swappable,
                                    short_rule->swappable},
                   &m.bindings, &w.replaced[0].by);
    else
        add_long_target(&w, &rule->target, &m.bindings, &w.replaced[0].by);
    return visit_replaced(s, rule, &w);
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

static const uint64_t *rules_with(const struct rewrite_root *root, int argument, int head)
{
    return root->heads[argument] + (size_t)head * root->set_words;
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
    const uint64_t *a = rules_with(root, 0, first), *b = rules_with(root, 1, second);
    const uint64_t *swapped_a = rules_with(root, 0, second), *swapped_b = rules_with(root, 1, first);
    size_t place = first_place_of(s, root);
    uint64_t is_asked = ~UINT64_C(0) << place % 64;
    for (size_t word = place / 64; word < n_words; word++, is_asked = ~UINT64_C(0)) {
        uint64_t rules = a[word] & b[word];
        if (instance->is_commutative)
            rules |= swapped_a[word] & swapped_b[word];
        rules &= is_asked & root->usable[s->usable][word];
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
    for (int i = 0, at = 2; i < 2; i++) {
        struct key part = {0};
        uint8_t lengths[KEY_LENGTH];
        part.length = (uint8_t)term_measure_lengths(w.f, rule->target.bytes, at, lengths);
        memcpy(part.bytes, rule->target.bytes + at, part.length);
        add_long_target(&w, &part, &m.bindings, &w.replaced[i].by);
        at += part.length;
    }
    return visit_replaced(s, rule, &w);
}

static bool visit_pair_rules(const struct stepping *s)
{
    const struct rewrite_root *root = &s->r->roots[PAIR_INSTANCE][0];
    const struct measured *m = s->term;
    for (size_t j = 0; j < root->rules.count; j++) {
        const struct rewrite_rule *rule = &s->r->rules.items[root->rules.items[j]];
        bool may_be_used = root->usable[s->usable][j / 64] >> j % 64 & 1;
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
