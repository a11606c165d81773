// How often a model is run for the costs of its steps.
#pragma once

#define PROFILE_LEAST_RUNS 3
#define PROFILE_MOST_RUNS 15
#define PROFILE_SECONDS 0.4   // after the least number of runs

// About how long that takes, where one run takes of_run seconds.
double profile_runs_seconds(double of_run);
