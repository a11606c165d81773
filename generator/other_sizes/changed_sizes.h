// A substitution at other sizes than the enumeration's: is it true there, and which sizes belong together?
//
// Equal at the enumeration's sizes may be luck (1x1 kernels, H = 12). So every size that occurs in a rule (an axis of a
// variable, an entry of a constant's shape, an enlarged kernel's size) is changed: alone, or with the least set of
// others that keeps both sides well-typed. Sizes that change together are one *class*. The rule must hold at all
// changes that are well-typed; else it is false, or, where the size is that of a kernel's window, the rule needs the
// condition that the size is what it is.
#pragma once
#include "generator/enumerate/size_test.h"

enum { MAX_WINDOW_SIZE = 3 };
bool shapes_have_condition(const struct shapes *s);
// Verdicts by the stage of the tests that gave them, for the counts.
enum shapes_verdict { SHAPES_HOLD, SHAPES_FALSE_AT_OTHER_SIZES, SHAPES_FALSE_ON_REALS, SHAPES_NEVER_TESTED };

// An equation that tested rules derive, or that was tested in the other direction, is true where these are: which sizes
// belong together is decided by types alone, and confirmed at three changes of each class and at the mixed assignments.
// If one of them refutes it, all is judged as if nothing were known.
enum evidence { EVIDENCE_NONE, EVIDENCE_DERIVED };
enum shapes_verdict shapes_test(const struct rule_graph *rg, struct evaluation_cache *calls, enum evidence evidence,
                                struct shapes *ret_shapes);
// The value of every size at an example: at 0 the enumeration's, then at each mixed assignment.
void shapes_sizes(const struct shapes *s, int example, int64_t *ret_sizes);
