// What the requirements of theorems.c ask of the text of an equation.
#pragma once
#include "verifier/bounds/forms/theorems.h"

bool form_is_integer(const struct attribute_term *t);
bool form_is_variable(const struct attribute_term *t);
// Are all terms of the attribute such?
bool form_is_list_of(const struct attribute_pattern *a, bool (*is_such)(const struct attribute_term *t));
// Does a theorem speak of the condition (T3)?
bool form_names_condition(const struct pattern *p, const struct condition *c);
// Does the condition say the same of tensors with one axis more, which nothing names, or one part more (T4, T6)?
bool form_condition_keeps_ranks(const struct pattern *p, const struct condition *c);
// Is the attribute one variable?
bool form_is_one_variable(const struct attribute_pattern *a);
// Is the attribute the quotient of channels that a convolution's number of groups is?
bool form_is_number_of_groups(const struct pattern *p, const struct pattern_node *node, int attribute);
// How many parts a condition says a list of parts has; 0: none does.
int64_t form_length_of_parts(const struct equation *eq, uint32_t variable);
// Is a permutation a variable, and does all that both sides do rename entries (T7)? Then ranks do not matter.
bool form_renames_entries(const struct equation *eq);
// Has the term a value whatever its variables are (T14)?
bool form_is_defined_everywhere(const struct pattern *p, term_id term);
// Is a written element type, of a constant or a cast, not that of floating-point numbers, or open?
bool form_makes_other_numbers(const struct pattern_node *node);
// An operator that computes with what are integers by the text (T1), or NULL.
const struct operator* form_computes_integers(const struct equation *eq);

// The requirements, by theorem; false: `q->why` says why not.
bool form_names_operators(const struct form_question *q);
bool form_is_of_real_numbers(const struct form_question *q);
bool form_names_attributes(const struct form_question *q);
bool form_names_conditions(const struct form_question *q);
bool form_has_ranks(const struct form_question *q);
bool form_has_ranks_of_windows(const struct form_question *q);
bool form_has_lengths_of_parts(const struct form_question *q);
bool form_has_permutations(const struct form_question *q);
bool form_has_numbers(const struct form_question *q);
bool form_has_groups(const struct form_question *q);
bool form_has_windows(const struct form_question *q);
bool form_has_functions_defined(const struct form_question *q);
bool form_has_element_types(const struct form_question *q);

// --- ranks that the text fixes (fixed_ranks.c) -----------------------------------------------------------------------

#define MAX_FORM_TERMS (MAX_RULE_VARIABLES + MAX_RULE_NODES * 4)
// The rank of each term where the text says it. The right side of a matmul whose left side has a rank has one of two.
struct fixed_ranks {
    const struct pattern *p;
    size_t n_terms;
    int of_term[MAX_FORM_TERMS];
    bool has_changed;
};

void find_fixed_ranks(const struct equation *eq, struct fixed_ranks *ret);
int known_rank(const struct fixed_ranks *r, term_id term);   // or RANK_OPEN
bool has_open_ranks(const struct fixed_ranks *r);
int largest_fixed_rank(const struct fixed_ranks *r);
// How many entries a written shape has, or RANK_OPEN.
int rank_of_shape(const struct pattern_node *node);
// How many axes a reduction takes away: 0 where it keeps them; RANK_OPEN where the text does not say.
int dropped_axes(const struct pattern_node *node);
