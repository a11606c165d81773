// Both clocks of the C library as seconds.
#include "core/clock.h"
#include <time.h>

static double seconds_of(clockid_t id)
{
    struct timespec now;
    return clock_gettime(id, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

double clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double clock_cpu_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
