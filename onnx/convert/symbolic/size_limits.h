// Symbols that tables limit: positions of 64 rows that are cut to a length, or gathered up to it, allow no more than
// 64.
#pragma once
#include "onnx/convert/symbolic/lockstep.h"

struct size_limits {
    int64_t most[MAX_SYMBOLS];      // by symbol: what all tables allow where none is larger than the others
    VEC(struct size_limit) found;   // what a table allows, of symbols together
};

// Lowers the sizes that symbols, of which all are multiples of these units, may have at most, to what tables allow that
// are cut or gathered from by sizes at the probes. False: all probes are within.
bool find_size_limits(struct lockstep *l, const int64_t *units, struct size_limits *limits);
void size_limits_forget(struct size_limits *limits);   // {0} at first
