#include "generator/trial.h"

#include <math.h>
#include <string.h>

enum { MAX_VARIABLE_ELEMENTS = 1 << 20 };

struct judging {
    struct trial *t;
    const int64_t *sizes;
    const struct attribute_override *overrides;
    int n_overrides;
    call_value variables[MAX_SKETCH_VARIABLES], constants[MAX_LEAVES], nodes[MAX_SKETCH_NODES];
};

// --- settings --------------------------------------------------------------------------------------------------------

static int find_place(const struct shapes *s, int kind, int owner, int attribute)
{
    for (int i = 0; i < s->n; i++)
        if ((int)s->places[i].kind == kind && s->places[i].owner == owner && s->places[i].attribute == attribute)
            return i;
    return -1;
}

static bool holds_sizes(const struct shapes *s, int kind, int owner)
{
    for (int i = 0; i < s->n; i++)
        if ((int)s->places[i].kind == kind && s->places[i].owner == owner)
            return true;
    return false;
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
    struct arena_mark mark = arena_mark(&j->t->calls->scratch);
    for (int a = 0; a < operator_n_attributes(in->op); a++) {
        int place = find_place(j->t->shapes, kind, owner, a);
        values[a] = in->attributes[a];
        if (place >= 0)
            values[a].ints = sizes_from(j, place, &in->attributes[a]);
        for (int i = 0; kind == SIZE_OF_ATTRIBUTE && i < j->n_overrides; i++)
            if (j->overrides[i].node == owner && j->overrides[i].attribute == a)
                values[a] = j->overrides[i].value;
    }
    const struct call_setting *setting = calls_setting(j->t->calls, in->op, values);
    arena_release(&j->t->calls->scratch, mark);
    return setting;
}

static const struct instance *instance_of(const struct trial *t, int node)
{
    return &t->sk->family->instances[t->sk->nodes[node].instance];
}

static const struct call_setting *setting_of_node(const struct judging *j, int node)
{
    bool is_overridden = false;
    for (int i = 0; i < j->n_overrides; i++)
        is_overridden = is_overridden || j->overrides[i].node == node;
    if (j->t->fixed[node] && !is_overridden)
        return j->t->fixed[node];
    return setting_at(j, SIZE_OF_ATTRIBUTE, node, instance_of(j->t, node));
}

static void look_up_settings(struct trial *t)
{
    for (int i = 0; i < t->sk->n_nodes; i++) {
        const struct instance *in = instance_of(t, i);
        bool is_fixed = !holds_sizes(t->shapes, SIZE_OF_ATTRIBUTE, i);
        t->fixed[i] = is_fixed ? calls_setting(t->calls, in->op, in->attributes) : NULL;
    }
    t->epoch = t->calls->epoch;
}

void trial_init(struct trial *t, const struct sketch *sk, const struct shapes *shapes, struct calls *calls)
{
    *t = (struct trial){.sk = sk, .shapes = shapes, .calls = calls};
    for (int v = 0; v < sk->n_variables; v++) {
        int place = find_place(shapes, SIZE_OF_VARIABLE, v, 0);
        t->first_place[v] = (uint8_t)(place < 0 ? shapes->n : place);
    }
    look_up_settings(t);
}

// --- terms -----------------------------------------------------------------------------------------------------------

static call_value value_of_variable(struct judging *j, int variable)
{
    const struct trial *t = j->t;
    struct type type = sketch_type_of_variable(t->sk, variable);
    if (j->variables[variable] != NO_CALL_VALUE)
        return j->variables[variable];
    for (int axis = 0; axis < type.rank && t->first_place[variable] + axis < t->shapes->n; axis++)
        type.dim[axis] = j->sizes[t->first_place[variable] + axis];
    if (type_elements(&type) > MAX_VARIABLE_ELEMENTS)
        return NO_CALL_VALUE;
    return j->variables[variable] = calls_variable(t->calls, variable, &type);
}

static call_value value_of_constant(struct judging *j, int leaf)
{
    const struct instance *in = &j->t->sk->family->leaves[leaf].constant;
    if (j->constants[leaf] == NO_CALL_VALUE)
        j->constants[leaf] = calls_apply(j->t->calls, setting_at(j, SIZE_OF_CONSTANT, leaf, in), 0, NULL);
    return j->constants[leaf];
}

// NO_CALL_VALUE: ill-typed.
static call_value value_of(struct judging *j, reference r)
{
    if (reference_is_variable(r))
        return value_of_variable(j, r);
    if (!reference_is_node(r))
        return value_of_constant(j, r - SKETCH_CONSTANT);
    int node = reference_node(r);
    const struct sketch_node *n = &j->t->sk->nodes[node];
    if (j->nodes[node] == NO_CALL_VALUE) {
        call_value inputs[2] = {NO_CALL_VALUE, NO_CALL_VALUE};
        for (int i = 0; i < n->n_inputs; i++)
            if ((inputs[i] = value_of(j, n->inputs[i])) == NO_CALL_VALUE)
                return NO_CALL_VALUE;
        j->nodes[node] = calls_apply(j->t->calls, setting_of_node(j, node), n->n_inputs, inputs);
    }
    return j->nodes[node] == NO_CALL_VALUE ? NO_CALL_VALUE : j->nodes[node] + (call_value)reference_output(r);
}

struct outputs {
    call_value source[MAX_SKETCH_OUTPUTS], target[MAX_SKETCH_OUTPUTS];
};

// A rule does not apply where the types of its sides differ.
static enum verdict judge_types(struct judging *j, struct outputs *ret_outputs)
{
    const struct sketch *sk = j->t->sk;
    for (int i = 0; i < sk->n_outputs; i++) {
        call_value x = value_of(j, sk->source[i]), y = x == NO_CALL_VALUE ? x : value_of(j, sk->target[i]);
        if (y == NO_CALL_VALUE)
            return VERDICT_ILL_TYPED;
        const struct type *a = &calls_type_of(j->t->calls, x)->type, *b = &calls_type_of(j->t->calls, y)->type;
        if (a != b && !type_equal(a, b))
            return VERDICT_ILL_TYPED;
        if (a != b && !types_agree(a, b))
            return VERDICT_UNEQUAL;
        ret_outputs->source[i] = x;
        ret_outputs->target[i] = y;
    }
    return VERDICT_EQUAL;
}

static enum verdict judge_at(struct trial *t, const int64_t *sizes, const struct attribute_override *overrides,
                             int n_overrides, struct outputs *ret_outputs)
{
    struct judging j = {.t = t, .sizes = sizes, .overrides = overrides, .n_overrides = n_overrides};
    memset(j.variables, 0xff, sizeof *j.variables * t->sk->n_variables);
    memset(j.constants, 0xff, sizeof j.constants);
    memset(j.nodes, 0xff, sizeof *j.nodes * t->sk->n_nodes);
    calls_limit(t->calls);
    if (t->epoch != t->calls->epoch)
        look_up_settings(t);
    return judge_types(&j, ret_outputs);
}

// --- contents --------------------------------------------------------------------------------------------------------

static bool have_equal_contents(struct calls *c, call_value x, call_value y)
{
    size_t n = calls_type_of(c, x)->elements;
    if (x == y)
        return true;
    calls_field(c, x);   // rows of variables may move
    const uint64_t *b = calls_field(c, y), *a = calls_field(c, x);
    return memcmp(a, b, n * sizeof *a) == 0;
}

static bool have_close_contents(struct calls *c, call_value x, call_value y)
{
    size_t n = calls_type_of(c, x)->elements;
    calls_reals(c, x);
    const double *b = calls_reals(c, y), *a = calls_reals(c, x);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-5 * (1 + fabs(a[i]))))
            return false;
    return true;
}

enum verdict trial_judge(struct trial *t, const int64_t *sizes, const struct attribute_override *overrides,
                         int n_overrides)
{
    struct outputs o;
    enum verdict verdict = judge_at(t, sizes, overrides, n_overrides, &o);
    for (int i = 0; verdict == VERDICT_EQUAL && i < t->sk->n_outputs; i++)
        if (!have_equal_contents(t->calls, o.source[i], o.target[i]))
            verdict = VERDICT_UNEQUAL;
    return verdict;
}

bool trial_holds_on_reals(struct trial *t, const int64_t *sizes)
{
    struct outputs o;
    bool holds = judge_at(t, sizes, NULL, 0, &o) == VERDICT_EQUAL;
    for (int i = 0; holds && i < t->sk->n_outputs; i++)
        holds = have_close_contents(t->calls, o.source[i], o.target[i]);
    return holds;
}
