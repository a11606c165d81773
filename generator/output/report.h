// The header of a rule file, and the table of counts.
#pragma once
#include "generator/output/candidates.h"
#include "generator/output/checkpoint_file.h"

// Comments: what made the file. The same for equal options, whatever the threads, memory or shards.
void report_header(struct text *out, const struct checkpoint_header *h, const struct candidates *c, bool only_minimal);
// A table of all counts, as Markdown.
void report_counts(struct text *out, const struct candidates *c);
