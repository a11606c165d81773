// How fast memory is right now.
//
// What one core gets from memory changes by half within seconds on a machine that others use too, and steps that read
// weights change with it: measured one after the other they would differ by when, not by what they are. So such a step
// is measured against a read of known size, by turns, and its cost is given for the speed that memory had when the
// cost database was begun (kept there as the cost of that read).
#pragma once
#include "core/system/clock.h"
#include <stdint.h>

struct cpu_backend;
struct memory_probe;

// Made at the first use; free it with memory_probe_free (NULL: nothing).
struct memory_probe *memory_probe_of(struct cpu_backend *b);
struct lap memory_probe_read(struct memory_probe *p);      // what the read takes now
double memory_probe_usual(const struct memory_probe *p);   // seconds that costs are given for
void memory_probe_free(struct memory_probe *p);

// Sums of columns of a matrix of rows (a multiple of 8) and columns (of 16). Reads it in several streams and ahead of
// use: one core gets twice as much from memory that way as from one stream.
void memory_read(float *sums, const float *from, int64_t rows, int64_t columns);
