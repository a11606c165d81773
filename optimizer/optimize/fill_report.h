// The report's facts of the job: what was imported, kept and measured, the two files, and for pages what values they
// have and what steps.
#pragma once
#include "optimizer/job/optimization.h"

// Facts of the whole job, into o->report; and what pages tell besides: types in both files, and steps.
void optimizing_fill_report(struct optimizing *o);
void optimizing_describe(struct optimizing *o);
void optimizing_free_steps(struct optimizing *o);
