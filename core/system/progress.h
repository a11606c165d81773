// Progress of long work on stderr: a bar with an estimate on a terminal, a line every ten seconds otherwise.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *out;   // NULL: silent
    const char *label;
    bool is_uneven;          // what is done tells nothing of the time that is left: that so far is shown instead
    uint64_t total;          // 0: unknown (no bar, no estimate)
    double started, shown;   // seconds, monotonic
    bool is_terminal, has_shown;
};
void progress_start(struct progress *p, FILE *out, const char *label, uint64_t total);
// Cheap: returns at once unless it is time to show. `detail` (may be NULL) is printf-style, at the end of the line.
void progress_update(struct progress *p, uint64_t done, const char *detail, ...) __attribute__((format(printf, 3, 4)));
void progress_end(struct progress *p);   // clears the bar
