// How fast memory is right now.
//
// What one core gets from memory changes by half within seconds on a machine that others use too, and steps that read
// weights change with it: measured one after the other they would differ by when, not by what they are. So such a step
// is measured against a read of known size, by turns, and its cost is given for the speed that memory had when the
// cost database was begun (kept there as the cost of that read).
#ifndef BACKENDS_CPU_MEMORY_PROBE_H
#define BACKENDS_CPU_MEMORY_PROBE_H
#include "core/system/clock.h"

struct cpu_backend;
struct yardstick;

// Made at the first use; free it with yardstick_free (NULL: nothing).
struct yardstick *yardstick_of(struct cpu_backend *b);
struct lap yardstick_read(struct yardstick *y);      // what the read takes now
double yardstick_usual(const struct yardstick *y);   // seconds that costs are given for
void yardstick_free(struct yardstick *y);
#endif
