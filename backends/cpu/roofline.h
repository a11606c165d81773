// Rooflines: The most that the processor and its memory do.
#pragma once
#include "backends/cpu/kernel.h"

bool cpu_roofline(struct backend *b, struct roofline *ret_roofline);
