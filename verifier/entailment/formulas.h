// Sentences as formulas of Z3, in a context of their own.
#pragma once
#include "verifier/entailment/relevance.h"
#include <z3.h>

struct formulas {
    const struct logic *logic;
    Z3_context z3;
    VEC(Z3_ast) assumed;           // all that was added since the last formulas_clear
    VEC(Z3_sort) sorts;            // by logic_sort; NULL: not made yet
    VEC(Z3_func_decl) functions;   // by symbol; likewise
    VEC(Z3_ast) axioms;            // by number; likewise
    VEC(Z3_ast) axiom_literals;    // one for each name of an axiom
    VEC(const char *) axiom_names;
};
void formulas_init(struct formulas *f, const struct logic *l);
void formulas_free(struct formulas *f);
void formulas_clear(struct formulas *f);
// `is_named`: behind a literal, which a proof that uses the axiom names.
void formulas_add_axiom(struct formulas *f, uint32_t number, const struct sentence *axiom,
                        const struct triggers *triggers, bool is_named);
// Facts about the symbols that hold whatever the axioms are: arguments of what is defined are defined; where no
// split tree goes in none comes out; how known integers compare.
void formulas_add_structure(struct formulas *f, const struct relevance *r);
// The assumptions, and the goals denied.
void formulas_add_obligation(struct formulas *f, const struct sentence *s);
// An instance of the axiom's assumptions, at which both of its sides are well-typed, and another one that differs from
// it in one variable: these two are said to differ.
void formulas_add_twins(struct formulas *f, const struct sentence *axiom, uint32_t variable);
