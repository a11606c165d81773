// Which proved rules an optimizer should search with: those that can match, can help, and do not follow from others.
//
// A generated rule is judged by its form and by examples (example.h), never by its name:
//   1. Source. It goes when its source is in parts that share no tensor: any two places of a model would match. A
//      tensor that the source reads n times counts n - 1 coincidences, and one more where one operator reads it
//      twice; it goes when it wants more than `max_coincidences`: each makes a match less likely.
//   2. Gain. A rule gains when for some example, and some of its variables being weights, its target is better than
//      its source (work.h). It is kept for the fewest weights with which it gains. A rule that never gains goes, and
//      one that needs more products than its source when nothing is a weight; also when both sides are equal: a
//      search has to visit every arrangement that such rules lead to before it goes uphill.
//   3. Field. It goes when an example is no equation over the prime field, where a search checks every application.
//   4. Reach. It goes when its source has an operator that no model has and that no other rule's target makes there.
//   5. Need. It goes when others derive it: from the source of each of its examples at most `max_steps` rewrites by
//      kept rules lead to its target, or to something no worse in any measure. Rules are looked at from the smallest
//      to the largest; then each that was kept once more, the largest first, against all others: of two that say the
//      same the general one stays. A rule that is proved follows from proved ones only.
// Rules that somebody wrote, knowing what they are good for, are kept; the others are asked whether they follow from
// them.
#pragma once
#include "substitutions/rule.h"

enum rule_use {
    RULE_IS_KEPT,
    RULE_IS_APART,
    RULE_IS_A_COINCIDENCE,
    RULE_HAS_NO_EXAMPLE,
    RULE_ONLY_COSTS,
    RULE_ONLY_MOVES,
    RULE_IS_REFUSED,
    RULE_NEVER_MATCHES,
    RULE_IS_DERIVED,
    RULE_IS_LARGE,
    RULE_USES,
};
const char *rule_use_name(enum rule_use use);

struct selection {
    size_t n_generated;   // of the set's rules; those behind them were written by somebody
    int max_coincidences, max_steps, max_graphs, max_operators, threads;   // max_operators: for e-graphs only
    size_t n;
    enum rule_use *uses;         // of each rule, in the order of the set
    const struct rule **rules;   // the rule, for weights where it gains with them only
    struct arena *arena;         // of the set: what is made goes there
};
void selection_make(struct selection *s, const struct rule_set *set);
void selection_free(struct selection *s);
int rule_compare_sizes(const struct rule *x, const struct rule *y);   // the smallest first, of these the most general
