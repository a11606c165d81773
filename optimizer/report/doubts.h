// Doubts of a model that was written.
#pragma once
#include <stddef.h>

struct report;
struct text;

// Adds them as "DOUBT; DOUBT; ...", and gives their number: what was not compared, or said nothing; what was not timed
// where it was to be faster; a runtime that refuses the model; a rewrite that failed the check; nodes that are not
// understood. Of a file that is the original there are only the latter.
size_t report_list_doubts(struct text *out, const struct report *r);
