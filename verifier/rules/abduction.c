// Groups of conditions are assumed all at once; then those the proof does without are dropped one by one.
#include "verifier/rules/abduction.h"

#include "operators/traits.h"
#include <string.h>

#define MAX_GROUPS 16
#define MAX_OF_GROUP 3

// Conditions that go together: a kernel of one entry is three of them.
struct group {
    uint32_t count;
    struct condition conditions[MAX_OF_GROUP];
};
struct groups {
    struct arena *arena;
    uint32_t count;
    struct group items[MAX_GROUPS];
};

static void add_group(struct groups *g, const struct group *group)
{
    if (g->count < MAX_GROUPS && group->count)
        g->items[g->count++] = *group;
}

static void add_equality(struct groups *g, const struct attribute_term *x, const struct attribute_term *y)
{
    struct group equal = {1, {condition_equal(x, y)}};
    if (!FIND(g->items, g->count, known,
              attribute_term_equal(known->conditions[0].a, x) && attribute_term_equal(known->conditions[0].b, y)))
        add_group(g, &equal);
}

static const struct attribute_term *variable_term(const struct groups *g, uint32_t variable)
{
    return attribute_term_make(TERM_VARIABLE, variable, NULL, g->arena);
}

// The attribute of one of few names that the variable is; NULL: it is none.
static const struct attribute *choice_of_variable(const struct pattern *p, uint32_t variable)
{
    const struct attribute *attribute = pattern_attribute_of_variable(p, variable);
    return attribute && attribute->kind == ATTRIBUTE_CHOICE ? attribute : NULL;
}

// Activations that may have to be one.
static void add_equal_choices(struct groups *g, const struct pattern *p)
{
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        const struct attribute *of_v = choice_of_variable(p, v), *of_w = NULL;
        uint32_t w = 0;
        while (of_v && w < v && (!(of_w = choice_of_variable(p, w)) || of_w->choices != of_v->choices))
            w++;
        if (of_v && w < v)
            add_equality(g, variable_term(g, v), variable_term(g, w));
    }
}

// Lists whose entries are all 1.
static void add_ones(struct groups *g, const struct pattern *p, enum attribute_role role)
{
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        const struct attribute *of_v = pattern_attribute_of_variable(p, v);
        if (of_v && of_v->role == role)
            add_equality(g, attribute_term_make(TERM_PRODUCT, 0, variable_term(g, v), g->arena),
                         integer_term(g->arena, 1));
    }
}

// A choice that a number in the text makes, and not the first; 0: there is none.
static int64_t choice_in_text(const struct pattern *p, const char *const *choices)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *value = &p->nodes.items[n].attributes[i];
            const struct attribute *attribute = &p->nodes.items[n].op->attributes[i];
            if (attribute->kind == ATTRIBUTE_CHOICE && attribute->choices == choices && value->count == 1 &&
                value->terms[0]->kind == TERM_INTEGER && value->terms[0]->value != 0)
                return value->terms[0]->value;
        }
    return 0;
}

// The first of their names, no activation and padding that does not count, or those that the text has elsewhere.
static void add_choices(struct groups *g, const struct pattern *p, bool are_of_text)
{
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        const struct attribute *of_v = choice_of_variable(p, v);
        int64_t choice = of_v && are_of_text ? choice_in_text(p, of_v->choices) : 0;
        if (of_v)
            add_equality(g, variable_term(g, v), integer_term(g->arena, choice));
    }
}

static bool has_choices_in_text(const struct pattern *p)
{
    return ANY(uint32_t, v, p->n_attribute_variables,
               choice_of_variable(p, v) && choice_in_text(p, choice_of_variable(p, v)->choices));
}

// The kernel that pads on both sides of the axis leave the size of images alone with: of one entry where nothing else
// is said.
static int64_t size_of_kernel(const struct pattern *p, uint32_t variable, int64_t axis)
{
    vec_each(&p->nodes, node) {
        const struct term *kernel = operator_convolves(node->op) ? &p->terms.items[node->inputs[1]] : NULL;
        const struct attribute_pattern *pads = pattern_node_attribute(node, ROLE_WINDOW_PADS);
        if (kernel && kernel->is_variable && kernel->index == variable && pads->count == 4 &&
            pads->terms[axis - 2]->kind == TERM_INTEGER)
            return 1 + 2 * pads->terms[axis - 2]->value;
    }
    return 1;
}

static void add_size_of_kernel(struct groups *g, const struct pattern *p, uint32_t variable)
{
    const struct attribute_term *rank = attribute_term_make(TERM_RANK, variable, NULL, g->arena);
    struct group group = {1, {condition_equal(rank, integer_term(g->arena, 4))}};
    for (int axis = 2; axis < 4; axis++)
        group.conditions[group.count++] = condition_equal(dim_term(g->arena, variable, axis),
                                                          integer_term(g->arena, size_of_kernel(p, variable, axis)));
    add_group(g, &group);
}

// Kernels that are enlarged.
static void add_small_kernels(struct groups *g, const struct pattern *p)
{
    uint32_t known = 0;
    vec_each(&p->nodes, node) {
        const struct term *input = node->n_inputs ? &p->terms.items[node->inputs[0]] : NULL;
        if (!operator_enlarges(node->op) || !input->is_variable || (known >> input->index & 1))
            continue;
        known |= 1u << input->index;
        add_size_of_kernel(g, p, input->index);
    }
}

// --- sizes of what groups divide -------------------------------------------------------------------------------------

#define NO_OPERAND UINT32_MAX
// The variables that stand one behind the other, in pairs; gives the last one.
static uint32_t add_even_parts(struct groups *g, const struct pattern *p, const struct pattern_node *concat,
                               int64_t axis, uint32_t before)
{
    for (uint32_t i = 0; i < concat->n_inputs; i++) {
        const struct term *t = &p->terms.items[concat->inputs[i]];
        if (!t->is_variable && operator_joins(p->nodes.items[t->index].op))
            before = add_even_parts(g, p, &p->nodes.items[t->index], axis, before);
        if (!t->is_variable)
            continue;
        if (before != NO_OPERAND && before != t->index)
            add_equality(g, dim_term(g->arena, before, axis), dim_term(g->arena, t->index, axis));
        before = t->index;
    }
    return before;
}

// Parts as long as one another; where each channel is a group, or sizes are numbers of groups, a filter for each.
static void add_sizes_of_groups(struct groups *g, const struct pattern *p)
{
    for (size_t n = p->nodes.count; n-- > 0;) {
        const struct pattern_node *node = &p->nodes.items[n];
        int axis = operator_find_role(node->op, ROLE_AXIS), group = operator_find_role(node->op, ROLE_GROUPS);
        bool is_merge = operator_merges_groups(node->op), has_kernel = is_merge || operator_convolves(node->op);
        const struct term *kernel = has_kernel ? &p->terms.items[node->inputs[!is_merge]] : NULL;
        if (operator_joins(node->op) && node->attributes[axis].terms[0]->kind == TERM_INTEGER)
            add_even_parts(g, p, node, node->attributes[axis].terms[0]->value, NO_OPERAND);
        if (kernel && kernel->is_variable && node->attributes[group].count &&
            node->attributes[group].terms[0]->kind == TERM_DIM)
            add_equality(g, dim_term(g->arena, kernel->index, 0), node->attributes[group].terms[0]);
    }
}

static bool has_groups(const struct pattern *p)
{
    return ANY(size_t, n, p->nodes.count,
               operator_merges_groups(p->nodes.items[n].op) ||
                   pattern_node_attribute(&p->nodes.items[n], ROLE_GROUPS)->count);
}

// --- what suffices ---------------------------------------------------------------------------------------------------

static struct found_condition join_groups(const struct groups *g, uint32_t kept)
{
    struct found_condition all = {0};
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t j = 0; (kept >> i & 1) && j < g->items[i].count && all.count < MAX_ADDED_CONDITIONS; j++)
            all.conditions[all.count++] = g->items[i].conditions[j];
    return all;
}

enum { STAGES = 3 };

// A rule, and who is asked whether it holds under conditions.
struct abduction {
    struct theory *theory;
    struct judge *judge;   // NULL: the rule agrees at all instances
    const struct rule *rule;
    struct groups groups;
    uint32_t n_failed, failed[STAGES + MAX_GROUPS];   // sets of these with which it isn't proved
};

// With fewer conditions it isn't proved either; with none it was asked before.
static bool is_known_to_fail(const struct abduction *a, uint32_t kept)
{
    return kept == 0 || ANY(uint32_t, i, a->n_failed, (kept & ~a->failed[i]) == 0);
}

static bool suffices(struct abduction *a, uint32_t kept)
{
    if (is_known_to_fail(a, kept))
        return false;
    struct rule with = *a->rule;
    struct found_condition conditions = join_groups(&a->groups, kept);
    rule_add_conditions(&with, &conditions, a->groups.arena);
    struct equation eq = equation_of_rule(&with);
    bool is_proved = !(a->judge && judge_finds_difference(a->judge, &eq)) && theory_proves_beside(a->theory, &eq);
    if (!is_proved)
        a->failed[a->n_failed++] = kept;
    return is_proved;
}

// Conditions that most rules lack are asked first. Those of later stages are not looked at where those before suffice.
static void add_stage(struct groups *g, const struct rule *r, bool are_of_text, int stage)
{
    switch (stage) {
    case 0:
        add_equal_choices(g, &r->pattern);
        add_small_kernels(g, &r->pattern);
        add_ones(g, &r->pattern, ROLE_DILATION);
        break;
    case 1:
        add_choices(g, &r->pattern, are_of_text);
        add_ones(g, &r->pattern, ROLE_STRIDE);
        break;
    default:
        if (has_groups(&r->pattern))
            add_sizes_of_groups(g, &r->pattern);
    }
}

// `are_of_text`: with other choices none suffices, so that the first stage, which has no choices, is known to fail.
static struct found_condition find_by_stages(struct abduction *a, bool are_of_text)
{
    struct groups *g = &a->groups;
    bool is_enough = false;
    g->count = a->n_failed = 0;
    for (int stage = 0; stage < STAGES && !is_enough; stage++) {
        uint32_t before = g->count;
        add_stage(g, a->rule, are_of_text, stage);
        if (are_of_text && stage == 0)
            a->failed[a->n_failed++] = (1u << g->count) - 1;
        is_enough = g->count > before && suffices(a, (1u << g->count) - 1);
    }
    if (!is_enough)
        return (struct found_condition){0};
    uint32_t kept = (1u << g->count) - 1;
    for (uint32_t i = g->count; i-- > 0;)
        if (suffices(a, kept & ~(1u << i)))
            kept &= ~(1u << i);
    return join_groups(g, kept);
}

struct found_condition find_sufficient_condition(struct theory *theory, struct judge *judge, const struct rule *r,
                                                 struct arena *a)
{
    struct abduction abduction = {.theory = theory, .judge = judge, .rule = r, .groups = {.arena = a}};
    theory_forget(theory);
    struct found_condition found = find_by_stages(&abduction, false);
    return found.count || !has_choices_in_text(&r->pattern) ? found : find_by_stages(&abduction, true);
}
