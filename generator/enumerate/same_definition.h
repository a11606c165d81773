// A definition as a thing to be interned, by what it computes. Applications that differ in split trees alone mostly
// mean the same.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct definition;

uint64_t same_definition_hash(const struct definition *d);
// Equal expressions over inputs of equal shapes; split trees are not looked at.
bool is_same_definition(const struct definition *a, const struct definition *b);
