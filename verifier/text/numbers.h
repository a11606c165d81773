// Equations of real numbers, as their text says: what is proved says nothing of others. Integers overflow, and their
// quotients are cut off.
#pragma once
#include "instances/equation.h"

// Are both sides of each output floating-point numbers of one type, whatever those of variables are?
bool text_has_element_types(const struct equation *eq);
// Are all numbers floating-point ones, and is none infinite by the text, or asked whether it is a number?
bool text_is_of_real_numbers(const struct equation *eq);
// Does each function that is not defined everywhere have arguments inside of its domain, whatever entries are?
bool text_is_defined_everywhere(const struct equation *eq);
