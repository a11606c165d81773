// Both sides as terms of Z3's reals, asked for a difference.
#include "verifier/recheck/z3_recheck.h"

#include "core/memory/arena.h"
#include "core/memory/memory.h"
#include "verifier/recheck/z3_reals.h"
#include <stdio.h>

#define INSTANCES_PER_CONTEXT 200   // a context keeps every term that was made in it
#define STEP_LIMIT 200000           // of Z3, for one instance

struct recheck {
    struct z3_reals reals;
    Z3_solver solver;
    Z3_params normal_form;
    uint32_t n_instances;   // in this context
};

static void open_context(struct recheck *r)
{
    Z3_config config = Z3_mk_config();
    r->reals = (struct z3_reals){.z3 = Z3_mk_context(config)};
    Z3_del_config(config);
    Z3_context z3 = r->reals.z3;
    r->reals.sort = Z3_mk_real_sort(z3);
    r->solver = Z3_mk_solver(z3);
    Z3_solver_inc_ref(z3, r->solver);
    Z3_params limits = Z3_mk_params(z3);
    Z3_params_inc_ref(z3, limits);
    Z3_params_set_uint(z3, limits, Z3_mk_string_symbol(z3, "rlimit"), STEP_LIMIT);
    Z3_solver_set_params(z3, r->solver, limits);
    Z3_params_dec_ref(z3, limits);
    r->normal_form = Z3_mk_params(z3);
    Z3_params_inc_ref(z3, r->normal_form);
    Z3_params_set_bool(z3, r->normal_form, Z3_mk_string_symbol(z3, "som"), true);
    r->n_instances = 0;
}

static void close_context(struct recheck *r)
{
    Z3_params_dec_ref(r->reals.z3, r->normal_form);
    Z3_solver_dec_ref(r->reals.z3, r->solver);
    Z3_del_context(r->reals.z3);
}

struct recheck *recheck_make(void)
{
    struct recheck *r = mem_alloc_zero(sizeof *r);
    open_context(r);
    return r;
}

void recheck_free(struct recheck *r)
{
    close_context(r);
    mem_free(r, sizeof *r);
}

// --- values ----------------------------------------------------------------------------------------------------------

struct values {
    struct z3_value *inputs[MAX_RULE_VARIABLES];
    struct z3_value **outputs[MAX_RULE_NODES];
};

static void make_inputs(struct recheck *r, const struct instance *in, struct values *v)
{
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        int64_t n = in->types[i] ? type_elements(in->types[i]) : 0;
        v->inputs[i] = arena_array(in->scratch, struct z3_value, n + 1);
        for (int64_t j = 0; j < n; j++) {
            char name[32];
            snprintf(name, sizeof name, "x%u[%lld]", i, (long long)j);
            v->inputs[i][j].term = Z3_mk_const(r->reals.z3, Z3_mk_string_symbol(r->reals.z3, name), r->reals.sort);
        }
    }
}

static const struct z3_value *values_of_term(const struct instance *in, const struct values *v, term_id term)
{
    const struct term *t = &in->equation->pattern->terms.items[term];
    return t->is_variable ? v->inputs[t->index] : v->outputs[t->index][t->output];
}

// False: the meaning depends on data.
static bool evaluate_node(struct recheck *r, const struct instance *in, struct values *v, uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    const struct z3_value *inputs[MAX_RULE_VARIABLES];
    if (d->is_data_dependent)
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = values_of_term(in, v, n->inputs[i]);
    v->outputs[node] = arena_array(in->scratch, struct z3_value *, d->n_outputs + 1);
    for (int i = 0; i < d->n_outputs; i++)
        v->outputs[node][i] = arena_array(in->scratch, struct z3_value, type_elements(definition_output(d, i)) + 1);
    evaluate_z3(d, &r->reals, inputs, v->outputs[node], in->scratch);
    return true;
}

static bool evaluate_nodes(struct recheck *r, const struct instance *in, node_set nodes, struct values *v)
{
    make_inputs(r, in, v);
    for (uint32_t n = 0; n < in->equation->pattern->nodes.count; n++)
        if ((nodes >> n & 1) && !evaluate_node(r, in, v, n))
            return false;
    return true;
}

// --- the question ----------------------------------------------------------------------------------------------------

// NULL: the normal forms are equal.
static Z3_ast difference_of(struct recheck *r, struct z3_value a, struct z3_value b)
{
    Z3_context z3 = r->reals.z3;
    Z3_ast sides[2] = {z3_term(&r->reals, a), z3_term(&r->reals, b)};
    if (sides[0] == sides[1])
        return NULL;
    Z3_ast equal = Z3_simplify_ex(z3, Z3_mk_eq(z3, sides[0], sides[1]), r->normal_form);
    return Z3_get_bool_value(z3, equal) == Z3_L_TRUE ? NULL : Z3_mk_not(z3, equal);
}

// The laws of the polynomials that Z3 is not told.
static bool has_other_laws(const struct z3_reals *r)
{
    return r->has_reciprocals || r->has_lawful || (r->has_maxima && r->has_increasing);
}

static enum recheck_verdict ask(struct recheck *r, const Z3_ast *differences, unsigned count)
{
    Z3_context z3 = r->reals.z3;
    if (count == 0)
        return RECHECK_EQUAL;
    Z3_solver_push(z3, r->solver);
    Z3_solver_assert(z3, r->solver, Z3_mk_or(z3, count, differences));
    Z3_lbool answer = Z3_solver_check(z3, r->solver);
    Z3_solver_pop(z3, r->solver, 1);
    return answer == Z3_L_FALSE                                ? RECHECK_EQUAL
           : answer == Z3_L_TRUE && !has_other_laws(&r->reals) ? RECHECK_DIFFERENT
                                                               : RECHECK_UNKNOWN;
}

static bool has_values(const struct instance *in, uint32_t pair)
{
    type_id x = instance_term_type(in, in->equation->left[pair]), y = instance_term_type(in, in->equation->right[pair]);
    return x != NO_TYPE && y != NO_TYPE && type_equal(typing_type(in->typing, x), typing_type(in->typing, y));
}

static node_set nodes_to_evaluate(const struct instance *in)
{
    const struct equation *eq = in->equation;
    node_set nodes = 0;
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        if (has_values(in, i))
            nodes |=
                equation_nodes_of_term(eq->pattern, eq->left[i]) | equation_nodes_of_term(eq->pattern, eq->right[i]);
    return nodes;
}

static enum recheck_verdict compare_values(struct recheck *r, const struct instance *in, const struct values *v)
{
    const struct equation *eq = in->equation;
    enum recheck_verdict verdict = RECHECK_NOTHING;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        if (!has_values(in, i))
            continue;
        const struct z3_value *x = values_of_term(in, v, eq->left[i]), *y = values_of_term(in, v, eq->right[i]);
        int64_t n = type_elements(typing_type(in->typing, instance_term_type(in, eq->left[i])));
        Z3_ast *differences = arena_array(in->scratch, Z3_ast, n + 1);
        unsigned count = 0;
        for (int64_t j = 0; j < n; j++) {
            Z3_ast difference = difference_of(r, x[j], y[j]);
            if (difference)
                differences[count++] = difference;
        }
        verdict = ask(r, differences, count);
        if (verdict != RECHECK_EQUAL)
            return verdict;
    }
    return verdict;
}

enum recheck_verdict recheck_instance(struct recheck *r, struct instance *in)
{
    struct arena_mark mark = arena_mark(in->scratch);
    struct values v = {0};
    if (r->n_instances++ == INSTANCES_PER_CONTEXT) {
        close_context(r);
        open_context(r);
    }
    r->reals.has_reciprocals = r->reals.has_maxima = r->reals.has_increasing = r->reals.has_lawful = false;
    enum recheck_verdict verdict =
        evaluate_nodes(r, in, nodes_to_evaluate(in), &v) ? compare_values(r, in, &v) : RECHECK_NOTHING;
    arena_release(in->scratch, mark);
    return verdict;
}
