// Texts of kernels share vectors of an instruction set, loads and stores of them, functions of values to 3 ulp (exp,
// sigmoid, tanh, erf, also of infinities and NaN), and the instructions of loops.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct instruction;
struct loop;
struct text;

// LANES, I (an integer of 64 bits), V (a vector), SELECT, ALL, and NAMED(load), NAMED(store), NAMED(max), ...;
// IN_REGISTER(v): v is loaded once, and not by each instruction that reads it.
void vector_text_begin(struct text *text, int lanes);
// A constant, or a function that texts have.
bool vector_text_knows(const struct instruction *i);
#define VECTOR_NAME_SIZE 16
// x3: operand 3 of a loop; t3: what its instruction 3 gives.
void vector_text_name(uint16_t value, char ret_name[VECTOR_NAME_SIZE]);
void vector_text_add(struct text *text, const struct loop *l, int number);   // V t<number> = ...;
