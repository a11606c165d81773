// Rules are written in a canonical order of variables, forwards and backwards, and looked up.
#include "verifier/rules/reversed.h"

#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "operators/operator.h"

// Variables or nodes that are met while a rule is written down as numbers, in the order of their first places.
struct met {
    uint32_t count, things[MAX_RULE_NODES];   // all three kinds have as many at most
};
struct writing {
    const struct pattern *pattern;
    struct met variables, attribute_variables, nodes;
    VEC(int64_t) numbers;
};

// False: it is met for the first time.
static bool write_place(struct writing *w, struct met *met, uint32_t thing)
{
    uint32_t place = 0;
    while (place < met->count && met->things[place] != thing)
        place++;
    vec_push(&w->numbers, (int64_t)place);
    if (place < met->count)
        return true;
    met->things[met->count++] = thing;
    return false;
}

static void write_attribute_term(struct writing *w, const struct attribute_term *t)
{
    vec_push(&w->numbers, (int64_t)t->kind);
    switch (t->kind) {
    case TERM_VARIABLE:
        write_place(w, &w->attribute_variables, (uint32_t)t->value);
        break;
    case TERM_DIM:
    case TERM_DIMS:
    case TERM_RANK:
        write_place(w, &w->variables, (uint32_t)t->value);
        break;
    default:
        vec_push(&w->numbers, t->value);
    }
    vec_push(&w->numbers, (int64_t)t->count);
    for (uint32_t i = 0; i < t->count; i++)
        write_attribute_term(w, t->operands[i]);
}

static void write_term(struct writing *w, term_id term);

static void write_node(struct writing *w, const struct pattern_node *n)
{
    vec_push(&w->numbers, (int64_t)n->op->id);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        vec_push(&w->numbers, (int64_t)n->attributes[i].count);
        for (uint32_t k = 0; k < n->attributes[i].count; k++)
            write_attribute_term(w, n->attributes[i].terms[k]);
    }
    vec_push(&w->numbers, (int64_t)n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        write_term(w, n->inputs[i]);
}

// Equal subterms are one node, which is written once.
static void write_term(struct writing *w, term_id term)
{
    const struct term *t = &w->pattern->terms.items[term];
    vec_push(&w->numbers, (int64_t)t->is_variable);
    if (t->is_variable) {
        write_place(w, &w->variables, t->index);
        return;
    }
    vec_push(&w->numbers, (int64_t)t->output);
    if (!write_place(w, &w->nodes, t->index))
        write_node(w, &w->pattern->nodes.items[t->index]);
}

// Equal for two rules that differ in the names of variables alone.
static void write_rule(struct writing *w, const struct rule *r, bool backwards)
{
    w->pattern = &r->pattern;
    w->variables.count = w->attribute_variables.count = w->nodes.count = 0;
    vec_clear(&w->numbers);
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        write_term(w, backwards ? r->targets[i] : r->sources[i]);
        write_term(w, backwards ? r->sources[i] : r->targets[i]);
    }
}

const uint32_t *find_reversed_rules(const struct rule *const *rules, size_t n, struct arena *a)
{
    uint32_t *reversed = arena_array(a, uint32_t, n + 1);
    struct writing w = {0};
    struct key_set met = {0};
    VEC(uint32_t) first = {0};   // rule of each
    struct arena keys = {0};
    for (uint32_t i = 0; i < n; i++) {
        reversed[i] = NO_RULE;
        if (rules[i]->n_conditions)
            continue;
        write_rule(&w, rules[i], true);
        uint32_t found = key_set_find(&met, w.numbers.items, w.numbers.count * sizeof *w.numbers.items);
        if (found != KEY_NONE) {
            reversed[i] = first.items[found];
            continue;
        }
        write_rule(&w, rules[i], false);
        if (key_set_add(&met, &keys, w.numbers.items, w.numbers.count * sizeof *w.numbers.items) == first.count)
            vec_push(&first, i);
    }
    vec_free(&w.numbers);
    key_set_free(&met);
    vec_free(&first);
    arena_free(&keys);
    return reversed;
}
