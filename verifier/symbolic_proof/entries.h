// Equality of entries that are formulas of the entries at their place, by Z3's arithmetic of real numbers
// (docs/theory/symbolic.md, S10).
#pragma once
#include <stdbool.h>

struct family;
struct z3_session;

// False: they are of another form, or it is not known.
bool entries_are_equal(struct family *f, struct z3_session *session);
