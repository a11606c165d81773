// Progress of long work on stderr: a bar with an estimate on a terminal, a line every ten seconds otherwise.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// How long a job of several works has left, as it was shown last: that only falls, from work to work, unless more is
// found to be done.
struct countdown {
    double seconds;     // INFINITY: nothing was shown yet
    const char *news;   // what was found; NULL: nothing. Shown from then on
    double ends;        // on the clock, at the latest; 0: nobody says
};

struct progress {
    FILE *out;   // NULL: silent
    const char *label;
    // 0 at the start: seconds expected of what comes after this work, and how often work like this does besides; the
    // estimate is of all that.
    double later, repeats;
    const double *apart;           // seconds of it, so far, that are not in proportion to what is done; NULL: none are
    double apart_before;           // of these, when it began
    double deadline;               // when this work and its like end at the latest, on the clock; 0: none
    struct countdown *countdown;   // of the job that this work is a part of; NULL: of none
    uint64_t total;                // 0: unknown (no bar, no estimate)
    double started, shown;         // seconds, monotonic
    bool is_terminal, has_shown;
};
void progress_start(struct progress *p, FILE *out, const char *label, uint64_t total);
// The seconds expected of work of which a share is done, and of so many like it. Work that is met for the first time
// (steps that have to be measured) is taken to grow with the root of the share: later parts know most of it already,
// and work like it all.
double progress_seconds_left(double share, double elapsed, double apart, double repeats);
// Cheap: returns at once unless it is time to show. `detail` (may be NULL) is printf-style, at the end of the line.
void progress_update(struct progress *p, uint64_t done, const char *detail, ...) __attribute__((format(printf, 3, 4)));
void progress_end(struct progress *p);   // clears the bar
