// Sums of loads, runs and searches, each taken to last as long as the former ones of its kind did.
#include "optimizer/outlook.h"

#include "optimizer/contenders.h"
#include <math.h>

#define BYTES_LOADED_PER_SECOND 4e8   // until a model was loaded
#define LOADS_OF_CHECK 2              // of the original and the result, one after the other
#define RUNS_WITHIN_MODELS 8          // of a contender whose steps are timed,
#define LEAST_SECONDS_OF_RUNS 0.4     // and how long they take at least

static double seconds_of_loads(const struct outlook *o, size_t n)
{
    double of_one = o->n_loads ? o->loading / (double)o->n_loads : o->weight_bytes / BYTES_LOADED_PER_SECOND;
    return of_one * (double)n;
}

double outlook_after_contest(const struct outlook *o)
{
    return seconds_of_loads(o, LOADS_OF_CHECK) + 2 * o->of_run;
}

// Each contender qualifies in one load; the two of the final are loaded several times.
double outlook_after_calibration(const struct outlook *o)
{
    double timing = o->of_timing > 0 ? o->of_timing + seconds_of_loads(o, o->n_contenders + 2 * CONTEST_LOADS) : 0;
    return timing + outlook_after_contest(o);
}

double outlook_after_search(const struct outlook *o)
{
    double of_search = o->n_searches ? o->searching / (double)o->n_searches : 0;
    double of_runs = fmax(LEAST_SECONDS_OF_RUNS, RUNS_WITHIN_MODELS * o->of_run) * (double)o->n_contenders;
    double calibration = o->is_calibrated ? of_runs + seconds_of_loads(o, o->n_contenders) : 0;
    return of_search * (double)o->n_searches_left + calibration + outlook_after_calibration(o);
}
