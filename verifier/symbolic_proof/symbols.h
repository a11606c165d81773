// Symbols for sizes and entries of attributes, and equations of them: what typing says (docs/theory/symbolic.md, S3) is
// assumed, or, of nodes that are not assumed to be well-typed, asked.
#pragma once
#include "verifier/symbolic_proof/family.h"

void family_add_sizes(struct family *f, uint32_t variable);
// `n` entries: `ints`, or symbols where it is NULL.
void family_add_list(struct family *f, uint32_t variable, enum attribute_role role, uint32_t n, const int64_t *ints);
poly family_resolved(struct family *f, poly a);   // with the values of symbols that have one
void family_equal(struct family *f, poly a, poly b);
void family_not_negative(struct family *f, poly a);
// The same as family_not_negative, but assumed as an equation with a symbol of its own, by which sizes are found
// where it is so.
void family_at_least_zero(struct family *f, poly a, const void *asked_by, uint32_t entry);
poly family_exact_quotient(struct family *f, poly a, poly b, const void *asked_by, uint32_t entry);   // a is a multiple
poly family_remembered_cut(struct family *f, uint32_t variable, int axis);   // and the size is that and one part more
