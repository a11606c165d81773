// What the processor and its memory do at most.
#pragma once
#include "backends/cpu/kernel.h"

bool cpu_roofs(struct backend *b, struct roofs *ret_roofs);
