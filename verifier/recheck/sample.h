// Which instances of a direct proof are looked at a second time (z3_recheck.h): all in which every size is 2, and of
// the others a sample that depends on a seed and the equation's name alone.
#pragma once
#include "verifier/direct_proof/judge.h"
#include "verifier/recheck/z3_recheck.h"

struct sample {
    struct recheck *recheck;
    uint64_t seed;
    uint64_t met;                        // instances of the equation so far
    uint64_t only;                       // number of the one instance to look at; 0: the sample
    uint64_t last;                       // number of the last one looked at
    enum recheck_verdict last_verdict;   // what was said of it
    uint64_t counts[RECHECK_VERDICTS];
};
// As judge_equation; what Z3 says of the instances of the sample is counted, and of the one that refutes the equation.
// False: Z3 contradicts the polynomials.
bool sample_equation(struct sample *s, struct judge *j, const struct equation *eq, struct judgement *ret_result);
