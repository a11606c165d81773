// Sums of loads and runs.
#include "optimizer/run/remaining_time.h"

#include "optimizer/limits.def"
#include "optimizer/run/contest.h"
#include <math.h>

// How many times longer all lasts than processors work for it, files apart. With several threads that is below 1 where
// nobody disturbs.
static double slowness(const struct remaining_time *o)
{
    double clock = 0, processors = o->processors_measuring;
    for (int i = PHASE_SEARCHING; i < N_PHASES; i++) {
        clock += o->phases->seconds[i];
        processors += o->phases->processor_seconds[i];
    }
    return processors > 0 ? fmax(1, clock / processors) : 1;
}

static double seconds_of_run(const struct remaining_time *o)
{
    return slowness(o) * o->of_run;
}

static double seconds_of_load(const struct remaining_time *o)
{
    return o->n_loads ? o->loading / (double)o->n_loads : o->weight_bytes / BYTES_LOADED_PER_SECOND;
}

double remaining_time_after_contest(const struct remaining_time *o)
{
    return LOADS_OF_CHECK * (seconds_of_load(o) + RUNS_OF_CHECK * seconds_of_run(o)) +
           o->weight_bytes / BYTES_WRITTEN_PER_SECOND;
}

// Contenders that are loaded in turn have qualified while costs were corrected.
static size_t n_qualifying(const struct remaining_time *o)
{
    return o->is_calibrated && o->weight_bytes > (double)BYTES_AT_ONCE ? 0 : o->n_contenders;
}

static bool is_another_expected(const struct remaining_time *o)
{
    return o->is_calibrated && o->has_measured && !o->is_again;
}

double remaining_time_repeats(const struct remaining_time *o, bool is_with_more_layouts)
{
    double of_layouts = is_with_more_layouts ? TIMES_WITH_MORE_LAYOUTS - SHARE_OF_LATER : 0;
    double later_turns = SHARE_OF_LATER * (double)o->n_turns_left + of_layouts;
    return later_turns + (is_another_expected(o) ? SHARE_OF_LATER * (1 + later_turns) : 0);
}

static double seconds_of_calibration(const struct remaining_time *o)
{
    double of_contender = seconds_of_load(o) + profile_runs_seconds(seconds_of_run(o));
    return o->is_calibrated ? of_contender * (double)o->n_contenders : 0;
}

// An estimate by the turns that are done; those of the first search are asked for by remaining_time_repeats until they
// are.
static double seconds_of_another(const struct remaining_time *o)
{
    double of_search = o->phases->seconds[PHASE_SEARCHING] / fmax(1, (double)o->n_searches);
    return SHARE_OF_LATER * of_search + seconds_of_calibration(o);
}

double remaining_time_of_timing(const struct remaining_time *o)
{
    return o->of_timing > 0 ? contest_expected_seconds(n_qualifying(o), CONTEST_LOADS, o->of_timing, seconds_of_load(o),
                                                       seconds_of_run(o))
                            : 0;
}

static double seconds_from_timing_on(const struct remaining_time *o)
{
    return remaining_time_of_timing(o) + remaining_time_after_contest(o);
}

double remaining_time_after_calibration(const struct remaining_time *o)
{
    return (is_another_expected(o) ? seconds_of_another(o) : 0) + seconds_from_timing_on(o);
}

double remaining_time_after_search(const struct remaining_time *o)
{
    return seconds_of_calibration(o) + remaining_time_after_calibration(o);
}

void remaining_time_search_again(struct remaining_time *o, const char *why)
{
    double seconds = seconds_of_another(o) + seconds_from_timing_on(o);
    double shown = is_another_expected(o) ? o->countdown.seconds : INFINITY;
    o->countdown = (struct countdown){fmin(seconds, shown), why, o->countdown.ends};
    o->is_again = true;
}
