// Programs and searches as text.
#pragma once
#include "derivation/search/search.h"

// Operators of a program that are not of weights alone, one after the other: "matmul (f32 54 5) (f32 5 49); conv ...".
void applications_print(struct text *out, struct derivation *dv, int program);
// The formulas of all scopes, and which of them are operators, computed beforehand, or names for what there is.
void program_print(struct text *out, struct derivation *dv, int program);
// The rules that lead to a state, the first one first: "split sum, substitute axes, tighten".
void search_print_path(struct text *out, const struct search *s, int state);
void search_print_counters(struct text *out, const struct search *s);
