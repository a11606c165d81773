#include "generator/derive.h"

#include "core/hash.h"
#include "core/table.h"

struct search {
    const struct rewrite_rules *r;
    int max_nodes, max_terms;
    VEC(struct key) terms;   // of both sides
    VEC(uint8_t) side;
    struct table by_key;
    bool is_met;
    int wanted_nodes;   // a term of so few operators is met too
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

static bool add_term(void *context, const struct rewrite_rule *rule, const struct key *term)
{
    struct search *s = context;
    (void)rule;
    uint64_t hash = key_hash(term);
    uint32_t found = table_find(&s->by_key, hash, is_equal_term, s, term);
    if (found != TABLE_NONE) {
        s->is_met = s->is_met || s->side.items[found] != s->current;
        return !s->is_met;
    }
    if ((int)s->terms.count >= s->max_terms)
        return true;
    int n_nodes = key_count_nodes(s->r->family, term);
    if (n_nodes > s->max_nodes)
        return true;
    s->is_met = s->is_met || n_nodes <= s->wanted_nodes;
    table_insert(&s->by_key, hash, (uint32_t)s->terms.count);
    vec_push(&s->terms, *term);
    vec_push(&s->side, s->current);
    return true;
}

static bool search(struct search *s)
{
    for (size_t i = 0; i < s->terms.count && !s->is_met; i++) {
        struct key term = s->terms.items[i];
        s->current = s->side.items[i];
        rewrite_visit(s->r, 0, &term, usable_in(s), add_term, s);
    }
    vec_free(&s->terms);
    vec_free(&s->side);
    table_free(&s->by_key);
    return s->is_met;
}

bool derive_term(const struct rewrite_rules *r, const struct key *from, const struct key *to, int max_nodes,
                 int max_terms, enum derivation what)
{
    struct search s = {.r = r, .max_nodes = max_nodes, .max_terms = max_terms, .wanted_nodes = -1, .what = what};
    add_term(&s, NULL, from);
    s.current = 1;
    add_term(&s, NULL, to);
    return search(&s);
}

bool derive_smaller(const struct rewrite_rules *r, const struct key *from, int n_nodes, int max_terms)
{
    struct search s = {.r = r, .max_terms = max_terms, .wanted_nodes = n_nodes, .what = DERIVE_BY_RULES};
    s.max_nodes = key_count_nodes(r->family, from);
    add_term(&s, NULL, from);
    return search(&s);
}
