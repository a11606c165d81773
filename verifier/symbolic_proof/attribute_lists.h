// Lists of integers over symbols: terms of attributes, and conditions on them.
#pragma once
#include "verifier/symbolic_proof/family.h"

bool family_list(struct family *f, const struct attribute_term *t, struct list_of_polys *ret);   // its value
bool family_assume_condition(struct family *f, const struct condition *c);
bool family_evaluate_attributes(struct family *f, uint32_t node);
