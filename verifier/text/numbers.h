// Equations of real numbers, as their text says: what is proved says nothing of others. Integers overflow, and their
// quotients are cut off; where they are moved alone they are what real numbers are.
#pragma once
#include "instances/equation.h"

// Does the text say that both sides of each output have one element type, whatever those of variables are?
bool text_has_element_types(const struct equation *eq);
// Is nothing computed with integers, made one, infinite by a number in the text, or asked whether it is a number?
bool text_is_of_real_numbers(const struct equation *eq);
