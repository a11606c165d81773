// A listener that wants an end whenever it is asked: `interrupt_listen(&interruption)`. That is at once, and afterwards at
// most every 20 ms of a real clock.
#pragma once
#include "core/system/interrupt.h"

static inline bool wants_end(void *context)
{
    return true;
}

static const struct interrupt_listener interruption = {wants_end, NULL};
