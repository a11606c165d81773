// The report as text: the headline, the lines of the summary, where it is wanted everything else, and the headline
// again, which then stands right above the prompt.
#pragma once
#include "optimizer/report/report.h"

// `is_explained`: everything, else what everybody reads.
void report_print(struct text *out, const struct facts *f, bool is_explained);
