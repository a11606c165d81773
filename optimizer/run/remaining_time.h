// How long the rest of the job is expected to take, for what progress shows: searches, costs within the models, timing
// and the check come one after the other. Runs and loads of models take most of the time for large ones; how long one
// takes is estimated first, and learned from those so far. What is shown of a phase is what it has left and what comes
// after it, and only falls (struct countdown) unless something more is found to be done. Where costs had to be
// measured, many models differ from them and are searched again: that is expected until it is known better.
#pragma once
#include "core/system/progress.h"
#include "optimizer/run/phases.h"
#include <stdbool.h>
#include <stddef.h>

// The known facts of the job. All seconds.
struct remaining_time {
    double weight_bytes;           // of the model
    double of_timing;              // that models are timed for at least, beside loading them; 0: they are not
    bool is_calibrated;            // costs are corrected in the models
    size_t n_contenders;           // ways to run the original and the finalists, that are or will be timed
    double of_run;                 // of the original, estimated; 0: not known
    const struct phases *phases;   // so far: where other programs take processors, all lasts longer
    double processors_measuring;   // for costs, those of the user's runtime, which phases do not know of, among them
    double loading;                // so far,
    size_t n_loads;                // for as many
    size_t n_turns_left;           // of the search, after the one that is done
    size_t n_searches;             // so far
    bool has_measured;             // steps, which running models may correct:
    bool is_again;                 // they did, and it searched again
    struct countdown countdown;
};

// Turns of the search that are expected after one. The next one may be with more layouts.
double remaining_time_repeats(const struct remaining_time *o, bool is_with_more_layouts);
double remaining_time_after_search(const struct remaining_time *o);   // all its turns
double remaining_time_after_calibration(
    const struct remaining_time *o);   // another search, if one is expected, timing, and the rest
double remaining_time_of_timing(const struct remaining_time *o);       // 0: nothing is timed
double remaining_time_after_contest(const struct remaining_time *o);   // the check and writing
// The line goes on "about 30 s left in all, as ...".
void remaining_time_search_again(struct remaining_time *o, const char *why);
