// A device that exists on paper, for tests: every step costs a launch, plus the larger of its arithmetic and its memory
// traffic (a roofline). The same everywhere, always.
#ifndef BACKENDS_FAKE_FAKE_H
#define BACKENDS_FAKE_FAKE_H
#include "backends/backend.h"

struct fake_device {
    double seconds_per_launch, flops_per_second, bytes_per_second;   // all zero: 1e-5, 1e11, 1e10
};
// Estimates only: it cannot run models (EXIT_UNSUPPORTED).
struct backend *fake_backend_open(const struct fake_device *device, struct error *error);
#endif
