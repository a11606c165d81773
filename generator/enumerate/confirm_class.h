// Confirming one class: the terms of it that are kept.
#pragma once
#include "generator/enumerate/find_classes.h"

// The members have equal fingerprints; values are compared here. Of terms whose supports are not first only stored ones
// need be there. Adds to `f`.
void class_confirm(const struct tensor_store *s, struct lookup *l, const struct member *members, size_t count,
                   struct findings *f);
