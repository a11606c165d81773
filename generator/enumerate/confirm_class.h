// Confirming one class: the terms of it that are kept.
#pragma once
#include "generator/enumerate/evaluation_cache.h"
#include "generator/enumerate/find_classes.h"

// Compares the values of members that have equal fingerprints, and adds the terms that are kept to `f`. Of terms whose
// supports are not first, only those that are stored have to be among the members.
void class_confirm(const struct tensor_store *s, struct lookup *l, struct evaluation_cache *calls,
                   const struct member *members, size_t count, struct findings *f);
