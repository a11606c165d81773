// Writes the cost database now and then while tuning, so that who is killed loses hardly more than the trials under
// way: as often as writing it takes a small share of the time.
#pragma once
#include "backends/contract/backend.h"

struct saving {
    double last, took;   // seconds on the clock; that the last one took
};
void saving_consider(struct saving *s, struct backend *b);
