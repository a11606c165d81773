// An equation's graphs become terms, its sizes sums of dimensions, its free values attribute variables.
#include "generator/output/equation_text.h"

#include "core/text/text.h"
#include "generator/other_sizes/generalize.h"
#include "graph/call_text.h"
#include "operators/traits.h"
#include "substitutions/rule.h"
#include <string.h>

struct printing {
    struct text *out;
    const struct rule_graph *rg;
    const struct shapes *s;
    struct attribute_places attributes;
    int64_t sizes[(MAX_ASSIGNMENTS + 1) * MAX_SIZES];   // the base, then other assignments
    int n_examples;
    bool is_group_variable;
};

const char *equation_text_variable(int v)
{
    static const char *const names[MAX_RULE_VARIABLES] = {"x", "y", "z", "w", "v", "u", "t", "s",
                                                          "r", "q", "p", "o", "n", "m", "l", "k"};
    return names[v];
}

// --- sizes as terms --------------------------------------------------------------------------------------------------

static bool is_sum(const struct printing *p, int place, int a, int b)
{
    for (int i = 0; i < p->n_examples; i++) {
        const int64_t *sizes = p->sizes + i * MAX_SIZES;
        if (sizes[place] != sizes[a] + (b < 0 ? 0 : sizes[b]))
            return false;
    }
    return true;
}

static bool is_variable_place(const struct printing *p, int i)
{
    return p->s->places[i].kind == SIZE_OF_VARIABLE;
}

static void add_dim(const struct printing *p, int place)
{
    text_printf(p->out, " (dim ?%s %d)", equation_text_variable(p->s->places[place].owner), p->s->places[place].entry);
}

static void add_size(const struct printing *p, int place)
{
    const struct shapes *s = p->s;
    for (int a = 0; s->class_of[place] >= 0 && a < s->n; a++)
        if (is_variable_place(p, a) && s->class_of[a] == s->class_of[place] && is_sum(p, place, a, -1)) {
            add_dim(p, a);
            return;
        }
    for (int a = 0; s->class_of[place] >= 0 && a < s->n; a++)
        for (int b = a; is_variable_place(p, a) && b < s->n; b++)
            if (is_variable_place(p, b) && is_sum(p, place, a, b)) {
                text_add(p->out, " (+");
                add_dim(p, a);
                add_dim(p, b);
                text_add(p->out, ")");
                return;
            }
    text_printf(p->out, " %lld", (long long)s->places[place].base);
}

// --- applications ----------------------------------------------------------------------------------------------------

struct application {
    const struct instance *instance;
    int kind, owner;   // as in size_place
};

static int variable_of(const struct printing *p, const struct application *a, int attribute)
{
    int n = a->kind == SIZE_OF_ATTRIBUTE ? p->attributes.n : 0;
    const struct attribute_place *found =
        FIND(p->attributes.places, n, x, x->node == a->owner && x->attribute == attribute);
    return found ? found->variable : -1;
}

// "$stride", "$stride2": variables of one name are told apart by their numbers.
static void add_attribute_variable(const struct printing *p, int variable)
{
    int same = 1 + SUM_ALL(int, int, i, variable, strcmp(p->attributes.names[i], p->attributes.names[variable]) == 0);
    text_printf(p->out, " $%s", p->attributes.names[variable]);
    if (same > 1)
        text_printf(p->out, "%d", same);
}

static void add_attribute(const struct printing *p, const struct application *a, int attribute)
{
    const struct attribute *known = &a->instance->op->attributes[attribute];
    const struct attribute_value *value = &a->instance->attributes[attribute];
    int variable = variable_of(p, a, attribute), place = shapes_find(p->s, a->kind, a->owner, attribute);
    if (p->is_group_variable && known->role == ROLE_GROUPS) {
        text_add(p->out, " $group");
    } else if (variable >= 0) {
        add_attribute_variable(p, variable);
    } else if (place >= 0 && place + (int)value->count <= p->s->n) {
        for (int i = 0; i < (int)value->count; i++)
            add_size(p, place + i);
    } else {
        text_add(p->out, " ");
        attribute_print(p->out, known, value);
    }
}

static bool is_standard(const struct printing *p, const struct application *a, int i)
{
    const struct attribute *known = &a->instance->op->attributes[i];
    bool is_variable = variable_of(p, a, i) >= 0 || (p->is_group_variable && known->role == ROLE_GROUPS);
    return !is_variable && attribute_is_standard(known, &a->instance->attributes[i]);
}

static void add_head(const struct printing *p, const struct application *a, int output)
{
    const struct operator* op = a->instance->op;
    int n = operator_n_attributes(op);
    text_printf(p->out, "(%s", op->name);
    if (output > 0 || operator_splits(op))
        text_printf(p->out, "%d", output);
    for (int i = 0; i < n; i++)
        if (op->attributes[i].kind == ATTRIBUTE_INT && op->attributes[i].is_required)
            add_attribute(p, a, i);
    for (int i = 0; i < n; i++) {
        if ((op->attributes[i].kind == ATTRIBUTE_INT && op->attributes[i].is_required) || is_standard(p, a, i))
            continue;
        text_printf(p->out, " :%s", op->attributes[i].name);
        add_attribute(p, a, i);
    }
}

static void add_term(const struct printing *p, reference r)
{
    if (reference_is_variable(r)) {
        text_printf(p->out, "?%s", equation_text_variable(r));
        return;
    }
    struct application a = {.kind = SIZE_OF_CONSTANT, .owner = r - RULE_GRAPH_CONSTANT};
    if (!reference_is_node(r)) {
        a.instance = &p->rg->family->leaves[a.owner].constant;
        add_head(p, &a, 0);
    } else {
        const struct rule_graph_node *n = &p->rg->nodes[reference_node(r)];
        a = (struct application){&p->rg->family->instances[n->instance], SIZE_OF_ATTRIBUTE, reference_node(r)};
        add_head(p, &a, reference_output(r));
        for (int i = 0; i < n->n_inputs; i++) {
            text_add(p->out, " ");
            add_term(p, n->inputs[i]);
        }
    }
    text_add(p->out, ")");
}

// --- the rule --------------------------------------------------------------------------------------------------------

static void add_terms(const struct printing *p, const char *label, const reference *roots)
{
    text_printf(p->out, "\n  (%s", label);
    for (int i = 0; i < p->rg->n_outputs; i++) {
        text_add(p->out, i ? "\n          " : " ");
        add_term(p, roots[i]);
    }
    text_add(p->out, ")");
}

// A tensor that is repeated or put into another shape may have any rank, unless the whole shape is a variable.
static bool has_rank_of_its_own(const struct printing *p, int variable)
{
    const struct rule_graph *rg = p->rg;
    for (int i = 0; i < rg->n_nodes; i++) {
        const struct application a = {&rg->family->instances[rg->nodes[i].instance], SIZE_OF_ATTRIBUTE, i};
        int shape = operator_find_role(a.instance->op, ROLE_SHAPE);
        if (shape >= 0 && rg->nodes[i].inputs[0] == variable && variable_of(p, &a, shape) < 0)
            return true;
    }
    return false;
}

// The node that gives a tensor, which is all of the other side, a shape that is written; -1: there is none.
static int node_that_shapes(const struct printing *p, int variable)
{
    const struct rule_graph *rg = p->rg;
    for (int i = 0; i < rg->n_outputs; i++) {
        reference other = rg->source[i] == variable ? rg->target[i] : rg->source[i];
        struct application a = {.kind = SIZE_OF_ATTRIBUTE,
                                .owner = reference_is_node(other) ? reference_node(other) : 0};
        a.instance = &rg->family->instances[rg->nodes[a.owner].instance];
        int shape = operator_find_role(a.instance->op, ROLE_SHAPE);
        if ((rg->source[i] == variable || rg->target[i] == variable) && reference_is_node(other) && shape >= 0 &&
            variable_of(p, &a, shape) < 0)
            return a.owner;
    }
    return -1;
}

static void add_condition(const struct printing *p, bool *has_condition)
{
    text_add(p->out, *has_condition ? " (=" : "\n  (where (=");
    *has_condition = true;
}

// Its rank, and that single entries stay single: those that are repeated.
static void add_conditions_on(const struct printing *p, int variable, bool *has_condition)
{
    const struct variable_type *type = &p->rg->variables[variable];
    add_condition(p, has_condition);
    text_printf(p->out, " (rank ?%s) %d)", equation_text_variable(variable), type->rank);
    for (int axis = 0; axis < type->rank; axis++)
        if (type->dim[axis] == 1) {
            add_condition(p, has_condition);
            text_printf(p->out, " (dim ?%s %d) 1)", equation_text_variable(variable), axis);
        }
}

static void add_condition_on_shape(const struct printing *p, int variable, int node, bool *has_condition)
{
    const struct application a = {&p->rg->family->instances[p->rg->nodes[node].instance], SIZE_OF_ATTRIBUTE, node};
    add_condition(p, has_condition);
    text_printf(p->out, " (dims ?%s) (list", equation_text_variable(variable));
    add_attribute(p, &a, operator_find_role(a.instance->op, ROLE_SHAPE));
    text_add(p->out, "))");
}

static void add_conditions(const struct printing *p)
{
    bool has_condition = false;
    for (int v = 0; v < p->rg->n_variables; v++)
        if (has_rank_of_its_own(p, v))
            add_conditions_on(p, v, &has_condition);
        else if (node_that_shapes(p, v) >= 0)
            add_condition_on_shape(p, v, node_that_shapes(p, v), &has_condition);
    for (int i = 0; i < p->s->n; i++) {
        const struct size_place *place = &p->s->places[i];
        bool is_said = place->base == 1 && has_rank_of_its_own(p, place->owner);
        if (!p->s->needs_condition[i] || place->kind != SIZE_OF_VARIABLE || is_said)
            continue;
        add_condition(p, &has_condition);
        add_dim(p, i);
        text_printf(p->out, " %lld)", (long long)place->base);
    }
    for (int v = 0; v < p->attributes.n_variables; v++)
        if (p->attributes.n_parts[v]) {
            add_condition(p, &has_condition);
            text_add(p->out, " (length");
            add_attribute_variable(p, v);
            text_printf(p->out, ") %u)", p->attributes.n_parts[v]);
        }
    if (has_condition)
        text_add(p->out, ")");
}

bool equation_has_one_group(const struct equation *equation)
{
    const struct rule_graph *rg = &equation->graph;
    int64_t known = 0;
    for (int i = 0; i < rg->n_nodes; i++) {
        const struct instance *in = &rg->family->instances[rg->nodes[i].instance];
        int a = operator_find_role(in->op, ROLE_GROUPS);
        if (a < 0)
            continue;
        if (known && known != in->attributes[a].ints[0])
            return false;
        known = in->attributes[a].ints[0];
    }
    return known > 0;
}

static void print_equation(struct printing *p, struct text *out, bool is_group_variable)
{
    p->out = out;
    p->is_group_variable = is_group_variable;
    add_terms(p, "source", p->rg->source);
    add_terms(p, "target", p->rg->target);
    add_conditions(p);
}

bool equation_text_add(struct text *out, struct text *over_groups, const struct equation *equation,
                       struct evaluation_cache *calls)
{
    struct printing p = {.rg = &equation->graph, .s = &equation->shapes};
    if (equation->graph.n_variables > MAX_RULE_VARIABLES)
        return false;
    struct size_test trial;
    size_test_init(&trial, &equation->graph, &equation->shapes, calls);
    for (; p.n_examples <= equation->shapes.n_assignments; p.n_examples++)
        shapes_sizes(&equation->shapes, p.n_examples, p.sizes + p.n_examples * MAX_SIZES);
    generalize_attributes(&trial, &p.attributes);
    print_equation(&p, out, false);
    if (over_groups)
        print_equation(&p, over_groups, true);
    return true;
}
