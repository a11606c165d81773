// All facts of a report, with the keys that programs know them by.
#pragma once
#include "optimizer/report/report.h"

struct facts;

// All that there is to say, once: to be printed as JSON (facts_print_json) and below. Free it with facts_free.
void report_collect(struct facts *ret_facts, const struct report *r);
