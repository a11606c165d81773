// Types, calls and values of other sizes are found again in the cache of evaluations, as sizes change a few at a time.
#include "generator/enumerate/size_test.h"

#include <math.h>
#include <string.h>

enum { MAX_VARIABLE_ELEMENTS = 1 << 20 };

struct judging {
    struct size_test *t;
    const int64_t *sizes;
    const struct setting_override *overrides;
    int n_overrides, draw;
    const struct call_type *variables[MAX_RULE_GRAPH_VARIABLES];
    const struct call *constants[MAX_LEAVES];
    const struct call *nodes[MAX_RULE_GRAPH_NODES];
    call_value values[MAX_RULE_GRAPH_NODES];
};

// --- settings --------------------------------------------------------------------------------------------------------

int shapes_find(const struct shapes *s, int kind, int owner, int attribute)
{
    return PLACE_OF(int, i, s->n,
                    (int)s->places[i].kind == kind && s->places[i].owner == owner &&
                        s->places[i].attribute == attribute);
}

static bool holds_sizes(const struct shapes *s, int kind, int owner)
{
    return ANY(int, i, s->n, (int)s->places[i].kind == kind && s->places[i].owner == owner);
}

// The entries of a list stand together; beyond the last known place they stay what they are.
static const int64_t *sizes_from(const struct judging *j, int place, const struct attribute_value *value)
{
    const struct shapes *s = j->t->shapes;
    int64_t *ints = arena_array(&j->t->calls->scratch, int64_t, value->count + 1);
    for (uint32_t i = 0; i < value->count; i++)
        ints[i] = place + (int)i < s->n ? j->sizes[place + (int)i] : value->ints[i];
    return ints;
}

static const struct call_setting *setting_at(const struct judging *j, int kind, int owner, const struct instance *in)
{
    struct attribute_value values[MAX_ATTRIBUTES];
    ARENA_MARK(mark, &j->t->calls->scratch);
    for (int a = 0, n = operator_n_attributes(in->op); a < n; a++) {
        int place = shapes_find(j->t->shapes, kind, owner, a);
        values[a] = in->attributes[a];
        if (place >= 0)
            values[a].ints = sizes_from(j, place, &in->attributes[a]);
    }
    const struct call_setting *setting = evaluation_cache_setting(j->t->calls, in->op, values);
    return setting;
}

static const struct instance *instance_of(const struct size_test *t, int node)
{
    return &t->rg->family->instances[t->rg->nodes[node].instance];
}

static const struct call_setting *setting_of_node(const struct judging *j, int node)
{
    for (int i = 0; i < j->n_overrides; i++)
        if (j->overrides[i].node == node)
            return j->overrides[i].setting;
    return j->t->fixed[node] ? j->t->fixed[node] : setting_at(j, SIZE_OF_ATTRIBUTE, node, instance_of(j->t, node));
}

static const struct call_setting *fixed_setting(const struct size_test *t, int node)
{
    const struct instance *in = instance_of(t, node);
    return holds_sizes(t->shapes, SIZE_OF_ATTRIBUTE, node) ? NULL
                                                           : evaluation_cache_setting(t->calls, in->op, in->attributes);
}

// Nodes stand after what they read.
static void find_order(struct size_test *t)
{
    const struct rule_graph *rg = t->rg;
    struct rule_graph seen = *rg;
    uint32_t ordered = 0;
    int n = 0;
    for (int output = 0; output < rg->n_outputs; output++) {
        seen.n_outputs = (uint8_t)(output + 1);
        uint32_t nodes = rule_graph_reach(&seen, rg->source).nodes | rule_graph_reach(&seen, rg->target).nodes;
        for (int i = 0; i < rg->n_nodes; i++)
            if (nodes & ~ordered & 1u << i)
                t->order[n++] = (uint8_t)i;
        ordered |= nodes;
        t->n_until[output] = (uint8_t)n;
    }
}

void size_test_init(struct size_test *t, const struct rule_graph *rg, const struct shapes *shapes,
                    struct evaluation_cache *calls)
{
    t->rg = rg;
    t->shapes = shapes;
    t->calls = calls;
    t->is_trusting = false;
    for (int v = 0; v < rg->n_variables; v++) {
        int place = shapes_find(shapes, SIZE_OF_VARIABLE, v, 0);
        t->first_place[v] = (uint8_t)(place < 0 ? shapes->n : place);
    }
    for (int i = 0; i < rg->n_nodes; i++)
        t->fixed[i] = fixed_setting(t, i);
    find_order(t);
}

// --- types -----------------------------------------------------------------------------------------------------------

// NULL: of too many elements.
static const struct call_type *type_of_variable(struct judging *j, int variable)
{
    const struct size_test *t = j->t;
    struct type type = rule_graph_type_of_variable(t->rg, variable);
    for (int axis = 0; axis < type.rank; axis++)
        if (t->first_place[variable] + axis < t->shapes->n)
            type.dim[axis] = j->sizes[t->first_place[variable] + axis];
    if (type_elements(&type) > MAX_VARIABLE_ELEMENTS)
        return NULL;
    return j->variables[variable] = evaluation_cache_type(t->calls, &type);
}

static const struct call *call_of_constant(struct judging *j, int leaf)
{
    const struct instance *in = &j->t->rg->family->leaves[leaf].constant;
    if (!j->constants[leaf])
        j->constants[leaf] = evaluation_cache_find(j->t->calls, setting_at(j, SIZE_OF_CONSTANT, leaf, in), 0, NULL);
    return j->constants[leaf];
}

// NULL: ill-typed.
static const struct call_type *type_of(struct judging *j, reference r)
{
    if (reference_is_variable(r))
        return j->variables[r] ? j->variables[r] : type_of_variable(j, r);
    const struct call_type *const *results = evaluation_cache_results(
        reference_is_node(r) ? j->nodes[reference_node(r)] : call_of_constant(j, r - RULE_GRAPH_CONSTANT));
    return results ? results[reference_is_node(r) ? reference_output(r) : 0] : NULL;
}

static bool find_call(struct judging *j, int node)
{
    const struct rule_graph_node *n = &j->t->rg->nodes[node];
    const struct call_type *inputs[2];
    for (int i = 0; i < n->n_inputs; i++)
        if (!(inputs[i] = type_of(j, n->inputs[i])))
            return false;
    const struct call *call = evaluation_cache_find(j->t->calls, setting_of_node(j, node), n->n_inputs, inputs);
    j->nodes[node] = call;
    return evaluation_cache_results(call) && (j->t->is_trusting || evaluation_cache_may_apply(call));
}

// A rule does not apply where the types of its sides differ.
static enum verdict judge_types_of_output(struct judging *j, int output)
{
    const struct size_test *t = j->t;
    for (int i = output ? t->n_until[output - 1] : 0; i < t->n_until[output]; i++)
        if (!find_call(j, t->order[i]))
            return VERDICT_ILL_TYPED;
    const struct call_type *x = type_of(j, t->rg->source[output]), *y = type_of(j, t->rg->target[output]);
    if (!x || !y || (x != y && !type_equal(&x->type, &y->type)))
        return VERDICT_ILL_TYPED;
    bool agree = x == y || t->rg->family->forgets_cuts || types_agree(&x->type, &y->type);
    return agree ? VERDICT_EQUAL : VERDICT_UNEQUAL;
}

static enum verdict judge_types(struct judging *j)
{
    const struct rule_graph *rg = j->t->rg;
    enum verdict verdict = VERDICT_EQUAL;
    memset(j->variables, 0, sizeof *j->variables * rg->n_variables);
    memset(j->constants, 0, sizeof *j->constants * (size_t)rg->family->n_leaves);
    evaluation_cache_limit(j->t->calls);
    for (int i = 0; verdict == VERDICT_EQUAL && i < rg->n_outputs; i++)
        verdict = judge_types_of_output(j, i);
    return verdict;
}

// --- contents --------------------------------------------------------------------------------------------------------

static call_value value_of(struct judging *j, reference r)
{
    struct evaluation_cache *c = j->t->calls;
    if (reference_is_variable(r))
        return evaluation_cache_variable(c, r + j->draw * CALL_VARIABLES, j->variables[r]);
    if (!reference_is_node(r))
        return evaluation_cache_apply(c, j->constants[r - RULE_GRAPH_CONSTANT], NULL);
    return j->values[reference_node(r)] + (call_value)reference_output(r);
}

static void make_values(struct judging *j)
{
    const struct size_test *t = j->t;
    for (int i = 0; i < t->n_until[t->rg->n_outputs - 1]; i++) {
        const struct rule_graph_node *n = &t->rg->nodes[t->order[i]];
        call_value inputs[2];
        for (int k = 0; k < n->n_inputs; k++)
            inputs[k] = value_of(j, n->inputs[k]);
        j->values[t->order[i]] = evaluation_cache_apply(t->calls, j->nodes[t->order[i]], inputs);
    }
}

static bool have_equal_contents(struct evaluation_cache *c, call_value x, call_value y)
{
    size_t n = evaluation_cache_type_of(c, x)->elements;
    if (x == y)
        return true;
    evaluation_cache_contents(c, CALL_FIELD, x);   // rows of variables may move
    const uint64_t *b = evaluation_cache_contents(c, CALL_FIELD, y), *a = evaluation_cache_contents(c, CALL_FIELD, x);
    return memcmp(a, b, n * sizeof *a) == 0;
}

// Values of large variables that are so large themselves say nothing: what is left of them may be rounding.
static bool says_nothing(int draw, double value)
{
    return draw > 0 && !(fabs(value) <= 1e6);
}

static bool have_close_contents(struct evaluation_cache *c, call_value x, call_value y, int draw)
{
    size_t n = evaluation_cache_type_of(c, x)->elements;
    evaluation_cache_contents(c, CALL_REAL, x);
    const double *b = evaluation_cache_contents(c, CALL_REAL, y), *a = evaluation_cache_contents(c, CALL_REAL, x);
    return ALL(size_t, i, n,
               fabs(a[i] - b[i]) <= 1e-5 * (1 + fabs(a[i])) || says_nothing(draw, a[i]) || says_nothing(draw, b[i]));
}

enum verdict size_test_judge(struct size_test *t, const int64_t *sizes, const struct setting_override *overrides,
                             int n_overrides)
{
    struct judging j;
    j.t = t;
    j.sizes = sizes;
    j.overrides = overrides;
    j.n_overrides = n_overrides;
    j.draw = 0;
    enum verdict verdict = judge_types(&j);
    if (verdict != VERDICT_EQUAL || t->is_trusting)
        return verdict;
    make_values(&j);
    for (int i = 0; i < t->rg->n_outputs; i++)
        if (!have_equal_contents(t->calls, value_of(&j, t->rg->source[i]), value_of(&j, t->rg->target[i])))
            return VERDICT_UNEQUAL;
    return VERDICT_EQUAL;
}

// All outputs together.
static size_t count_entries(struct judging *j)
{
    return SUM_ALL(size_t, int, i, j->t->rg->n_outputs, type_of(j, j->t->rg->source[i])->elements);
}

static bool holds_in_draw(struct judging *j, int draw)
{
    const struct rule_graph *rg = j->t->rg;
    j->draw = draw;
    make_values(j);
    return ALL(int, i, rg->n_outputs,
               have_close_contents(j->t->calls, value_of(j, rg->source[i]), value_of(j, rg->target[i]), draw));
}

bool size_test_holds_on_reals(struct size_test *t, const int64_t *sizes, int least_draws, size_t least_entries)
{
    struct judging j = {.t = t, .sizes = sizes};
    bool holds = judge_types(&j) == VERDICT_EQUAL;
    size_t entries = holds ? count_entries(&j) : 0;
    for (int draw = 0; draw < CALL_DRAWS && holds && (draw < least_draws || draw * entries < least_entries); draw++)
        holds = holds_in_draw(&j, draw);
    return holds;
}

// --- at the sizes of the enumeration ---------------------------------------------------------------------------------

static const struct shapes as_enumerated = {0};

bool rule_graph_holds(const struct rule_graph *rg, struct evaluation_cache *calls)
{
    struct size_test t;
    size_test_init(&t, rg, &as_enumerated, calls);
    return size_test_judge(&t, NULL, NULL, 0) == VERDICT_EQUAL;
}

bool rule_graph_type_of(const struct rule_graph *rg, struct evaluation_cache *calls, reference r,
                        struct variable_type *ret_type)
{
    struct size_test t;
    struct judging j = {.t = &t};
    size_test_init(&t, rg, &as_enumerated, calls);
    bool is_typed = judge_types(&j) == VERDICT_EQUAL;
    if (is_typed)
        *ret_type = variable_type_of(&type_of(&j, r)->type);
    return is_typed;
}
