// Verdicts of contests among whole plans, as rows of the cost database, so that they are shared, merged and forgotten
// as costs are:
//     ("contest 8f3a..." 7.54e-2 0.01 "91bc... 22d0... 1.046 1.031 1.06 7" (run 1795942800))
// By the fingerprint of all plans that take part: the seconds of a run of the winner; the fingerprints of the fastest
// original and of the fastest result, and how many times longer a run of the former takes, with the interval and the
// number of loads (0: there is no result). A row of a contest of two plans is their verdict.
#pragma once
#include "core/numbers/paired_ratios.h"
#include <stdint.h>

struct cost_database;

struct verdict {
    uint64_t original, result;   // fingerprints; 0: no result took part
    struct ratio_summary gain;
    double seconds, spread;   // of a run of the result, or of the original
    uint32_t run;             // of the program that held the contest (cost_database.h)
};
bool verdict_has(const char *key);   // is a row of the database one of these?
bool verdict_find(const struct cost_database *costs, uint64_t contest, struct verdict *ret_verdict);
void verdict_keep(struct cost_database *costs, uint64_t contest, const struct verdict *verdict);
