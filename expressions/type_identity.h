// Types with their split trees as things to be interned.
#pragma once
#include "expressions/type.h"

uint64_t type_identity_hash(const struct type *type);                 // of shape and split trees
bool type_is_identical(const struct type *a, const struct type *b);   // in both
struct type type_copy(struct arena *a, const struct type *type);      // with the trees
