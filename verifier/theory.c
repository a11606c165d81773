#include "verifier/theory.h"

#include "core/clock.h"
#include "verifier/ranks.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

struct theory {
    struct logic logic;
    Z3_context z3;
    Z3_solver solver;
    VEC(Z3_sort) sorts;            // by logic_sort; NULL: not made yet
    VEC(Z3_func_decl) functions;   // by symbol
    VEC(Z3_ast) literals;          // one for each name of an axiom
    VEC(const char *) names;
    VEC(Z3_ast) fact_literals;   // of the facts of the obligation that is asserted
    struct sentence_list obligations;
    struct obligations heard;
    bool is_collecting;   // assumptions go to `collected`, not to the solver
    VEC(Z3_ast) collected;
    size_t structural;   // symbols whose structural axioms were asserted
};

static void assume(struct theory *t, Z3_ast formula)
{
    if (t->is_collecting)
        vec_push(&t->collected, formula);
    else
        Z3_solver_assert(t->z3, t->solver, formula);
}

// --- Z3 terms --------------------------------------------------------------------------------------------------------

static Z3_sort sort_of(struct theory *t, logic_sort sort)
{
    while (t->sorts.count <= sort)
        vec_push(&t->sorts, NULL);
    if (!t->sorts.items[sort]) {
        char name[16];
        snprintf(name, sizeof name, "%c%d", sort < SORT_LIST(0) ? 'T' : 'A',
                 sort < SORT_LIST(0) ? sort - 1 : sort - SORT_LIST(0));
        t->sorts.items[sort] = sort == SORT_TRUTH ? Z3_mk_bool_sort(t->z3)
                                                  : Z3_mk_uninterpreted_sort(t->z3, Z3_mk_string_symbol(t->z3, name));
    }
    return t->sorts.items[sort];
}

static Z3_func_decl function_of(struct theory *t, uint32_t symbol)
{
    while (t->functions.count <= symbol)
        vec_push(&t->functions, NULL);
    if (!t->functions.items[symbol]) {
        const struct logic_symbol *s = &t->logic.symbols.items[symbol];
        Z3_sort arguments[MAX_LOGIC_ARGUMENTS];
        for (uint32_t i = 0; i < s->n_arguments; i++)
            arguments[i] = sort_of(t, s->arguments[i]);
        t->functions.items[symbol] = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, s->name), s->n_arguments,
                                                     arguments, sort_of(t, s->result));
    }
    return t->functions.items[symbol];
}

// `variables` has the sentence's variables as Z3 constants.
static Z3_ast term_of(struct theory *t, logic_term term, const Z3_app *variables)
{
    const struct logic_node n = t->logic.nodes.items[term];
    Z3_ast arguments[MAX_LOGIC_ARGUMENTS];
    if (n.is_variable)
        return Z3_app_to_ast(t->z3, variables[n.index]);
    for (uint32_t i = 0; i < n.n_arguments; i++)
        arguments[i] = term_of(t, n.arguments[i], variables);
    return Z3_mk_app(t->z3, function_of(t, n.index), n.n_arguments, arguments);
}

static Z3_app variable_of(struct theory *t, uint32_t number, logic_sort sort)
{
    char name[16];
    snprintf(name, sizeof name, "v%u", number);
    return Z3_to_app(t->z3, Z3_mk_const(t->z3, Z3_mk_string_symbol(t->z3, name), sort_of(t, sort)));
}

static Z3_ast equality_of(struct theory *t, const struct logic_equality *e, const Z3_app *variables)
{
    assert(t->logic.nodes.items[e->left].sort == t->logic.nodes.items[e->right].sort);
    return Z3_mk_eq(t->z3, term_of(t, e->left, variables), term_of(t, e->right, variables));
}

// --- axioms ----------------------------------------------------------------------------------------------------------

#define MAX_ASSUMPTIONS 64   // of an axiom; one with more is left out

static uint64_t variables_of(const struct logic *l, logic_term term)
{
    const struct logic_node *n = &l->nodes.items[term];
    uint64_t variables = n->is_variable ? (uint64_t)1 << n->index : 0;
    for (uint32_t i = 0; i < n->n_arguments; i++)
        variables |= variables_of(l, n->arguments[i]);
    return variables;
}

// Each side that has all variables triggers the axiom alone; else both together, with guards where these are needed.
static unsigned find_patterns(struct theory *t, const struct sentence *s, const Z3_app *variables, Z3_pattern *patterns)
{
    uint64_t all = s->n_variables == 64 ? UINT64_MAX : ((uint64_t)1 << s->n_variables) - 1, met = 0;
    logic_term sides[2] = {s->goals.items[0].left, s->goals.items[0].right};
    Z3_ast together[MAX_LOGIC_ARGUMENTS];
    unsigned n = 0, parts = 0;
    for (int i = 0; i < 2; i++) {
        if (t->logic.nodes.items[sides[i]].is_variable)
            continue;
        Z3_ast side = term_of(t, sides[i], variables);
        uint64_t here = variables_of(&t->logic, sides[i]);
        if (here == all)
            patterns[n++] = Z3_mk_pattern(t->z3, 1, &side);
        if (here & ~met)
            together[parts++] = side;
        met |= here;
    }
    for (size_t i = 0; i < s->truths.count && parts < 8; i++) {
        const struct logic_node *truth = &t->logic.nodes.items[s->truths.items[i]];
        logic_term argument = truth->arguments[0];
        if (t->logic.nodes.items[argument].is_variable || truth->n_arguments != 1)
            continue;
        Z3_ast side = term_of(t, argument, variables);
        if (variables_of(&t->logic, argument) == all)
            patterns[n++] = Z3_mk_pattern(t->z3, 1, &side);
        else if (n == 0 && (variables_of(&t->logic, argument) & ~met))
            together[parts++] = side;
        met |= variables_of(&t->logic, argument);
    }
    if (n == 0 && parts && met == all)
        patterns[n++] = Z3_mk_pattern(t->z3, parts, together);
    return n;
}

static Z3_ast body_of(struct theory *t, const struct sentence *s, const Z3_app *variables)
{
    Z3_ast assumed[MAX_ASSUMPTIONS], goals[MAX_RULE_OUTPUTS];
    unsigned n = 0;
    for (size_t i = 0; i < s->truths.count; i++)
        assumed[n++] = term_of(t, s->truths.items[i], variables);
    for (size_t i = 0; i < s->equalities.count; i++)
        assumed[n++] = equality_of(t, &s->equalities.items[i], variables);
    for (size_t i = 0; i < s->goals.count; i++)
        goals[i] = equality_of(t, &s->goals.items[i], variables);
    Z3_ast conclusion = s->goals.count == 1 ? goals[0] : Z3_mk_and(t->z3, (unsigned)s->goals.count, goals);
    return n ? Z3_mk_implies(t->z3, Z3_mk_and(t->z3, n, assumed), conclusion) : conclusion;
}

static Z3_ast literal_of(struct theory *t, const char *name)
{
    for (size_t i = 0; i < t->names.count; i++)
        if (strcmp(t->names.items[i], name) == 0)
            return t->literals.items[i];
    Z3_ast literal = Z3_mk_const(t->z3, Z3_mk_string_symbol(t->z3, name), sort_of(t, SORT_TRUTH));
    vec_push(&t->names, name);
    vec_push(&t->literals, literal);
    return literal;
}

static void assert_axiom(struct theory *t, const struct sentence *s)
{
    Z3_app variables[2 * MAX_RULE_VARIABLES];
    Z3_pattern patterns[16];
    for (uint32_t i = 0; i < s->n_variables; i++)
        variables[i] = variable_of(t, i, s->variables[i]);
    unsigned n = find_patterns(t, s, variables, patterns);
    if (n == 0 || s->truths.count + s->equalities.count > MAX_ASSUMPTIONS)
        return;
    Z3_ast body = body_of(t, s, variables);
    Z3_ast axiom = Z3_mk_forall_const(t->z3, 0, s->n_variables, variables, n, patterns, body);
    assume(t, t->is_collecting ? axiom : Z3_mk_implies(t->z3, literal_of(t, s->name), axiom));
}

// What holds of every operator: arguments of what is defined are defined; where no split tree goes in, none comes out.
static void assert_structure(struct theory *t, uint32_t symbol)
{
    const struct logic_symbol s = t->logic.symbols.items[symbol];
    Z3_app variables[MAX_LOGIC_ARGUMENTS];
    Z3_ast values[MAX_LOGIC_ARGUMENTS], defined[MAX_LOGIC_ARGUMENTS], plain[MAX_LOGIC_ARGUMENTS];
    unsigned n = 0;
    if (s.role != ROLE_OPERATOR || s.n_arguments == 0)
        return;
    for (uint32_t i = 0; i < s.n_arguments; i++) {
        variables[i] = variable_of(t, i, s.arguments[i]);
        values[i] = Z3_app_to_ast(t->z3, variables[i]);
        if (s.arguments[i] >= SORT_LIST(0))
            continue;
        char name[32];
        snprintf(name, sizeof name, "defined:T%d>B", s.arguments[i] - 1);
        Z3_sort z3_sort = sort_of(t, s.arguments[i]);
        Z3_func_decl d = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, name), 1, &z3_sort, sort_of(t, SORT_TRUTH));
        snprintf(name, sizeof name, "plain:T%d>B", s.arguments[i] - 1);
        Z3_func_decl p = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, name), 1, &z3_sort, sort_of(t, SORT_TRUTH));
        defined[n] = Z3_mk_app(t->z3, d, 1, &values[i]);
        plain[n++] = Z3_mk_app(t->z3, p, 1, &values[i]);
    }
    if (n == 0)
        return;
    char name[32];
    Z3_sort result_sort = sort_of(t, s.result);
    Z3_ast result = Z3_mk_app(t->z3, function_of(t, symbol), s.n_arguments, values);
    snprintf(name, sizeof name, "defined:T%d>B", s.result - 1);
    Z3_func_decl d = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, name), 1, &result_sort, sort_of(t, SORT_TRUTH));
    Z3_ast is_defined = Z3_mk_app(t->z3, d, 1, &result);
    Z3_pattern pattern = Z3_mk_pattern(t->z3, 1, &is_defined);
    Z3_ast strict = Z3_mk_implies(t->z3, is_defined, Z3_mk_and(t->z3, n, defined));
    assume(t, Z3_mk_forall_const(t->z3, 0, s.n_arguments, variables, 1, &pattern, strict));
    if (!s.keeps_plain)
        return;
    snprintf(name, sizeof name, "plain:T%d>B", s.result - 1);
    Z3_func_decl p = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, name), 1, &result_sort, sort_of(t, SORT_TRUTH));
    Z3_ast is_plain = Z3_mk_app(t->z3, p, 1, &result);
    pattern = Z3_mk_pattern(t->z3, 1, &result);
    Z3_ast kept = Z3_mk_implies(t->z3, Z3_mk_and(t->z3, n, plain), is_plain);
    assume(t, Z3_mk_forall_const(t->z3, 0, s.n_arguments, variables, 1, &pattern, kept));
}

// The value of a list of one known integer.
static bool is_known_integer(const struct logic_symbol *s, int64_t *ret_value)
{
    char end;
    return s->role == ROLE_CONSTANT && s->result == SORT_LIST(1) &&
           sscanf(s->name, "[%" SCNd64 "%c", ret_value, &end) == 2 && end == ']';
}

static void assert_comparison(struct theory *t, const char *name, uint32_t x, uint32_t y)
{
    Z3_sort sorts[2] = {sort_of(t, SORT_LIST(1)), sort_of(t, SORT_LIST(1))};
    Z3_ast values[2] = {Z3_mk_app(t->z3, function_of(t, x), 0, NULL), Z3_mk_app(t->z3, function_of(t, y), 0, NULL)};
    Z3_func_decl f = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, name), 2, sorts, sort_of(t, SORT_TRUTH));
    assume(t, Z3_mk_app(t->z3, f, 2, values));
}

// How a known integer compares with the ones before it.
static void assert_comparisons(struct theory *t, uint32_t symbol)
{
    int64_t value, other;
    if (!is_known_integer(&t->logic.symbols.items[symbol], &value))
        return;
    for (uint32_t i = 0; i <= symbol; i++) {
        if (!is_known_integer(&t->logic.symbols.items[i], &other))
            continue;
        if (value != other) {
            assert_comparison(t, "differ:A1A1>B", symbol, i);
            assert_comparison(t, "differ:A1A1>B", i, symbol);
        }
        assert_comparison(t, "atmost:A1A1>B", value <= other ? symbol : i, value <= other ? i : symbol);
    }
}

static void assert_new_structure(struct theory *t)
{
    for (; t->structural < t->logic.symbols.count; t->structural++) {
        assert_structure(t, (uint32_t)t->structural);
        assert_comparisons(t, (uint32_t)t->structural);
    }
}

// --- the solver ------------------------------------------------------------------------------------------------------

static void ignore_z3_error(Z3_context c, Z3_error_code e)
{
    (void)c;
    (void)e;
}

static void make_solver(struct theory *t, unsigned step_limit)
{
    Z3_config config = Z3_mk_config();
    t->z3 = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(t->z3, ignore_z3_error);
    t->solver = Z3_mk_simple_solver(t->z3);
    Z3_solver_inc_ref(t->z3, t->solver);
    Z3_params params = Z3_mk_params(t->z3);
    Z3_params_inc_ref(t->z3, params);
    Z3_params_set_bool(t->z3, params, Z3_mk_string_symbol(t->z3, "mbqi"), false);
    Z3_params_set_bool(t->z3, params, Z3_mk_string_symbol(t->z3, "auto_config"), false);
    Z3_params_set_uint(t->z3, params, Z3_mk_string_symbol(t->z3, "rlimit"), step_limit);
    Z3_solver_set_params(t->z3, t->solver, params);
    Z3_params_dec_ref(t->z3, params);
}

void axioms_make(struct axioms *ret_axioms, const struct property_set *properties, struct judge *judge)
{
    *ret_axioms = (struct axioms){0};
    logic_init(&ret_axioms->logic);
    for (size_t i = 0; i < properties->properties.count; i++) {
        struct equation eq = equation_of_property(properties->properties.items[i]);
        obligations_find(&ret_axioms->logic, judge, &eq, true, &ret_axioms->sentences);
    }
}

void axioms_free(struct axioms *axioms)
{
    sentence_list_free(&axioms->sentences);
    logic_free(&axioms->logic);
}

struct theory *theory_make(const struct axioms *axioms, unsigned step_limit)
{
    struct theory *t = mem_alloc_zero(sizeof *t);
    logic_copy(&t->logic, &axioms->logic);
    make_solver(t, step_limit);
    for (size_t i = 0; i < axioms->sentences.items.count; i++)
        assert_axiom(t, &axioms->sentences.items.items[i]);
    assert_new_structure(t);
    return t;
}

void theory_free(struct theory *t)
{
    Z3_solver_dec_ref(t->z3, t->solver);
    Z3_del_context(t->z3);
    logic_free(&t->logic);
    vec_free(&t->sorts);
    vec_free(&t->functions);
    vec_free(&t->literals);
    vec_free(&t->names);
    vec_free(&t->collected);
    vec_free(&t->fact_literals);
    mem_free(t, sizeof *t);
}

// --- obligations -----------------------------------------------------------------------------------------------------

static bool is_in(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

// The facts that a proof relies on; or all of them, each behind a literal.
static void assert_facts(struct theory *t, const struct sentence *s, const struct entailment *proof)
{
    vec_clear(&t->fact_literals);
    for (size_t i = 0; i < s->facts.count; i++) {
        const struct fact *fact = &s->facts.items[i];
        struct logic_equality sides = {fact->left, fact->right};
        Z3_ast equality = equality_of(t, &sides, NULL);
        char name[32];
        snprintf(name, sizeof name, "fact-%zu", i);
        Z3_ast literal = Z3_mk_const(t->z3, Z3_mk_string_symbol(t->z3, name), sort_of(t, SORT_TRUTH));
        vec_push(&t->fact_literals, literal);
        if (!proof)
            assume(t, Z3_mk_implies(t->z3, literal, equality));
        else if (is_in(proof->facts, proof->n_facts, fact->text))
            assume(t, equality);
    }
}

static void assert_choice(struct theory *t, const struct choice *choice)
{
    Z3_ast cases[MAX_CHOICES];
    for (uint32_t i = 0; i < choice->n_values; i++) {
        struct logic_equality is_value = {choice->term, choice->values[i]};
        cases[i] = equality_of(t, &is_value, NULL);
    }
    assume(t, Z3_mk_or(t->z3, choice->n_values, cases));
}

static void assert_obligation(struct theory *t, const struct sentence *s, const struct entailment *proof)
{
    Z3_ast goals[MAX_RULE_OUTPUTS];
    for (size_t i = 0; i < s->truths.count; i++)
        assume(t, term_of(t, s->truths.items[i], NULL));
    for (size_t i = 0; i < s->equalities.count; i++)
        assume(t, equality_of(t, &s->equalities.items[i], NULL));
    for (size_t i = 0; i < s->choices.count; i++)
        assert_choice(t, &s->choices.items[i]);
    assert_facts(t, s, proof);
    for (size_t i = 0; i < s->goals.count; i++)
        goals[i] = equality_of(t, &s->goals.items[i], NULL);
    assume(t, Z3_mk_not(t->z3, Z3_mk_and(t->z3, (unsigned)s->goals.count, goals)));
}

static void add_name(const char **names, uint32_t *n, size_t capacity, const char *name)
{
    if (!is_in(names, *n, name) && *n < capacity)
        names[(*n)++] = name;
}

// Z3 has one term for all equal ones.
static void collect_uses(struct theory *t, const struct sentence *obligation, struct entailment *e)
{
    Z3_ast_vector core = Z3_solver_get_unsat_core(t->z3, t->solver);
    Z3_ast_vector_inc_ref(t->z3, core);
    for (unsigned i = 0; i < Z3_ast_vector_size(t->z3, core); i++) {
        Z3_ast literal = Z3_ast_vector_get(t->z3, core, i);
        for (size_t k = 0; k < t->literals.count; k++)
            if (t->literals.items[k] == literal)
                add_name(e->uses, &e->n_uses, sizeof e->uses / sizeof *e->uses, t->names.items[k]);
        for (size_t k = 0; obligation && k < t->fact_literals.count; k++)
            if (t->fact_literals.items[k] == literal)
                add_name(e->facts, &e->n_facts, sizeof e->facts / sizeof *e->facts, obligation->facts.items[k].text);
    }
    Z3_ast_vector_dec_ref(t->z3, core);
}

// `obligation` is the one that is asserted, when its facts may be used; else NULL.
static bool check(struct theory *t, const char *without, const struct sentence *obligation, struct entailment *e)
{
    VEC(Z3_ast) assumed = {0};
    for (size_t i = 0; i < t->literals.count; i++)
        if (!without || strcmp(without, t->names.items[i]) != 0)
            vec_push(&assumed, t->literals.items[i]);
    for (size_t i = 0; obligation && i < t->fact_literals.count; i++)
        vec_push(&assumed, t->fact_literals.items[i]);
    Z3_lbool result = Z3_solver_check_assumptions(t->z3, t->solver, (unsigned)assumed.count, assumed.items);
    vec_free(&assumed);
    if (result == Z3_L_FALSE && e)
        collect_uses(t, obligation, e);
    return result == Z3_L_FALSE;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Without facts first, so that a proof names only those that it needs.
static bool prove_obligation(struct theory *t, const struct sentence *s, const char *without, struct entailment *e)
{
    Z3_solver_push(t->z3, t->solver);
    assert_obligation(t, s, NULL);
    bool is_proved = check(t, without, NULL, e) || (s->facts.count && check(t, without, s, e));
    Z3_solver_pop(t->z3, t->solver, 1);
    return is_proved;
}

static void drop_obligations(struct theory *t)
{
    sentence_list_free(&t->obligations);
    t->obligations = (struct sentence_list){0};
}

static struct entailment prove_obligations(struct theory *t, bool are_stated, const char *without)
{
    struct entailment e = {.status = are_stated ? ENTAILMENT_PROVED : ENTAILMENT_UNSTATED};
    double started = clock_seconds();
    assert_new_structure(t);
    for (size_t i = 0; i < t->obligations.items.count && e.status == ENTAILMENT_PROVED; i++)
        if (!prove_obligation(t, &t->obligations.items.items[i], without, &e))
            e.status = ENTAILMENT_UNKNOWN;
    e.obligations = (uint32_t)t->obligations.items.count;
    e.seconds = clock_seconds() - started;
    if (e.n_uses)
        qsort(e.uses, e.n_uses, sizeof *e.uses, compare_names);
    drop_obligations(t);
    return e;
}

struct entailment theory_prove(struct theory *t, struct judge *judge, const struct equation *eq, const char *without)
{
    bool are_stated = obligations_find(&t->logic, judge, eq, false, &t->obligations) && !ranks_are_too_few(eq);
    return prove_obligations(t, are_stated, without);
}

static void hear(void *context, struct instance *in)
{
    obligations_hear(context, in);
}

void theory_listen(struct theory *t, struct judge *judge, const struct equation *eq)
{
    obligations_begin(&t->heard, &t->logic, eq, false, &t->obligations);
    judge->listener = hear;
    judge->listening = &t->heard;
    judge->listens_to_search = true;
}

static bool hear_more(void *context, struct instance *in)
{
    struct obligations *o = context;
    obligations_hear(o, in);
    return !o->has_failed;
}

static void stop_listening(struct judge *judge)
{
    judge->listener = NULL;
    judge->listens_to_search = false;
}

void theory_stop_listening(struct theory *t, struct judge *judge)
{
    stop_listening(judge);
    drop_obligations(t);
}

// Are instances of all kinds known? If not they are looked for.
static bool has_heard_all(struct theory *t, struct judge *judge, const struct judgement *heard)
{
    if (t->heard.has_failed)
        return false;
    return !heard->was_cut_short || heard->saw_all_kinds ||
           judge_explore(judge, t->heard.equation, true, hear_more, &t->heard);
}

struct entailment theory_prove_heard(struct theory *t, struct judge *judge, const struct judgement *heard)
{
    stop_listening(judge);
    if (heard->verdict == VERDICT_TESTED)
        obligations_drop_facts(&t->heard);
    bool may_matter = heard->verdict != VERDICT_VACUOUS && heard->verdict != VERDICT_UNDECIDED;
    bool may_be_stated = may_matter && !ranks_are_too_few(t->heard.equation);
    bool has_all = may_be_stated && has_heard_all(t, judge, heard);
    struct entailment e = prove_obligations(t, has_all && obligations_end(&t->heard), NULL);
    e.has_unknown_kinds = may_be_stated && !has_all;
    return e;
}

struct entailment theory_prove_explored(struct theory *t, struct judge *judge, const struct equation *eq)
{
    struct judgement nothing_heard = {.verdict = VERDICT_TESTED, .was_cut_short = true};
    theory_listen(t, judge, eq);
    return theory_prove_heard(t, judge, &nothing_heard);
}

static Z3_ast named_constant(struct theory *t, const char *name, logic_sort sort)
{
    char full[32];
    snprintf(full, sizeof full, "some-%s-%u", name, (unsigned)sort);
    return Z3_mk_const(t->z3, Z3_mk_string_symbol(t->z3, full), sort_of(t, sort));
}

// Every operator applied to x and y in turn, so that axioms have something to match.
static void assert_applications(struct theory *t, unsigned first)
{
    static const char *const names[2] = {"x", "y"};
    for (size_t i = 0; i < t->logic.symbols.count; i++) {
        const struct logic_symbol *s = &t->logic.symbols.items[i];
        Z3_ast arguments[MAX_LOGIC_ARGUMENTS];
        unsigned turn = first;
        if (s->role != ROLE_OPERATOR)
            continue;
        for (uint32_t k = 0; k < s->n_arguments; k++)
            arguments[k] =
                named_constant(t, s->arguments[k] < SORT_LIST(0) ? names[turn++ % 2] : "list", s->arguments[k]);
        Z3_ast application = Z3_mk_app(t->z3, function_of(t, (uint32_t)i), s->n_arguments, arguments);
        Z3_sort sort = sort_of(t, s->result);
        char name[32];
        snprintf(name, sizeof name, "defined:T%d>B", s->result - 1);
        Z3_func_decl d = Z3_mk_func_decl(t->z3, Z3_mk_string_symbol(t->z3, name), 1, &sort, sort_of(t, SORT_TRUTH));
        Z3_solver_assert(t->z3, t->solver, Z3_mk_app(t->z3, d, 1, &application));
    }
}

bool theory_is_consistent(struct theory *t, struct entailment *ret_core)
{
    Z3_ast differ[5];
    *ret_core = (struct entailment){0};
    Z3_solver_push(t->z3, t->solver);
    for (int rank = 0; rank < 5; rank++) {
        Z3_ast x = named_constant(t, "x", SORT_TENSOR(rank)), y = named_constant(t, "y", SORT_TENSOR(rank));
        differ[rank] = Z3_mk_not(t->z3, Z3_mk_eq(t->z3, x, y));
    }
    Z3_solver_assert(t->z3, t->solver, Z3_mk_and(t->z3, 5, differ));
    assert_applications(t, 0);
    assert_applications(t, 1);
    bool is_consistent = !check(t, NULL, NULL, ret_core);
    Z3_solver_pop(t->z3, t->solver, 1);
    return is_consistent;
}

// --- SMT-LIB ---------------------------------------------------------------------------------------------------------

static void mark_symbols(const struct logic *l, logic_term term, bool *used)
{
    const struct logic_node *n = &l->nodes.items[term];
    if (!n->is_variable)
        used[n->index] = true;
    for (uint32_t i = 0; i < n->n_arguments; i++)
        mark_symbols(l, n->arguments[i], used);
}

static void mark_symbols_of(const struct logic *l, const struct sentence *s, bool *used)
{
    for (size_t i = 0; i < s->truths.count; i++)
        mark_symbols(l, s->truths.items[i], used);
    for (size_t i = 0; i < s->equalities.count; i++) {
        mark_symbols(l, s->equalities.items[i].left, used);
        mark_symbols(l, s->equalities.items[i].right, used);
    }
    for (size_t i = 0; i < s->goals.count; i++) {
        mark_symbols(l, s->goals.items[i].left, used);
        mark_symbols(l, s->goals.items[i].right, used);
    }
}

// The axioms that the proof used, what holds of the operators in them, the assumptions, and the goal denied.
static void collect_formulas(struct theory *t, const struct axioms *axioms, const struct entailment *proof,
                             const struct sentence *obligation)
{
    size_t n = t->logic.symbols.count;
    bool *used = mem_alloc_zero(n * sizeof *used);
    t->is_collecting = true;
    vec_clear(&t->collected);
    for (size_t i = 0; i < axioms->sentences.items.count; i++)
        if (is_in(proof->uses, proof->n_uses, axioms->sentences.items.items[i].name)) {
            assert_axiom(t, &axioms->sentences.items.items[i]);
            mark_symbols_of(&t->logic, &axioms->sentences.items.items[i], used);
        }
    mark_symbols_of(&t->logic, obligation, used);
    for (size_t i = 0; i < n; i++)
        if (used[i]) {
            assert_structure(t, (uint32_t)i);
            assert_comparisons(t, (uint32_t)i);
        }
    assert_obligation(t, obligation, proof);
    t->is_collecting = false;
    mem_free_array(used, n);
}

static void print_formulas(struct theory *t, const char *name, struct text *out)
{
    unsigned n = (unsigned)t->collected.count - 1;
    text_add(out, Z3_benchmark_to_smtlib_string(t->z3, name, "UF", "unsat", "", n, t->collected.items,
                                                t->collected.items[n]));
}

uint32_t theory_print_smt2(struct theory *t, struct judge *judge, const struct axioms *axioms,
                           const struct equation *eq, const struct entailment *proof, struct text *ret_texts,
                           uint32_t capacity)
{
    struct sentence_list obligations = {0};
    uint32_t count = 0;
    obligations_find(&t->logic, judge, eq, false, &obligations);
    assert_new_structure(t);
    for (size_t i = 0; i < obligations.items.count && count < capacity; i++) {
        collect_formulas(t, axioms, proof, &obligations.items.items[i]);
        print_formulas(t, eq->name, &ret_texts[count++]);
    }
    sentence_list_free(&obligations);
    return count;
}
