// Domains: where quotients, logarithms, roots have no value. Proofs take them for functions with a value everywhere.
#pragma once
#include "instances/equation.h"

// Are both sides undefined at the same numbers? Coefficients are positive where nothing subtracts, so that no term is
// lost; maxima, choices and zeros may lose one.
bool text_keeps_domains(const struct equation *eq);
// Is a property that is true so whatever function stands for a partial operator in it? Then nothing that is derived
// from it cancels one. It is if entries pass one such operator, the same on both sides, between each variable and the
// result, and are only moved elsewhere: 1 / (1 / x) = x is not.
bool text_moves_partial_functions(const struct equation *eq);
