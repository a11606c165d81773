// Rules are found by the heads of a term's arguments, matched, and their steps visited.
#include "generator/reduce/rewrite.h"

#include <string.h>

// --- matching --------------------------------------------------------------------------------------------------------

enum { UNBOUND = 0xff };
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

// Matches what comes after the head of an application.
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
    if (first >= RULE_GRAPH_CONSTANT)
        return first - RULE_GRAPH_CONSTANT == term[0];
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

// --- steps -----------------------------------------------------------------------------------------------------------

struct stepping {
    const struct rewrite_rules *r;
    const struct measured *term;
    size_t first_rule;
    enum usable usable;
    rewrite_fn *visit;
    void *context;
};

// A rule with the root of the term that is visited.
struct asked_rule {
    const struct rewrite_root *root;
    size_t place;
};

static bool match_rule(const struct stepping *s, const struct rewrite_rule *rule, int at, struct matching *m)
{
    start_matching(m, s->r->family, rule->source.bytes + 2, s->term);
    return match_arguments(m, &s->r->family->instances[s->term->key->bytes[at + 1]], at + 2);
}

static bool visit_step(const struct stepping *s, struct rewrite_step *step)
{
    return !rewrite_step_foresee(step) || s->visit(s->context, step);
}

// The place in the term whose rules are visited.
struct standing {
    int at;
    bool has_context;
    struct context context;
};

static bool visit_rule(const struct stepping *s, struct asked_rule asked, struct standing *here)
{
    const struct rewrite_rule *rule = &s->r->rules.items[asked.root->rules.items[asked.place]];
    struct matching m;
    if (!match_rule(s, rule, here->at, &m))
        return true;
    if (!here->has_context)
        context_init(&here->context, s->r->family, s->term, (uint8_t[]){(uint8_t)here->at}, 1);
    here->has_context = true;
    struct target target = {rule->target.bytes, rule->target.length, rule->n_swappable, rule->swappable};
    return visit_step(
        s, &(struct rewrite_step){&here->context, &target, &m.bindings, rule->is_reversible && !rule->is_conditional});
}

static bool visit_rules_in_word(const struct stepping *s, const struct rewrite_root *root, size_t word, uint64_t rules,
                                struct standing *here)
{
    for (; rules; rules &= rules - 1)
        if (!visit_rule(s, (struct asked_rule){root, 64 * word + (size_t)__builtin_ctzll(rules)}, here))
            return false;
    return true;
}

// The place of the first rule that is to be visited.
static size_t first_place_of(const struct stepping *s, const struct rewrite_root *root)
{
    size_t first = 0, end = root->rules.count;
    while (s->first_rule > 0 && first < end) {
        size_t middle = (first + end) / 2;
        if (root->rules.items[middle] < s->first_rule)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
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
    int first = rewrite_head_at(bytes + 2, 0);
    int second = instance->n_inputs < 2 ? REWRITE_ANY_HEAD : rewrite_head_at(bytes + 2 + s->term->lengths[at + 2], 0);
    const uint64_t *a = rules_with(root, 0, first), *b = rules_with(root, 1, second);
    const uint64_t *swapped_a = rules_with(root, 0, second), *swapped_b = rules_with(root, 1, first);
    size_t place = first_place_of(s, root);
    uint64_t is_asked = ~UINT64_C(0) << place % 64;
    struct standing here;
    here.at = at;
    here.has_context = false;
    for (size_t word = place / 64; word < n_words; word++, is_asked = ~UINT64_C(0)) {
        uint64_t rules = a[word] & b[word];
        if (instance->is_commutative)
            rules |= swapped_a[word] & swapped_b[word];
        rules &= is_asked & root->usable[s->usable][word];
        if (!visit_rules_in_word(s, root, word, rules, &here))
            return false;
    }
    return true;
}

// A rule of two outputs at two subterms.
static bool visit_pair_rule(const struct stepping *s, const struct rewrite_rule *rule, int u, int v)
{
    const struct family *f = s->r->family;
    struct matching m;
    struct context c;
    struct key parts[MAX_REPLACED];
    struct target targets[MAX_REPLACED];
    struct swappable swappable[MAX_REPLACED][MAX_SWAPPABLE];
    start_matching(&m, f, rule->source.bytes + 2, s->term);
    if (!match_in_order(&m, u, v))
        return true;
    context_init(&c, f, s->term, (uint8_t[]){(uint8_t)u, (uint8_t)v}, MAX_REPLACED);
    for (int i = 0, at = 2; i < MAX_REPLACED; at += parts[i++].length) {
        uint8_t lengths[KEY_LENGTH];
        parts[i].length = (uint8_t)term_measure_lengths(f, rule->target.bytes, at, lengths);
        memcpy(parts[i].bytes, rule->target.bytes + at, parts[i].length);
        int n = rewrite_find_swappable(f, &parts[i], swappable[i]);
        targets[i] = (struct target){parts[i].bytes, parts[i].length, n, swappable[i]};
    }
    return visit_step(s,
                      &(struct rewrite_step){&c, targets, &m.bindings, rule->is_reversible && !rule->is_conditional});
}

// Rules that may match two subterms by their heads are asked. The first subterm is the pair.
static bool visit_pair_rules_in_word(const struct stepping *s, size_t word)
{
    const struct rewrite_root *root = &s->r->roots[PAIR_INSTANCE][0];
    const struct measured *m = s->term;
    uint64_t of[2][MAX_TERM_NODES * MAX_NODE_OUTPUTS], some[2] = {0};
    for (int argument = 0; argument < 2; argument++)
        for (int u = 1; u < m->n_subterms; u++)
            some[argument] |= of[argument][u] =
                rules_with(root, argument, rewrite_head_at(m->key->bytes + m->subterms[u], 0))[word];
    for (uint64_t rules = some[0] & some[1] & root->usable[s->usable][word]; rules; rules &= rules - 1) {
        uint64_t bit = rules & -rules;
        const struct rewrite_rule *rule =
            &s->r->rules.items[root->rules.items[64 * word + (size_t)__builtin_ctzll(rules)]];
        for (int u = 1; u < m->n_subterms; u++)
            for (int v = 1; v < m->n_subterms && of[0][u] & bit; v++)
                if (u != v && of[1][v] & bit && !visit_pair_rule(s, rule, m->subterms[u], m->subterms[v]))
                    return false;
    }
    return true;
}

static void visit_pair_rules(const struct stepping *s)
{
    size_t n_words = (s->r->roots[PAIR_INSTANCE][0].rules.count + 63) / 64;
    for (size_t word = 0; word < n_words; word++)
        if (!visit_pair_rules_in_word(s, word))
            return;
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
