// Which attribute term says what a list of integers is? Given are examples: what variables stand for, and the list that
// is wanted at each. A term is looked for that has the wanted list at all of them, as lists one behind the other: the
// fewest that do, each of a fixed number of forms (sizes and ranks of tensors, attribute variables, parts of lists,
// repeated numbers, orders). It is a guess, as good as the examples: whoever needs certainty proves what is made of it.
#pragma once
#include "core/memory/vec.h"
#include "substitutions/rule.h"

enum { MAX_LISTS = 4 };   // one behind the other
#define NO_TENSOR UINT32_MAX

// A form with its values, which are computed when they are asked for.
struct list_atom {
    const struct attribute_term *term;
    struct attribute_value *values;   // of each example
    int8_t *states;                   // of each example: not computed yet, a value, none
};
struct list_terms {
    struct arena *arena;
    size_t n_examples;
    const struct term_bindings *examples;
    VEC(struct list_atom) atoms;
};
// Terms over the tensor variables and those attribute variables that are in `usable` (bit i), which all examples bind.
// Everything is allocated in `a`; the examples are kept.
void list_terms_init(struct list_terms *l, struct arena *a, const struct term_bindings *examples, size_t n_examples,
                     uint32_t n_tensors, uint32_t usable);
// The first entries of those variables too. (Among all forms they would put any list together that is short.)
void list_terms_add_entries(struct list_terms *l, uint32_t usable);
void list_terms_free(struct list_terms *l);
// `wanted` has a list for each example. At most `max_lists` terms, of which none speaks of the sizes of the tensor
// `except`, only of its rank (NO_TENSOR: any may).
bool list_terms_find(struct list_terms *l, const struct attribute_value *wanted, int max_lists, uint32_t except,
                     struct attribute_pattern *ret_pattern);
// Has the form the value at the example?
bool list_terms_has(struct list_terms *l, size_t form, size_t example, const struct attribute_value *value);
