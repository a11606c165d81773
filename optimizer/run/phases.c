// Clocks, read whenever a phase gives way to another.
#include "optimizer/run/phases.h"

#include "core/system/clock.h"

const char *const phase_names[N_PHASES] = {
#define PHASE_NAME(constant, name) [constant] = name,
    PHASES(PHASE_NAME)
#undef PHASE_NAME
};

void phases_start(struct phases *ret_phases)
{
    *ret_phases =
        (struct phases){.now = PHASE_IMPORTING, .since = clock_seconds(), .processor_since = clock_cpu_seconds()};
}

enum phase phases_enter(struct phases *p, enum phase next)
{
    enum phase former = p->now;
    double now = clock_seconds(), processor_now = clock_cpu_seconds();
    p->seconds[former] += now - p->since;
    p->processor_seconds[former] += processor_now - p->processor_since;
    p->since = now;
    p->processor_since = processor_now;
    p->now = next;
    return former;
}
