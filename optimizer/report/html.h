// A page in sections, each from the report's own numbers.
#pragma once
struct facts;
struct report;
struct text;

// A page that needs nothing else: the summary, both files to zoom into, and all facts of how it was found.
void report_print_html(struct text *out, const struct report *r, const struct facts *f);
