// A breadth-first search from both ends; terms are bounded in size and number.
#include "generator/reduce/derive.h"

#include "core/memory/memory.h"
#include <assert.h>
#include <string.h>

// A term that was reached, from the side 0 or 1.
struct reached {
    uint64_t hash;
    uint8_t side;
    struct key key;
};
// Searches are short and there are many: the memory of most is the stack.
enum { FEW_TERMS = 80, FEW_SLOTS = 256 };
struct search {
    const struct rewrite_rules *r;
    int max_nodes, max_terms, n_terms;
    struct reached *terms;
    uint32_t *slots;   // linear probing: a term's number + 1; 0: empty
    size_t n_slots;    // a power of two, at least twice the terms
    bool is_met;
    int wanted_nodes;   // a term of so few operators is met too
    enum derivation what;
    uint8_t current;   // side
    struct reached few_terms[FEW_TERMS];
    uint32_t few_slots[FEW_SLOTS];
};

static enum usable usable_in(const struct search *s)
{
    return s->what == DERIVE_BY_RULES && s->current == 1 ? USABLE_REVERSIBLE : USABLE_UNCONDITIONAL;
}

// The slot where the term stands, or the empty one where it would.
static uint32_t *slot_of(const struct search *s, const struct rewrite_step *step)
{
    size_t i = step->hash & (s->n_slots - 1);
    while (s->slots[i]) {
        const struct reached *known = &s->terms[s->slots[i] - 1];
        if (known->hash == step->hash && rewrite_step_leads_to(step, &known->key))
            break;
        i = (i + 1) & (s->n_slots - 1);
    }
    return &s->slots[i];
}

static bool has_more_nodes(const struct search *s, const struct rewrite_step *step, const struct key *key, int n_nodes)
{
    return step->least_nodes > n_nodes ||
           (step->most_nodes > n_nodes && key_has_more_nodes(s->r->family, key, n_nodes));
}

static uint32_t *first_empty_slot(const struct search *s, uint64_t hash)
{
    size_t i = hash & (s->n_slots - 1);
    while (s->slots[i])
        i = (i + 1) & (s->n_slots - 1);
    return &s->slots[i];
}

static void add_term(struct search *s, uint32_t *slot, uint64_t hash, const struct key *key)
{
    struct reached *added = &s->terms[s->n_terms++];
    added->hash = hash;
    added->side = s->current;
    added->key = *key;
    *slot = (uint32_t)s->n_terms;
}

// Terms that are too large are not known.
static bool take_step(void *context, const struct rewrite_step *step)
{
    struct search *s = context;
    struct key key;
    uint32_t *slot = step->least_nodes > s->max_nodes ? NULL : slot_of(s, step);
    if (slot && *slot) {
        s->is_met = s->is_met || s->terms[*slot - 1].side != s->current;
        return !s->is_met;
    }
    if (!slot || s->n_terms >= s->max_terms)
        return true;
    rewrite_step_make(step, &key);
    assert(term_hash(s->r->family, &key) == step->hash);
    if (has_more_nodes(s, step, &key, s->max_nodes))
        return true;
    s->is_met = s->is_met || !has_more_nodes(s, step, &key, s->wanted_nodes);
    add_term(s, slot, step->hash, &key);
    return true;
}

// Adds a term where the search begins.
static void add_end(struct search *s, const struct key *term, uint8_t side)
{
    const struct family *f = s->r->family;
    for (int i = 0; i < s->n_terms; i++)
        if (key_compare(&s->terms[i].key, term) == 0)
            s->is_met = true;
    if (s->is_met || key_has_more_nodes(f, term, s->max_nodes))
        return;
    s->is_met = s->wanted_nodes >= 0 && !key_has_more_nodes(f, term, s->wanted_nodes);
    s->current = side;
    uint64_t hash = term_hash(f, term);
    add_term(s, first_empty_slot(s, hash), hash, term);
}

static void search_init(struct search *s, const struct rewrite_rules *r, int max_nodes, int max_terms,
                        enum derivation what)
{
    s->r = r;
    s->max_nodes = max_nodes;
    s->max_terms = max_terms;
    s->n_terms = 0;
    s->is_met = false;
    s->wanted_nodes = -1;
    s->what = what;
    for (s->n_slots = FEW_SLOTS; s->n_slots < 2 * (size_t)max_terms;)
        s->n_slots *= 2;
    s->terms = max_terms <= FEW_TERMS ? s->few_terms : mem_new_array(struct reached, max_terms);
    s->slots = s->n_slots == FEW_SLOTS ? s->few_slots : mem_new_array(uint32_t, s->n_slots);
    memset(s->slots, 0, s->n_slots * sizeof *s->slots);
}

static bool search(struct search *s)
{
    for (int i = 0; i < s->n_terms && !s->is_met; i++) {
        s->current = s->terms[i].side;
        rewrite_visit(s->r, 0, &s->terms[i].key, usable_in(s), take_step, s);
    }
    if (s->terms != s->few_terms)
        mem_free_array(s->terms, s->max_terms);
    if (s->slots != s->few_slots)
        mem_free_array(s->slots, s->n_slots);
    return s->is_met;
}

bool derive_term(const struct rewrite_rules *r, const struct key *from, const struct key *to, int max_nodes,
                 int max_terms, enum derivation what)
{
    struct search s;
    search_init(&s, r, max_nodes, max_terms, what);
    add_end(&s, from, 0);
    add_end(&s, to, 1);
    return search(&s);
}

bool derive_smaller(const struct rewrite_rules *r, const struct key *from, int n_nodes, int max_terms)
{
    struct search s;
    search_init(&s, r, key_count_nodes(r->family, from), max_terms, DERIVE_BY_RULES);
    s.wanted_nodes = n_nodes;
    add_end(&s, from, 0);
    return search(&s);
}
