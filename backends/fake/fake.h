// A device that exists on paper, for tests: every step costs a launch, plus the larger of its arithmetic and its memory
// traffic (a roofline). The same everywhere, always.
#pragma once
#include "backends/contract/backend.h"

struct fake_device {
    double seconds_per_launch, flops_per_second, bytes_per_second;   // all zero: 1e-5, 1e11, 1e10
    bool has_layouts;     // convolutions, pooling and products can write in several layouts
    bool has_parts;       // everything can be written within the result of a concatenation
    uint64_t scatter;     // not 0: every step's cost is multiplied by a number of its own, from 1/2 to 2, by this seed
    double least_share;   // layout_support
    double of_rows;       // not 0: operators on images that stand in rows take so many times longer
};
// Costs only: it has no executor.
struct backend *fake_backend_open(const struct fake_device *device, struct error *error);
