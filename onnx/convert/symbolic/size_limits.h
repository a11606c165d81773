// Symbols that tables limit: positions of 64 rows that are cut to a length, or gathered up to it, allow no more than
// 64.
#pragma once
#include "onnx/convert/symbolic/lockstep.h"

// Lowers the sizes that symbols, of which all are multiples of these units, may have at most, to what tables allow that
// are cut or gathered from by sizes at the probes. False: all probes are within.
bool find_size_limits(struct lockstep *l, const int64_t *units, int64_t *most);
