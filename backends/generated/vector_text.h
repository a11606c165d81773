// Texts of kernels share vectors of an instruction set, loads and stores of them, functions of values to 3 ulp (exp,
// sigmoid, tanh, erf, also of infinities and NaN), and the instructions of loops.
#pragma once
#include "backends/generated/loop_text.h"

// LANES, I (an integer of 64 bits), V (a vector), SELECT, ALL, and NAMED(load), NAMED(store), NAMED(max), ...;
// IN_REGISTER(v): v is loaded once, and not by each instruction that reads it.
void vector_text_begin(struct text *text, int lanes);
// A constant, or a function that texts have.
bool vector_text_knows(const struct instruction *i);
extern const struct dialect vector_dialect;
