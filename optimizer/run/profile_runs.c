// Warming up, then as many runs as fit in the time, within both bounds.
#include "optimizer/run/profile_runs.h"

#include "optimizer/run/contest.h"
#include <math.h>

double profile_runs_seconds(double of_run)
{
    return of_run * contest_runs_to_warm_up(of_run) +
           fmin(PROFILE_MOST_RUNS * of_run, fmax(PROFILE_SECONDS, PROFILE_LEAST_RUNS * of_run));
}
