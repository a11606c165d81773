// Hears instances, keeps what is equal in all of them, and makes a sentence for each kind.
#include "verifier/entailment/obligations.h"

#include "core/memory/hash.h"
#include "substitutions/pattern.h"
#include "verifier/direct_proof/small_instances.h"
#include "verifier/instances/ranks.h"
#include <string.h>

// Attributes of the equation's nodes that have had one value at all instances of a kind so far.
struct observed_attributes {
    size_t sentence;
    struct attribute_terms terms;
    uint64_t equal[MAX_ATTRIBUTE_TERMS];   // one bit for each attribute before that has been equal to this one
    uint64_t equal_at_mark[MAX_ATTRIBUTE_TERMS];
};

static uint64_t rank_of_type(const struct type *type)
{
    return type ? (uint64_t)type->rank : 99;
}

// Ranks of all terms and variables (of some nothing is asked but sizes) and lengths of all attributes.
static uint64_t kind_of_instance(const struct instance *in)
{
    const struct pattern *p = in->equation->pattern;
    uint64_t kind = 0;
    for (term_id t = 0; t < p->terms.count; t++) {
        type_id type = instance_term_type(in, t);
        kind = hash_step(kind, rank_of_type(type == NO_TYPE ? NULL : typing_type(in->typing, type)));
    }
    for (uint32_t v = 0; v < p->n_variables; v++)
        kind = hash_step(kind, rank_of_type(in->types[v]));
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; in->calls[n] && i < operator_n_attributes(p->nodes.items[n].op); i++)
            kind = hash_step(kind, in->calls[n]->attributes[i].count);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        kind = hash_step(kind, in->attributes[v].count);
    return kind;
}

static const struct attribute_value *value_at(const struct instance *in, const struct attribute_term_of_node *a)
{
    return &in->calls[a->node]->attributes[a->attribute];
}

static void observe(struct observed_attributes *o, const struct instance *in)
{
    for (uint32_t i = 0; i < o->terms.n; i++)
        for (uint64_t left = o->equal[i]; left; left &= left - 1) {
            uint32_t j = (uint32_t)__builtin_ctzll(left);
            if (!attribute_value_equal(value_at(in, &o->terms.items[i]), value_at(in, &o->terms.items[j])))
                o->equal[i] &= ~((uint64_t)1 << j);
        }
}

static const char *fact_text(const struct obligations *o, const struct attribute_term_of_node *x,
                             const struct attribute_term_of_node *y)
{
    const struct pattern *p = o->equation->pattern;
    const struct attribute_term_of_node *sides[2] = {y, x};
    struct text text = {0};
    text_add(&text, "(=");
    for (int side = 0; side < 2; side++) {
        const struct attribute_pattern *a = &p->nodes.items[sides[side]->node].attributes[sides[side]->attribute];
        text_add(&text, a->count > 1 ? " (list" : "");
        for (uint32_t i = 0; i < a->count; i++) {
            text_add(&text, " ");
            pattern_print_attribute_term(&text, p, a->terms[i]);
        }
        text_add(&text, a->count > 1 ? ")" : "");
    }
    text_add(&text, ")");
    const char *kept = arena_string(&o->logic->arena, text.chars);
    text_free(&text);
    return kept;
}

static void state_facts(const struct obligations *o, const struct observed_attributes *seen)
{
    struct sentence *s = &o->list->items.items[seen->sentence];
    for (uint32_t i = 0; i < seen->terms.n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct attribute_term_of_node *x = &seen->terms.items[i], *y = &seen->terms.items[j];
            bool is_of_one_sort = o->logic->nodes.items[x->term].sort == o->logic->nodes.items[y->term].sort;
            if (!(seen->equal[i] >> j & 1) || x->term == y->term || !is_of_one_sort)
                continue;
            struct fact fact = {x->term, y->term, fact_text(o, x, y)};
            vec_push(&s->facts, fact);
        }
}

static void begin_kind(struct obligations *o, struct instance *in, uint64_t kind)
{
    struct sentence s;
    bool has_facts = !o->is_axiom && !o->equation->is_strong;
    struct observed_attributes *seen = arena_new(&o->logic->arena, struct observed_attributes);
    o->kinds[o->n_kinds] = kind;
    o->attributes[o->n_kinds++] = has_facts ? seen : NULL;
    if (!logic_translate(o->logic, in, o->is_axiom, &s, has_facts ? &seen->terms : NULL)) {
        o->has_failed = true;
        return;
    }
    vec_push(&o->list->items, s);
    seen->sentence = o->list->items.count - 1;
    for (uint32_t i = 0; i < seen->terms.n; i++)
        seen->equal[i] = ((uint64_t)1 << i) - 1;
    observe(seen, in);
}

void obligations_begin(struct obligations *o, struct logic *l, const struct equation *eq, bool is_axiom,
                       struct sentence_list *list)
{
    *o = (struct obligations){
        .logic = l, .equation = eq, .is_axiom = is_axiom, .list = list, .first = list->items.count};
    kinds_begin(&o->heard, eq);
}

void obligations_free(struct obligations *o)
{
    kinds_free(&o->heard);
    kinds_free(&o->mark.heard);
}

void obligations_hear(struct obligations *o, struct instance *in)
{
    if (o->has_failed && !o->is_axiom)
        return;
    uint64_t kind = kind_of_instance(in);
    kinds_note(&o->heard, in);
    for (uint32_t i = 0; i < o->n_kinds; i++)
        if (o->kinds[i] == kind) {
            if (o->attributes[i] && !o->has_no_facts)
                observe(o->attributes[i], in);
            return;
        }
    if (o->n_kinds == MAX_SENTENCE_KINDS)
        o->has_failed = true;
    else
        begin_kind(o, in, kind);
}

void obligations_drop_facts(struct obligations *o)
{
    o->has_no_facts = true;
}

void obligations_mark(struct obligations *o)
{
    kinds_copy(&o->mark.heard, &o->heard);
    o->mark.n_kinds = o->n_kinds;
    o->mark.end = o->list->items.count;
    o->mark.has_failed = o->has_failed;
    for (uint32_t i = 0; i < o->n_kinds; i++)
        if (o->attributes[i])
            memcpy(o->attributes[i]->equal_at_mark, o->attributes[i]->equal, sizeof o->attributes[i]->equal);
}

void obligations_return_to_mark(struct obligations *o)
{
    sentence_list_cut(o->list, o->mark.end);
    kinds_copy(&o->heard, &o->mark.heard);
    o->n_kinds = o->mark.n_kinds;
    o->has_failed = o->mark.has_failed;
    o->has_no_facts = false;
    for (uint32_t i = 0; i < o->n_kinds; i++)
        if (o->attributes[i])
            memcpy(o->attributes[i]->equal, o->attributes[i]->equal_at_mark, sizeof o->attributes[i]->equal);
    for (size_t i = o->first; i < o->list->items.count; i++)
        vec_clear(&o->list->items.items[i].facts);
}

bool obligations_end(struct obligations *o, struct learned_forms *learned)
{
    for (uint32_t i = 0; !o->has_failed && !o->has_no_facts && i < o->n_kinds; i++)
        if (o->attributes[i])
            state_facts(o, o->attributes[i]);
    return o->list->items.count > o->first && !o->has_failed &&
           (o->is_axiom || kinds_are_met(&o->heard, learned, o->equation, ranks_to_test(o->equation)));
}

static bool hear(void *context, struct instance *in)
{
    struct obligations *o = context;
    obligations_hear(o, in);
    return o->is_axiom || !o->has_failed;
}

bool obligations_find(struct logic *l, struct judge *j, const struct equation *eq, bool is_axiom,
                      struct sentence_list *list)
{
    struct obligations o;
    obligations_begin(&o, l, eq, is_axiom, list);
    if (is_axiom || eq->is_strong)
        explore_kinds(j, eq, false, hear, &o);
    else
        judge_visit_instances(j, eq, hear, &o);
    bool are_stated = obligations_end(&o, &j->learned);
    obligations_free(&o);
    return are_stated;
}
