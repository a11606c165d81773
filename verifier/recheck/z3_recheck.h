// The direct proof looked at a second time: an instance decided by Z3's real arithmetic instead of our polynomials.
//
// The definitions are executed by the evaluator that also makes numbers (evaluate.inc), on terms of Z3:
// sums and products are its own, maxima are case distinctions, other functions are uninterpreted. Neither the evaluator
// nor the normal forms of the proof take part, so that an error in one of them is a disagreement.
#pragma once
#include "verifier/instances/instance.h"

enum recheck_verdict {
    RECHECK_EQUAL,
    RECHECK_DIFFERENT,   // Z3 has a counterexample
    RECHECK_UNKNOWN,   // it gave up, or would need laws that it does not have: of reciprocals, of increasing functions
    RECHECK_NOTHING,   // no values to compare: ill-typed, other types, or a meaning that depends on data
    RECHECK_VERDICTS,
};

struct recheck;
struct recheck *recheck_make(void);   // for one thread
void recheck_free(struct recheck *r);
// All nodes of the instance were typed.
enum recheck_verdict recheck_instance(struct recheck *r, struct instance *in);
