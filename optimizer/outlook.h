// How long the rest of the job is expected to take, for what progress shows: a search, costs within the models, timing
// and the check come one after the other. Loading models takes most of the time for large ones, and is learned from the
// loads so far; what is shown of a phase is what it has left and what comes after it.
#ifndef OPTIMIZER_OUTLOOK_H
#define OPTIMIZER_OUTLOOK_H
#include <stdbool.h>
#include <stddef.h>

// What is known of the job. All seconds.
struct outlook {
    double weight_bytes;          // of the model
    double of_timing;             // that models are timed for, beside loading them; 0: they are not
    bool is_calibrated;           // costs are corrected in the models
    size_t n_contenders;          // ways to run the original and the finalists, that are or will be timed
    double of_run;                // of the original, estimated; 0: not known yet
    double loading, searching;    // so far,
    size_t n_loads, n_searches;   // for as many
    size_t n_searches_left;       // after the one that is done
};

double outlook_after_search(const struct outlook *o);        // other searches, and what follows
double outlook_after_calibration(const struct outlook *o);   // timing, and what follows
double outlook_after_contest(const struct outlook *o);       // the check and writing
#endif
