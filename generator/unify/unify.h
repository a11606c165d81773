// Rules that differ in attribute values alone, as one rule (anti-unification): found for ranks 1 to 4 one by one, or
// for some windows, and now for all. What differs in the source becomes an attribute variable, one for all places that
// have the same values in all rules; what differs in the target has to be a term over it and the sizes of tensors
// (list_terms.h). Where there is none, those are tried together that have the same there, or what some term says; and,
// in any case, those that agree somewhere in the source. A source's variable that is such a term itself is said to be
// it (`(= $perm (iota (rank ?x)))`), unless some of the rules has it free; so are the sizes of a tensor on which the
// rules have conditions that differ.
//
// That the rules hold makes nothing of this true: what is found is a candidate.
#pragma once
#include "core/memory/vec.h"
#include "substitutions/rule.h"

// An instance at which a rule holds: what its tensor variables are, and the attributes of each of its nodes. (These are
// more than the rule says: where it has a number, the instance may have another one that goes as well.)
struct unify_example {
    const struct type *const *tensors;
    const struct attribute_value *const *attributes;
};
struct unify_member {
    const struct rule *rule;
    size_t n_examples;
    const struct unify_example *examples;
};
struct unified_rule {
    const char *body;   // source, target and conditions
    size_t n_members;   // that it was made of
    size_t first;       // of these
};
typedef VEC(struct unified_rule) unified_list;

// Equal for rules that differ only in attributes that are integers, and in conditions.
void rule_print_skeleton(struct text *out, const struct rule *r);
// Adds what is made of at least two of the members, which have one skeleton. All is allocated in `a`.
void rules_unify(struct arena *a, const struct unify_member *members, size_t n, unified_list *ret_rules);
