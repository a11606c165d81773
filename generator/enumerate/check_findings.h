// Findings that come from a file, which may say anything, against the family that they are said to be of.
#pragma once
#include "generator/enumerate/find_classes.h"

// Each member is a well-typed term of the family with as many operators as it says, `max_ops` at most, and stands in
// its class in the order of levels and keys. (Whether members of a class are equal is asked of every rule, later.)
bool findings_are_sound(struct family_types *u, int max_ops, const struct findings *f);
