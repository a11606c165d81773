#include "verifier/enumerate.h"

#include <string.h>

struct box box_uniform(int max_rank, int bound)
{
    struct box box = {.max_rank = max_rank};
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= max_rank; r++)
            for (int a = 0; a < MAX_RANK; a++)
                box.bound[v][r][a] = (uint8_t)bound;
    return box;
}

struct search {
    struct enumeration *e;
    struct instance in;
    uint32_t n_levels;
    uint32_t variable_at[MAX_RULE_VARIABLES];    // the variable bound at each level
    uint32_t nodes_at[MAX_RULE_VARIABLES + 1];   // nodes whose inputs are known after each level (0: before any)
    uint32_t conditions_at[MAX_RULE_VARIABLES + 1];
    uint32_t required;   // nodes that must be well-typed
    VEC(type_id) candidates[MAX_RULE_VARIABLES];
};

// --- what the equation asks for --------------------------------------------------------------------------------------

static uint32_t variables_of_attribute_term(const struct attribute_term *t)
{
    bool is_shape = t->kind == TERM_DIM || t->kind == TERM_DIMS || t->kind == TERM_RANK;
    uint32_t variables = is_shape ? 1u << t->value : 0;
    for (uint32_t i = 0; i < t->count; i++)
        variables |= variables_of_attribute_term(t->operands[i]);
    return variables;
}

static uint32_t variables_of_node(const struct pattern *p, uint32_t node)
{
    const struct pattern_node *n = &p->nodes.items[node];
    uint32_t variables = 0;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &p->terms.items[n->inputs[i]];
        variables |= t->is_variable ? 1u << t->index : variables_of_node(p, t->index);
    }
    for (int i = 0; i < operator_n_attributes(n->op); i++)
        for (uint32_t j = 0; j < n->attributes[i].count; j++)
            variables |= variables_of_attribute_term(n->attributes[i].terms[j]);
    return variables;
}

static uint32_t variables_of_condition(const struct condition *c)
{
    if (c->kind == CONDITION_WEIGHT || c->kind == CONDITION_DTYPE)
        return 1u << c->variable;
    return variables_of_attribute_term(c->a) | variables_of_attribute_term(c->b);
}

static uint32_t required_nodes(const struct equation *eq, enum wanted_sides wanted)
{
    uint32_t nodes = 0;
    if (!eq->is_strong)
        return eq->pattern->nodes.count == 32 ? UINT32_MAX : (1u << eq->pattern->nodes.count) - 1;
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        nodes |= (wanted & WANTED_LEFT ? equation_nodes_of_term(eq->pattern, eq->left[i]) : 0) |
                 (wanted & WANTED_RIGHT ? equation_nodes_of_term(eq->pattern, eq->right[i]) : 0);
    for (uint32_t i = 0; i < eq->n_guards; i++)
        nodes |= equation_nodes_of_term(eq->pattern, eq->guards[i]);
    return nodes;
}

static uint32_t used_variables(const struct equation *eq)
{
    uint32_t variables = 0;
    for (uint32_t i = 0; i < eq->pattern->nodes.count; i++)
        variables |= variables_of_node(eq->pattern, i);
    for (uint32_t i = 0; i < eq->pattern->terms.count; i++)
        if (eq->pattern->terms.items[i].is_variable)
            variables |= 1u << eq->pattern->terms.items[i].index;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        variables |= variables_of_condition(&eq->conditions[i]);
    return variables;
}

// The variable that completes the most required nodes; among equals one that shares a node with what is bound.
static uint32_t choose_next_variable(const struct search *s, uint32_t bound, uint32_t left)
{
    const struct pattern *p = s->e->equation->pattern;
    uint32_t best = 0;
    int best_score = -1;
    for (uint32_t v = 0; v < p->n_variables; v++) {
        int score = 0;
        if (!(left >> v & 1))
            continue;
        for (uint32_t n = 0; n < p->nodes.count; n++) {
            uint32_t of_node = variables_of_node(p, n);
            if (!(s->required >> n & 1) || !(of_node >> v & 1))
                continue;
            score += (of_node & ~(bound | 1u << v)) == 0 ? 100 : 0;
            score += of_node & bound ? 10 : 1;
        }
        if (score > best_score) {
            best_score = score;
            best = v;
        }
    }
    return best;
}

static void plan_levels(struct search *s)
{
    const struct equation *eq = s->e->equation;
    uint32_t left = used_variables(eq), bound = 0, nodes_done = 0, conditions_done = 0;
    for (uint32_t level = 0;; level++) {
        for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
            if (!(nodes_done >> n & 1) && (variables_of_node(eq->pattern, n) & ~bound) == 0)
                s->nodes_at[level] |= 1u << n;
        for (uint32_t i = 0; i < eq->n_conditions && i < 32; i++)
            if (!(conditions_done >> i & 1) && (variables_of_condition(&eq->conditions[i]) & ~bound) == 0)
                s->conditions_at[level] |= 1u << i;
        nodes_done |= s->nodes_at[level];
        conditions_done |= s->conditions_at[level];
        if (!left)
            break;
        uint32_t v = choose_next_variable(s, bound, left);
        s->variable_at[s->n_levels++] = v;
        bound |= 1u << v;
        left &= ~(1u << v);
    }
}

// --- candidate types -------------------------------------------------------------------------------------------------

static void add_cut_types(struct search *s, uint32_t variable, struct type type)
{
    for (int axis = 0; axis < type.rank; axis++)
        for (int64_t at = 1; at < type.dim[axis]; at++) {
            struct split_tree tree = {at, NULL, NULL};
            type.split[axis] = &tree;
            vec_push(&s->candidates[variable], typing_add(s->e->typing, &type));
            type.split[axis] = NULL;
        }
}

static void add_types_of_rank(struct search *s, uint32_t variable, enum dtype dtype, int rank)
{
    const uint8_t *bound = s->e->box->bound[variable][rank];
    struct type type = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) {
        type.dim[i] = 1;
        if (bound[i] == 0)
            return;
    }
    if (rank == 0 && bound[0] == 0)
        return;
    for (;;) {
        vec_push(&s->candidates[variable], typing_add(s->e->typing, &type));
        if (s->e->box->has_split_trees && !(s->e->equation->plain >> variable & 1))
            add_cut_types(s, variable, type);
        int i = rank;
        while (i > 0 && type.dim[i - 1] == bound[i - 1])
            type.dim[--i] = 1;
        if (i == 0)
            return;
        type.dim[i - 1]++;
    }
}

static void add_candidates(struct search *s)
{
    const struct box *box = s->e->box;
    for (uint32_t level = 0; level < s->n_levels; level++)
        for (int rank = box->min_rank; rank <= box->max_rank; rank++) {
            uint32_t v = s->variable_at[level];
            add_types_of_rank(s, v, DTYPE_F32, rank);
            if (box->has_other_dtypes) {
                add_types_of_rank(s, v, DTYPE_BOOL, rank);
                add_types_of_rank(s, v, DTYPE_I64, rank);
            }
        }
}

// --- the search ------------------------------------------------------------------------------------------------------

static bool type_nodes(struct search *s, uint32_t level)
{
    for (uint32_t n = 0; s->nodes_at[level] >> n; n++)
        if ((s->nodes_at[level] >> n & 1) && !instance_type_node(&s->in, n) && (s->required >> n & 1))
            return false;
    return true;
}

static bool conditions_hold(struct search *s, uint32_t level)
{
    const bool is_weight[MAX_RULE_VARIABLES] = {true, true, true, true, true, true, true, true,
                                                true, true, true, true, true, true, true, true};
    struct term_bindings b = instance_bindings(&s->in);
    struct arena_mark mark = arena_mark(s->e->scratch);
    bool hold = true;
    for (uint32_t i = 0; hold && s->conditions_at[level] >> i; i++)
        if (s->conditions_at[level] >> i & 1)
            hold = condition_holds(&s->e->equation->conditions[i], &b, is_weight, s->e->scratch);
    arena_release(s->e->scratch, mark);
    return hold;
}

static bool has_required_outputs(const struct search *s)
{
    const struct equation *eq = s->e->equation;
    for (uint32_t t = 0; t < eq->pattern->terms.count; t++) {
        const struct term *term = &eq->pattern->terms.items[t];
        if (!term->is_variable && (s->required >> term->index & 1) && instance_term_type(&s->in, t) == NO_TYPE)
            return false;
    }
    return true;
}

static bool search_level(struct search *s, uint32_t level)
{
    struct enumeration *e = s->e;
    if (!type_nodes(s, level) || !conditions_hold(s, level))
        return true;
    if (level == s->n_levels) {
        if (!has_required_outputs(s))
            return true;
        e->instances++;
        return e->visit(e->context, &s->in);
    }
    uint32_t v = s->variable_at[level];
    for (size_t i = 0; i < s->candidates[v].count; i++) {
        if (++e->steps > e->step_limit) {
            e->was_cut_short = true;
            return true;
        }
        instance_bind(&s->in, v, s->candidates[v].items[i]);
        if (!search_level(s, level + 1))
            return false;
        if (e->was_cut_short)
            break;
    }
    instance_bind(&s->in, v, NO_TYPE);
    return true;
}

struct attribute_search {
    uint32_t n;
    struct domain domains[MAX_RULE_VARIABLES];
    struct attribute_value values[MAX_RULE_VARIABLES];
    bool (*visit)(void *context, const struct attribute_value *attributes);
    void *context;
};

// Two lists of one window speak of different numbers of spatial axes: ill-typed for all tensors.
static bool has_lists_for_other_ranks(const struct attribute_search *s, uint32_t variable)
{
    const struct domain *d = &s->domains[variable];
    for (uint32_t v = 0; d->per_axis && v < variable; v++) {
        const struct domain *other = &s->domains[v];
        if (other->per_axis && (other->nodes & d->nodes) &&
            s->values[v].count * d->per_axis != s->values[variable].count * other->per_axis)
            return true;
    }
    return false;
}

static bool search_attributes(struct attribute_search *s, uint32_t variable)
{
    if (variable == s->n)
        return s->visit(s->context, s->values);
    for (size_t i = 0; i < s->domains[variable].count; i++) {
        s->values[variable] = s->domains[variable].values[i];
        if (has_lists_for_other_ranks(s, variable))
            continue;
        if (!search_attributes(s, variable + 1))
            return false;
    }
    return true;
}

bool enumerate_attributes(const struct equation *eq, int max_rank, enum domain_extent extent, struct arena *scratch,
                          bool (*visit)(void *context, const struct attribute_value *attributes), void *context)
{
    struct attribute_search s = {.n = eq->pattern->n_attribute_variables, .visit = visit, .context = context};
    struct arena_mark mark = arena_mark(scratch);
    for (uint32_t v = 0; v < s.n; v++)
        s.domains[v] = domain_of_variable(eq->pattern, v, max_rank, extent, scratch);
    bool goes_on = search_attributes(&s, 0);
    arena_release(scratch, mark);
    return goes_on;
}

static bool search_with_attributes(void *context, const struct attribute_value *attributes)
{
    struct search *s = context;
    for (uint32_t v = 0; v < s->e->equation->pattern->n_attribute_variables; v++)
        s->in.attributes[v] = attributes[v];
    return !s->e->was_cut_short && search_level(s, 0);
}

bool enumerate_instances(struct enumeration *e)
{
    struct search s = {.e = e, .required = required_nodes(e->equation, e->wanted)};
    e->steps = e->instances = 0;
    e->was_cut_short = false;
    instance_init(&s.in, e->equation, e->typing, e->scratch);
    plan_levels(&s);
    add_candidates(&s);
    bool goes_on = e->attributes ? search_with_attributes(&s, e->attributes)
                                 : enumerate_attributes(e->equation, e->box->max_rank, e->box->extent, e->scratch,
                                                        search_with_attributes, &s);
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        vec_free(&s.candidates[v]);
    return goes_on || e->was_cut_short;
}
