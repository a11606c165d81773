// Do loops touch each other's results? Those that do not are parts of one launch.
#pragma once
#include "backends/generated/kernels.h"

// Does no loop read or write what another one writes? Two that fill boxes of one tensor are known to be apart when
// their strides are equal and the distance of their corners is along one axis; where that is not seen the answer is no.
bool loops_are_independent(int n, const struct loop *loops);
