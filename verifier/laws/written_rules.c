// Rules that are laws as they stand (L64... of docs/theory/laws.md). Rule and equation are walked side by side: as
// terms of a pattern are hash-consed, a node of the law has one counterpart, however often it is read.
#include "verifier/laws/written_rules.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include <assert.h>
#include <string.h>

static const struct {
    const char *rule, *number;
} laws[] = {
    {"conv-winograd-even", "L64"},
    {"conv-winograd-odd", "L65"},
    {"conv-relu-winograd-even", "L66"},
    {"conv-relu-winograd-odd", "L67"},
};

// What stands in the equation for what the law has. Two variables of the law may be one there.
#define NONE UINT32_MAX
struct likeness {
    const struct pattern *law, *of;
    uint32_t variables[MAX_RULE_VARIABLES], attributes[MAX_RULE_VARIABLES];
    uint32_t nodes[MAX_RULE_NODES];
};

static bool stands_for(uint32_t *map, int64_t of_law, int64_t other)
{
    if (map[of_law] == NONE)
        map[of_law] = (uint32_t)other;
    return map[of_law] == (uint32_t)other;
}

static bool is_like_attribute_term(struct likeness *l, const struct attribute_term *law, const struct attribute_term *t)
{
    bool is_of_tensor = law->kind == TERM_DIM || law->kind == TERM_DIMS || law->kind == TERM_RANK;
    bool is_like = law->kind == t->kind && law->count == t->count;
    is_like = is_like && (is_of_tensor                 ? stands_for(l->variables, law->value, t->value)
                          : law->kind == TERM_VARIABLE ? stands_for(l->attributes, law->value, t->value)
                                                       : law->value == t->value);
    for (uint32_t i = 0; i < law->count && is_like; i++)
        is_like = is_like_attribute_term(l, law->operands[i], t->operands[i]);
    return is_like;
}

static bool is_like_attribute(struct likeness *l, const struct attribute_pattern *law,
                              const struct attribute_pattern *list)
{
    bool is_like = law->count == list->count;
    for (uint32_t i = 0; i < law->count && is_like; i++)
        is_like = is_like_attribute_term(l, law->terms[i], list->terms[i]);
    return is_like;
}

static bool is_like_term(struct likeness *l, term_id law, term_id term);

static bool is_like_node(struct likeness *l, const struct pattern_node *law, const struct pattern_node *node)
{
    bool is_like = law->op == node->op && law->n_inputs == node->n_inputs;
    for (int i = 0; is_like && i < operator_n_attributes(law->op); i++)
        is_like = is_like_attribute(l, &law->attributes[i], &node->attributes[i]);
    for (uint32_t i = 0; is_like && i < law->n_inputs; i++)
        is_like = is_like_term(l, law->inputs[i], node->inputs[i]);
    return is_like;
}

static bool is_like_term(struct likeness *l, term_id law, term_id term)
{
    const struct term *t = &l->law->terms.items[law], *u = &l->of->terms.items[term];
    if (t->is_variable != u->is_variable || t->output != u->output)
        return false;
    if (t->is_variable)
        return stands_for(l->variables, t->index, u->index);
    bool is_new = l->nodes[t->index] == NONE;
    return stands_for(l->nodes, t->index, u->index) &&
           (!is_new || is_like_node(l, &l->law->nodes.items[t->index], &l->of->nodes.items[u->index]));
}

static bool is_like_condition(struct likeness *l, const struct condition *law, const struct condition *c)
{
    if (law->kind != c->kind)
        return false;
    if (law->kind == CONDITION_DTYPE)
        return law->dtype == c->dtype && stands_for(l->variables, law->variable, c->variable);
    return is_like_attribute_term(l, law->a, c->a) && is_like_attribute_term(l, law->b, c->b);
}

// What is a weight, or was given, changes no value. All variables are known here: both sides were walked.
static bool is_assumed(struct likeness *l, const struct condition *law, const struct equation *eq)
{
    bool is_assumed = law->kind == CONDITION_WEIGHT || law->kind == CONDITION_GIVEN;
    for (uint32_t i = 0; i < eq->n_conditions && !is_assumed; i++)
        is_assumed = is_like_condition(l, law, &eq->conditions[i]);
    return is_assumed;
}

static bool is_rule(const struct equation *eq, const struct rule *law)
{
    struct likeness l = {.law = &law->pattern, .of = eq->pattern};
    memset(l.variables, 0xff, sizeof l.variables);
    memset(l.attributes, 0xff, sizeof l.attributes);
    memset(l.nodes, 0xff, sizeof l.nodes);
    bool is_same = is_like_term(&l, law->sources[0], eq->left[0]) && is_like_term(&l, law->targets[0], eq->right[0]);
    for (uint32_t i = 0; i < law->n_conditions && is_same; i++)
        is_same = is_assumed(&l, &law->conditions[i], eq);
    return is_same;
}

static const char *number_of_rule(const char *name)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (strcmp(laws[i].rule, name) == 0)
            return laws[i].number;
    return NULL;
}

const char *written_rule_of_equation(const struct equation *eq)
{
    if (eq->is_strong || eq->n_pairs != 1)
        return NULL;
    const char *number = NULL;
    struct arena a;
    struct rule_set written;
    struct error error;
    arena_init(&a);
    rule_set_init(&written, &a);
    bool is_read = rule_set_parse(&written, "written.rules", written_rules_file, strlen(written_rules_file), &error);
    assert(is_read);
    (void)is_read;
    for (size_t i = 0; i < written.rules.count && !number; i++)
        if (is_rule(eq, written.rules.items[i]))
            number = number_of_rule(written.rules.items[i]->name);
    rule_set_free(&written);
    arena_free(&a);
    return number;
}
