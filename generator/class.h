// What is kept of one class.
#ifndef GENERATOR_CLASS_H
#define GENERATOR_CLASS_H
#include "generator/classes.h"

// The members (two or more) have equal fingerprints; values are compared here. Adds to `f`.
void class_keep(const struct store *s, struct lookup *l, const struct member *members, size_t count,
                struct findings *f);
#endif
