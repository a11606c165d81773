// Z3 is asked to refute each obligation within a number of steps; what it used is read from the core.
#include "verifier/entailment/z3_theory.h"

#include "core/system/clock.h"
#include "core/text/text.h"
#include "verifier/entailment/formulas.h"
#include "verifier/text/numbers.h"
#include <stdlib.h>
#include <string.h>

struct theory {
    const struct axioms *axioms;
    unsigned step_limit;
    struct logic logic;         // the axioms', with the terms of the questions asked since they were forgotten
    struct formulas formulas;   // of these
    bool has_formulas;          // they are made for the first question that Z3 is asked
    struct sentence_list obligations;
};

// --- axioms ----------------------------------------------------------------------------------------------------------

void axioms_make(struct axioms *ret_axioms, const struct property_set *properties)
{
    *ret_axioms = (struct axioms){.properties = properties};
    for (size_t i = 0; i < properties->properties.count; i++) {
        struct equation eq = equation_of_property(properties->properties.items[i]);
        if (text_is_of_real_numbers(&eq) && text_is_defined_everywhere(&eq))
            obligations_of_axiom(&ret_axioms->logic, &eq, &ret_axioms->sentences);
    }
    for (size_t i = 0; i < ret_axioms->sentences.items.count; i++)
        vec_push(&ret_axioms->triggers, triggers_of_axiom(&ret_axioms->logic, &ret_axioms->sentences.items.items[i]));
}

void axioms_free(struct axioms *axioms)
{
    sentence_list_free(&axioms->sentences);
    vec_free(&axioms->triggers);
    logic_free(&axioms->logic);
}

static void drop_obligations(struct theory *t)
{
    sentence_list_free(&t->obligations);
    t->obligations = (struct sentence_list){0};
}

static void drop_all(struct theory *t)
{
    drop_obligations(t);
    if (t->has_formulas)
        formulas_free(&t->formulas);
    t->has_formulas = false;
    logic_free(&t->logic);
}

struct theory *theory_make(const struct axioms *axioms, unsigned step_limit)
{
    struct theory *t = mem_alloc_zero(sizeof *t);
    t->axioms = axioms;
    t->step_limit = step_limit;
    logic_copy(&t->logic, &axioms->logic);
    return t;
}

void theory_free(struct theory *t)
{
    drop_all(t);
    mem_free(t, sizeof *t);
}

// Answers from now on depend on nothing but what is asked from now on.
void theory_forget(struct theory *t)
{
    drop_all(t);
    logic_copy(&t->logic, &t->axioms->logic);
}

// --- asking Z3 -------------------------------------------------------------------------------------------------------

static struct formulas *formulas_of(struct theory *t)
{
    if (!t->has_formulas)
        formulas_init(&t->formulas, &t->logic);
    t->has_formulas = true;
    formulas_clear(&t->formulas);
    return &t->formulas;
}

static Z3_solver make_solver(const struct theory *t, const struct formulas *f)
{
    Z3_solver solver = Z3_mk_simple_solver(f->z3);
    Z3_solver_inc_ref(f->z3, solver);
    Z3_params params = Z3_mk_params(f->z3);
    Z3_params_inc_ref(f->z3, params);
    Z3_params_set_bool(f->z3, params, Z3_mk_string_symbol(f->z3, "mbqi"), false);
    Z3_params_set_bool(f->z3, params, Z3_mk_string_symbol(f->z3, "auto_config"), false);
    Z3_params_set_uint(f->z3, params, Z3_mk_string_symbol(f->z3, "rlimit"), t->step_limit);
    Z3_solver_set_params(f->z3, solver, params);
    Z3_params_dec_ref(f->z3, params);
    for (size_t i = 0; i < f->assumed.count; i++)
        Z3_solver_assert(f->z3, solver, f->assumed.items[i]);
    return solver;
}

static void add_axioms(const struct theory *t, const struct relevance *r, const struct names *without,
                       struct formulas *f)
{
    for (size_t i = 0; i < r->axioms.count; i++) {
        uint32_t number = r->axioms.items[i];
        const struct sentence *axiom = &t->axioms->sentences.items.items[number];
        if (!without || !text_is_among(axiom->name, without->count, without->items))
            formulas_add_axiom(f, number, axiom, &t->axioms->triggers.items[number], true);
    }
    formulas_add_structure(f, r);
}

static void add_name(const char **names, uint32_t *n, size_t capacity, const char *name)
{
    if (!text_is_among(name, *n, names) && *n < capacity)
        names[(*n)++] = name;
}

// Z3 has one term for all equal ones.
static void collect_uses(const struct formulas *f, Z3_solver solver, struct entailment *e)
{
    Z3_ast_vector core = Z3_solver_get_unsat_core(f->z3, solver);
    Z3_ast_vector_inc_ref(f->z3, core);
    for (unsigned i = 0; i < Z3_ast_vector_size(f->z3, core); i++) {
        Z3_ast literal = Z3_ast_vector_get(f->z3, core, i);
        for (size_t k = 0; k < f->axiom_literals.count; k++)
            if (f->axiom_literals.items[k] == literal)
                add_name(e->uses, &e->n_uses, sizeof e->uses / sizeof *e->uses, f->axiom_names.items[k]);
    }
    Z3_ast_vector_dec_ref(f->z3, core);
}

// Z3's reason where all axioms were applied wherever they can be.
#define NO_MORE_INSTANCES "(incomplete quantifiers)"

static bool check(const struct formulas *f, Z3_solver solver, struct entailment *e)
{
    Z3_lbool result =
        Z3_solver_check_assumptions(f->z3, solver, (unsigned)f->axiom_literals.count, f->axiom_literals.items);
    if (result == Z3_L_FALSE)
        collect_uses(f, solver, e);
    else if (strcmp(Z3_solver_get_reason_unknown(f->z3, solver), NO_MORE_INSTANCES) != 0)
        e->ran_out_of_steps = true;
    return result == Z3_L_FALSE;
}

COMPARISON(compare_names, char *, strcmp(*x, *y))

static void finish_uses(const struct theory *t, struct entailment *e)
{
    if (e->n_uses)
        qsort(e->uses, e->n_uses, sizeof *e->uses, compare_names);
    for (uint32_t i = 0; i < e->n_uses; i++)
        if (property_find(t->axioms->properties, e->uses[i])->axiom)
            e->axioms[e->n_axioms++] = e->uses[i];
}

static bool prove_obligation(struct theory *t, const struct sentence *s, const struct names *without,
                             struct entailment *e)
{
    struct formulas *f = formulas_of(t);
    struct relevance relevant;
    relevance_init(&relevant, &t->logic);
    relevance_add_sentence(&relevant, s);
    relevance_close(&relevant, &t->axioms->sentences, t->axioms->triggers.items);
    add_axioms(t, &relevant, without, f);
    formulas_add_obligation(f, s);
    Z3_solver solver = make_solver(t, f);
    bool is_proved = check(f, solver, e);
    Z3_solver_dec_ref(f->z3, solver);
    relevance_free(&relevant);
    return is_proved;
}

static bool prove_obligations(struct theory *t, const struct names *without, struct entailment *e)
{
    e->obligations = (uint32_t)t->obligations.items.count;
    return ALL(size_t, i, t->obligations.items.count, prove_obligation(t, &t->obligations.items.items[i], without, e));
}

// Ranks are told where the equation does not follow without.
static enum entailment_status prove(struct theory *t, const struct equation *eq, const struct names *without,
                                    struct entailment *e)
{
    for (int tells_ranks = 0; tells_ranks < 2; tells_ranks++) {
        drop_obligations(t);
        if (!obligations_state(&t->logic, eq, tells_ranks, &t->obligations))
            return ENTAILMENT_UNSTATED;
        if ((tells_ranks == 0 || t->obligations.items.count > 1) && prove_obligations(t, without, e))
            return ENTAILMENT_PROVED;
        e->n_uses = 0;
    }
    return ENTAILMENT_UNKNOWN;
}

struct entailment theory_prove(struct theory *t, const struct equation *eq, const struct names *without)
{
    struct entailment e = {0};
    double started = clock_thread_seconds();
    theory_forget(t);
    e.status = prove(t, eq, without, &e);
    e.seconds = clock_thread_seconds() - started;
    finish_uses(t, &e);
    return e;
}

bool theory_proves_beside(struct theory *t, const struct equation *eq)
{
    return prove(t, eq, NULL, &(struct entailment){0}) == ENTAILMENT_PROVED;
}

struct entailment theory_prove_within(struct theory *t, const struct equation *eq, unsigned part)
{
    unsigned usual = t->step_limit;
    t->step_limit = usual / part;
    struct entailment e = theory_prove(t, eq, NULL);
    t->step_limit = usual;
    return e;
}

// --- contradictions --------------------------------------------------------------------------------------------------

// The axiom's conditions at an instance, of which there is one for each combination of ranks, do not look at values: a
// twin of one tensor, of the same type, meets them all.
static bool makes_twins_equal(struct theory *t, const struct relevance *reach, const struct sentence *axiom,
                              uint32_t variable, struct entailment *ret_core)
{
    struct formulas *f = formulas_of(t);
    add_axioms(t, reach, NULL, f);
    formulas_add_twins(f, axiom, variable);
    Z3_solver solver = make_solver(t, f);
    bool are_equal = check(f, solver, ret_core);
    Z3_solver_dec_ref(f->z3, solver);
    return are_equal;
}

static bool sentence_contradicts(struct theory *t, const struct sentence *axiom, struct entailment *ret_core)
{
    struct relevance reach;
    relevance_init(&reach, &t->logic);
    relevance_add_sentence(&reach, axiom);
    relevance_close(&reach, &t->axioms->sentences, t->axioms->triggers.items);
    bool contradicts = ANY(uint32_t, v, axiom->n_variables,
                           axiom->variables[v] == SORT_TENSOR && makes_twins_equal(t, &reach, axiom, v, ret_core));
    relevance_free(&reach);
    return contradicts;
}

bool theory_contradicts(struct theory *t, const char *name, struct entailment *ret_core)
{
    *ret_core = (struct entailment){0};
    theory_forget(t);
    bool contradicts = vec_find(&t->axioms->sentences.items, axiom,
                                strcmp(axiom->name, name) == 0 && sentence_contradicts(t, axiom, ret_core));
    finish_uses(t, ret_core);
    return contradicts;
}

// --- SMT-LIB ---------------------------------------------------------------------------------------------------------

// The axioms that the proof used, what holds of the operators in them, the assumptions, and the goal denied.
static const struct formulas *collect_formulas(struct theory *t, const struct entailment *proof,
                                               const struct sentence *obligation)
{
    struct formulas *f = formulas_of(t);
    struct relevance used;
    relevance_init(&used, &t->logic);
    relevance_add_sentence(&used, obligation);
    for (size_t i = 0; i < t->axioms->sentences.items.count; i++) {
        const struct sentence *axiom = &t->axioms->sentences.items.items[i];
        if (!text_is_among(axiom->name, proof->n_uses, proof->uses))
            continue;
        formulas_add_axiom(f, (uint32_t)i, axiom, &t->axioms->triggers.items[i], false);
        relevance_add_sentence(&used, axiom);
    }
    formulas_add_structure(f, &used);
    formulas_add_obligation(f, obligation);
    relevance_free(&used);
    return f;
}

static void print_formulas(const struct formulas *f, const char *name, struct text *out)
{
    unsigned n = (unsigned)f->assumed.count - 1;
    text_add(out,
             Z3_benchmark_to_smtlib_string(f->z3, name, "UF", "unsat", "", n, f->assumed.items, f->assumed.items[n]));
}

uint32_t theory_print_smt2(struct theory *t, const struct equation *eq, const struct entailment *proof,
                           struct text *ret_texts, uint32_t capacity)
{
    uint32_t count = 0;
    theory_forget(t);
    obligations_state(&t->logic, eq, proof->obligations > 1, &t->obligations);
    for (size_t i = 0; i < t->obligations.items.count && count < capacity; i++)
        print_formulas(collect_formulas(t, proof, &t->obligations.items.items[i]), eq->name, &ret_texts[count++]);
    return count;
}
