// Z3 is asked to refute each obligation within a number of steps; what it used is read from the core.
#include "verifier/entailment/z3_theory.h"

#include "core/system/clock.h"
#include "verifier/bounds/forms/theorems.h"
#include "verifier/direct_proof/small_instances.h"
#include "verifier/entailment/formulas.h"
#include "verifier/instances/ranks.h"
#include <stdlib.h>
#include <string.h>

#define NO_OBLIGATION SIZE_MAX
struct theory {
    const struct axioms *axioms;
    unsigned step_limit;
    struct arena texts;         // of the facts that proofs rely on
    struct logic logic;         // the axioms', with the terms of the questions asked since theory_forget
    struct formulas formulas;   // of these
    bool has_formulas;          // they are made for the first question that Z3 is asked
    struct sentence_list obligations;
    size_t unknown;   // the one of them that was not proved, without facts; NO_OBLIGATION: that is not known
    struct obligations heard;
};

// --- axioms ----------------------------------------------------------------------------------------------------------

void axioms_make(struct axioms *ret_axioms, const struct property_set *properties, struct judge *judge)
{
    *ret_axioms = (struct axioms){.properties = properties};
    logic_init(&ret_axioms->logic);
    for (size_t i = 0; i < properties->properties.count; i++) {
        struct equation eq = equation_of_property(properties->properties.items[i]);
        obligations_find(&ret_axioms->logic, judge, &eq, true, &ret_axioms->sentences);
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
    t->unknown = NO_OBLIGATION;
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
    t->unknown = NO_OBLIGATION;
    arena_init(&t->texts);
    logic_copy(&t->logic, &axioms->logic);
    return t;
}

void theory_free(struct theory *t)
{
    drop_all(t);
    obligations_free(&t->heard);
    arena_free(&t->texts);
    mem_free(t, sizeof *t);
}

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

static bool is_in(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void add_axioms(const struct theory *t, const struct relevance *r, const struct names *without,
                       struct formulas *f)
{
    for (size_t i = 0; i < r->axioms.count; i++) {
        const struct sentence *axiom = &t->axioms->sentences.items.items[r->axioms.items[i]];
        if (!without || !is_in(without->items, without->count, axiom->name))
            formulas_add_axiom(f, axiom, &t->axioms->triggers.items[r->axioms.items[i]], true);
    }
    formulas_add_structure(f, r);
}

static void add_name(const char **names, uint32_t *n, size_t capacity, const char *name)
{
    if (!is_in(names, *n, name) && *n < capacity)
        names[(*n)++] = name;
}

static void add_fact(struct theory *t, struct entailment *e, const char *text)
{
    if (!is_in(e->facts, e->n_facts, text))
        add_name(e->facts, &e->n_facts, sizeof e->facts / sizeof *e->facts, arena_string(&t->texts, text));
}

// Z3 has one term for all equal ones.
static void collect_uses(struct theory *t, const struct formulas *f, Z3_solver solver,
                         const struct sentence *obligation, struct entailment *e)
{
    Z3_ast_vector core = Z3_solver_get_unsat_core(f->z3, solver);
    Z3_ast_vector_inc_ref(f->z3, core);
    for (unsigned i = 0; i < Z3_ast_vector_size(f->z3, core); i++) {
        Z3_ast literal = Z3_ast_vector_get(f->z3, core, i);
        for (size_t k = 0; k < f->axiom_literals.count; k++)
            if (f->axiom_literals.items[k] == literal)
                add_name(e->uses, &e->n_uses, sizeof e->uses / sizeof *e->uses, f->axiom_names.items[k]);
        for (size_t k = 0; obligation && k < f->fact_literals.count; k++)
            if (f->fact_literals.items[k] == literal)
                add_fact(t, e, obligation->facts.items[k].text);
    }
    Z3_ast_vector_dec_ref(f->z3, core);
}

// `obligation` is the one that was added last, when its facts may be used; else NULL.
static bool check(struct theory *t, const struct formulas *f, Z3_solver solver, const struct sentence *obligation,
                  struct entailment *e)
{
    VEC(Z3_ast) assumed = {0};
    for (size_t i = 0; i < f->axiom_literals.count; i++)
        vec_push(&assumed, f->axiom_literals.items[i]);
    for (size_t i = 0; obligation && i < f->fact_literals.count; i++)
        vec_push(&assumed, f->fact_literals.items[i]);
    Z3_lbool result = Z3_solver_check_assumptions(f->z3, solver, (unsigned)assumed.count, assumed.items);
    vec_free(&assumed);
    if (result == Z3_L_FALSE)
        collect_uses(t, f, solver, obligation, e);
    return result == Z3_L_FALSE;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void finish_uses(const struct theory *t, struct entailment *e)
{
    if (e->n_uses)
        qsort(e->uses, e->n_uses, sizeof *e->uses, compare_names);
    for (uint32_t i = 0; i < e->n_uses; i++)
        if (property_find(t->axioms->properties, e->uses[i])->axiom)
            e->axioms[e->n_axioms++] = e->uses[i];
}

// Without facts first, so that a proof names only those that it needs.
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
    bool is_proved = check(t, f, solver, NULL, e) || (s->facts.count && check(t, f, solver, s, e));
    Z3_solver_dec_ref(f->z3, solver);
    relevance_free(&relevant);
    return is_proved;
}

// What is asked again, of an equation that was listened to before, is as unknown as it was.
static bool is_known_to_be_unknown(const struct theory *t)
{
    return t->unknown != NO_OBLIGATION && t->obligations.items.items[t->unknown].facts.count == 0;
}

static struct entailment prove_obligations(struct theory *t, bool are_stated, const struct names *without)
{
    struct entailment e = {.status = are_stated ? ENTAILMENT_PROVED : ENTAILMENT_UNSTATED,
                           .obligations = (uint32_t)t->obligations.items.count};
    double started = clock_thread_seconds();
    if (are_stated && is_known_to_be_unknown(t))
        e.status = ENTAILMENT_UNKNOWN;
    for (size_t i = 0; i < t->obligations.items.count && e.status == ENTAILMENT_PROVED; i++)
        if (!prove_obligation(t, &t->obligations.items.items[i], without, &e)) {
            e.status = ENTAILMENT_UNKNOWN;
            t->unknown = i;
        }
    e.seconds = clock_thread_seconds() - started;
    finish_uses(t, &e);
    return e;
}

// Do the ranks and lengths of lists for which there are obligations stand for all?
static bool are_kinds_enough(const struct equation *eq)
{
    return !ranks_are_too_few(eq) && theorems_cover_text(eq, THEOREMS_OF_KINDS);
}

struct entailment theory_prove(struct theory *t, struct judge *judge, const struct equation *eq,
                               const struct names *without)
{
    theory_forget(t);
    bool are_stated = obligations_find(&t->logic, judge, eq, false, &t->obligations) && are_kinds_enough(eq);
    struct entailment e = prove_obligations(t, are_stated, without);
    drop_obligations(t);
    return e;
}

static void hear(void *context, struct instance *in)
{
    obligations_hear(context, in);
}

static void keep_what_search_told(void *context)
{
    obligations_mark(context);
}

static void begin_to_listen(struct theory *t, struct judge *judge)
{
    judge->listener = hear;
    judge->listening = &t->heard;
    judge->listens_to_search = true;
    judge->search_has_ended = keep_what_search_told;
}

void theory_listen(struct theory *t, struct judge *judge, const struct equation *eq)
{
    drop_obligations(t);
    obligations_free(&t->heard);
    obligations_begin(&t->heard, &t->logic, eq, false, &t->obligations);
    begin_to_listen(t, judge);
}

void theory_listen_again(struct theory *t, struct judge *judge)
{
    obligations_return_to_mark(&t->heard);
    if (t->unknown >= t->obligations.items.count)
        t->unknown = NO_OBLIGATION;
    begin_to_listen(t, judge);
}

static bool hear_more(void *context, struct instance *in)
{
    struct obligations *o = context;
    obligations_hear(o, in);
    return !o->has_failed;
}

void theory_stop_listening(struct judge *judge)
{
    judge->listener = NULL;
    judge->listens_to_search = false;
    judge->search_has_ended = NULL;
}

// Are instances of all kinds known? If not they are looked for.
static bool has_heard_all(struct theory *t, struct judge *judge, const struct judgement *heard)
{
    if (t->heard.has_failed)
        return false;
    return !heard->was_cut_short || heard->saw_all_kinds ||
           explore_kinds(judge, t->heard.equation, true, hear_more, &t->heard);
}

// Where the definitions prove a rule a derivation is a second proof, which is worth less.
#define PART_FOR_SECOND_PROOF 3
struct entailment theory_prove_heard(struct theory *t, struct judge *judge, const struct judgement *heard)
{
    unsigned usual = t->step_limit;
    theory_stop_listening(judge);
    if (heard->verdict == VERDICT_TESTED)
        obligations_drop_facts(&t->heard);
    bool may_matter = heard->verdict != VERDICT_NOT_COVERED && heard->verdict != VERDICT_UNDECIDED;
    bool may_be_stated = may_matter && are_kinds_enough(t->heard.equation);
    bool has_all = may_be_stated && has_heard_all(t, judge, heard);
    t->step_limit = heard->verdict == VERDICT_PROVED ? usual / PART_FOR_SECOND_PROOF : usual;
    struct entailment e = prove_obligations(t, has_all && obligations_end(&t->heard, &judge->learned), NULL);
    t->step_limit = usual;
    e.has_unknown_kinds = may_be_stated && !has_all;
    return e;
}

struct entailment theory_prove_explored(struct theory *t, struct judge *judge, const struct equation *eq)
{
    struct judgement explored = {.verdict = VERDICT_TESTED, .was_cut_short = true};
    struct box box;
    theory_listen(t, judge, eq);
    judge->steps = 0;
    explore_smallest_box(judge, eq, ranks_to_test(eq), &box, NULL, &explored.saw_all_kinds);
    return theory_prove_heard(t, judge, &explored);
}

// --- contradictions --------------------------------------------------------------------------------------------------

// Of the axiom's conditions at an instance, of which there is one for each combination of ranks, nothing looks at
// values: a twin of one tensor, of the same type, meets them all.
static bool makes_twins_equal(struct theory *t, const struct relevance *reach, const struct sentence *axiom,
                              uint32_t variable, struct entailment *ret_core)
{
    struct formulas *f = formulas_of(t);
    add_axioms(t, reach, NULL, f);
    formulas_add_twins(f, axiom, variable);
    Z3_solver solver = make_solver(t, f);
    bool are_equal = check(t, f, solver, NULL, ret_core);
    Z3_solver_dec_ref(f->z3, solver);
    return are_equal;
}

static bool sentence_contradicts(struct theory *t, const struct sentence *axiom, struct entailment *ret_core)
{
    struct relevance reach;
    bool contradicts = false;
    relevance_init(&reach, &t->logic);
    relevance_add_sentence(&reach, axiom);
    relevance_close(&reach, &t->axioms->sentences, t->axioms->triggers.items);
    for (uint32_t v = 0; v < axiom->n_variables && !contradicts; v++)
        contradicts = axiom->variables[v] < SORT_LIST(0) && makes_twins_equal(t, &reach, axiom, v, ret_core);
    relevance_free(&reach);
    return contradicts;
}

bool theory_contradicts(struct theory *t, const char *name, struct entailment *ret_core)
{
    bool contradicts = false;
    *ret_core = (struct entailment){0};
    theory_forget(t);
    for (size_t i = 0; i < t->axioms->sentences.items.count && !contradicts; i++)
        if (strcmp(t->axioms->sentences.items.items[i].name, name) == 0)
            contradicts = sentence_contradicts(t, &t->axioms->sentences.items.items[i], ret_core);
    finish_uses(t, ret_core);
    return contradicts;
}

// --- SMT-LIB ---------------------------------------------------------------------------------------------------------

// The facts that the proof relies on become assumptions.
static void settle_facts(struct sentence *obligation, const struct entailment *proof)
{
    for (size_t i = 0; i < obligation->facts.count; i++) {
        const struct fact *fact = &obligation->facts.items[i];
        struct logic_equality equality = {fact->left, fact->right};
        if (is_in(proof->facts, proof->n_facts, fact->text))
            vec_push(&obligation->equalities, equality);
    }
    vec_clear(&obligation->facts);
}

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
        if (!is_in(proof->uses, proof->n_uses, axiom->name))
            continue;
        formulas_add_axiom(f, axiom, &t->axioms->triggers.items[i], false);
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

uint32_t theory_print_smt2(struct theory *t, struct judge *judge, const struct equation *eq,
                           const struct entailment *proof, struct text *ret_texts, uint32_t capacity)
{
    uint32_t count = 0;
    theory_forget(t);
    obligations_find(&t->logic, judge, eq, false, &t->obligations);
    for (size_t i = 0; i < t->obligations.items.count && count < capacity; i++) {
        settle_facts(&t->obligations.items.items[i], proof);
        print_formulas(collect_formulas(t, proof, &t->obligations.items.items[i]), eq->name, &ret_texts[count++]);
    }
    return count;
}
