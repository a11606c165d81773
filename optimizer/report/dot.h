// Both files for Graphviz.
#pragma once
struct report;
struct text;

// The original and what was written, side by side; what differs is coloured.
void report_print_dot(struct text *out, const struct report *r);
