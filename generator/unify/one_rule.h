// Members as one rule (unify.h), if there is one.
#pragma once
#include "generator/unify/list_terms.h"
#include "generator/unify/unify.h"

struct unifying {
    struct arena *arena;
    const struct unify_member *members;
    size_t n, n_examples;
    struct rule rule;                 // what is made
    uint32_t known, free_of_terms;    // sets of its attribute variables: those of the source; those that no term is for
    struct term_bindings *examples;   // of all members, over the variables of what is made
    struct attribute_value *values;   // of these, MAX_RULE_VARIABLES of each example
    struct list_terms terms;
};
struct place {
    size_t node;
    int attribute;
};

enum unifying_result {
    UNIFYING_DONE,
    UNIFYING_NO_TERM,   // for a place of the target, or the members say there what no rule could
    UNIFYING_NO_ROOM,   // for another variable
};
// Gives u->rule, or the place that no term is found for. Free it, whatever the result is; all else is in `a`.
enum unifying_result unifying_run(struct unifying *u, struct arena *a, const struct unify_member *members, size_t n,
                                  struct place *ret_failed);
void unifying_free(struct unifying *u);
// The next variable of what was made, from `first` on, of which neither the target nor a condition speaks, and no other
// place of the source, unless some of the members have it free; and its last place. MAX_RULE_VARIABLES: none.
uint32_t unifying_find_unspoken(const struct unifying *u, uint32_t first, struct place *ret_place);

bool attribute_may_differ(const struct operator* op, int attribute);   // between members
// The text of what a member has at a place.
const char *unifying_text(struct arena *a, const struct unify_member *m, size_t node, int attribute);
// The values at a place at all examples, one behind the other.
struct attribute_value *unifying_values(const struct unifying *u, size_t node, int attribute);
