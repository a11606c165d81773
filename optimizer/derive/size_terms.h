// Which attribute term says what an integer is? Given are examples: what variables stand for, and the integer that is
// wanted at each. Tried are sizes, sums, differences, products and quotients of two of these, of two such pairs, and
// multiples of all with a number added. What was found is tried again, as one of the first, so that what is said of a
// shape helps with what is made of it. It is a guess, as good as the examples.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"
#include "substitutions/attribute_term.h"

struct size_form {
    const struct attribute_term *term;
    const int64_t *values;   // at the examples
};
struct size_terms {
    struct arena *arena;
    size_t n_examples;
    const struct term_bindings *examples;
    VEC(struct size_form) forms;
    VEC(uint32_t) plain;   // those that are no pairs of others
    struct table by_values;
};
// Over that many tensor variables, which have equal ranks in all examples. All is allocated in `a`; the examples are
// kept.
void size_terms_init(struct size_terms *s, struct arena *a, const struct term_bindings *examples, size_t n_examples,
                     uint32_t n_tensors);
void size_terms_free(struct size_terms *s);
// NULL: none of these has the wanted value at each example.
const struct attribute_term *size_terms_find(struct size_terms *s, const int64_t *wanted);
