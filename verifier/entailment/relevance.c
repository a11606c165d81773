// Which symbols are reachable from an obligation through the triggers of axioms.
#include "verifier/entailment/relevance.h"

#include <string.h>

// --- triggers --------------------------------------------------------------------------------------------------------

// Terms that are looked at one after the other.
struct trigger_search {
    const struct logic *logic;
    uint64_t all, met;   // variables
    struct trigger together;
    struct triggers found;
};

static void add_alone(struct trigger_search *s, logic_term term)
{
    if (s->found.n < MAX_TRIGGERS)
        s->found.items[s->found.n++] = (struct trigger){.n = 1, .terms = {term}};
}

static void add_together(struct trigger_search *s, logic_term term)
{
    if (s->together.n < MAX_TRIGGER_TERMS)
        s->together.terms[s->together.n++] = term;
}

static void look_at_side(struct trigger_search *s, logic_term side)
{
    uint64_t here = logic_variables(s->logic, side);
    if (s->logic->nodes.items[side].is_variable)
        return;
    if (here == s->all)
        add_alone(s, side);
    if (here & ~s->met)
        add_together(s, side);
    s->met |= here;
}

static void look_at_guard(struct trigger_search *s, logic_term guard)
{
    const struct logic_node *n = &s->logic->nodes.items[guard];
    const struct logic_node *of = n->n_arguments == 1 ? &s->logic->nodes.items[n->arguments[0]] : NULL;
    if (!of || of->is_variable || of->sort != SORT_TENSOR)
        return;
    uint64_t here = logic_variables(s->logic, n->arguments[0]);
    if (here == s->all)
        add_alone(s, n->arguments[0]);
    else if (s->found.n == 0 && (here & ~s->met))
        add_together(s, n->arguments[0]);
    s->met |= here;
}

static void add_term(struct relevance *r, logic_term term)
{
    const struct logic_node *n = &r->logic->nodes.items[term];
    if (!n->is_variable && !r->has_symbol[n->index]) {
        r->has_symbol[n->index] = true;
        vec_push(&r->symbols, n->index);
    }
    for (uint32_t i = 0; i < n->n_arguments; i++)
        add_term(r, n->arguments[i]);
}

static void add_symbols(struct logic *l, struct trigger *trigger)
{
    struct relevance of_trigger FREED_BY(relevance_free);
    relevance_init(&of_trigger, l);
    for (uint32_t i = 0; i < trigger->n; i++)
        add_term(&of_trigger, trigger->terms[i]);
    trigger->n_symbols = (uint32_t)of_trigger.symbols.count;
    vec_reserve(&of_trigger.symbols, 1);
    trigger->symbols = arena_copy_array(&l->arena, of_trigger.symbols.items, of_trigger.symbols.count);
}

struct triggers triggers_of_axiom(struct logic *l, const struct sentence *axiom)
{
    struct trigger_search s = {.logic = l};
    s.all = axiom->n_variables == 64 ? UINT64_MAX : ((uint64_t)1 << axiom->n_variables) - 1;
    look_at_side(&s, axiom->goals.items[0].left);
    look_at_side(&s, axiom->goals.items[0].right);
    for (size_t i = 0; i < axiom->truths.count; i++)
        look_at_guard(&s, axiom->truths.items[i]);
    if (s.found.n == 0 && s.together.n && s.met == s.all)
        s.found.items[s.found.n++] = s.together;
    for (uint32_t i = 0; i < s.found.n; i++)
        add_symbols(l, &s.found.items[i]);
    return s.found;
}

// --- relevance -------------------------------------------------------------------------------------------------------

void relevance_init(struct relevance *r, const struct logic *l)
{
    *r = (struct relevance){.logic = l, .n_symbols = l->symbols.count};
    r->has_symbol = mem_alloc_zero(r->n_symbols * sizeof *r->has_symbol);
}

void relevance_free(struct relevance *r)
{
    mem_free_array(r->has_symbol, r->n_symbols);
    vecs_free(r, symbols, axioms);
}

static void add_equality(struct relevance *r, const struct logic_equality *e)
{
    add_term(r, e->left);
    add_term(r, e->right);
}

void relevance_add_sentence(struct relevance *r, const struct sentence *s)
{
    for (size_t i = 0; i < s->truths.count; i++)
        add_term(r, s->truths.items[i]);
    for (size_t i = 0; i < s->alternatives.count; i++)
        add_term(r, s->alternatives.items[i]);
    for (size_t i = 0; i < s->equalities.count; i++)
        add_equality(r, &s->equalities.items[i]);
    for (size_t i = 0; i < s->choices.count; i++) {
        add_term(r, s->choices.items[i].term);
        for (uint32_t k = 0; k < s->choices.items[i].n_values; k++)
            add_term(r, s->choices.items[i].values[k]);
    }
    for (size_t i = 0; i < s->goals.count; i++)
        add_equality(r, &s->goals.items[i]);
}

static bool may_be_met(const struct relevance *r, const struct trigger *trigger)
{
    return ALL(uint32_t, i, trigger->n_symbols, r->has_symbol[trigger->symbols[i]]);
}

static bool is_in_reach(const struct relevance *r, const struct triggers *triggers)
{
    return ANY(uint32_t, i, triggers->n, may_be_met(r, &triggers->items[i]));
}

void relevance_close(struct relevance *r, const struct sentence_list *axioms, const struct triggers *triggers)
{
    size_t n = axioms->items.count, n_found = 0, before;
    LOCAL_ZEROS(bool, is_found, n);
    do {
        before = n_found;
        for (size_t i = 0; i < n; i++)
            if (!is_found[i] && is_in_reach(r, &triggers[i])) {
                is_found[i] = true;
                n_found++;
                relevance_add_sentence(r, &axioms->items.items[i]);
            }
    } while (n_found > before);
    for (size_t i = 0; i < n; i++)
        if (is_found[i])
            vec_push(&r->axioms, (uint32_t)i);
}
