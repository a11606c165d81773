// Random extraction problems that are small enough to try every selection, and the trying.
#pragma once
#include "egraph/extraction/problem.h"

struct random;

enum { MAX_SMALL_CLASSES = 10 };
struct selection {
    double cost;
    uint32_t choice[MAX_SMALL_CLASSES];   // EXTRACTION_NONE where nothing is needed
};
struct selections {
    VEC(struct selection) list;   // cheapest first
};

// With cycles, shared classes, repeated children, nodes of cost 0 and some that may not be taken; costs are multiples
// of 1/8, so that sums are exact. One to three roots; not always solvable.
void small_problem_make(struct extraction_problem *ret_problem, struct random *r);
// As Tensat's rules make them: operators that may be merged in pairs, and pairs with others, where a merged one can be
// split into its parts and the parts joined to it. Two to four roots that are not merged.
void small_problem_make_merges(struct extraction_problem *ret_problem, struct random *r);
// Every valid selection, found without any code of the layer that is tested.
void small_problem_try_all(const struct extraction_problem *p, struct selections *ret_all);
