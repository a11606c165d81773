// Is what was made of several rules wrong at other permutations of axes than theirs?
#pragma once
#include "generator/unify/one_rule.h"

// Do both sides of u->rule have types, and not the same ones, at the tensors of an example and some permutations?
bool unifying_is_ill_ordered(const struct unifying *u);
