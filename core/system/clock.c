// The clocks of the C library as seconds, and what tells of other programs: a thread that works without waiting takes
// as long on the clock as its processor time says, and is switched away from only when it waits.
#include "core/system/clock.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MOST_LOST 0.03   // share of the time that may be lost, and seconds besides
#define MOST_LOST_SECONDS 2e-5

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

double clock_thread_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

static long involuntary_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

// The clock is read last, and first when it stops: asking the system takes a microsecond.
void stopwatch_start(struct stopwatch *ret_watch, bool is_alone)
{
    ret_watch->switches = is_alone ? 0 : involuntary_switches();
    ret_watch->thread = clock_thread_seconds();
    ret_watch->wall = clock_seconds();
}

struct lap stopwatch_stop(const struct stopwatch *watch, bool is_alone)
{
    double wall = clock_seconds() - watch->wall, thread = clock_thread_seconds() - watch->thread;
    if (!is_alone)
        return (struct lap){wall, involuntary_switches() > watch->switches};
    return (struct lap){wall < thread ? wall : thread, wall > thread * (1 + MOST_LOST) + MOST_LOST_SECONDS};
}

// cpu  user nice system idle iowait irq softirq steal ...   in ticks
double clock_stolen_seconds(void)
{
    unsigned long long stolen = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (!f)
        return 0;
    if (fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
        stolen = 0;
    fclose(f);
    return (double)stolen / (double)sysconf(_SC_CLK_TCK);
}
