// Expressions again, with others in the place of variables, and one tensor in the place of another.
#pragma once
#include "expressions/composition/pool.h"

#define NO_SCOPE (-1)
enum { MOST_REPLACED = 40, MOST_PARTS = 2 };
struct replacement {
    uint32_t variable;
    expr by;
};
struct replaced_part {
    expr part, by;
};
struct substitution {
    int n;
    struct replacement items[MOST_REPLACED];   // the last one of a variable counts
    int n_parts;
    struct replaced_part parts[MOST_PARTS];
    int tensor, by_tensor;   // reads of the first read the second; 0 and 0: none do
};
void substitution_add(struct substitution *s, uint32_t variable, expr by);
// A part that is no variable: a quotient, say. It is replaced as a whole, and nothing in it.
void substitution_add_part(struct substitution *s, expr part, expr by);
// Reads that may leave their tensor where the one before did not are 0 there: whoever substitutes knows that nobody
// looks at these entries, or that they are 0. A read of `by_tensor`, if that is no more than a read of another tensor,
// becomes one of that (traversal merging of copies).
expr substitution_apply(struct pool *p, const struct substitution *s, expr e);

// Is the scope no more than a read of another tensor, which is 0 outside, or never outside?
bool scope_is_copy(const struct pool *p, int tensor);
