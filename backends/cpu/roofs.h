// Roofs: the most that the processor and its memory do.
#pragma once
#include "backends/cpu/kernel.h"

bool cpu_roofs(struct backend *b, struct roofs *ret_roofs);
