// Breadth-first search from both ends over terms, with the axioms of a proof as rewrite rules.
#include "verifier/entailment/derivation.h"

#include "core/memory/key_set.h"
#include "core/text/text.h"
#include <string.h>

#define LARGEST_TERM 40   // applications

struct visited {
    struct place_of_term {
        logic_term term;
        uint32_t side;   // 0: reached from the source, 1: from the target
    } at;
    uint32_t from;   // index of the visited term before; UINT32_MAX: an end
    const char *property;
};
struct search {
    struct logic *l;
    const struct axioms *axioms;
    const struct entailment *proof;
    VEC(struct visited) visited;
    struct key_set places;   // of these
    uint32_t limit;
    uint32_t meeting[2];   // visited terms of both sides that are the same
    bool has_met;
};

// --- terms -----------------------------------------------------------------------------------------------------------

static uint32_t size_of(const struct logic *l, logic_term term)
{
    const struct logic_node *n = &l->nodes.items[term];
    bool is_operator = l->symbols.count && !n->is_variable && l->symbols.items[n->index].role == ROLE_OPERATOR;
    return is_operator + SUM_ALL(uint32_t, uint32_t, i, n->n_arguments, size_of(l, n->arguments[i]));
}

static bool match_term(const struct logic *l, logic_term pattern, logic_term term, logic_term *bound)
{
    const struct logic_node *p = &l->nodes.items[pattern], *t = &l->nodes.items[term];
    if (p->sort != t->sort)
        return false;
    if (p->is_variable) {
        if (bound[p->index] != UINT32_MAX)
            return bound[p->index] == term;
        bound[p->index] = term;
        return true;
    }
    return !t->is_variable && p->index == t->index && p->n_arguments == t->n_arguments &&
           ALL(uint32_t, i, p->n_arguments, match_term(l, p->arguments[i], t->arguments[i], bound));
}

// The pattern with its variables replaced. False: a variable is not bound.
static bool instantiate(struct logic *l, logic_term pattern, const logic_term *bound, logic_term *ret_term)
{
    const struct logic_node p = l->nodes.items[pattern];
    logic_term arguments[MAX_LOGIC_ARGUMENTS];
    if (p.is_variable) {
        *ret_term = bound[p.index];
        return *ret_term != UINT32_MAX;
    }
    if (ANY(uint32_t, i, p.n_arguments, !instantiate(l, p.arguments[i], bound, &arguments[i])))
        return false;
    *ret_term = logic_apply(l, p.index, arguments);
    return true;
}

// --- the search ------------------------------------------------------------------------------------------------------

static void visit(struct search *s, logic_term term, uint32_t from, const char *property, uint32_t side)
{
    struct place_of_term at = {term, side}, across = {term, !side};
    if (s->has_met || s->visited.count >= s->limit || size_of(s->l, term) > LARGEST_TERM)
        return;
    uint32_t here = key_set_add(&s->places, &s->l->arena, &at, sizeof at);
    uint32_t other = key_set_find(&s->places, &across, sizeof across);
    if (here < s->visited.count)
        return;
    vec_push(&s->visited, ((struct visited){at, from, property}));
    if (other != KEY_NONE) {
        s->has_met = true;
        s->meeting[side] = here;
        s->meeting[!side] = other;
    }
}

// A place in a term, where one property rewrites what stands there; `rebuild` puts the result in place.
struct place {
    const struct place *above;
    logic_term term;
    uint32_t argument;   // of `above`
};

static logic_term rebuild(struct logic *l, const struct place *at, logic_term replacement)
{
    while (at->above) {
        const struct logic_node n = l->nodes.items[at->above->term];
        logic_term arguments[MAX_LOGIC_ARGUMENTS];
        memcpy(arguments, n.arguments, n.n_arguments * sizeof *arguments);
        arguments[at->argument] = replacement;
        replacement = logic_apply(l, n.index, arguments);
        at = at->above;
    }
    return replacement;
}

static void rewrite_at(struct search *s, const struct place *at, uint32_t from, const struct sentence *axiom,
                       logic_term pattern, logic_term result)
{
    logic_term bound[2 * MAX_RULE_VARIABLES], replacement;
    memset(bound, 0xff, sizeof bound);
    if (match_term(s->l, pattern, at->term, bound) && instantiate(s->l, result, bound, &replacement))
        visit(s, rebuild(s->l, at, replacement), from, axiom->name, s->visited.items[from].at.side);
}

static void rewrite_everywhere(struct search *s, const struct place *at, uint32_t from)
{
    vec_each(&s->axioms->sentences.items, axiom) {
        if (!text_is_among(axiom->name, s->proof->n_uses, s->proof->uses))
            continue;
        rewrite_at(s, at, from, axiom, axiom->goals.items[0].left, axiom->goals.items[0].right);
        rewrite_at(s, at, from, axiom, axiom->goals.items[0].right, axiom->goals.items[0].left);
    }
    uint32_t n = s->l->nodes.items[at->term].n_arguments;
    for (uint32_t i = 0; i < n; i++) {
        struct place below = {at, s->l->nodes.items[at->term].arguments[i], i};
        if (s->l->nodes.items[below.term].sort == SORT_TENSOR)
            rewrite_everywhere(s, &below, from);
    }
}

// --- chains ----------------------------------------------------------------------------------------------------------

static void add_chain(struct search *s, struct derivation *d)
{
    LOCAL_VEC(uint32_t, first_half);
    for (uint32_t v = s->meeting[0]; v != UINT32_MAX; v = s->visited.items[v].from)
        vec_push(&first_half, v);
    while (first_half.count) {
        const struct visited *v = &s->visited.items[vec_pop(&first_half)];
        vec_push(&d->steps, ((struct derivation_step){v->at.term, v->property}));
    }
    for (uint32_t v = s->meeting[1]; s->visited.items[v].from != UINT32_MAX; v = s->visited.items[v].from) {
        struct derivation_step step = {s->visited.items[s->visited.items[v].from].at.term,
                                       s->visited.items[v].property};
        vec_push(&d->steps, step);
    }
}

bool property_derivation_find(struct derivation *ret_derivation, const struct axioms *axioms, const struct equation *eq,
                              uint32_t goal, const struct entailment *proof, uint32_t term_limit)
{
    struct sentence_list obligations FREED_BY(sentence_list_free) = {0};
    *ret_derivation = (struct derivation){0};
    logic_copy(&ret_derivation->logic, &axioms->logic);
    struct search s = {.l = &ret_derivation->logic, .axioms = axioms, .proof = proof, .limit = term_limit};
    if (obligations_state(s.l, eq, false, &obligations)) {
        const struct logic_equality *ends = &obligations.items.items[0].goals.items[goal];
        visit(&s, ends->left, UINT32_MAX, NULL, 0);
        visit(&s, ends->right, UINT32_MAX, NULL, 1);
        for (uint32_t next = 0; next < s.visited.count && !s.has_met; next++) {
            struct place root = {NULL, s.visited.items[next].at.term, 0};
            rewrite_everywhere(&s, &root, next);
        }
    }
    if (s.has_met)
        add_chain(&s, ret_derivation);
    vec_free(&s.visited);
    key_set_free(&s.places);
    return s.has_met;
}

void property_derivation_free(struct derivation *d)
{
    vec_free(&d->steps);
    logic_free(&d->logic);
}
