// Formulas in a Z3 context: sorts, functions, axioms behind literals, and the facts that typing gives.
#include "verifier/entailment/formulas.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void ignore_z3_error(Z3_context c, Z3_error_code e)
{
}

void formulas_init(struct formulas *f, const struct logic *l)
{
    Z3_config config = Z3_mk_config();
    *f = (struct formulas){.logic = l, .z3 = Z3_mk_context(config)};
    Z3_del_config(config);
    Z3_set_error_handler(f->z3, ignore_z3_error);
}

void formulas_free(struct formulas *f)
{
    vecs_free(f, assumed, sorts, functions, axioms, axiom_literals, axiom_names);
    Z3_del_context(f->z3);
}

void formulas_clear(struct formulas *f)
{
    vec_clear(&f->assumed);
    vec_clear(&f->axiom_literals);
    vec_clear(&f->axiom_names);
}

static void assume(struct formulas *f, Z3_ast formula)
{
    vec_push(&f->assumed, formula);
}

// --- terms -----------------------------------------------------------------------------------------------------------

static Z3_sort sort_of(struct formulas *f, logic_sort sort)
{
    while (f->sorts.count <= sort)
        vec_push(&f->sorts, NULL);
    if (!f->sorts.items[sort]) {
        static const char *const names[] = {[SORT_TENSOR] = "T", [SORT_LIST] = "A", [SORT_EMPTY_LIST] = "E"};
        f->sorts.items[sort] = sort == SORT_TRUTH
                                   ? Z3_mk_bool_sort(f->z3)
                                   : Z3_mk_uninterpreted_sort(f->z3, Z3_mk_string_symbol(f->z3, names[sort]));
    }
    return f->sorts.items[sort];
}

static Z3_func_decl function_of(struct formulas *f, uint32_t symbol)
{
    while (f->functions.count <= symbol)
        vec_push(&f->functions, NULL);
    if (!f->functions.items[symbol]) {
        const struct logic_symbol *s = &f->logic->symbols.items[symbol];
        Z3_sort arguments[MAX_LOGIC_ARGUMENTS];
        for (uint32_t i = 0; i < s->n_arguments; i++)
            arguments[i] = sort_of(f, s->arguments[i]);
        f->functions.items[symbol] = Z3_mk_func_decl(f->z3, Z3_mk_string_symbol(f->z3, s->name), s->n_arguments,
                                                     arguments, sort_of(f, s->result));
    }
    return f->functions.items[symbol];
}

static Z3_ast apply(struct formulas *f, uint32_t symbol, const Z3_ast *arguments)
{
    return Z3_mk_app(f->z3, function_of(f, symbol), f->logic->symbols.items[symbol].n_arguments, arguments);
}

// `variables` has the sentence's variables as Z3 constants.
static Z3_ast term_of(struct formulas *f, logic_term term, const Z3_app *variables)
{
    const struct logic_node *n = &f->logic->nodes.items[term];
    Z3_ast arguments[MAX_LOGIC_ARGUMENTS];
    if (n->is_variable)
        return Z3_app_to_ast(f->z3, variables[n->index]);
    for (uint32_t i = 0; i < n->n_arguments; i++)
        arguments[i] = term_of(f, n->arguments[i], variables);
    return apply(f, n->index, arguments);
}

static Z3_ast named_constant(struct formulas *f, const char *name, logic_sort sort)
{
    return Z3_mk_const(f->z3, Z3_mk_string_symbol(f->z3, name), sort_of(f, sort));
}

static Z3_app variable_of(struct formulas *f, uint32_t number, logic_sort sort)
{
    char name[16];
    snprintf(name, sizeof name, "v%u", number);
    return Z3_to_app(f->z3, named_constant(f, name, sort));
}

static Z3_ast equality_of(struct formulas *f, const struct logic_equality *e, const Z3_app *variables)
{
    assert(f->logic->nodes.items[e->left].sort == f->logic->nodes.items[e->right].sort);
    return Z3_mk_eq(f->z3, term_of(f, e->left, variables), term_of(f, e->right, variables));
}

#define DEFINED "defined:T>B"
#define PLAIN "plain:T>B"
static Z3_ast predicate_of(struct formulas *f, const char *name, logic_sort sort, Z3_ast value)
{
    Z3_sort z3_sort = sort_of(f, sort);
    Z3_func_decl predicate =
        Z3_mk_func_decl(f->z3, Z3_mk_string_symbol(f->z3, name), 1, &z3_sort, sort_of(f, SORT_TRUTH));
    return Z3_mk_app(f->z3, predicate, 1, &value);
}

// --- axioms ----------------------------------------------------------------------------------------------------------

#define MAX_ASSUMPTIONS 64   // of an axiom; one with more is left out

static unsigned assumptions_of(struct formulas *f, const struct sentence *s, const Z3_app *variables,
                               Z3_ast ret_assumed[MAX_ASSUMPTIONS])
{
    unsigned n = 0;
    for (size_t i = 0; i < s->truths.count; i++)
        ret_assumed[n++] = term_of(f, s->truths.items[i], variables);
    for (size_t i = 0; i < s->equalities.count; i++)
        ret_assumed[n++] = equality_of(f, &s->equalities.items[i], variables);
    return n;
}

static bool has_too_many_assumptions(const struct sentence *axiom)
{
    return axiom->truths.count + axiom->equalities.count > MAX_ASSUMPTIONS;
}

static Z3_ast body_of(struct formulas *f, const struct sentence *s, const Z3_app *variables)
{
    Z3_ast assumed[MAX_ASSUMPTIONS], goals[MAX_RULE_OUTPUTS];
    unsigned n = assumptions_of(f, s, variables, assumed);
    for (size_t i = 0; i < s->goals.count; i++)
        goals[i] = equality_of(f, &s->goals.items[i], variables);
    Z3_ast conclusion = s->goals.count == 1 ? goals[0] : Z3_mk_and(f->z3, (unsigned)s->goals.count, goals);
    return n ? Z3_mk_implies(f->z3, Z3_mk_and(f->z3, n, assumed), conclusion) : conclusion;
}

static Z3_ast literal_of_axiom(struct formulas *f, const char *name)
{
    for (size_t i = 0; i < f->axiom_names.count; i++)
        if (strcmp(f->axiom_names.items[i], name) == 0)
            return f->axiom_literals.items[i];
    Z3_ast literal = named_constant(f, name, SORT_TRUTH);
    vec_push(&f->axiom_names, name);
    vec_push(&f->axiom_literals, literal);
    return literal;
}

static Z3_pattern pattern_of(struct formulas *f, const struct trigger *trigger, const Z3_app *variables)
{
    Z3_ast terms[MAX_TRIGGER_TERMS];
    for (uint32_t i = 0; i < trigger->n; i++)
        terms[i] = term_of(f, trigger->terms[i], variables);
    return Z3_mk_pattern(f->z3, trigger->n, terms);
}

static Z3_ast formula_of_axiom(struct formulas *f, const struct sentence *axiom, const struct triggers *triggers)
{
    Z3_app variables[2 * MAX_RULE_VARIABLES];
    Z3_pattern patterns[MAX_TRIGGERS];
    for (uint32_t i = 0; i < axiom->n_variables; i++)
        variables[i] = variable_of(f, i, axiom->variables[i]);
    for (uint32_t i = 0; i < triggers->n; i++)
        patterns[i] = pattern_of(f, &triggers->items[i], variables);
    Z3_ast body = body_of(f, axiom, variables);
    return Z3_mk_forall_const(f->z3, 0, axiom->n_variables, variables, triggers->n, patterns, body);
}

void formulas_add_axiom(struct formulas *f, uint32_t number, const struct sentence *axiom,
                        const struct triggers *triggers, bool is_named)
{
    if (triggers->n == 0 || has_too_many_assumptions(axiom))
        return;
    while (f->axioms.count <= number)
        vec_push(&f->axioms, NULL);
    Z3_ast *formula = &f->axioms.items[number];
    if (!*formula)
        *formula = formula_of_axiom(f, axiom, triggers);
    assume(f, is_named ? Z3_mk_implies(f->z3, literal_of_axiom(f, axiom->name), *formula) : *formula);
}

// --- structure -------------------------------------------------------------------------------------------------------

struct application {
    uint32_t symbol;
    Z3_app variables[MAX_LOGIC_ARGUMENTS];
    Z3_ast arguments[MAX_LOGIC_ARGUMENTS], result, is_defined;
};

static struct application application_of(struct formulas *f, uint32_t symbol)
{
    const struct logic_symbol *s = &f->logic->symbols.items[symbol];
    struct application a = {.symbol = symbol};
    for (uint32_t i = 0; i < s->n_arguments; i++) {
        a.variables[i] = variable_of(f, i, s->arguments[i]);
        a.arguments[i] = Z3_app_to_ast(f->z3, a.variables[i]);
    }
    a.result = apply(f, symbol, a.arguments);
    a.is_defined = predicate_of(f, DEFINED, SORT_TENSOR, a.result);
    return a;
}

static void assume_of_all(struct formulas *f, const struct application *a, Z3_ast pattern, Z3_ast body)
{
    Z3_pattern of = Z3_mk_pattern(f->z3, 1, &pattern);
    assume(f, Z3_mk_forall_const(f->z3, 0, f->logic->symbols.items[a->symbol].n_arguments, a->variables, 1, &of, body));
}

// The predicate of all arguments that are tensors.
static Z3_ast all_of(struct formulas *f, const struct application *a, const char *predicate)
{
    const struct logic_symbol *s = &f->logic->symbols.items[a->symbol];
    Z3_ast of_tensors[MAX_LOGIC_ARGUMENTS];
    unsigned n = 0;
    for (uint32_t i = 0; i < s->n_arguments; i++)
        if (s->arguments[i] == SORT_TENSOR)
            of_tensors[n++] = predicate_of(f, predicate, SORT_TENSOR, a->arguments[i]);
    return Z3_mk_and(f->z3, n, of_tensors);
}

static Z3_ast rank_of(struct formulas *f, Z3_ast tensor)
{
    Z3_sort of = sort_of(f, SORT_TENSOR);
    Z3_func_decl rank = Z3_mk_func_decl(f->z3, Z3_mk_string_symbol(f->z3, "rank:T>A"), 1, &of, sort_of(f, SORT_LIST));
    return Z3_mk_app(f->z3, rank, 1, &tensor);
}

// The inputs of operators that keep ranks have the rank of the output, where that is defined.
static void add_ranks(struct formulas *f, const struct application *a)
{
    const struct logic_symbol *s = &f->logic->symbols.items[a->symbol];
    Z3_ast of_result = rank_of(f, a->result);
    for (uint32_t i = 0, n = 0; i < s->n_arguments && n < s->n_of_rank; i++) {
        if (s->arguments[i] != SORT_TENSOR)
            continue;
        n++;
        Z3_ast is_same = Z3_mk_eq(f->z3, of_result, rank_of(f, a->arguments[i]));
        assume_of_all(f, a, of_result, Z3_mk_implies(f->z3, a->is_defined, is_same));
    }
}

static void add_what_holds_of_operator(struct formulas *f, uint32_t symbol)
{
    const struct logic_symbol *s = &f->logic->symbols.items[symbol];
    struct application a = application_of(f, symbol);
    assume_of_all(f, &a, a.is_defined, Z3_mk_implies(f->z3, a.is_defined, all_of(f, &a, DEFINED)));
    if (s->keeps_plain) {
        Z3_ast is_plain = predicate_of(f, PLAIN, SORT_TENSOR, a.result);
        assume_of_all(f, &a, is_plain, Z3_mk_implies(f->z3, all_of(f, &a, PLAIN), is_plain));
    }
    add_ranks(f, &a);
}

// The value of a list of one known integer.
static bool is_known_integer(const struct logic_symbol *s, int64_t *ret_value)
{
    char end;
    return s->role == ROLE_CONSTANT && s->result == SORT_LIST &&
           sscanf(s->name, "[%" SCNd64 "%c", ret_value, &end) == 2 && end == ']';
}

static void add_comparison(struct formulas *f, const char *name, uint32_t x, uint32_t y)
{
    Z3_sort sorts[2] = {sort_of(f, SORT_LIST), sort_of(f, SORT_LIST)};
    Z3_ast values[2] = {apply(f, x, NULL), apply(f, y, NULL)};
    Z3_func_decl compares = Z3_mk_func_decl(f->z3, Z3_mk_string_symbol(f->z3, name), 2, sorts, sort_of(f, SORT_TRUTH));
    assume(f, Z3_mk_app(f->z3, compares, 2, values));
}

// How two known integers compare, of which y was met first or is x.
static void add_comparisons(struct formulas *f, uint32_t x, int64_t value, uint32_t y, int64_t other)
{
    if (value != other) {
        add_comparison(f, "differ:AA>B", x, y);
        add_comparison(f, "differ:AA>B", y, x);
    }
    add_comparison(f, "atmost:AA>B", value <= other ? x : y, value <= other ? y : x);
}

void formulas_add_structure(struct formulas *f, const struct relevance *r)
{
    int64_t value, other;
    for (size_t i = 0; i < r->symbols.count; i++) {
        const struct logic_symbol *s = &f->logic->symbols.items[r->symbols.items[i]];
        if (s->role == ROLE_OPERATOR)
            add_what_holds_of_operator(f, r->symbols.items[i]);
        for (size_t k = 0; is_known_integer(s, &value) && k <= i; k++)
            if (is_known_integer(&f->logic->symbols.items[r->symbols.items[k]], &other))
                add_comparisons(f, r->symbols.items[i], value, r->symbols.items[k], other);
    }
}

// --- obligations -----------------------------------------------------------------------------------------------------

static void add_choice(struct formulas *f, const struct choice *choice)
{
    Z3_ast cases[MAX_CHOICES];
    for (uint32_t i = 0; i < choice->n_values; i++) {
        struct logic_equality is_value = {choice->term, choice->values[i]};
        cases[i] = equality_of(f, &is_value, NULL);
    }
    assume(f, Z3_mk_or(f->z3, choice->n_values, cases));
}

static void add_alternatives(struct formulas *f, const struct sentence *s)
{
    Z3_ast alternatives[2 * MAX_RULE_OUTPUTS];
    for (size_t i = 0; i < s->alternatives.count; i++)
        alternatives[i] = term_of(f, s->alternatives.items[i], NULL);
    if (s->alternatives.count)
        assume(f, Z3_mk_or(f->z3, (unsigned)s->alternatives.count, alternatives));
}

void formulas_add_obligation(struct formulas *f, const struct sentence *s)
{
    Z3_ast goals[MAX_RULE_OUTPUTS];
    for (size_t i = 0; i < s->truths.count; i++)
        assume(f, term_of(f, s->truths.items[i], NULL));
    add_alternatives(f, s);
    for (size_t i = 0; i < s->equalities.count; i++)
        assume(f, equality_of(f, &s->equalities.items[i], NULL));
    for (size_t i = 0; i < s->choices.count; i++)
        add_choice(f, &s->choices.items[i]);
    for (size_t i = 0; i < s->goals.count; i++)
        goals[i] = equality_of(f, &s->goals.items[i], NULL);
    assume(f, Z3_mk_not(f->z3, Z3_mk_and(f->z3, (unsigned)s->goals.count, goals)));
}

// --- twins -----------------------------------------------------------------------------------------------------------

static void add_instance(struct formulas *f, const struct sentence *axiom, const Z3_app *variables)
{
    Z3_ast assumed[MAX_ASSUMPTIONS];
    unsigned n = assumptions_of(f, axiom, variables, assumed);
    for (unsigned i = 0; i < n; i++)
        assume(f, assumed[i]);
    for (size_t i = 0; i < axiom->goals.count; i++) {
        const logic_term sides[2] = {axiom->goals.items[i].left, axiom->goals.items[i].right};
        for (int side = 0; side < 2; side++)
            assume(f, predicate_of(f, DEFINED, SORT_TENSOR, term_of(f, sides[side], variables)));
    }
}

static Z3_ast some_value(struct formulas *f, const char *what, uint32_t number, logic_sort sort)
{
    char name[32];
    snprintf(name, sizeof name, "%s-%u", what, number);
    return named_constant(f, name, sort);
}

// A symbol whose first argument is a tensor, and which says something of its type, says the same of both.
static void say_the_same_of_twins(struct formulas *f, uint32_t symbol, Z3_ast one, Z3_ast twin)
{
    const struct logic_symbol *s = &f->logic->symbols.items[symbol];
    Z3_app others[MAX_LOGIC_ARGUMENTS];
    Z3_ast of_one[MAX_LOGIC_ARGUMENTS] = {one}, of_twin[MAX_LOGIC_ARGUMENTS] = {twin};
    for (uint32_t i = 1; i < s->n_arguments; i++) {
        others[i - 1] = variable_of(f, i, s->arguments[i]);
        of_one[i] = of_twin[i] = Z3_app_to_ast(f->z3, others[i - 1]);
    }
    Z3_ast x = apply(f, symbol, of_one), y = apply(f, symbol, of_twin), same = Z3_mk_eq(f->z3, x, y);
    Z3_pattern patterns[2] = {Z3_mk_pattern(f->z3, 1, &x), Z3_mk_pattern(f->z3, 1, &y)};
    assume(f, s->n_arguments == 1 ? same : Z3_mk_forall_const(f->z3, 0, s->n_arguments - 1, others, 2, patterns, same));
}

static void say_that_types_are_equal(struct formulas *f, logic_sort sort, Z3_ast one, Z3_ast twin)
{
    for (uint32_t i = 0; i < f->logic->symbols.count; i++) {
        const struct logic_symbol *s = &f->logic->symbols.items[i];
        bool is_of_type = s->role == ROLE_LIST || s->role == ROLE_PREDICATE;
        if (is_of_type && s->n_arguments > 0 && s->arguments[0] == sort)
            say_the_same_of_twins(f, i, one, twin);
    }
}

// An instance whose tensors have no cuts is one, if nothing looks at these.
static void say_that_tensors_are_plain(struct formulas *f, const struct sentence *axiom, const Z3_app *variables)
{
    for (uint32_t i = 0; i < axiom->n_variables && !axiom->looks_at_cuts; i++)
        if (axiom->variables[i] == SORT_TENSOR)
            assume(f, predicate_of(f, PLAIN, SORT_TENSOR, Z3_app_to_ast(f->z3, variables[i])));
}

void formulas_add_twins(struct formulas *f, const struct sentence *axiom, uint32_t variable)
{
    Z3_app values[2 * MAX_RULE_VARIABLES];
    if (has_too_many_assumptions(axiom))
        return;
    for (uint32_t i = 0; i < axiom->n_variables; i++)
        values[i] = Z3_to_app(f->z3, some_value(f, "some", i, axiom->variables[i]));
    add_instance(f, axiom, values);
    say_that_tensors_are_plain(f, axiom, values);
    Z3_ast one = Z3_app_to_ast(f->z3, values[variable]);
    Z3_ast twin = some_value(f, "twin", variable, axiom->variables[variable]);
    values[variable] = Z3_to_app(f->z3, twin);
    add_instance(f, axiom, values);
    say_that_tensors_are_plain(f, axiom, values);
    say_that_types_are_equal(f, axiom->variables[variable], one, twin);
    assume(f, Z3_mk_not(f->z3, Z3_mk_eq(f->z3, one, twin)));
}
